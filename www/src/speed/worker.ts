// Runs the comparison off the page's thread: each storage in turn, each task several times.

import { type Contender, deepagents, kitbag, zenfs } from "./contenders";
import { corpus, LONG, NEEDLE } from "./corpus";

export const ENGINES = { kitbag, deepagents, zenfs };
export type Engine = keyof typeof ENGINES;
export type Task = "grep" | "glob" | "pages" | "edit";

export type Message =
  | { kind: "measured"; engine: Engine; task: Task; ms: number; answer: string }
  | { kind: "busy"; engine: Engine }
  | { kind: "done" }
  | { kind: "failed"; error: string };

const post = (message: Message) => postMessage(message);
const EDITS = 20;
const PAGES = 50;

function digest(lines: string[]): string {
  let hash = 0x811c9dc5;
  for (const line of lines) {
    for (let at = 0; at < line.length; at++) {
      hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
    }
    hash = Math.imul(hash ^ 10, 0x01000193);
  }
  return `${lines.length}:${(hash >>> 0).toString(16)}`;
}

/** Tasks as functions of the round, because an edit needs other text each time. */
function tasks(it: Contender): Record<Task, (round: number) => string[]> {
  return {
    grep: () => it.grep(NEEDLE).sort(),
    glob: () => it.glob("ts").sort(),
    pages: () => Array.from({ length: PAGES }, (_, n) => it.page(LONG, n * 400, 100)),
    edit: (round) => {
      for (let n = 0; n < EDITS; n++) {
        const line = `\n${n * 750 + 1} ${"!".repeat(round)}`;
        it.edit(LONG, line, `${line}!`);
      }
      return [];
    },
  };
}

async function compare(size: number, rounds: number) {
  const files = corpus(size);
  for (const [engine, open] of Object.entries(ENGINES)) {
    post({ kind: "busy", engine: engine as Engine });
    const it = await open(files);
    const all = tasks(it);
    for (const [task, run] of Object.entries(all)) {
      const times: number[] = [];
      let answer = "";
      for (let round = 0; round < rounds; round++) {
        const began = performance.now();
        const lines = run(round);
        times.push(performance.now() - began);
        // What the edits made is compared by the whole file, outside of the measurement.
        answer = digest(task === "edit" ? [it.text(LONG)] : lines);
        if (task !== "edit" && times[0] !== undefined && times[0] > 1_000) break;
      }
      const ms = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
      post({ kind: "measured", engine: engine as Engine, task: task as Task, ms, answer });
    }
  }
}

addEventListener("message", ({ data }: MessageEvent<{ size: number }>) => {
  compare(data.size, 3).then(
    () => post({ kind: "done" }),
    (error) => post({ kind: "failed", error: String(error?.stack ?? error) }),
  );
});

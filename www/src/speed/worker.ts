// Runs the comparison off the page's thread: each storage in turn, each task several times.

import { type Contender, deepagents, kitbag, zenfs } from "./contenders";
import { corpus, LONG, NEEDLE } from "./corpus";

export const ENGINES = { kitbag, deepagents, zenfs };
export type Engine = keyof typeof ENGINES;
export type Task = "grep" | "glob" | "pages" | "longer" | "shorter";

export type Message =
  | { kind: "measured"; engine: Engine; task: Task; ms: number; answer: string }
  | { kind: "busy"; engine: Engine }
  | { kind: "done" }
  | { kind: "failed"; error: string };

const post = (message: Message) => postMessage(message);
const ROUNDS = 3;
const EDITS = 10;
/** A task that takes longer than this is measured once. */
const LONG_MS = 300;
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

const isEdit = (task: string) => task === "longer" || task === "shorter";

/**
 * Tasks as functions of the round, because an edit needs other text each time. What the edits of
 * `longer` add, those of `shorter` take away again.
 */
function tasks(it: Contender): Record<Task, (round: number) => string[]> {
  const edits = (change: (line: number) => [string, string]) => {
    for (let n = 0; n < EDITS; n++) it.edit(LONG, ...change(n * 750 + 1));
    return [];
  };
  const added = (line: number, round: number) => `\nadded before ${line} in round ${round}`;
  return {
    grep: () => it.grep(NEEDLE).sort(),
    glob: () => it.glob("ts").sort(),
    pages: () => Array.from({ length: PAGES }, (_, n) => it.page(LONG, n * 400, 100)),
    longer: (round) => edits((line) => [`\n${line} `, `${added(line, round)}\n${line} `]),
    shorter: (round) => edits((line) => [added(line, round), ""]),
  };
}

async function compare(size: number) {
  const files = corpus(size);
  for (const [engine, open] of Object.entries(ENGINES)) {
    post({ kind: "busy", engine: engine as Engine });
    const it = await open(files);
    const all = tasks(it);
    for (const [task, run] of Object.entries(all)) {
      const times: number[] = [];
      let answer = "";
      for (let round = 0; round < ROUNDS; round++) {
        const began = performance.now();
        const lines = run(round);
        times.push(performance.now() - began);
        // What the edits made is compared by the whole file, outside of the measurement.
        answer = digest(isEdit(task) ? [it.text(LONG)] : lines);
        if (!isEdit(task) && times[0] !== undefined && times[0] > LONG_MS) break;
      }
      const ms = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
      post({ kind: "measured", engine: engine as Engine, task: task as Task, ms, answer });
    }
  }
}

addEventListener("message", ({ data }: MessageEvent<{ size: number }>) => {
  compare(data.size).then(
    () => post({ kind: "done" }),
    (error) => post({ kind: "failed", error: String(error?.stack ?? error) }),
  );
});

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
const EDITS = 100;
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
function tasks(it: Contender, paths: string[]): Record<Task, (round: number) => string[]> {
  const edited = paths.slice(0, EDITS);
  return {
    grep: () => it.grep(NEEDLE).sort(),
    glob: () => it.glob("ts").sort(),
    pages: () => Array.from({ length: PAGES }, (_, n) => it.page(LONG, n * 400, 100)),
    edit: (round) => {
      for (const [n, path] of edited.entries()) {
        it.edit(path, `// file ${n}${"!".repeat(round)}\n`, `// file ${n}${"!".repeat(round + 1)}\n`);
      }
      return edited.map((path) => `${path} ${it.text(path).length - round}`);
    },
  };
}

async function compare(size: number, rounds: number) {
  const files = corpus(size);
  const paths = [...files.keys()].filter((path) => path !== LONG);
  for (const [engine, open] of Object.entries(ENGINES)) {
    post({ kind: "busy", engine: engine as Engine });
    const all = tasks(await open(files), paths);
    for (const [task, run] of Object.entries(all)) {
      const times: number[] = [];
      let answer = "";
      for (let round = 0; round < rounds; round++) {
        const began = performance.now();
        const lines = run(round);
        times.push(performance.now() - began);
        answer = digest(lines);
        if (times[0] !== undefined && times[0] > 1_000) break;
      }
      const ms = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
      post({ kind: "measured", engine: engine as Engine, task: task as Task, ms, answer });
    }
  }
}

addEventListener("message", ({ data }: MessageEvent<{ size: number }>) => {
  compare(data.size, 5).then(
    () => post({ kind: "done" }),
    (error) => post({ kind: "failed", error: String(error?.stack ?? error) }),
  );
});

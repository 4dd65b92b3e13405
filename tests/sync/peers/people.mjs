// People who work in two trees that are synced. Everything that they write has a mark of its own in it, so
// that it is known in the end whether it is there, unless somebody who had read it took it away. What they
// do is drawn before anybody looks at a tree, so it is the same for all ways of syncing.

import { dice } from "../../lib/histories.mjs";

/** The files of short histories. */
const FILES = ["/a.md", "/b.md", "/dir/c.md", "/dir/d.md", "/dir/e.bin", "/f.bin"];
const ROUNDS = 5;
/** The most that is done between two runs. */
const MOST = 6;
const LINES = 20;

/** So many files in directories, a third of them no texts. */
export const many = (count) =>
  Array.from({ length: count }, (_, at) => `/d${at % 7}/f${at}.${at % 3 === 0 ? "bin" : "md"}`);

const isBinary = (path) => path.endsWith(".bin");
export const marksIn = (text) => text.match(/<\d+>/g) ?? [];

/** A new file. */
function fresh(path, mark) {
  if (isBinary(path)) return `\0${mark}`;
  const lines = Array.from({ length: LINES }, (_, at) => `line ${at} of ${path}\n`);
  return `${mark}\n${lines.join("")}`;
}

/** The same file with one change. */
function edited(path, old, { mark, at, replaces }) {
  if (isBinary(path)) return replaces ? `\0${mark}` : old + mark;
  const lines = old.split(/(?<=\n)/);
  lines.splice(at % (lines.length + 1), replaces ? 1 : 0, `${mark}\n`);
  return lines.join("");
}

/** What is done between two runs, in order. */
function work(roll, files, most, nextMark) {
  return Array.from({ length: roll(most + 1) }, () => ({
    side: roll(2),
    kind: ["edit", "edit", "edit", "edit", "edit", "new", "delete", "delete", "move"][roll(9)],
    path: files[roll(files.length)],
    other: files[roll(files.length)],
    at: roll(1 << 16),
    replaces: roll(4) === 0,
    mark: nextMark(),
  }));
}

/** The history of a seed: what is done before each run. Before the first one, one side makes all files. */
export function history(seed, { files = FILES, rounds = ROUNDS, most = MOST } = {}) {
  const roll = dice(seed);
  let last = 0;
  const nextMark = () => `<${++last}>`;
  const first = files.map((path) => ({ side: 0, kind: "new", path, mark: nextMark() }));
  return [first, ...Array.from({ length: rounds }, () => work(roll, files, most, nextMark))];
}

/** Does one thing, and notes in `live` which marks are demanded. Returns what was moved. */
export async function act(tree, step, live) {
  const { path, other, kind, mark } = step;
  const old = await tree.read(path);
  if (kind === "move" && old !== undefined && isBinary(path) === isBinary(other)) {
    if ((await tree.read(other)) === undefined) {
      await tree.move(path, other);
      return old;
    }
  }
  const isGone = kind === "delete" && old !== undefined;
  let text;
  if (!isGone) {
    text = old === undefined || kind === "new" ? fresh(path, mark) : edited(path, old, step);
  }
  await (isGone ? tree.remove(path) : tree.write(path, text));
  for (const one of marksIn(old ?? "")) if (!text?.includes(one)) live.delete(one);
  for (const one of marksIn(text ?? "")) if (!old?.includes(one)) live.add(one);
  return undefined;
}

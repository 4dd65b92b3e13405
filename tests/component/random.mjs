// Random calls, the same for the component and the npm package.

import { begin } from "../lib/kitbag.mjs";
import { errorOf, Protocol } from "./protocol.mjs";

/** The text of a file; null if there is none. */
export const text = (bytes) => (bytes ? Buffer.from(bytes).toString("utf8") : null);

/** Numbers below a bound, always the same for a seed. */
export function numbers(seed) {
  let state = seed * 2654435761 + 1;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** The answer of a call of the component, or its error as the npm package has it. */
export function asked(call, shape = (value) => value) {
  let value;
  const error = errorOf(() => {
    value = call();
  });
  if (!error) return shape(value);
  return { error: error.message, code: error.code.replaceAll("-", "_") };
}

/** Changes with their lines, as the npm package tells them. */
export const changesOfNpm = (changes) =>
  changes.map(({ path, kind, from, before, after, hunks }) => [
    ...[path, kind, from, text(before), text(after)],
    hunks.map(({ id, oldStart, oldLines, newStart, newLines }) => [
      ...[id, oldStart - (oldLines > 0), oldLines, newStart - (newLines > 0), newLines],
    ]),
  ]);

/** The same, as the component tells them. */
export const changesOf = (changes) =>
  changes.map(({ path, kind, before, after, hunks }) => [
    ...[path, kind.tag, kind.val, text(before), text(after)],
    hunks.map(({ id, before: was, after: now }) => [
      ...[id, was.first, was.count, now.first, now.count],
    ]),
  ]);

/** A turn of the npm package, of which a commit answers `done` or a code. */
export function turnOfNpm(base) {
  const turn = begin(base, { by: "turn" });
  return { files: turn, commit: async () => (await turn.commit()).code ?? "done" };
}

/** The same of the component. */
export function turnOf(Turn, base) {
  const turn = Turn.begin(base, "turn", "create");
  const told = ({ tag }) => (tag === "done" ? { code: tag } : { code: "conflict" });
  const commit = () => asked(() => turn.commit(), told).code;
  return { files: new Protocol(turn.files()), commit };
}

/** Where files are. */
export const PATHS = ["/a.txt", "/b.txt", "/d/c.txt", "/d/e/f.txt"];
const WORDS = ["one", "two", "three", "four"];

/** A call of the files of a turn, or of its base. */
export function change(files, at, paths = PATHS) {
  const [path, other] = [paths[at(paths.length)], paths[at(paths.length)]];
  const [word, next] = [WORDS[at(WORDS.length)], WORDS[at(WORDS.length)]];
  const lines = Array.from({ length: 1 + at(8) }, (_, line) => `${line} ${WORDS[at(4)]}`);
  const calls = [
    () => files.write(path, `${lines.join("\n")}\n`),
    () => files.edit(path, word, next),
    () => files.edit(path, `${at(8)} ${word}`, `${at(8)} ${next}\nmore`),
    () => files.append(path, `${word}\n`),
    () => files.delete(at(3) ? path : "/d"),
    () => files.move(path, other, { overwrite: at(2) === 0 }),
    () => files.read(path),
    () => files.grep(word),
    () => files.ls("/d"),
    () => files.glob("**/*.txt"),
  ];
  return calls[at(calls.length)]();
}

/** What a backend answers, without times, and what follows from them: the order of `glob`. */
export function stripped(answer) {
  answer.files?.sort((a, b) => (a.path < b.path ? -1 : 1));
  return JSON.parse(
    JSON.stringify(answer, (name, value) =>
      /^(modified_at|created_at|metadata|stats|format|filesUpdate|nextOffset|totalLines|startLine|endLine|mimeType)$/.test(
        name,
      )
        ? undefined
        : value,
    ),
  );
}

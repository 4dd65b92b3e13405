// What one of several tabs does to a file that the others are changing as well.

import { agent, wrong } from "/lib/two-agents.mjs";
import { IndexedDbBackend, begin as kitbagBegin, OpfsBackend } from "/pkg/dist/browser.js";

export function backend({ kind, place, ...options }) {
  return kind === "opfs"
    ? new OpfsBackend({ root: place, ...options })
    : new IndexedDbBackend({ database: place, ...options });
}

function sound(answer) {
  if (answer.error !== undefined) throw new Error(`${answer.code}: ${answer.error}`);
  return answer;
}

export async function begin({ text, ...where }) {
  sound(await backend(where).write("/count.txt", text));
}

/** Makes `edits` edits, each of which adds a line of its own before the last. */
export async function append({ tab, edits, ...where }) {
  const files = backend(where);
  for (let edit = 0; edit < edits; edit++) {
    sound(await files.edit("/count.txt", "end\n", `tab ${tab} edit ${edit}\nend\n`));
  }
}

export async function content(where) {
  const { content } = sound(await backend(where).read("/count.txt", 0, 100_000));
  return content;
}

/** Writes `count` files that others write as well; tells which were created here. */
export async function create({ tab, count, at, ...where }) {
  const files = backend(where);
  // All tabs begin at one time, not at one word.
  await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
  const answers = await Promise.all(
    Array.from({ length: count }, (_, file) => files.write(`/race/${file}.txt`, `tab ${tab}`)),
  );
  return answers.map(({ code }) => code ?? "created");
}

export async function winners({ count, ...where }) {
  const files = backend(where);
  const texts = [];
  for (let file = 0; file < count; file++) {
    texts.push(sound(await files.read(`/race/${file}.txt`)).content);
  }
  return texts;
}

/** What is the same in all tabs that work on one tree in turns. */
export async function shared(where) {
  const [{ error }] = await backend(where).uploadFiles([
    ["/count", new TextEncoder().encode("#0\n")],
  ]);
  if (error) throw new Error(error);
}

/** One of two agents; see tests/lib/two-agents.mjs. */
export const turns = ({ who, turns, ...where }) =>
  agent(kitbagBegin, backend(where), { who, turns });

/** What is wrong after both have ended. */
export const wrongs = ({ turns, ...where }) => wrong(backend(where), ["one", "two"], turns);

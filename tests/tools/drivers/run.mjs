// Runs a driver in a tree of its own, wherever this is loaded, and tells what was wrong.

import * as kitbag from "kitbag";
import { withBash } from "kitbag/just-bash";
import { Script } from "../cases/script.mjs";
import { filesLeft } from "../cases/task.mjs";
import { differences, filesOf, makeTree } from "../cases/tree.mjs";

/** `mounted` is the host's backend for `/notes/`. Gives `{ faults, files }`. */
export async function run({ play, steps, words }, mounted) {
  const { backend, open } = await makeTree({ ...kitbag, withBash }, mounted);
  const script = new Script(steps, words);
  script.finished(await play(backend, script));
  const files = await filesOf(open);
  const wanted = filesLeft(steps);
  const faults = [...script.faults, ...differences(files, wanted)];
  // They are where they belong, and nothing else is.
  const notes = Object.entries(wanted).filter(([path]) => path.startsWith("/notes/"));
  const own = Object.fromEntries(notes.map(([path, body]) => [path.slice("/notes".length), body]));
  faults.push(...differences(await filesOf(mounted), own).map((fault) => `mounted: ${fault}`));
  return { faults, files };
}

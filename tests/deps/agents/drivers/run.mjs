// Runs a driver in a tree of its own, wherever this is loaded, and tells what was wrong.

import * as kitbag from "kitbag";
import { withBash } from "kitbag/just-bash";
import { Script } from "../../../tools/cases/script.mjs";
import { filesLeft } from "../../../tools/cases/task.mjs";
import { differences, filesOf, makeTree } from "../../../tools/cases/tree.mjs";

/** `mounted` is the host's backend for `/notes/`. Gives `{ faults, files }`. */
export async function run({ play, steps, words }, mounted) {
  const { backend, open } = await makeTree({ ...kitbag, withBash }, mounted);
  const script = new Script(steps, words);
  script.finished(await play(backend, script));
  const files = await filesOf(open);
  return { faults: [...script.faults, ...differences(files, filesLeft(steps))], files };
}

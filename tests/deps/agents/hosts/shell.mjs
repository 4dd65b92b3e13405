// The script of thirty commands in a shell over a backend. Its files are then read through the
// protocol, by an instance that knows nothing of the shell.

import { bashExecute } from "kitbag/just-bash";
import { scriptFaults } from "../../../tools/bash-script.mjs";

/** `open` gives an instance of the backend over the same files. */
export async function shell(open) {
  return { faults: await scriptFaults(open(), bashExecute(open())) };
}

// The script of thirty commands in a shell over a backend, the files then read through the protocol.

import { bashExecute } from "kitbag/just-bash";
import { scriptFaults } from "../../../tools/bash-script.mjs";

export async function shell(backend) {
  return { faults: await scriptFaults(backend, bashExecute(backend)) };
}

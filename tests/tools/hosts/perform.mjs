// What the tests ask of a host, by name: a driver, files in a graph, or the shell.

import { bashExecute } from "kitbag/just-bash";
import { scriptFaults } from "../bash-script.mjs";
import { claudesOwn } from "../drivers/anthropic-own.mjs";
import { inOneStep, inState, inStore } from "../drivers/in-graph.mjs";
import { run } from "../drivers/run.mjs";

/** The script of thirty commands; its files are then read by an instance that knows no shell. */
const shell = async (open) => ({ faults: await scriptFaults(open(), bashExecute(open())) });

const others = {
  "anthropic, Claude's own tools": claudesOwn,
  shell,
  "langchain, files in the state": inState,
  "langchain, files in the store": inStore,
  "langchain, two edits in one step": inOneStep,
};

/** `open` gives an instance of the host's own backend over the same files. */
export function perform(name, drivers, open) {
  return others[name]?.(open) ?? run(drivers[name], open());
}

// What an agent works with, of `kitbag/slim`: see `slim.ts`.

import { attached } from "../core/instance.js";
import { compiled, type InitInput, type ModuleInput, moduleFrom } from "./input.js";
import { load } from "./load.js";

/** Takes `kitbag.wasm`, compiled or as bytes to compile here and now, into use. */
export function initSync(input: ModuleInput): void {
  load(moduleFrom(input));
}

/** Fetches and compiles `kitbag.wasm` and takes it into use; the one beside this file by default. */
export async function init(input?: InitInput): Promise<void> {
  if (attached()) return;
  load(await compiled(input ?? new URL("./kitbag.wasm", import.meta.url)));
}

export * from "../agent.js";

// `kitbag/slim`: for those who load the wasm themselves, streaming or not. The three modules
// are taken into use one by one; whoever needs no storage elsewhere loads only the first.

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
export type { InitInput, ModuleInput } from "./input.js";
export * from "./lent-slim.js";
export * from "./storages-slim.js";

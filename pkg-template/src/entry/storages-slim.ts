// The storages of `kitbag/slim`: see `slim.ts`.

import { attached } from "../core/instance.js";
import { compiled, type InitInput, type ModuleInput, moduleFrom } from "./input.js";
import { load } from "./load.js";

/** Takes `storages.wasm`, compiled or as bytes to compile here and now, into use. */
export function initStoragesSync(input: ModuleInput): void {
  load(moduleFrom(input));
}

/** Fetches and compiles `storages.wasm` and takes it into use; the one beside this file by default. */
export async function initStorages(input?: InitInput): Promise<void> {
  if (attached()) return;
  load(await compiled(input ?? new URL("./storages.wasm", import.meta.url)));
}

export * from "../storages.js";

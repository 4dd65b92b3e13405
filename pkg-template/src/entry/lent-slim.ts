// What the host lends of `kitbag/slim`: see `slim.ts`.

import { attached } from "../core/instance.js";
import { compiled, type InitInput, type ModuleInput, moduleFrom } from "./input.js";
import { load } from "./load.js";

/** Takes `lent.wasm`, compiled or as bytes to compile here and now, into use. */
export function initLentSync(input: ModuleInput): void {
  load(moduleFrom(input));
}

/** Fetches and compiles `lent.wasm` and takes it into use; the one beside this file by default. */
export async function initLent(input?: InitInput): Promise<void> {
  if (attached()) return;
  load(await compiled(input ?? new URL("./lent.wasm", import.meta.url)));
}

export * from "../lent.js";

// Takes a compiled module into use. The entries differ only in where they get it.

import { initSync } from "#glue";
import { wake } from "../core/call.js";
import { attach, attachLater } from "../core/instance.js";

export function load(module: WebAssembly.Module): void {
  attach(() => initSync({ module }), wake);
}

/** Takes a module into use when the first call needs it. */
export function loadLater(module: () => WebAssembly.Module): void {
  attachLater(() => load(module()));
}

// Takes a compiled module into use. The entries differ only in where they get it.

import { initSync } from "#glue";
import { wake } from "../core/call.js";
import { attach } from "../core/instance.js";

export function load(module: WebAssembly.Module): void {
  attach(() => initSync({ module }), wake);
}

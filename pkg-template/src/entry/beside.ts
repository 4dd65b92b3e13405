// The wasm of Node, Deno and Bun: a file beside the entry.

import { createRequire } from "node:module";
import { builtin } from "../disk/host.js";

type Fs = typeof import("node:fs");

/** Compiles a file of wasm. */
export function moduleIn(file: URL): WebAssembly.Module {
  // An `import` of node:fs would load the streams and promises that it can give as well, which
  // takes milliseconds. Before Node 20.16 there is only `require`.
  const fs = builtin<Fs>("node:fs") ?? (createRequire(file)("node:fs") as Fs);
  return new WebAssembly.Module(fs.readFileSync(file));
}

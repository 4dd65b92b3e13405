// Node, Deno and Bun: the WebAssembly is in files beside this one.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The name of a file. */
export type Source = string;

declare const __dirname: string;

/** No URL is needed: files are read from disk. */
export function addressOf(_name: string): URL | undefined {
  return undefined;
}

/** Reads and compiles a file. */
export function compile(_name: string, source: Source): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(join(__dirname, "wasm", source)));
}

// The storages, in Node, Deno and Bun: see `node.ts`.

import { readFileSync } from "node:fs";
import { loadLater } from "./load.js";

const file = new URL("./storages.wasm", import.meta.url);

loadLater(() => new WebAssembly.Module(readFileSync(file)));

export * from "../storages.js";

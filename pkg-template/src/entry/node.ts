// Node, Deno and Bun: the wasm is a file beside this one.

import { readFileSync } from "node:fs";
import { load } from "./load.js";

load(new WebAssembly.Module(readFileSync(new URL("./kitbag.wasm", import.meta.url))));

export * from "../agent.js";
export * from "./lent-node.js";
export * from "./storages-node.js";

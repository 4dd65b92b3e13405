// What an agent works with, in Node by `require`: the same as `agent-node.ts`, in a module system
// without `import.meta`.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadLater } from "./load.js";

declare const __dirname: string;

loadLater(() => new WebAssembly.Module(readFileSync(join(__dirname, "kitbag.wasm"))));

export * from "../agent.js";

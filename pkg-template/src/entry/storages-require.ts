// The storages, in Node by `require`: see `agent-require.ts`.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadLater } from "./load.js";

declare const __dirname: string;

loadLater(() => new WebAssembly.Module(readFileSync(join(__dirname, "storages.wasm"))));

export * from "../storages.js";

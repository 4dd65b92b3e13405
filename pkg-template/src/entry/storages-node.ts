// The storages, in Node, Deno and Bun: see `agent-node.ts`.

import { moduleIn } from "./beside.js";
import { loadLater } from "./load.js";

const file = new URL("./storages.wasm", import.meta.url);

loadLater(() => moduleIn(file));

export * from "../storages.js";

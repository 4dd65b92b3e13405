// What the host lends, in Node, Deno and Bun: see `agent-node.ts`.

import { moduleIn } from "./beside.js";
import { loadLater } from "./load.js";

const file = new URL("./lent.wasm", import.meta.url);

loadLater(() => moduleIn(file));

export * from "../lent.js";

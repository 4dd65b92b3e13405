// What an agent works with, in Node, Deno and Bun: the wasm is a file beside this one.

import { moduleIn } from "./beside.js";
import { loadLater } from "./load.js";

const file = new URL("./kitbag.wasm", import.meta.url);

// Not before the first backend of this module: whoever works on a disk alone needs another one.
loadLater(() => moduleIn(file));

export * from "../agent.js";

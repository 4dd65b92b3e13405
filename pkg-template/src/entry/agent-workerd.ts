// What an agent works with, in Workers: the runtime compiles the wasm and gives it as a module;
// compiling bytes is refused there.

import module from "./kitbag.wasm";
import { load } from "./load.js";

load(module);

export * from "../agent.js";

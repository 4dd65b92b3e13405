// The storages, in Workers: see `agent-workerd.ts`.

import { loadLater } from "./load.js";
import module from "./storages.wasm";

loadLater(() => module);

export * from "../storages.js";

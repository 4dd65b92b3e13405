// The storages, in Workers: see `workerd.ts`.

import module from "./storages.wasm";
import { loadLater } from "./load.js";

loadLater(() => module);

export * from "../storages.js";

// What the host lends, in Workers: see `workerd.ts`.

import { loadLater } from "./load.js";
import module from "./lent.wasm";

loadLater(() => module);

export * from "../lent.js";

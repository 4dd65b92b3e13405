// What the host lends, in Workers: see `agent-workerd.ts`.

import module from "./lent.wasm";
import { loadLater } from "./load.js";

loadLater(() => module);

export * from "../lent.js";

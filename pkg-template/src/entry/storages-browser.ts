// The storages, in browsers and bundlers: see `agent-browser.ts`.

import base64 from "#wasm-base64";
import { moduleOf } from "./base64.js";
import { loadLater } from "./load.js";

loadLater(() => moduleOf(base64));

export * from "../storages.js";

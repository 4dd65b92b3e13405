// What an agent works with, in browsers and bundlers: the wasm stands in this file as base64, so
// that nothing needs to be configured and everything is ready when the import is.

import base64 from "#wasm-base64";
import { moduleOf } from "./base64.js";
import { load } from "./load.js";

load(moduleOf(base64));

export * from "../agent.js";

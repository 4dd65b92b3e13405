// The global `Buffer` of a page, before any other code runs.

import { Buffer } from "buffer/index.js";

globalThis.Buffer = Buffer;

export { Buffer };

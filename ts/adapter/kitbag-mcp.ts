#!/usr/bin/env node
// `kitbag-mcp DIRECTORY`: another name for `kitbag serve DIRECTORY`, for configurations of clients.

process.argv.splice(2, 0, "serve");
await import("./kitbag.js");

export {};

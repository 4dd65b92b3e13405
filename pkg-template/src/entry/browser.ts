// Browsers and bundlers: everything, from three modules with their wasm in them.

export * from "./agent-browser.js";
export * from "./lent-browser.js";
export * from "./storages-browser.js";

// Everything that `import … from "kitbag"` gives, whatever loads the wasm. The entries give the
// same names from two bundles, so that each has a WebAssembly module of its own.

export * from "./agent.js";
export * from "./lent.js";
export * from "./storages.js";

// Workers: everything, from three modules whose wasm the runtime gives.

export * from "./agent-workerd.js";
export * from "./lent-workerd.js";
export * from "./storages-workerd.js";

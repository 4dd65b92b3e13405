// Node, Deno and Bun: everything, from three modules whose wasm stands beside them.

export * from "./agent-node.js";
export * from "./lent-node.js";
export * from "./storages-node.js";

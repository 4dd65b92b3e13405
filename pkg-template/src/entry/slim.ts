// `kitbag/slim`: for those who load the wasm themselves, streaming or not. The three modules
// are taken into use one by one; whoever needs no storage elsewhere loads only the first.

export * from "./agent-slim.js";
export type { InitInput, ModuleInput } from "./input.js";
export * from "./lent-slim.js";
export * from "./storages-slim.js";

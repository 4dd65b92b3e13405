// `kitbag/slim`: everything, and the two functions that load the WebAssembly.

export * from "../index.js";
export * from "../slim.js";

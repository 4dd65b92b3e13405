// `kitbag/slim`: everything in `kitbag`, and the two functions that load the WebAssembly.

export * from "../index.js";
export * from "../slim.js";

// `kitbag/slim`: everything in `kitbag`, the search index, whose code arrives as a file of its own, and
// the two functions that load the WebAssembly.

export * from "../backend/indexed.js";
export * from "../index.js";
export * from "../slim.js";

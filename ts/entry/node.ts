// Node, Deno and Bun, for `kitbag` and `kitbag/slim` alike.

export * from "../index.js";
export { init, initSync } from "../slim.js";

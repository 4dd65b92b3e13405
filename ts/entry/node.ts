// Node, Deno and Bun, for `kitbag` and `kitbag/slim` alike.

export * from "../index.js";
export { init, initSync } from "../slim.js";
export { guidedPrompts } from "../tool/guided.js";

// Node, Deno and Bun, for `kitbag` and `kitbag/slim` alike.

import { sendByNode } from "../core/by-node.js";
import { takeShortWay } from "../core/http.js";

export * from "../index.js";
export { init, initSync } from "../slim.js";
export { guidedPrompts } from "../tool/guided.js";

takeShortWay(sendByNode);

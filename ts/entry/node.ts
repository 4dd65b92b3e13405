// Node, Deno and Bun, for `kitbag` and `kitbag/slim` alike.

import { takeShortWay } from "../core/http.js";
import { sendNear } from "../core/node-http.js";

export * from "../index.js";
export { init, initSync } from "../slim.js";
export { guidedPrompts } from "../tool/guided.js";

takeShortWay(sendNear);

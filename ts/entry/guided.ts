// `kitbag/guided`: the long texts about the tools, as an object. In pages, with this import
// `prompts: "guided"` is known as well; Node, Deno, Bun and Workers know it always.

import { guidedPrompts } from "../tool/guided.js";
import { guidedBy } from "../tool/prompts.js";

guidedBy(guidedPrompts);

export { guidedPrompts };

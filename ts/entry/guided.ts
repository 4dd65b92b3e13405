// `kitbag/guided` in pages: with it, `prompts: "guided"` is known. Node, Deno, Bun and Workers have
// the texts always, and get an empty module here.

import { guidedPrompts } from "../tool/guided.js";
import { guidedBy } from "../tool/prompts.js";

guidedBy(guidedPrompts);

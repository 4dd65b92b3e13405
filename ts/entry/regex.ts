// `kitbag/regex` in pages: the full regular expressions, with Unicode classes and case. Importing it
// is enough; the chunk is loaded with the first expression. Node, Deno, Bun and Workers have it
// always, and get an empty module here.

import chunk from "#chunk/regex";
import { loadRegexBy } from "../core/instance.js";

loadRegexBy(() => chunk.load());

// The adapters with the newest versions of their frameworks: AI SDK 7, openai 7, LangGraph 1.7. Some of
// these need Node 22 or later.

import { environmentOf, nodeOf } from "../../scripts/lib/nodes.mjs";
import { named, toolTests } from "./install.mjs";

const GRAPHS = named(
  "graph",
  "threads",
  "parallel",
  "contexts",
  "policies",
  "same-files",
  "graph-delta",
);

export default {
  about: "the adapters with AI SDK 7, openai 7, @anthropic-ai/sdk 1.14, LangGraph 1.7",
  needs: ["npm", "npm:newest", "npm:durable", "npm:optional", "npm:nodes", "build"],
  seconds: 90,
  run: (ctx) => {
    // just-bash is the same there.
    const adapters = ctx.testFiles("tools/adapters").filter((file) => !/\/bash/.test(file));
    const options = { set: "newest", node: nodeOf("24"), together: true };
    return toolTests(ctx, [...adapters, ...GRAPHS], environmentOf("24"), options);
  },
};

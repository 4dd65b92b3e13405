// Backends in the seats that frameworks have for files: with the real packages and scripted models.

import { environmentOf, nodeOf } from "../../scripts/lib/nodes.mjs";
import { toolTests } from "../tools/install.mjs";

const run = (ctx, env = {}) => {
  const options = { set: "newest", node: nodeOf("24") };
  return toolTests(ctx, ctx.testFiles("seats"), { ...environmentOf("24"), ...env }, options);
};

export default {
  about:
    "Mastra's workspace, AI SDK 7's sandbox, OpenAI Agents, Anthropic's toolset, VS Code's file service, eve's sandbox, with the real packages and scripted models",
  needs: ["npm", "npm:newest", "npm:optional", "npm:editor", "npm:nodes", "build"],
  uses: ["deps-newest"],
  seconds: 30,
  run,
  soak: (ctx) => run(ctx, { KITBAG_SEATS_SEEDS: "400" }),
};

// The tool layer and the frameworks that use it, each with its real package and a scripted model.

import { cpSync, rmSync } from "node:fs";

export default {
  about: "createFileTools and the adapters: LangChain, AI SDK, MCP, Anthropic, OpenAI, just-bash",
  needs: ["npm:agents", "build"],
  uses: ["deps-agents"],
  run: (ctx) => {
    const place = ctx.at("tests/deps/agents/node_modules/kitbag");
    rmSync(place, { recursive: true, force: true });
    cpSync(ctx.at("pkg"), place, { recursive: true });
    return ctx.nodeTests(ctx.testFiles("deps/agents/tests"));
  },
};

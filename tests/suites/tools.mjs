// The tool layer and the frameworks that use it, each with its real package and a scripted model.

import { placeKitbag } from "../lib/agents.mjs";

export default {
  about: "createFileTools and the adapters: LangChain, AI SDK, MCP, Anthropic, OpenAI, just-bash",
  needs: ["npm:agents", "build"],
  uses: ["deps-agents"],
  run: (ctx) => {
    placeKitbag();
    return ctx.nodeTests(ctx.testFiles("deps/agents/tests"));
  },
};

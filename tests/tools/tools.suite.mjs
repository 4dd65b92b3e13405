// The tool layer and its framework adapters, with the real packages and a scripted model.

import { toolTests } from "./install.mjs";

export default {
  about: "createFileTools and the adapters: LangChain, AI SDK, MCP, Anthropic, OpenAI, just-bash",
  needs: ["npm:agents", "build"],
  uses: ["deps-agents"],
  seconds: 60,
  run: (ctx) => toolTests(ctx, ctx.testFiles("tools/adapters"), {}, { together: true }),
};

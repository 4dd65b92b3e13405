// The drivers that need nothing of Node's.

import * as ai5 from "./ai-5.mjs";
import * as ai from "./ai-own.mjs";
import * as anthropic from "./anthropic.mjs";
import * as langchain from "./langchain.mjs";
import * as langchainTools from "./langchain-tools.mjs";
import * as mcp from "./mcp.mjs";
import * as openaiChat from "./openai-chat.mjs";
import * as openaiResponses from "./openai-responses.mjs";
import * as plain from "./plain.mjs";

export const light = {
  createFileTools: plain,
  anthropic,
  "openai, Chat Completions": openaiChat,
  "openai, Responses": openaiResponses,
  ai,
  "ai 5": ai5,
  "langchain, middleware": langchain,
  "langchain, tools alone": langchainTools,
  mcp,
};

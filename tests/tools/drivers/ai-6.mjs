// Version 6 of the AI SDK.

import * as sdk from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { fileTools } from "kitbag/ai";
import { driver } from "./ai.mjs";

export const { steps, play } = driver({
  sdk,
  fileTools,
  Model: MockLanguageModelV3,
  finish: (reason) => ({ unified: reason, raw: reason }),
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
});

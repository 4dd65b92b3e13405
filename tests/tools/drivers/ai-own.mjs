// The AI SDK as it is installed: version 6, or 7 among the newest packages, which has models of its own.

import * as sdk from "ai";
import * as mocks from "ai/test";
import { fileTools } from "kitbag/ai";
import { driver } from "./ai.mjs";

const { MockLanguageModelV4, MockLanguageModelV3 } = mocks;

export const { steps, play } = driver({
  sdk,
  fileTools,
  Model: MockLanguageModelV4 ?? MockLanguageModelV3,
  finish: (reason) => ({ unified: reason, raw: reason }),
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
});

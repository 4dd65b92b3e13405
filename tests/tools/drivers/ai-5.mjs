// Version 5 of the AI SDK. It is installed as `ai5`, and `install.mjs` makes the module that is
// imported here: the adapter as it is shipped, with that name in the place of `ai`.

import * as sdk from "ai5";
import { MockLanguageModelV2 } from "ai5/test";
import { fileTools } from "kitbag/ai-with-5";
import { driver } from "./ai.mjs";

export const { steps, play } = driver({
  sdk,
  fileTools,
  Model: MockLanguageModelV2,
  finish: (reason) => reason,
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
});

// The names of the options of `createFileTools`, for the adapters that add some of their own: they
// refuse a misspelled one, and say which is meant.

import type { FileToolsOptions } from "kitbag";

/** Every option of `createFileTools`. */
export const TOOL_OPTIONS = {
  tools: true,
  prompts: true,
  customToolDescriptions: true,
  systemPrompt: true,
  permissions: true,
  policy: true,
  requireReadBeforeEdit: true,
  toolTokenLimitBeforeEvict: true,
  humanMessageTokenLimitBeforeEvict: true,
  unchanged: true,
  ignore: true,
  changes: true,
  maxExecuteTimeout: true,
} satisfies Record<keyof FileToolsOptions, true>;

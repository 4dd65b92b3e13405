// The options of `createFileTools` in the adapters: the names, for those that add some of their own and
// refuse a misspelled one, and errors that begin with the adapter's function.

import {
  type BackendOrFactory,
  createFileTools,
  type FileTools,
  type FileToolsOptions,
} from "kitbag";
import { calledAs } from "../../core/nearest.js";

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

/** `createFileTools` for the function `called` of an adapter. */
export const toolsFor = (
  called: string,
  backend: BackendOrFactory,
  options: FileToolsOptions | undefined,
): FileTools => calledAs(called, () => createFileTools(backend, options));

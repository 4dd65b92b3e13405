// The texts that a model reads about the tools. The short ones are part of the WebAssembly; others
// are objects of this form. `"guided"` names one of them in builds that contain it, and in a page
// after `import "kitbag/guided"`.

import { guidedHere } from "#guided";
import type { Options } from "../core/checks.js";
import type { FileToolName } from "./table.js";

export type { FileToolName };

/** The names of the tools that the option `changes` adds. */
export type ChangeToolName = "diff" | "undo" | "commit";

/** Texts for a model about a set of tools, such as `guidedPrompts`. */
export interface ToolPrompts {
  /** The description of one tool; `tools` are the names of all tools that are offered. */
  describe(name: FileToolName, tools: readonly FileToolName[]): string;
  /** The system prompt about the tools that are offered. */
  system(tools: readonly FileToolName[]): string;
}

let guided: ToolPrompts | undefined = guidedHere;

/** Sets what `"guided"` means, in builds that do not contain it. */
export function guidedBy(prompts: ToolPrompts): void {
  guided = prompts;
}

/** The option `prompts`; undefined for the short texts. */
export function promptsOf(of: Options): ToolPrompts | undefined {
  const given = of.raw("prompts") ?? "short";
  if (given === "short") return undefined;
  if (given === "guided") {
    if (guided !== undefined) return guided;
    throw new TypeError(
      `${of.of}: prompts: "guided" is not part of this build, so that pages stay small; add \`import "kitbag/guided"\`, or pass its \`guidedPrompts\``,
    );
  }
  const { describe, system } = given as Partial<ToolPrompts>;
  if (typeof describe !== "function" || typeof system !== "function") {
    of.refuse("prompts", '"short", "guided" or an object with describe() and system()', given);
  }
  return given as ToolPrompts;
}

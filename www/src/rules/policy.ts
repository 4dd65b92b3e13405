// The rules in force: the code of /policies/agent.js, evaluated as a module in this page.

import { signal } from "@preact/signals";
import { type Policy, StateBackend, withPolicy } from "kitbag";
import { announceChange } from "../tree/changes";
import { ruleFiles } from "../tree/mounts";
import { rulesPath, startingRules } from "./starting";

export const rulesCode = signal(startingRules);
export const policy = signal<Policy>({});
export const rulesError = signal("");

/** The policy that a module exports. Throws if it is none, and says why. */
async function evaluate(code: string): Promise<Policy> {
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    const { default: made } = (await import(/* @vite-ignore */ address)) as { default?: Policy };
    if (typeof made !== "object" || made === null) {
      throw new TypeError("the module must have a default export, the policy");
    }
    // The constructor checks every option; somebody is there to be asked.
    withPolicy(new StateBackend(), { onAsk: () => false, ...made });
    return made;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Puts rules in force, and keeps them. What does not evaluate changes nothing. */
export async function setRules(code: string): Promise<boolean> {
  try {
    policy.value = await evaluate(code);
    rulesError.value = "";
  } catch (error) {
    rulesError.value = error instanceof Error ? error.message : String(error);
    return false;
  }
  rulesCode.value = code;
  await ruleFiles.write(rulesPath, code);
  announceChange();
  return true;
}

/** Takes up the rules of the last visit. */
export async function loadRules() {
  const { data } = await ruleFiles.readRaw(rulesPath);
  const code = typeof data?.content === "string" ? data.content : startingRules;
  if (!(await setRules(code))) await setRules(startingRules);
}

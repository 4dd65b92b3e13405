// The rules in force: the code of /policies/agent.js, evaluated as a module in this page.

import { signal } from "@preact/signals";
import { type Policy, StateBackend, withPolicy } from "kitbag";
import { announceChange } from "../tree/changes";
import { ruleFiles } from "../tree/mounts";
import { rulesPath, startingRules } from "./starting";
import { type Trouble, troubleOf } from "./trouble";

export const rulesCode = signal(startingRules);
export const policy = signal<Policy>({});
export const rulesTrouble = signal<Trouble | undefined>(undefined);
/** Whether what is in the editor is in force, is not read yet, or cannot be in force. */
export const rulesState = signal<"force" | "typing" | "bad">("force");

/** The policy that a module exports, or what is wrong with it. */
async function evaluate(code: string): Promise<{ made?: Policy; trouble?: Trouble }> {
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    const { default: made } = (await import(/* @vite-ignore */ address)) as { default?: Policy };
    if (typeof made !== "object" || made === null) {
      return { trouble: { message: "The module must have a default export, the policy." } };
    }
    // The constructor checks every option; somebody is there to be asked.
    withPolicy(new StateBackend(), { onAsk: () => false, ...made });
    return { made };
  } catch (error) {
    return { trouble: await troubleOf(error, address) };
  } finally {
    URL.revokeObjectURL(address);
  }
}

let newest = 0;

/** Puts rules in force, and keeps them. What does not evaluate changes nothing. */
export async function setRules(code: string): Promise<boolean> {
  const mine = ++newest;
  const { made, trouble } = await evaluate(code);
  // Something newer was typed meanwhile.
  if (mine !== newest) return false;
  rulesTrouble.value = trouble;
  rulesState.value = made ? "force" : "bad";
  if (!made) return false;
  policy.value = made;
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

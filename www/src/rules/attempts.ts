// The attempts of the scripted agent under some rules, on a copy of its project: nothing of the tree
// is touched, and a question counts as asked and is answered with yes.

import {
  CompositeBackend,
  createFileTools,
  type FileToolName,
  type Policy,
  StateBackend,
  withPolicy,
} from "kitbag";
import { project } from "../agent/project";
import { type Step, script, temptations } from "../agent/script";
import { withShell } from "../shell/lazy";

export type Outcome = "done" | "failed" | "asks" | "refused" | "hidden";

export interface Attempt {
  step: Step;
  outcome: Outcome;
}

const memory = () => new StateBackend({ scope: "instance" });

export async function attempts(policy: Policy): Promise<Attempt[]> {
  const work = new StateBackend({ scope: "instance", files: project });
  const tree = new CompositeBackend(withPolicy(memory(), { readOnly: true }), {
    "/work/": work,
    "/memories/": memory(),
    "/files/": memory(),
    "/policies/": withPolicy(memory(), { readOnly: true }),
  });
  let [asked, denied] = [false, false];
  const guarded = withPolicy(tree, {
    ...policy,
    onAsk: () => {
      asked = true;
      return true;
    },
    audit: ({ code }) => {
      denied ||= /^(permission_denied|rate_limited|quota_exceeded)$/.test(code);
    },
  });
  const tools = [...new Set([...script, ...temptations].map(({ tool }) => tool))] as FileToolName[];
  const files = createFileTools(withShell(guarded), { tools });
  const out: Attempt[] = [];
  for (const step of [...script, ...temptations]) {
    [asked, denied] = [false, false];
    const { isError, text } = await files.call(step.tool, step.input);
    const empty = step.tool === "grep" && /^no /i.test(text);
    let outcome: Outcome = isError ? "failed" : "done";
    if (denied) outcome = "refused";
    else if (asked) outcome = "asks";
    else if (empty) outcome = "hidden";
    out.push({ step, outcome });
  }
  return out;
}

// The attempts of the scripted agent under some rules, on a copy of its project: nothing of the tree
// is touched, and a question counts as asked and is answered with yes.

import {
  type AuditRecord,
  CompositeBackend,
  createFileTools,
  type FileToolName,
  type Policy,
  StateBackend,
  withPolicy,
} from "kitbag";
import { project } from "../agent/project";
import { type Step, script, temptations } from "../agent/script";
import { addShell } from "../shell/lazy";
import { explain, explainRefusal, isRefusal, touchOf } from "./explain";

/** `hidden`: a search that finds nothing, because a rule hides the file. */
export type Outcome = "done" | "failed" | "asks" | "refused" | "hidden";

export interface Attempt {
  step: Step;
  outcome: Outcome;
  /** The rule that refused or asked, by its name. */
  rule?: string;
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
  let asked: { operation: string; path: string } | undefined;
  let denied: AuditRecord | undefined;
  const guarded = withPolicy(tree, {
    ...policy,
    onAsk: (operation) => {
      asked ??= operation;
      return true;
    },
    audit: (record) => {
      if (isRefusal(record)) denied ??= record;
    },
  });
  const tools = [...new Set([...script, ...temptations].map(({ tool }) => tool))] as FileToolName[];
  const files = createFileTools(addShell(guarded), { tools });
  const out: Attempt[] = [];
  for (const step of [...script, ...temptations]) {
    asked = undefined;
    denied = undefined;
    const { isError, text } = await files.call(step.tool, step.input);
    const empty = step.tool === "grep" && /^no /i.test(text);
    const attempt: Attempt = { step, outcome: isError ? "failed" : "done" };
    if (denied) {
      attempt.outcome = "refused";
      attempt.rule = (await explainRefusal(policy, denied)).rule;
    } else if (asked) {
      const { operation, path } = asked;
      attempt.outcome = "asks";
      attempt.rule = (await explain(policy, touchOf(operation), path)).rule;
    } else if (empty) attempt.outcome = "hidden";
    out.push(attempt);
  }
  return out;
}

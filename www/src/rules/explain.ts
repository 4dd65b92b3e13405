// Which rule decides about an operation on a path. kitbag itself is asked, one rule at a time, over
// an empty backend: so the answer follows the same patterns as the rules in force.

import {
  type AuditRecord,
  type PermissionRule,
  type Policy,
  StateBackend,
  withPolicy,
} from "kitbag";
import { mountOf } from "../tree/mounts";

export type Touch = "read" | "write";

export interface Verdict {
  decision: "allow" | "ask" | "deny";
  /** The name of the rule; of one without a name its place, such as `permissions[1]`. */
  rule: string;
  /** The rule as it is written. */
  text: string;
}

const EMPTY = new Uint8Array();

/** Whether a policy lets a bare read or write of a path through. */
async function passes(policy: Policy, touch: Touch, path: string): Promise<boolean> {
  const probe = withPolicy(new StateBackend({ scope: "instance" }), policy);
  if (touch === "read") return (await probe.read(path)).code !== "permission_denied";
  return (await probe.uploadFiles([[path, EMPTY]]))[0]?.error !== "permission_denied";
}

/** Whether this rule is about the path. */
async function covers(rule: PermissionRule, touch: Touch, path: string) {
  if (!rule.operations.includes(touch)) return false;
  const { paths } = rule;
  const only = (mode: "allow" | "deny"): Policy => ({
    permissions: [{ operations: [touch], paths, mode }],
    defaultMode: mode === "allow" ? "deny" : "allow",
  });
  if (rule.mode === undefined || rule.mode === "allow") return passes(only("allow"), touch, path);
  return !(await passes(only("deny"), touch, path));
}

const short = (rule: PermissionRule) =>
  `${rule.mode ?? "allow"} ${rule.operations.join(", ")} ${rule.paths.join(", ")}`;

async function oneTouch(policy: Policy, touch: Touch, path: string): Promise<Verdict> {
  if (touch === "write" && policy.readOnly) {
    return { decision: "deny", rule: "readOnly", text: "readOnly: true" };
  }
  for (const prefix of touch === "write" ? (policy.readOnlyPrefixes ?? []) : []) {
    if (!(await passes({ readOnlyPrefixes: [prefix] }, touch, path))) {
      return { decision: "deny", rule: "readOnlyPrefixes", text: `readOnlyPrefixes: ${prefix}` };
    }
  }
  for (const [at, rule] of (policy.permissions ?? []).entries()) {
    if (!(await covers(rule, touch, path))) continue;
    return {
      decision: rule.mode ?? "allow",
      rule: rule.name ?? `permissions[${at}]`,
      text: short(rule),
    };
  }
  if (policy.defaultMode === "deny") {
    return { decision: "deny", rule: "defaultMode", text: 'defaultMode: "deny"' };
  }
  return { decision: "allow", rule: "default", text: "no rule is about it: allowed" };
}

const STRICT = { allow: 0, ask: 1, deny: 2 };

/** A change needs permission to read as well, because its result tells whether the file exists. */
export async function explain(policy: Policy, touch: Touch, path: string): Promise<Verdict> {
  const own = await oneTouch(policy, touch, path);
  if (touch === "read") return own;
  const read = await oneTouch(policy, "read", path);
  return STRICT[read.decision] > STRICT[own.decision] ? read : own;
}

const REFUSALS = /^(permission_denied|rate_limited|quota_exceeded)$/;
const CHANGES = /^(write|edit|delete|uploadFiles)$/;

export const isRefusal = ({ code }: Pick<AuditRecord, "code">) => REFUSALS.test(code);
export const touchOf = (operation: string): Touch => (CHANGES.test(operation) ? "write" : "read");

/** Which rule refused an operation, from its audit record. */
export async function explainRefusal(
  policy: Policy,
  { code, operation, path }: Pick<AuditRecord, "code" | "operation" | "path">,
): Promise<Verdict> {
  if (code === "rate_limited") return { decision: "deny", rule: "rateLimit", text: "too many" };
  if (code === "quota_exceeded") return { decision: "deny", rule: "quota", text: "too large" };
  const verdict = await explain(policy, touchOf(operation), path);
  if (verdict.decision !== "allow") return verdict;
  return mountOf(path)?.kind === "rules"
    ? { decision: "deny", rule: "mount", text: "the mount itself is read-only" }
    : { decision: "deny", rule: "inspect", text: "a function of the rules said no" };
}

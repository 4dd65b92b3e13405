// withPolicy: wraps any backend with rules. This module checks the options; each rule is a wrapper
// in Rust.

import chunk from "#chunk/policy";
import { madeHandle, received } from "../core/call.js";
import { kindOf, Options, shown } from "../core/checks.js";
import { PolicyGiven, RateGiven, RuleGiven, RulesCall } from "../core/descriptions.js";
import { create, each, packCall, take, takeAll, type Values } from "../core/given.js";
import { handleOf, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { OPERATIONS, type Operation } from "../core/operations.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { ErrorCode, ExecuteResponse, MaybePromise } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { passWatch } from "./passing.js";

/** What a rule about paths governs. */
type Access = "read" | "write";

/** One rule about reading or writing paths. The first rule that matches decides. */
export interface FilesystemPermission {
  /** What refusals, questions and audit records call the rule. Default: they name the option only. */
  name?: string;
  /** The kinds of access that the rule is about. */
  operations: readonly Access[];
  /**
   * Globs over complete paths. `/a/**` also matches `/a`. `/a` with `"deny"` or `"ask"` also matches
   * everything below it, and with `"allow"` only itself.
   */
  paths: string[];
  /** What the rule decides. Default `"allow"`. */
  mode?: "allow" | "deny";
}

/** A `FilesystemPermission` that can also ask. */
export interface PermissionRule extends Omit<FilesystemPermission, "mode"> {
  /** What the rule decides. Default `"allow"`. `"ask"` calls `onAsk`. */
  mode?: FilesystemPermission["mode"] | "ask";
}

/** An operation that `onAsk` must decide about. */
export interface AskedOperation {
  /** Name of the operation, such as `write`. */
  operation: Operation;
  /**
   * The tool or the method that was called, if it is another one: `edit_file` for the `readRaw` that it
   * begins with, `copy` for an `uploadFiles` into another mount.
   */
  called?: string;
  /** Canonical path of the file or directory; of a move or copy, the old path. */
  path: string;
  /**
   * What would be written, replaced or deleted, shortened; empty for a read. Of a move or copy, both
   * paths of each file.
   */
  preview: string;
  /** The `name` of the rule that asks, if it has one. */
  rule?: string;
}

/** At most `operations` operations in any `perMs` milliseconds (a sliding window). */
type Rate = {
  /** Most operations in the window. */
  operations: number;
  /** Length of the window in milliseconds. */
  perMs: number;
};

/**
 * What can have a rate: one operation, by its name; or `read`, every operation that only reads, also
 * `ls`, `grep` and `downloadFiles`; or `write`, every operation that changes files, also `edit`,
 * `delete`, `move` and `uploadFiles`.
 */
export type RateKind = Operation;

/** One rate for all operations, or one for each kind. In a batch each file counts. */
export type RateLimit = Rate | Partial<Record<RateKind, Rate>>;

/** How much may be stored. What exists already counts. */
export interface Quota {
  /** Bytes of all files together. Default: no limit. */
  maxBytes?: number;
  /** Number of files. Default: no limit. */
  maxFiles?: number;
  /** Bytes of a single file. Default: no limit. */
  maxFileBytes?: number;
}

/** Content that is about to be stored; for an edit or append, the complete new file. */
export interface InspectedOperation {
  /** The operation that stores it. */
  operation: "write" | "edit" | "append" | "uploadFiles" | "move" | "copy";
  /** Canonical path of the file. */
  path: string;
  /** The text, or the bytes of a binary file. */
  content: string | Uint8Array;
}

/** Nothing: store it. `deny`: refuse, with this reason. `content`: store this instead. */
export type InspectVerdict =
  | void
  | undefined
  | null
  | {
      /** Why the content is refused; the caller is told. */
      deny: string;
    }
  | {
      /** What is stored instead. */
      content: string | Uint8Array;
    };

/** Record of one operation. It never contains content, patterns, commands or messages. */
export interface AuditRecord {
  /** When the operation began, ISO 8601. */
  time: string;
  /** Name of the operation, such as `write`. */
  operation: Operation;
  /**
   * The tool or the method that was called, if it is another one: `edit_file` for the `readRaw` that it
   * begins with, `copy` for an `uploadFiles` into another mount.
   */
  called?: string;
  /** The file or directory; the first of a batch; empty for a command or an invalid path. */
  path: string;
  /** All files of a batch; the old and the new path of a move or copy. */
  paths?: string[];
  /** Bytes of content that were read or written, of matches, or of a command's output. */
  bytes: number;
  /** `"ok"`, or the error code; for a batch, the first one. */
  code: "ok" | ErrorCode;
  /** The option of the policy that refused the operation, such as `readOnly`, or the name of its rule. */
  rule?: string;
  /** Duration in milliseconds. */
  durationMs: number;
  /** Requests to a server of S3 or R2, or statements to a database; absent if there were none. */
  requests?: number;
  /** Requests that were sent again after a failure; absent if there were none. */
  retries?: number;
}

/** An operation that is about to begin. */
export interface PolicyCall {
  /** Name of the operation, such as `write`. */
  operation: Operation;
  /**
   * The tool or the method that was called, if it is another one: `edit_file` for the `readRaw` that it
   * begins with, `copy` for an `uploadFiles` into another mount.
   */
  called?: string;
  /** The file or directory, if the operation names one. */
  path?: string;
  /** All files of a batch; the old and the new path of a move or copy. */
  paths?: string[];
}

/**
 * Rules of `withPolicy`. They run in this order: canonical path, `hooks.before`, `readOnly`,
 * `readOnlyPrefixes`, `permissions` with `onAsk`, `rateLimit`, `inspect`, `quota`, the backend,
 * `hooks.after`, `audit`.
 */
export interface Policy {
  /** Refuse every change. Default false. */
  readOnly?: boolean;
  /**
   * Refuse every change at or below these directories. Reading stays allowed: to forbid that too, use
   * `permissions`. Default: none.
   */
  readOnlyPrefixes?: string[];
  /** Which paths may be read and written; the first rule that matches decides. Default: none. */
  permissions?: PermissionRule[];
  /** What applies to a path that no permission matches. Default `"allow"`. */
  defaultMode?: "allow" | "deny";
  /** Decides about operations of mode `"ask"`. Only `true` allows; a throw or a timeout refuses. */
  onAsk?: (asked: AskedOperation) => MaybePromise<boolean>;
  /** Time limit of `onAsk`, in milliseconds. Default 60,000. */
  askTimeoutMs?: number;
  /** Most operations in a period; more are refused with `rate_limited`. Default: no limit. */
  rateLimit?: RateLimit;
  /** How much may be stored; more is refused with `quota_exceeded`. Default: no limit. */
  quota?: Quota;
  /** Called with content before it is stored. It can refuse or replace it; a throw refuses. */
  inspect?: (operation: InspectedOperation) => MaybePromise<InspectVerdict>;
  /** Called with a record of each operation, also of refused ones. */
  audit?: (record: AuditRecord) => unknown;
  /** Callbacks around every operation. */
  hooks?: {
    /** Called before every rule. A throw or `{ deny: reason }` refuses the operation. */
    before?: (call: PolicyCall) => unknown;
    /** Called after the operation. A throw has no effect. */
    after?: (record: AuditRecord) => unknown;
  };
  /**
   * `true`: allow `execute` although a shell follows no rules about files; `false`: refuse it always.
   * Default: refuse it where there are such rules.
   */
  allowExecute?: boolean;
  /**
   * Whether a file may be created whose name has characters that show nothing or reorder others, such as
   * U+200B or U+202E: who approves it would see another name. Joiners stay allowed where a script or an
   * emoji needs them. Default `"refuse"`.
   */
  hiddenCharacters?: "refuse" | "allow";
}

/** Checks and copies a policy, so that later changes of the object change no rule. */
function read(of: string, policy: unknown): Values<typeof PolicyGiven> {
  const given = new Options(of, policy);
  const values = take(given, PolicyGiven);
  for (const [at, path] of values.readOnlyPrefixes.entries()) {
    directory(given, `readOnlyPrefixes[${at}]`, path);
  }
  const inHooks = new Options(`${of}: hooks`, given.object("hooks"));
  const out = {
    ...values,
    permissions: each(given, "permissions", permission),
    rates: rates(of, given.object("rateLimit")),
    before: inHooks.callback("before", true),
    after: inHooks.callback("after"),
  };
  inHooks.done();
  given.done();
  return out;
}

/** A directory that is protected; what looks like a pattern would protect nothing. */
function directory(given: Options, name: string, path: string): void {
  if (!/[*?]|^!|\{[^}]*,/.test(path)) return;
  given.refuse(
    name,
    'a directory without wildcards, such as "/config"; for a pattern, write a rule of permissions with mode "deny" for "write"',
    path,
  );
}

function permission(rule: Options): Values<typeof RuleGiven> {
  const operations = accessOf(rule);
  const values = take(rule, RuleGiven);
  if (values.name === "" || (values.name?.length ?? 0) > 100) {
    rule.refuse("name", "a text of 1 to 100 characters", values.name);
  }
  return { ...values, operations };
}

/** Operations that only read. */
const READING: unknown[] = ["ls", "read", "readRaw", "grep", "glob", "downloadFiles"];

function accessOf(rule: Options): Access[] {
  const list = rule.raw("operations");
  const expected = 'an array of "read", "write" or both, such as ["write"]';
  if (!Array.isArray(list)) return rule.refuse("operations", expected, list);
  if (list.length === 0) {
    throw new TypeError(`${rule.of}: option "operations" is empty; it must be ${expected}`);
  }
  return list.map((one: unknown): Access => {
    if (one === "read" || one === "write") return one;
    const covers = READING.includes(one) ? "read" : "write";
    const meant =
      one === "execute"
        ? "; commands are allowed or refused by the option allowExecute of the policy"
        : OPERATIONS.includes(one as Operation)
          ? `; write "${covers}", which covers ${one}`
          : "";
    throw new TypeError(
      `${rule.of}: option "operations" must have "read" or "write" in it, not ${shown(one)}${meant}`,
    );
  });
}

function rates(of: string, limit: Record<string, unknown> | undefined): RateValues[] {
  if (limit === undefined) return [];
  const name = `${of}: rateLimit`;
  if ("operations" in limit || "perMs" in limit) {
    return [{ kind: undefined, ...takeAll(name, limit, RateGiven) }];
  }
  const byKind = new Options(name, limit);
  const out: RateValues[] = [];
  for (const kind of OPERATIONS) {
    const rate = byKind.object(kind);
    if (rate) out.push({ kind, ...takeAll(`${name}.${kind}`, rate, RateGiven) });
  }
  byKind.done();
  if (out.length === 0) {
    throw new TypeError(
      `${name} must be { operations, perMs }, or such an object for an operation: { write: { operations: 10, perMs: 1_000 } }`,
    );
  }
  return out;
}

type RateValues = Values<typeof RateGiven>;

/** A backend with rules around it; the result of `withPolicy`. */
export class PolicyBackend extends Backend {
  /** Identifies the machine of the backend, if it can run commands. */
  declare readonly id?: string;
  /** Runs a command. Only there if the backend can run commands; see `allowExecute`. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  /** Throws a `TypeError` if the backend is none, or a rule is wrong. */
  constructor(inner: AnyBackend, policy: Policy);
  /** @internal */
  constructor(inner: AnyBackend, policy: Policy | KeptPolicy);
  constructor(inner: AnyBackend, policy: Policy | KeptPolicy) {
    const kept = policy instanceof KeptPolicy ? policy.id : undefined;
    const options = kept === undefined ? checked(policy) : undefined;
    chunk.load();
    super(
      withHandle("withPolicy: the backend", inner, (handle) => {
        if (options === undefined) enter(() => glue.policy_put(kept as number, handle));
        else {
          const make = (length: number, hosts: unknown[]) => glue.policy_new(handle, length, hosts);
          return create("withPolicy", PolicyGiven, options, make);
        }
        return madeHandle("withPolicy");
      }),
    );
    addShell(this);
    const { permissions, defaultMode }: Policy =
      policy instanceof KeptPolicy ? { permissions: [] } : policy;
    const asked = (call: (typeof RulesCall)["shown" | "reached"]) => (paths: readonly string[]) => {
      const length = packCall("withPolicy", call, { paths });
      enter(() => glue.policy_ask(handleOf(this), length));
      const shown = received((reply) => Array.from({ length: reply.u32() }, () => reply.text()));
      return Array.isArray(shown) ? shown : [];
    };
    const hides = permissions ?? defaultMode;
    passWatch(
      this,
      inner,
      hides && { shows: asked(RulesCall.shown), reaches: asked(RulesCall.reached) },
    );
  }
}

function checked(policy: unknown): Values<typeof PolicyGiven> {
  if (typeof policy !== "object" || policy === null) {
    // One that is missing by mistake must not mean that everything is allowed.
    throw new TypeError(`withPolicy: a policy must be an object, not ${kindOf(policy)}`);
  }
  return read("withPolicy", policy);
}

const collected = new FinalizationRegistry<number>((kept) => {
  try {
    glue.policy_drop(kept);
  } catch {
    // The whole instance is gone.
  }
});

/** A policy that wraps several backends and keeps its counters across all of them. */
export class KeptPolicy {
  readonly id: number;

  constructor(policy: Policy) {
    const options = checked(policy);
    chunk.load();
    this.id = create("withPolicy", PolicyGiven, options, glue.policy_keep);
    collected.register(this, this.id);
  }

  /** Wraps a backend with this policy. */
  round(inner: AnyBackend): PolicyBackend {
    return new PolicyBackend(inner, this);
  }
}

sealClass(PolicyBackend);

/** A backend that refuses every change at or below some directories. `withPolicy` knows more rules. */
export class PolicyWrapper extends PolicyBackend {
  /** @param denyPrefixes The directories, such as `"/policies/"`. Reading stays allowed. */
  constructor(inner: AnyBackend, denyPrefixes: string[] = []) {
    if (!Array.isArray(denyPrefixes)) {
      throw new TypeError(
        `PolicyWrapper: denyPrefixes must be an array of directories, not ${kindOf(denyPrefixes)}; for other rules call withPolicy(backend, policy)`,
      );
    }
    super(inner, { readOnlyPrefixes: denyPrefixes });
  }
}

sealClass(PolicyWrapper);

/**
 * Wraps a backend with rules; see `Policy`. What a rule refuses fails with `permission_denied`,
 * `rate_limited` or `quota_exceeded`. The backend itself is unchanged, and without the rules.
 *
 * @example
 * const guarded = withPolicy(backend, {
 *   permissions: [{ operations: ["write"], paths: ["/policies/**"], mode: "deny" }],
 *   quota: { maxFiles: 1_000 },
 * });
 */
export function withPolicy(inner: AnyBackend, policy: Policy): PolicyBackend {
  return new PolicyBackend(inner, policy);
}

/** An `audit` callback that keeps the newest records. */
export interface RingAudit {
  (record: AuditRecord): void;
  /** The kept records, the oldest first. */
  readonly records: AuditRecord[];
  /** Removes all records. */
  clear(): void;
}

/**
 * An `audit` callback that keeps the newest records.
 *
 * @param size How many records are kept, 1 or more.
 * @example
 * const audit = ringAudit(100);
 * const guarded = withPolicy(backend, { audit });
 * // … later: audit.records
 */
export function ringAudit(size: number): RingAudit {
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new TypeError("ringAudit: its size must be a whole number above zero");
  }
  let kept: AuditRecord[] = [];
  let next = 0;
  const ring = (record: AuditRecord) => {
    kept[next] = record;
    next = (next + 1) % size;
  };
  Object.defineProperty(ring, "records", {
    get: () => (kept.length < size ? kept.slice() : [...kept.slice(next), ...kept.slice(0, next)]),
  });
  return Object.assign(ring, {
    clear() {
      kept = [];
      next = 0;
    },
  }) as RingAudit;
}

// withPolicy: rules around any backend. The options are looked at here, early and by name; what
// they mean stands in Rust, a wrapper a concern.

import chunk from "#chunk/policy";
import type { AnyBackend } from "./adapt.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { madeHandle } from "./core/call.js";
import { kindOf, Options } from "./core/checks.js";
import { withHandle } from "./core/foreign.js";
import { sealClass } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";
import type { ErrorCode, ExecuteResponse, MaybePromise } from "./types.js";

/** One rule of who may read or write what. The first that matches wins. */
export interface FilesystemPermission {
  operations: Array<"read" | "write">;
  /** Globs over whole paths; `/a/**` means `/a` as well. */
  paths: string[];
  /** `"allow"` unless said otherwise. `"ask"` calls `onAsk`. */
  mode?: "allow" | "deny" | "ask";
}

/** An operation somebody is asked about. */
export interface AskedOperation {
  operation: string;
  path: string;
  /** What would be written, replaced or deleted, shortened; empty for a read. */
  preview: string;
}

/** So many operations in so long a time. */
export interface Rate {
  operations: number;
  perMs: number;
}

/** The kinds of operations that a rate can be given for. */
export type RateKind =
  /** Everything that only looks. */
  | "read"
  /** Everything that changes. */
  | "write"
  | "ls"
  | "readRaw"
  | "grep"
  | "glob"
  | "edit"
  | "delete"
  | "uploadFiles"
  | "downloadFiles"
  | "execute";

/** One rate for all operations, or one for each kind. Each file of a batch counts. */
export type RateLimit = Rate | Partial<Record<RateKind, Rate>>;

/** How much may be stored; what is there already counts. */
export interface Quota {
  maxBytes?: number;
  maxFiles?: number;
  maxFileBytes?: number;
}

/** Content about to be written: for an edit, the whole file as it would become. */
export interface InspectedOperation {
  operation: "write" | "edit" | "uploadFiles";
  path: string;
  content: string | Uint8Array;
}

/** Nothing: go ahead. `deny`: do not. `content`: write this in its place. */
export type InspectVerdict =
  | void
  | undefined
  | null
  | { deny: string }
  | { content: string | Uint8Array };

/** What became of one operation. Never content, a pattern, a command or a secret. */
export interface AuditRecord {
  /** When it began, ISO 8601. */
  time: string;
  operation: string;
  /** The file or directory; the first of a batch; empty for a command or a path that is none. */
  path: string;
  /** All files of a batch. */
  paths?: string[];
  bytes: number;
  code: "ok" | ErrorCode;
  durationMs: number;
}

/** An operation that is about to begin. */
export interface PolicyCall {
  operation: string;
  path?: string;
  paths?: string[];
}

/**
 * Any combination of rules, applied in this order: canonical path, readOnly, denyPrefixes,
 * permissions, ask, rateLimit, inspect, quota, the backend, audit.
 */
export interface Policy {
  /** Refuses every change. */
  readOnly?: boolean;
  /** No write, edit, delete or upload at or under these; whole segments. */
  denyPrefixes?: string[];
  permissions?: FilesystemPermission[];
  /** What a path that no permission matches is: `"allow"` unless said otherwise. */
  defaultMode?: "allow" | "deny";
  /** Only `true` is a yes; a throw or no answer in time is a no. */
  onAsk?: (asked: AskedOperation) => MaybePromise<boolean>;
  /** How long `onAsk` may take; 60,000 unless said otherwise. */
  askTimeoutMs?: number;
  rateLimit?: RateLimit;
  quota?: Quota;
  /** A throw refuses. */
  inspect?: (operation: InspectedOperation) => MaybePromise<InspectVerdict>;
  audit?: (record: AuditRecord) => unknown;
  hooks?: {
    /** Ahead of every rule; a throw or `{ deny }` refuses. */
    before?: (call: PolicyCall) => unknown;
    /** After everything; what it throws changes nothing. */
    after?: (record: AuditRecord) => unknown;
  };
  /** A shell sees none of the rules about files; allows it all the same. */
  allowExecute?: boolean;
}

const KINDS: Record<RateKind, string> = {
  read: "reads",
  write: "writes",
  ls: "ls",
  readRaw: "readRaw",
  grep: "grep",
  glob: "glob",
  edit: "edit",
  delete: "delete",
  uploadFiles: "uploadFiles",
  downloadFiles: "downloadFiles",
  execute: "execute",
};

/** A policy read with care: copied, so that nothing changed later changes a rule. */
function read(of: string, policy: unknown): Record<string, unknown> {
  const given = new Options(of, policy);
  const hooks = given.object("hooks");
  const inHooks = new Options(`${of}: hooks`, hooks);
  const mode = given.oneOf("defaultMode", ["allow", "deny"], "allow");
  const askTimeoutMs = given.amount("askTimeoutMs");
  const quota = given.object("quota");
  const out = {
    readOnly: given.boolean("readOnly", false),
    allowExecute: given.boolean("allowExecute", false),
    denyPrefixes: texts(given, "denyPrefixes", given.raw("denyPrefixes")),
    permissions: permissions(of, given),
    denyByDefault: mode === "deny",
    onAsk: given.callback("onAsk"),
    askTimeoutMs,
    rates: rates(of, given.object("rateLimit")),
    quota: quota && quotaOf(of, quota),
    inspect: given.callback("inspect"),
    audit: given.callback("audit"),
    before: inHooks.callback("before"),
    after: inHooks.callback("after"),
  };
  inHooks.done();
  given.done();
  return out;
}

function texts(given: Options, name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return given.refuse(name, "an array of strings", value);
  return value.map((one) =>
    typeof one === "string" ? one : given.refuse(name, "an array of strings", value),
  );
}

function permissions(of: string, given: Options): FilesystemPermission[] {
  const list = given.raw("permissions");
  if (list === undefined) return [];
  if (!Array.isArray(list)) return given.refuse("permissions", "an array of rules", list);
  return list.map((one: unknown, at: number) => {
    const name = `${of}: permissions[${at}]`;
    if (typeof one !== "object" || one === null) {
      throw new TypeError(`${name} must be a rule, not ${kindOf(one)}`);
    }
    const rule = new Options(name, one);
    const operations = texts(rule, "operations", rule.raw("operations"));
    if (operations.length === 0 || operations.some((it) => it !== "read" && it !== "write")) {
      rule.refuse("operations", '"read", "write" or both, in an array', operations);
    }
    const paths = texts(rule, "paths", rule.raw("paths"));
    if (paths.length === 0) rule.refuse("paths", "an array of patterns", rule.raw("paths"));
    const mode = rule.oneOf("mode", ["allow", "deny", "ask"], "allow");
    rule.done();
    return { operations: operations as Array<"read" | "write">, paths, mode };
  });
}

function rateOf(of: string, value: unknown): Rate {
  const rate = new Options(of, value);
  const operations = rate.amount("operations");
  const perMs = rate.amount("perMs");
  rate.done();
  if (operations === undefined || perMs === undefined) {
    throw new TypeError(`${of} must be { operations, perMs }`);
  }
  return { operations, perMs };
}

function rates(of: string, limit: Record<string, unknown> | undefined): unknown[] {
  if (limit === undefined) return [];
  const name = `${of}: rateLimit`;
  if ("operations" in limit || "perMs" in limit) {
    return [{ covers: "all", ...rateOf(name, limit) }];
  }
  const byKind = new Options(name, limit);
  const out: unknown[] = [];
  for (const kind of Object.keys(KINDS) as RateKind[]) {
    const rate = byKind.object(kind);
    if (rate) out.push({ covers: KINDS[kind], ...rateOf(`${name}.${kind}`, rate) });
  }
  byKind.done();
  return out;
}

function quotaOf(of: string, value: Record<string, unknown>): Quota {
  const quota = new Options(`${of}: quota`, value);
  const out: Quota = {};
  for (const name of ["maxBytes", "maxFiles", "maxFileBytes"] as const) {
    const limit = quota.amount(name);
    if (limit !== undefined) out[name] = limit;
  }
  quota.done();
  return out;
}

/** A backend with rules around it. */
export class PolicyWrapper extends Backend {
  /** Which machine the backend is, where it can run commands. */
  declare readonly id?: string;
  /** Runs a command, where the backend can and the policy lets it. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  constructor(inner: AnyBackend, policy: Policy) {
    const kept = policy instanceof KeptPolicy ? policy.id : undefined;
    const options = kept === undefined ? checked(policy) : undefined;
    chunk.load();
    super(
      withHandle("PolicyWrapper: the inner backend", inner, (handle) => {
        enter(() =>
          kept === undefined ? glue.policy_new(handle, options) : glue.policy_put(kept, handle),
        );
        return madeHandle("PolicyWrapper");
      }),
    );
    addShell(this);
  }
}

function checked(policy: unknown): Record<string, unknown> {
  if (typeof policy !== "object" || policy === null) {
    throw new TypeError(`PolicyWrapper: a policy must be an object, not ${kindOf(policy)}`);
  }
  return read("PolicyWrapper", policy);
}

const collected = new FinalizationRegistry<number>((kept) => {
  try {
    glue.policy_drop(kept);
  } catch {
    // The instance is gone with everything in it.
  }
});

/** A policy that is put round one backend after another, and goes on counting over all of them. */
export class KeptPolicy {
  readonly id: number;

  constructor(policy: Policy) {
    const options = checked(policy);
    chunk.load();
    enter(() => glue.policy_keep(options));
    this.id = madeHandle("PolicyWrapper");
    collected.register(this, this.id);
  }

  /** Puts it round a backend. */
  round(inner: AnyBackend): PolicyWrapper {
    return new PolicyWrapper(inner, this as unknown as Policy);
  }
}

sealClass(PolicyWrapper);

/** Puts a policy round a backend. */
export function withPolicy(inner: AnyBackend, policy: Policy): PolicyWrapper {
  return new PolicyWrapper(inner, policy);
}

/** An audit that keeps the last records. */
export interface RingAudit {
  (record: AuditRecord): void;
  /** The records kept, the oldest first. */
  readonly records: AuditRecord[];
  /** Forgets them. */
  clear(): void;
}

/** An audit that keeps the last `size` records: `withPolicy(backend, { audit: ringAudit(100) })`. */
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

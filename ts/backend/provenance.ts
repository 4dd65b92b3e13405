// withProvenance: labels for files, and rules about where labelled content may flow. This module
// checks the options; the rest is in Rust.

import chunk from "#chunk/provenance";
import { limitOf, madeHandle, NOT_BEGUN, received, settled } from "../core/call.js";
import { callOptions, kindOf, Options, refused, text } from "../core/checks.js";
import { handleOf, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { OPERATIONS, type Operation } from "../core/operations.js";
import type { Reply } from "../core/reply.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { CallOptions, ExecuteResponse, Failure, MaybePromise, Result } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { type KeepIn, placeElsewhere } from "./keep-in.js";
import { passWatch } from "./passing.js";
import type { AskedOperation } from "./policy.js";

/** Files at some paths have a label, whatever they contain. */
export interface PathLabel {
  /** Patterns of whole paths, such as `/web/**`, which also matches `/web`. */
  paths: readonly string[];
  /** The label: letters, digits, `.`, `_` and `-`. */
  as: string;
}

/** Where content with a label may not go by itself. */
export interface FlowRule {
  /** The label. */
  from: string;
  /** Patterns of the files that it may not get into. */
  to: readonly string[];
  /** `"refuse"`, or `"ask"`: `onAsk` decides. If several rules apply, `"refuse"` wins. */
  then: "refuse" | "ask";
}

/** Labelled content that a conversation has read. */
export interface LabelledRead {
  /** The label. */
  label: string;
  /** The file. A command may read all files; then it is the first one with the label. */
  path: string;
  /** The call that read it. */
  operation: Operation;
}

/** A call that would put labelled content where a flow does not let it go by itself. */
export interface AskedFlow extends AskedOperation {
  /** The labels that the flows name. */
  labels: string[];
  /** What was read with these labels, and by which call. */
  reads: LabelledRead[];
}

/** Options of `withProvenance`. */
export interface ProvenanceOptions {
  /** Which files have a label because of their path. */
  labels: readonly PathLabel[];
  /** Where labelled content may not go by itself. Default: none, labels are only recorded. */
  flows?: readonly FlowRule[];
  /**
   * Decides where a flow has `then: "ask"`. Only `true` allows; a throw or a timeout refuses. The
   * same function can be the `onAsk` of a policy.
   */
  onAsk?: (asked: AskedFlow) => MaybePromise<boolean>;
  /** Time limit of `onAsk`, in milliseconds. Default 60,000. */
  askTimeoutMs?: number;
  /**
   * Where the labels of written files are kept; `path` is `/labels.tsv` by default. The agent must not
   * reach this backend, since who changes the file changes labels. Default: in memory.
   */
  keepIn?: KeepIn;
}

/** The result of `labels`. */
export type LabelsResult = Result<{
  /** The labels of the file as it is now, sorted. */
  labels: string[];
}>;

/** The result of `trust`. */
export type TrustResult = Result<{
  /** The file or directory. */
  path: string;
}>;

/** Where labels are kept, if the caller names no path. */
const LABELS = "/labels.tsv";
const LABEL = /^[\w.-]{1,64}$/;

/** Patterns that would match other files than their author expects, and what to write instead. */
const UNSOUND: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(?!\/)/, "it must begin with '/'"],
  [/.\/$/, "it ends with '/' and so matches no file; end it with '/**'"],
  [/(^|\/)(\.\.?|~)(\/|$)|\/\//, "'.', '..', '~' and empty segments are in no path"],
  [/[?*+@!]\(/, "extended patterns such as '+(a|b)' are not known; write '{a,b}'"],
  [/\[\[:/, "named classes such as '[[:alpha:]]' are not known; write '[a-zA-Z]'"],
  [/\{[^{},]*\.\.[^{},]*\}/, "ranges such as '{1..3}' are not known; write '{1,2,3}'"],
  [/[\0-\x1f]/, "it has a control character"],
];

function patterns(of: Options, name: string): string[] {
  const list = of.raw(name);
  const isList = Array.isArray(list) && list.length > 0;
  if (!isList || list.some((one) => typeof one !== "string")) {
    return of.refuse(name, 'an array of patterns such as ["/web/**"]', list);
  }
  for (const [at, pattern] of list.entries()) {
    const why = UNSOUND.find(([form]) => form.test(pattern))?.[1];
    if (why) throw new TypeError(`${of.of}: ${name}: the pattern ${name}[${at}]: ${why}`);
  }
  return list;
}

function label(of: Options, name: string): string {
  const value = of.requiredText(name);
  return LABEL.test(value)
    ? value
    : of.refuse(name, "at most 64 letters, digits, '.', '_' or '-'", value);
}

function rules<T>(given: Options, name: string, one: (rule: Options) => T): T[] {
  const list = given.raw(name) ?? [];
  if (!Array.isArray(list)) return given.refuse(name, "an array of rules", list);
  return list.map((rule: unknown, at) => {
    const of = `${given.of}: ${name}[${at}]`;
    if (typeof rule !== "object" || rule === null) {
      throw new TypeError(`${of} must be a rule, not ${kindOf(rule)}`);
    }
    const options = new Options(of, rule);
    const read = one(options);
    options.done();
    return read;
  });
}

/** Checks and copies the options, so that later changes of the object change no rule. */
function checked(given: Options) {
  const labels = rules(given, "labels", (rule) => ({
    paths: patterns(rule, "paths"),
    as: label(rule, "as"),
  }));
  if (labels.length === 0) {
    given.refuse("labels", "at least one { paths, as } in an array", given.raw("labels"));
  }
  const flows = rules(given, "flows", (rule) => ({
    from: label(rule, "from"),
    to: patterns(rule, "to"),
    then: rule.oneOf<"refuse" | "ask" | "">("then", ["refuse", "ask"], ""),
  }));
  const onAsk = given.callback("onAsk");
  const askTimeoutMs = given.amount("askTimeoutMs");
  const keep = given.raw("keepIn") === undefined ? undefined : placeElsewhere(given, LABELS);
  given.done();
  for (const [at, { from, then }] of flows.entries()) {
    const of = `${given.of}: flows[${at}]`;
    if (then === "") throw new TypeError(`${of}: option "then" must be "refuse" or "ask"`);
    if (then === "ask" && !onAsk) {
      throw new TypeError(`${of} has then: "ask", but there is no onAsk to be asked`);
    }
    if (!labels.some(({ as }) => as === from)) {
      throw new TypeError(
        `${of}: no rule of labels gives the label ${JSON.stringify(from)}; name one of them`,
      );
    }
  }
  return { keep, rules: { labels, flows, onAsk, askTimeoutMs, keepAt: keep?.path ?? LABELS } };
}

function unpackReads(reply: Reply): LabelledRead[] {
  return Array.from({ length: reply.u32() }, () => ({
    label: reply.text(),
    path: reply.text(),
    operation: reply.text() as Operation,
  }));
}

/**
 * A backend as one conversation sees it; the result of `withProvenance`. What the conversation reads
 * decides which labels its files get, and where it may write.
 */
export class ProvenanceBackend extends Backend {
  /** Identifies the machine of the backend, if it can run commands. */
  declare readonly id?: string;
  /** Runs a command. It counts as reading all files, and as writing to all files. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  readonly #inner: AnyBackend;

  /** Throws a `TypeError` if the backend is none, or an option is wrong. Reads nothing yet. */
  constructor(inner: AnyBackend, options: ProvenanceOptions);
  /** @internal */
  constructor(another: Another);
  constructor(inner: AnyBackend | Another, options?: ProvenanceOptions) {
    super(inner instanceof Another ? inner.handle : begun(inner, options));
    addShell(this);
    this.#inner = inner instanceof Another ? inner.inner : inner;
    passWatch(this, this.#inner);
  }

  /** What this conversation has read with a label, the oldest first; empty if it is not tainted. */
  get reads(): LabelledRead[] {
    enter(() => glue.provenance_taint(handleOf(this), 0, undefined));
    return received(unpackReads) as LabelledRead[];
  }

  /**
   * Ends the taint of this conversation. Only a person can decide that: do not give it to the agent
   * as a tool.
   */
  clear(): void {
    enter(() => glue.provenance_taint(handleOf(this), 1, undefined));
    received(() => undefined);
  }

  /**
   * Begins another conversation over the same files, with the same rules and labels.
   *
   * @param reads What it has read already: `reads` of an earlier object of the same conversation.
   */
  conversation(reads: readonly LabelledRead[] = []): ProvenanceBackend {
    const of = "conversation";
    if (!Array.isArray(reads)) {
      throw new TypeError(`${of}: reads must be an array, not ${kindOf(reads)}`);
    }
    const list = reads.map((one: unknown, at) => {
      const given = new Options(`${of}: reads[${at}]`, one);
      const path = given.requiredText("path");
      const operation = given.oneOf("operation", OPERATIONS, "read");
      const read = { label: label(given, "label"), path, operation };
      given.done();
      return read;
    });
    enter(() => glue.provenance_taint(handleOf(this), 2, list));
    return new ProvenanceBackend(new Another(madeHandle(of), this.#inner));
  }

  /** Returns the labels of a file: those of its path, and those that it got by being written. */
  labels(path: string, options?: CallOptions): Promise<LabelsResult> {
    return this.#file(false, path, options, (reply) => ({
      labels: Array.from({ length: reply.u32() }, () => reply.text()),
    })) as Promise<LabelsResult>;
  }

  /**
   * Removes the labels that the files at and below a path got by being written. Only a person can
   * decide that. Labels of `labels[].paths` stay.
   */
  trust(path: string, options?: CallOptions): Promise<TrustResult> {
    return this.#file(true, path, options, (reply) => ({
      path: reply.text(),
    })) as Promise<TrustResult>;
  }

  #file<T>(
    trusts: boolean,
    path: string,
    options: CallOptions | undefined,
    unpack: (reply: Reply) => T,
  ): Promise<T | Failure> {
    let call: CallOptions | undefined;
    const refusal = refused(() => {
      text("path", path);
      call = callOptions(options);
    });
    if (refusal) return Promise.resolve(refusal);
    if (call?.signal?.aborted) return Promise.resolve({ ...NOT_BEGUN });
    return settled(
      () => glue.provenance_file(handleOf(this), trusts, path, limitOf(call)),
      unpack,
      call,
    );
  }
}

/** A conversation that Rust has begun. */
class Another {
  constructor(
    readonly handle: number,
    readonly inner: AnyBackend,
  ) {}
}

function begun(inner: AnyBackend, options: ProvenanceOptions | undefined): number {
  const of = "withProvenance";
  const { keep, rules } = checked(new Options(of, options));
  if (keep && keep.backend === inner) {
    throw new TypeError(
      `${of}: keepIn.backend must be another backend than the agent's, which could remove labels there`,
    );
  }
  chunk.load();
  const make = (handle: number, place: number) => {
    enter(() => glue.provenance_new(handle, place, rules, keep?.key));
    return madeHandle(of);
  };
  return withHandle(`${of}: the backend`, inner, (handle) =>
    keep
      ? withHandle(`${of}: keepIn.backend`, keep.backend, (place) => make(handle, place))
      : make(handle, 0),
  );
}

sealClass(ProvenanceBackend);

/**
 * Gives files labels, such as `untrusted`. Reading labelled bytes taints the conversation until
 * `clear`; what it writes then carries the label, and `flows` decide where that may go. It records
 * and asks; it does not judge content.
 *
 * @example
 * import { withProvenance } from "kitbag/provenance";
 * const files = withProvenance(backend, {
 *   labels: [{ paths: ["/web/**", "/inbox/**"], as: "untrusted" }],
 *   flows: [{ from: "untrusted", to: ["/AGENTS.md", "/memories/**"], then: "ask" }],
 *   onAsk: ({ path, reads }) => confirm(`Write ${path} after reading ${reads[0].path}?`),
 * });
 */
export function withProvenance(inner: AnyBackend, options: ProvenanceOptions): ProvenanceBackend {
  return new ProvenanceBackend(inner, options);
}

// Tool calls as the page shows them: what was asked, what the model sees, which storage answered and
// which rule decided. The answers of the storages come from audit records of their mounts.

import { signal } from "@preact/signals";
import {
  type AuditRecord,
  createFileTools,
  type FileToolName,
  type FileTools,
  type Policy,
  withPolicy,
} from "kitbag";
import { explain, explainRefusal, isRefusal, touchOf, type Verdict } from "../rules/explain";
import { policy } from "../rules/policy";
import { addShell, loadShell, shellIsLoaded } from "../shell/lazy";
import { announceChange } from "../tree/changes";
import { record } from "../tree/journal";
import { type Kind, mountOf, mounts, observedTree, tree } from "../tree/mounts";
import { proposalOf, type Texts } from "./proposal";

type AskedOperation = Parameters<NonNullable<Policy["onAsk"]>>[0];

/** What one mount did for a call. */
export interface Answer {
  path: string;
  kind: Kind;
  name: string;
  operations: number;
  bytes: number;
}

export interface Question extends AskedOperation {
  /** The file before and after, if the answer is yes. */
  proposal?: Texts;
  answer(allowed: boolean): void;
}

export type State = "running" | "asking" | "ok" | "failed" | "refused";

export interface Call {
  id: number;
  why?: string;
  tool: string;
  input: Record<string, unknown>;
  state: State;
  /** The text that the model sees. */
  text?: string;
  /** How long the call took, without what had to be loaded for it, and without questions. */
  ms?: number;
  /** How long was waited for the shell, whose code comes with the first command. */
  loadMs?: number;
  bytes?: number;
  answers: Answer[];
  rule?: Verdict;
  question?: Question;
  /** A change of a file, for the view of differences. */
  change?: { path: string } & Texts;
}

const WRITES = new Set(["write_file", "edit_file", "delete"]);
const ALL: FileToolName[] = [
  "ls",
  "read_file",
  "write_file",
  "edit_file",
  "delete",
  "glob",
  "grep",
  "execute",
];

/** The path that a call is about. */
export function pathOf({ input }: Pick<Call, "input">): string | undefined {
  const path = input.file_path ?? input.path;
  return typeof path === "string" ? path : undefined;
}

async function textOf(path: string): Promise<string> {
  const { data } = await tree.value.readRaw(path);
  return typeof data?.content === "string" ? data.content : "";
}

let calls = 0;

/** An agent's tools, and the list of its calls. One call runs at a time. */
export class Agent {
  readonly calls = signal<Call[]>([]);
  readonly files: FileTools;
  #records: AuditRecord[] = [];
  #answers: Array<{ path: string; kind: Kind; name: string; record: AuditRecord }> = [];
  #asked?: AskedOperation;
  #current?: Call;
  /** How long the current call waited for answers of a person. */
  #waited = 0;
  /** The text of the file that the current call would change. */
  #before?: string | undefined;
  #built?: { backend: object; rules: Policy; list: unknown };

  constructor() {
    // A function, because rules and mounts may change between two calls; with a parameter, because
    // one without is taken for the older way to pass a backend.
    this.files = createFileTools((_call: unknown) => this.#backend(), { tools: ALL });
  }

  #backend() {
    const [rules, list] = [policy.value, mounts.value];
    if (this.#built?.rules === rules && this.#built.list === list) return this.#built.backend;
    const observed = observedTree(({ path, kind, name }, record) => {
      this.#answers.push({ path, kind, name, record });
    });
    const guarded = withPolicy(observed, {
      onAsk: (asked) => this.#ask(asked),
      askTimeoutMs: 3_600_000,
      ...rules,
      audit: (record) => this.#records.push(record),
    });
    const backend = addShell(guarded);
    this.#built = { backend, rules, list };
    return backend;
  }

  #ask(asked: AskedOperation): Promise<boolean> {
    const call = this.#current;
    const id = call?.id;
    void explain(policy.value, touchOf(asked.operation), asked.path).then((rule) => {
      if (this.#current?.id === id) this.#set({ rule });
    });
    return new Promise((resolve) => {
      this.#asked = asked;
      const began = performance.now();
      const answer = (allowed: boolean) => {
        this.#waited += performance.now() - began;
        this.#set({ state: "running", question: undefined });
        resolve(allowed);
      };
      const question: Question = { ...asked, answer };
      if (call && this.#before !== undefined) {
        const proposal = proposalOf(call.tool, call.input, asked, this.#before);
        if (proposal) question.proposal = proposal;
      }
      this.#set({ state: "asking", question });
    });
  }

  #set(part: Partial<Call>) {
    if (!this.#current) return;
    const next = { ...this.#current, ...part };
    this.#current = next;
    this.calls.value = this.calls.value.map((call) => (call.id === next.id ? next : call));
  }

  /** Makes ready what a call needs, so that its time is its own; how long the shell was waited for. */
  async #load(tool: string): Promise<number | undefined> {
    this.#backend();
    if (tool !== "execute" || shellIsLoaded()) return undefined;
    const began = performance.now();
    await loadShell();
    return performance.now() - began;
  }

  /** Which mounts answered; what quotas and patterns of the shell looked up elsewhere is left out. */
  #summary(tool: string, about: string | undefined): Answer[] {
    const out = new Map<string, Answer>();
    const home = about === undefined ? undefined : mountOf(about)?.path;
    for (const { path, kind, name, record: answer } of this.#answers) {
      if (home !== undefined && path !== home) continue;
      if (tool === "execute" && /^(glob|ls)$/.test(answer.operation)) continue;
      const known = out.get(path) ?? { path, kind, name, operations: 0, bytes: 0 };
      known.operations += 1;
      known.bytes += answer.bytes;
      out.set(path, known);
    }
    return [...out.values()];
  }

  /** Names the rule that decided, from the audit records of the policy. */
  async #rule(tool: string, path: string | undefined): Promise<Verdict | undefined> {
    const rules = policy.value;
    const refused = this.#records.find(isRefusal);
    if (refused) return explainRefusal(rules, refused);
    if (this.#asked) return explain(rules, touchOf(this.#asked.operation), this.#asked.path);
    if (path === undefined) return undefined;
    return explain(rules, WRITES.has(tool) ? "write" : "read", path);
  }

  /** Runs one tool call. */
  async run(tool: string, input: Record<string, unknown>, why?: string): Promise<Call> {
    this.#records = [];
    this.#answers = [];
    this.#asked = undefined;
    this.#waited = 0;
    const call: Call = { id: ++calls, tool, input, state: "running", answers: [] };
    if (why) call.why = why;
    this.#current = call;
    this.calls.value = [...this.calls.value, call];
    const path = pathOf(call);
    const watched = WRITES.has(tool) ? path : undefined;
    const before = watched ? await textOf(watched) : "";
    this.#before = watched && before;
    // The page draws the call first: that is not its time either.
    await new Promise((resolve) => setTimeout(resolve));
    const loadMs = await this.#load(tool);
    const began = performance.now();
    const result = await this.files.call(tool, input, { callId: `call_${call.id}` });
    const ms = performance.now() - began - this.#waited;
    const rule = await this.#rule(tool, path);
    const refused = this.#records.some(isRefusal);
    const failed =
      result.isError || (tool === "execute" && /^\[exit code [1-9]/m.test(result.text));
    const part: Partial<Call> = {
      state: refused ? "refused" : failed ? "failed" : "ok",
      text: result.text,
      ms,
      bytes: new TextEncoder().encode(result.text).length,
      answers: this.#summary(tool, path),
    };
    if (loadMs !== undefined) part.loadMs = loadMs;
    if (rule) part.rule = rule;
    if (watched && !result.isError) {
      const after = await textOf(watched);
      part.change = { path: watched, before, after };
      record(watched, before, after, "the agent");
    }
    this.#set(part);
    if (!result.isError) announceChange();
    return this.#current as Call;
  }

  clear() {
    this.calls.value = [];
  }
}

// What `changeTools` works over: a turn, in which each call is a turn of its own, or a history, which notes
// each call under a name.

import type { HistoryBackend, HistoryEntry, HistoryMoment } from "../backend/history.js";
import { begin, type Receipt, type Turn } from "../backend/turn.js";
import type { AnyBackend } from "../foreign/adapt.js";
import type { ToolCall, ToolResult } from "./tools.js";
import { filesOf } from "./veil.js";

/** Most changes of a turn that can be taken back; the contents of each are held. */
const RECEIPTS = 256;
/** Attempts of a call whose turn met another change. */
const TRIES = 8;
/** Entries of a history that are searched for one change. */
const ENTRIES = 1_000;
/** Newest entries among which those of a call are looked for at first. */
const NEWEST = 16;
/** Between the newest and the oldest entry of a call, in the id of its change. */
const TO = "..";

/** The same for a model, with what it may be wrong about. */
export const said = (text: string, isError = false): ToolResult => ({
  content: [{ type: "text", text }],
  text,
  isError,
});
export const wrong = (text: string) => said(`Error: ${text}`, true);

/** A result of text that names its change. */
function naming(result: ToolResult, id: string): ToolResult {
  const text = `${result.text}\n[change ${id}]`;
  return { ...result, text, content: [{ type: "text", text }] };
}

/** The files of a change; a text for a model; or an error, which may name any file. */
type Found = { files: Receipt["files"][number][] } | { error: string } | string;

/** What a set of tools does with the backend that it is over. */
export interface Base {
  /** Runs a call that may change files. */
  run(go: (files: AnyBackend) => Promise<ToolResult>, call?: ToolCall): Promise<ToolResult>;
  /** What has changed. */
  diff(): ReturnType<Turn["diff"]>;
  /** The files of a change, that there is none, or an error of the history. */
  find(id: string): Promise<Found>;
  /** Says that there is no such change. */
  missing(id: string): string;
  /** Runs work after the calls that began before it, and before those after it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Who makes changes. */
  by: string;
}

/** Calls over a turn: each is a turn on it, one after the other. */
export class OverTurn implements Base {
  readonly by: string;
  readonly #turn: Turn;
  readonly #receipts = new Map<string, Receipt>();
  #before: Promise<unknown> = Promise.resolve();

  constructor(turn: Turn) {
    this.#turn = turn;
    this.by = turn.by;
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const after = this.#before.then(work);
    this.#before = after.catch(() => {});
    return after;
  }

  run(go: (files: AnyBackend) => Promise<ToolResult>): Promise<ToolResult> {
    return this.alone(async () => {
      for (let tried = 1; ; tried++) {
        const own = begin(this.#turn, { by: this.by });
        try {
          const result = await go(own);
          if (result.isError) return result;
          const done = await own.commit();
          if (done.receipt) return this.#named(result, done.receipt);
          // Other errors come from below the rules, and may name what they hide.
          if (done.code !== "conflict") return wrong(`the change was not made: ${done.code}`);
          if (tried === TRIES) return wrong(done.error);
        } finally {
          own.dispose();
        }
      }
    });
  }

  /** Keeps a receipt, and names it in the answer of its call. */
  #named(result: ToolResult, receipt: Receipt): ToolResult {
    if (receipt.files.length === 0) return result;
    this.#receipts.set(receipt.id, receipt);
    for (const id of this.#receipts.keys()) {
      if (this.#receipts.size <= RECEIPTS) break;
      this.#receipts.delete(id);
    }
    return naming(result, receipt.id);
  }

  diff() {
    return this.#turn.diff();
  }

  async find(id: string): Promise<Found> {
    const found = this.#receipts.get(id);
    return found ? { files: found.files } : this.missing(id);
  }

  missing(id: string): string {
    return `There is no change ${id} here, or it is older than the last ${RECEIPTS}.`;
  }
}

/** Calls over a history: each notes its changes under a name of its own. */
export class OverHistory implements Base {
  readonly by = "";
  readonly #history: HistoryBackend;
  /** The newest entry before the first call. */
  #since: Promise<HistoryMoment> | undefined;
  /** The names of calls, each of which is used once. */
  readonly #calls = new Set<string>();

  constructor(history: HistoryBackend) {
    this.#history = history;
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  async run(go: (files: AnyBackend) => Promise<ToolResult>, call?: ToolCall): Promise<ToolResult> {
    const given = call?.callId;
    const name = given && !this.#calls.has(given) ? given : `call_${crypto.randomUUID()}`;
    this.#calls.add(name);
    await this.#began();
    const started = Date.now();
    const own = this.#history.as({ call: name });
    const result = await go(own).finally(() => own.dispose());
    if (result.isError) return result;
    const id = await this.#changeOf(name, started);
    return id === undefined ? result : naming(result, id);
  }

  /**
   * The id of what a call has changed: its entry, or its newest and its oldest one. Other sessions may have used the
   * name of the call before.
   */
  async #changeOf(call: string, started: number): Promise<string | undefined> {
    for (let most = NEWEST; ; most = Math.min(8 * most, ENTRIES + 1)) {
      const { entries = [] } = await this.#history.log("/", { limit: most });
      const last = entries.at(-1);
      const areAll = entries.length < most || (last && Date.parse(last.at) < started);
      if (!areAll && most <= ENTRIES) continue;
      const made = entries.filter((one) => one.call === call && Date.parse(one.at) >= started);
      const [newest, oldest] = [made[0]?.id, made.at(-1)?.id];
      // One with more entries than are searched cannot be taken back.
      if (!areAll && newest !== undefined) return `${newest}${TO}`;
      return newest === oldest ? newest : `${newest}${TO}${oldest}`;
    }
  }

  #began(): Promise<HistoryMoment> {
    const newest = async () => {
      const { entries, error } = await this.#history.log("/", { limit: 1 });
      if (entries) return entries[0]?.id ?? new Date(0);
      this.#since = undefined;
      throw new Error(error);
    };
    this.#since ??= newest();
    return this.#since;
  }

  async diff() {
    return this.#history.diff(await this.#began());
  }

  missing(id: string): string {
    return `There is no change ${id}, or it is older than the last ${ENTRIES}.`;
  }

  async find(id: string): Promise<Found> {
    // One more, so that each has an older one.
    const { entries, error } = await this.#history.log("/", { limit: ENTRIES + 1 });
    if (!entries) return { error };
    const [newest, oldest = newest] = id.split(TO);
    const at = entries.findIndex((one) => one.id === newest);
    const end = entries.findIndex((one) => one.id === oldest);
    const named = entries[at];
    if (!named || end < at || end === ENTRIES) return this.missing(id);
    const files = new Map<string, Receipt["files"][number]>();
    for (const [index, entry] of entries.entries()) {
      if (index < at || index > end || !isSame(entry, named)) continue;
      // Of an entry whose change was not made, the newer one of the same call has what was.
      const paths = entry.files.map(({ path }) => path).filter((path) => !files.has(path));
      if (paths.length === 0) continue;
      const before = entries[index + 1]?.id ?? new Date(Date.parse(entry.at) - 1);
      const compared = await this.#history.diff(before, entry.id);
      if (!compared.changes) return { error: compared.error };
      const fresh = new Set(paths);
      const put = (file: Receipt["files"][number]) => {
        if (fresh.has(file.path)) files.set(file.path, file);
      };
      for (const file of filesOf(compared.changes)) put(file);
    }
    return { files: [...files.values()] };
  }
}

/** Whether two entries are of one call. */
const isSame = (one: HistoryEntry, other: HistoryEntry) =>
  one.id === other.id || (other.call !== "" && one.call === other.call && one.by === other.by);

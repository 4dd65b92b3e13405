// A state that the caller owns, seen as files. Before each call the state is read, and entries that
// changed (by identity) are copied into memory; after each change the new entries are sent to the
// state. A change counts as applied only when the state shows it.

import { messageOf } from "../core/checks.js";
import { shared } from "../core/context.js";
import { canonical } from "../core/paths.js";
import type {
  DeleteResult,
  EditResult,
  Failure,
  FileData,
  FileUploadResponse,
  WriteResult,
} from "../types.js";
import { claim } from "./running.js";

/** Files of a state elsewhere, for `StateBackend`: `read` returns them, `send` updates them. */
export interface Channel {
  /** Returns all files by path. Called before each operation. */
  read(): Record<string, unknown> | null | undefined;
  /** Applies an update: files by path, null for a deletion. */
  send(update: Record<string, FileData | null>): void;
}

/** Operations of the mirror on the memory behind it. */
export interface MirrorStore {
  set(path: string, file: unknown): { path: string } | Failure;
  remove(path: string): void;
}

type Update = Record<string, FileData | null>;

/** A state that several calls change at the same time, before any change is applied to it. */
export interface SharedState {
  /** Returns the state's files with all changes that are not applied yet. */
  files(): Record<string, unknown>;
  /** Called with each change; the caller that made it also applies it to the state. */
  note(update: Record<string, FileData | null>): void;
}

// Shared by all copies of this module, because each bundle of the package has one.
const states = shared("kitbag.graph.states", () => new WeakMap<object, SharedState>());

/**
 * Declares a runtime's `state` as shared: backends over it see each other's changes at once, and
 * not only after they were applied. For adapters of frameworks that run several calls in one step.
 */
export function shareState(state: object, how: SharedState): void {
  if (typeof state !== "object" || state === null) {
    throw new TypeError("shareState: the state must be an object");
  }
  if (typeof how?.files !== "function" || typeof how.note !== "function") {
    throw new TypeError("shareState: the second argument must have files() and note(update)");
  }
  states.set(state, how);
}

interface Source {
  read(): Record<string, unknown>;
  /** Refuses changes that would undo another call's; `seen` returns the previous entry of a key. */
  clash?(update: Update, seen: (key: string) => unknown): Failure | undefined;
  /** Sends changes on. True if the state is expected to show these same entries from now on. */
  hand(update: Update): boolean;
  /** Whether results contain `filesUpdate`. */
  returns: boolean;
}

interface Entry {
  /** The state's key, which may be a non-canonical path. */
  key: string;
  data: unknown;
}

export class Mirror {
  readonly #source: Source;
  readonly #store: MirrorStore;
  readonly #raw: (path: string) => FileData | undefined;
  /** Entries by canonical path. */
  readonly #seen = new Map<string, Entry>();
  /** Entries by the state's key. */
  readonly #paths = new Map<string, { data: unknown; path: string | undefined }>();

  /** Canonical paths of entries that are no files and are hidden. */
  readonly #odd = new Set<string>();

  private constructor(
    source: Source,
    store: MirrorStore,
    raw: (path: string) => FileData | undefined,
  ) {
    this.#source = source;
    this.#store = store;
    this.#raw = raw;
  }

  /** Over `runtime.state.files`; results return the changes. */
  static ofRuntime(
    runtime: { state: unknown },
    store: MirrorStore,
    raw: (path: string) => FileData | undefined,
  ): Mirror {
    const state = () => runtime.state as { files?: unknown } | null | undefined;
    const others = () => states.get(record(state()));
    const read = () => record(others()?.files() ?? state()?.files);
    const hand = (update: Update) => {
      others()?.note(update);
      return false;
    };
    // If the calls of a step do not see each other's changes, only one may change a file: the
    // graph's state would silently keep only one of two changes.
    const caller = {};
    const clash = (update: Update, seen: (key: string) => unknown) => {
      if (others()) return undefined;
      const path = claim(update, seen, caller);
      return path === undefined ? undefined : conflict(path);
    };
    return new Mirror({ read, hand, clash, returns: true }, store, raw);
  }

  static ofChannel(
    channel: Channel,
    store: MirrorStore,
    raw: (path: string) => FileData | undefined,
  ): Mirror {
    const hand = (update: Update) => {
      channel.send(update);
      return true;
    };
    return new Mirror({ read: () => record(channel.read()), hand, returns: false }, store, raw);
  }

  /** Copies what changed in the state since the last call. */
  sync(): Failure | undefined {
    let entries: Array<[string, unknown]>;
    try {
      const now = this.#source.read();
      if (this.#shows(now)) return undefined;
      entries = Object.entries(now);
    } catch (error) {
      return unavailable("read", error);
    }
    entries = entries.filter(([, data]) => data !== null && data !== undefined);
    // Removed entries first: they may use the space that new ones need.
    const present = new Set(entries.map(([key]) => key));
    for (const [key, { path }] of this.#paths) {
      if (present.has(key)) continue;
      this.#paths.delete(key);
      if (path === undefined) this.#odd.delete(canonical(key));
      if (path !== undefined) this.#drop(path, key);
    }
    for (const [key, data] of entries) {
      const known = this.#paths.get(key);
      if (known && known.data === data) continue;
      const put = this.#store.set(key, data);
      const path = "path" in put ? put.path : undefined;
      this.#paths.set(key, { data, path });
      // Keys that are not valid paths, and data that is not a file, are hidden.
      if (path === undefined) {
        this.#odd.add(canonical(key));
        if (known?.path !== undefined) this.#drop(known.path, key);
      } else {
        this.#odd.delete(path);
        this.#seen.set(path, { key, data });
      }
    }
    return undefined;
  }

  /** Whether the state is unchanged since the last `sync`, as it is in most calls. */
  #shows(now: Record<string, unknown>): boolean {
    let count = 0;
    for (const key of Object.keys(now)) {
      const data = now[key];
      if (data === null || data === undefined) continue;
      if (this.#paths.get(key)?.data !== data) return false;
      count += 1;
    }
    return count === this.#paths.size;
  }

  #drop(path: string, key: string): void {
    if (this.#seen.get(path)?.key !== key) return;
    this.#seen.delete(path);
    this.#store.remove(path);
  }

  /** Sends changed or deleted files on to the state. */
  handOn(paths: string[], deleted: boolean): Failure | undefined {
    const update: Update = {};
    for (const path of paths) {
      if (deleted) this.#gone(update, path);
      else this.#add(update, path);
    }
    return this.#refusal(update);
  }

  /** Sends a written or edited file on to the state. */
  changed<T extends WriteResult | EditResult>(result: T, path: string): T {
    const update: Update = {};
    this.#add(update, path);
    return this.#handed(result, update);
  }

  /** Sends the deletion of a file, or of everything below a directory, on to the state. */
  deleted(result: DeleteResult, path: string): DeleteResult {
    const update: Update = {};
    this.#gone(update, path);
    return this.#handed(result, update);
  }

  /** Sends files at their new paths on to the state, and, of a move, that the old ones are gone. */
  transferred(result: WriteResult, paths: readonly string[], from?: string): WriteResult {
    const update: Update = {};
    for (const path of paths) this.#add(update, path);
    if (from !== undefined) this.#gone(update, canonical(from));
    return this.#handed(result, update);
  }

  /** Sends uploaded files on to the state. */
  uploaded(answers: FileUploadResponse[]): FileUploadResponse[] {
    const update: Update = {};
    for (const { path, error } of answers) if (error === null) this.#add(update, path);
    const refusal = this.#refusal(update);
    if (refusal) {
      return answers.map((one) =>
        one.error === null
          ? {
              ...one,
              error: "permission_denied",
              code: refusal.code,
              message: refusal.error,
            }
          : one,
      );
    }
    if (this.#source.returns) Object.assign(answers, { filesUpdate: update });
    return answers;
  }

  #gone(update: Update, path: string): void {
    for (const [known, { key }] of this.#seen) {
      if (known === path || known.startsWith(`${path}/`)) update[key] = null;
    }
  }

  #add(update: Update, path: string): void {
    const data = this.#raw(path);
    if (!data) return;
    update[this.#seen.get(path)?.key ?? canonical(path)] = data;
  }

  #handed<T extends WriteResult | EditResult | DeleteResult>(result: T, update: Update): T {
    const refusal = this.#refusal(update);
    if (refusal) return refusal as T;
    return this.#source.returns ? { ...result, filesUpdate: update } : result;
  }

  /** Sends changes on to the state; a refusal if they are not in it. */
  #refusal(update: Update): Failure | undefined {
    const odd = Object.keys(update).find((key) => update[key] && this.#odd.has(canonical(key)));
    if (odd !== undefined) {
      this.#mistrust(update);
      return {
        error: `Cannot write to ${odd}: the state has an entry there that is not a file, and nothing was changed. Remove that entry from the state, or choose another path.`,
        code: "already_exists",
      };
    }
    const clash = this.#source.clash?.(update, (key) => this.#paths.get(key)?.data);
    if (clash) {
      this.#mistrust(update);
      return clash;
    }
    let kept: boolean;
    try {
      kept = this.#source.hand(update);
    } catch (error) {
      this.#mistrust(update);
      return unavailable("changed", error);
    }
    if (!kept) {
      this.#mistrust(update);
      return undefined;
    }
    for (const [key, data] of Object.entries(update)) {
      const path = canonical(key);
      if (data === null) {
        this.#paths.delete(key);
        this.#seen.delete(path);
      } else {
        this.#paths.set(key, { data, path });
        this.#seen.set(path, { key, data });
      }
    }
    return undefined;
  }

  /** Makes the next `sync` read these entries from the state again, whatever it then holds. */
  #mistrust(update: Update): void {
    for (const key of Object.keys(update)) {
      const path = this.#paths.get(key)?.path ?? canonical(key);
      // A value that no state contains: the entry counts as changed, or as removed if it is absent.
      this.#paths.set(key, { data: Mirror, path });
      this.#seen.set(path, { key, data: Mirror });
    }
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function conflict(path: string): Failure {
  return {
    error: `Cannot change '${path}': another call of the same step has changed it. Read it and try again, after this step.`,
    code: "conflict",
  };
}

function unavailable(what: string, error: unknown): Failure {
  const failure: Failure = {
    error: `The state behind this backend could not be ${what}: ${messageOf(error)}`,
    code: "unavailable",
  };
  Object.defineProperty(failure, "cause", { value: error, enumerable: false });
  return failure;
}

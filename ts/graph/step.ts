// The files of a graph's state within one step. All calls of a step start from one snapshot, and
// the state's reducer keeps the last value of each file, in an order that may differ from that of
// the calls. So changes are kept here as long as the snapshot is current: each call sees the
// changes of earlier ones, and later calls update what is still to be applied.

import { shared } from "../core/context.js";
import type { FileData } from "../types.js";

export type Files = Record<string, FileData>;
export type Update = Record<string, FileData | null>;

/** Identifies the attempt of a task that a call belongs to. */
export interface Attempt {
  task: string;
  /** Counted from 1; undefined if it is not known, as inside a tool. */
  number: number | undefined;
  /** Whether everything that the task sent before was discarded. */
  sentNothing(): boolean;
}

interface Change {
  task: string;
  data: FileData | null;
}

interface Sent {
  task: string;
  update: Update;
}

/** One step of one thread. */
export class Step {
  /** Unique number of the step. */
  readonly number: number;
  readonly #base: Files;
  /** Changes by file; the last one counts. */
  readonly #changed = new Map<string, Change[]>();
  /** Updates that the reducer has not applied yet. */
  #sent: Sent[] = [];
  /** The last attempt of each task that changed files. */
  readonly #attempts = new Map<string, number | undefined>();
  /** Files changed by calls that return their changes and do not see each other's. */
  readonly #claimed = new Map<string, { caller: object; data: FileData | null }>();

  constructor(base: Files, number: number) {
    this.#base = base;
    this.number = number;
  }

  /** The files after all changes. */
  files(): Files {
    if (this.#changed.size === 0) return this.#base;
    const files: Update = { ...this.#base };
    for (const path of this.#changed.keys()) {
      const file = this.#now(path);
      if (file === null) delete files[path];
      else put(files, path, file);
    }
    return files as Files;
  }

  #now(path: string): FileData | null {
    return this.#changed.get(path)?.at(-1)?.data ?? null;
  }

  /** When a failed task is retried, its earlier updates are discarded, and so are its changes. */
  begin({ task, number, sentNothing }: Attempt): void {
    if (!this.#attempts.has(task)) return;
    const before = this.#attempts.get(task);
    const anew = number !== undefined && before !== undefined ? number !== before : sentNothing();
    if (!anew) return;
    this.#attempts.delete(task);
    this.#sent = this.#sent.filter((sent) => sent.task !== task);
    for (const [path, changes] of this.#changed) {
      const others = changes.filter((change) => change.task !== task);
      if (others.length > 0) this.#changed.set(path, others);
      else this.#changed.delete(path);
    }
  }

  /** Notes changes of a call, and updates what other calls have sent before. */
  note(update: Update, { task, number }: Attempt): void {
    this.#attempts.set(task, number);
    for (const [path, data] of Object.entries(update)) {
      const others = this.#changed.get(path)?.filter((change) => change.task !== task) ?? [];
      this.#changed.set(path, [...others, { task, data }]);
      for (const sent of this.#sent) {
        if (Object.hasOwn(sent.update, path)) put(sent.update, path, data);
      }
    }
  }

  /**
   * Notes changes that a caller returns in its results. Returns a path that another caller has
   * changed before, unless this caller started from that change; then nothing is noted.
   */
  claim(update: Update, seen: (path: string) => unknown, caller: object): string | undefined {
    for (const path of Object.keys(update)) {
      const before = this.#claimed.get(path);
      if (before && before.caller !== caller && before.data !== (seen(path) ?? null)) return path;
    }
    for (const [path, data] of Object.entries(update)) this.#claimed.set(path, { caller, data });
    return undefined;
  }

  /** The update to send for noted files; later changes update this same object. */
  sending(paths: Iterable<string>, { task }: Attempt): Update {
    const update: Update = {};
    for (const path of paths) put(update, path, this.#now(path));
    this.#sent.push({ task, update });
    return update;
  }
}

/** Assigns a property; also works for a file named `__proto__`. */
function put(update: Update, path: string, file: FileData | null): void {
  Object.defineProperty(update, path, {
    value: file,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

interface Steps {
  /** Steps by the snapshot they start from; collected together with it. */
  bySnapshot: WeakMap<object, Map<string, Step>>;
  /** Steps that start without files; only the newest are kept. */
  fromNothing: Map<string, Step>;
  last: number;
}

// Shared by all copies of this module, because all see the same states.
const steps = shared<Steps>("kitbag.steps", () => ({
  bySnapshot: new WeakMap(),
  fromNothing: new Map(),
  last: 0,
}));
const KEPT = 256;

function begun(base: Files): Step {
  // WebAssembly receives it as 32 bits, where 0 means that there is no step.
  steps.last = (steps.last % 0xffff_ffff) + 1;
  return new Step(base, steps.last);
}

/**
 * The step that starts from `snapshot`. Two threads may start with the same object, so the name is
 * compared too. Without a name, only the object distinguishes steps.
 */
export function stepOf(snapshot: Files | undefined, name: string | undefined): Step {
  if (snapshot === undefined) {
    if (name === undefined) return begun({});
    let step = steps.fromNothing.get(name);
    if (!step) {
      step = begun({});
      steps.fromNothing.set(name, step);
      const [oldest] = steps.fromNothing.keys();
      if (steps.fromNothing.size > KEPT && oldest !== undefined) steps.fromNothing.delete(oldest);
    }
    return step;
  }
  let named = steps.bySnapshot.get(snapshot);
  if (!named) {
    named = new Map();
    steps.bySnapshot.set(snapshot, named);
  }
  let step = named.get(name ?? "");
  if (!step) {
    step = begun(snapshot);
    named.set(name ?? "", step);
  }
  return step;
}

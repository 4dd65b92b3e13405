// The files of a graph's state within one step. The calls of a step all start from one snapshot,
// and the state's reducer keeps the last value of each file, in an order that is not that of the
// calls. So what they change is kept here as long as the snapshot holds: each call sees what those
// before it did, and an update that is still to be applied is brought up to date by later ones.

import { shared } from "../core/context.js";
import type { FileData } from "../types.js";

export type Files = Record<string, FileData>;
export type Update = Record<string, FileData | null>;

/** Which attempt of a task a call belongs to. */
export interface Attempt {
  task: string;
  /** Counted from 1; absent where nobody says, as inside a tool. */
  number: number | undefined;
  /** Whether nothing that the task sent is on its way any more. */
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
  /** Tells it from every other step. */
  readonly number: number;
  readonly #base: Files;
  /** What became of each file; the last change counts. */
  readonly #changed = new Map<string, Change[]>();
  /** Updates on their way to the reducer. */
  #sent: Sent[] = [];
  /** The last attempt of each task that changed files. */
  readonly #attempts = new Map<string, number | undefined>();
  /** Files changed by calls that hand their changes back, and do not see each other's. */
  readonly #claimed = new Map<string, { caller: object; data: FileData | null }>();

  constructor(base: Files, number: number) {
    this.#base = base;
    this.number = number;
  }

  /** The files as they will be. */
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

  /** A task is tried anew where it failed: what it sent before is dropped, so it never happened. */
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

  /** A call changed files; what others sent before says the same from now on. */
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
   * Notes changes that a caller hands back by itself. Answers with a path that another has changed
   * before, unless the caller began with that very change; then nothing is noted.
   */
  claim(update: Update, seen: (path: string) => unknown, caller: object): string | undefined {
    for (const path of Object.keys(update)) {
      const before = this.#claimed.get(path);
      if (before && before.caller !== caller && before.data !== (seen(path) ?? null)) return path;
    }
    for (const [path, data] of Object.entries(update)) this.#claimed.set(path, { caller, data });
    return undefined;
  }

  /** The update to send for files that were noted: what they are now, and kept up to date. */
  sending(paths: Iterable<string>, { task }: Attempt): Update {
    const update: Update = {};
    for (const path of paths) put(update, path, this.#now(path));
    this.#sent.push({ task, update });
    return update;
  }
}

/** `__proto__` is a file name like any other. */
function put(update: Update, path: string, file: FileData | null): void {
  Object.defineProperty(update, path, {
    value: file,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

interface Steps {
  /** By the snapshot they start from: they go when it is replaced. */
  bySnapshot: WeakMap<object, Map<string, Step>>;
  /** Those that start from no files at all; only the last are kept. */
  fromNothing: Map<string, Step>;
  last: number;
}

// One for all copies of this module, since all see the same states.
const steps = shared<Steps>("kitbag.steps", () => ({
  bySnapshot: new WeakMap(),
  fromNothing: new Map(),
  last: 0,
}));
const KEPT = 256;

function begun(base: Files): Step {
  // It goes to wasm as 32 bits, where 0 means that there is none.
  steps.last = (steps.last % 0xffff_ffff) + 1;
  return new Step(base, steps.last);
}

/**
 * The step that starts from `snapshot`. Two threads may begin with the very same object, so its
 * name counts too; without a name nothing but the object tells steps apart.
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

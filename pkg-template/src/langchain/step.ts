// The files of a graph's state within one step. The calls of a step all start from one snapshot,
// and the state's reducer keeps the last value of each file, in an order that is not that of the
// calls. So what they change is kept here as long as the snapshot holds: each call sees what those
// before it did, and an update that is still to be applied is brought up to date by later ones.

import type { FileData } from "kitbag";

export type Files = Record<string, FileData>;
export type Update = Record<string, FileData | null>;

/** One step of one thread. */
export class Step {
  readonly #base: Files;
  readonly #changed = new Map<string, FileData | null>();
  /** Updates on their way to the reducer. */
  readonly #sent: Update[] = [];

  constructor(base: Files) {
    this.#base = base;
  }

  /** The files as they will be. */
  files(): Files {
    if (this.#changed.size === 0) return this.#base;
    const files: Update = { ...this.#base };
    for (const [path, file] of this.#changed) {
      if (file === null) delete files[path];
      else put(files, path, file);
    }
    return files as Files;
  }

  /** A call changed files; what others sent before says the same from now on. */
  note(update: Update): void {
    for (const [path, file] of Object.entries(update)) {
      this.#changed.set(path, file);
      for (const sent of this.#sent) if (Object.hasOwn(sent, path)) put(sent, path, file);
    }
  }

  /** The update to send for files that were noted: what they are now, and kept up to date. */
  sending(paths: Iterable<string>): Update {
    const sent: Update = {};
    for (const path of paths) put(sent, path, this.#changed.get(path) ?? null);
    this.#sent.push(sent);
    return sent;
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

/** Steps by the snapshot they start from: they go when it is replaced. */
const bySnapshot = new WeakMap<object, Map<string, Step>>();
/** Steps that start from no files at all; only the last are kept. */
const fromNothing = new Map<string, Step>();
const KEPT = 256;

/**
 * The step that starts from `snapshot`. Two threads may begin with the very same object, so its
 * name counts too; without a name nothing but the object tells steps apart.
 */
export function stepOf(snapshot: Files | undefined, name: string | undefined): Step {
  if (snapshot === undefined) {
    if (name === undefined) return new Step({});
    let step = fromNothing.get(name);
    if (!step) {
      step = new Step({});
      fromNothing.set(name, step);
      const [oldest] = fromNothing.keys();
      if (fromNothing.size > KEPT && oldest !== undefined) fromNothing.delete(oldest);
    }
    return step;
  }
  let steps = bySnapshot.get(snapshot);
  if (!steps) {
    steps = new Map();
    bySnapshot.set(snapshot, steps);
  }
  let step = steps.get(name ?? "");
  if (!step) {
    step = new Step(snapshot);
    steps.set(name ?? "", step);
  }
  return step;
}

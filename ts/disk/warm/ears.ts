// Hears of changes by the host's watcher, and makes sure that all have been heard which were made before a
// moment: a fence. The watchers of a thread share one queue of the system's (inotify), which keeps the order
// of events. So a directory that is made after a change, in a directory of our own that is watched too, is
// told after it. That directory is outside of every folder that is searched.

import { builtin } from "../host.js";

type NodeFs = typeof import("node:fs");
export type Watcher = ReturnType<NodeFs["watch"]>;

/** Is told of a change of what it watches; without a name, anything may have been changed. */
export interface Hearer {
  hear(kind: string, name: string | null): void;
}

/** Of a watcher, whom it tells: so that thousands of them need no functions of their own. */
const HEARER = Symbol();
type Told = Watcher & { [HEARER]: Hearer };

/** How long to wait for a fence, in milliseconds. */
const FENCE_MS = 1_000;
/** Events for which the system's queue has room, if it does not say. When it was full, nobody is told. */
const ROOM = 16_384;

interface Host {
  versions?: { bun?: string };
  release?: { name?: string };
  once?(event: "exit", act: () => void): void;
  removeListener?(event: "exit", act: () => void): void;
}

const host = (globalThis as { process?: Host }).process;

/** Whether the order of events was proven for this host's watchers. */
function keepsOrder(): boolean {
  const { Deno } = globalThis as { Deno?: unknown };
  return host?.release?.name === "node" && host.versions?.bun === undefined && Deno === undefined;
}

/** A limit of the system for watchers. */
export function systemLimit(fs: NodeFs, name: string): number | undefined {
  try {
    return Number(fs.readFileSync(`/proc/sys/fs/inotify/${name}`, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

let shared: Ears | undefined;

function onChange(this: Told, kind: string, name: string | null): void {
  shared?.count();
  this[HEARER].hear(kind, name);
}

function onError(this: Told): void {
  this[HEARER].hear("rename", null);
}

/** The ears of this thread, which all folders share. */
export class Ears {
  readonly #fs: NodeFs;
  readonly #dir: string;
  readonly #watcher: Watcher;
  readonly #waiting = new Map<string, () => void>();
  #next = 0;
  #users = 0;
  /** Events since the thread did anything else; with `most` of them some may have been lost. */
  #heard = 0;
  readonly #most: number;
  readonly #afterwards = () => {
    this.#heard = 0;
  };
  /** How often events may have been lost. */
  lost = 0;
  readonly #leave = () => this.#remove();

  /** Opens them for a user, who closes them; undefined if this host cannot hear. */
  static open(fs: NodeFs): Ears | undefined {
    if (!keepsOrder()) return undefined;
    try {
      shared ??= new Ears(fs);
    } catch {
      return undefined;
    }
    shared.#users += 1;
    return shared;
  }

  private constructor(fs: NodeFs) {
    const os = builtin<typeof import("node:os")>("node:os");
    this.#fs = fs;
    this.#most = (systemLimit(fs, "max_queued_events") ?? ROOM) / 2;
    this.#dir = fs.mkdtempSync(`${os?.tmpdir() ?? "/tmp"}/kitbag-fence-`);
    try {
      this.#watcher = this.watch(this.#dir, {
        hear: (_, name) => this.#waiting.get(name as string)?.(),
      });
    } catch (error) {
      this.#remove();
      throw error;
    }
    host?.once?.("exit", this.#leave);
  }

  /** Watches a directory. Throws if the system has no watcher left. */
  watch(path: string, hearer: Hearer): Watcher {
    const watcher = this.#fs.watch(path, { persistent: false }) as Told;
    watcher[HEARER] = hearer;
    watcher.on("change", onChange);
    watcher.on("error", onError);
    return watcher;
  }

  /** Counts an event. */
  count(): void {
    if (this.#heard === 0) setImmediate(this.#afterwards).unref();
    this.#heard += 1;
    if (this.#heard === this.#most) this.lost += 1;
  }

  /** Waits until all earlier changes are heard; false if that cannot be known. */
  fence(): Promise<boolean> {
    const name = String(this.#next++);
    return new Promise((resolve) => {
      // It keeps the process alive meanwhile, which a watcher does not.
      const late = setTimeout(() => done(false), FENCE_MS);
      const done = (heard: boolean) => {
        clearTimeout(late);
        this.#waiting.delete(name);
        resolve(heard);
      };
      this.#waiting.set(name, () => done(true));
      try {
        this.#fs.mkdirSync(`${this.#dir}/${name}`);
        this.#fs.rmdirSync(`${this.#dir}/${name}`);
      } catch {
        done(false);
      }
    });
  }

  /** A user does not need them any more. */
  close(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    if (shared === this) shared = undefined;
    host?.removeListener?.("exit", this.#leave);
    this.#watcher.close();
    this.#remove();
  }

  #remove(): void {
    try {
      this.#fs.rmSync(this.#dir, { recursive: true, force: true });
    } catch {
      // It is empty, and the system's to clean up.
    }
  }
}

// What the system has in memory is read sooner than another thread is asked for it: a small file takes 20 µs
// by calls that return at once, and 300 by promises. So calls that read return at once while they prove short;
// after a long one, and when other work is due, they wait in another thread.

import { isNear } from "./local.js";

type NodeFs = typeof import("node:fs");
export type Done<T> = (error: Error | null, value?: T) => void;

/** A call that takes longer had to wait for the device, in milliseconds. */
const LONG_MS = 4;
/** How long no call returns at once after that, in milliseconds. */
const REST_MS = 1_000;
/** How long calls return at once without a pause for other work, in milliseconds. */
const STRETCH_MS = 5;

export function promised<T>(call: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

/** When calls began to return at once without a pause: of all folders, because they hold up the same work. */
let began: number | undefined;

export class Prompt {
  readonly #fs: NodeFs;
  readonly #root: string;
  /** Whether the folder is on a file system of this machine; undefined before it is known. */
  #near: boolean | undefined;
  #asks = false;
  #restsUntil = 0;

  constructor(fs: NodeFs, root: string) {
    this.#fs = fs;
    this.#root = root;
  }

  /** What `now` returns, or what `later` hands over. */
  async call<T>(now: () => T, later: (done: Done<T>) => void): Promise<T> {
    const start = performance.now();
    if (!this.#may(start)) return promised(later);
    try {
      return now();
    } finally {
      const end = performance.now();
      if (end - start > LONG_MS) this.#restsUntil = end + REST_MS;
    }
  }

  #may(at: number): boolean {
    if (this.#near === undefined) this.#ask();
    if (!this.#near || at < this.#restsUntil) return false;
    if (began === undefined) {
      began = at;
      setImmediate(() => {
        began = undefined;
      });
    }
    return at - began < STRETCH_MS;
  }

  /** Another machine, or a program that serves files, may not answer for long: such calls always wait. */
  #ask(): void {
    if (this.#asks) return;
    this.#asks = true;
    const answered = (near: boolean | undefined) => {
      this.#near = near;
      this.#asks = false;
    };
    try {
      this.#fs.statfs(this.#root, (error, stats) => {
        // A folder that is not there yet is asked for again.
        const isAbsent = error?.code === "ENOENT";
        answered(isAbsent ? undefined : !error && isNear(stats.type >>> 0));
      });
    } catch {
      // This host has no such call, or does not allow it.
      answered(false);
    }
  }
}

// What the system has in memory is read sooner than another thread is asked for it: a small file takes 20 µs
// by calls that return at once, and 300 by promises. So calls that read return at once while they prove short;
// after a long one, and when other work is due, they wait in another thread.

import { isNear } from "./local.js";
import { Numbered, promised } from "./native.js";
import type { BigStats, FsLike } from "./shape.js";
import { readNow, type Soon } from "./soon.js";

type NodeFs = typeof import("node:fs");

/** Longer reads wait in another thread, in bytes. */
const SHORT_READ = 65_536;
/** A call that takes longer had to wait for the device, in milliseconds. */
const LONG_MS = 4;
/** How long no call returns at once after that, in milliseconds. */
const REST_MS = 1_000;
/** How long calls return at once without a pause for other work, in milliseconds. */
const STRETCH_MS = 5;

/** When calls began to return at once without a pause: of all folders, because they hold up the same work. */
let began: number | undefined;

class Prompt {
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
  async call<T>(now: () => T, later: Parameters<typeof promised<T>>[0]): Promise<T> {
    const start = performance.now();
    return this.#may(start) ? this.#timed(start, now) : promised(later);
  }

  /** What several calls return at once; undefined if they may not, or one of them fails. */
  all<T>(now: () => T): T | undefined {
    const start = performance.now();
    if (!this.#may(start)) return undefined;
    try {
      return this.#timed(start, now);
    } catch {
      return undefined;
    }
  }

  #timed<T>(start: number, now: () => T): T {
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

/** An open file of which short parts are read at once. */
class Prompted extends Numbered {
  readonly #fs: NodeFs;
  readonly #prompt: Prompt;

  constructor(fs: NodeFs, prompt: Prompt, fd: number) {
    super(fs, fd);
    this.#fs = fs;
    this.#prompt = prompt;
  }

  override async read(buffer: Uint8Array, offset: number, length: number, position: number | null) {
    if (length > SHORT_READ) return super.read(buffer, offset, length, position);
    const what = [this.fd, buffer, offset, length, position] as const;
    const bytesRead = await this.#prompt.call(
      () => this.#fs.readSync(...what),
      (done) => this.#fs.read(...what, done),
    );
    return { bytesRead };
  }
}

/** A file system of which small files can be read at once. */
export interface PromptFiles extends FsLike {
  readonly soon: Soon;
}

/** The host's file system `files`, as the folder `root` uses it, with calls that return at once. */
export function prompt(fs: NodeFs, files: FsLike, root: string): PromptFiles {
  const calls = new Prompt(fs, root);
  const open: FsLike["open"] = async (path, flags, mode) => {
    // Flags are a number where a file or directory is opened to be read.
    if (typeof flags !== "number") return files.open(path, flags, mode);
    const fd = await calls.call(
      () => fs.openSync(path, flags),
      (done) => fs.open(path, flags, done),
    );
    return new Prompted(fs, calls, fd);
  };
  const lstat = (path: string, options: { bigint: true }): Promise<BigStats> =>
    calls.call(
      () => fs.lstatSync(path, options),
      (done) => fs.lstat(path, options, done),
    );
  const soon: Soon = (place, parts, part, most) =>
    calls.all(() => readNow(fs, place, parts, part, Math.min(most, SHORT_READ)));
  return Object.assign(Object.create(files) as FsLike, { open, lstat, soon });
}

// The host's own files by their numbers. `node:fs/promises` makes an object of each file that it opens, which
// costs more than to read a small one.

import { patient } from "./patient.js";
import { Prompt, promised } from "./prompt.js";
import type { BigStats, FsLike, Handle } from "./shape.js";

type NodeFs = typeof import("node:fs");

/** Longer reads wait in another thread, in bytes. */
const SHORT_READ = 65_536;

class Numbered implements Handle {
  readonly #fs: NodeFs;
  readonly #prompt: Prompt;
  readonly fd: number;

  constructor(fs: NodeFs, prompt: Prompt, fd: number) {
    this.#fs = fs;
    this.#prompt = prompt;
    this.fd = fd;
  }

  stat(options: { bigint: true }): Promise<BigStats> {
    return promised((done) => this.#fs.fstat(this.fd, options, done));
  }

  async read(buffer: Uint8Array, offset: number, length: number, position: number | null) {
    const what = [this.fd, buffer, offset, length, position] as const;
    const later = (done: (error: Error | null, bytesRead?: number) => void) =>
      this.#fs.read(...what, done);
    const now = () => this.#fs.readSync(...what);
    const bytesRead = await (length > SHORT_READ ? promised(later) : this.#prompt.call(now, later));
    return { bytesRead };
  }

  writeFile(data: Uint8Array): Promise<void> {
    return promised((done) => this.#fs.writeFile(this.fd, data, done));
  }

  chmod(mode: number): Promise<void> {
    return promised((done) => this.#fs.fchmod(this.fd, mode, done));
  }

  utimes(atime: number, mtime: number): Promise<void> {
    return promised((done) => this.#fs.futimes(this.fd, atime, mtime, done));
  }

  close(): Promise<void> {
    return promised((done) => this.#fs.close(this.fd, done));
  }
}

/** The host's file system, as the folder `root` uses it. */
export function hostFiles(fs: NodeFs, promises: FsLike, root: string): FsLike {
  const prompt = new Prompt(fs, root);
  const open = async (path: string, flags: number | string, mode?: number) => {
    const later = (done: (error: Error | null, fd?: number) => void) =>
      fs.open(path, flags, mode, done);
    // Flags are a number where a file or directory is opened to be read.
    const reads = typeof flags === "number";
    const fd = await (reads ? prompt.call(() => fs.openSync(path, flags), later) : promised(later));
    return new Numbered(fs, prompt, fd);
  };
  const lstat = (path: string, options: { bigint: true }): Promise<BigStats> =>
    prompt.call(
      () => fs.lstatSync(path, options),
      (done) => fs.lstat(path, options, done),
    );
  const files = Object.assign(Object.create(promises) as FsLike, { open, lstat });
  const host = (globalThis as { process?: { platform?: string } }).process;
  return host?.platform === "win32" ? patient(files) : files;
}

// The host's own files by their numbers. `node:fs/promises` makes an object of each file that it opens, which
// costs more than to read a small one.

import { platform } from "./host.js";
import { patient } from "./patient.js";
import type { BigStats, FsLike, Handle } from "./shape.js";

type NodeFs = typeof import("node:fs");
type Done<T> = (error: Error | null, value?: T) => void;

/** Waits for what a call hands over. */
export function promised<T>(call: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

/** An open file or directory. */
export class Numbered implements Handle {
  readonly #fs: NodeFs;
  readonly fd: number;

  constructor(fs: NodeFs, fd: number) {
    this.#fs = fs;
    this.fd = fd;
  }

  stat(options: { bigint: true }): Promise<BigStats> {
    return promised((done) => this.#fs.fstat(this.fd, options, done));
  }

  async read(buffer: Uint8Array, offset: number, length: number, position: number | null) {
    const bytesRead = await promised<number>((done) =>
      this.#fs.read(this.fd, buffer, offset, length, position, done),
    );
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

/** The host's file system, as folders use it. */
export function hostFiles(fs: NodeFs, promises: FsLike): FsLike {
  const open = async (path: string, flags: number | string, mode?: number) =>
    new Numbered(fs, await promised((done) => fs.open(path, flags, mode, done)));
  const files = Object.assign(Object.create(promises) as FsLike, { open });
  return platform() === "win32" ? patient(files) : files;
}

// Searching a folder in bulk. Names leave in one text, bodies in one block of bytes, since a
// crossing for each of twenty thousand files would cost more than the search. Where the host's
// synchronous calls are at hand (and a directory can be held open) they are used: a promise for
// each small file is what makes a walk slow. Links are not walked, so there are no cycles.

import { codeOf, RESERVED } from "./host.js";
import type { Dir, Place } from "./place.js";
import { DiskStorage, each } from "./storage.js";

type NodeFs = typeof import("node:fs");

/** What a host's file system makes up and never ends; only met when the root is `/`. */
const MADE_UP = new Set(["/proc", "/sys", "/dev"]);
/** Bytes of bodies in one block. */
const BLOCK = 2 << 20;
const SKIPPED = 0xffff_ffff;

/** Runs ripgrep: its arguments, and the folder to run in. */
export type Ripgrep = (
  args: string[],
  options: { cwd: string },
) => Promise<{ stdout: string; exitCode: number | null }>;

function told(name: string): boolean {
  // A name that no path can be made of would only be passed over later.
  return !name.startsWith(RESERVED) && !name.includes("\n");
}

/** Rows of one text; the core splits it. */
function rows(names: string[]): string {
  return names.join("\n");
}

export class SearchableDisk extends DiskStorage {
  readonly #ripgrep: Ripgrep | undefined;

  constructor(place: Place, maxBytes: number, ripgrep?: Ripgrep) {
    super(place, maxBytes);
    this.#ripgrep = ripgrep;
  }

  /** Every file beneath a directory, as paths below it. */
  async names(path: string): Promise<string> {
    const out: string[] = [];
    const dir = await this.place.dir(this.place.parts(path));
    if (dir) await this.#walk(dir, "", out);
    return rows(out);
  }

  async #walk(dir: Dir, below: string, out: string[]): Promise<void> {
    try {
      const entries = await this.place.entries(dir).catch(unreadable);
      for (const entry of entries ?? []) {
        if (!told(entry.name)) continue;
        if (entry.isFile()) out.push(below + entry.name);
        else if (
          entry.isDirectory() &&
          !MADE_UP.has(`${dir.real}/${entry.name}`.replace("//", "/"))
        ) {
          const child = await this.place.child(dir, entry.name).catch(unreadable);
          if (child) await this.#walk(child, `${below}${entry.name}/`, out);
        }
      }
    } finally {
      await dir.close();
    }
  }

  /** Size and time of change (in microseconds) of each path; NaN where there is no file. */
  async stats(paths: string): Promise<Float64Array> {
    const all = paths.split("\n");
    const out = new Float64Array(all.length * 2).fill(Number.NaN);
    await each(
      all.map((path, at) => ({ path, at })),
      async ({ path, at }) => {
        const meta = await this.stat(path).catch(() => null);
        if (!meta) return;
        out[at * 2] = meta.size as number;
        out[at * 2 + 1] = (meta.modified as number) * 1000;
      },
    );
    return out;
  }

  /**
   * The files that ripgrep finds some bytes in, as paths below a directory; nothing where it
   * cannot be asked. What matches in them is for the core to say, so answers stay the same.
   */
  async candidates(path: string, literal: Uint8Array): Promise<string | undefined> {
    if (!this.#ripgrep) return undefined;
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(literal);
    } catch {
      return undefined;
    }
    const dir = await this.place.dir(this.place.parts(path));
    if (!dir) return "";
    const { real } = dir;
    await dir.close();
    const args = [
      ...["--no-config", "--files-with-matches", "--null", "--text", "--encoding=none"],
      ...["--hidden", "--no-ignore", "--no-messages", "--fixed-strings", "--case-sensitive"],
      ...["--no-crlf", "--regexp", text, "--", "./"],
    ];
    try {
      const { stdout, exitCode } = await this.#ripgrep(args, { cwd: real });
      // 1: nothing found. 2: something could not be read, which a walk would pass over too,
      // but so is a ripgrep that does not know an option.
      if (exitCode !== 0 && exitCode !== 1) return undefined;
      const names = stdout.split("\0").filter((name) => name !== "" && name !== "\n");
      return rows(
        names.map((name) => name.replace(/^\.\//, "")).filter((n) => n.split("/").every(told)),
      );
    } catch {
      return undefined;
    }
  }
}

function unreadable(error: unknown): undefined {
  if (/^(EACCES|EPERM|ENOENT|ENOTDIR|ELOOP|permission_denied)$/.test(codeOf(error)))
    return undefined;
  throw error;
}

/** The same, by synchronous calls. Only where directories can be held open. */
export class FastDisk extends SearchableDisk {
  readonly #fs: NodeFs;

  constructor(place: Place, maxBytes: number, fs: NodeFs, ripgrep?: Ripgrep) {
    super(place, maxBytes, ripgrep);
    this.#fs = fs;
  }

  #open(real: string): number | undefined {
    let fd: number | undefined;
    try {
      fd = this.#fs.openSync(real, this.place.flags.ownDirectory);
      if (this.place.inside(this.#fs.readlinkSync(`/proc/self/fd/${fd}`))) return fd;
    } catch {
      // Gone, not readable, or a link now.
    }
    if (fd !== undefined) this.#fs.closeSync(fd);
    return undefined;
  }

  override async names(path: string): Promise<string> {
    const dir = await this.place.dir(this.place.parts(path));
    if (!dir) return "";
    await dir.close();
    const out: string[] = [];
    await this.#gather(dir.real, "", out, { since: performance.now() });
    return rows(out);
  }

  async #gather(
    real: string,
    below: string,
    out: string[],
    clock: { since: number },
  ): Promise<void> {
    const fd = this.#open(real);
    if (fd === undefined) return;
    let entries: import("node:fs").Dirent[];
    try {
      entries = this.#fs.readdirSync(`/proc/self/fd/${fd}`, { withFileTypes: true });
    } catch {
      return;
    } finally {
      this.#fs.closeSync(fd);
    }
    if (performance.now() - clock.since > 20) {
      await breath();
      clock.since = performance.now();
    }
    for (const entry of entries) {
      const { name } = entry;
      if (!told(name)) continue;
      if (entry.isFile()) out.push(below + name);
      else if (entry.isDirectory()) {
        const child = real === "/" ? `/${name}` : `${real}/${name}`;
        if (!MADE_UP.has(child)) await this.#gather(child, `${below}${name}/`, out, clock);
      }
    }
  }

  override async stats(paths: string): Promise<Float64Array> {
    const all = paths.split("\n");
    const out = new Float64Array(all.length * 2).fill(Number.NaN);
    const folder = new Folder(this, this.#fs);
    let since = performance.now();
    try {
      for (let at = 0; at < all.length; at++) {
        const file = await folder.reach(all[at] as string);
        const stats =
          file === undefined ? undefined : this.#fs.lstatSync(file, { throwIfNoEntry: false });
        if (stats?.isFile()) {
          out[at * 2] = stats.size;
          out[at * 2 + 1] = stats.mtimeMs * 1000;
        }
        if (performance.now() - since > 20) {
          await breath();
          since = performance.now();
        }
      }
    } finally {
      folder.close();
    }
    return out;
  }

  /** Bodies of many files, block by block. */
  bodies(paths: string): Bodies {
    return new Bodies(this, this.#fs, paths.split("\n"));
  }
}

/** The directory of the file looked at last, held open. */
class Folder {
  readonly #disk: DiskStorage;
  readonly #fs: NodeFs;
  #path: string | undefined;
  #fd: number | undefined;

  constructor(disk: DiskStorage, fs: NodeFs) {
    this.#disk = disk;
    this.#fs = fs;
  }

  /** Where the file at `path` can be reached now; nothing where its directory is not inside. */
  async reach(path: string): Promise<string | undefined> {
    const slash = path.lastIndexOf("/");
    const above = path.slice(0, slash);
    if (above !== this.#path) {
      this.close();
      this.#path = above;
      const { place } = this.#disk;
      try {
        const root = await place.root();
        const fd = this.#fs.openSync(place.join(root, place.parts(above)), place.flags.directory);
        this.#fd = fd;
        if (!place.inside(this.#fs.readlinkSync(`/proc/self/fd/${fd}`))) {
          this.#fs.closeSync(fd);
          this.#fd = undefined;
        }
      } catch {
        this.#fd = undefined;
      }
    }
    return this.#fd === undefined ? undefined : `/proc/self/fd/${this.#fd}${path.slice(slash)}`;
  }

  close(): void {
    if (this.#fd !== undefined) this.#fs.closeSync(this.#fd);
    this.#fd = undefined;
    this.#path = undefined;
  }
}

/** Bodies of files, some at a time. */
export class Bodies {
  readonly #disk: DiskStorage;
  readonly #fs: NodeFs;
  readonly #paths: string[];
  readonly #folder: Folder;
  #block = new Uint8Array(BLOCK);
  #next = 0;

  constructor(disk: DiskStorage, fs: NodeFs, paths: string[]) {
    this.#disk = disk;
    this.#fs = fs;
    this.#paths = paths;
    this.#folder = new Folder(disk, fs);
  }

  /** The next bodies: how long each is (all ones: no file, or over the limit), and their bytes. */
  async next(): Promise<{ lengths: Uint32Array; bytes: Uint8Array }> {
    // Others have their turn between two blocks.
    if (this.#next > 0) await breath();
    const lengths: number[] = [];
    let used = 0;
    while (this.#next < this.#paths.length) {
      const file = await this.#folder.reach(this.#paths[this.#next] as string);
      const room = this.#block.length - used;
      const length =
        file === undefined ? SKIPPED : this.#read(file, used, room, lengths.length === 0);
      if (length === undefined) break;
      lengths.push(length);
      if (length !== SKIPPED) used += length;
      this.#next += 1;
    }
    return { lengths: Uint32Array.from(lengths), bytes: this.#block.subarray(0, used) };
  }

  /** Reads one file into the block; nothing where the room left is too small for it. */
  #read(file: string, at: number, room: number, first: boolean): number | undefined {
    const fs = this.#fs;
    let fd: number;
    try {
      fd = fs.openSync(file, this.#disk.place.flags.file);
    } catch {
      return SKIPPED;
    }
    try {
      let length = 0;
      while (length < room) {
        const more = fs.readSync(fd, this.#block, at + length, room - length, null);
        length += more;
        if (length > this.#disk.maxBytes) return SKIPPED;
        // A whole small file comes in one read; only what fills the room may go on.
        if (more === 0 || (length < room && more < 65_536)) return length;
      }
      const { size } = fs.fstatSync(fd);
      if (size > this.#disk.maxBytes || !fs.fstatSync(fd).isFile()) return SKIPPED;
      if (!first) return undefined;
      this.#block = new Uint8Array(Math.max(size + 65_536, this.#block.length * 2));
      return this.#read(file, 0, this.#block.length, true);
    } catch {
      return SKIPPED;
    } finally {
      fs.closeSync(fd);
    }
  }

  close(): void {
    this.#folder.close();
  }
}

function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

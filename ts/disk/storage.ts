// A folder on the host's disk as a storage. New content is written to a temporary file and put in
// place atomically: with a link, which fails if the file exists, or with a rename over exactly the
// version that was read. Directories are real; writes never go through links that lead outside.

import type {
  Condition,
  FileToStore,
  StoredEntry,
  StoredFile,
  StoredMeta,
} from "../core/stored.js";
import { claim, sweep, versionOf } from "./claims.js";
import {
  type BigStats,
  codeOf,
  type Handle,
  IS_DIRECTORY,
  passOver,
  RESERVED,
  Refusal,
  TAKEN_BY_DIRECTORY,
} from "./host.js";
import type { Dir, Place } from "./place.js";

/** Attempts of an unconditional write to replace a file that others are replacing too. */
export const TRIES = 400;
/** Directories to remember as looked through for leftovers. */
const SWEPT = 10_000;

function metaOf(stats: BigStats): StoredMeta {
  return {
    size: Number(stats.size),
    modified: Number(stats.mtimeNs / 1000n) / 1000,
    version: versionOf(stats),
  };
}

function notAFile(): Refusal {
  return new Refusal("permission_denied", "This is a device, a pipe or a socket, not a file");
}

let counter = 0;

/** The path of a new temporary file in a directory. */
export function asideIn(dir: Dir): string {
  const random = crypto.getRandomValues(new Uint32Array(2)).join("");
  counter += 1;
  const pid = (globalThis as { process?: { pid?: number } }).process?.pid ?? 0;
  return `${dir.at}/${RESERVED}t-${pid}-${counter}-${random}`;
}

export class DiskStorage {
  readonly place: Place;
  readonly maxBytes: number;
  /** Directories that were looked through for leftovers. */
  readonly #swept = new Set<string>();

  constructor(place: Place, maxBytes: number) {
    this.place = place;
    this.maxBytes = maxBytes;
  }

  /** Which spellings of a name are one file; the core asks when a caller or a rule does. */
  get foldedNames(): string {
    return this.place.names;
  }

  /** Calls `use` with the directory that contains `path`; `undefined` if there is none. */
  protected async within<T>(
    parts: string[],
    make: boolean,
    use: (dir: Dir, name: string) => Promise<T>,
  ): Promise<T | undefined> {
    const name = parts.at(-1);
    if (name === undefined)
      throw new Refusal("is_directory", "The root is a directory, not a file");
    const above = parts.slice(0, -1);
    const dir = make ? await this.place.madeDir(above) : await this.place.dir(above);
    if (!dir) return undefined;
    try {
      await this.place.exact(dir, name);
      return await use(dir, name);
    } finally {
      await dir.close();
    }
  }

  protected async lstat(dir: Dir, name: string): Promise<BigStats | undefined> {
    try {
      return await this.place.fs.lstat(`${dir.at}/${name}`, { bigint: true });
    } catch (error) {
      if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error))) return undefined;
      throw error;
    }
  }

  async stat(path: string): Promise<StoredMeta | null> {
    return this.#stat(this.place.parts(path), true);
  }

  async #stat(parts: string[], follow: boolean): Promise<StoredMeta | null> {
    if (parts.length === 0) return null;
    const found = await this.within(parts, false, async (dir, name) => {
      const stats = await this.lstat(dir, name);
      await dir.verify();
      if (!stats) return null;
      if (stats.isSymbolicLink()) {
        const target = follow ? await this.place.target(dir, name) : undefined;
        return target ? this.#stat(target, false) : null;
      }
      return stats.isFile() ? metaOf(stats) : null;
    });
    return found ?? null;
  }

  async get(path: string): Promise<StoredFile | null> {
    return this.#get(this.place.parts(path), true);
  }

  async #get(parts: string[], follow: boolean): Promise<StoredFile | null> {
    if (parts.length === 0) return null;
    const found = await this.within(parts, false, async (dir, name) => {
      const stats = await this.lstat(dir, name);
      if (!stats) return null;
      if (stats.isDirectory()) {
        throw new Refusal("is_directory", IS_DIRECTORY);
      }
      if (stats.isSymbolicLink()) {
        const target = follow ? await this.place.target(dir, name) : undefined;
        return target ? this.#get(target, false) : null;
      }
      if (!stats.isFile()) throw notAFile();
      let handle: Handle;
      try {
        handle = await this.place.fs.open(`${dir.at}/${name}`, this.place.flags.file);
      } catch (error) {
        if (codeOf(error) === "ENOENT") return null;
        throw error;
      }
      try {
        return await this.#body(dir, name, handle);
      } finally {
        await this.place.leave(handle);
      }
    });
    return found ?? null;
  }

  async #body(dir: Dir, name: string, handle: Handle): Promise<StoredFile> {
    for (let attempt = 0; ; attempt++) {
      const stats = await this.place.seen(handle);
      if (!stats.isFile()) throw notAFile();
      if (!this.place.pinned) {
        // The open file must be the one at this path, and the directory still inside the root.
        const now = await this.lstat(dir, name);
        await dir.verify();
        if (!now || now.ino !== stats.ino || now.dev !== stats.dev) throw this.place.outside();
      }
      if (stats.size > BigInt(this.maxBytes)) {
        throw new Refusal(
          "too_large",
          `The file has ${stats.size} bytes, over the limit of ${this.maxBytes} (maxFileBytes)`,
        );
      }
      const content = await readAll(handle, Number(stats.size));
      // A program that writes in place may have changed the file during the read.
      const after = await this.place.seen(handle);
      if (versionOf(after) === versionOf(stats) || attempt === 3) {
        return { content, ...metaOf(stats) };
      }
    }
  }

  async put(
    path: string,
    file: FileToStore,
    condition: Condition,
  ): Promise<{ version: string } | false> {
    return this.#put(this.place.parts(path), file.content, condition, true);
  }

  async #put(
    parts: string[],
    content: Uint8Array,
    condition: Condition,
    follow: boolean,
  ): Promise<{ version: string } | false> {
    const stored = await this.within(parts, true, async (dir, name) => {
      await this.tidied(dir);
      const stats = await this.lstat(dir, name);
      if (stats?.isDirectory()) {
        throw new Refusal("is_directory", TAKEN_BY_DIRECTORY);
      }
      if (condition.mode === "create") return stats ? false : this.#create(dir, name, content);
      if (stats?.isSymbolicLink()) {
        const target = follow ? await this.place.target(dir, name) : undefined;
        if (!target) throw this.place.outside();
        return this.#put(target, content, condition, false);
      }
      if (stats && !stats.isFile()) throw notAFile();
      return this.#replace(dir, name, content, condition, stats);
    });
    return stored ?? false;
  }

  /** Once for each directory that is written to. */
  protected async tidied(dir: Dir): Promise<void> {
    if (this.#swept.has(dir.real)) return;
    if (this.#swept.size >= SWEPT) this.#swept.clear();
    this.#swept.add(dir.real);
    // What cannot be removed stays; it is hidden.
    await sweep(this.place.fs, this.place.flags, dir).catch(() => {});
  }

  /** Writes content to a temporary file in the same directory. */
  async #aside(dir: Dir, content: Uint8Array, like?: Like): Promise<Aside> {
    const path = asideIn(dir);
    const fs = this.place.fs;
    // Nobody reads it who may not read the file.
    const mode = like ? Number(like.mode & 0o777n) | 0o200 : 0o666;
    const handle = await fs.open(path, "wx", mode);
    try {
      await dir.verify();
      await handle.writeFile(content);
      if (like) await this.place.permit(handle, like);
      if (like?.mtimeNs !== undefined) await this.place.advance(handle, like.mtimeNs);
      return { path, version: versionOf(await this.place.seen(handle)) };
    } catch (error) {
      await fs.unlink(path).catch(() => {});
      throw error;
    } finally {
      await handle.close();
    }
  }

  async #create(dir: Dir, name: string, content: Uint8Array): Promise<{ version: string } | false> {
    const fs = this.place.fs;
    const known = this.place.remembered.of(dir, name, content.length);
    const aside = await this.#aside(dir, content, known);
    try {
      await dir.verify();
      await fs.link(aside.path, `${dir.at}/${name}`);
      this.place.remembered.forget(dir, name);
      return { version: aside.version };
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      if (!/^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EMLINK)$/.test(codeOf(error))) throw error;
      return await this.#createInPlace(dir, name, content, known);
    } finally {
      await fs.unlink(aside.path).catch(() => {});
    }
  }

  /** For file systems without hard links: still exclusive, but partial content is visible. */
  async #createInPlace(
    dir: Dir,
    name: string,
    content: Uint8Array,
    like: Like | undefined,
  ): Promise<{ version: string } | false> {
    const path = `${dir.at}/${name}`;
    let handle: Handle;
    try {
      handle = await this.place.fs.open(path, "wx", 0o666);
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
    try {
      await dir.verify();
      if (like) await this.place.permit(handle, like);
      await handle.writeFile(content);
      return { version: versionOf(await this.place.seen(handle)) };
    } catch (error) {
      await this.place.fs.unlink(path).catch(() => {});
      throw error;
    } finally {
      await handle.close();
    }
  }

  async #replace(
    dir: Dir,
    name: string,
    content: Uint8Array,
    condition: Condition,
    seen: BigStats | undefined,
  ): Promise<{ version: string } | false> {
    const update = condition.mode === "update";
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const now = attempt === 0 ? seen : await this.lstat(dir, name);
      if (!now) {
        if (update) return false;
        const made = await this.#create(dir, name, content);
        if (made) return made;
        continue;
      }
      if (!now.isFile()) throw notAFile();
      const version = versionOf(now);
      if (update && version !== condition.version) return false;
      // As a rule nobody else writes, so at first the content is written while the claim is made.
      const early = attempt === 0 ? this.#aside(dir, content, now) : undefined;
      let left: Promise<Aside> | undefined = early;
      early?.catch(() => {});
      try {
        const done = await this.exchange(dir, name, version, async (check) => {
          left = early ?? this.#aside(dir, content, now);
          const aside = await left;
          if (!(await check())) return undefined;
          await this.place.fs.rename(aside.path, `${dir.at}/${name}`);
          left = undefined;
          return { version: aside.version };
        });
        if (done) return done;
      } finally {
        await left?.then(({ path }) => this.place.fs.unlink(path)).catch(() => {});
      }
      if (update) return false;
      await moment(attempt);
    }
    throw new Refusal("conflict", "Other writers kept changing the file");
  }

  /** Holds the claim on a version of a file while `act` replaces or removes it. */
  protected async exchange<T>(
    dir: Dir,
    name: string,
    version: string,
    act: (check: () => Promise<boolean>) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const mine = await claim(this.place.fs, this.place.flags, dir, name, version);
    if (!mine) return undefined;
    try {
      return await act(async () => {
        const [now, holds] = await Promise.all([this.lstat(dir, name), mine.holds()]);
        await dir.verify();
        return now !== undefined && versionOf(now) === version && holds;
      });
    } finally {
      await mine.release();
    }
  }

  async delete(path: string, condition: Condition): Promise<boolean> {
    const gone = await this.within(this.place.parts(path), false, async (dir, name) => {
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const now = await this.lstat(dir, name);
        if (!now || now.isDirectory()) return false;
        if (!now.isFile()) {
          await dir.verify();
          // Only the link is removed, not its target.
          await this.place.fs.unlink(`${dir.at}/${name}`);
          return true;
        }
        const version = versionOf(now);
        if (condition.mode === "update" && version !== condition.version) {
          throw new Refusal("conflict", "The file was changed");
        }
        const done = await this.exchange(dir, name, version, async (check) => {
          if (!(await check())) return undefined;
          await this.place.fs.unlink(`${dir.at}/${name}`);
          this.place.remembered.note(dir, name, now);
          return true;
        });
        if (done) return true;
        await moment(attempt);
      }
      throw new Refusal("conflict", "Other writers kept changing the file");
    });
    return gone ?? false;
  }

  /** One level of a directory: files with their metadata, and paths of directories. */
  async level(path: string): Promise<{ files: StoredEntry[]; dirs: string[] }> {
    const out = { files: [] as StoredEntry[], dirs: [] as string[] };
    const dir = await this.place.dir(this.place.parts(path));
    if (!dir) return out;
    const below = path === "/" ? "" : path;
    try {
      await each(await this.place.entries(dir), async (entry) => {
        const at = `${below}/${entry.name}`;
        if (entry.isDirectory()) out.dirs.push(at);
        else if (entry.isFile()) {
          const stats = await this.lstat(dir, entry.name);
          if (stats?.isFile()) out.files.push({ path: at, ...metaOf(stats) });
        } else if (entry.isSymbolicLink()) {
          const shown = await this.#linked(dir, entry.name).catch(passOver);
          if (shown === "directory") out.dirs.push(at);
          else if (shown) out.files.push({ path: at, ...shown });
        }
      });
    } finally {
      await dir.close();
    }
    return out;
  }

  async #linked(dir: Dir, name: string): Promise<StoredMeta | "directory" | undefined> {
    const target = await this.place.target(dir, name);
    if (!target) return undefined;
    const file = await this.#stat(target, false);
    if (file) return file;
    const found = await this.place.dir(target);
    await found?.close();
    return found ? "directory" : undefined;
  }

  /** Removes `path` and everything below it. Links are removed, their targets stay. */
  async removeTree(
    path: string,
  ): Promise<{ paths: string[]; directories: boolean; error?: unknown }> {
    const parts = this.place.parts(path);
    const out: { paths: string[]; directories: boolean; error?: unknown } = {
      paths: [],
      directories: false,
    };
    try {
      await this.within(parts, false, async (above, name) => {
        const stats = await this.lstat(above, name);
        if (!stats) return;
        if (!stats.isDirectory()) {
          if (await this.delete(path, { mode: "overwrite" })) out.paths.push(path);
          return;
        }
        const dir = await this.place.child(above, name);
        if (!dir) throw this.place.outside();
        await this.#empty(dir, path, out);
        await this.place.fs.rmdir(`${above.at}/${name}`);
        out.directories = true;
      });
    } catch (error) {
      out.error ??= error;
    }
    return out;
  }

  /** Removes the empty directories at and below a path; `rmdir` refuses the others. */
  async prune(path: string): Promise<void> {
    await this.within(this.place.parts(path), false, (above, name) => this.#pruned(above, name));
  }

  async #pruned(above: Dir, name: string): Promise<void> {
    const dir = await this.place.child(above, name);
    if (!dir) return;
    try {
      for (const entry of await this.place.entries(dir)) {
        if (entry.isDirectory()) await this.#pruned(dir, entry.name);
      }
    } finally {
      await dir.close();
    }
    await this.place.fs.rmdir(`${above.at}/${name}`).catch(() => {});
  }

  async #empty(
    dir: Dir,
    path: string,
    out: { paths: string[]; directories: boolean },
  ): Promise<void> {
    try {
      // Everything, including claims and temporary files of processes that died.
      const all = await this.place.fs.readdir(dir.at, { withFileTypes: true });
      await dir.verify();
      for (const entry of all) {
        if (!entry.isDirectory()) {
          const stats = entry.isFile() ? this.place.look(dir, entry.name) : undefined;
          if (stats?.isFile()) this.place.remembered.note(dir, entry.name, stats);
          await this.place.fs.unlink(`${dir.at}/${entry.name}`).catch((error: unknown) => {
            if (codeOf(error) !== "ENOENT") throw error;
          });
          if (entry.isFile() && !entry.name.startsWith(RESERVED)) {
            out.paths.push(`${path}/${entry.name}`);
          }
          continue;
        }
        const child = await this.place.child(dir, entry.name);
        if (!child) continue;
        await this.#empty(child, `${path}/${entry.name}`, out);
        await this.place.fs.rmdir(`${dir.at}/${entry.name}`);
        out.directories = true;
      }
    } finally {
      await dir.close();
    }
  }
}

/** What a new file has of an old one: its permissions, and a time that is later. */
type Like = Pick<BigStats, "mode"> & Partial<Pick<BigStats, "mtimeNs">>;

interface Aside {
  path: string;
  version: string;
}

async function readAll(handle: Handle, size: number): Promise<Uint8Array> {
  const room = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await handle.read(room, at, size - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return at === size ? room : room.subarray(0, at);
}

/** Waits a random time, longer with each attempt. */
export function moment(attempt: number): Promise<void> {
  const limit = Math.min(50, 1 + attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * limit));
}

/** Calls `act` for each item, at most 16 at a time. */
export async function each<T>(items: T[], act: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) await act(items[at] as T);
  };
  await Promise.all(Array.from({ length: Math.min(16, items.length) }, worker));
}

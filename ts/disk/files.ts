// Single files of a folder. New content is written to a temporary file and put in place atomically: with a
// link, which fails if the file exists, or with a rename over exactly the version that was read. Writes
// never go through links that lead outside.

import type { Condition, FileToStore, StoredFile, StoredMeta } from "../core/stored.js";
import type { MaybePromise } from "../types.js";
import { versionOf } from "./claims.js";
import { asideIn, type Entries, metaOf, moment, notAFile, TRIES } from "./entries.js";
import { codeOf, IS_DIRECTORY, Refusal, TAKEN_BY_DIRECTORY } from "./host.js";
import type { Dir, Place } from "./place.js";
import type { PromptFiles } from "./prompt.js";
import type { BigStats, Handle } from "./shape.js";
import type { Part } from "./soon.js";

/**
 * How often a file is opened that is another one by then. Writers replace a file that quickly a few times at
 * most; who does it each time leads elsewhere.
 */
const REOPENED = 20;

export class Files {
  readonly #entries: Entries;
  readonly #place: Place;
  readonly #maxBytes: number;

  constructor(entries: Entries, maxBytes: number) {
    this.#entries = entries;
    this.#place = entries.place;
    this.#maxBytes = maxBytes;
  }

  async stat(path: string): Promise<StoredMeta | null> {
    return this.seen(this.#place.parts(path), true);
  }

  /** The file with this path, or the one that it is a link to if links are followed. */
  async seen(parts: string[], follow: boolean): Promise<StoredMeta | null> {
    if (parts.length === 0) return null;
    const found = await this.#entries.within(parts, false, async (dir, name) => {
      const stats = await this.#entries.lstat(dir, name);
      await dir.verify();
      if (!stats) return null;
      if (stats.isSymbolicLink()) {
        const target = follow ? await this.#place.target(dir, name) : undefined;
        return target ? this.seen(target, false) : null;
      }
      return stats.isFile() ? metaOf(stats) : null;
    });
    return found ?? null;
  }

  get(path: string): MaybePromise<StoredFile | null> {
    return this.#soon(this.#place.parts(path));
  }

  /** The bytes of a file from `start` up to `end`, and what is known of the whole file. */
  getPart(path: string, start: number, end: number): MaybePromise<StoredFile | null> {
    return this.#soon(this.#place.parts(path), { start, end });
  }

  /** At once if that can be: a promise would have the core polled once more, in another turn. */
  #soon(parts: string[], part?: Part): MaybePromise<StoredFile | null> {
    const { soon } = this.#place.fs as Partial<PromptFiles>;
    const now = soon?.(this.#place, parts, part, this.#maxBytes);
    return now === undefined ? this.#get(parts, true, part) : now;
  }

  async #get(parts: string[], follow: boolean, part?: Part): Promise<StoredFile | null> {
    if (parts.length === 0) return null;
    const found = await this.#entries.within(parts, false, async (dir, name) => {
      const stats = await this.#entries.lstat(dir, name);
      if (!stats) return null;
      if (stats.isDirectory()) {
        throw new Refusal("is_directory", IS_DIRECTORY);
      }
      if (stats.isSymbolicLink()) {
        const target = follow ? await this.#place.target(dir, name) : undefined;
        return target ? this.#get(target, false, part) : null;
      }
      if (!stats.isFile()) throw notAFile();
      for (let attempt = 1; ; attempt++) {
        let handle: Handle;
        try {
          handle = await this.#place.fs.open(`${dir.at}/${name}`, this.#place.flags.file);
        } catch (error) {
          if (codeOf(error) === "ENOENT") return null;
          throw error;
        }
        try {
          const file = await this.#body(dir, name, handle, part);
          if (file) return file;
        } finally {
          await this.#place.leave(handle);
        }
        if (attempt === REOPENED) throw this.#place.outside();
      }
    });
    return found ?? null;
  }

  /** The content of an open file, or a part of it; undefined if another one has its place by now. */
  async #body(
    dir: Dir,
    name: string,
    handle: Handle,
    part?: Part,
  ): Promise<StoredFile | undefined> {
    for (let attempt = 0; ; attempt++) {
      const stats = await this.#place.seen(handle);
      if (!stats.isFile()) throw notAFile();
      if (!this.#place.pinned) {
        // The open file must be the one at this path, and the directory still inside the root.
        const now = await this.#entries.lstat(dir, name);
        await dir.verify();
        if (now && !now.isFile()) throw this.#place.outside();
        if (!now || now.ino !== stats.ino || now.dev !== stats.dev) return undefined;
      }
      const size = Number(stats.size);
      const end = Math.min(part?.end ?? size, size);
      const start = Math.min(part?.start ?? 0, end);
      if (end - start > this.#maxBytes) {
        const what = part ? "part" : "file";
        throw new Refusal(
          "too_large",
          `The ${what} has ${end - start} bytes, over the limit of ${this.#maxBytes} (maxFileBytes)`,
        );
      }
      const content = await readAll(handle, start, end);
      // A program that writes in place may have changed the file during the read.
      const after = await this.#place.seen(handle);
      if (versionOf(after) === versionOf(stats) || attempt === 3) {
        return { content, ...metaOf(stats), ...this.#place.modeOf(stats) };
      }
    }
  }

  async put(
    path: string,
    file: FileToStore,
    condition: Condition,
  ): Promise<{ version: string } | false> {
    return this.#put(this.#place.parts(path), file, condition, true);
  }

  async #put(
    parts: string[],
    file: FileToStore,
    condition: Condition,
    follow: boolean,
  ): Promise<{ version: string } | false> {
    const stored = await this.#entries.within(parts, true, async (dir, name) => {
      await this.#entries.tidied(dir);
      const stats = await this.#entries.lstat(dir, name);
      if (stats?.isDirectory()) {
        throw new Refusal("is_directory", TAKEN_BY_DIRECTORY);
      }
      if (condition.mode === "create") return stats ? false : this.#create(dir, name, file);
      if (stats?.isSymbolicLink()) {
        const target = follow ? await this.#place.target(dir, name) : undefined;
        if (!target) throw this.#place.outside();
        return this.#put(target, file, condition, false);
      }
      if (stats && !stats.isFile()) throw notAFile();
      return this.#replace(dir, name, file, condition, stats);
    });
    return stored ?? false;
  }

  /**
   * Stores a file whose bytes come in parts: it has its place when the last one is there. `false` if
   * something else is there than must be.
   */
  async putParts(path: string, parts: PartsToStore): Promise<boolean> {
    return this.#putParts(this.#place.parts(path), parts, true);
  }

  async #putParts(steps: string[], parts: PartsToStore, follow: boolean): Promise<boolean> {
    const stored = await this.#entries.within(steps, true, async (dir, name) => {
      await this.#entries.tidied(dir);
      const stats = await this.#entries.lstat(dir, name);
      if (stats?.isDirectory()) throw new Refusal("is_directory", TAKEN_BY_DIRECTORY);
      const isLink = stats?.isSymbolicLink() === true;
      // A version is that of the file to which a link leads.
      if ((!isLink || parts.isNew) && !isExpected(parts, stats)) return false;
      if (isLink) {
        const target = follow ? await this.#place.target(dir, name) : undefined;
        if (!target) throw this.#place.outside();
        return this.#putParts(target, parts, false);
      }
      if (stats && !stats.isFile()) throw notAFile();
      const like = parts.mode === undefined ? undefined : { mode: BigInt(parts.mode) };
      const aside = await this.#aside(dir, parts, stats ?? like);
      try {
        return await this.#settle(dir, name, aside.path, parts);
      } finally {
        await this.#place.fs.unlink(aside.path).catch(() => {});
      }
    });
    return stored ?? false;
  }

  /** Puts a temporary file in a place; `false` if something else is there than must be. */
  async #settle(dir: Dir, name: string, aside: string, parts: PartsToStore): Promise<boolean> {
    const { fs } = this.#place;
    const path = `${dir.at}/${name}`;
    // The version of the empty file by which the place is held.
    let held: string | undefined;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const now = await this.#entries.lstat(dir, name);
      if (now?.isDirectory()) throw new Refusal("is_directory", TAKEN_BY_DIRECTORY);
      const isHeld = now !== undefined && versionOf(now) === held;
      if (!isHeld && !isExpected(parts, now)) return false;
      if (!now) {
        await dir.verify();
        try {
          await fs.link(aside, path);
          return true;
        } catch (error) {
          if (codeOf(error) === "EEXIST") continue;
          if (!NO_LINKS.test(codeOf(error))) throw error;
        }
        // Without hard links: a file that is there already is replaced under a claim.
        try {
          const made = await fs.open(path, "wx", 0o666);
          held = versionOf(await this.#place.seen(made));
          await made.close();
        } catch (error) {
          if (codeOf(error) !== "EEXIST") throw error;
        }
        continue;
      }
      if (!now.isFile()) throw notAFile();
      const done = await this.#entries.exchange(dir, name, versionOf(now), async (check) => {
        if (!(await check())) return undefined;
        await fs.rename(aside, path);
        return true;
      });
      if (done) return true;
      await moment(attempt);
    }
    throw new Refusal("conflict", "Other writers kept changing the file");
  }

  /** Writes content to a temporary file in the same directory. */
  async #aside(dir: Dir, content: Uint8Array | PartsToStore, like?: Like): Promise<Aside> {
    const path = asideIn(dir);
    const fs = this.#place.fs;
    const handle = await fs.open(path, "wx", closed(like));
    try {
      await dir.verify();
      await written(handle, content);
      if (like) await this.#place.permit(handle, like);
      if (like?.mtimeNs !== undefined) await this.#place.advance(handle, like.mtimeNs);
      return { path, version: versionOf(await this.#place.seen(handle)) };
    } catch (error) {
      await fs.unlink(path).catch(() => {});
      throw error;
    } finally {
      await handle.close();
    }
  }

  async #create(dir: Dir, name: string, file: FileToStore): Promise<{ version: string } | false> {
    const { content } = file;
    const fs = this.#place.fs;
    const like = file.mode === undefined ? undefined : { mode: BigInt(file.mode) };
    const aside = await this.#aside(dir, content, like);
    try {
      await dir.verify();
      await fs.link(aside.path, `${dir.at}/${name}`);
      return { version: aside.version };
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      if (!NO_LINKS.test(codeOf(error))) throw error;
      return await this.#createInPlace(dir, name, content, like);
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
      handle = await this.#place.fs.open(path, "wx", closed(like));
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
    try {
      await dir.verify();
      if (like) await this.#place.permit(handle, like);
      await handle.writeFile(content);
      return { version: versionOf(await this.#place.seen(handle)) };
    } catch (error) {
      await this.#place.fs.unlink(path).catch(() => {});
      throw error;
    } finally {
      await handle.close();
    }
  }

  async #replace(
    dir: Dir,
    name: string,
    file: FileToStore,
    condition: Condition,
    seen: BigStats | undefined,
  ): Promise<{ version: string } | false> {
    const { content } = file;
    const update = condition.mode === "update";
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const now = attempt === 0 ? seen : await this.#entries.lstat(dir, name);
      if (!now) {
        if (update) return false;
        const made = await this.#create(dir, name, file);
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
        const done = await this.#entries.exchange(dir, name, version, async (check) => {
          left = early ?? this.#aside(dir, content, now);
          const aside = await left;
          if (!(await check())) return undefined;
          await this.#place.fs.rename(aside.path, `${dir.at}/${name}`);
          left = undefined;
          return { version: aside.version };
        });
        if (done) return done;
      } finally {
        await left?.then(({ path }) => this.#place.fs.unlink(path)).catch(() => {});
      }
      if (update) return false;
      await moment(attempt);
    }
    throw new Refusal("conflict", "Other writers kept changing the file");
  }

  async delete(path: string, condition: Condition): Promise<boolean> {
    const gone = await this.#entries.within(this.#place.parts(path), false, async (dir, name) => {
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const now = await this.#entries.lstat(dir, name);
        if (!now || now.isDirectory()) return false;
        if (!now.isFile()) {
          await dir.verify();
          // Only the link is removed, not its target.
          await this.#place.fs.unlink(`${dir.at}/${name}`);
          return true;
        }
        const version = versionOf(now);
        if (condition.mode === "update" && version !== condition.version) {
          throw new Refusal("conflict", "The file was changed");
        }
        const done = await this.#entries.exchange(dir, name, version, async (check) => {
          if (!(await check())) return undefined;
          await this.#place.fs.unlink(`${dir.at}/${name}`);
          return true;
        });
        if (done) return true;
        await moment(attempt);
      }
      throw new Refusal("conflict", "Other writers kept changing the file");
    });
    return gone ?? false;
  }
}

/** What a file system without hard links, or without more of them, answers. */
const NO_LINKS = /^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EMLINK)$/;

/** A file whose bytes come in parts. */
interface PartsToStore {
  /** Whether nothing may be in its place. */
  readonly isNew?: boolean;
  /** The version of the file that must be there, if one must. */
  readonly version?: string | undefined;
  /** The permission bits of a file that is created. */
  readonly mode?: number | undefined;
  /** The next bytes; undefined behind the last. */
  next(): Promise<Uint8Array | undefined>;
}

/** Whether what must be in the place of a file is there. */
function isExpected({ isNew, version }: PartsToStore, there: BigStats | undefined): boolean {
  if (version !== undefined) return there !== undefined && versionOf(there) === version;
  return !isNew || there === undefined;
}

/** Writes behind what was written. */
async function written(handle: Handle, content: Uint8Array | PartsToStore): Promise<void> {
  if (content instanceof Uint8Array) return handle.writeFile(content);
  for (let part = await content.next(); part; part = await content.next()) {
    await handle.writeFile(part);
  }
}

/** What a new file has of an old one: its permissions, and a time that is later. */
type Like = Pick<BigStats, "mode"> & Partial<Pick<BigStats, "mtimeNs">>;

/** Permissions to make a file with, so that nobody reads it who may not read the one it is like. */
function closed(like: Like | undefined): number {
  return like ? Number(like.mode & 0o777n) | 0o200 : 0o666;
}

interface Aside {
  path: string;
  version: string;
}

async function readAll(handle: Handle, start: number, end: number): Promise<Uint8Array> {
  const size = end - start;
  const room = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await handle.read(room, at, size - at, start + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return at === size ? room : room.subarray(0, at);
}

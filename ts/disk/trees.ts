// The directories of a folder: what is in one, and removing one with everything in it. Directories are
// real.

import type { StoredEntry, StoredMeta } from "../core/stored.js";
import { type Entries, each, metaOf } from "./entries.js";
import type { Files } from "./files.js";
import { codeOf, passOver, RESERVED } from "./host.js";
import type { Dir, Place } from "./place.js";

export class Trees {
  readonly #entries: Entries;
  readonly #place: Place;
  readonly #files: Files;

  constructor(entries: Entries, files: Files) {
    this.#entries = entries;
    this.#place = entries.place;
    this.#files = files;
  }

  /** One level of a directory: files with their metadata, and paths of directories. */
  async level(path: string): Promise<{ files: StoredEntry[]; dirs: string[] }> {
    const out = { files: [] as StoredEntry[], dirs: [] as string[] };
    const dir = await this.#place.dir(this.#place.parts(path));
    if (!dir) return out;
    const below = path === "/" ? "" : path;
    try {
      await each(await this.#place.entries(dir), async (entry) => {
        const at = `${below}/${entry.name}`;
        if (entry.isDirectory()) out.dirs.push(at);
        else if (entry.isFile()) {
          const stats = await this.#entries.lstat(dir, entry.name);
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
    const target = await this.#place.target(dir, name);
    if (!target) return undefined;
    const file = await this.#files.seen(target, false);
    if (file) return file;
    const found = await this.#place.dir(target);
    await found?.close();
    return found ? "directory" : undefined;
  }

  /** Removes `path` and everything below it. Links are removed, their targets stay. */
  async removeTree(
    path: string,
  ): Promise<{ paths: string[]; directories: boolean; error?: unknown }> {
    const parts = this.#place.parts(path);
    const out: { paths: string[]; directories: boolean; error?: unknown } = {
      paths: [],
      directories: false,
    };
    try {
      await this.#entries.within(parts, false, async (above, name) => {
        const stats = await this.#entries.lstat(above, name);
        if (!stats) return;
        if (!stats.isDirectory()) {
          if (await this.#files.delete(path, { mode: "overwrite" })) out.paths.push(path);
          return;
        }
        const dir = await this.#place.child(above, name);
        if (!dir) throw this.#place.outside();
        await this.#empty(dir, path, out);
        await this.#place.fs.rmdir(`${above.at}/${name}`);
        out.directories = true;
      });
    } catch (error) {
      out.error ??= error;
    }
    return out;
  }

  /** Removes the empty directories at and below a path; `rmdir` refuses the others. */
  async prune(path: string): Promise<void> {
    await this.#entries.within(this.#place.parts(path), false, (above, name) =>
      this.#pruned(above, name),
    );
  }

  async #pruned(above: Dir, name: string): Promise<void> {
    const dir = await this.#place.child(above, name);
    if (!dir) return;
    try {
      for (const entry of await this.#place.entries(dir)) {
        if (entry.isDirectory()) await this.#pruned(dir, entry.name);
      }
    } finally {
      await dir.close();
    }
    await this.#place.fs.rmdir(`${above.at}/${name}`).catch(() => {});
  }

  async #empty(
    dir: Dir,
    path: string,
    out: { paths: string[]; directories: boolean },
  ): Promise<void> {
    try {
      // Everything, including claims and temporary files of processes that died.
      const all = await this.#place.fs.readdir(dir.at, { withFileTypes: true });
      await dir.verify();
      for (const entry of all) {
        if (!entry.isDirectory()) {
          await this.#place.fs.unlink(`${dir.at}/${entry.name}`).catch((error: unknown) => {
            if (codeOf(error) !== "ENOENT") throw error;
          });
          if (entry.isFile() && !entry.name.startsWith(RESERVED)) {
            out.paths.push(`${path}/${entry.name}`);
          }
          continue;
        }
        const child = await this.#place.child(dir, entry.name);
        if (!child) continue;
        await this.#empty(child, `${path}/${entry.name}`, out);
        await this.#place.fs.rmdir(`${dir.at}/${entry.name}`);
        out.directories = true;
      }
    } finally {
      await dir.close();
    }
  }
}

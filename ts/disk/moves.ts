// Moving and copying in a folder without reading: a second name and then the end of the first, a rename,
// or a copy by the system. As for other changes, a version is claimed before it is replaced or
// removed. What cannot be done so is "apart", and is read and written by the core.

import { versionOf } from "./claims.js";
import { asideIn, type Entries, moment, TRIES } from "./entries.js";
import { codeOf, descriptor, Refusal, TAKEN_BY_DIRECTORY } from "./host.js";
import type { Dir, Place } from "./place.js";
import type { BigStats } from "./shape.js";

/** What became of a file. `both`: it has the new name, and the old one could not be removed. */
export type Moved = "done" | "missing" | "exists" | "apart" | "both";

/** File systems without hard links, and two file systems. */
const APART = /^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EMLINK|EXDEV|EINVAL)$/;
/** Why a directory cannot take a name in one step. */
const NO_TREE = /^(EXDEV|ENOTEMPTY|EEXIST|ENOTDIR|EISDIR|EPERM|EACCES|EBUSY|ENOENT|EINVAL)$/;
/** Fails if the name exists, and shares blocks where the file system can. */
const EXCLUSIVE_CLONE = 3;

interface Spot {
  dir: Dir;
  name: string;
  stats: BigStats | undefined;
}

export class Moves {
  readonly #entries: Entries;
  readonly #place: Place;

  constructor(entries: Entries) {
    this.#entries = entries;
    this.#place = entries.place;
  }

  /** Moves or copies one file. */
  async transfer(from: string, to: string, keeps: boolean, overwrite: boolean): Promise<Moved> {
    const act = keeps ? this.#copied : this.#moved;
    const moved = await this.#entries.within(this.#place.parts(from), false, async (dir, name) => {
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const stats = await this.#entries.lstat(dir, name);
        if (!stats) return "missing";
        if (!stats.isFile()) {
          return "apart";
        }
        const done = await this.#entries.within(
          this.#place.parts(to),
          true,
          async (there, newName) => {
            await this.#entries.tidied(there);
            const target = await this.#entries.lstat(there, newName);
            if (target?.isDirectory()) {
              throw new Refusal("is_directory", TAKEN_BY_DIRECTORY);
            }
            if (target && !overwrite) return "exists";
            if (target && !target.isFile()) return "apart";
            const at = { dir: there, name: newName, stats: target };
            const answer = await act.call(this, { dir, name, stats }, stats, at);
            return answer === "exists" && overwrite ? undefined : answer;
          },
        );
        if (done) return done;
        await moment(attempt);
      }
      throw new Refusal("conflict", "Other writers kept changing the file");
    });
    return moved ?? "missing";
  }

  /** A file under its new name; undefined if one of the two was changed meanwhile. */
  #moved(from: Spot, stats: BigStats, to: Spot): Promise<Moved | undefined> {
    const { fs } = this.#place;
    const [old, next] = [`${from.dir.at}/${from.name}`, `${to.dir.at}/${to.name}`];
    const freed = () =>
      fs.unlink(old).then(
        () => "done" as const,
        () => "both" as const,
      );
    return this.#entries.exchange(from.dir, from.name, versionOf(stats), async (check) => {
      const target = to.stats;
      if (!target) {
        await to.dir.verify();
        if (!(await check())) return undefined;
        const refused = await linked(fs.link(old, next));
        if (refused) return refused;
        // Some systems follow a link that was put there since.
        const now = await this.#entries.lstat(to.dir, to.name);
        if (now && now.ino !== stats.ino) {
          await fs.unlink(next);
          throw this.#place.outside();
        }
        return freed();
      }
      return this.#entries.exchange(to.dir, to.name, versionOf(target), async (checkTarget) => {
        if (!(await check()) || !(await checkTarget())) return undefined;
        // A rename between two names of one file does nothing.
        if (target.ino === stats.ino && target.dev === stats.dev) return freed();
        try {
          await fs.rename(old, next);
          return "done";
        } catch (error) {
          if (APART.test(codeOf(error))) return "apart";
          throw error;
        }
      });
    });
  }

  /** A copy by the system, from the open file, so that no link is followed. */
  async #copied(from: Spot, stats: BigStats, to: Spot): Promise<Moved | undefined> {
    const { fs, flags } = this.#place;
    if (!this.#place.pinned || !fs.copyFile) return "apart";
    const handle = await fs.open(`${from.dir.at}/${from.name}`, flags.file);
    const aside = asideIn(to.dir);
    try {
      const before = await handle.stat({ bigint: true });
      if (versionOf(before) !== versionOf(stats)) return undefined;
      try {
        await fs.copyFile(descriptor(handle.fd), aside, EXCLUSIVE_CLONE);
      } catch (error) {
        if (/^(ENOSPC|EDQUOT)$/.test(codeOf(error))) throw error;
        return "apart";
      }
      // A program that writes in place may have changed the file meanwhile.
      if (versionOf(await handle.stat({ bigint: true })) !== versionOf(before)) return undefined;
      const target = to.stats;
      if (!target) {
        return (await linked(fs.link(aside, `${to.dir.at}/${to.name}`))) ?? "done";
      }
      return await this.#entries.exchange(to.dir, to.name, versionOf(target), async (check) => {
        const copy = await fs.open(aside, flags.file);
        try {
          await this.#place.permit(copy, target);
          await this.#place.advance(copy, target.mtimeNs);
        } finally {
          await copy.close();
        }
        if (!(await check())) return undefined;
        await fs.rename(aside, `${to.dir.at}/${to.name}`);
        return "done" as const;
      });
    } finally {
      await handle.close();
      await fs.unlink(aside).catch(() => {});
    }
  }

  /** Moves a directory by one rename; `false` if it is a link, or something is at the new path. */
  async moveTree(from: string, to: string): Promise<boolean> {
    const done = await this.#entries.within(this.#place.parts(from), false, async (dir, name) => {
      if (!(await this.#entries.lstat(dir, name))?.isDirectory()) return false;
      return this.#entries.within(this.#place.parts(to), true, async (there, newName) => {
        if (await this.#entries.lstat(there, newName)) return false;
        await dir.verify();
        await there.verify();
        try {
          await this.#place.fs.rename(`${dir.at}/${name}`, `${there.at}/${newName}`);
          return true;
        } catch (error) {
          if (NO_TREE.test(codeOf(error))) return false;
          throw error;
        }
      });
    });
    return done ?? false;
  }
}

/** Why a second name was not given; undefined if it was. */
async function linked(link: Promise<void>): Promise<"exists" | "apart" | undefined> {
  try {
    await link;
    return undefined;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return "exists";
    if (APART.test(codeOf(error))) return "apart";
    throw error;
  }
}

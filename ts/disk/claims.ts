// Exclusive rights to replace a file. Before the content of a file is replaced, the writer claims
// the version to be replaced: it creates a small file next to it, named after that version, which
// only one writer can do (exclusive creation). Versions never come back, because each write
// advances the modification time, so a claim cannot apply to a later version. A claim whose owner
// died is passed over by creating its next generation, which again only one writer can do. Nothing
// is taken from a living owner.

import { builtin, codeOf, type Flags, RESERVED } from "./host.js";
import type { Dir } from "./place.js";
import type { BigStats, FsLike } from "./shape.js";

/** A claim of this age counts as abandoned. Normally one is held for milliseconds. */
const STALE_MS = 60_000;
/**
 * The same for one without its owner's whole name. A living owner has not checked its claim yet, and
 * finds out then that it was passed over.
 */
const UNNAMED_MS = 500;

/** Identifies a version of a file. */
export function versionOf(stats: BigStats): string {
  return `${stats.ino}-${stats.size}-${stats.mtimeNs}`;
}

/**
 * A short hash of a file name: FNV-1a, twice. Two names can be chosen that share one. Their claims are one
 * only while both files have the same inode, size and time, which are in its name too: links to one file, say.
 * Then two writers take turns that need not.
 */
function hashed(name: string): string {
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let at = 0; at < name.length; at++) {
    low = Math.imul(low ^ name.charCodeAt(at), 0x01000193);
    high = Math.imul(high ^ name.charCodeAt(at), 0x85ebca6b) ^ (low >>> 7);
  }
  return (low >>> 0).toString(16).padStart(8, "0") + (high >>> 0).toString(16).padStart(8, "0");
}

const host = (globalThis as { process?: NodeJS.Process }).process;
const machine = (() => {
  try {
    return builtin<typeof import("node:os")>("node:os")?.hostname() ?? "";
  } catch {
    return "";
  }
})();
const owner = new TextEncoder().encode(`${host?.pid ?? 0} ${machine}\n`);

export interface Claim {
  /** Whether the claim is still valid: no other writer considered it abandoned. */
  holds(): Promise<boolean>;
  release(): Promise<void>;
}

/** Claims a version of `name`; `undefined` if another writer has it. */
export async function claim(
  fs: FsLike,
  flags: Flags,
  dir: Dir,
  name: string,
  version: string,
): Promise<Claim | undefined> {
  return claimAt(fs, flags, `${dir.at}/${RESERVED}c-${hashed(name)}-${version}`);
}

async function claimAt(fs: FsLike, flags: Flags, base: string): Promise<Claim | undefined> {
  const path = (generation: number) => `${base}-${generation}`;
  // As many as there are: to plant them takes longer than to pass them over.
  for (let generation = 0; ; generation++) {
    try {
      const handle = await fs.open(path(generation), "wx", 0o644);
      try {
        await handle.writeFile(owner);
      } finally {
        // The claim stands with its name, so nobody waits for this.
        handle.close().catch(ignore);
      }
      return {
        async holds() {
          return !(await exists(fs, path(generation + 1)));
        },
        async release() {
          // The generations that were passed over are removed too, the oldest last.
          for (let old = generation; old >= 0; old--) {
            await fs.unlink(path(old)).catch(ignore);
          }
        },
      };
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      if (!(await abandoned(fs, flags, path(generation)))) return undefined;
    }
  }
}

/** A temporary file of this age belongs to a process that was killed. */
const DEAD_MS = 10 * 60_000;

/**
 * Removes what processes that were killed have left in a directory: temporary files by their age,
 * and claims by taking them over as a writer would, which is safe beside writers.
 */
export async function sweep(fs: FsLike, flags: Flags, dir: Dir): Promise<void> {
  const all = await fs.readdir(dir.at, { withFileTypes: true });
  const bases = new Set<string>();
  for (const { name } of all) {
    if (!name.startsWith(RESERVED)) continue;
    const path = `${dir.at}/${name}`;
    if (name.startsWith(`${RESERVED}t-`)) {
      const stats = await fs.lstat(path, { bigint: true }).catch(() => undefined);
      const age = stats ? Date.now() - Number(stats.mtimeNs / 1_000_000n) : 0;
      if (age > DEAD_MS) await fs.unlink(path).catch(ignore);
    } else if (name.startsWith(`${RESERVED}c-`) && (await abandoned(fs, flags, path))) {
      bases.add(path.slice(0, path.lastIndexOf("-")));
    }
  }
  for (const base of bases) await (await claimAt(fs, flags, base))?.release();
}

function ignore(): void {}

async function exists(fs: FsLike, path: string): Promise<boolean> {
  try {
    await fs.lstat(path, { bigint: true });
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function abandoned(fs: FsLike, flags: Flags, path: string): Promise<boolean> {
  if (await isNoClaim(fs, path)) return true;
  const room = new Uint8Array(256);
  let said = "";
  let age = 0;
  try {
    const handle = await fs.open(path, flags.file);
    try {
      const { bytesRead } = await handle.read(room, 0, room.length, 0);
      said = new TextDecoder().decode(room.subarray(0, bytesRead));
      age = ageOf(await handle.stat({ bigint: true }));
    } finally {
      await handle.close();
    }
  } catch {
    // It was just released. Its version is gone, or the next attempt finds it free.
    return false;
  }
  const [, pid = "", where = "", end = ""] = /^(\d*)(?: ([^\n]*))?(\n?)/.exec(said) ?? [];
  // Earlier versions wrote no line feed.
  const whole = end !== "" || (/ /.test(said) && (where === machine || !machine.startsWith(where)));
  if (!whole) return age > UNNAMED_MS;
  if (where !== machine || !Number(pid)) return false;
  // A container that was started again has the same numbers: then the claim is older than its process.
  if (Number(pid) === host?.pid) return age > begun() + UNNAMED_MS;
  try {
    host?.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}

/** Whether something is no claim: no writer makes a directory, a link or a pipe, nor keeps one for long. */
async function isNoClaim(fs: FsLike, path: string): Promise<boolean> {
  const stats = await fs.lstat(path, { bigint: true }).catch(() => undefined);
  if (!stats) return false;
  return !stats.isFile() || ageOf(stats) > STALE_MS;
}

/** How old a file is, in milliseconds. Of a clock that was set back, the time is in the future. */
function ageOf({ mtimeNs }: BigStats): number {
  return Math.abs(Date.now() - Number(mtimeNs / 1_000_000n));
}

/** How long ago this process began, in milliseconds. */
function begun(): number {
  return (host?.uptime?.() ?? Number.POSITIVE_INFINITY) * 1000;
}

// Which spellings of a name a folder takes for one, and the names that Windows keeps for devices.
// A folder is looked at, because a Linux machine may hold one that folds (vfat, casefold of ext4),
// and a Mac one that does not. Calls are synchronous: a rule asks before it lets a call through.

import type { Capability } from "../types.js";
import { codeOf, platform, RESERVED } from "./host.js";

type NodeFs = typeof import("node:fs");

/** What a folder folds. */
export type FoldedNames = NonNullable<Capability["names"]>;

/** What folders of this system fold, where one cannot be looked at. */
export function usualNames(): FoldedNames {
  if (platform() === "darwin") return "case and composition";
  return platform() === "win32" ? "case" : "exact";
}

/** Entries that are looked at, at most. */
const LOOKED_AT = 64;

/** What a folder folds, and whether it was there to be looked at. */
export function foldedNames(fs: NodeFs, root: string): { names: FoldedNames; final: boolean } {
  // A folder that is not there yet will be like the one that it is made in.
  for (let at = root, final = true; ; final = false) {
    const folds = foldsCase(fs, at, final);
    if (folds !== "absent") return { names: namesOf(folds), final: final && folds !== undefined };
    const above = at.replace(/[/\\]+[^/\\]*[/\\]*$/, "") || "/";
    if (above === at) return { names: usualNames(), final: false };
    at = above;
  }
}

function namesOf(foldsCase: boolean | undefined): FoldedNames {
  if (foldsCase === undefined) return usualNames();
  // macOS folds composition on every volume. A folder that folds case on Linux may do so as well.
  const composition = platform() === "darwin" || (foldsCase && platform() !== "win32");
  if (composition) return foldsCase ? "case and composition" : "composition";
  return foldsCase ? "case" : "exact";
}

/** Whether another case finds the same entry; undefined where that cannot be found out. */
function foldsCase(fs: NodeFs, dir: string, mayWrite: boolean): boolean | "absent" | undefined {
  const path = `${dir.replace(/[/\\]+$/, "")}/`;
  try {
    const listing = fs.opendirSync(path);
    try {
      for (let looked = 0; looked < LOOKED_AT; looked++) {
        const entry = listing.readSync();
        if (!entry) break;
        const found = sameInOtherCase(fs, path, entry.name);
        if (found !== undefined) return found;
      }
    } finally {
      listing.closeSync();
    }
  } catch (error) {
    return /^(ENOENT|ENOTDIR)$/.test(codeOf(error)) ? "absent" : undefined;
  }
  if (!mayWrite) return undefined;
  // Nothing in it has letters: one file, which is taken away again.
  const random = crypto.getRandomValues(new Uint32Array(2)).join("");
  const name = `${RESERVED}t-names-${random}`;
  try {
    fs.writeFileSync(path + name, "", { flag: "wx" });
    try {
      return sameInOtherCase(fs, path, name);
    } finally {
      fs.unlinkSync(path + name);
    }
  } catch {
    // Nobody writes there.
    return undefined;
  }
}

/** Undefined for an entry that cannot tell: without letters, gone, or with several names. */
function sameInOtherCase(fs: NodeFs, path: string, name: string): boolean | undefined {
  const other = name.replace(/[a-z]/gi, (one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
  );
  if (other === name) return undefined;
  const look = (entry: string) =>
    fs.lstatSync(path + entry, { bigint: true, throwIfNoEntry: false });
  const [one, two] = [look(name), look(other)];
  if (!one) return undefined;
  if (!two || one.ino !== two.ino || one.dev !== two.dev) return false;
  return one.isDirectory() || one.nlink === 1n ? true : undefined;
}

/** Whether Windows takes a name for a device, whatever follows behind a dot, or cannot have it. */
export function isRefusedByWindows(name: string): boolean {
  return (
    /[<>:"|?*]|[. ]$/.test(name) ||
    /^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³]) *(\..*)?$/i.test(name)
  );
}

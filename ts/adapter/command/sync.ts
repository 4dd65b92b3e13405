// The command sync: brings two trees together. Returns its exit code.

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { type SyncResult, sync } from "kitbag/sync";
import type { Opened } from "./address.js";
import { addressFlags, choice, exitCodeOf, type Line, using, words } from "./line.js";
import {
  CommandError,
  count,
  named,
  paint,
  print,
  printJson,
  printLines,
  progressBar,
  sizeText,
  tell,
} from "./output.js";

type Synced = Extract<SyncResult, { error?: never }>;

/** What is printed of a change: a mark, and the colour of it. */
const MARKS = {
  created: ["+", "made"],
  replaced: ["~", "other"],
  merged: ["~", "other"],
  deleted: ["-", "gone"],
  moved: ["~", "other"],
} as const;

/** Where A keeps what it agreed on with B: another directory for each B. */
function roomOf(b: Opened): string {
  const place = b.folder ?? b.place ?? b.name;
  return `/.kitbag/sync/${createHash("sha256").update(place).digest("hex").slice(0, 16)}`;
}

/** A whole tree: a sync knows no parts. */
function whole({ directory, name }: Opened): void {
  if (directory === "/") return;
  throw new CommandError(
    `${name} names a directory in a tree; sync the whole tree, and choose paths with --only '${directory}**'`,
  );
}

/** A folder without links; of one that does not exist, below the first one that does. */
function real(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch (error) {
    const above = dirname(folder);
    if ((error as { code?: string }).code !== "ENOENT" || above === folder) return folder;
    return join(real(above), basename(folder));
  }
}

/** What a side is in, with a separator at its end; undefined if nobody else can name it. */
function placeOf({ folder, place }: Opened): string | undefined {
  return folder === undefined ? place : join(real(folder), sep);
}

/** Neither side may be the other one or in it: each run would find the files of the run before in it. */
function apart(a: Opened, b: Opened): void {
  const [one, other] = [placeOf(a), placeOf(b)];
  if (one === undefined || other === undefined) return;
  if (one === other) throw new CommandError("A and B are the same place; name two trees");
  if (other.startsWith(one)) throw new CommandError("B is inside A; name two separate trees");
  if (one.startsWith(other)) throw new CommandError("A is inside B; name two separate trees");
}

export async function syncTrees(line: Line): Promise<number> {
  const [one = "", other = ""] = words(line, 2, 2, "sync A B");
  const onConflict = choice(line.flags, "conflicts", ["both", "a", "b", "leave"]);
  const compare = choice(line.flags, "compare", ["content", "time"]);
  const dryRun = line.flags["dry-run"] === true;
  return using(one, addressFlags(line.flags, !dryRun), (a) =>
    using(other, addressFlags(line.flags, !dryRun), async (b) => {
      whole(a);
      whole(b);
      apart(a, b);
      const progress = progressBar();
      const result = await sync(a.backend, b.backend, {
        keepIn: { backend: a.backend, path: roomOf(b) },
        paths: (line.flags.only ?? []) as string[],
        ignore: (line.flags.ignore ?? []) as string[],
        signal: line.signal,
        dryRun,
        allowEmpty: line.flags["allow-empty"] === true,
        ...(onConflict && { onConflict }),
        ...(compare && { compare }),
        ...(progress.onSteps && { onProgress: progress.onSteps }),
      });
      progress.end();
      if (line.flags.json) await printJson(result);
      if (result.error !== undefined) {
        tell(`kitbag sync: ${result.error}`);
        return exitCodeOf(result.code);
      }
      if (!line.flags.json) await show(result, dryRun);
      const { changed, conflicts, refused } = result;
      for (const { path, side, error } of refused) tell(`kitbag sync: ${side}: ${path}: ${error}`);
      for (const risk of result.risks) tell(`kitbag sync: ${risk}`);
      const isOpen = conflicts.length > 0 || refused.length > 0;
      return isOpen || (dryRun && changed.length > 0) ? 1 : 0;
    }),
  );
}

async function show({ changed, conflicts, stats }: Synced, dryRun: boolean): Promise<void> {
  await printLines(
    changed.map(({ path, side, what, from }) => {
      const [mark, colour] = MARKS[what];
      const source = from === undefined ? "" : ` (from ${named(from)})`;
      return paint(colour, `${mark} ${side} ${named(path)}${source}`);
    }),
  );
  await printLines(
    conflicts.map(({ path, took, copy }) => {
      const how = dryRun ? "both changed it" : copy ? `a's is in ${named(copy)}` : took;
      return paint("gone", `! ${named(path)}: ${how}`);
    }),
  );
  if (dryRun) return;
  await print(`${count(changed.length)} changed, ${sizeText(stats.sentBytes)} written\n`);
}

// The files of a directory that some patterns name, for a mirror: neither empty directories nor links
// matter to it, so one listing is enough where the backend gives it whole.

import { type AnyBackend, adaptBackendProtocol, type CallOptions, type FileInfo } from "kitbag";
import { Stop } from "../transfer/tally.js";
import { type Own, refusal } from "../transfer/tree.js";

/** What a listing says of a file: two of the same file are equal if it was not changed in between. */
export interface Stamp {
  size: number;
  /** When it was changed, in milliseconds. */
  changed: number;
}

/** The stamps of files by their path below the directory; none where the backend lists no time or size. */
export type Listing = Map<string, Stamp | undefined>;

/** Where files are listed. */
export interface Place {
  backend: AnyBackend;
  /** The directory, with a slash at its end. */
  root: string;
  /** Patterns below the directory. */
  paths: readonly string[];
  /** Most files. */
  most: number;
}

function stampOf({ size, modified_at }: FileInfo): Stamp | undefined {
  const changed = Date.parse(modified_at ?? "");
  return size === undefined || Number.isNaN(changed) ? undefined : { size, changed };
}

/** Lists the files; throws a `Stop` if there are too many, or the backend fails. */
export async function list(of: Place, options: CallOptions): Promise<Listing> {
  const backend = adaptBackendProtocol(of.backend) as Own;
  const found: Listing = new Map();
  const take = (files: readonly FileInfo[]) => {
    for (const file of files) {
      const name = file.path.slice(of.root.length);
      if (file.is_dir || name === "" || !file.path.startsWith(of.root)) continue;
      found.set(name, stampOf(file));
      if (found.size <= of.most) continue;
      throw new Stop(
        `${of.root} has more than ${of.most} files; name fewer by paths or ignore, or pass maxFiles`,
        "too_large",
      );
    }
  };
  const below = async (pattern: string, directory: string): Promise<void> => {
    const answer = await backend.glob(pattern, directory.replace(/(?<=.)\/$/, ""), options);
    const isPart = (answer as { truncated?: boolean }).truncated === true;
    if (answer.files !== undefined && !isPart) return take(answer.files);
    const { code, error } = isPart
      ? { code: "too_large", error: `${directory} was listed only in part` }
      : refusal(answer);
    // A directory that is not there has no files.
    if (code === "not_found") return;
    // Part by part, so that what is ignored need not be listed.
    if (code !== "too_large" || pattern !== "**") throw new Stop(error, code);
    const children = await backend.ls(directory, options);
    if (children.files === undefined) {
      const refused = refusal(children);
      throw new Stop(refused.error, refused.code);
    }
    take(children.files);
    const deeper = children.files.filter(({ is_dir, path }) => is_dir && path !== directory);
    if (deeper.length === 0) throw new Stop(error, code);
    for (const { path } of deeper) await below("**", path.endsWith("/") ? path : `${path}/`);
  };
  for (const pattern of of.paths) await below(pattern, of.root);
  return found;
}

/** Whether a file was changed between two listings; where they do not say, it may have been. */
export function isSame(one: Stamp | undefined, other: Stamp | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.size === other.size &&
    one.changed === other.changed
  );
}

/**
 * How long it takes until a change has another time than what is there now, in milliseconds: files are
 * known by their times, and these count milliseconds, whole seconds or two.
 */
export function tickOf(listing: Listing): number {
  const times = [...listing.values()].flatMap((stamp) => stamp?.changed ?? []);
  if (times.length === 0 || times.some((time) => time % 1_000 !== 0)) return 20;
  return times.some((time) => time % 2_000 !== 0) ? 1_050 : 2_050;
}

// What a mirror knows of each file: what was sent last, and what was seen in the copy last, so that it is
// known who changed it.

import { Stop, type TransferFailure } from "../transfer/tally.js";
import type { Refusal, Tree } from "../transfer/tree.js";
import { isSame, type Listing, type Stamp, tickOf } from "./listing.js";
import type { Texts } from "./merging.js";

/** What is known of a file. */
export interface Known {
  /**
   * `mirrored`: it was sent, or brought back, and is removed when the tree has it no longer. `before`: it
   * was in the copy before the first `send`, and is left alone. `taken`: it was so, and brought back since.
   */
  origin: "mirrored" | "before" | "taken";
  /** The digest of what the tree had when it was sent. */
  sent: string | undefined;
  /** The digest of what the copy was last seen to have; none if it had no such file. */
  there: string | undefined;
  /** What listings said of it then, where that is enough to know it again. */
  stamps: { here?: Stamp | undefined; there?: Stamp | undefined };
}

/** What both calls of a mirror share. */
export interface Book {
  known: Map<string, Known>;
  /** Texts that were sent, for merges. */
  texts: Texts;
  isBegun: boolean;
}

/** Whether a file is as it was when it was last read, by its stamp. */
export function isTold(
  known: Known | undefined,
  side: "here" | "there",
  stamp: Stamp | undefined,
): boolean {
  return isSame(known?.stamps[side], stamp);
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  if (globalThis.crypto?.subtle === undefined) {
    throw new Stop("mirror needs crypto.subtle, which a page has over HTTPS only", "unsupported");
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A content with its digest. */
export interface Held {
  bytes: Uint8Array;
  digest: string;
}

/** Told of what failed. */
export type Fail = (name: string, why: Refusal) => void;

/** Collects failures of a tree. */
export const failing =
  (tree: Tree, failures: TransferFailure[]): Fail =>
  (name, { error, code }) =>
    void failures.push({ path: tree.path(name), error, code });

/** Whether an answer says that there is no file. */
export const isGone = ({ code }: Refusal) => code === "not_found" || code === "file_not_found";

/** Reads files: nothing for one that is not there, and no entry for one that cannot be read. */
export async function heldBy(
  tree: Tree,
  names: readonly string[],
  fail: Fail,
): Promise<Map<string, Held | undefined>> {
  const found = new Map<string, Held | undefined>();
  const answers = await tree.bytes(names);
  for (const [at, name] of names.entries()) {
    const bytes = answers[at] ?? { error: "The backend gave no answer", code: "unavailable" };
    if (bytes instanceof Uint8Array) found.set(name, { bytes, digest: await digestOf(bytes) });
    else if (isGone(bytes) || bytes.code === "is_directory") found.set(name, undefined);
    else fail(name, bytes);
  }
  return found;
}

/** Ends a call that was given up. */
export function check(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Stop("It was cancelled; what was done stays", "timeout");
}

/** Waits until a change that comes now has another time than what is listed. */
export function tick(listing: Listing): Promise<void> {
  return new Promise((done) => setTimeout(done, tickOf(listing)));
}

// What a review is about, down to the contents: a patch is shortened, and only names binary files, so an
// answer that comes later is compared by this.

import { shared } from "./context.js";

/** As much of a change of a turn as a review is about. */
export interface Reviewed {
  path: string;
  kind: string;
  from?: string;
  before: Uint8Array | null;
  after: Uint8Array | null;
}

/** A digest of changes: of the contents before and after, also of what a patch does not show. */
export async function digestOf(changes: readonly Reviewed[]): Promise<string> {
  const hex = async (bytes: Uint8Array) => {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes)));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const content = (bytes: Uint8Array | null) => (bytes ? hex(bytes) : null);
  const parts = changes.map(async ({ path, kind, from, before, after }) => [
    ...[path, kind, from ?? null],
    ...[await content(before), await content(after)],
  ]);
  return hex(new TextEncoder().encode(JSON.stringify(await Promise.all(parts))));
}

/** The changes of each review, for adapters in other bundles. */
const reviewed = shared("kitbag.reviewed", () => new WeakMap<object, readonly Reviewed[]>());

/** Notes what a review is about. */
export function noted<T extends object>(review: T, changes: readonly Reviewed[]): T {
  reviewed.set(review, changes);
  return review;
}

/** The changes that a review is about, if it was noted. */
export const changesOf = (review: object): readonly Reviewed[] | undefined => reviewed.get(review);

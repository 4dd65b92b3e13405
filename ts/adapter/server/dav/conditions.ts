// The conditions under which a request of WebDAV goes on: the header `If`, and locks.

import type { Kept } from "../memory.js";
import type { Call } from "../served.js";
import { seen } from "../stored.js";
import { type Dav, hrefOf, stop } from "./asked.js";
import { barring, type Conditions, covers, parseIf, type Touched, tokensOf } from "./locks.js";
import type { Known } from "./record.js";
import { Ended, hrefText, refusedBy } from "./reply.js";
import { mayChange } from "./tree.js";

/** The conditions of the header `If`. */
export function conditionsOf({ request }: Call): Conditions[] {
  const header = request.headers.get("if");
  return header === null ? [] : parseIf(header);
}

/** Ends the call if no list of conditions holds. */
async function check(dav: Dav, lists: readonly Conditions[]): Promise<void> {
  if (lists.length === 0) return;
  for (const { about, all } of lists) {
    const path = about === undefined ? dav.path : dav.pathOf(about);
    if (path === undefined) continue;
    let holds = true;
    for (const { not, token, tag } of all) {
      const is =
        tag === undefined
          ? dav.known.locks.some((lock) => lock.token === token && covers(lock, path))
          : (await tagOf(dav, path)) === tag.replace(/^W\//, "");
      holds &&= is !== not;
    }
    if (holds) return;
  }
  stop(412, "No list of conditions in the header If holds", "conflict");
}

async function tagOf(dav: Dav, path: string): Promise<string | undefined> {
  const file = await seen(dav, path);
  return "error" in file ? undefined : file.tag;
}

/** Ends the call if a lock bars the change. */
export async function needLocks(dav: Dav, touched: readonly Touched[]): Promise<void> {
  const tokens = tokensOf(conditionsOf(dav));
  const lock = barring(dav.known, touched, tokens, dav.client);
  if (!lock) return;
  // Who may not change the files learns nothing of locks.
  for (const { path } of touched) await mayChange(dav, path);
  const href = hrefText(hrefOf(dav, lock.path, false));
  throw new Ended(refusedBy(423, "lock-token-submitted", href));
}

/** Makes a change: none begins after a lock was given that bars it. */
export async function changing(dav: Dav, work: () => Promise<Kept>): Promise<Kept> {
  const done = dav.room.begin();
  try {
    dav.known = await dav.room.known();
    await check(dav, conditionsOf(dav));
    return await work();
  } finally {
    done();
  }
}

/** Changes what the room knows, if there is something to change. */
export async function noted(dav: Dav, note: (known: Known) => void): Promise<void> {
  const before = JSON.stringify(dav.known);
  const after = JSON.parse(before) as Known;
  note(after);
  if (JSON.stringify(after) !== before) await dav.room.change(note);
}

// Which locks bar a change, and the header `If`, by which a client shows that it has them.

import { BadRequest } from "../wire.js";
import { isBelow, type Known, type Lock, parentOf } from "./record.js";

/** What a change touches. */
export interface Touched {
  path: string;
  /** Whether a name is added to its directory, or removed. */
  member?: boolean;
  /** Whether everything below it is touched, too. */
  deep?: boolean;
}

/** Whether a lock is on a path. */
export const covers = (lock: Lock, path: string): boolean =>
  lock.path === path || (lock.deep && isBelow(path, lock.path));

/** The first lock that bars a change by a client that shows these tokens. Of shared locks, one is enough. */
export function barring(
  known: Known,
  touched: readonly Touched[],
  tokens: ReadonlySet<string>,
  by: string,
): Lock | undefined {
  const isHeld = (lock: Lock) => tokens.has(lock.token) && lock.by === by;
  const onPath = (path: string) => {
    const locks = known.locks.filter((lock) => covers(lock, path));
    return locks.some(isHeld) ? undefined : locks[0];
  };
  for (const { path, member, deep } of touched) {
    const below = known.locks.filter((lock) => deep && isBelow(lock.path, path));
    const places = [path, ...(member ? [parentOf(path)] : []), ...below.map((lock) => lock.path)];
    for (const place of places) {
      const lock = onPath(place);
      if (lock) return lock;
    }
  }
  return undefined;
}

/** The locks that a new one cannot be beside. */
export const conflicting = (known: Known, wanted: Pick<Lock, "path" | "deep" | "shared">): Lock[] =>
  known.locks.filter(
    (lock) =>
      !(lock.shared && wanted.shared) &&
      (covers(lock, wanted.path) || (wanted.deep && isBelow(lock.path, wanted.path))),
  );

/** A condition: a token or an ETag that a file must have, or must not have. */
export interface Condition {
  not: boolean;
  token?: string;
  tag?: string;
}

/** A list of conditions that must all hold, about the address of the request or another one. */
export interface Conditions {
  about: string | undefined;
  all: Condition[];
}

const TOKEN = /\s*(?:<([^<>\s]*)>|\[((?:W\/)?"[^"]*")\]|(\()|(\))|(not)(?=[\s<[]))/iy;

/** Reads the header `If`; one of the lists must hold. */
export function parseIf(header: string): Conditions[] {
  const bad = () => new BadRequest("The header If must have lists of conditions, as in RFC 4918");
  const lists: Conditions[] = [];
  let about: string | undefined;
  let all: Condition[] | undefined;
  let not = false;
  const text = header.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const found = TOKEN.exec(text);
    if (!found) throw bad();
    const [, address, tag, open, close, negated] = found;
    if (open) {
      if (all) throw bad();
      all = [];
    } else if (close) {
      if (!all || all.length === 0 || not) throw bad();
      lists.push({ about, all });
      all = undefined;
    } else if (negated) {
      if (!all || not) throw bad();
      not = true;
    } else if (all) {
      all.push({ not, ...(tag === undefined ? { token: address ?? "" } : { tag }) });
      not = false;
    } else if (address !== undefined && (lists.length === 0 || about !== undefined)) {
      about = address;
    } else throw bad();
  }
  if (all || lists.length === 0) throw bad();
  return lists;
}

/** The tokens in the header `If`. */
export const tokensOf = (lists: readonly Conditions[]): Set<string> =>
  new Set(lists.flatMap(({ all }) => all.flatMap(({ token }) => token ?? [])));

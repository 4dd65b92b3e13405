// `LOCK` and `UNLOCK`.

import { withHeaders } from "../answers.js";
import type { Kept } from "../memory.js";
import { BadRequest } from "../wire.js";
import { type Dav, depthOf, end, hrefOf, stop } from "./asked.js";
import { needParent } from "./changes.js";
import { conditionsOf, needLocks } from "./conditions.js";
import { conflicting, covers, tokensOf } from "./locks.js";
import { filled, forget, isAt, type Lock } from "./record.js";
import { bare, Ended, hrefText, multiStatus, refusedBy, responseText, xmlAnswer } from "./reply.js";
import { find, mayChange } from "./tree.js";
import { DAV, type Element, parseXml } from "./xml.js";

/** The longest life of a lock, which its client can renew. */
const LONGEST_S = 3600;

const entryOf = (scope: string) =>
  `<D:lockentry><D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>`;

/** The value of the property `supportedlock`. */
export const SUPPORTED = entryOf("exclusive") + entryOf("shared");

/** The value of the property `lockdiscovery`. */
export function discovered(dav: Dav, locks: readonly Lock[]): string {
  return locks
    .map((lock) => {
      const seconds = Math.max(0, Math.round((lock.until - Date.now()) / 1000));
      // Only its own client can use a token, so only that one is told.
      const token =
        lock.by === dav.client ? `<D:locktoken>${hrefText(lock.token)}</D:locktoken>` : "";
      return [
        `<D:activelock><D:locktype><D:write/></D:locktype>`,
        `<D:lockscope><D:${lock.shared ? "shared" : "exclusive"}/></D:lockscope>`,
        `<D:depth>${lock.deep ? "infinity" : "0"}</D:depth>${lock.owner}`,
        `<D:timeout>Second-${seconds}</D:timeout>${token}`,
        `<D:lockroot>${hrefText(hrefOf(dav, lock.path, false))}</D:lockroot></D:activelock>`,
      ].join("");
    })
    .join("");
}

/** The first time that the header `Timeout` names, in milliseconds. */
function lifeOf({ request }: Dav): number {
  const first = request.headers.get("timeout")?.split(",")[0]?.trim() ?? "";
  const seconds = Number(/^Second-(\d{1,10})$/i.exec(first)?.[1] ?? LONGEST_S);
  return Math.min(Math.max(1, seconds), LONGEST_S) * 1000;
}

const inDav = (element: Element, name: string) =>
  element.children.find((one) => one.ns === DAV && one.name === name);

/** What the body of a `LOCK` wants. */
function wantedBy(body: Uint8Array): { shared: boolean; owner: string } {
  const root = parseXml(body);
  const scope = inDav(root, "lockscope");
  const type = inDav(root, "locktype");
  const shared = scope && inDav(scope, "shared") !== undefined;
  const exclusive = scope && inDav(scope, "exclusive") !== undefined;
  const isLock = root.ns === DAV && root.name === "lockinfo" && type && inDav(type, "write");
  if (!isLock || shared === exclusive) {
    throw new BadRequest("The body must be a DAV: lockinfo with one lockscope, and locktype write");
  }
  return { shared: shared === true, owner: inDav(root, "owner")?.source() ?? "" };
}

const answer = (dav: Dav, status: number, lock: Lock): Kept =>
  xmlAnswer(status, "prop", `<D:lockdiscovery>${discovered(dav, [lock])}</D:lockdiscovery>`);

/** `LOCK`: a new one, or without a body a longer life of one. */
export async function lock(dav: Dav): Promise<Kept> {
  if (dav.body.length === 0) return renewed(dav);
  const wanted = wantedBy(dav.body);
  const depth = depthOf(dav, "infinity");
  if (depth === "1") throw new BadRequest("The header Depth of a LOCK must be 0 or infinity");
  const { path, room } = dav;
  dav.known = await room.known();
  const entry = await find(dav, path);
  if (!entry) {
    if (dav.isDirectory) stop(409, "A directory must exist before it is locked", "conflict");
    await needParent(dav, path);
  }
  await mayChange(dav, path);
  // An empty file is made where nothing is.
  if (!entry) await needLocks(dav, [{ path, member: true }]);
  const made: Lock = {
    token: `opaquelocktoken:${crypto.randomUUID()}`,
    ...{ path, deep: depth === "infinity", shared: wanted.shared, owner: wanted.owner },
    ...{ until: Date.now() + lifeOf(dav), by: dav.client },
  };
  const others = await room.change((known) => {
    const found = conflicting(known, made);
    if (found.length === 0) known.locks.push(made);
    return found;
  });
  if (others.length > 0) throw new Ended(refusal(dav, others));
  await room.settled();
  if (!entry) await created(dav, made);
  const given = answer(dav, entry ? 200 : 201, made);
  return withHeaders(given, { "lock-token": `<${made.token}>` });
}

/** Makes the file of a lock; without it there is none. */
async function created(dav: Dav, { token }: Lock): Promise<void> {
  const { backend, options, path, room } = dav;
  const file = await backend.write(path, new Uint8Array(), { ifAbsent: true, ...options });
  const failed = file.error !== undefined && file.code !== "already_exists";
  await room.change((known) => {
    if (failed) known.locks = known.locks.filter((one) => one.token !== token);
    else {
      forget(known, path);
      if (!dav.isAside) filled(known, path);
    }
  });
  if (failed) end(file);
}

/** Which locks are in the way of a new one. */
function refusal(dav: Dav, others: readonly Lock[]): Kept {
  const href = (path: string) => hrefOf(dav, path, false);
  const above = others.find((other) => isAt(dav.path, other.path));
  if (above) return refusedBy(423, "no-conflicting-lock", hrefText(href(above.path)));
  const parts = [...new Set(others.map((other) => other.path))].map((one) =>
    responseText(href(one), 423),
  );
  return multiStatus([...parts, responseText(href(dav.path), 424)]);
}

/** A lock that its client still needs. */
async function renewed(dav: Dav): Promise<Kept> {
  const tokens = tokensOf(conditionsOf(dav));
  const until = Date.now() + lifeOf(dav);
  const found = await dav.room.change((known) => {
    const mine = known.locks.filter(
      (one) => tokens.has(one.token) && one.by === dav.client && covers(one, dav.path),
    );
    for (const one of mine) one.until = until;
    return mine[0];
  });
  if (!found) stop(412, "The header If must name a lock of this client on this path", "conflict");
  return answer(dav, 200, found);
}

/** `UNLOCK`. */
export async function unlock(dav: Dav): Promise<Kept> {
  const header = dav.request.headers.get("lock-token")?.trim() ?? "";
  const token = /^<([^<>\s]+)>$/.exec(header)?.[1];
  if (!token) throw new BadRequest("The header Lock-Token must have a token between < and >");
  const status = await dav.room.change((known) => {
    const found = known.locks.find((one) => one.token === token && covers(one, dav.path));
    if (!found) return 409;
    if (found.by !== dav.client) return 403;
    known.locks = known.locks.filter((one) => one !== found);
    return 204;
  });
  if (status === 204) return bare(204);
  throw new Ended(refusedBy(status, "lock-token-matches-request-uri"));
}

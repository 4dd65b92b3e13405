// The requests of WebDAV, as routes of the server.

import { getFile } from "../files.js";
import type { Kept } from "../memory.js";
import type { Pieces } from "../pieces.js";
import type { Asked, Route } from "../routes.js";
import type { Call, Served } from "../served.js";
import { meant } from "./aside.js";
import { type Dav, stop } from "./asked.js";
import { makeCollection, put, remove, transfer } from "./changes.js";
import { needLocks } from "./conditions.js";
import { lock, unlock } from "./locking.js";
import type { Touched } from "./locks.js";
import { propfind, proppatch } from "./properties.js";
import { forget, isAt } from "./record.js";
import { bare, Ended } from "./reply.js";
import type { WebDav } from "./server.js";

type Method = (dav: Dav) => Promise<Kept | Pieces>;

const READS: Record<string, Method> = {
  PROPFIND: propfind,
  GET: (dav) => getFile(dav, dav.path),
  HEAD: (dav) => getFile(dav, dav.path),
};
const CHANGES: Record<string, Method> = {
  PUT: put,
  DELETE: remove,
  MKCOL: makeCollection,
  COPY: transfer,
  MOVE: transfer,
  PROPPATCH: proppatch,
  LOCK: lock,
  UNLOCK: unlock,
};

/** The answer to `OPTIONS`. */
export const options = (): Kept =>
  bare(200, {
    allow: ["OPTIONS", "GET", "HEAD", "POST", "PROPFIND", ...Object.keys(CHANGES)].join(", "),
    dav: "1, 2",
    "ms-author-via": "DAV",
  });

function davOf(webdav: WebDav, call: Call, { path, body }: Omit<Asked, "request">): Dav {
  const room = webdav.roomOf(call.client);
  const plain = path.replace(/\/$/, "") || "/";
  let kept: Served | undefined;
  return {
    ...call,
    ...{ path: plain, isDirectory: path.endsWith("/"), body, room, isAside: false },
    known: { locks: [], properties: [], directories: [] },
    pathOf: (address) => webdav.pathOf(call.request, address),
    files: call.backend,
    // The same one for the whole call: it is replaced when there is too much in it.
    kept(makes) {
      kept ??= webdav.asideOf(call.client, makes);
      return kept;
    },
  };
}

const routeOf = (webdav: WebDav, name: string, method: Method, changes: boolean): Route => ({
  methods: [name],
  arrives: name === "PUT",
  // A plain directory is listed as without WebDAV.
  fits: (path) => !["GET", "HEAD"].includes(name) || !path.endsWith("/"),
  plan: (asked) => ({
    changes,
    run: async (call) => {
      try {
        return await method(await meant(davOf(webdav, call, asked)));
      } catch (error) {
        if (error instanceof Ended) return error.answer;
        throw error;
      }
    },
  }),
});

/** The routes of WebDAV, which come before those of the same methods. */
export const davRoutes = (webdav: WebDav): Route[] => [
  ...Object.entries(READS).map(([name, method]) => routeOf(webdav, name, method, false)),
  ...Object.entries(CHANGES).map(([name, method]) => routeOf(webdav, name, method, true)),
];

/** Paths in a `POST`, whose changes follow the same locks. */
function touchedBy({ op, path, from, to, files }: Record<string, unknown>): Touched[] {
  // Uploads are pairs of a path and a content.
  const pathIn = (one: unknown) => (Array.isArray(one) ? one[0] : (one as { path?: unknown }).path);
  const listed = Array.isArray(files) ? files.map(pathIn) : [];
  const all = [path, to, ...(op === "move" ? [from] : []), ...listed];
  return all
    .filter((one): one is string => typeof one === "string")
    .map((one) => ({
      path: `/${one
        .split("/")
        .filter((name) => name && name !== ".")
        .join("/")}`,
    }))
    .map((one) => ({ ...one, member: true, deep: true }));
}

/** Makes a change of a `POST`, unless a lock bars it. */
export async function changedBeside<T>(
  webdav: WebDav,
  call: Call,
  fields: Record<string, unknown>,
  work: () => Promise<T>,
): Promise<T | Kept> {
  const empty = { path: "/", body: new Uint8Array() };
  const dav = davOf(webdav, call, empty);
  const done = dav.room.begin();
  try {
    dav.known = await dav.room.known();
    const touched = touchedBy(fields);
    if (dav.known.locks.length > 0) await needLocks(dav, touched).catch(locked);
    const made = await work();
    const { op } = fields;
    const gone = op === "delete" || op === "move" ? String(fields.path ?? fields.from) : undefined;
    if (gone !== undefined && dav.known.properties.some((one) => isAt(one.path, gone))) {
      await dav.room.change((known) => forget(known, gone));
    }
    return made;
  } catch (error) {
    if (error instanceof Ended) return error.answer;
    throw error;
  } finally {
    done();
  }
}

function locked(error: unknown): never {
  if (error instanceof Ended && error.answer.status === 423) {
    stop(423, "A WebDAV client has locked the file; try again when it is done", "conflict");
  }
  throw error;
}

// What a server with WebDAV keeps: a room for each client, or one for all of them.

import { type KeepIn, StateBackend } from "kitbag";
import { kindOf } from "../../../core/checks.js";
import { onlyKnown } from "../../../core/nearest.js";
import { Refused } from "../guard.js";
import { type Incoming, type Served, servedBy } from "../served.js";
import { inProcess, Room } from "./record.js";
import { inBackend } from "./store.js";

/** Clients whose rooms are kept; without its room, a client has no locks. */
const CLIENTS = 1_000;
/** Bytes of the files that a file manager keeps for itself; they are forgotten when there are more. */
const ASIDE_BYTES = 1 << 20;

/** WebDAV of one server. */
export interface WebDav {
  roomOf(client: string): Room;
  /** Where files of file managers are; undefined if there are none and none are to be made. */
  asideOf(client: string, makes: boolean): Served | undefined;
  /** The path of an address on this server; undefined for one of another server. */
  pathOf(request: Incoming, address: string): string | undefined;
}

interface Kept {
  room: Room;
  aside: StateBackend | undefined;
}

/** The option `webdav`, checked. */
export function checkWebDav(given: unknown, hasClient: boolean): Room | boolean {
  if (given === undefined || typeof given === "boolean") return given === true;
  const wrong = (wanted: string): never => {
    throw new TypeError(`serveFiles: option "webdav" must be ${wanted}`);
  };
  if (typeof given !== "object" || given === null) {
    return wrong(`true, or { keepIn: { backend, path } }, not ${kindOf(given)}`);
  }
  onlyKnown("serveFiles: webdav", given, ["keepIn"]);
  const { keepIn } = given as { keepIn?: KeepIn };
  if (typeof keepIn !== "object" || keepIn === null) return wrong("{ keepIn: { backend, path } }");
  onlyKnown("serveFiles: webdav.keepIn", keepIn, ["backend", "path", "key"]);
  const { backend, path = "/webdav.json", key } = keepIn;
  if (typeof (backend as { read?: unknown } | undefined)?.read !== "function") {
    return wrong("{ keepIn: { backend } } with a backend");
  }
  if (typeof path !== "string" || !/^(\/[^/]+)+$/.test(path)) {
    return wrong("{ keepIn: { path } } with the path of a file, such as /webdav.json");
  }
  const bytes = typeof key === "string" ? new TextEncoder().encode(key) : key;
  if (bytes !== undefined && !(bytes instanceof Uint8Array && bytes.length >= 16)) {
    return wrong("{ keepIn: { key } } with a text or a Uint8Array of 16 bytes or more");
  }
  // Who made a lock is stored with it, and the header of a request may be a password.
  if (!hasClient) return wrong('beside "client", which names a user, where it has keepIn');
  return new Room(inBackend(servedBy(backend), path, bytes && new Uint8Array(bytes)));
}

/** WebDAV for a server; `pathOf` reads an address of this server, and refuses what is not below it. */
export function webDavOf(option: Room | boolean, pathOf: (url: URL) => string): WebDav | undefined {
  if (option === false) return undefined;
  const all = new Map<string, Kept>();
  const keptOf = (client: string): Kept => {
    const made = () => ({
      room: option === true ? new Room(inProcess()) : option,
      aside: undefined,
    });
    const kept = all.get(client) ?? made();
    all.delete(client);
    all.set(client, kept);
    const [oldest] = all;
    if (all.size > CLIENTS && oldest) {
      all.delete(oldest[0]);
      oldest[1].aside?.dispose();
    }
    return kept;
  };
  return {
    roomOf: (client) => keptOf(client).room,
    asideOf(client, makes) {
      const kept = keptOf(client);
      if (!kept.aside && !makes) return undefined;
      const used = kept.aside?.glob("**").files ?? [];
      const size = used.reduce((sum, one) => sum + (one.size ?? 0) + 200, 0);
      if (!kept.aside || size > ASIDE_BYTES) {
        kept.aside?.dispose();
        kept.aside = new StateBackend({ writeMode: "overwrite", maxBytes: 2 * ASIDE_BYTES });
      }
      return servedBy(kept.aside);
    },
    pathOf(request, address) {
      let url: URL;
      try {
        url = new URL(address, request.url);
      } catch {
        return undefined;
      }
      const own = request.headers.get("host") ?? new URL(request.url).host;
      if (url.host !== own.toLowerCase() && url.host !== new URL(request.url).host)
        return undefined;
      try {
        return pathOf(url).replace(/\/$/, "") || "/";
      } catch (error) {
        if (error instanceof Refused) return undefined;
        throw error;
      }
    },
  };
}

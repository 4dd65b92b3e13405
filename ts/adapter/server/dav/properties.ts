// `PROPFIND` and `PROPPATCH`. What a client sets is kept in the room; what a file is by itself follows from
// the backend. Its ETag and type take a reading of the file, so a listing has them only if they are asked
// for by name, and of so many bytes.

import type { Kept } from "../memory.js";
import { type Seen, seen } from "../stored.js";
import { BadRequest } from "../wire.js";
import { type Dav, depthOf, hrefOf, stop } from "./asked.js";
import { changing, needLocks } from "./conditions.js";
import { discovered, SUPPORTED } from "./locking.js";
import { covers } from "./locks.js";
import { BYTES } from "./record.js";
import { bare, Ended, hrefText, multiStatus, refusedBy, statusText } from "./reply.js";
import { type Entry, find, list, mayChange } from "./tree.js";
import { DAV, type Element, escaped, parseXml } from "./xml.js";

/** Bytes of files that are read for one listing. */
const READ_BYTES = 4 << 20;

/** A property by its namespace and name. */
interface Named {
  ns: string;
  name: string;
}

type Wanted =
  | { kind: "all"; also: Named[] }
  | { kind: "names" }
  | { kind: "these"; these: Named[] };

const CHEAP = [
  ...["resourcetype", "getcontentlength", "getlastmodified"],
  ...["supportedlock", "lockdiscovery"],
];
/** What takes a reading of the file. */
const READ = ["creationdate", "getcontenttype", "getetag"];
const LIVE = [...CHEAP, ...READ];

const keyOf = ({ ns, name }: Named) => `${ns} ${name}`;

function emptyOf({ ns, name }: Named): string {
  if (ns === DAV) return `<D:${name}/>`;
  return ns === "" ? `<${name}/>` : `<x:${name} xmlns:x="${escaped(ns)}"/>`;
}

const inDav = (element: Element, name: string) => element.ns === DAV && element.name === name;

/** What the body of a `PROPFIND` wants. */
function wantedBy(body: Uint8Array): Wanted {
  if (body.length === 0) return { kind: "all", also: [] };
  const root = parseXml(body);
  if (!inDav(root, "propfind")) throw new BadRequest("The body must be a DAV: propfind");
  const child = (name: string) => root.children.find((one) => inDav(one, name));
  const [these, all, names] = [child("prop"), child("allprop"), child("propname")];
  if ([these, all, names].filter(Boolean).length !== 1) {
    throw new BadRequest("A propfind has one of prop, allprop and propname");
  }
  if (these) return { kind: "these", these: these.children };
  return names ? { kind: "names" } : { kind: "all", also: child("include")?.children ?? [] };
}

/** `PROPFIND`. */
export async function propfind(dav: Dav): Promise<Kept> {
  const wanted = wantedBy(dav.body);
  const depth = depthOf(dav, "infinity");
  dav.known = await dav.room.known();
  const entry = await find(dav, dav.path);
  if (!entry) stop(404, "There is no such file", "not_found");
  if (depth === "infinity" && entry.directory) {
    throw new Ended(refusedBy(403, "propfind-finite-depth"));
  }
  const own = new Map<string, Array<[string, string]>>();
  for (const { path, name, xml } of dav.known.properties) {
    const properties = own.get(path);
    if (properties) properties.push([name, xml]);
    else own.set(path, [[name, xml]]);
  }
  const about = { dav, wanted, own, left: READ_BYTES };
  const responses = [await responseOf(about, entry, true)];
  let size = 0;
  for (const one of depth === "1" && entry.directory ? await list(dav, dav.path) : []) {
    const text = await responseOf(about, one, false);
    size += text.length;
    if (size > dav.limits.maxResultBytes) {
      stop(507, "The directory has too many files for one answer", "too_large");
    }
    responses.push(text);
  }
  return multiStatus(responses);
}

interface About {
  dav: Dav;
  wanted: Wanted;
  own: ReadonlyMap<string, ReadonlyArray<[string, string]>>;
  /** Bytes that may still be read. */
  left: number;
}

async function responseOf(about: About, entry: Entry, isFirst: boolean): Promise<string> {
  const { dav, wanted, own } = about;
  const set = new Map(own.get(entry.path));
  let names: Named[];
  if (wanted.kind === "these") names = wanted.these;
  else {
    const live = (isFirst || wanted.kind === "names" ? LIVE : CHEAP).map((name) => ({
      ns: DAV,
      name,
    }));
    const mine = [...set.keys()].map((key) => {
      const at = key.lastIndexOf(" ");
      return { ns: key.slice(0, at), name: key.slice(at + 1) };
    });
    names = [...live, ...mine, ...(wanted.kind === "all" ? wanted.also : [])];
  }
  const isLive = ({ ns, name }: Named) => ns === DAV && LIVE.includes(name);
  const reads =
    wanted.kind !== "names" && names.some((one) => isLive(one) && READ.includes(one.name));
  const file = reads ? await read(about, entry) : undefined;
  const found: string[] = [];
  const missing: string[] = [];
  for (const one of new Map(names.map((name) => [keyOf(name), name])).values()) {
    const value = isLive(one) ? liveOf(dav, entry, file, one.name) : set.get(keyOf(one));
    const known = value !== undefined || (wanted.kind === "names" && mayHave(entry, one));
    if (known) found.push(wanted.kind === "names" ? emptyOf(one) : (value as string));
    else missing.push(emptyOf(one));
  }
  const part = (all: string[], status: number) =>
    `<D:propstat><D:prop>${all.join("")}</D:prop>${statusText(status)}</D:propstat>`;
  const parts = found.length > 0 || missing.length === 0 ? part(found, 200) : "";
  const rest = missing.length > 0 && wanted.kind === "these" ? part(missing, 404) : "";
  const href = hrefText(hrefOf(dav, entry.path, entry.directory));
  return `<D:response>${href}${parts}${rest}</D:response>`;
}

/** Whether a file has a property whose value was not looked at. */
const mayHave = ({ directory }: Entry, { ns, name }: Named) =>
  !directory && ns === DAV && READ.includes(name);

async function read(about: About, entry: Entry): Promise<Seen | undefined> {
  if (entry.directory || (entry.size ?? 0) > about.left) return undefined;
  const file = await seen(about.dav, entry.path);
  if ("error" in file) return undefined;
  about.left -= file.size;
  return file;
}

/** The value of a property that follows from the file. */
function liveOf(dav: Dav, entry: Entry, file: Seen | undefined, name: string): string | undefined {
  const element = (value: string | undefined) =>
    value === undefined ? undefined : `<D:${name}>${value}</D:${name}>`;
  switch (name) {
    case "resourcetype":
      return element(entry.directory ? "<D:collection/>" : "");
    case "getcontentlength":
      return element(entry.directory ? undefined : entry.size?.toString());
    case "getlastmodified":
      return element(entry.modified?.toUTCString());
    case "supportedlock":
      return element(SUPPORTED);
    case "lockdiscovery":
      return element(
        discovered(
          dav,
          dav.known.locks.filter((lock) => covers(lock, entry.path)),
        ),
      );
    case "creationdate":
      return element(file?.created?.toISOString());
    case "getcontenttype":
      return element(file && escaped(file.mime));
    default:
      return element(file && escaped(file.tag));
  }
}

interface Change extends Named {
  /** The property; undefined to remove it. */
  source: (() => string) | undefined;
}

function changesIn(body: Uint8Array): Change[] {
  const root = parseXml(body);
  if (!inDav(root, "propertyupdate"))
    throw new BadRequest("The body must be a DAV: propertyupdate");
  return root.children.flatMap((one) => {
    const sets = inDav(one, "set");
    if (!sets && !inDav(one, "remove")) return [];
    const all = one.children.filter((child) => inDav(child, "prop"));
    return all.flatMap(({ children }) =>
      children.map(({ ns, name, source }) => ({ ns, name, source: sets ? source : undefined })),
    );
  });
}

/** The properties after changes, by their keys: the last change of each counts. */
function changed(changes: readonly Change[]): Map<string, string | undefined> {
  const last = new Map<string, Change>();
  for (const one of changes) {
    last.delete(keyOf(one));
    last.set(keyOf(one), one);
  }
  const found = new Map<string, string | undefined>();
  let size = 0;
  for (const [key, { source }] of last) {
    const xml = source?.();
    size += xml?.length ?? 0;
    // Each has the namespaces around it, so they may be much more than the body.
    if (size > BYTES) throw new Ended(bare(507));
    found.set(key, xml);
  }
  return found;
}

/** `PROPPATCH`: all of the changes, or none. */
export const proppatch = (dav: Dav): Promise<Kept> =>
  changing(dav, async () => {
    const { path } = dav;
    const changes = changesIn(dav.body);
    const entry = await find(dav, path);
    if (!entry) stop(404, "There is no such file", "not_found");
    await needLocks(dav, [{ path }]);
    await mayChange(dav, path);
    const isFixed = ({ ns, name }: Change) => ns === DAV && LIVE.includes(name);
    const fixed = changes.filter(isFixed);
    if (fixed.length === 0) {
      const now = changed(changes);
      await dav.room.change((known) => {
        known.properties = known.properties.filter(
          (one) => one.path !== path || !now.has(one.name),
        );
        for (const [name, xml] of now) {
          if (xml !== undefined) known.properties.push({ path, name, xml });
        }
      });
    }
    const part = (all: Change[], status: number, why = "") =>
      all.length === 0
        ? ""
        : `<D:propstat><D:prop>${all.map(emptyOf).join("")}</D:prop>${statusText(status)}${why}</D:propstat>`;
    const others = changes.filter((one) => !isFixed(one));
    const why = "<D:error><D:cannot-modify-protected-property/></D:error>";
    const href = hrefText(hrefOf(dav, path, entry.directory));
    const parts = part(fixed, 403, why) + part(others, fixed.length > 0 ? 424 : 200);
    return multiStatus([`<D:response>${href}${parts}</D:response>`]);
  });

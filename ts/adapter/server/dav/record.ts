// What WebDAV knows of files besides the files: locks, properties that clients have set, and directories
// that are empty, which most backends do not store. It is one small document, which is changed by compare
// and swap. By default it is in the process, for each client apart, since a backend of one user says nothing
// about who else has the same files; with `keepIn` it is in a backend that all of them share, where `key`
// proves that nobody else has written it.

import { failed } from "../answers.js";
import { bare, Ended } from "./reply.js";

/** A lock. */
export interface Lock {
  token: string;
  path: string;
  /** Whether it is on everything below, too. */
  deep: boolean;
  shared: boolean;
  /** The element `owner`, as it was sent. */
  owner: string;
  /** When it ends, in milliseconds since 1970. */
  until: number;
  /** The client that made it; only this one may use its token. */
  by: string;
}

/** A property that was set. `name` is the namespace, a space, and the name. */
export interface Property {
  path: string;
  name: string;
  xml: string;
}

/** The document. */
export interface Known {
  locks: Lock[];
  properties: Property[];
  /** Directories without a file, where directories follow from files. */
  directories: string[];
}

/** Where the document is: its text now, and an exchange that fails if it has changed. */
export interface Store {
  read(): Promise<string | undefined>;
  swap(before: string | undefined, after: string): Promise<boolean>;
}

/** Bytes of the document. */
export const BYTES = 1 << 20;
/** Attempts of a change beside those of other processes. */
const ATTEMPTS = 32;

/** Whether a path is below a directory. */
export const isBelow = (path: string, directory: string): boolean =>
  path !== directory && path.startsWith(directory === "/" ? "/" : `${directory}/`);

/** Whether a path is this one, or below it. */
export const isAt = (path: string, top: string): boolean => path === top || isBelow(path, top);

/** The directory of a path. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";

function parsed(text: string | undefined): Known {
  const known = text ? (JSON.parse(text) as Known) : { locks: [], properties: [], directories: [] };
  const now = Date.now();
  return { ...known, locks: known.locks.filter(({ until }) => until > now) };
}

/** The document, and the changes that are being made. */
export class Room {
  readonly #store: Store;
  readonly #changes = new Set<Promise<void>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The document as it is. */
  async known(): Promise<Known> {
    return parsed(await this.#store.read());
  }

  /** Changes the document. `make` is called again if somebody else has changed it meanwhile. */
  async change<T>(make: (known: Known) => T): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await this.#store.read();
      const known = parsed(before);
      const old = JSON.stringify(known);
      const made = make(known);
      const after = JSON.stringify(known);
      if (after === old) return made;
      if (after.length > BYTES && after.length > old.length) throw new Ended(bare(507));
      if (await this.#store.swap(before, after)) return made;
    }
    const error = "Too many others change locks and properties at once; try again";
    throw new Ended(failed({ error, code: "unavailable" }, false));
  }

  /** Notes that files are being changed; what it returns notes the end. */
  begin(): () => void {
    let end = () => {};
    const done = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#changes.add(done);
    return () => {
      this.#changes.delete(done);
      end();
    };
  }

  /** Waits for the changes that began before now: they may not have seen a new lock. */
  async settled(): Promise<void> {
    await Promise.all(this.#changes);
  }
}

/** A document in the process. */
export function inProcess(): Store {
  let text: string | undefined;
  return {
    read: async () => text,
    swap: async (before, after) => {
      if (text !== before) return false;
      text = after;
      return true;
    },
  };
}

/** Forgets what is known of a path and all below it. */
export function forget(known: Known, path: string): void {
  known.properties = known.properties.filter((one) => !isAt(one.path, path));
  known.directories = known.directories.filter((one) => !isAt(one, path));
}

/** Notes that a file or directory is at a path: those above it are not empty any more. */
export function filled(known: Known, path: string): void {
  known.directories = known.directories.filter((one) => !isBelow(path, one));
}

/** What is known of a path and all below it, as of another path. */
export function renamed(known: Known, from: string, to: string, deep: boolean) {
  const fits = (path: string) => (deep ? isAt(path, from) : path === from);
  const moved = (path: string) => to + path.slice(from.length);
  return {
    properties: known.properties
      .filter(({ path }) => fits(path))
      .map((one) => ({ ...one, path: moved(one.path) })),
    directories: known.directories.filter(fits).map(moved),
  };
}

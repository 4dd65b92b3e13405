// A folder on the host's disk, as the core asks for it (`src/storage/disk.rs`): one object of the methods of
// its parts, each of which has only what it works with.

import { warmHere } from "#warm";
import { Entries } from "./entries.js";
import { FastFinder, type IsBinary } from "./fast.js";
import { Fed } from "./fed.js";
import { Files } from "./files.js";
import { Links } from "./links.js";
import { Moves } from "./moves.js";
import { Permissions } from "./permissions.js";
import type { Place } from "./place.js";
import { Candidates } from "./ripgrep.js";
import { AnyFinder, type Finder } from "./search.js";
import type { Ripgrep } from "./shape.js";
import { Trees } from "./trees.js";
import type { Share } from "./warm/warm.js";

/** What a folder may use to search. */
export interface Searching {
  /** Calls that return at once, for a folder whose directories can be held open. */
  native?: { fs: typeof import("node:fs"); isBinary: IsBinary } | undefined;
  /** Lets ripgrep select files. */
  ripgrep?: Ripgrep | undefined;
  /** What is kept between searches. */
  share?: Share | undefined;
}

export interface Disk
  extends Pick<Files, "stat" | "get" | "getPart" | "put" | "putParts" | "delete">,
    Pick<Trees, "level" | "removeTree" | "prune">,
    Pick<Moves, "transfer" | "moveTree">,
    Pick<Permissions, "looks" | "permit" | "real">,
    Pick<Links, "links" | "link">,
    Finder {
  readonly place: Place;
  readonly maxBytes: number;
  /** Which spellings of a name are one file; the core asks when a caller or a rule does. */
  readonly foldedNames: string;
  /** The same folder, in which links are refused. */
  readonly withoutLinks: Disk;
  /** What the core hands the bytes of a file to, for `putParts`. */
  fed(isNew: boolean, version: string | undefined, mode: number | undefined): Fed;
  /** The files in which ripgrep finds a literal; undefined if it is not used. */
  candidates(path: string, literal: Uint8Array): Promise<string | undefined>;
}

/** The methods of an object that can be called without it. */
function methods<T extends object, K extends keyof T>(of: T, ...names: K[]): Pick<T, K> {
  const bound = names.map((name) => [name, (of[name] as () => unknown)?.bind(of)]);
  return Object.fromEntries(bound) as Pick<T, K>;
}

export function diskAt(place: Place, maxBytes: number, searching: Searching): Disk {
  const { native, ripgrep, share } = searching;
  const entries = new Entries(place);
  const files = new Files(entries, maxBytes);
  const permissions = new Permissions(entries);
  const fast = native && new FastFinder(place, maxBytes, native.fs, native.isBinary);
  const finder: Finder =
    warmHere && fast && share
      ? new warmHere.WarmFinder(place, fast, share, native.isBinary)
      : (fast ?? new AnyFinder(place, files));
  const candidates = ripgrep && new Candidates(place, ripgrep);
  return {
    ...methods(files, "stat", "get", "getPart", "put", "putParts", "delete"),
    ...methods(new Trees(entries, files), "level", "removeTree", "prune"),
    ...methods(new Moves(entries), "transfer", "moveTree"),
    ...methods(permissions, "looks", "permit", "real"),
    ...methods(new Links(entries), "links", "link"),
    ...methods(finder, "names", "stats", "bodies"),
    // Where ripgrep selects the files, nobody else reads them all.
    ...(candidates ? { holding: async () => undefined } : methods(finder, "holding")),
    fed: (isNew, version, mode) => new Fed(isNew, version, mode),
    candidates: async (path, literal) => candidates?.of(path, literal),
    place,
    maxBytes,
    get foldedNames() {
      return place.names;
    },
    get withoutLinks() {
      return diskAt(place.withoutLinks(), maxBytes, searching);
    },
  };
}

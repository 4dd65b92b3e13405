// What is where in a backend: files, directories, and what is known of them besides. All operations of
// an fs object look here first, since a backend has no `stat` and most have no directories.

import {
  type AnyBackend,
  adaptBackendProtocol,
  Backend,
  type BackendProtocolV2,
  StateBackend,
} from "kitbag";
import { exactly } from "../../core/paths.js";
import { runningGraph } from "../../graph/running.js";
import { type Extended, extended } from "../extended.js";
import { Directories } from "./directories.js";
import { type Answered, Problem, problemOf } from "./errors.js";
import { nameOf, parentOf, type Target } from "./paths.js";
import { ask, type Steps } from "./steps.js";

/** A file or a directory. */
export interface Entry {
  directory: boolean;
  size: number;
  /** Milliseconds since 1970; undefined if the backend does not say. */
  modified: number | undefined;
}

/** An entry of a directory. */
export interface Listed {
  name: string;
  directory: boolean;
  /** Of a file, if the backend says it. */
  size?: number | undefined;
}

/** An open file: what all handles of one path share. */
export interface OpenFile {
  path: string;
  /** Its content, as of the last read or write here. */
  bytes: Uint8Array | undefined;
  /** Whether it has no name any more; its content is then here alone. */
  unlinked: boolean;
  handles: number;
}

/** What fs objects over one backend share. */
export interface Shared {
  directories: Directories;
  /** Modes and times that programs have set. */
  modes: Map<string, number>;
  times: Map<string, { accessed: number; modified: number }>;
  open: Map<string, OpenFile>;
  /** Directories that calls with `recursive` are making: how many, and whether one reported it as made. */
  making: Map<string, { calls: number; reported: boolean }>;
  /** Are told the paths of changes that are made here. */
  listeners: Set<(path: string) => void>;
  /** The time of directories, which have none. */
  made: number;
}

const known = new WeakMap<object, Map<string, Shared>>();

/** Of so many callers of one backend something is remembered; it is no more than empty directories. */
const CALLERS = 1000;

/** What is shared by those who have the same files of a backend. */
function sharedBy(backend: object, caller: string): Shared {
  const callers = known.get(backend) ?? new Map<string, Shared>();
  known.set(backend, callers);
  const found = callers.get(caller);
  if (found) return found;
  const shared: Shared = {
    directories: new Directories(),
    modes: new Map(),
    times: new Map(),
    open: new Map(),
    making: new Map(),
    listeners: new Set(),
    made: Date.now(),
  };
  for (const oldest of callers.keys()) {
    if (callers.size < CALLERS) break;
    callers.delete(oldest);
  }
  callers.set(caller, shared);
  return shared;
}

const DIRECTORY: Entry = { directory: true, size: 4096, modified: undefined };

/** A backend as a tree of files and directories. */
export class Tree {
  readonly files: BackendProtocolV2 & Partial<Extended>;
  /** Whether the backend is kitbag's own: bytes as contents, and conditions. */
  readonly own: boolean;
  /** Whether directories exist by themselves. */
  readonly real: boolean;
  /** Whether the backend returns results and no promises. */
  readonly atOnce: boolean;
  readonly #perCaller: boolean;
  readonly backend: object;
  readonly #shared: Shared;

  constructor(
    backend: AnyBackend,
    readonly cwd: string,
    called = "createFs",
  ) {
    this.backend = backend;
    this.atOnce = backend instanceof StateBackend;
    this.own = this.atOnce || backend instanceof Backend;
    this.files = extended(
      this.own ? (backend as BackendProtocolV2) : adaptBackendProtocol(backend),
    ) as BackendProtocolV2 & Partial<Extended>;
    if (!this.files.uploadFiles || !this.files.downloadFiles || !this.files.delete) {
      throw new TypeError(`${called}: the backend must have uploadFiles, downloadFiles and delete`);
    }
    type Said = { directories?: string; perCaller?: boolean };
    const { capability } = this.files as { capability?: Said };
    this.real = this.own && capability?.directories === "real";
    this.#perCaller = capability?.perCaller === true;
    this.#shared = sharedBy(backend, "");
  }

  /** Whether each caller has files of its own now: then no content is kept. */
  get perCaller(): boolean {
    // Outside of graphs a StateBackend has files of its own.
    return this.#perCaller && (!this.atOnce || runningGraph() !== undefined);
  }

  /** What fs objects over the same files share. */
  get shared(): Shared {
    const graph = this.#perCaller ? runningGraph() : undefined;
    return graph ? sharedBy(this.backend, graph.line) : this.#shared;
  }

  /** Whether anything is listed in a directory. */
  *holds(path: string): Steps<boolean> {
    const answer = yield* ask(() => this.files.ls(path));
    if (answer.error !== undefined) throw problemOf(answer, path);
    return (answer.files ?? []).length > 0;
  }

  *#file(path: string): Steps<Entry | undefined> {
    const dir = parentOf(path);
    // kitbag's own backends find one name without reading the directory.
    const answer = this.own
      ? yield* ask(() => this.files.glob(exactly(nameOf(path)), dir))
      : yield* ask(() => this.files.ls(dir));
    if (answer.error !== undefined) throw problemOf(answer, path);
    const found = answer.files?.find((one) => one.path === path && one.is_dir !== true);
    if (!found) return undefined;
    const modified = Date.parse(found.modified_at ?? "");
    return {
      directory: false,
      size: found.size ?? (yield* this.read(path)).length,
      modified: Number.isNaN(modified) ? undefined : modified,
    };
  }

  *#isDirectory(path: string): Steps<boolean> {
    return (yield* this.#isSeen(path)) || (yield* this.isEmpty(path));
  }

  /** Whether a directory was made here, or something is in it. */
  *#isSeen(path: string): Steps<boolean> {
    return path === "/" || this.shared.directories.has(path) || (yield* this.holds(path));
  }

  /** Whether an empty directory exists in the backend, as in a folder, or where a backend is mounted. */
  *isEmpty(path: string): Steps<boolean> {
    const [answer] = (yield* ask(() => this.files.downloadFiles?.([path]))) ?? [];
    const { code, error } = (answer ?? {}) as Answered;
    return (code ?? error) === "is_directory";
  }

  /** What is at a path; undefined if there is nothing. */
  *find(path: string): Steps<Entry | undefined> {
    if (path === "/") return DIRECTORY;
    return (yield* this.#file(path)) ?? ((yield* this.#isDirectory(path)) ? DIRECTORY : undefined);
  }

  /** Why there is nothing at a path: one of the directories above it is missing, or is a file. */
  *missing(path: string): Steps<Problem> {
    for (let dir = parentOf(path); dir !== "/"; dir = parentOf(dir)) {
      const entry = yield* this.find(dir);
      if (entry) return new Problem(entry.directory ? "ENOENT" : "ENOTDIR");
    }
    return new Problem("ENOENT");
  }

  /** What is at a path; it is a problem if there is nothing. */
  *get({ path, given, directory }: Target): Steps<Entry> {
    if (given === "") throw new Problem("ENOENT");
    const entry = yield* this.find(path);
    if (!entry) throw yield* this.missing(path);
    if (directory && !entry.directory) throw new Problem("ENOTDIR");
    return entry;
  }

  /** Checks that something can be created at a path: its directory exists. */
  *room(path: string): Steps<void> {
    const dir = parentOf(path);
    if (yield* this.#isSeen(dir)) return;
    if (yield* this.#file(dir)) throw new Problem("ENOTDIR");
    if (yield* this.isEmpty(dir)) return;
    throw yield* this.missing(path);
  }

  /** The content of a file. */
  *read(path: string, signal?: AbortSignal): Steps<Uint8Array> {
    const files = this.files as { downloadFiles(paths: string[], how?: object): unknown };
    const answers = yield* ask(() => files.downloadFiles([path], ...signalled(signal)));
    const [one] = (answers ?? []) as Array<Answered & { content: Uint8Array | null }>;
    if (one?.content) return one.content;
    throw problemOf(one, path);
  }

  /** The content of a file; nothing if somebody deleted it. */
  *readOrNothing(path: string): Steps<Uint8Array> {
    try {
      return yield* this.read(path);
    } catch (error) {
      if (error instanceof Problem && error.code === "ENOENT") return new Uint8Array();
      throw error;
    }
  }

  /** What is in a directory, sorted by name. */
  *list(path: string): Steps<Listed[]> {
    const answer = yield* ask(() => this.files.ls(path));
    if (answer.error !== undefined) throw problemOf(answer, path);
    const names = new Map<string, Omit<Listed, "name">>();
    for (const name of this.shared.directories.inside(path)) names.set(name, { directory: true });
    for (const file of answer.files ?? []) {
      const isDir = file.is_dir === true || file.path.endsWith("/");
      const name = nameOf(file.path.replace(/\/$/, ""));
      // A file hides a directory of its name.
      if (name === "" || (isDir && names.get(name)?.directory === false)) continue;
      names.set(name, isDir ? { directory: true } : { directory: false, size: file.size });
    }
    const found = [...names].map(([name, entry]) => ({ name, ...entry }));
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Notes that a file is at a path now. */
  wrote(path: string): void {
    this.shared.directories.filled(parentOf(path));
    this.shared.times.delete(path);
    const open = this.shared.open.get(path);
    if (open) open.bytes = undefined;
    this.changed(path);
  }

  /** Notes that nothing is at a path any more. The directory that it was in remains. */
  left(path: string): void {
    const { directories, modes, times } = this.shared;
    directories.remove(path);
    if (!this.real) directories.add(parentOf(path));
    for (const kept of [modes, times]) {
      for (const one of kept.keys()) if (isAt(one, path)) kept.delete(one);
    }
    this.changed(path);
  }

  changed(path: string): void {
    for (const hear of this.shared.listeners) hear(path);
  }
}

/** Whether a path is a directory, or below it. */
export const isAt = (path: string, dir: string): boolean =>
  path === dir || path.startsWith(dir === "/" ? dir : `${dir}/`);

/** The options of a call that a signal can end. */
export const signalled = (signal: AbortSignal | undefined): [] | [{ signal: AbortSignal }] =>
  signal ? [{ signal }] : [];

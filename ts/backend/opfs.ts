// OpfsBackend: files in the browser's origin private file system (OPFS), or in a directory that
// the user picked. They are real files, which other code can read.

import chunk from "#chunk/opfs";
import { Options } from "../core/checks.js";
import { OpfsGiven } from "../core/descriptions.js";
import { create, take } from "../core/given.js";
import { sealClass } from "../core/handle.js";
import { glue } from "../core/instance.js";
import type { Watch } from "../core/listeners.js";
import { namesIn } from "../core/paths.js";
import type { Capability } from "../types.js";
import { Backend } from "./backend.js";
import { Changes } from "./browser/changes.js";
import {
  type PersistResult,
  persistStorage,
  type StorageHealth,
  storageHealth,
} from "./browser/health.js";

/** The part of a `FileSystemDirectoryHandle` that names it; every such handle is one. */
export interface DirectoryHandle {
  /** The kind of handle. */
  readonly kind: "directory";
  /** Name of the directory. */
  readonly name: string;
  /** Opens a directory in it. */
  getDirectoryHandle(
    name: string,
    options?: {
      /** Create it if it does not exist. */
      create?: boolean;
    },
  ): Promise<unknown>;
}

/** Options of OpfsBackend. */
export interface OpfsBackendOptions {
  /** A directory of the origin private file system, such as `"agents/one"`. Default: its root. */
  root?: string;
  /** A directory below that, which keeps these files apart from other namespaces. Default: none. */
  namespace?: string;
  /** A directory to use instead, such as one from `showDirectoryPicker()`. Not with `root`. */
  directory?: DirectoryHandle;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /**
   * Protects against a bug of Chromium: if the whole browser is killed while it writes, it can lose
   * files of this origin at a later start. Costs about 15 ms in each page. Default false.
   */
  crashProtection?: boolean;
}

/**
 * Files in the browser's origin private file system (OPFS), or in a directory that the user picked.
 *
 * @example
 * const backend = new OpfsBackend({ root: "agent" });
 */
export class OpfsBackend extends Backend {
  readonly #changes: Changes;

  /** Throws a `TypeError` that names the wrong option. No directory is opened yet. */
  constructor(options?: OpfsBackendOptions) {
    const given = new Options("OpfsBackend", options);
    const root = steps(given, "root");
    const namespace = steps(given, "namespace");
    const directory = given.checked(
      "directory",
      "a FileSystemDirectoryHandle",
      (value): value is FileSystemDirectoryHandle =>
        typeof value === "object" &&
        value !== null &&
        (value as FileSystemDirectoryHandle).kind === "directory" &&
        typeof (value as FileSystemDirectoryHandle).getDirectoryHandle === "function",
    );
    if (directory && root.length > 0) {
      given.excess("root", "where there is a directory");
    }
    const values = take(given, OpfsGiven);
    given.done();
    const place = directory ? ["directory", directory.name] : ["root", ...root];
    const changes = new Changes(`kitbag:opfs:${JSON.stringify([...place, ...namespace])}`);
    chunk.load();
    const all = { ...values, directory, steps: [...root, ...namespace], tell: changes.tell };
    super(create("OpfsBackend", OpfsGiven, all, glue.opfs_new));
    this.#changes = changes;
  }

  /** Reports how much storage this origin uses and may use, and whether it is persisted. */
  health(): Promise<StorageHealth> {
    return storageHealth();
  }

  /** Asks the browser not to evict this origin's storage. The browser may ask the user. */
  persist(): Promise<PersistResult> {
    return persistStorage();
  }

  /** What this backend guarantees; see `Backend.capability`. */
  override get capability(): Capability {
    return { ...super.capability, watch: typeof BroadcastChannel === "function" };
  }

  /**
   * Calls back when another tab, or another backend of this tab, changes files: `watch(callback)`, or
   * `watch(path, callback)`. Call the returned function to stop.
   */
  override get watch(): Watch {
    return this.#changes.watch;
  }

  /** Frees what this object holds, and ends its watchers; see `Backend.dispose`. */
  override dispose(): void {
    this.#changes.close();
    super.dispose();
  }
}

sealClass(OpfsBackend);

/** Splits a path option into directory names. */
function steps(given: Options, name: string): string[] {
  const text = given.text(name) ?? "";
  const names = namesIn(text);
  if (names.includes("..") || text.includes("\\")) {
    given.refuse(name, "directories separated by '/', without '..' and '\\'", text);
  }
  return names;
}

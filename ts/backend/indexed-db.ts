// IndexedDbBackend: files in the browser's database. They survive closing the tab, and changes
// made by several tabs do not overwrite each other.

import chunk from "#chunk/idb";
import { Options } from "../core/checks.js";
import { IndexedDbGiven } from "../core/descriptions.js";
import { create, take } from "../core/given.js";
import { sealClass } from "../core/handle.js";
import { glue } from "../core/instance.js";
import type { Watch } from "../core/listeners.js";
import type { Capability } from "../types.js";
import { Backend } from "./backend.js";
import { Changes } from "./browser/changes.js";
import {
  type PersistResult,
  persistStorage,
  type StorageHealth,
  storageHealth,
} from "./browser/health.js";

/** Options of IndexedDbBackend. */
export interface IndexedDbBackendOptions {
  /** Name of the database. It is created at first use. */
  database: string;
  /** Keeps files apart from those of other namespaces in the same database. Default: empty. */
  namespace?: string;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /**
   * `"strict"` (the default): a change is acknowledged once it is on the disk. `"relaxed"`: once
   * the operating system has it. This is faster, but a power failure can lose changes.
   */
  durability?: "strict" | "relaxed";
  /**
   * How long opening the database may take before calls fail, in milliseconds. Another tab can
   * block it. Default 5,000.
   */
  openTimeoutMs?: number;
  /**
   * Protects against a bug of Chromium: if the whole browser is killed while it writes, it can lose
   * files of this origin at a later start. Costs five megabytes of writing at each start of the
   * browser. Default false.
   */
  crashProtection?: boolean;
}

/**
 * Files in IndexedDB, in pages and workers of a browser. They survive closing the tab, and tabs
 * share them.
 *
 * @example
 * const backend = new IndexedDbBackend({ database: "agent" });
 */
export class IndexedDbBackend extends Backend {
  readonly #changes: Changes;

  /** Throws a `TypeError` that names the wrong option. The database is opened at the first call. */
  constructor(options: IndexedDbBackendOptions) {
    const given = new Options("IndexedDbBackend", options);
    const values = take(given, IndexedDbGiven);
    const { database, namespace } = values;
    if (/[\0-\x1f]/.test(namespace)) {
      given.refuse("namespace", "a string without control characters", namespace);
    }
    given.done();
    const changes = new Changes(`kitbag:indexeddb:${JSON.stringify([database, namespace])}`);
    chunk.load();
    const all = { ...values, tell: changes.tell };
    super(create("IndexedDbBackend", IndexedDbGiven, all, glue.indexed_db_new));
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

sealClass(IndexedDbBackend);

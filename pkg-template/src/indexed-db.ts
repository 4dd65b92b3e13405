// IndexedDbBackend: files in the browser's database. They stay when the tab closes, and tabs
// never lose each other's work.

import chunk from "#chunk/idb";
import { Backend } from "./backend.js";
import { Changes, type FileChanges } from "./browser/changes.js";
import {
  type PersistResult,
  persistStorage,
  type StorageHealth,
  storageHealth,
} from "./browser/health.js";
import { Options } from "./core/checks.js";
import { sealClass } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";

/** Where an IndexedDbBackend keeps its files, and how. */
export interface IndexedDbBackendOptions {
  /** The database's name. It is made when it is first needed. */
  database: string;
  /** Files of one namespace do not see those of another in the same database. Empty by default. */
  namespace?: string;
  /** What `write` does where the file exists: refuse (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /**
   * `"strict"` (the default): a change is acknowledged when the disk has it. `"relaxed"`: when
   * the operating system has it; quicker, and as safe unless the power goes.
   */
  durability?: "strict" | "relaxed";
  /** How long an open may take, blocked by another tab say, before calls fail. 5,000 by default. */
  openTimeoutMs?: number;
}

const PATIENCE = 5_000;

/** Files in IndexedDB. */
export class IndexedDbBackend extends Backend {
  readonly #changes: Changes;

  constructor(options: IndexedDbBackendOptions) {
    const given = new Options("IndexedDbBackend", options);
    const database = given.requiredText("database");
    const namespace = given.text("namespace") ?? "";
    if (/[\0-\x1f]/.test(namespace)) {
      given.refuse("namespace", "a string without control characters", namespace);
    }
    const writeMode = given.oneOf("writeMode", ["create", "overwrite"], "create");
    const durability = given.oneOf("durability", ["strict", "relaxed"], "strict");
    const patience = given.amount("openTimeoutMs") ?? PATIENCE;
    given.done();
    const changes = new Changes(`kitbag:indexeddb:${JSON.stringify([database, namespace])}`);
    chunk.load();
    super(
      enter(() =>
        glue.indexed_db_new(
          database,
          namespace,
          writeMode === "overwrite",
          durability === "strict",
          patience,
          changes.tell,
        ),
      ),
    );
    this.#changes = changes;
  }

  /** How much room this origin's storage takes and may take, and whether it is persisted. */
  health(): Promise<StorageHealth> {
    return storageHealth();
  }

  /** Asks the browser never to clear this origin's storage by itself. It may ask the user. */
  persist(): Promise<PersistResult> {
    return persistStorage();
  }

  /** Tells of changes made by other tabs and other backends; call the answer to stop. */
  watch(callback: (changes: FileChanges) => void): () => void {
    return this.#changes.watch(callback);
  }
}

sealClass(IndexedDbBackend);

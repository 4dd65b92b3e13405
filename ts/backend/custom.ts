// CustomBackend: all operations over a storage that the user writes; see `StorageLike`.

import chunk from "#chunk/custom";
import { kindOf, messageOf, Options } from "../core/checks.js";
import { sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import type {
  Condition,
  FileToStore,
  StoredEntry,
  StoredFile,
  StoredMeta,
} from "../core/stored.js";
import type { Capability, MaybePromise } from "../types.js";
import { Backend } from "./backend.js";

export type {
  Condition,
  FileToStore,
  StoredEntry,
  StoredFile,
  StoredMeta,
} from "../core/stored.js";

/** A storage that you write. Paths are canonical: `/notes/a.txt`. Methods may throw. */
export interface StorageLike {
  /** Returns the file at `path`, or null if there is none. */
  get(path: string): MaybePromise<StoredFile | null | undefined>;
  /**
   * Returns every file whose path starts with `prefix` (which ends with `/`), in any order; paths
   * without metadata are enough. To return several pages, answer `{ entries, cursor }`: the next
   * call receives the cursor, and a page without one is the last.
   */
  list(
    prefix: string,
    cursor?: unknown,
  ): MaybePromise<
    | Array<StoredEntry | string>
    | {
        /** The files of this page, or their paths. */
        entries: Array<StoredEntry | string>;
        /** Passed to the call for the next page; absent on the last one. */
        cursor?: unknown;
      }
  >;
  /**
   * Stores a complete file. Return `{ version }` if your storage has versions, and `false` if the
   * condition did not hold and nothing was changed.
   */
  put?(
    path: string,
    file: FileToStore,
    condition: Condition,
  ): MaybePromise<
    | {
        /** The version of the file that is stored now. */
        version?: string | number;
      }
    | false
    | undefined
    | null
    | void
  >;
  /** Deletes a file. Return `false` if there was none. */
  delete?(path: string, condition: Condition): MaybePromise<boolean | undefined | void>;
  /** Returns the metadata of a file without its content. Default: calls `get`. */
  stat?(path: string): MaybePromise<StoredMeta | null | undefined>;
  /**
   * What the storage guarantees. Declare `create: "storage"` and `update: "storage"` only if `put`
   * checks its condition and writes in one atomic step. Otherwise calls of one CustomBackend wait
   * for each other, and other writers are not noticed.
   */
  capability?: Partial<Capability>;
}

/** Options of CustomBackend. */
export interface CustomBackendOptions {
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /** Form of new text files: one string (`"v2"`, the default) or an array of lines (`"v1"`). */
  fileFormat?: "v1" | "v2";
  /** The largest file that may be written, in bytes. Default: no limit. */
  maxFileBytes?: number;
}

/**
 * All operations over your own storage. Without `put` or `delete` it is read-only.
 *
 * @example
 * const kept = new Map();
 * const backend = new CustomBackend({
 *   get: (path) => kept.get(path),
 *   list: (prefix) => [...kept.keys()].filter((path) => path.startsWith(prefix)),
 *   put: (path, file) => void kept.set(path, file),
 *   delete: (path) => kept.delete(path),
 * });
 */
export class CustomBackend extends Backend {
  /** Throws a `TypeError` that names the method or option that is missing or wrong. */
  constructor(storage: StorageLike, options?: CustomBackendOptions) {
    if (typeof storage !== "object" || storage === null) {
      throw new TypeError(
        `CustomBackend: the storage must be an object with get() and list(), not ${kindOf(storage)}`,
      );
    }
    const has = (name: string, needed: boolean): boolean => {
      let value: unknown;
      try {
        value = Reflect.get(storage, name);
      } catch (error) {
        throw new TypeError(
          `CustomBackend: storage.${name} could not be read: ${messageOf(error)}`,
        );
      }
      if (typeof value === "function") return true;
      if (needed || (value !== undefined && value !== null)) {
        throw new TypeError(
          `CustomBackend: storage.${name} must be a method, not ${kindOf(value)}`,
        );
      }
      return false;
    };
    has("get", true);
    has("list", true);
    has("stat", false);
    const puts = has("put", false);
    const deletes = has("delete", false);
    const { capability } = storage;
    if (capability !== undefined && (typeof capability !== "object" || capability === null)) {
      throw new TypeError(
        `CustomBackend: storage.capability must be an object, not ${kindOf(capability)}`,
      );
    }
    if (capability) checkCapability(capability);
    const given = new Options("CustomBackend", options);
    const overwrite = given.oneOf("writeMode", ["create", "overwrite"], "create") === "overwrite";
    const v1 = given.oneOf("fileFormat", ["v1", "v2"], "v2") === "v1";
    const limit = given.amount("maxFileBytes") ?? -1;
    given.done();
    chunk.load();
    super(
      enter(() =>
        glue.custom_new(storage, capability ?? {}, puts && deletes, overwrite, v1, limit),
      ),
    );
  }
}

sealClass(CustomBackend);

/** Checks what a storage says of itself; a wrong guarantee would be none. */
function checkCapability(capability: object): void {
  const given = new Options("CustomBackend: storage.capability", capability);
  const reach = ["storage", "instance", "never"] as const;
  given.oneOf("create", reach, "instance");
  given.oneOf("update", reach, "instance");
  given.oneOf("directories", ["implied", "real"], "implied");
  given.oneOf("names", ["exact", "case", "composition", "case and composition"], "exact");
  for (const name of ["Created", "Mime", "Format", "Binary"]) given.boolean(`keeps${name}`, true);
  given.boolean("writable", true);
  // Parts of a capability that was copied from a backend; none of them can be declared.
  const copied = ["overwrites", "perCaller", "listsVersions", "indexed", "watch"];
  for (const name of copied) given.boolean(name, false);
  given.amount("maxFileBytes");
  given.checked(
    "notes",
    "an array of strings",
    (notes): notes is string[] =>
      Array.isArray(notes) && notes.every((note) => typeof note === "string"),
  );
  given.done();
}

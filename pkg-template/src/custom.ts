// CustomBackend: a storage of your own, in thirty lines, gives every operation.

import chunk from "#chunk/custom";
import { Backend } from "./backend.js";
import { kindOf, messageOf, Options } from "./core/checks.js";
import { sealClass } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";
import type { Capability, MaybePromise } from "./types.js";

/** What is known of a stored file. Only what your storage keeps need be there. */
export interface StoredMeta {
  /** Bytes of the content. */
  size?: number;
  /** When it was first written: ISO 8601 text, milliseconds, or a Date. */
  created?: string | number | Date;
  /** When it was last written. */
  modified?: string | number | Date;
  /** Its type; found from name and content where there is none. */
  mimeType?: string;
  /** The form in which `readRaw` shows it. */
  format?: "v1" | "v2";
  /** Which state of the file this is: another one after each change. */
  version?: string | number;
}

/** A stored file. Text is taken as UTF-8. */
export interface StoredFile extends StoredMeta {
  content: Uint8Array | string;
}

/** A file as `put` gets it. */
export interface FileToStore {
  content: Uint8Array;
  size: number;
  /** ISO 8601. */
  created: string;
  /** ISO 8601. */
  modified: string;
  mimeType: string;
  format: "v1" | "v2";
}

/** One file of a listing. */
export interface StoredEntry extends StoredMeta {
  path: string;
}

/** When a put or delete may happen. */
export type Condition =
  /** Only where nothing is. */
  | { mode: "create" }
  /** Whatever is there. */
  | { mode: "overwrite" }
  /** Only over (or: only) this state of the file. */
  | { mode: "update"; version: string | number };

/** A place that keeps files. Paths are canonical: `/notes/a.txt`. */
export interface StorageLike {
  /** The file at `path`, or null where there is none. */
  get(path: string): MaybePromise<StoredFile | null | undefined>;
  /**
   * Every file whose path starts with `prefix` (which ends with `/`), in any order; names alone
   * will do. For more than one page answer `{ entries, cursor }`, and get the cursor back.
   */
  list(
    prefix: string,
    cursor?: unknown,
  ): MaybePromise<
    Array<StoredEntry | string> | { entries: Array<StoredEntry | string>; cursor?: unknown }
  >;
  /**
   * Stores a file whole. Answer `{ version }` where you have one, and `false` where the
   * condition did not hold and nothing was changed.
   */
  put?(
    path: string,
    file: FileToStore,
    condition: Condition,
  ): MaybePromise<{ version?: string | number } | false | undefined | null | void>;
  /** Removes a file. `false` where there was none. */
  delete?(path: string, condition: Condition): MaybePromise<boolean | undefined | void>;
  /** What is known of a file without its content; by `get` where this is missing. */
  stat?(path: string): MaybePromise<StoredMeta | null | undefined>;
  /**
   * What it promises. `create: "storage"` and `update: "storage"` say that `put` checks its
   * condition and changes in one step; without them calls of one CustomBackend take turns, and
   * a writer elsewhere is not seen.
   */
  capability?: Partial<Capability>;
}

/** How a CustomBackend is made. */
export interface CustomBackendOptions {
  /** What `write` does where the file exists: refuse (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /** The form that new text files take in `readRaw`. */
  fileFormat?: "v1" | "v2";
  /** The largest file that may be written. */
  maxFileBytes?: number;
}

/** Every operation over a storage of your own. Without `put` or `delete` it is read-only. */
export class CustomBackend extends Backend {
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

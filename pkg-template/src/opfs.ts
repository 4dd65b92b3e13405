// OpfsBackend: files in the browser's origin-private file system, or in a directory that the
// user picked. Real directories, seen by everything else that looks there.

import chunk from "#chunk/opfs";
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

/** Where an OpfsBackend keeps its files. */
export interface OpfsBackendOptions {
  /** A directory of the origin-private file system, `"agents/one"` say. Its top by default. */
  root?: string;
  /** A directory beneath that; backends of other namespaces do not see these files. */
  namespace?: string;
  /** A directory to work in instead, from `showDirectoryPicker()` say. Not together with `root`. */
  directory?: FileSystemDirectoryHandle;
  /** What `write` does where the file exists: refuse (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /**
   * Nothing writes there but backends that are given this as well, in this tab or another. Then
   * sizes and times are noted in IndexedDB and small files are copied there, so that `glob` asks for
   * no file and `grep` only for larger ones. Not with `directory`.
   */
  exclusive?: boolean;
}

/** Files in OPFS, or in a directory that the user picked. */
export class OpfsBackend extends Backend {
  readonly #changes: Changes;

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
      given.refuse("root", "left out where there is a directory", given.raw("root"));
    }
    const writeMode = given.oneOf("writeMode", ["create", "overwrite"], "create");
    const exclusive = given.checked(
      "exclusive",
      "true or false",
      (value): value is boolean => typeof value === "boolean",
    );
    if (directory && exclusive) {
      given.refuse("exclusive", "left out where there is a directory", exclusive);
    }
    given.done();
    const place = directory ? ["directory", directory.name] : ["root", ...root];
    const changes = new Changes(`kitbag:opfs:${JSON.stringify([...place, ...namespace])}`);
    chunk.load();
    super(
      enter(() =>
        glue.opfs_new(
          directory,
          [...root, ...namespace],
          writeMode === "overwrite",
          exclusive ?? false,
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

sealClass(OpfsBackend);

/** The directories of an option, one by one. */
function steps(given: Options, name: string): string[] {
  const text = given.text(name) ?? "";
  const names = text.split("/").filter((step) => step !== "" && step !== ".");
  if (names.includes("..") || text.includes("\\")) {
    given.refuse(name, "directories separated by '/', without '..' and '\\'", text);
  }
  return names;
}

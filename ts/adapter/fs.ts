// `kitbag/fs`: a backend as an object with the functions of `node:fs`, for programs that expect one: git,
// compilers, bundlers. An operation is one generator, which is run in three ways (`fs/steps.ts`).

import type { AnyBackend } from "kitbag";
import { onlyKnown } from "../core/nearest.js";
import { namesIn } from "../core/paths.js";
import { fsOf } from "./fs/operations.js";
import type { StreamClasses } from "./fs/streams.js";
import { Tree } from "./fs/tree.js";
import type { Fs, FsOptions } from "./fs/types.js";
import { providerOf } from "./fs/vfs.js";

export type { Fs, FsEmitter, FsFileHandle, FsOptions } from "./fs/types.js";

/**
 * Returns an object with the functions of `node:fs` over a backend: `promises`, callbacks, and over a
 * `StateBackend` also those that end with `Sync`. Errors have Node's codes and messages.
 *
 * @param backend Any backend with `uploadFiles`, `downloadFiles` and `delete`.
 * @example
 * const fs = createFs(new StateBackend());
 * await fs.promises.mkdir("/notes");
 * await fs.promises.writeFile("/notes/a.txt", "one\n");
 */
export function createFs(backend: AnyBackend, options?: FsOptions): Fs {
  onlyKnown("createFs", options, ["cwd", "stream"]);
  if (typeof backend !== "object" || backend === null) {
    throw new TypeError("createFs: the first argument must be a backend");
  }
  const { cwd, stream } = options ?? {};
  if (cwd !== undefined && (typeof cwd !== "string" || namesIn(cwd).includes(".."))) {
    throw new TypeError('createFs: option "cwd" must be a directory, such as /project');
  }
  const { Readable, Writable } = (stream ?? {}) as Partial<StreamClasses>;
  const isClass = (one: unknown) => typeof one === "function";
  if (stream !== undefined && !(isClass(Readable) && isClass(Writable))) {
    throw new TypeError('createFs: option "stream" must be an object with Readable and Writable');
  }
  return fsOf(new Tree(backend, cwd ?? "/"), stream as StreamClasses | undefined);
}

/**
 * Returns a provider for Node's experimental `node:vfs`. Over a `StateBackend`, `node:fs`, `require` and `import`
 * read a mounted tree; over other backends what returns promises does.
 *
 * @param backend Any backend with `uploadFiles`, `downloadFiles` and `delete`.
 * @param vfs The module `node:vfs`.
 * @example
 * const place = vfs.create(vfsProvider(new StateBackend({ files }), vfs)).mount();
 * const { run } = await import(pathToFileURL(`${place}/main.mjs`));
 */
export function vfsProvider<P extends object>(
  backend: AnyBackend,
  vfs: {
    /** The class of providers. */
    VirtualProvider: new () => P;
  },
): P {
  if (typeof backend !== "object" || backend === null) {
    throw new TypeError("vfsProvider: the first argument must be a backend");
  }
  if (typeof vfs?.VirtualProvider !== "function") {
    throw new TypeError('vfsProvider: the second argument must be the module "node:vfs"');
  }
  return providerOf(new Tree(backend, "/", "vfsProvider"), vfs.VirtualProvider);
}

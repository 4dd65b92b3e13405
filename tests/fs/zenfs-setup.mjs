// The file system that the own tests of @zenfs/core run over here: `kitbag/fs`.

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";

const load = (path) => import(pathToFileURL(path).href);
const { createFs } = await load(at("pkg/dist/fs.js"));
const { FilesystemBackend, StateBackend } = await load(at("pkg/dist/node.js"));
const { copyAsync, data } = await load(join(process.env.KITBAG_ZENFS, "setup.ts"));

const atOnce = process.env.KITBAG_KIND === "memory";
const folder = () => mkdtempSync(join(process.env.KITBAG_ZENFS, "folder-"));
export const fs = createFs(
  atOnce ? new StateBackend() : new FilesystemBackend({ rootDir: folder() }),
);

/** What this library does not have; the tests for it are left out. */
export const flags = {
  ...{ links: false, symlinks: false, lchmod: false, xattr: false, "promises.exists": false },
  ...(atOnce ? {} : { sync: false }),
};

// As its set-up for `node:fs` does, whose watchers cannot be used with `using` either.
const { watch } = fs;
fs.watch = (...args) => {
  const watcher = watch(...args);
  return Object.assign(watcher, { [Symbol.dispose]: () => watcher.close() });
};
// The tests of directories make a link that they do not use.
if (atOnce) fs.symlinkSync = fs.copyFileSync;

await copyAsync(data, fs);

// What the tests of seats share: backends, folders, random programs.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { begin, FilesystemBackend, StateBackend, withPolicy } from "kitbag";

/** A folder that is removed when the test is done. */
export function folder(t) {
  const root = mkdtempSync(join(tmpdir(), "kitbag-seats-"));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  return root;
}

/** An object of another library: the protocol and nothing else. */
export function stranger(inner = new StateBackend({ files: {}, writeMode: "overwrite" })) {
  const names = ["ls", "read", "readRaw", "write", "edit", "grep", "glob", "delete"];
  const object = {};
  for (const name of [...names, "uploadFiles", "downloadFiles"]) {
    object[name] = async (...args) => inner[name](...args);
  }
  return object;
}

/** Backends by name; each call makes an empty one. */
export const BACKENDS = {
  memory: () => new StateBackend({ files: {} }),
  folder: (t) => new FilesystemBackend({ rootDir: folder(t) }),
  rules: () => withPolicy(new StateBackend({ files: {} }), { quota: { maxFiles: 10_000 } }),
  turn: () => begin(new StateBackend({ files: {} }), { by: "agent" }),
  stranger: () => stranger(),
};

/** What a promise rejects with. */
export const failure = (promise) =>
  Promise.resolve(promise).then(
    () => undefined,
    (error) => error,
  );

/** Numbers from 0 to n − 1, the same for a seed. */
export function dice(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  };
}

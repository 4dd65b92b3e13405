// A request of a storage that failed is no answer: each call, over each kind of lent storage, while any one
// of its requests fails, once or from then on. Nothing is said to be missing, empty or new because of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MapBucket, MapHub, MapStorage, MapStore } from "../chunks/doubles.mjs";
import {
  ContextHubBackend,
  CustomBackend,
  R2Backend,
  StoreBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const FILES = {
  "/b.txt": "needle one\n",
  "/d/a.txt": "needle two\n",
  "/d/deep/c.md": "needle three\n",
};

/** An object whose requests fail by their number, counted from `arm`. */
function failing(object) {
  const state = { left: Number.POSITIVE_INFINITY, forGood: false, met: false };
  const lent = new Proxy(object, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...given) => {
        const at = state.left--;
        if (at === 0 || (at < 0 && state.forGood)) {
          state.met = true;
          throw Object.assign(new Error("the line is down"), { code: "ECONNRESET" });
        }
        return value.apply(target, given);
      };
    },
  });
  return { lent, state };
}

const STORAGES = {
  "a storage of one's own": [MapStorage, (storage) => new CustomBackend(storage)],
  "a store": [MapStore, (store) => new StoreBackend({ store, namespace: ["a"] })],
  "a bucket": [MapBucket, (bucket) => new R2Backend({ bucket, retry: false })],
  "a bucket that is asked again": [
    MapBucket,
    (bucket) => new R2Backend({ bucket, retry: { baseMs: 1 } }),
  ],
  "a repo of the Context Hub": [MapHub, (client) => new ContextHubBackend("o/r", { client })],
  "a storage under a quota": [
    MapStorage,
    (storage) => withPolicy(new CustomBackend(storage), { quota: { maxFiles: 9, maxBytes: 999 } }),
  ],
  "a bucket under rules": [
    MapBucket,
    (bucket) =>
      withPolicy(new R2Backend({ bucket, retry: false }), {
        permissions: [{ operations: ["read"], paths: ["/d/secret/**"], mode: "deny" }],
      }),
  ],
};

const bytes = (text) => new TextEncoder().encode(text);
const CALLS = {
  ls: (it) => it.ls("/"),
  "ls of a directory": (it) => it.ls("/d"),
  read: (it) => it.read("/d/a.txt"),
  "read of a directory": (it) => it.read("/d"),
  readRaw: (it) => it.readRaw("/d/a.txt"),
  grep: (it) => it.grep("needle"),
  "grep of a directory": (it) => it.grep("needle", "/d"),
  "grep of a file": (it) => it.grep("needle", "/d/a.txt"),
  glob: (it) => it.glob("**"),
  "glob of a directory": (it) => it.glob("*.txt", "/d"),
  downloadFiles: async (it) => (await it.downloadFiles(["/d/a.txt"]))[0],
  "write over a file": (it) => it.write("/d/a.txt", "lost"),
  edit: (it) => it.edit("/d/a.txt", "two", "2"),
  append: (it) => it.append("/d/a.txt", "more\n"),
  "delete of a file": (it) => it.delete("/b.txt"),
  "delete of a directory": (it) => it.delete("/d/deep"),
  "copy over a file": (it) => it.copy("/b.txt", "/d/a.txt"),
  "copy of a directory": (it) => it.copy("/d/deep", "/new"),
  "move of a file": (it) => it.move("/b.txt", "/new.txt"),
  "move of a directory": (it) => it.move("/d/deep", "/new"),
};

const byPath = (a, b) => (a.path < b.path ? -1 : 1);
const said = (answer) =>
  JSON.stringify(answer, (name, value) => {
    if (/_at$|^(version|stats)$/.test(name)) return undefined;
    return name === "files" && Array.isArray(value) ? value.toSorted(byPath) : value;
  });

for (const [storage, [Lent, make]] of Object.entries(STORAGES)) {
  for (const [call, ask] of Object.entries(CALLS)) {
    test(`${storage}: ${call} takes no failed request for an absence`, async () => {
      const filled = async () => {
        const it = failing(new Lent());
        const files = Object.entries(FILES).map(([path, text]) => [path, bytes(text)]);
        for (const { error } of await make(it.lent).uploadFiles(files)) assert.equal(error, null);
        // Another object, which knows nothing of what the first one has stored.
        return { ...it, backend: make(it.lent) };
      };
      const sound = said(await ask((await filled()).backend));
      let most = 0;
      for (const forGood of [false, true]) {
        for (let at = 0; at < 100; at++) {
          const { backend, state } = await filled();
          Object.assign(state, { left: at, forGood });
          const answer = await ask(backend);
          if (!state.met) break;
          most += 1;
          const why = `request ${at}${forGood ? " and later" : ""}: ${said(answer)}, otherwise ${sound}`;
          const code = answer.error ? (answer.code ?? answer.error) : undefined;
          if (code === undefined) assert.equal(said(answer), sound, why);
          else if (said(answer) !== sound) {
            assert.doesNotMatch(code, /not_found|is_directory|no_match|already_exists/, why);
          }
        }
      }
      assert.ok(most > 0, "some request failed");
    });
  }
}

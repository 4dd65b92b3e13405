// The backends under which turns are tested: for each a function that makes an empty one.

import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MapBucket, MapHub, MapStorage, MapStore } from "../chunks/doubles.mjs";
import * as kitbag from "../lib/kitbag.mjs";

const durable = createRequire(new URL("../deps/durable/package.json", import.meta.url));
const { Database } = durable("node-sqlite3-wasm");

const folders = [];

/** Removes the folders that were made. */
export function cleared() {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

function folder() {
  folders.push(mkdtempSync(join(tmpdir(), "kitbag-turns-")));
  return folders.at(-1);
}

const { StateBackend } = kitbag;
const state = (options) => new StateBackend({ files: {}, ...options });

/** An object of another library, which knows none of kitbag's options. */
export function foreign(inner) {
  const names = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
  const all = [...names, "uploadFiles", "downloadFiles"];
  return Object.fromEntries(all.map((name) => [name, async (...args) => inner[name](...args)]));
}

const guard = (backend) =>
  kitbag.withPolicy(backend, {
    permissions: [{ operations: ["write"], paths: ["/fixed/**"], mode: "deny" }],
    quota: { maxBytes: 10_000 },
  });

/** How each commits, and how it is made. */
export const SUBJECTS = {
  State: ["transaction", state],
  SQLite: [
    "transaction of writes",
    ({ writeMode } = {}) => {
      const database = new Database(":memory:");
      const query = (sql, params) => database.all(sql, params);
      return new kitbag.SqlBackend({ dialect: "sqlite", query, migrate: true, writeMode });
    },
  ],
  disk: [
    "journal",
    ({ writeMode } = {}) => new kitbag.FilesystemBackend({ rootDir: folder(), writeMode }),
  ],
  R2: ["journal", (options) => new kitbag.R2Backend({ bucket: new MapBucket(), ...options })],
  store: [
    "journal",
    (options) => new kitbag.StoreBackend({ store: new MapStore(), namespace: ["t"], ...options }),
  ],
  hub: [
    "transaction",
    (options) => new kitbag.ContextHubBackend("o/r", { client: new MapHub(), ...options }),
  ],
  custom: ["journal", (options) => new kitbag.CustomBackend(new MapStorage(), options)],
  composite: [
    "journal",
    (options) => new kitbag.CompositeBackend(state(options), { "/dir/": state(options) }),
  ],
  "policy over State": ["transaction", (options) => guard(state(options))],
  "policy over R2": [
    "journal",
    (options) => guard(new kitbag.R2Backend({ bucket: new MapBucket(), ...options })),
  ],
  "a subclass": [
    "journal",
    (options) => {
      class Mine extends StateBackend {}
      return new Mine({ files: {}, ...options });
    },
  ],
  foreign: ["none", (options) => foreign(state(options))],
  "a turn": ["transaction", (options) => kitbag.begin(state(options), options)],
};

/** Where a history and its files can be: for each a function that makes an empty place. */
export const PLACES = {
  memory: () => state(),
  SQLite: () => SUBJECTS.SQLite[1](),
  disk: () => SUBJECTS.disk[1]({}),
  R2: () => SUBJECTS.R2[1](),
  foreign: () => foreign(state({ writeMode: "overwrite" })),
};

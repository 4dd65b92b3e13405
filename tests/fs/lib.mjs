// What the tests of `kitbag/fs` share: the package, the packages of `tests/deps/fs`, folders, and the
// backends that programs run over.

import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { FilesystemBackend, SqlBackend, StateBackend } from "../lib/kitbag.mjs";

export { createFs } from "../../pkg/dist/fs.js";
export * from "../lib/kitbag.mjs";

export const require = createRequire(at("tests/deps/fs/package.json"));

/** A package of `tests/deps/fs`. */
export const dependency = (name) => import(pathToFileURL(require.resolve(name)).href);

/** A folder that is removed when the test is done. */
export function folder(t) {
  const root = mkdtempSync(join(tmpdir(), "kitbag-fs-"));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  return root;
}

/** A database in memory. */
export async function sqlite(options = {}) {
  const { default: start } = await dependency("sql.js");
  const database = new (await start()).Database();
  const query = async (text, values) => {
    const statement = database.prepare(text);
    try {
      statement.bind(values);
      const rows = [];
      while (statement.step()) rows.push(statement.getAsObject());
      return rows;
    } finally {
      statement.free();
    }
  };
  return new SqlBackend({ query, dialect: "sqlite", migrate: true, ...options });
}

/** Backends by name; each call makes an empty one. */
export const BACKENDS = {
  memory: () => new StateBackend({ files: {}, writeMode: "overwrite" }),
  folder: (t) => new FilesystemBackend({ rootDir: folder(t) }),
  SQLite: () => sqlite(),
};

/** What a promise rejects with. */
export const failure = (promise) =>
  promise.then(
    () => undefined,
    (error) => error,
  );

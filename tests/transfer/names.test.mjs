// Copies and archives into a storage that takes several spellings of a name for one: of two names that
// would become one file, or one directory, the second is refused, and the first stays whole.

import assert from "node:assert/strict";
import { test } from "node:test";
import { contents, copyTree, fromTar, fromZip, memory, toTar, toZip, withPolicy } from "./lib.mjs";

/** One of the names has a character that shows nothing. */
const lenient = (backend) => withPolicy(backend, { hiddenCharacters: "allow" });

/** A memory that says what it folds; a refusal comes before anything is stored. */
const folding = (names) => {
  const backend = memory();
  const said = { ...backend.capability, names };
  const proxy = { capability: said };
  for (const name of ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"]) {
    proxy[name] = async (...given) => backend[name](...given);
  }
  proxy.uploadFiles = async (files) => lenient(backend).uploadFiles(files);
  proxy.downloadFiles = async (paths) => backend.downloadFiles(paths);
  return { backend, proxy };
};

const PAIRS = [
  ["/README.md", "/readme.md", "case"],
  ["/a/File.txt", "/a/file.TXT", "case"],
  ["/Docs/one.md", "/docs/two.md", "case"],
  ["/Docs/deep/x", "/docs", "case"],
  ["/GRÜN.txt", "/grün.txt", "case"],
  ["/caf\u00e9.txt", "/cafe\u0301.txt", "composition"],
  ["/CAF\u00c9.txt", "/cafe\u0301.txt", "case and composition"],
  ["/\u212aelvin", "/kelvin", "case and composition"],
  ["/.git/config", "/.g\u200bit/config", "composition"],
  ["/STRASSE", "/straße", "case"],
];

const WAYS = {
  "a copy": (source, target, options) => copyTree(source, target, options),
  "a tar": (source, target, options) => fromTar(toTar(source), target, options),
  "a zip": (source, target, options) => fromZip(toZip(source), target, options),
};

for (const [way, run] of Object.entries(WAYS)) {
  for (const onConflict of ["error", "overwrite", "skip"]) {
    test(`${way} refuses the second of two names that are one (${onConflict})`, async () => {
      for (const [one, other, names] of PAIRS) {
        const source = memory({ [one]: "1", [other]: "2", "/apart.txt": "3" });
        const { backend, proxy } = folding(names);
        const result = await run(source, lenient(proxy), { onConflict });
        const [failure] = result.failures;
        assert.equal(result.failed, 1, `${one} ${other}`);
        assert.equal(failure.code, "already_exists");
        assert.match(failure.error, /are one name in the target/);
        const stored = Object.keys(contents(backend));
        assert.equal(stored.length, 2, `${stored}`);
        assert.ok(stored.includes("/apart.txt"));
        const exact = memory();
        assert.equal((await run(source, lenient(exact), { onConflict })).failed, 0);
        assert.equal(Object.keys(contents(exact)).length, 3);
      }
    });
  }
}

// Patterns of names over paths that somebody planted to be slow: several `**` and `*`, thousands of directories.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend } from "kitbag";
import { fileSystemProvider } from "kitbag/vscode";
import { slow } from "../lib/work.mjs";
import { uri, vscode, glob as vsGlob } from "./editor.mjs";
import { dice } from "./lib.mjs";

const never = { isCancellationRequested: false, onCancellationRequested: () => {} };
const encoder = new TextEncoder();

/** Files of a tree that names exist in already; `find` looks for all that patterns let through. */
async function listed(paths) {
  const files = {
    capability: {},
    glob: async () => ({ files: paths.map((path) => ({ path, is_dir: false })) }),
    ls: async () => ({ files: [] }),
    uploadFiles: async () => [],
    downloadFiles: async () => [],
    delete: async () => ({}),
    read: async () => ({ error: "none" }),
  };
  const provider = fileSystemProvider(files, vscode);
  const session = {};
  return async (includes, excludes) => {
    const folderOptions = [{ folder: uri("/"), includes, excludes }];
    const found = await provider.provideFileSearchResults("", { folderOptions, session }, never);
    return found.length;
  };
}

const DEEP = `/${"a/".repeat(2_000)}x`;
const WIDE = `/${"a".repeat(4_000)}`;
const MIXED = `/${"ab/a/b/".repeat(600)}x`;

for (const [pattern, path] of [
  ["**/a/**/b/**/c/**/d", DEEP],
  ["**/a/**/a/**/a/**/b", DEEP],
  ["**/a/**/a/**/a/**/a/**/a/**/b", DEEP],
  ["{**/a/**/a,**/b/**/a}/**/c", DEEP],
  ["**/{a,?}/**/[a-c]/**/*/**/d", DEEP],
  ["**/a*/**/*a/**/*a*/**/d", DEEP],
  ["a/**/a/**/a/**/a/**/{b,c}", DEEP],
  ["**/a/**/a/**/a/b/**", DEEP],
  ["*a*a*a*a*a*b", WIDE],
  ["**/*a*?*a*?*a*b", WIDE],
  ["*{a,aa,aaa}*{a,aa}*{a,aa}*b", WIDE],
  ["**/ab/**/b/**/ab/**/b/**/c", MIXED],
  ["{a,b}*{a,b}*/**/a/**/{ab,b}/**/*c", MIXED],
]) {
  test(`${pattern} over ${path.length} characters is answered in 10 ms`, async () => {
    const find = await listed([path]);
    for (const [includes, excludes, left] of [
      [[pattern], [], 0],
      [[], [pattern], 1],
    ]) {
      assert.equal(await find(includes, excludes), left);
      const calls = { [pattern]: () => find(includes, excludes) };
      assert.deepEqual(await slow(calls, 0.01, "deep"), []);
    }
  });
}

test("names of thousands of different characters", async () => {
  const strange = Array.from({ length: 3_000 }, (_, at) => String.fromCodePoint(0x4e00 + at));
  const find = await listed([`/${strange.join("/")}`]);
  const pattern = "**/*b/**/?c/**/[d-f]*/**/d";
  await find([pattern], []);
  assert.deepEqual(await slow({ [pattern]: () => find([pattern], []) }, 0.02, "deep"), []);
});

// `[!a]` is left to the other test: it is no slash here.
const PIECES = [
  "*",
  "?",
  "a",
  "b",
  "ab",
  "é",

  ".",
  "[ab]",
  "[a-c]",
  "{a,b}",
  "{ab,*}",
];

test("random patterns match as VS Code's own do, also in braces with slashes", async () => {
  const roll = dice(77);
  const one = (list) => list[roll(list.length)];
  const several = (most, make) => Array.from({ length: 1 + roll(most) }, make);
  const piece = (depth) =>
    depth > 0 && roll(8) === 0 ? `{${several(3, () => glob(depth - 1)).join(",")}}` : one(PIECES);
  const name = (depth) =>
    depth > 0 && roll(4) === 0 ? "**" : several(3, () => piece(depth)).join("");
  const glob = (depth) => several(3, () => name(depth)).join("/");
  const word = () => several(3, () => one(["a", "b", "c", "é", "."])).join("");
  // Names that are no steps to elsewhere.
  const paths = Array.from(
    new Set(Array.from({ length: 150 }, () => several(4, word).join("/"))),
  ).filter((path) => !/(^|\/)\.{1,2}(\/|$)/.test(path));
  let [found, all] = [0, 0];
  for (let n = 0; n < 800; n++) {
    // What VS Code takes for a pattern of another kind, or for an extension, it compares in other ways.
    const pattern = glob(1).replace(/(\*\*\/)+\*\*/g, "**");
    if (/\*\*[^/,}]|[^/,{]\*\*|\*{3}|\{[^}]*\{|^\{.*\}$/.test(pattern)) continue;
    const is = vsGlob.parse(pattern);
    for (const path of paths) {
      const find = await listed([`/${path}`]);
      const wanted = is(path) ? 1 : 0;
      assert.equal(await find([pattern], []), wanted, `${pattern} over ${path}`);
      found += wanted;
      all += 1;
    }
    if (all > 40_000) break;
  }
  assert.ok(found > 500, `${found} of ${all}`);
});

test("a watcher leaves out what is deep", async () => {
  const backend = new StateBackend({ files: {}, writeMode: "overwrite" });
  const provider = fileSystemProvider(backend, vscode);
  const told = [];
  provider.onDidChangeFile((changes) => told.push(...changes.map(({ uri }) => uri.path)));
  provider.watch(uri("/"), { recursive: true, excludes: ["**/a/**/a/**/c/**", "out/**"] });
  const put = (path) =>
    provider.writeFile(uri(path), encoder.encode("x"), { create: true, overwrite: true });
  for (const path of ["/a", "/a/b", "/a/b/a", "/a/b/a/b", "/a/b/a/b/c", "/a/c", "/out"]) {
    await provider.createDirectory(uri(path));
  }
  for (const path of ["/a/b/a/b/c/x.txt", "/a/c/x.txt", "/out/x.txt", "/x.txt"]) await put(path);
  while (!told.includes("/x.txt")) await new Promise((resolve) => setImmediate(resolve));
  const files = told.filter((path) => path.endsWith(".txt"));
  assert.deepEqual([...new Set(files)].sort(), ["/a/c/x.txt", "/x.txt"]);
});

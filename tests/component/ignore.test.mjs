// Searches that leave out what ignore files name: as in the npm package.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { StateBackend } from "../lib/kitbag.mjs";
import { instance } from "./load.mjs";
import { errorOf, Protocol, stateOptions } from "./protocol.mjs";

const { withIgnore } = await import(pathToFileURL(at("pkg/dist/ignore.js")).href);

const FILES = {
  "/.gitignore": "*.log\n/build/\n!keep.log\n",
  "/a.txt": "word\n",
  "/a.log": "word\n",
  "/keep.log": "word\n",
  "/build/out.txt": "word\n",
  "/src/build/in.txt": "word\n",
  "/src/.gitignore": "*.tmp\n",
  "/src/.kitbagignore": "!b.tmp\n",
  "/src/a.tmp": "word\n",
  "/src/b.tmp": "word\n",
  "/vendor/x.txt": "word\n",
};

/** Without times; found files in order of their paths. */
const stripped = (answer) => {
  answer.files?.sort((a, b) => (a.path < b.path ? -1 : 1));
  return JSON.parse(JSON.stringify(answer, (name, value) => (name === "modified_at" ? 1 : value)));
};

test("searches leave out the same files and count them; paths reach them", async () => {
  const { Backend } = instance();
  const state = Backend.state(stateOptions());
  const own = new Protocol(state);
  for (const [path, text] of Object.entries(FILES)) own.write(path, text);
  const npm = new StateBackend({ files: FILES });
  for (const options of [
    {},
    { files: [".gitignore", ".kitbagignore"] },
    { files: [], patterns: ["vendor/", "*.txt"] },
    { patterns: ["/src"] },
    { files: [] },
  ]) {
    const theirs = withIgnore(npm, options);
    const ours = new Protocol(
      state.withIgnore(options.files ?? [".gitignore"], options.patterns ?? []),
    );
    for (const ask of [
      (files) => files.grep("word"),
      (files) => files.grep("word", "/src"),
      (files) => files.grep("word", "/build"),
      (files) => files.grep("word", "/", "*.tmp"),
      (files) => files.glob("**/*"),
      (files) => files.glob("*.tmp", "/src"),
      (files) => files.glob("**/*.log"),
      (files) => files.read("/a.log"),
      (files) => files.ls("/"),
    ]) {
      assert.deepEqual(
        stripped(await ask(ours)),
        stripped(await ask(theirs)),
        `${JSON.stringify(options)} ${ask}`,
      );
    }
  }
  const found = new Protocol(state.withIgnore([".gitignore"], [])).grep("word");
  assert.equal(found.ignored, 4);
});

test("names that are none are refused", () => {
  const { Backend } = instance();
  const state = Backend.state(stateOptions());
  for (const [files, patterns] of [
    [["a/b"], []],
    [[""], []],
    [["*"], []],
    [[], ["a\nb"]],
    [["a\r"], []],
  ]) {
    assert.equal(errorOf(() => state.withIgnore(files, patterns))?.code, "invalid-argument");
  }
});

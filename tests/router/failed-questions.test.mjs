// A question that failed is no answer: where a storage could not say what it has, nothing above it says
// that there is nothing. Each call, over each layer, while one method of the storage fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withHistory } from "../../pkg/dist/history.js";
import { withIgnore } from "../../pkg/dist/ignore.js";
import { withIndex } from "../../pkg/dist/indexed.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import { begin, CompositeBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const FILES = {
  "/b.txt": "needle one\n",
  "/d/a.txt": "needle two\n",
  "/d/deep/c.md": "needle three\n",
  "/d/secret/key.txt": "needle hidden\n",
};
const memory = (files = FILES) => new StateBackend({ scope: "instance", files });
const METHODS = ["ls", "read", "readRaw", "grep", "glob", "downloadFiles"];
const FAILURES = {
  "is refused": (name, given) =>
    name === "downloadFiles"
      ? given[0].map((path) => ({ path, content: null, error: "the line is down" }))
      : { error: "the line is down", code: "unavailable" },
  throws: () => {
    throw Object.assign(new Error("the line is down"), { code: "ECONNRESET" });
  },
};

/** Another library's object over the files. What is in `failing` fails from now on. */
function stranger() {
  const inner = memory();
  const failing = { names: [], as: undefined };
  const object = {};
  for (const name of [...METHODS, "write", "edit", "delete", "uploadFiles"]) {
    object[name] = async (...given) =>
      failing.names.includes(name) ? failing.as(name, given) : inner[name](...given.slice(0, 4));
  }
  return { inner, object, failing };
}

const deny = (...paths) => [{ operations: ["read", "write"], paths, mode: "deny" }];
const LAYERS = {
  "a policy that hides a part": (it) => withPolicy(it, { permissions: deny("/d/secret/**") }),
  "a policy that shows a part": (it) =>
    withPolicy(it, {
      permissions: [{ operations: ["read", "write"], paths: ["/b.txt", "/d/**"], mode: "allow" }],
      defaultMode: "deny",
    }),
  "a policy with a quota": (it) => withPolicy(it, { quota: { maxFiles: 100, maxBytes: 10_000 } }),
  "a router": (it) => new CompositeBackend(it, { "/m/": memory({}) }),
  "a turn": (it) => begin(it),
  "a history": (it) => withHistory(it, { keepIn: { backend: memory({}) } }),
  "ignore files": (it) => withIgnore(it, { files: [".gitignore"] }),
  labels: (it) => withProvenance(it, { labels: [{ paths: ["/web/**"], as: "web" }] }),
  "an index": (it) => withIndex(it, { keepIn: { backend: memory({}) } }),
};

const bytes = (text) => new TextEncoder().encode(text);
const CALLS = {
  "ls of the root": (it) => it.ls("/"),
  "ls of a directory": (it) => it.ls("/d"),
  read: (it) => it.read("/d/a.txt"),
  "read of a directory": (it) => it.read("/d"),
  readRaw: (it) => it.readRaw("/d/a.txt"),
  grep: (it) => it.grep("needle"),
  "grep of a directory": (it) => it.grep("needle", "/d"),
  "grep of a file": (it) => it.grep("needle", "/d/a.txt"),
  "grep by names": (it) => it.grep("needle", "/", "*.md"),
  glob: (it) => it.glob("**"),
  "glob of a directory": (it) => it.glob("*.txt", "/d"),
  downloadFiles: async (it) => (await it.downloadFiles(["/d/a.txt"]))[0],
  "write over a file": (it) => it.write("/d/a.txt", "lost"),
  edit: (it) => it.edit("/d/a.txt", "two", "2"),
  append: (it) => it.append("/d/a.txt", "more\n"),
  "delete of a file": (it) => it.delete("/b.txt"),
  "delete of a directory": (it) => it.delete("/d/deep"),
  "copy over a file": (it) => it.copy("/b.txt", "/d/a.txt"),
  "copy of a file": (it) => it.copy("/b.txt", "/new.txt"),
  "copy of a directory": (it) => it.copy("/d/deep", "/new"),
  "move of a file": (it) => it.move("/b.txt", "/new.txt"),
  "move of a directory": (it) => it.move("/d/deep", "/new"),
  uploadFiles: async (it) => (await it.uploadFiles([["/d/new.txt", bytes("x")]]))[0],
};

const code = ({ error, code }) => (error ? (code ?? error) : undefined);

/** What an answer says, without times, names of changes and the order of files. */
const said = (answer) =>
  JSON.stringify(answer, (name, value) => {
    if (/_at$|^(version|change|stats)$/.test(name)) return undefined;
    return name === "files" && Array.isArray(value) ? value.toSorted(byPath) : value;
  });
const byPath = (a, b) => (a.path < b.path ? -1 : 1);

for (const [layer, make] of Object.entries(LAYERS)) {
  for (const [call, ask] of Object.entries(CALLS)) {
    test(`${layer}: ${call} takes no failure for an absence`, async () => {
      const sound = said(await ask(make(stranger().object)));
      for (const names of [...METHODS.map((name) => [name]), METHODS]) {
        for (const [how, as] of Object.entries(FAILURES)) {
          const it = stranger();
          const made = make(it.object);
          Object.assign(it.failing, { names, as });
          const answer = await ask(made);
          const why = `${names} ${how}: ${said(answer)}, otherwise ${sound}`;
          if (code(answer) === undefined) assert.equal(said(answer), sound, why);
          else if (said(answer) !== sound) {
            assert.doesNotMatch(
              code(answer),
              /not_found|is_directory|no_match|already_exists/,
              why,
            );
          }
        }
      }
    });
  }
}

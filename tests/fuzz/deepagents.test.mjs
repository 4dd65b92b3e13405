// The same random programs on deepagents' StateBackend and on kitbag's, where both mean the same:
// the files at the end of each step are equal, and so is whether a step succeeded. What differs on
// purpose is in docs/protocol.md, and left out here.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { StateBackend } from "../lib/kitbag.mjs";

const require = createRequire(new URL("../deps/fuzz/package.json", import.meta.url));
const fc = require("fast-check");
const theirs = await import("../deps/latest/node_modules/deepagents/dist/index.js");

const TIMES = Number(process.env.KITBAG_FUZZ ?? 1);

const paths = fc.constantFrom("/a.txt", "/b.md", "/d/a.txt", "/d/e/f.txt", "/é.txt");
// Without lone carriage returns, and not ending in a newline, which both number differently.
const words = fc.array(fc.constantFrom("a", "b", "ab", "é", " ", "\n", "."), { maxLength: 8 });
const texts = words.map((all) => `x${all.join("")}y`);
const parts = fc.constantFrom("a", "b", "ab", "x", "\n", "é", "zz");

const step = fc.oneof(
  fc.record({ op: fc.constant("write"), path: paths, text: texts }),
  fc.record({
    op: fc.constant("edit"),
    path: paths,
    old: parts,
    fresh: texts,
    all: fc.boolean(),
  }),
  fc.record({ op: fc.constant("read"), path: paths }),
  fc.record({ op: fc.constant("grep"), text: fc.constantFrom("a", "ab", "x", "é", "zz") }),
  fc.record({ op: fc.constant("glob"), pattern: fc.constantFrom("**/*.txt", "*.md", "d/*") }),
  fc.record({ op: fc.constant("ls"), path: fc.constantFrom("/", "/d", "/none") }),
);

/** deepagents' backend over a state that this test keeps. */
function reference() {
  const state = { messages: [], files: {} };
  const make = () => new theirs.StateBackend({ state });
  return {
    state,
    async call(run) {
      const answer = await run(make());
      if (answer?.filesUpdate) Object.assign(state.files, answer.filesUpdate);
      return answer;
    },
  };
}

const contentOf = (file) => (Array.isArray(file.content) ? file.content.join("\n") : file.content);
const sorted = (paths) => [...paths].sort();
const plain = ({ files = [] }) => sorted(files.map(({ path }) => path));

async function both(mine, their, one) {
  const call = {
    write: (b) => b.write(one.path, one.text),
    edit: (b) => b.edit(one.path, one.old, one.fresh, one.all),
    read: (b) => b.read(one.path),
    grep: (b) => b.grep(one.text, "/"),
    glob: (b) => b.glob(one.pattern, "/"),
    ls: (b) => b.ls(one.path),
  }[one.op];
  return [call(mine), await their.call(call)];
}

async function same(steps) {
  const mine = new StateBackend({ writeMode: "overwrite" });
  const their = reference();
  for (const one of steps) {
    const [a, b] = await both(mine, their, one);
    const what = JSON.stringify(one);
    assert.equal(a.error === undefined, !b.error, `${what}: ${a.error} / ${b.error}`);
    if (one.op === "edit" && !a.error) assert.equal(a.occurrences, b.occurrences, what);
    if (one.op === "read" && !a.error) assert.equal(a.content, b.content, what);
    if (one.op === "glob" || one.op === "ls") assert.deepEqual(plain(a), plain(b), what);
    if (one.op === "grep") {
      const rows = ({ matches = [] }) =>
        sorted(matches.map(({ path, line, text }) => `${path}:${line}:${text}`));
      assert.deepEqual(rows(a), rows(b), what);
    }
    const held = Object.entries(their.state.files).map(([path, file]) => [path, contentOf(file)]);
    const own = Object.entries(mine.snapshot()).map(([path, file]) => [path, contentOf(file)]);
    assert.deepEqual(Object.fromEntries(own), Object.fromEntries(held), what);
  }
}

const CORPUS = [
  [
    { op: "write", path: "/a.txt", text: "x\ny" },
    { op: "read", path: "/a.txt" },
  ],
  [
    { op: "write", path: "/a.txt", text: "xababy" },
    { op: "edit", path: "/a.txt", old: "ab", fresh: "x\ny", all: false },
    { op: "edit", path: "/a.txt", old: "ab", fresh: "x\ny", all: true },
    { op: "grep", text: "x" },
  ],
  [
    { op: "edit", path: "/none.txt", old: "a", fresh: "xy", all: false },
    { op: "ls", path: "/" },
  ],
  [
    { op: "write", path: "/d/e/f.txt", text: "xy" },
    { op: "ls", path: "/d" },
  ],
  [
    { op: "write", path: "/a.txt", text: "xy" },
    { op: "write", path: "/a.txt", text: "xzy" },
  ],
];

test("the corpus means the same", async () => {
  for (const steps of CORPUS) await same(steps);
});

test("random programs mean the same", async () => {
  const program = fc.array(step, { minLength: 1, maxLength: 20 });
  await fc.assert(fc.asyncProperty(program, same), {
    numRuns: 150 * TIMES,
    endOnFailure: TIMES === 1,
  });
});

// Patterns as other tools, and models, write them: they are followed, or refused with what to write
// instead, and never find nothing because of how they were written. By every call that takes one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CompositeBackend, createFileTools, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const NAMES = [
  "/1.ts",
  "/2.ts",
  "/a.test.ts",
  "/a.ts",
  "/b.md",
  "/c.py",
  "/src/a.ts",
  "/src/d/e.ts",
];
const memory = () =>
  new StateBackend({
    scope: "instance",
    files: Object.fromEntries(NAMES.map((name) => [name, "needle"])),
  });
const BACKENDS = {
  "a memory": memory,
  "a policy": () => withPolicy(memory(), { quota: { maxFiles: 100 } }),
  "rules that hide a part": () =>
    withPolicy(memory(), {
      permissions: [{ operations: ["read"], paths: ["/hidden/**"], mode: "deny" }],
    }),
  "a router": () => new CompositeBackend(memory(), { "/m/": new StateBackend() }),
};

/** What each finds in the root. */
const FOLLOWED = {
  "@(a|b).*": ["/a.test.ts", "/a.ts", "/b.md"],
  "*.(md|py)": ["/b.md", "/c.py"],
  "(a|b).{ts,md}": ["/a.ts", "/b.md"],
  "?(x|y)b.md": ["/b.md"],
  "[[:alpha:]].md": ["/b.md"],
  "[[:digit:]].ts": ["/1.ts", "/2.ts"],
  "[![:alpha:]].ts": ["/1.ts", "/2.ts"],
  "[1-2].ts": ["/1.ts", "/2.ts"],
  "{1,2}.ts": ["/1.ts", "/2.ts"],
  "./b.md": ["/b.md"],
  "/src/*.ts": ["/src/a.ts"],
  "src/**/e.ts": ["/src/d/e.ts"],
};
const REFUSED = {
  "../b.md": /'\.\.' segment/,
  "..": /'\.\.' segment/,
  "src/../b.md": /'\.\.' segment/,
  "/src/../*.md": /'\.\.' segment/,
  "./../b.md": /'\.\.' segment/,
  "**/../*.ts": /'\.\.' segment/,
  "{src,..}/*.ts": /'\.\.' segment/,
  "\\.\\./b.md": /'\.\.' segment/,
  "!(a).ts": /not known; write/,
  "!(*.test).ts": /not known; write/,
  "+(a|b).ts": /not known; write/,
  "*(a|b).ts": /not known; write/,
  "src/!(x|y)": /not known; write/,
  "{1..2}.ts": /ranges such as .*write '\{1,2,3\}'/,
  "{a..c}.*": /ranges such as/,
  "{01..10..2}.ts": /ranges such as/,
  "{c..a}.md": /ranges such as/,
  "src/{a..e}.ts": /ranges such as/,
  "{b.md,{1..2}.ts}": /ranges such as/,
  "[[:letter:]].md": /is not known/,
  "[:alpha:].md": /needs brackets/,
  "*.{ts,md": /never closed/,
  "[a-c.ts": /never closed/,
  "[c-a].md": /backwards/,
};
const WAYS = {
  glob: (it, pattern) => it.glob(pattern),
  grep: (it, pattern) => it.grep("needle", "/", pattern),
  "grep by an expression": (it, pattern) => it.grep("n.+", "/", pattern, null, { regex: true }),
};
const TOOLS = {
  glob: (pattern) => ["glob", { pattern }],
  grep: (pattern) => ["grep", { pattern: "needle", glob: pattern }],
};

for (const [what, make] of Object.entries(BACKENDS)) {
  for (const [pattern, names] of Object.entries(FOLLOWED)) {
    test(`${what}: ${pattern} is followed`, async () => {
      const { files, error } = await make().glob(pattern);
      assert.equal(error, undefined);
      assert.deepEqual(files.map(({ path }) => path).sort(), names);
      // As a filter, a pattern without a slash is one for names in every directory.
      const found = await make().grep("needle", "/", pattern);
      const paths = found.matches.map(({ path }) => path);
      for (const name of names) assert.ok(paths.includes(name), `${name} of ${paths}`);
    });
  }

  for (const [pattern, why] of Object.entries(REFUSED)) {
    test(`${what}: ${pattern} is refused, with what to write`, async () => {
      for (const [way, ask] of Object.entries(WAYS)) {
        const answer = await ask(make(), pattern);
        assert.equal(answer.code, "invalid_pattern", `${way}: ${JSON.stringify(answer)}`);
        assert.match(answer.error, why);
      }
      const { call } = createFileTools(make());
      for (const [tool, input] of Object.values(TOOLS).map((of) => of(pattern))) {
        const { text, isError } = await call(tool, input);
        assert.equal(isError, true, text);
        assert.match(text, why);
      }
    });
  }
}

test("a leading exclamation mark excludes as a filter, and is refused as a pattern", async () => {
  const backend = memory();
  assert.equal(backend.glob("!*.ts").code, "invalid_pattern");
  for (const [filter, left] of [
    ["!*.test.ts", NAMES.filter((name) => name !== "/a.test.ts")],
    ["!*.ts", ["/b.md", "/c.py"]],
    ["!src/**", NAMES.filter((name) => !name.startsWith("/src/"))],
    ["!{a,b}.*", NAMES.filter((name) => !/\/[ab]\./.test(name))],
  ]) {
    const { matches } = backend.grep("needle", "/", filter);
    assert.deepEqual(matches.map(({ path }) => path).sort(), left, filter);
  }
});

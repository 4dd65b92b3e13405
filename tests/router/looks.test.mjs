// Rules that look as if they protected something: they do, or the constructor refuses them. And what
// rules with names are called in refusals, questions and audit records.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend, withPolicy } from "../lib/kitbag.mjs";

const FILES = { "/src/a.ts": "needle", "/app/[slug]/page.tsx": "needle", "/other": "needle" };
const files = () => new StateBackend({ files: FILES, writeMode: "overwrite" });
const both = ["read", "write"];

for (const prefix of ["/config/*", "/config/**", "/*", "/a?", "!/config", "/{a,b}", "**/x"]) {
  test(`readOnlyPrefixes refuses ${prefix}, which would protect nothing`, () => {
    for (const options of [{ readOnlyPrefixes: [prefix] }, { readOnlyPrefixes: ["/ok", prefix] }]) {
      assert.throws(
        () => withPolicy(files(), options),
        (error) => error instanceof TypeError && /without wildcards/.test(error.message),
      );
    }
  });
}

test("readOnlyPrefixes takes names with brackets and parentheses as they are", async () => {
  for (const prefix of ["/app/[slug]", "/app/(group)", "/app/{slug}", "/app/@modal"]) {
    const backend = withPolicy(files(), { readOnlyPrefixes: [prefix] });
    assert.equal((await backend.write(`${prefix}/x`, "x")).code, "permission_denied");
    assert.equal((await backend.write("/app/x", "x")).error, undefined);
  }
});

test("a rule that denies a directory by its name covers what is in it", async () => {
  const backend = withPolicy(files(), {
    permissions: [{ operations: both, paths: ["/src"], mode: "deny" }],
  });
  assert.equal((await backend.read("/src/a.ts")).code, "permission_denied");
  assert.equal((await backend.write("/src/b/c.ts", "x")).code, "permission_denied");
  assert.deepEqual(
    (await backend.grep("needle")).matches.map(({ path }) => path),
    ["/app/[slug]/page.tsx", "/other"],
  );
});

test("a directory that is allowed by its escaped name is listed and searched", async () => {
  const backend = withPolicy(files(), {
    permissions: [{ operations: both, paths: ["/app/\\[slug\\]/**"] }],
    defaultMode: "deny",
  });
  const page = "/app/[slug]/page.tsx";
  assert.deepEqual(
    (await backend.ls("/app/[slug]")).files.map(({ path }) => path),
    [page],
  );
  assert.deepEqual(
    (await backend.ls("/app")).files.map(({ path }) => path),
    ["/app/[slug]/"],
  );
  assert.deepEqual(
    (await backend.grep("needle")).matches.map(({ path }) => path),
    [page],
  );
});

test("a rule with a name is called by it in refusals, questions and audit records", async () => {
  const records = [];
  const asked = [];
  const backend = withPolicy(files(), {
    permissions: [
      { name: "no sources", operations: both, paths: ["/src/**"], mode: "deny" },
      { name: "pages", operations: ["write"], paths: ["/app/**"], mode: "ask" },
      { operations: ["write"], paths: ["/other"], mode: "ask" },
    ],
    onAsk: (question) => {
      asked.push(question);
      return false;
    },
    audit: ({ rule }) => records.push(rule),
  });
  assert.match((await backend.read("/src/a.ts")).error, /the rule 'no sources' does not allow it/);
  assert.match((await backend.write("/app/new", "x")).error, /rule 'pages'/);
  assert.doesNotMatch((await backend.write("/other", "x")).error, /rule '/);
  assert.deepEqual(records, ["no sources", "pages", "onAsk"]);
  assert.deepEqual(
    asked.map(({ rule }) => rule),
    ["pages", undefined],
  );
});

test("a wrong name is refused", () => {
  for (const name of ["", 7, "x".repeat(101)]) {
    const permissions = [{ name, operations: both, paths: ["/a"] }];
    assert.throws(() => withPolicy(files(), { permissions }), /permissions\[0\].*"name"/);
  }
});

test("patterns of other dialects are followed or refused by glob and grep, and never find nothing", () => {
  const backend = new StateBackend({ files: { "/a.test.ts": "x", "/b.ts": "x", "/c.md": "x" } });
  const named = (found) => [...new Set(found.map(({ path }) => path))].sort();
  const grep = (glob) => named(backend.grep("x", "/", glob).matches);
  assert.deepEqual(grep("!*.test.ts"), ["/b.ts", "/c.md"]);
  assert.deepEqual(grep("*.(ts|md)"), ["/a.test.ts", "/b.ts", "/c.md"]);
  assert.deepEqual(grep("@(b|c).*"), ["/b.ts", "/c.md"]);
  assert.deepEqual(grep("[[:lower:]].md"), ["/c.md"]);
  assert.deepEqual(named(backend.glob("@(b|c).*").files), ["/b.ts", "/c.md"]);
  assert.deepEqual(named(backend.glob("[[:alpha:]].ts").files), ["/b.ts"]);
  for (const pattern of ["!*.ts", "!(b).ts", "+(b).ts", "../b.ts", "a/../b.ts", "[:alpha:].ts"]) {
    const answer = backend.glob(pattern);
    assert.equal(answer.code, "invalid_pattern", pattern);
    assert.match(answer.error, /write|give|needs/, pattern);
  }
});

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

/** Patterns that name a directory, and a file deep in it. */
const DIRECTORIES = {
  "/src": "/src/deep/a.ts",
  "/src/lib": "/src/lib/deep/a.ts",
  "/**/src": "/any/src/deep/a.ts",
  src: "/src/deep/a.ts",
  "./src": "/src/deep/a.ts",
  "//src": "/src/deep/a.ts",
  "/.git": "/.git/hooks/pre-commit",
  "/a b/ünï 日本": "/a b/ünï 日本/deep/a.ts",
  "/app/\\[slug\\]": "/app/[slug]/deep/page.tsx",
  "/app/\\{a,b\\}": "/app/{a,b}/deep/page.tsx",
  "/{src,lib}": "/lib/deep/a.ts",
  "/{src,lib,{docs,notes}}": "/notes/deep/a.ts",
  "/.{git,ssh}": "/.ssh/deep/id",
  "/{a/b,c}": "/a/b/deep/a.ts",
  "/**/{src,lib}": "/any/lib/deep/a.ts",
  "/": "/any/deep/a.ts",
};
for (const [pattern, path] of Object.entries(DIRECTORIES)) {
  for (const mode of ["deny", "ask"]) {
    test(`a rule for ${pattern} covers what is in that directory (${mode})`, async () => {
      const inner = new StateBackend({ files: { [path]: "needle" }, writeMode: "overwrite" });
      const under = (operations) =>
        withPolicy(inner, {
          permissions: [{ operations, paths: [pattern], mode }],
          onAsk: () => false,
        });
      const [all, writes] = [under(both), under(["write"])];
      assert.equal((await all.read(path)).code, "permission_denied");
      assert.deepEqual((await all.grep("needle")).matches ?? [], []);
      for (const guarded of [all, writes]) {
        for (const at of [path, `${path}.new`]) {
          assert.equal((await guarded.write(at, "lost")).code, "permission_denied");
        }
        assert.equal((await guarded.delete(path)).code, "permission_denied");
        assert.equal((await guarded.move(path, "/out")).code, "permission_denied");
      }
      assert.equal((await writes.read(path)).content, "needle");
      assert.deepEqual(
        inner.glob("**").files.map((file) => file.path),
        [path],
      );
    });
  }
}

test("a rule that allows alternatives allows these files alone", async () => {
  const backend = withPolicy(files(), {
    permissions: [{ operations: both, paths: ["/{src,other}"], mode: "allow" }],
    defaultMode: "deny",
  });
  assert.equal((await backend.read("/other")).content, "needle");
  assert.equal((await backend.read("/src/a.ts")).code, "permission_denied");
});

for (const pattern of ["/src/", "/src/.", ".", "/.", "/**/", "", "/src/../src", "!/src", "~/src"]) {
  for (const mode of ["allow", "deny", "ask"]) {
    test(`a rule (${mode}) for ${JSON.stringify(pattern)} is refused, as it would match nothing`, () => {
      const permissions = [{ operations: both, paths: ["/ok", pattern], mode }];
      assert.throws(
        () => withPolicy(files(), { permissions, onAsk: () => true }),
        (error) => error instanceof TypeError && /pattern/.test(error.message),
      );
    });
  }
}

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

/** Names with characters that mean something in a pattern, and their escaped form in rules. */
const ESCAPED = {
  "[slug]": "\\[slug\\]",
  "[...rest]": "\\[...rest\\]",
  "[[optional]]": "\\[\\[optional\\]\\]",
  "{slug}": "\\{slug\\}",
  "{a,b}": "\\{a,b\\}",
  "a*b": "a\\*b",
  "what?": "what\\?",
  "!not": "\\!not",
  "@(a)": "@\\(a\\)",
  "+(a|b)": "+\\(a\\|b\\)",
  "(group)": "\\(group\\)",
  "[!a]": "\\[!a\\]",
};

for (const [dir, pattern] of Object.entries(ESCAPED)) {
  test(`the directory ${dir}, which is allowed by its escaped name, is listed and searched`, async () => {
    const page = `/app/${dir}/page.tsx`;
    const inner = new StateBackend({
      files: { ...FILES, [page]: "needle", [`/app/x${dir}/page.tsx`]: "needle" },
      writeMode: "overwrite",
    });
    const backend = withPolicy(inner, {
      permissions: [{ operations: both, paths: [`/app/${pattern}/**`] }],
      defaultMode: "deny",
    });
    const paths = ({ files, matches }) => (files ?? matches).map(({ path }) => path);
    assert.deepEqual(paths(await backend.ls(`/app/${dir}`)), [page]);
    assert.deepEqual(paths(await backend.ls("/app")), [`/app/${dir}/`]);
    assert.deepEqual(paths(await backend.ls("/")), ["/app/"]);
    assert.deepEqual(paths(await backend.grep("needle")), [page]);
    assert.deepEqual(paths(await backend.grep("needle", `/app/${dir}`)), [page]);
    assert.deepEqual(paths(await backend.glob("**")), [page]);
    assert.equal((await backend.read(page)).content, "needle");
    assert.equal((await backend.write(page, "more")).error, undefined);
    assert.equal((await backend.read("/other")).code, "permission_denied");
    assert.equal((await backend.write(`/app/x${dir}/new`, "x")).code, "permission_denied");
  });
}

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

/** Each asks for `/src/a.ts`, which the rule `no sources` denies. */
const ASKS = {
  read: (it) => it.read("/src/a.ts"),
  readRaw: (it) => it.readRaw("/src/a.ts"),
  ls: (it) => it.ls("/src"),
  glob: (it) => it.glob("**", "/src"),
  grep: (it) => it.grep("needle", "/src"),
  write: (it) => it.write("/src/a.ts", "x"),
  edit: (it) => it.edit("/src/a.ts", "needle", "x"),
  append: (it) => it.append("/src/a.ts", "x"),
  delete: (it) => it.delete("/src/a.ts"),
  "move from": (it) => it.move("/src/a.ts", "/b.ts"),
  "move to": (it) => it.move("/other", "/src/b.ts"),
  "copy from": (it) => it.copy("/src/a.ts", "/b.ts"),
  "copy to": (it) => it.copy("/other", "/src/b.ts"),
  uploadFiles: async (it) => (await it.uploadFiles([["/src/a.ts", new Uint8Array(1)]]))[0],
  downloadFiles: async (it) => (await it.downloadFiles(["/src/a.ts"]))[0],
};

for (const [operation, ask] of Object.entries(ASKS)) {
  test(`a rule with a name is called by it in the refusal and the record of ${operation}`, async () => {
    const records = [];
    const backend = withPolicy(files(), {
      permissions: [{ name: "no sources", operations: both, paths: ["/src/**"], mode: "deny" }],
      audit: (record) => records.push(record),
    });
    const answer = await ask(backend);
    const said = answer.message ?? answer.error ?? "";
    // What may not be listed has no rows, and tells no rule.
    if (answer.files === undefined && answer.matches === undefined) {
      assert.match(said, /the rule 'no sources' does not allow it/, JSON.stringify(answer));
      assert.equal(records.at(-1).rule, "no sources");
    } else {
      assert.deepEqual(answer.files ?? answer.matches, []);
    }
    assert.equal(records.length, 1);
  });
}

test("of two rules the one that decides is named, also if both have one name", async () => {
  const named = (name, mode, paths) => ({ name, operations: both, mode, paths });
  for (const [rules, path, rule] of [
    [[named("a", "deny", ["/src/**"]), named("b", "deny", ["/src/a.ts"])], "/src/a.ts", "a"],
    [[named("a", "allow", ["/src/b.ts"]), named("b", "deny", ["/src/**"])], "/src/a.ts", "b"],
    [[named("same", "deny", ["/x/**"]), named("same", "deny", ["/src/**"])], "/src/a.ts", "same"],
    [[named("ünï 日本 'x'", "deny", ["/src/**"])], "/src/a.ts", "ünï 日本 'x'"],
    [[named("x".repeat(100), "deny", ["/src/**"])], "/src/a.ts", "x".repeat(100)],
  ]) {
    const records = [];
    const audit = (record) => records.push(record.rule);
    const backend = withPolicy(files(), { permissions: rules, audit });
    const { error, code } = await backend.read(path);
    assert.equal(code, "permission_denied");
    assert.ok(error.includes(`'${rule}'`), error);
    assert.deepEqual(records, [rule]);
  }
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

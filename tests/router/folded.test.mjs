// Rules over storages that take several spellings of a name for one, as a folder on Windows or macOS
// does. What a rule protects is reached, and created, under no spelling, whether it exists or not.

import assert from "node:assert/strict";
import test from "node:test";
import { kitbag } from "../host/lib.mjs";

const { CompositeBackend, CustomBackend, StateBackend, withPolicy } = kitbag;

const KINDS = {
  case: (name) => name.toLowerCase(),
  composition: (name) => name.normalize("NFD"),
  "case and composition": (name) => name.normalize("NFD").toLowerCase(),
};

/** A storage that knows a file under every spelling, and lists it under the first. */
class Folding {
  constructor(names, files = {}) {
    this.fold = KINDS[names] ?? ((name) => name);
    this.capability = { names, create: "storage", update: "storage" };
    this.kept = new Map();
    for (const [path, content] of Object.entries(files)) this.put(path, { content });
  }
  at(path) {
    return this.kept.get(this.fold(path));
  }
  get(path) {
    const found = this.at(path);
    return found && { content: found.content };
  }
  list(prefix) {
    const under = this.fold(prefix);
    return [...this.kept.values()]
      .map(({ path }) => path)
      .filter((path) => this.fold(path).startsWith(under));
  }
  put(path, { content }) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.kept.set(this.fold(path), { path: this.at(path)?.path ?? path, content: bytes });
  }
  delete(path) {
    return this.kept.delete(this.fold(path));
  }
  get paths() {
    return [...this.kept.values()].map(({ path }) => path).sort();
  }
}

const over = (names, policy, files) => {
  const storage = new Folding(names, files);
  // Of a character that shows nothing, too, the rules decide here.
  const rules = { hiddenCharacters: "allow", ...policy };
  return { storage, backend: withPolicy(new CustomBackend(storage), rules) };
};

/** What is protected, another spelling of it, and what folds them to one. */
const SPELLINGS = [
  ["/agents.md", "/AGENTS.MD", "case"],
  ["/skills/a.md", "/Skills/a.md", "case"],
  ["/skills/a.md", "/skills/A.MD", "case and composition"],
  ["/Docs/Plan.md", "/docs/plan.md", "case"],
  ["/straße.md", "/STRASSE.md", "case"],
  ["/keys/k", "/\u212aeys/k", "case and composition"],
  ["/οδός/α", "/ΟΔΌΣ/Α", "case"],
  ["/ſecret", "/SECRET", "case"],
  ["/caf\u00e9/menu", "/cafe\u0301/menu", "composition"],
  ["/cafe\u0301/menu", "/caf\u00e9/menu", "case and composition"],
  ["/\u00c9tat.md", "/e\u0301tat.md", "case and composition"],
  ["/.git/config", "/.g\u200cit/config", "composition"],
  ["/.git/config", "/.GIT/config", "case"],
];

const shown = (path) => path.replace(/[^ -~]/g, (one) => `\\u${one.codePointAt(0).toString(16)}`);
/** The first segment, which is a folder or the file itself. */
const top = (path) => `/${path.split("/")[1]}`;

for (const [path, other, names] of SPELLINGS) {
  const what = `${shown(path)} under the name ${shown(other)} (${names})`;
  const denies = (operations) => ({
    permissions: [{ operations, paths: [`${top(path)}/**`], mode: "deny" }],
  });

  for (const [rule, policy] of [
    ["readOnlyPrefixes", { readOnlyPrefixes: [top(path)] }],
    ["a denial of writes", denies(["write"])],
    ["a denial of everything", denies(["read", "write"])],
  ]) {
    test(`${rule}: nothing creates ${what}`, async () => {
      const { storage, backend } = over(names, policy, { "/free.md": "free" });
      const refused = [
        await backend.write(other, "planted"),
        (await backend.uploadFiles([[other, new TextEncoder().encode("planted")]]))[0],
        await backend.copy("/free.md", other),
        await backend.move("/free.md", other),
        await backend.copy("/free.md", `${top(other)}/deeper/x.md`),
      ];
      for (const answer of refused) assert.equal(answer.code ?? answer.error, "permission_denied");
      assert.deepEqual(storage.paths, ["/free.md"]);
    });

    test(`${rule}: nothing changes ${what}`, async () => {
      const files = { [path]: "kept", "/free.md": "free" };
      const { storage, backend } = over(names, policy, files);
      const refused = [
        await backend.edit(other, "kept", "changed"),
        await backend.delete(other),
        await backend.delete(top(other)),
        await backend.move(other, "/moved.md"),
        await backend.move(top(other), "/moved"),
        (await backend.uploadFiles([[other, new TextEncoder().encode("changed")]]))[0],
      ];
      for (const answer of refused) assert.equal(answer.code ?? answer.error, "permission_denied");
      assert.deepEqual(storage.paths, ["/free.md", path].sort());
      assert.equal(new TextDecoder().decode(storage.get(path).content), "kept");
    });
  }

  test(`a denial of reads: nothing shows ${what}`, async () => {
    const { backend } = over(names, denies(["read"]), { [other]: "hidden", "/free.md": "free" });
    for (const at of [path, other]) {
      assert.equal((await backend.read(at)).code, "permission_denied");
      assert.equal((await backend.readRaw(at)).code, "permission_denied");
      assert.equal((await backend.downloadFiles([at]))[0].error, "permission_denied");
      assert.equal((await backend.copy(at, "/mine.md")).code, "permission_denied");
    }
    const [listed, globbed] = [await backend.ls("/"), await backend.glob("**")];
    assert.deepEqual(
      listed.files.map((file) => file.path),
      ["/free.md"],
    );
    assert.deepEqual(
      globbed.files.map((file) => file.path),
      ["/free.md"],
    );
    assert.deepEqual((await backend.grep("hidden")).matches, []);
  });

  test(`questions are asked about ${what}`, async () => {
    const asked = [];
    const { storage, backend } = over(names, {
      permissions: [{ operations: ["write"], paths: [`${top(path)}/**`], mode: "ask" }],
      onAsk: (question) => asked.push(question) && false,
    });
    assert.equal((await backend.write(other, "planted")).code, "permission_denied");
    assert.equal(asked.length, 1);
    assert.deepEqual(storage.paths, []);
  });
}

test("a rule that allows covers its own spelling only", async () => {
  const { backend } = over("case", {
    permissions: [{ operations: ["read", "write"], paths: ["/src/**"], mode: "allow" }],
    defaultMode: "deny",
  });
  assert.equal((await backend.write("/src/a.md", "a")).error, undefined);
  assert.equal((await backend.write("/SRC/b.md", "b")).code, "permission_denied");
});

test("an earlier rule that allows does not open another spelling of what is denied", async () => {
  const { storage, backend } = over("case", {
    permissions: [
      { operations: ["write"], paths: ["/Docs/public/**"], mode: "allow" },
      { operations: ["write"], paths: ["/docs/**"], mode: "deny" },
    ],
  });
  assert.equal((await backend.write("/Docs/public/a.md", "a")).error, undefined);
  for (const path of ["/DOCS/public/b.md", "/docs/public/b.md", "/Docs/b.md"]) {
    assert.equal((await backend.write(path, "b")).code, "permission_denied", path);
  }
  assert.deepEqual(storage.paths, ["/Docs/public/a.md"]);
});

test("patterns are folded with their wildcards, classes and braces", async () => {
  const cases = [
    ["/*.Lock", "/yarn.LOCK"],
    ["/[A-C]x", "/ax"],
    ["/[a-c]x", "/BX"],
    ["/[!a-c]x", "/Dx"],
    ["/{Foo,Bar}/**", "/bAR/x"],
    ["/**/Secret?.md", "/a/b/SECRET1.MD"],
    ["/\\[Slug\\]/**", "/[sLUG]/x"],
    ["/Caf?/**", "/CAFÉ/x"],
    ["/[éè]/**", "/É/x"],
  ];
  for (const [pattern, path] of cases) {
    const { backend } = over("case and composition", {
      permissions: [{ operations: ["write"], paths: [pattern], mode: "deny" }],
    });
    assert.equal((await backend.write(path, "x")).code, "permission_denied", `${pattern} ${path}`);
    assert.equal((await backend.write("/other/free.md", "x")).error, undefined, pattern);
  }
});

test("where names are exact, rules are exact", async () => {
  const policy = { readOnlyPrefixes: ["/agents.md"] };
  for (const inner of [new StateBackend(), new CustomBackend(new Folding("exact"))]) {
    const backend = withPolicy(inner, policy);
    assert.equal(inner.capability.names, undefined);
    assert.equal((await backend.write("/AGENTS.MD", "x")).error, undefined);
    assert.equal((await backend.write("/agents.md", "x")).code, "permission_denied");
  }
});

test("a router folds what any of its backends folds, and rules around it do", async () => {
  const folding = new CustomBackend(new Folding("case"));
  const composed = new CustomBackend(new Folding("composition"));
  const router = new CompositeBackend(new StateBackend(), {
    "/disk/": folding,
    "/mac/": composed,
  });
  assert.equal(router.capability.names, "case and composition");
  const backend = withPolicy(router, { readOnlyPrefixes: ["/disk/skills"] });
  assert.equal(backend.capability.names, "case and composition");
  assert.equal((await backend.write("/disk/SKILLS/a.md", "x")).code, "permission_denied");
  assert.equal((await backend.write("/disk/other.md", "x")).error, undefined);
});

test("an object that passes its capability on is folded as well", async () => {
  const inner = new CustomBackend(new Folding("case"));
  class Wrapped extends CustomBackend {
    write(...given) {
      return super.write(...given);
    }
  }
  const backend = withPolicy(new Wrapped(new Folding("case")), { readOnlyPrefixes: ["/skills"] });
  assert.equal(inner.capability.names, "case");
  assert.equal((await backend.write("/SKILLS/a.md", "x")).code, "permission_denied");
});

test("an unknown kind of names is refused", () => {
  const storage = new Folding("exact");
  storage.capability = { names: "upper" };
  assert.throws(() => new CustomBackend(storage), /option "names" must be "exact" or "case"/);
});

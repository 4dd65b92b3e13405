// Failures of files, directories and mounts that a rule hides: they show neither name nor text in
// any answer, and a search still finds what is visible.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { CompositeBackend, CustomBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const HIDDEN = "unguessable";
const TEXT = "disk 7 of rack Q";
const VISIBLE = {
  "/a.txt": "needle 1\n",
  "/docs/b.txt": "needle 2\nneedle 3\n",
  "/docs/deep/c.md": "needle 4\n",
  "/mixed/d.txt": "needle 5\n",
};
const bytes = (text) => new TextEncoder().encode(text);

function refuse(path) {
  throw new Error(`cannot read ${path}: ${TEXT}`);
}

/** Visible files, and one hidden file that cannot be read. */
function custom(hidden) {
  const files = new Map(Object.entries({ ...VISIBLE, [hidden]: "needle secret" }));
  return new CustomBackend({
    async get(path) {
      if (path === hidden) refuse(path);
      const text = files.get(path);
      return text === undefined ? undefined : { content: bytes(text) };
    },
    async put(path, file) {
      files.set(path, new TextDecoder().decode(file.content));
    },
    async delete(path) {
      return files.delete(path);
    },
    async list(prefix) {
      const found = [...files].filter(([path]) => path.startsWith(prefix));
      return found.map(([path, text]) => ({ path, size: text.length }));
    },
  });
}

/** A foreign object whose searches fail, if they reach the hidden directory. */
function foreign(hidden) {
  const inner = new StateBackend({ files: { ...VISIBLE, [hidden]: "needle secret" } });
  const reaches = (path) => hidden === path || hidden.startsWith(path === "/" ? "/" : `${path}/`);
  const object = {};
  for (const name of ["ls", "read", "readRaw", "write", "edit", "delete"]) {
    object[name] = async (...args) => inner[name](...args.slice(0, 4));
  }
  object.grep = async (pattern, path, ...rest) =>
    reaches(path) ? refuse(hidden) : inner.grep(pattern, path, ...rest.slice(0, 2));
  object.glob = async (pattern, path) =>
    reaches(path) ? refuse(hidden) : inner.glob(pattern, path);
  object.uploadFiles = async (files) => inner.uploadFiles(files);
  object.downloadFiles = async (paths) => inner.downloadFiles(paths);
  return object;
}

/** A router with a hidden mount whose every operation fails. */
function mounted(hidden) {
  const broken = {};
  for (const name of ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"]) {
    broken[name] = async () => refuse(hidden);
  }
  const prefix = `${hidden.slice(0, hidden.lastIndexOf("/"))}/`;
  return new CompositeBackend(new StateBackend({ files: VISIBLE }), { [prefix]: broken });
}

const deny = (...paths) => ({
  permissions: [{ operations: ["read", "write"], paths, mode: "deny" }],
});
const CASES = {
  "a directory": [`/secrets/${HIDDEN}.txt`, deny("/secrets/**")],
  "a deep directory": [`/mixed/secrets/${HIDDEN}.txt`, deny("/mixed/secrets/**")],
  "a pattern for names": [`/vault/${HIDDEN}.key`, deny("**/*.key")],
  "a single file": [`/vault/${HIDDEN}.txt`, deny(`/vault/${HIDDEN}.txt`)],
  "the default deny": [
    `/secrets/${HIDDEN}.txt`,
    {
      permissions: [{ operations: ["read", "write"], paths: ["/a.txt", "/docs/**", "/mixed/**"] }],
      defaultMode: "deny",
    },
  ],
};
const BACKENDS = { "a CustomBackend": custom, "a foreign object": foreign, "a mount": mounted };

const paths = (answer) => answer.matches.map(({ path, line }) => `${path}:${line}`);
const ALL = ["/a.txt:1", "/docs/b.txt:1", "/docs/b.txt:2", "/docs/deep/c.md:1", "/mixed/d.txt:1"];
const SEARCHES = {
  grep: async (backend) => assert.deepEqual(paths(await backend.grep("needle")), ALL),
  "grep with a limit": async (backend) => {
    const answer = await backend.grep("needle", "/", null, 3);
    assert.deepEqual(paths(answer), ALL.slice(0, 3));
    assert.equal(answer.truncated, true);
  },
  "grep with the exact limit": async (backend) => {
    const answer = await backend.grep("needle", "/", null, 5);
    assert.deepEqual(paths(answer), ALL);
    assert.ok(!answer.truncated);
  },
  "grep with a glob of names": async (backend) =>
    assert.deepEqual(paths(await backend.grep("needle", "/", "*.md")), ["/docs/deep/c.md:1"]),
  "grep with a glob of paths": async (backend) =>
    assert.deepEqual(paths(await backend.grep("needle", "/", "docs/*.txt")), ALL.slice(1, 3)),
  glob: async (backend) =>
    assert.deepEqual(
      (await backend.glob("**/*.{txt,md}")).files.map(({ path }) => path).sort(),
      Object.keys(VISIBLE),
    ),
  "an anchored glob": async (backend) =>
    assert.deepEqual(
      (await backend.glob("/**/*.md", "/docs")).files.map(({ path }) => path),
      ["/docs/deep/c.md"],
    ),
  ls: async (backend) => {
    const shown = (await backend.ls("/")).files.map(({ path }) => path);
    for (const path of ["/a.txt", "/docs/", "/mixed/"]) assert.ok(shown.includes(path), path);
  },
};

/** Nothing in the answer, its causes or its hidden fields tells of the hidden file. */
function saysNothing(answer) {
  const text = inspect(answer, { depth: 20, showHidden: true });
  assert.ok(!text.includes(HIDDEN) && !text.includes(TEXT), text);
}

for (const [what, make] of Object.entries(BACKENDS)) {
  for (const [how, [hidden, policy]] of Object.entries(CASES)) {
    if (what === "a mount" && hidden.startsWith("/vault/")) continue;
    for (const [search, check] of Object.entries(SEARCHES)) {
      test(`${what}, ${how}: ${search} finds what is visible though a hidden file fails`, async () => {
        await check(withPolicy(make(hidden), policy));
      });
    }
    test(`${what}, ${how}: no operation shows the failure of a hidden file`, async () => {
      const hides = `${hidden.slice(0, hidden.lastIndexOf("/"))}`;
      for (const more of [{}, { quota: { maxBytes: 1e6 } }, { readOnlyPrefixes: [hides] }]) {
        const backend = withPolicy(make(hidden), { ...policy, ...more });
        for (const call of [
          () => backend.ls("/"),
          () => backend.glob("**"),
          () => backend.glob("/**"),
          () => backend.glob("/**", "/docs"),
          () => backend.glob("{/**,*}", "/docs"),
          () => backend.grep("needle"),
          () => backend.grep("needle", "/mixed"),
          () => backend.grep("needle", "/", null, 2),
          () => backend.grep("needle", null, "**/*.txt"),
          () => backend.write("/mixed/new.txt", "x"),
          () => backend.uploadFiles([["/mixed/new2.txt", bytes("x")]]),
          () => backend.delete("/mixed"),
          () => backend.delete("/docs"),
        ]) {
          saysNothing(await call());
        }
      }
    });
  }
}

test("the failure of a visible file still fails the search, and is named", async () => {
  const backend = withPolicy(foreign("/docs/deep/c.md"), deny("/secrets/**"));
  const answer = await backend.grep("needle", "/docs");
  assert.equal(answer.code, "unavailable");
  assert.ok(answer.error.includes(TEXT), answer.error);
});

test("a search that fails in part and is repeated counts once and asks once", async () => {
  const asked = [];
  const backend = withPolicy(custom(`/docs/secrets/${HIDDEN}.txt`), {
    permissions: [
      { operations: ["read"], paths: ["/docs/secrets/**"], mode: "deny" },
      { operations: ["read"], paths: ["/docs"], mode: "ask" },
    ],
    onAsk: ({ path }) => asked.push(path) > 0,
    rateLimit: { operations: 1, perMs: 60_000 },
  });
  assert.deepEqual(paths(await backend.grep("needle", "/docs")), ALL.slice(1, 4));
  assert.deepEqual(asked, ["/docs"]);
});

for (const closed of [
  { permissions: [{ operations: ["read"], paths: ["/**"], mode: "deny" }] },
  { permissions: [{ operations: ["read", "write"], paths: ["**"], mode: "deny" }] },
  {
    permissions: [
      { operations: ["read"], paths: ["/"], mode: "deny" },
      { operations: ["read"], paths: ["/**"], mode: "deny" },
    ],
  },
  { defaultMode: "deny" },
  { defaultMode: "deny", permissions: [{ operations: ["write"], paths: ["/**"] }] },
  { permissions: [{ operations: ["read"], paths: ["/**"], mode: "ask" }], onAsk: () => false },
]) {
  for (const nested of [false, true]) {
    const how = `${JSON.stringify(closed)}${nested ? ", in a router of its own" : ""}`;
    test(`a mount that may not be read does not fail a search from above: ${how}`, async () => {
      const inner = withPolicy(new StateBackend({ files: { "/x.txt": "needle" } }), closed);
      const mount = nested ? new CompositeBackend(inner, {}) : inner;
      const router = new CompositeBackend(new StateBackend({ files: VISIBLE }), {
        "/mixed/m/": mount,
      });
      assert.deepEqual(paths(await router.grep("needle")), ALL);
      assert.deepEqual(paths(await router.grep("needle", "/mixed")), ["/mixed/d.txt:1"]);
      assert.equal((await router.glob("**")).files.length, 4);
      assert.equal((await router.glob("/mixed/**")).files.length, 1);
      // Directly, it says why.
      assert.equal((await router.grep("needle", "/mixed/m")).code, "permission_denied");
    });
  }
}

test("a mount whose storage refuses still fails a search from above, and is named", async () => {
  const refusing = {};
  for (const name of ["ls", "read", "readRaw", "grep", "glob", "write", "edit"]) {
    refusing[name] = async () => ({ error: "no credentials", code: "permission_denied" });
  }
  const router = new CompositeBackend(new StateBackend({ files: VISIBLE }), { "/m/": refusing });
  const answer = await router.grep("needle");
  assert.equal(answer.code, "permission_denied");
  assert.ok(answer.error.includes("/m/"), answer.error);
});

// `dryRun` of edit_file over MCP: a diff of what would change, and no change. With the SDK's own client.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { applyPatch, FilesystemBackend, StateBackend, withPolicy } from "kitbag";
import { withHistory } from "kitbag/history";
import { registerFileTools } from "kitbag/mcp";

const memory = (files) => new StateBackend({ scope: "instance", files });
const text = (backend, path) => backend.snapshot()[path].content;

/** The tools over a backend, for a client that is connected. */
async function connected(t, backend, options) {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, backend, options);
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  t.after(() => client.close());
  const call = (name, input) => client.callTool({ name, arguments: input });
  return {
    client,
    call,
    async edit(file_path, old_string, new_string, more) {
      const given = { file_path, old_string, new_string, ...more };
      const { content, isError, structuredContent } = await call("edit_file", given);
      return { said: content[0].text, isError, structuredContent };
    },
  };
}

const DRY = { dryRun: true };

test("the tool takes dryRun, and its hints are still those of a change", async (t) => {
  for (const structured of [false, true]) {
    const { client } = await connected(t, memory(), { structured });
    const { tools } = await client.listTools();
    const taking = tools.filter(({ inputSchema }) => inputSchema.properties.dryRun);
    assert.deepEqual(
      taking.map(({ name }) => name),
      ["edit_file"],
    );
    const [{ inputSchema, annotations }] = taking;
    assert.equal(inputSchema.properties.dryRun.type, "boolean");
    assert.ok(!inputSchema.required.includes("dryRun"));
    assert.equal(annotations.readOnlyHint, false);
    assert.equal(annotations.destructiveHint, true);
  }
});

test("a dry run answers a unified diff and changes nothing, in no backend", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-dry-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a.txt");
  writeFileSync(file, "one\ntwo\nthree\nfour\nfive\n");
  const before = memory({ "/a.txt": readFileSync(file, "utf8") });
  const history = withHistory(before, { keepIn: { backend: memory() } });
  for (const backend of [history, new FilesystemBackend({ rootDir: folder })]) {
    const listed = (await backend.ls("/")).files;
    const { edit } = await connected(t, backend);
    const { said, isError } = await edit("a.txt", "three", "3", DRY);
    assert.equal(isError, false, said);
    assert.equal(
      said,
      "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,5 @@\n one\n two\n-three\n+3\n four\n five\n",
    );
    assert.deepEqual((await backend.ls("/")).files, listed);
  }
  assert.equal(readFileSync(file, "utf8"), "one\ntwo\nthree\nfour\nfive\n");
  assert.equal(text(before, "/a.txt"), "one\ntwo\nthree\nfour\nfive\n");
  assert.deepEqual((await history.log("/")).entries, []);
});

test("what cannot be meant is never an edit", async (t) => {
  const backend = memory({ "/a.txt": "one", "/b.txt": "b" });
  const { call, edit } = await connected(t, backend, {
    tools: "all",
    requireReadBeforeEdit: false,
  });
  for (const more of [{ dryRun: "perhaps" }, { dryRun: 1 }, { dryRun: {} }, { dry_run: "on" }]) {
    const { said, isError } = await edit("/a.txt", "one", "two", more);
    assert.equal(isError, true);
    assert.match(said, /dryRun must be true or false; nothing was done/);
  }
  for (const more of [{ dryRun: "True" }, { dry_run: true }]) {
    const { said } = await edit("/a.txt", "one", "two", more);
    assert.match(said, /^-one$/m);
  }
  for (const [name, input] of [
    ["write_file", { file_path: "/c.txt", content: "x" }],
    ["delete", { file_path: "/b.txt" }],
    ["move_file", { from: "/b.txt", to: "/c.txt" }],
    ["copy_file", { from: "/b.txt", to: "/c.txt" }],
    ["append_file", { file_path: "/b.txt", content: "x" }],
  ]) {
    const { content, isError } = await call(name, { ...input, ...DRY });
    assert.equal(isError, true, name);
    assert.equal(content[0].text, `Error: ${name} has no dryRun; nothing was done`);
  }
  assert.deepEqual(
    Object.entries(backend.snapshot()).map(([path, { content }]) => [path, content]),
    [
      ["/a.txt", "one"],
      ["/b.txt", "b"],
    ],
  );
  for (const more of [{ dryRun: false }, { dryRun: "false" }, { dryRun: null }]) {
    const { said, isError } = await edit("/a.txt", "one", "two", more);
    assert.equal(isError, false, said);
    assert.equal(text(backend, "/a.txt"), "two");
    backend.edit("/a.txt", "two", "one");
  }
});

test("errors are those of the edit", async (t) => {
  const { edit } = await connected(
    t,
    memory({ "/a.txt": "a a", "/b.txt": "b", "/p.png": new Uint8Array(9) }),
  );
  for (const [path, old, fresh, why] of [
    ["/a.txt", "b", "c", /does not occur/],
    ["/a.txt", "a", "c", /2 times|appears 2|more than once/],
    ["/b.txt", "b", "b", /^Error: old_string and new_string are the same/],
    ["/none.txt", "a", "b", /not found/],
    ["/", "a", "b", /./],
    ["/p.png", "\0", "b", /./],
  ]) {
    const { said, isError } = await edit(path, old, fresh, DRY);
    assert.equal(isError, true, said);
    assert.match(said, why);
    assert.match(said, /^Error: (?!Error)/);
  }
});

test("rules are asked as for the edit, and what may not be read is not shown", async (t) => {
  const SECRET = "the secret text";
  const files = {
    "/secret/key.txt": SECRET,
    "/fixed/a.txt": "fixed",
    "/open/b.txt": "open",
    "/asked/c.txt": "asked",
    "/blind/d.txt": SECRET,
  };
  const questions = [];
  let answer = false;
  const policy = {
    readOnlyPrefixes: ["/fixed"],
    permissions: [
      { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" },
      { operations: ["read"], paths: ["/blind/**"], mode: "deny" },
      { operations: ["write"], paths: ["/asked/**"], mode: "ask" },
    ],
    onAsk: (question) => {
      questions.push(question);
      return answer;
    },
    quota: { maxBytes: 1_000 },
  };
  for (const within of [false, true]) {
    const inner = memory(files);
    const { edit } = within
      ? await connected(t, withPolicy(inner, policy))
      : await connected(t, inner, { policy });
    const refused = async (path, old, fresh = "x") => {
      const { said, isError } = await edit(path, old, fresh, DRY);
      assert.equal(isError, true, `${path}: ${said}`);
      assert.ok(!said.includes(SECRET), said);
      return said;
    };
    // What is guessed rightly is refused with the same words as what is not.
    for (const path of ["/secret/key.txt", "/open/../secret/key.txt", "/blind/d.txt"]) {
      assert.equal(await refused(path, "secret"), await refused(path, "nothing of the kind"));
    }
    const there = await refused("/secret/key.txt", "secret");
    const missing = await refused("/secret/none.txt", "secret");
    assert.equal(there.replace("key", ""), missing.replace("none", ""));
    assert.match(await refused("/fixed/a.txt", "fixed"), /not allowed/);
    assert.match(await refused("/open/b.txt", "open", "x".repeat(2_000)), /quota|bytes/i);
    answer = false;
    assert.match(await refused("/asked/c.txt", "asked"), /not allowed/);
    answer = true;
    const { said, isError } = await edit("/asked/c.txt", "asked", "x", DRY);
    assert.equal(isError, false, said);
    assert.match(questions.at(-1).preview, /dry run/);
    assert.equal(questions.at(-1).path, "/asked/c.txt");
    const { said: shown } = await edit("/open/b.txt", "open", "x", DRY);
    assert.match(shown, /^-open$/m);
    const now = Object.entries(inner.snapshot()).map(([path, { content }]) => [path, content]);
    assert.deepEqual(Object.fromEntries(now), files);
  }
  assert.equal(questions.length, 4);
});

test("a tool that is not offered has no dry run either", async (t) => {
  const backend = memory({ "/a.txt": "one" });
  for (const options of [{ tools: ["ls"] }, { policy: { readOnly: true } }]) {
    const { edit } = await connected(t, backend, options);
    const { said, isError } = await edit("/a.txt", "one", "two", DRY);
    assert.equal(isError, true, said);
    assert.doesNotMatch(said, /[-+](one|two)/);
  }
});

test("inspect sees nothing of a dry run, as nothing is stored", async (t) => {
  const seen = [];
  const inspect = (operation) => void seen.push(operation.operation);
  const { edit } = await connected(t, memory({ "/a.txt": "one" }), {
    policy: { inspect },
    requireReadBeforeEdit: false,
  });
  const { said } = await edit("/a.txt", "one", "two", DRY);
  assert.match(said, /^[+]two$/m);
  assert.deepEqual(seen, []);
  await edit("/a.txt", "one", "two");
  assert.deepEqual(seen, ["edit"]);
});

test("a rate limit counts dry runs", async (t) => {
  const policy = { rateLimit: { write: { operations: 2, perMs: 3_600_000 } } };
  const { edit } = await connected(t, memory({ "/a.txt": "one" }), { policy });
  const done = [];
  for (let at = 0; at < 4; at++) done.push((await edit("/a.txt", "one", "two", DRY)).isError);
  assert.deepEqual(done, [false, false, true, true]);
});

test("with structured results it tells the version that the file has, and honours ifMatch", async (t) => {
  const backend = memory({ "/a.txt": "one\n" });
  const { call, edit } = await connected(t, backend, { structured: true });
  const { structuredContent } = await call("read_file", { file_path: "/a.txt" });
  const { version } = structuredContent;
  const tried = await edit("/a.txt", "one", "two", { ...DRY, ifMatch: version });
  assert.equal(tried.isError, false, tried.said);
  assert.deepEqual(tried.structuredContent, { text: tried.said, path: "/a.txt", version });
  backend.edit("/a.txt", "one", "one more");
  const stale = await edit("/a.txt", "one", "two", { ...DRY, ifMatch: version });
  assert.equal(stale.isError, true);
  assert.match(stale.said, /was changed since it was read/);
  assert.equal(text(backend, "/a.txt"), "one more\n");
  const now = (await edit("/a.txt", "one", "two", DRY)).structuredContent.version;
  const made = await edit("/a.txt", "one", "two", { ifMatch: now });
  assert.equal(made.isError, false, made.said);
  assert.equal(text(backend, "/a.txt"), "two more\n");
});

test("a long diff is cut at a line, and says so", async (t) => {
  const lines = Array.from({ length: 5_000 }, (_, at) => `line ${at}\n`).join("");
  const { edit } = await connected(t, memory({ "/a.txt": lines }));
  const { said } = await edit("/a.txt", "line", "row", { ...DRY, replace_all: true });
  assert.ok(said.length < 20_200, `${said.length}`);
  assert.match(said, /\n\[The diff goes on; \d+ characters are not shown\]$/);
});

/** Numbers that are the same at each run. */
function* numbers(seed) {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 8;
  }
}

test("1,000 random edits: the diff, applied to the file, makes of it what the edit makes", async (t) => {
  const random = numbers(7);
  const one = (list) => list[random.next().value % list.length];
  const parts = ["a", "b", "\n", "\n", "ab", "\r\n", "ä", "a\nb"];
  const texts = (most) =>
    Array.from({ length: random.next().value % most }, () => one(parts)).join("");
  const backend = memory({});
  const { edit } = await connected(t, backend, { requireReadBeforeEdit: false });
  let compared = 0;
  for (let at = 0; at < 1_000; at++) {
    const path = `/${at}.txt`;
    const [content, old, fresh] = [texts(40), texts(4) || "a", texts(5)];
    const more = { replace_all: one([true, true, false]) };
    backend.uploadFiles([[path, new TextEncoder().encode(content)]]);
    const { said, isError } = await edit(path, old, fresh, { ...more, ...DRY });
    const what = JSON.stringify({ content, old, fresh, more, said });
    assert.equal(text(backend, path), content, what);
    const copy = memory({ [path]: content });
    const made = await edit(path, old, fresh, more);
    assert.equal(made.isError, isError, `${what} ${made.said}`);
    if (isError) continue;
    const { error } = await applyPatch(copy, said);
    assert.equal(error, undefined, what);
    assert.equal(text(copy, path), text(backend, path), what);
    compared += 1;
  }
  assert.ok(compared > 400, `${compared}`);
});

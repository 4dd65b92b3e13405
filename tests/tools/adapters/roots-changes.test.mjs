// The tools `diff`, `undo` and `commit` of a server that follows its client's roots: they work, and what is not below a
// root is in none of their answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { begin, StateBackend } from "kitbag";
import { beginKept, changeTools, withHistory } from "kitbag/history";
import { registerFileTools } from "kitbag/mcp";

const FILES = { "/one/a.txt": "first\n", "/two/b.txt": "hidden\n", "/one/key.txt": "key\n" };
const memory = (files = FILES) => new StateBackend({ scope: "instance", files });
const keepIn = () => ({ backend: memory({}) });

const BASES = {
  "a turn": () => begin(memory()),
  "a kept turn": () => beginKept(memory(), { keepIn: keepIn(), name: "t" }),
  "a history": () => withHistory(memory(), { keepIn: keepIn() }),
};

const deny = { operations: ["read", "write"], paths: ["/one/key.txt"], mode: "deny" };
const OPTIONS = {
  "no rules": {},
  "a policy": { policy: { permissions: [deny] } },
  "rules of permissions": { permissions: [deny] },
  structured: { structured: true },
};

async function linked(backend, options, roots) {
  const server = new McpServer({ name: "files", version: "1" });
  const inTree = (uri) => uri.slice("file:///tree".length);
  registerFileTools(server, backend, { ...options, roots: inTree });
  const client = new Client({ name: "client", version: "1" }, { capabilities: { roots: {} } });
  client.setRequestHandler(ListRootsRequestSchema, () => {
    if (!roots) throw new Error("not told");
    return { roots: roots.map((path) => ({ uri: `file:///tree${path}` })) };
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([client.connect(near), server.connect(far)]);
  const call = async (name, args) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    return { text: content[0].text, isError };
  };
  return { call, close: () => client.close() };
}

for (const [over, make] of Object.entries(BASES)) {
  for (const [rules, options] of Object.entries(OPTIONS)) {
    for (const how of ["itself", "as a function"]) {
      test(`${over} ${how}, ${rules}: changes below a root are shown and taken back`, async () => {
        const base = make();
        const source = how === "itself" ? base : (_extra) => base;
        const changes = changeTools();
        const { call, close } = await linked(source, { ...options, changes }, ["/one"]);
        assert.deepEqual(await call("diff", {}), { text: "Nothing has changed.", isError: false });
        await base.edit("/two/b.txt", "hidden", "hidden still");
        await call("read_file", { file_path: "/one/a.txt" });
        const edit = { file_path: "/one/a.txt", old_string: "first", new_string: "second" };
        const { text, isError } = await call("edit_file", edit);
        assert.equal(isError, false, text);
        const [, change] = /\[change (\S+)\]/.exec(text) ?? [];
        assert.ok(change, text);
        const shown = await call("diff", {});
        assert.match(shown.text, /-first\n\+second/);
        assert.doesNotMatch(shown.text, /hidden|two|b\.txt/);
        const hidden = { ...edit, file_path: "/two/b.txt", old_string: "hidden" };
        assert.equal((await call("edit_file", hidden)).isError, true);
        const undone = await call("undo", { change });
        assert.match(undone.text, /^Took back \/one\/a\.txt\./);
        assert.equal((await base.read("/one/a.txt")).content, "first\n");
        await close();
      });
    }
  }
}

test("a commit is refused while the turn has a change that is below no root", async () => {
  const backend = memory();
  const turn = begin(backend);
  const changes = changeTools({ commit: () => ({ type: "accept" }) });
  const { call, close } = await linked(turn, { changes }, ["/one"]);
  await call("append_file", { file_path: "/one/a.txt", content: "more\n" });
  await call("write_file", { file_path: "/one/new.txt", content: "new\n" });
  await turn.edit("/two/b.txt", "hidden", "other");
  const refused = await call("commit", {});
  assert.equal(refused.isError, true);
  assert.doesNotMatch(refused.text, /two|b\.txt/);
  assert.equal(backend.read("/one/new.txt").code, "not_found");
  await turn.discard(["/two/**"]);
  assert.match((await call("commit", {})).text, /^Committed .*\/one\/new\.txt/);
  assert.equal(backend.read("/one/new.txt").content, "new\n");
  await close();
});

test("a client that tells no roots gets neither changes nor an undo", async () => {
  const turn = begin(memory());
  const { call, close } = await linked(turn, { changes: changeTools() });
  await turn.edit("/one/a.txt", "first", "second");
  for (const [name, input] of [
    ["diff", {}],
    ["undo", { change: "x" }],
    ["write_file", { file_path: "/one/n.txt", content: "" }],
  ]) {
    const { text, isError } = await call(name, input);
    assert.equal(isError, true, name);
    assert.doesNotMatch(text, /first|second|a\.txt/);
  }
  await close();
});

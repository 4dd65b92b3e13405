// kitbag/mcp beyond the tools: structured results and conditional changes, pages of resources,
// notifications, and the roots of a client. With the SDK's own client.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  ListRootsRequestSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { StateBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";

const memory = (files) => new StateBackend({ scope: "instance", files });

/** A server over a backend, and a client that is connected to it. */
async function connected(backend, options, capabilities = {}, prepare = () => {}) {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, backend, options);
  prepare(server);
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  const [near, far] = InMemoryTransport.createLinkedPair();
  return {
    client,
    server,
    open: () => Promise.all([server.connect(far), client.connect(near)]),
    call: (name, input) => client.callTool({ name, arguments: input }),
  };
}

const SCHEMAS = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"];

test("without the option nothing is structured, and no tool takes ifMatch", async () => {
  const { client, open, call } = await connected(memory({ "/a.txt": "a" }));
  await open();
  const { tools } = await client.listTools();
  assert.ok(tools.every((tool) => tool.outputSchema === undefined));
  assert.doesNotMatch(JSON.stringify(tools), /ifMatch/);
  assert.equal((await call("ls", { path: "/" })).structuredContent, undefined);
  await client.close();
});

test("every structured result fits its schema, and has the text of the result", async () => {
  const { client, open, call } = await connected(memory({ "/d/a.txt": "one\n", "/b.txt": "" }), {
    structured: true,
  });
  await open();
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name, outputSchema }) => [name, outputSchema.type]),
    SCHEMAS.map((name) => [name, "object"]),
  );
  // The client checks each result against the schema that the server has told.
  const results = {
    ls: await call("ls", { path: "/" }),
    glob: await call("glob", { pattern: "**/*.txt" }),
    grep: await call("grep", { pattern: "one" }),
    read_file: await call("read_file", { file_path: "/d/a.txt" }),
    write_file: await call("write_file", { file_path: "/new.txt", content: "n" }),
    edit_file: await call("edit_file", {
      file_path: "/d/a.txt",
      old_string: "one",
      new_string: "two",
    }),
    delete: await call("delete", { file_path: "/b.txt" }),
  };
  for (const [name, { structuredContent, content, isError }] of Object.entries(results)) {
    assert.equal(isError, false, `${name}: ${content[0].text}`);
    assert.equal(structuredContent.text, content[0].text, name);
  }
  assert.deepEqual(
    results.ls.structuredContent.files.map(({ path, size, directory }) => [path, size, directory]),
    [
      ["/b.txt", 0, undefined],
      ["/d/", undefined, true],
    ],
  );
  assert.equal(results.glob.structuredContent.files.length, 2);
  for (const name of ["read_file", "write_file", "edit_file"]) {
    assert.match(results[name].structuredContent.version, /^sha256-[0-9a-f]{32}$/, name);
  }
  const missing = await call("read_file", { file_path: "/none" });
  assert.deepEqual([missing.isError, missing.structuredContent.path], [true, "/none"]);
  await client.close();
});

test("ifMatch changes only the version that the client saw, and answers the next one", async () => {
  const backend = memory({ "/a.txt": "one" });
  const { client, open, call } = await connected(backend, { structured: true });
  await open();
  const seen = (await call("read_file", { file_path: "/a.txt" })).structuredContent.version;
  const edit = (version, from, to) =>
    call("edit_file", { file_path: "/a.txt", old_string: from, new_string: to, ifMatch: version });
  const edited = await edit(seen, "one", "two");
  assert.equal(edited.isError, false, edited.content[0].text);
  const stale = await edit(seen, "two", "three");
  assert.equal(stale.isError, true);
  assert.match(stale.content[0].text, /was changed since it was read; nothing was done/);
  const next = edited.structuredContent.version;
  const ambiguous = await edit(next, "none", "x");
  assert.match(ambiguous.content[0].text, /does not occur/);
  const write = (version, content) =>
    call("write_file", { file_path: "/a.txt", content, ifMatch: version });
  assert.equal((await write(seen, "lost")).isError, true);
  const written = await write(next, "three");
  assert.equal(written.isError, false, written.content[0].text);
  assert.equal(backend.read("/a.txt").content, "three");
  const remove = (version) => call("delete", { file_path: "/a.txt", ifMatch: version });
  assert.equal((await remove(next)).isError, true);
  assert.equal((await remove(written.structuredContent.version)).isError, false);
  assert.equal((await write(next, "again")).isError, true);
  assert.deepEqual(Object.keys(backend.snapshot()), []);
  await client.close();
});

test("a conditional change and a dry run need the same arguments as the change itself", async () => {
  const backend = memory({ "/a.txt": "one two\n" });
  const { client, open, call } = await connected(backend, { structured: true });
  await open();
  const read = await call("read_file", { file_path: "/a.txt" });
  const ifMatch = read.structuredContent.version;
  for (const [name, more] of [
    ["write_file", {}],
    ["write_file", { content: { a: 1 } }],
    ["write_file", { context: "misspelled" }],
    ["edit_file", { old_string: "one" }],
    ["edit_file", { old_string: "one", new_string: 5 }],
    ["edit_file", { new_string: "one" }],
    ["edit_file", { old_string: "one", new_string: "1", replace_all: "maybe" }],
  ]) {
    const input = { file_path: "/a.txt", ...more };
    const plain = (await call(name, input)).content[0].text;
    assert.match(plain, /^Error: /);
    const ways = name === "edit_file" ? [{ ifMatch }, { dryRun: true }] : [{ ifMatch }];
    for (const way of ways) {
      const { isError, content } = await call(name, { ...input, ...way });
      assert.deepEqual([isError, content[0].text], [true, plain], JSON.stringify({ more, way }));
    }
  }
  assert.equal(backend.read("/a.txt").content, "one two\n");
  // And the other names that the tools take.
  const done = await call("write_file", { path: "/a.txt", text: "three", ifMatch });
  assert.equal(done.isError, false, done.content[0].text);
  assert.equal(backend.read("/a.txt").content, "three");
  await client.close();
});

test("two clients with the same version: one change lands, the other is refused", async () => {
  const backend = memory({ "/a.txt": "start" });
  const clients = await Promise.all([1, 2].map(() => connected(backend, { structured: true })));
  for (const { open } of clients) await open();
  const results = await Promise.all(
    clients.map(async ({ call }, at) => {
      const { structuredContent } = await call("read_file", { file_path: "/a.txt" });
      const ifMatch = structuredContent.version;
      return call("write_file", { file_path: "/a.txt", content: `${at}`, ifMatch });
    }),
  );
  const landed = results.filter(({ isError }) => !isError).length;
  assert.ok(landed >= 1);
  if (landed === 2) assert.fail("both landed on one version");
  for (const { client } of clients) await client.close();
});

test("rules hold for conditional changes", async () => {
  const backend = memory({ "/locked.txt": "x" });
  const { client, open, call } = await connected(backend, {
    structured: true,
    policy: { readOnlyPrefixes: ["/locked.txt"] },
  });
  await open();
  const { structuredContent } = await call("read_file", { file_path: "/locked.txt" });
  const ifMatch = structuredContent.version;
  for (const [name, more] of [
    ["write_file", { content: "y" }],
    ["edit_file", { old_string: "x", new_string: "y" }],
    ["delete", {}],
  ]) {
    const refused = await call(name, { file_path: "/locked.txt", ifMatch, ...more });
    assert.equal(refused.isError, true, name);
  }
  assert.equal(backend.read("/locked.txt").content, "x");
  await client.close();
});

test("resources come in pages, by name, also while files change", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 2_300 }, (_, at) => [`/f/${String(at).padStart(4, "0")}`, "x"]),
  );
  const backend = memory(files);
  const { client, open } = await connected(backend, undefined, {}, (server) =>
    server.registerResource("own", "own://thing", {}, async () => ({ contents: [] })),
  );
  await open();
  const seen = [];
  let cursor;
  const sizes = [];
  do {
    const page = await client.listResources({ cursor });
    sizes.push(page.resources.length);
    seen.push(...page.resources.map(({ name }) => name));
    cursor = page.nextCursor;
    // What is before the cursor moves nothing.
    if (cursor) backend.delete(`/f/0${sizes.length}00`);
  } while (cursor);
  assert.deepEqual(sizes, [1_001, 1_000, 300]);
  assert.equal(seen[0], "own");
  assert.equal(new Set(seen).size, 2_301);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates[0].uriTemplate, "kitbag:///{+path}");
  await client.close();
});

/** A backend that watches, as those of browsers do. */
class Watched extends StateBackend {
  watchers = new Set();
  watch(callback) {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  }
  elsewhere(...paths) {
    for (const one of this.watchers) one({ paths });
  }
}

test("a client is told of changes to files that it has subscribed to, and of the list", async () => {
  const backend = new Watched({
    scope: "instance",
    files: { "/a.txt": "a", "/b.txt": "b", "/secret.txt": "s" },
  });
  const { client, open, call } = await connected(backend, {
    permissions: [{ operations: ["read", "write"], paths: ["/secret.txt"], mode: "deny" }],
    tools: "all",
  });
  await open();
  assert.deepEqual(client.getServerCapabilities().resources, {
    subscribe: true,
    listChanged: true,
  });
  const updated = [];
  let lists = 0;
  let tell = () => {};
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updated.push(params.uri);
  });
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    lists += 1;
    tell();
  });
  const nextList = () => new Promise((resolve) => (tell = resolve));
  await client.subscribeResource({ uri: "kitbag:///a.txt" });
  await assert.rejects(client.subscribeResource({ uri: "kitbag:///secret.txt" }));
  await assert.rejects(client.subscribeResource({ uri: "kitbag:///none.txt" }));
  await assert.rejects(client.subscribeResource({ uri: "file:///a.txt" }));
  let told = nextList();
  backend.elsewhere("/a.txt", "/b.txt", "/secret.txt");
  await told;
  assert.deepEqual(updated, ["kitbag:///a.txt"]);
  told = nextList();
  await call("read_file", { file_path: "/a.txt" });
  await call("edit_file", { file_path: "/a.txt", old_string: "a", new_string: "A" });
  await told;
  assert.deepEqual(updated, ["kitbag:///a.txt", "kitbag:///a.txt"]);
  told = nextList();
  await call("move_file", { from: "/a.txt", to: "/c.txt" });
  await told;
  assert.deepEqual(updated.splice(2), ["kitbag:///a.txt"]);
  await client.unsubscribeResource({ uri: "kitbag:///a.txt" });
  told = nextList();
  backend.elsewhere("/a.txt");
  await told;
  assert.deepEqual([updated.length, lists], [2, 4]);
  await client.close();
  assert.equal(backend.watchers.size, 0);
});

test("a backend that cannot watch offers no subscription", async () => {
  const backend = new StateBackend();
  backend.write("/a", "1");
  const { client, open } = await connected(backend);
  await open();
  assert.equal(client.getServerCapabilities().resources.subscribe, undefined);
  await assert.rejects(client.subscribeResource({ uri: "kitbag:///a" }));
  await client.close();
});

test("the client's roots narrow tools and resources, and may change", async () => {
  const backend = memory({ "/one/a.txt": "x", "/two/b.txt": "x", "/c.txt": "x", "/o[n]e/d": "x" });
  const session = await connected(
    backend,
    { roots: (uri) => (uri.startsWith("file:///tree/") ? uri.slice(12) : undefined) },
    { roots: { listChanged: true } },
  );
  let given = ["file:///tree/one/"];
  session.client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: given.map((uri) => ({ uri })),
  }));
  await session.open();
  const found = async () =>
    (
      await session.call("grep", { pattern: "x", output_mode: "files_with_matches" })
    ).content[0].text
      .split("\n")
      .sort();
  assert.deepEqual(await found(), ["/one/a.txt"]);
  assert.equal((await session.call("read_file", { file_path: "/c.txt" })).isError, true);
  const { resources } = await session.client.listResources();
  assert.deepEqual(
    resources.map(({ name }) => name),
    ["/one/a.txt"],
  );
  await assert.rejects(session.client.readResource({ uri: "kitbag:///two/b.txt" }));
  given = ["file:///tree/two", "file:///tree/o[n]e", "file:///elsewhere"];
  await session.client.sendRootsListChanged();
  assert.deepEqual(await found(), ["/o[n]e/d", "/two/b.txt"]);
  given = ["file:///elsewhere"];
  await session.client.sendRootsListChanged();
  assert.match((await found()).join(), /not in this tree and were ignored: "file:\/\/\/elsewhere"/);
  await session.client.close();
});

test("wrong options are refused by name", () => {
  const register = (options) =>
    registerFileTools(new McpServer({ name: "k", version: "1" }), memory({}), options);
  assert.throws(() => register({ structured: "yes" }), /option "structured"/);
  assert.throws(() => register({ roots: ["/"] }), /option "roots"/);
  assert.throws(() => register({ structure: true }), /no option "structure"/);
});

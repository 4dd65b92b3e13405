// What narrows an MCP server: roots are closed until they are known, hidden changes are told to nobody,
// and what is missing is answered by the protocol's own code.

import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  ListRootsRequestSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { FilesystemBackend, StateBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";
import { NOT_FOUND } from "../set.mjs";

const FILES = { "/one/a.txt": "x", "/two/b.txt": "x", "/c.txt": "x" };
const memory = (files = FILES) => new StateBackend({ scope: "instance", files });
const inTree = (uri) => (uri.startsWith("file:///tree/") ? uri.slice(12) : undefined);

/** A server, and the raw end of its client: messages in, messages out. */
async function raw(options) {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, memory(), options);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const waiting = new Map();
  let roots = [];
  near.onmessage = (message) => {
    if (message.method === "roots/list") {
      void near.send({ jsonrpc: "2.0", id: message.id, result: { roots } });
    } else waiting.get(message.id)?.(message);
  };
  await near.start();
  await server.connect(far);
  const send = (message) => near.send({ jsonrpc: "2.0", ...message });
  const ask = (id, method, params) => {
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    void send({ id, method, params });
    return answered;
  };
  const initialize = (capabilities) =>
    ask(1, "initialize", {
      protocolVersion: "2025-06-18",
      capabilities,
      clientInfo: { name: "t", version: "1" },
    });
  const glob = (id) => ask(id, "tools/call", { name: "glob", arguments: { pattern: "**" } });
  return {
    send,
    ask,
    initialize,
    glob,
    tell: (uris) => {
      roots = uris.map((uri) => ({ uri }));
    },
    close: () => near.close(),
  };
}

const textOf = ({ result, error }) => result?.content?.[0]?.text ?? error?.message;

for (const [name, order] of Object.entries({
  "initialize, initialized and a call in one write": (it) => {
    void it.initialize({ roots: {} });
    void it.send({ method: "notifications/initialized" });
    return it.glob(2);
  },
  "a call before initialized": async (it) => {
    await it.initialize({ roots: {} });
    return it.glob(2);
  },
  "a call right behind initialize": (it) => {
    void it.initialize({ roots: { listChanged: true } });
    return it.glob(2);
  },
  "two calls in one write": (it) => {
    void it.initialize({ roots: {} });
    void it.send({ method: "notifications/initialized" });
    void it.glob(3);
    return it.glob(2);
  },
  "a list of resources in the same write": async (it) => {
    void it.initialize({ roots: {} });
    void it.send({ method: "notifications/initialized" });
    const listed = it.ask(3, "resources/list", {});
    assert.doesNotMatch(JSON.stringify(await listed), /b\.txt|c\.txt/);
    return it.glob(2);
  },
  "a read of what is hidden in the same write": async (it) => {
    void it.initialize({ roots: {} });
    void it.send({ method: "notifications/initialized" });
    const asked = [
      it.ask(3, "tools/call", { name: "read_file", arguments: { file_path: "/two/b.txt" } }),
      it.ask(4, "resources/read", { uri: "kitbag:///two/b.txt" }),
      it.ask(5, "tools/call", { name: "ls", arguments: { path: "/two" } }),
    ];
    const [read, resource, listed] = await Promise.all(asked);
    assert.deepEqual([read.result.isError, listed.result.isError], [true, true]);
    assert.ok(resource.error);
    return it.glob(2);
  },
  "a call before all": async (it) => {
    const early = it.glob(3);
    void it.initialize({ roots: {} });
    const answer = it.glob(2);
    assert.doesNotMatch(textOf(await early), /b\.txt|c\.txt/);
    return answer;
  },
  "initialized before initialize": (it) => {
    void it.send({ method: "notifications/initialized" });
    void it.initialize({ roots: {} });
    return it.glob(2);
  },
  "initialized twice": (it) => {
    void it.initialize({ roots: {} });
    void it.send({ method: "notifications/initialized" });
    void it.send({ method: "notifications/initialized" });
    return it.glob(2);
  },
  "roots that are said to change in the same write": (it) => {
    void it.initialize({ roots: { listChanged: true } });
    void it.send({ method: "notifications/initialized" });
    void it.send({ method: "notifications/roots/list_changed" });
    return it.glob(2);
  },
  "roots that are said to change before initialize": (it) => {
    void it.send({ method: "notifications/roots/list_changed" });
    void it.initialize({ roots: { listChanged: true } });
    return it.glob(2);
  },
  "the usual order": async (it) => {
    await it.initialize({ roots: {} });
    await it.send({ method: "notifications/initialized" });
    return it.glob(2);
  },
})) {
  test(`roots narrow: ${name}`, async () => {
    for (let round = 0; round < 3; round++) {
      const it = await raw({ roots: inTree });
      it.tell(["file:///tree/one"]);
      assert.equal(textOf(await order(it)), "/one/a.txt");
      await it.close();
    }
  });
}

test("before a client has said whether it has roots, it gets nothing", async () => {
  const it = await raw({ roots: inTree });
  const answer = await it.glob(2);
  assert.match(textOf(answer), /has not said yet whether it has any/);
  assert.doesNotMatch(JSON.stringify(answer), /a\.txt/);
  await it.close();
});

async function told(uris, roots = inTree) {
  const it = await raw({ roots });
  it.tell(uris);
  await it.initialize({ roots: {} });
  const text = textOf(await it.glob(2));
  await it.close();
  return text;
}

test("a root that is no file is ignored, and said", async () => {
  const warned = [];
  const { warn } = console;
  console.warn = (text) => warned.push(text);
  try {
    for (const odd of ["vscode-vfs://github/a/b", "untitled:Untitled-1", "", "%%%", "FTP://x/y"]) {
      assert.equal(await told([odd, "file:///tree/one/"]), "/one/a.txt", odd);
      assert.equal(await told(["file:///tree/one", odd]), "/one/a.txt", odd);
    }
  } finally {
    console.warn = warn;
  }
  assert.equal(warned.length, 10);
  assert.match(warned[0], /are no files and were ignored: "vscode-vfs:\/\/github\/a\/b"/);
});

test("where only roots are left that are no files, nothing is offered", async () => {
  for (const odd of [["vscode-vfs://github/a"], ["untitled:U"], ["untitled:U", "file:///else"]]) {
    const text = await told(odd);
    assert.match(text, /No other root is left, so nothing is offered; open a folder/);
    assert.doesNotMatch(text, /paths|a\.txt/);
  }
  const secret = await told(["vscode-vfs://me:hunter22@host/x"]);
  assert.doesNotMatch(secret, /hunter22/);
});

for (const [what, uris] of Object.entries({
  "another folder": ["file:///elsewhere"],
  "several others": ["file:///elsewhere", "file:///home/me/project", "file:///"],
  "a folder whose name begins alike": ["file:///tree-of-others/one"],
  "a way out of the tree": ["file:///elsewhere/../tree/one"],
  "a host": ["file://host/tree/one"],
  "a name and a password": ["file://me:hunter22@host/tree/one"],
  "another spelling": ["FILE:///TREE/one"],
  "none at all": [],
  "no object": [null],
  "another folder and no file": ["file:///elsewhere", "untitled:U"],
})) {
  test(`where all roots are outside of the tree, nothing is offered: ${what}`, async () => {
    const text = await told(uris);
    assert.match(text, /No other root is left, so nothing is offered; open a folder/);
    assert.doesNotMatch(text, /a\.txt|hunter22/);
    if (uris[0] === "file:///elsewhere") {
      assert.match(text, /are not in this tree and were ignored: "file:\/\/\/elsewhere"/);
    }
  });
}

test("of roots inside and outside, those outside are ignored, and said", async () => {
  const warned = [];
  const { warn } = console;
  console.warn = (text) => warned.push(text);
  try {
    assert.equal(await told(["file:///elsewhere", "file:///tree/one"]), "/one/a.txt");
  } finally {
    console.warn = warn;
  }
  assert.deepEqual(warned, [
    'kitbag/mcp: these roots of the client are not in this tree and were ignored: "file:///elsewhere"',
  ]);
});

test("a function for roots that throws or answers nonsense opens nothing", async () => {
  const odd = [() => 5, () => "relative", () => ({}), () => ["one", 5, ["/"]]];
  for (const roots of [...odd, () => assert.fail("broken")]) {
    assert.match(await told(["vscode-vfs://x"], roots), /nothing is offered/);
  }
});

test("a root can be several directories", async () => {
  const said = await told(["file:///both"], () => ["/one", "/two/"]);
  assert.equal(said, "/one/a.txt\n/two/b.txt");
});

test("a client that does not tell its roots gets nothing, and may tell them later", async () => {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, memory(), { roots: inTree });
  const client = new Client({ name: "t", version: "1" }, { capabilities: { roots: {} } });
  let refuses = true;
  client.setRequestHandler(ListRootsRequestSchema, () => {
    if (refuses) throw new Error("no");
    return { roots: [{ uri: "file:///tree/two" }] };
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  const glob = async () =>
    (await client.callTool({ name: "glob", arguments: { pattern: "**" } })).content[0].text;
  assert.match(await glob(), /did not tell them, so nothing is offered/);
  await assert.rejects(client.listResources(), /did not tell them/);
  refuses = false;
  assert.equal(await glob(), "/two/b.txt");
  await client.close();
});

/** A client of a folder under rules, and what it is told. */
async function watching(options, capabilities, use) {
  const rootDir = mkdtempSync(join(tmpdir(), "kitbag-test-"));
  const server = new McpServer({ name: "kitbag", version: "1" });
  const backend = new FilesystemBackend({ rootDir });
  const client = new Client({ name: "t", version: "1" }, { capabilities });
  try {
    for (const dir of ["open", "secret/deep"]) mkdirSync(join(rootDir, dir), { recursive: true });
    writeFileSync(join(rootDir, "open/a.txt"), "a");
    registerFileTools(server, backend, options);
    const heard = { lists: 0, updated: [] };
    let check = () => {};
    const until = (done) =>
      new Promise((resolve) => {
        // A watcher does not keep the process alive; this does.
        const alive = setInterval(() => {}, 1_000);
        check = () => {
          if (!done(heard)) return;
          clearInterval(alive);
          resolve();
        };
        check();
      });
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
      heard.lists += 1;
      check();
    });
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      heard.updated.push(params.uri);
      check();
    });
    await use({ rootDir, client, server, heard, until });
  } finally {
    await client.close();
    backend.dispose();
    rmSync(rootDir, { recursive: true, force: true });
  }
}

async function connect(client, server) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
}

const HIDING = {
  permissions: { permissions: [{ operations: ["read"], paths: ["/secret/**"], mode: "deny" }] },
  "a policy": {
    policy: { permissions: [{ operations: ["read"], paths: ["/secret/**"], mode: "deny" }] },
  },
  roots: { roots: inTree },
};

/** What another program does in a directory that is hidden, one after the other. */
const HIDDEN_CHANGES = {
  "a new file": (dir) => writeFileSync(join(dir, "new.txt"), "x"),
  "a new file further down": (dir) => writeFileSync(join(dir, "deep/new.txt"), "x"),
  "another content": (dir) => writeFileSync(join(dir, "new.txt"), "longer"),
  "a line at its end": (dir) => appendFileSync(join(dir, "new.txt"), "more\n"),
  "a cut": (dir) => truncateSync(join(dir, "new.txt"), 1),
  "another time": (dir) => utimesSync(join(dir, "new.txt"), 1, 1),
  "other permissions": (dir) => chmodSync(join(dir, "new.txt"), 0o600),
  "another name": (dir) => renameSync(join(dir, "new.txt"), join(dir, "renamed.txt")),
  "another directory": (dir) => renameSync(join(dir, "renamed.txt"), join(dir, "deep/moved.txt")),
  "a link": (dir) => symlinkSync("deep/moved.txt", join(dir, "link")),
  "a new directory": (dir) => mkdirSync(join(dir, "made/inner"), { recursive: true }),
  "a file replaced by another": (dir) => {
    writeFileSync(join(dir, "deep/aside"), "y");
    renameSync(join(dir, "deep/aside"), join(dir, "deep/moved.txt"));
  },
  "a file less": (dir) => rmSync(join(dir, "deep/new.txt")),
  "a directory less": (dir) => rmSync(join(dir, "deep"), { recursive: true }),
};

for (const [name, options] of Object.entries(HIDING)) {
  test(`list_changed tells nothing of what ${name} hides`, async () => {
    const capabilities = options.roots ? { roots: {} } : {};
    await watching(options, capabilities, async ({ rootDir, client, server, heard, until }) => {
      if (options.roots) {
        client.setRequestHandler(ListRootsRequestSchema, () => ({
          roots: [{ uri: "file:///tree/open" }],
        }));
      }
      await connect(client, server);
      await client.listResources();
      await client.subscribeResource({ uri: "kitbag:///open/a.txt" });
      writeFileSync(join(rootDir, "open/a.txt"), "0");
      await until(({ updated }) => updated.length > 0);
      await later(200);
      for (const [what, change] of Object.entries(HIDDEN_CHANGES)) {
        const before = heard.lists;
        heard.updated = [];
        change(join(rootDir, "secret"));
        await later(60);
        assert.equal(heard.lists, before, what);
        assert.deepEqual(heard.updated, [], what);
      }
      // What is shown is told, so the hidden changes before it would have been.
      const before = heard.lists;
      heard.updated = [];
      writeFileSync(join(rootDir, "open/a.txt"), "1");
      await until(({ updated, lists }) => updated.length > 0 && lists > before);
      assert.deepEqual([...new Set(heard.updated)], ["kitbag:///open/a.txt"]);
    });
  });
}

test("what is missing has the code of the protocol", async () => {
  const client = new Client({ name: "t", version: "1" });
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, memory(), {
    permissions: [{ operations: ["read"], paths: ["/two/**"], mode: "deny" }],
  });
  await connect(client, server);
  const codeOf = (uri) => client.readResource({ uri }).then(assert.fail, ({ code }) => code);
  assert.equal(await codeOf("kitbag:///none.txt"), NOT_FOUND);
  assert.equal(await codeOf("kitbag:///two/b.txt"), NOT_FOUND);
  assert.equal(await codeOf("kitbag:///two/none.txt"), NOT_FOUND);
  assert.equal(await codeOf("kitbag:///a/b%5Cc"), -32602);
  await client.close();
});

/** Messages as a server without sessions gets them: a request of HTTP, and no session. */
async function stateless(options, calls) {
  const backend = memory({ "/a.txt": "one" });
  const texts = [];
  for (const [name, input] of calls) {
    const server = new McpServer({ name: "kitbag", version: "1" });
    registerFileTools(server, backend, options);
    const [near, far] = InMemoryTransport.createLinkedPair();
    // As version 1 of the SDK has it, and as version 2 has.
    const extra = { requestInfo: { headers: {} }, request: new Request("http://localhost/mcp") };
    const deliver = new Promise((resolve) => {
      near.onmessage = resolve;
    });
    await near.start();
    await server.connect(far);
    const params = { name, arguments: input };
    far.onmessage({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, extra);
    texts.push((await deliver).result);
    await near.close();
  }
  return { backend, texts };
}

const EDIT = ["edit_file", { file_path: "/a.txt", old_string: "one", new_string: "two" }];

test("without sessions edit_file needs no read, because nothing remembers one", async () => {
  const { backend, texts } = await stateless({}, [["read_file", { file_path: "/a.txt" }], EDIT]);
  assert.equal(texts[1].isError, false, texts[1].content[0].text);
  assert.equal(backend.read("/a.txt").content, "two");
});

test("without sessions, rules and an explicit requirement hold", async () => {
  const guarded = await stateless({ policy: { readOnlyPrefixes: ["/a.txt"] } }, [EDIT]);
  assert.equal(guarded.texts[0].isError, true);
  const strict = await stateless({ requireReadBeforeEdit: true }, [EDIT]);
  assert.equal(strict.texts[0].isError, true);
  const rooted = await stateless({ roots: inTree }, [EDIT]);
  assert.match(rooted.texts[0].content[0].text, /without sessions cannot know them/);
  assert.equal(rooted.backend.read("/a.txt").content, "one");
});

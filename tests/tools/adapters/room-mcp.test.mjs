// The library's own files over MCP: no resource is one, none can be read or subscribed to, no change of one
// is told, and no tool reaches one, also with structured results and conditions.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as kitbag from "kitbag";
import { withIndex } from "kitbag/indexed";
import { registerFileTools } from "kitbag/mcp";
import { ERA, NOT_FOUND } from "../set.mjs";

const { CompositeBackend, FilesystemBackend, StateBackend } = kitbag;
const SECRET = "kept by the library";
/** A room at the root, one in a place that `keepIn` names, and one in a folder of a folder. */
const ROOMS = ["/.kitbag/turns/journal", "/idx/.kitbag/log/1", "/a/b/.kitbag/x"];

const folders = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function planted() {
  const root = mkdtempSync(join(tmpdir(), "kitbag-room-"));
  folders.push(root);
  for (const path of ROOMS) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), SECRET);
  }
  writeFileSync(join(root, "plain.txt"), "plain");
  const kept = () => {
    for (const path of ROOMS) assert.equal(readFileSync(join(root, path), "utf8"), SECRET, path);
  };
  return { root, kept, backend: new FilesystemBackend({ rootDir: root }) };
}

/** How the same folder is served: the directory of its root in the tree, and the backend. */
const WAYS = {
  "a folder": ["", (backend) => backend],
  "an index beside it": [
    "",
    (backend) => withIndex(backend, { keepIn: { backend, path: "/idx" } }),
  ],
  "a mount": ["/m", (backend) => new CompositeBackend(new StateBackend(), { "/m/": backend })],
  "an object of another library": ["", stranger],
};

/** The methods alone, and what is in the folder without a guard. */
function stranger(backend) {
  const names = ["ls", "read", "readRaw", "write", "edit", "delete", "uploadFiles"];
  const methods = names.map((name) => [
    name,
    async (...args) => backend[name](...args.slice(0, 4)),
  ]);
  return {
    ...Object.fromEntries(methods),
    glob: async (pattern, path) => ({
      files: [
        ...(await backend.glob(pattern, path)).files,
        ...ROOMS.map((room) => ({ path: room, size: SECRET.length })),
      ],
    }),
    grep: async (...args) => ({
      matches: [
        ...(await backend.grep(...args.slice(0, 4))).matches,
        ...ROOMS.map((path) => ({ path, line: 1, text: SECRET })),
      ],
    }),
    downloadFiles: async (paths) =>
      paths.map((path) => ({ path, content: new TextEncoder().encode(SECRET), error: null })),
    capability: { create: "storage", update: "storage", writable: true },
  };
}

async function connected(backend, options) {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, backend, options);
  const client = new Client({ name: "t", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  return client;
}

const spelled = (dir) =>
  ROOMS.flatMap((room) => [
    `${dir}${room}`,
    `${dir}${room.replace(".kitbag", ".KITBAG")}`,
    `${dir}${room.replace(".kitbag", ".kitbag.")}`,
    `${dir}${room.replace(".kitbag", ".kit\u200bbag")}`,
    `${dir}${room.replace("/.kitbag", "/./.kitbag/")}`,
  ]);
const uris = (dir) => [
  ...spelled(dir).map((path) => `kitbag://${path.split("/").map(encodeURIComponent).join("/")}`),
  `kitbag://${dir}/%2Ekitbag/turns/journal`,
  `kitbag://${dir}/%2e%6bitbag%2Fturns%2Fjournal`,
  `kitbag://${dir}/x/..%2F.kitbag/turns/journal`,
];

for (const [way, [dir, wrap]] of Object.entries(WAYS)) {
  test(`${way}: no resource is one, and none is read or subscribed to`, async () => {
    const { backend, kept } = planted();
    const client = await connected(wrap(backend));
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      [`kitbag://${dir}/plain.txt`],
    );
    // Since 2026-07-28 a subscription is a stream of the SDK's, which names what is not told too.
    const watches = ERA !== "2026" && client.getServerCapabilities().resources?.subscribe === true;
    for (const uri of uris(dir)) {
      for (const ask of [
        () => client.readResource({ uri }),
        ...(watches ? [() => client.subscribeResource({ uri })] : []),
      ]) {
        const refused = await ask().then(
          () => assert.fail(uri),
          (error) => error,
        );
        assert.ok([-32602, NOT_FOUND].includes(refused.code), `${uri}: ${refused}`);
        assert.ok(!String(refused).includes(SECRET));
      }
    }
    kept();
    await client.close();
    backend.dispose();
  });

  test(`${way}: no tool reaches one, with structured results and conditions`, async () => {
    const { backend, kept } = planted();
    const client = await connected(wrap(backend), { structured: true, tools: "all" });
    const call = (name, input) => client.callTool({ name, arguments: input });
    for (const file_path of spelled(dir)) {
      for (const [name, input] of [
        ["read_file", { file_path }],
        ["write_file", { file_path, content: "evil" }],
        ["write_file", { file_path, content: "evil", ifMatch: "sha256-0" }],
        ["edit_file", { file_path, old_string: SECRET, new_string: "evil" }],
        ["edit_file", { file_path, old_string: SECRET, new_string: "evil", ifMatch: "x" }],
        ["append_file", { file_path, content: "evil" }],
        ["delete", { file_path }],
        ["delete", { file_path, ifMatch: "x" }],
        ["copy_file", { from: file_path, to: `${dir}/out.txt` }],
        ["move_file", { from: file_path, to: `${dir}/out.txt` }],
        ["copy_file", { from: `${dir}/plain.txt`, to: file_path }],
      ]) {
        const answer = await call(name, input);
        assert.equal(answer.isError, true, `${name} ${JSON.stringify(file_path)}`);
        const told = JSON.stringify(answer);
        assert.ok(!told.includes(SECRET) && !told.includes("sha256-"), told);
      }
    }
    for (const [name, input] of [
      ["ls", { path: dir || "/" }],
      ["glob", { pattern: "**" }],
      ["glob", { pattern: "**/.kitbag/**" }],
      ["grep", { pattern: "kept", output_mode: "content" }],
    ]) {
      const told = JSON.stringify(await call(name, input));
      assert.ok(!told.includes(SECRET), told);
      assert.doesNotMatch(told, /\.kitbag\/(turns|log|x)/);
    }
    kept();
    await client.close();
    backend.dispose();
  });
}

test("a change of one is told to nobody", async () => {
  const { root, backend } = planted();
  const client = await connected(backend);
  const updated = [];
  let lists = 0;
  let heard = () => {};
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    lists += 1;
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updated.push(params.uri);
    heard();
  });
  const change = async (text) => {
    const told = new Promise((resolve) => {
      heard = resolve;
    });
    // A watcher does not keep the process alive; this does.
    const alive = setInterval(() => {}, 1_000);
    writeFileSync(join(root, "plain.txt"), text);
    await told;
    clearInterval(alive);
  };
  await client.listResources();
  await client.subscribeResource({ uri: "kitbag:///plain.txt" });
  await change("one");
  const before = lists;
  for (const path of ROOMS) writeFileSync(join(root, path), "another journal");
  writeFileSync(join(root, ".kitbag/turns/new"), "new");
  rmSync(join(root, "a/b/.kitbag"), { recursive: true });
  await change("two");
  assert.ok(lists - before <= 2, `${lists - before} notifications`);
  assert.deepEqual([...new Set(updated)], ["kitbag:///plain.txt"]);
  await client.close();
  backend.dispose();
});

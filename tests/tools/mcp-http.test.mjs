// Subscriptions and changes of the list over Streamable HTTP, with the SDK's own client: a folder in
// Node, an R2 bucket in workerd, and servers without sessions, which cannot tell of anything.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { FilesystemBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";
import { Miniflare } from "miniflare";
import { at } from "../../scripts/lib/paths.mjs";
import { workerModules } from "../lib/bundle.mjs";
import { COMPATIBILITY_DATE } from "../lib/workerd.mjs";

/** The longest wait for a notification. */
const LIMIT = { timeout: 150_000 };

/** A client, and what it was told. */
async function connected(url) {
  const client = new Client({ name: "test", version: "1" });
  const told = [];
  let check = () => {};
  const note = (what) => {
    told.push(what);
    check();
  };
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
    note(params.uri),
  );
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => note("list"));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const has = (what) =>
    new Promise((resolve) => {
      check = () => told.includes(what) && resolve();
      check();
    });
  return { client, told, has };
}

let folder;
let backend;
let server;
let url;
let worker;
let origin;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "kitbag-http-"));
  writeFileSync(join(folder, "a.txt"), "one\n");
  backend = new FilesystemBackend({ rootDir: folder });
  const sessions = new Map();
  const open = async (options) => {
    const transport = new StreamableHTTPServerTransport(options);
    const made = new McpServer({ name: "folder", version: "1" });
    registerFileTools(made, backend);
    await made.connect(transport);
    return transport;
  };
  server = createServer(async (request, response) => {
    if (request.url === "/stateless") {
      if (request.method !== "POST") return response.writeHead(405).end();
      return (await open({ sessionIdGenerator: undefined })).handleRequest(request, response);
    }
    const known = sessions.get(request.headers["mcp-session-id"]);
    const transport =
      known ??
      (await open({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => sessions.set(id, transport),
      }));
    return transport.handleRequest(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}`;

  worker = new Miniflare({
    modules: await workerModules(
      'export { default, Served } from "./mcp-worker.mjs";',
      at("tests/tools/hosts"),
      {
        nodePaths: [at("tests/deps/agents/node_modules")],
        alias: { "kitbag/mcp": at("pkg/dist/mcp.js"), kitbag: at("pkg/dist/workerd.js") },
      },
    ),
    modulesRoot: "/",
    compatibilityDate: COMPATIBILITY_DATE,
    host: "127.0.0.1",
    port: 0,
    r2Buckets: ["BUCKET"],
    durableObjects: { SERVED: "Served" },
  });
  origin = String(await worker.ready).replace(/\/$/, "");
});
after(async () => {
  await worker?.dispose();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
  backend?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

test("a client of a server in Node hears of files and of the list", LIMIT, async () => {
  const { client, told, has } = await connected(`${url}/mcp`);
  assert.deepEqual(client.getServerCapabilities().resources, {
    subscribe: true,
    listChanged: true,
  });
  await client.subscribeResource({ uri: "kitbag:///a.txt" });
  // By another program.
  writeFileSync(join(folder, "a.txt"), "two\n");
  await has("kitbag:///a.txt");
  await has("list");
  await client.unsubscribeResource({ uri: "kitbag:///a.txt" });
  told.length = 0;
  writeFileSync(join(folder, "b.txt"), "new\n");
  await has("list");
  const { contents } = await client.readResource({ uri: "kitbag:///a.txt" });
  assert.equal(contents[0].text, "two\n");
  await client.close();
});

test("a client of a Durable Object hears of changes of an R2 bucket", LIMIT, async () => {
  const bucket = await worker.getR2Bucket("BUCKET");
  await bucket.put("a.txt", "one\n");
  const { client, told, has } = await connected(`${origin}/mcp`);
  assert.equal(client.getServerCapabilities().resources.subscribe, true);
  await client.subscribeResource({ uri: "kitbag:///a.txt" });
  // The first list is a rescan, so every subscription is told.
  await has("kitbag:///a.txt");
  await has("list");
  told.length = 0;
  await bucket.put("a.txt", "by another one\n");
  await has("kitbag:///a.txt");
  told.length = 0;
  await bucket.put("new.txt", "x");
  await has("list");
  await client.close();
});

test("R2Backend in workerd tells of what it and others change", LIMIT, async () => {
  const answer = await fetch(`${origin}/watch?path=/watched.bin`);
  const { told, capability } = await answer.json();
  assert.equal(capability.watch, true);
  assert.deepEqual(told[0], { paths: [], rescan: true });
  assert.ok(told.at(-1).paths.includes("/watched.bin"));
  assert.ok(told.slice(1).every(({ rescan }) => rescan === undefined));
});

for (const [name, address] of [
  ["Node", () => `${url}/stateless`],
  ["workerd", () => `${origin}/stateless`],
]) {
  test(`${name}: a server without sessions says that it tells of no changes`, LIMIT, async () => {
    const { client } = await connected(address());
    assert.deepEqual(client.getServerCapabilities().resources, {});
    const { resources } = await client.listResources();
    assert.ok(resources.some(({ name }) => name === "/a.txt"));
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === "read_file"));
    // The client refuses by itself what the server does not offer; the server does, too.
    const asked = await fetch(address(), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "resources/subscribe" },
        params: { uri: "kitbag:///a.txt" },
      }),
    });
    assert.match(await asked.text(), /no sessions, so it cannot tell of changes/);
    await client.close();
  });
}

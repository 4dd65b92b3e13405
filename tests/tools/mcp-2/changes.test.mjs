// What a client of version 2 of the MCP SDK is told without asking, and what it is promised: over a connection
// all, over HTTP what the program tells itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";
import { opened, WAYS } from "./ways.mjs";

/** A backend that watches, as those of browsers do. */
class Watched extends StateBackend {
  watchers = new Set();
  watch(callback) {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  }
  tell(changes) {
    for (const one of this.watchers) one(changes);
  }
}

const FILES = { "/a.txt": "a", "/b.txt": "b", "/secret.txt": "s" };
const watched = () => new Watched({ scope: "instance", files: FILES, writeMode: "overwrite" });
const HIDES = {
  permissions: [{ operations: ["read", "write"], paths: ["/secret.txt"], mode: "deny" }],
};
const uri = (path) => `kitbag://${path}`;

/** A client of 2026 that listens to some files; `until` waits for a list. */
async function listening(t, way, backend, paths) {
  const made = await opened(t, way, (server) => {
    registerFileTools(server, backend, { tools: "all", ...HIDES });
  });
  const { client } = made;
  const updated = [];
  let tell = () => {};
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updated.push(params.uri.slice("kitbag://".length));
  });
  client.setNotificationHandler("notifications/resources/list_changed", () => tell());
  const { honoredFilter } = await client.listen({
    resourceSubscriptions: paths.map(uri),
    resourcesListChanged: true,
  });
  await client.listResources();
  const after = async (act) => {
    const told = new Promise((resolve) => {
      tell = resolve;
    });
    await act();
    await told;
    return updated.splice(0).sort();
  };
  return { ...made, honoredFilter, after };
}

for (const name of ["2026, one connection", "2026, server 2.0.0"]) {
  const way = WAYS[name];
  test(`${name}: a client hears of what it listens to, if it may see it`, async (t) => {
    const backend = watched();
    const all = ["/a.txt", "/secret.txt", "/new.txt"];
    const { after, call, client } = await listening(t, way, backend, all);
    const { resources } = client.getServerCapabilities();
    assert.deepEqual(resources, { subscribe: true, listChanged: true });
    const others = await after(() => backend.tell({ paths: ["/a.txt", "/b.txt", "/secret.txt"] }));
    assert.deepEqual(others, ["/a.txt"]);
    const write = (file_path) => call("write_file", { file_path, content: "x" });
    assert.deepEqual(await after(() => write("/new.txt")), ["/new.txt"]);
    assert.deepEqual(await after(() => write("/other.txt")), []);
    const move = () => call("move_file", { from: "/a.txt", to: "/c.txt" });
    assert.deepEqual(await after(move), ["/a.txt"]);
  });

  test(`${name}: where it is not known what has changed, each file may have`, async (t) => {
    const backend = watched();
    const { after } = await listening(t, way, backend, ["/a.txt", "/secret.txt", "/gone.txt"]);
    const rescan = () => backend.tell({ paths: ["/gone.txt"], rescan: true });
    assert.deepEqual([...new Set(await after(rescan))], ["/a.txt", "/gone.txt"]);
  });

  test(`${name}: watching ends with the connection`, async (t) => {
    const backend = watched();
    const { client } = await listening(t, way, backend, ["/a.txt"]);
    assert.equal(backend.watchers.size, 1);
    await client.close();
    assert.equal(backend.watchers.size, 0);
  });
}

test("over HTTP nothing is promised, and no request begins to watch", async (t) => {
  for (const name of ["2026, HTTP", "2026, HTTP of Node", "2025, HTTP"]) {
    const backend = watched();
    const { client, call } = await opened(t, WAYS[name], (server) => {
      registerFileTools(server, backend);
    });
    assert.deepEqual(client.getServerCapabilities().resources, {}, name);
    await client.listResources();
    await client.readResource({ uri: uri("/a.txt") });
    const done = await call("write_file", { file_path: "/n.txt", content: "x" });
    assert.equal(done.isError, false);
    assert.equal(backend.watchers.size, 0, name);
  }
});

test("over HTTP a program that tells changes itself may promise that", async (t) => {
  const backend = watched();
  const way = WAYS["2026, HTTP"];
  const { client, handler } = await opened(t, way, (server) => {
    server.server.registerCapabilities({ resources: { subscribe: true } });
    registerFileTools(server, backend);
  });
  assert.equal(client.getServerCapabilities().resources.subscribe, true);
  const told = new Promise((resolve) => {
    client.setNotificationHandler("notifications/resources/updated", resolve);
  });
  const subscription = await client.listen({ resourceSubscriptions: [uri("/a.txt")] });
  const stop = backend.watch(({ paths }) => {
    for (const path of paths) handler.notify.resourceUpdated(uri(path));
  });
  backend.tell({ paths: ["/b.txt", "/a.txt"] });
  assert.equal((await told).params.uri, uri("/a.txt"));
  stop();
  await subscription.close();
});

test("a server of 2025 over HTTP says that it tells of nothing", async (t) => {
  const { client } = await opened(t, WAYS["2025, HTTP"], (server) => {
    server.server.registerCapabilities({ resources: { subscribe: true } });
    registerFileTools(server, watched());
  });
  assert.deepEqual(client.getServerCapabilities().resources, {});
  const asked = client.request({ method: "resources/subscribe", params: { uri: uri("/a.txt") } });
  await assert.rejects(asked, /no sessions, so it cannot tell of changes/);
});

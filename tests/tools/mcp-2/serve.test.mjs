// `kitbag serve` with the SDK that is installed beside the package: version 2, version 1, or the oldest ones that
// it takes; over standard input and output and over HTTP, with clients of both versions and in both eras.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { installed, plant } from "../../command/lib.mjs";
import { CLIENTS, connected } from "./processes.mjs";

/** What is installed: name → folder in the set. */
const ONE = { "@modelcontextprotocol/sdk": "@modelcontextprotocol/sdk" };
const TWO = { "@modelcontextprotocol/server": "@modelcontextprotocol/server" };
const SDKS = {
  "SDK 1": { links: ONE, eras: [2025] },
  "SDK 1.20": { links: { "@modelcontextprotocol/sdk": "mcp-sdk-1-20" }, eras: [2025] },
  "SDK 2": { links: TWO, eras: [2025, 2026] },
  "SDK 2.0": { links: { "@modelcontextprotocol/server": "mcp-server-2-0" }, eras: [2025, 2026] },
  "both SDKs": { links: { ...ONE, ...TWO }, eras: [2025, 2026] },
};

let kitbag;
let folder;

before(async () => {
  kitbag = await installed();
  folder = mkdtempSync(join(tmpdir(), "kitbag-serve-2-"));
  plant(folder, { "a.txt": "alpha\n", "sub/b.txt": "beta\n", ".env": "PASSW0RD" });
});
after(() => {
  kitbag?.remove();
  rmSync(folder, { recursive: true });
});

/** Begins a server over HTTP, for a test; its URL. */
async function served(t, args = [], env = {}) {
  const child = kitbag.begin(["serve", folder, "--http", "0", ...args], { env });
  t.after(async () => {
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    assert.equal(await gone, 0, "SIGTERM ends the server");
  });
  let said = "";
  return new Promise((resolve, reject) => {
    child.stderr.on("data", (data) => {
      said += data;
      const found = /serving at (\S+)/.exec(said);
      if (found) resolve(new URL(found[1]));
    });
    child.once("close", () => reject(new Error(said)));
  });
}

const OVER = {
  "standard input and output": async (_, kind, args) =>
    kind.stdio({ command: kitbag.bin, args: ["serve", folder, ...args] }),
  HTTP: async (t, kind, args) => kind.http(await served(t, args)),
};

const textOf = ({ content }) => content[0].text;

let number = 0;

/** What every client must be able to do. */
async function works(t, kind, transport) {
  const { client, call } = await connected(t, kind, transport);
  const { tools } = await client.listTools();
  assert.equal(tools.length, 7);
  assert.match(textOf(await call("read_file", { file_path: "/a.txt" })), /alpha/);
  number += 1;
  const made = await call("write_file", { file_path: `/made/${number}.txt`, content: "x" });
  assert.equal(made.isError, false, textOf(made));
  assert.match(made.structuredContent.version, /^sha256-/);
  assert.equal(readFileSync(join(folder, `made/${number}.txt`), "utf8"), "x");
  for (const path of ["/.env", "/sub/b.txt"]) {
    assert.equal((await call("read_file", { file_path: path })).isError, true, path);
  }
  const { resources } = await client.listResources();
  assert.ok(resources.some(({ uri }) => uri === "kitbag:///a.txt"));
  assert.ok(!resources.some(({ uri }) => /env|sub/.test(uri)));
  const read = await client.readResource({ uri: "kitbag:///a.txt" });
  assert.equal(read.contents[0].text, "alpha\n");
  await assert.rejects(client.readResource({ uri: "kitbag:///.env" }));
  assert.match(client.getInstructions(), /hidden by rules/);
  if (kind.modern) assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
}

function install({ links }) {
  const undo = Object.entries(links).map(([name, from]) => kitbag.link(name, "mcp", from));
  return () => {
    for (const one of undo) one();
  };
}

for (const [name, sdk] of Object.entries(SDKS)) {
  describe(name, () => {
    let undo;
    before(() => {
      undo = install(sdk);
    });
    after(() => undo());
    for (const [who, kind] of Object.entries(CLIENTS)) {
      for (const [where, open] of Object.entries(OVER)) {
        if (kind.modern && !sdk.eras.includes(2026)) {
          test(`${who}, over ${where}, is refused: the SDK does not speak that version`, async (t) => {
            const transport = await open(t, kind, []);
            await assert.rejects(connected(t, kind, transport));
          });
          continue;
        }
        test(`${who}, over ${where}`, async (t) => {
          await works(t, kind, await open(t, kind, ["--structured", "--deny", "/sub/**"]));
        });
      }
    }

    test("a session that is not known is answered by 404, one that ended too", async (t) => {
      const url = await served(t);
      const kind = CLIENTS["a client of version 1"];
      const transport = kind.http(url);
      const { client } = await connected(t, kind, transport);
      const { sessionId } = transport;
      assert.match(sessionId, /^[0-9a-f-]{36}$/);
      await transport.terminateSession();
      await client.close();
      const headers = {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      };
      const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
      for (const id of [sessionId, "gone", "__proto__"]) {
        for (const method of ["POST", "GET", "DELETE"]) {
          const answer = await fetch(url, {
            ...{ method, headers: { ...headers, "mcp-session-id": id } },
            ...(method === "POST" && { body: ping }),
          });
          assert.equal(answer.status, 404, `${method} ${id}`);
          assert.equal((await answer.json()).error.code, -32001);
        }
      }
      assert.equal((await fetch(url, { method: "POST", headers, body: ping })).status, 400);
    });

    test("a session hears of changes of what it subscribed to", async (t) => {
      const kind = CLIENTS["a client of version 2"];
      const { client } = await connected(t, kind, kind.http(await served(t)));
      mkdirSync(join(folder, "told"), { recursive: true });
      writeFileSync(join(folder, "told/a.txt"), "1");
      const told = new Promise((resolve) => {
        client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
          resolve(params.uri),
        );
      });
      await client.subscribeResource({ uri: "kitbag:///told/a.txt" });
      writeFileSync(join(folder, "told/a.txt"), "2");
      assert.equal(await told, "kitbag:///told/a.txt");
    });

    if (sdk.eras.includes(2026)) {
      test("over HTTP a client of 2026 hears of what the rules show it", async (t) => {
        const kind = CLIENTS["a client of 2026"];
        const url = await served(t, ["--deny", "/hidden/**"]);
        plant(folder, { "heard/a.txt": "1", "hidden/a.txt": "1" });
        const names = ["/heard/a.txt", "/heard/new.txt", "/hidden/a.txt", "/.env"];
        const { client, call } = await connected(t, kind, kind.http(url));
        const resources = { subscribe: true, listChanged: true };
        assert.deepEqual(client.getServerCapabilities().resources, resources);
        const heard = new Set();
        let tell = () => {};
        client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
          heard.add(params.uri.slice("kitbag://".length));
          tell();
        });
        let lists = 0;
        client.setNotificationHandler("notifications/resources/list_changed", () => {
          lists += 1;
          tell();
        });
        const subscription = await client.listen({
          resourceSubscriptions: names.map((path) => `kitbag://${path}`),
          resourcesListChanged: true,
        });
        /** Acts again and again, as a watch begins some time after it was asked for. */
        const until = async (isDone, act) => {
          while (!isDone()) {
            const told = new Promise((resolve) => {
              tell = resolve;
            });
            await act();
            await Promise.race([told, later(200)]);
          }
        };
        let number = 0;
        const others = () => {
          number += 1;
          plant(folder, { "hidden/a.txt": `${number}`, ".env": `${number}` });
          plant(folder, { "heard/a.txt": `${number}` });
        };
        await until(() => heard.has("/heard/a.txt") && lists > 0, others);
        const own = (file_path) => call("write_file", { file_path, content: "x" });
        await until(
          () => heard.has("/heard/new.txt"),
          () => own("/heard/new.txt"),
        );
        assert.deepEqual([...heard].sort(), ["/heard/a.txt", "/heard/new.txt"]);
        await subscription.close();
        plant(folder, { ".env": "PASSW0RD" });
        rmSync(join(folder, "heard/new.txt"));
      });
    }

    test("roots narrow the folder in a session", async (t) => {
      const kind = CLIENTS["a client of version 2"];
      const roots = () => ({ roots: [{ uri: pathToFileURL(join(folder, "sub")).href }] });
      for (const open of Object.values(OVER)) {
        const given = { capabilities: { roots: {} } };
        const { call } = await connected(t, kind, await open(t, kind, []), given, { roots });
        assert.equal(textOf(await call("glob", { pattern: "**" })), "/sub/b.txt");
      }
    });

    test("with a token, and without", async (t) => {
      const url = await served(t, [], { KITBAG_TOKEN: "t0ken" });
      assert.equal((await fetch(url, { method: "POST", body: "{}" })).status, 401);
      for (const kind of Object.values(CLIENTS)) {
        if (kind.modern && !sdk.eras.includes(2026)) continue;
        const headers = { authorization: "Bearer t0ken" };
        const { call } = await connected(t, kind, kind.http(url, { requestInit: { headers } }));
        assert.match(textOf(await call("read_file", { file_path: "/a.txt" })), /alpha/);
      }
    });

    test("requests of other origins, other places, and ones that are none", async (t) => {
      const url = await served(t);
      const post = (headers, body = "{}", at = url) =>
        fetch(at, { method: "POST", headers, body }).then(({ status }) => status);
      const json = {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      };
      assert.equal(await post({ ...json, origin: "https://evil.example" }), 403);
      assert.equal(await post(json, "{}", new URL("/other", url)), 404);
      for (const body of ["", "{", "[]", "{}", "null", "\u0000"]) {
        assert.equal(await post(json, body), 400, JSON.stringify(body));
      }
      assert.equal(await post({ ...json, "content-type": "text/plain" }), 415);
      // Refused while it arrives, so the connection may end before the answer.
      const long = await post(json, `"${"x".repeat(5_000_000)}"`).catch(() => "broken off");
      assert.ok([413, "broken off", 400].includes(long), String(long));
      assert.equal(await post(json), 400);
    });
  });
}

describe("what is installed is not enough", () => {
  const fails = async (says) => {
    for (const args of [
      ["serve", folder],
      ["serve", folder, "--http", "0"],
    ]) {
      const { code, err } = await kitbag.run(args);
      assert.equal(code, 2);
      assert.match(err, says);
    }
  };
  const NEEDED =
    /an SDK of MCP is needed: @modelcontextprotocol\/server 2, or @modelcontextprotocol\/sdk from version 1\.20\. Run\n\n {2}npx -p kitbag -p @modelcontextprotocol\/server kitbag serve ADDRESS/;
  /** Puts a package into the project. */
  const put = (t, name, exports, files) => {
    const place = join(kitbag.root, "node_modules", name);
    plant(place, {
      "package.json": JSON.stringify({ name, version: "0.0.1", type: "module", exports }),
      ...files,
    });
    t.after(() => rmSync(place, { recursive: true }));
  };

  test("nothing", () => fails(NEEDED));
  test("only the client of version 2", async (t) => {
    t.after(kitbag.link("@modelcontextprotocol/client", "mcp"));
    await fails(NEEDED);
  });
  test("a version 2 without an entry for standard input and output", async (t) => {
    put(t, "@modelcontextprotocol/server", { ".": "./index.js" }, { "index.js": "" });
    await fails(NEEDED);
    t.after(kitbag.link("@modelcontextprotocol/sdk", "mcp"));
    const kind = CLIENTS["a client of version 1"];
    const transport = await OVER["standard input and output"](t, kind, []);
    assert.equal((await (await connected(t, kind, transport)).client.listTools()).tools.length, 7);
  });
  test("a version 1 without Streamable HTTP", async (t) => {
    put(t, "@modelcontextprotocol/sdk", { "./*": "./*" }, { "server/mcp.js": "" });
    await fails(NEEDED);
  });
  test("a version 2 whose own dependency is missing says so", async (t) => {
    const files = { "index.js": 'import "zod-of-nobody";', "stdio.js": "" };
    put(t, "@modelcontextprotocol/server", { ".": "./index.js", "./stdio": "./stdio.js" }, files);
    await fails(/zod-of-nobody/);
  });
  test("a version 2 that throws says why", async (t) => {
    const files = { "index.js": 'throw new Error("out of order");', "stdio.js": "" };
    put(t, "@modelcontextprotocol/server", { ".": "./index.js", "./stdio": "./stdio.js" }, files);
    await fails(/out of order/);
  });
});

// A server without sessions over real Streamable HTTP, a new one for each request: nothing remembers which
// files were read, so tools do not ask for it, unless the option says so; and every resource that there is
// not, or that is hidden, has the protocol's own code.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { StateBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";
import { NOT_FOUND } from "./set.mjs";

const FILES = { "/a.txt": "one\ntwo\n", "/d/b.txt": "deep\n", "/secret/key.txt": "hidden\n" };

/** By the path of a request: the options of its server, and whether all requests share one tool set. */
const KINDS = {
  "/plain": {},
  "/structured": { structured: true },
  "/required": { requireReadBeforeEdit: true },
  "/rules": {
    permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
  },
};

let backend;
let server;
let url;

before(async () => {
  server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const made = new McpServer({ name: "files", version: "1" });
    registerFileTools(made, backend, { tools: "all", ...KINDS[request.url] });
    response.on("close", () => void made.close());
    await made.connect(transport);
    await transport.handleRequest(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A client of one kind of server over fresh files. */
async function connected(t, kind = "/plain") {
  backend = new StateBackend({ files: FILES, writeMode: "overwrite" });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}${kind}`)));
  t.after(() => client.close());
  const call = async (name, input) => {
    const { content, isError = false } = await client.callTool({ name, arguments: input });
    return { text: content.map(({ text }) => text).join(""), isError };
  };
  const edit = (file_path, old_string, new_string, more = {}) =>
    call("edit_file", { file_path, old_string, new_string, ...more });
  return { client, call, edit };
}

const text = (path) => backend.read(path).content;

/** Each edits files in several requests; the result is what `/a.txt` holds then. */
const EDITS = {
  "read, then edit": async ({ call, edit }) => {
    await call("read_file", { file_path: "/a.txt" });
    assert.equal((await edit("/a.txt", "one", "1")).isError, false);
    return "1\ntwo\n";
  },
  "edit without a read": async ({ edit }) => {
    assert.equal((await edit("/a.txt", "one", "1")).isError, false);
    return "1\ntwo\n";
  },
  "two edits": async ({ edit }) => {
    assert.equal((await edit("/a.txt", "one", "1")).isError, false);
    assert.equal((await edit("/a.txt", "two", "2")).isError, false);
    return "1\n2\n";
  },
  "a file that changed between read and edit": async ({ call, edit }) => {
    await call("read_file", { file_path: "/a.txt" });
    backend.edit("/a.txt", "two", "zwei");
    assert.equal((await edit("/a.txt", "one", "1")).isError, false);
    return "1\nzwei\n";
  },
  "a text that is gone since the read": async ({ call, edit }) => {
    await call("read_file", { file_path: "/a.txt" });
    backend.edit("/a.txt", "one", "eins");
    const { text: said, isError } = await edit("/a.txt", "one", "1");
    assert.deepEqual(
      [isError, /not found|no match|does not occur/i.test(said)],
      [true, true],
      said,
    );
    return "eins\ntwo\n";
  },
  "a text that was never there": async ({ edit }) => {
    assert.equal((await edit("/a.txt", "three", "3")).isError, true);
    return "one\ntwo\n";
  },
  "a text that is there twice": async ({ edit }) => {
    backend.edit("/a.txt", "two", "one");
    assert.equal((await edit("/a.txt", "one", "1")).isError, true);
    assert.equal((await edit("/a.txt", "one", "1", { replace_all: true })).isError, false);
    return "1\n1\n";
  },
  "a new file, edited in the next request": async ({ call, edit }) => {
    assert.equal(
      (await call("write_file", { file_path: "/new.txt", content: "x" })).isError,
      false,
    );
    assert.equal((await edit("/new.txt", "x", "y")).isError, false);
    assert.equal(text("/new.txt"), "y");
    return "one\ntwo\n";
  },
  "another spelling of the path": async ({ call, edit }) => {
    await call("read_file", { file_path: "a.txt" });
    assert.equal((await edit("//./a.txt", "one", "1")).isError, false);
    return "1\ntwo\n";
  },
  "a file that was replaced": async ({ call, edit }) => {
    await call("read_file", { file_path: "/a.txt" });
    assert.equal(
      (await call("write_file", { file_path: "/a.txt", content: "one more\n" })).isError,
      false,
    );
    assert.equal((await edit("/a.txt", "one", "1")).isError, false);
    return "1 more\n";
  },
  "a file that is not there": async ({ edit }) => {
    assert.equal((await edit("/none.txt", "one", "1")).isError, true);
    return "one\ntwo\n";
  },
  "a directory": async ({ edit }) => {
    const { text: said, isError } = await edit("/d", "one", "1");
    assert.ok(isError && /directory/.test(said), said);
    return "one\ntwo\n";
  },
  "ten edits at once, none is lost": async ({ call, edit }) => {
    const lines = Array.from({ length: 10 }, (_, at) => `line-${at};`);
    await call("write_file", { file_path: "/a.txt", content: lines.join("\n") });
    const done = await Promise.all(lines.map((line, at) => edit("/a.txt", line, `new-${at};`)));
    assert.ok(done.every(({ isError }) => !isError));
    return lines.map((_, at) => `new-${at};`).join("\n");
  },
};

for (const kind of ["/plain", "/structured", "/rules"]) {
  describe(`without sessions, ${kind.slice(1)}`, () => {
    for (const [name, run] of Object.entries(EDITS)) {
      test(name, async (t) => {
        const made = await connected(t, kind);
        const expected = await run(made);
        assert.equal(text("/a.txt"), expected);
      });
    }
  });
}

test("where the option asks for a read, an edit is refused, and says what to do", async (t) => {
  const { call, edit } = await connected(t, "/required");
  for (const before of [[], ["/a.txt"]]) {
    for (const file_path of before) await call("read_file", { file_path });
    const { text: said, isError } = await edit("/a.txt", "one", "1");
    assert.deepEqual([isError, /read/.test(said)], [true, true], said);
  }
  assert.equal(text("/a.txt"), FILES["/a.txt"]);
});

test("what hides a file hides it from edits", async (t) => {
  const { call, edit } = await connected(t, "/rules");
  for (const said of [
    await edit("/secret/key.txt", "hidden", "x"),
    await edit("/d/../secret/key.txt", "hidden", "x"),
    await call("read_file", { file_path: "//secret/key.txt" }),
    await call("move_file", { source_path: "/secret/key.txt", destination_path: "/k.txt" }),
  ]) {
    assert.equal(said.isError, true, said.text);
    assert.doesNotMatch(said.text, /hidden/);
  }
  assert.equal(text("/secret/key.txt"), "hidden\n");
});

/** URIs of resources that there are not, with the code of the protocol. */
const ABSENT = {
  "kitbag:///none.txt": NOT_FOUND,
  "kitbag:///d": NOT_FOUND,
  "kitbag:///secret/key.txt": NOT_FOUND,
  "kitbag:///%73ecret/key.txt": NOT_FOUND,
  "kitbag:///secret%2Fkey.txt": NOT_FOUND,
  "kitbag:///d/../secret/key.txt": NOT_FOUND,
  "kitbag:///a.txt/": undefined,
  "kitbag:///A.TXT": NOT_FOUND,
  "kitbag:///.kitbag/turns/journal": -32602,
  "kitbag:///.kit%E2%80%8Bbag/x": -32602,
  "kitbag:///.kit%EF%B8%8Fbag/x": -32602,
  "kitbag:///a%5Cb": -32602,
  "kitbag:///%00": -32602,
  "kitbag:///d/%2e%2e%2fa.txt": -32602,
};

/** Those that are no path. */
const WRONG = Object.keys(ABSENT).filter((uri) => /\.kit|%5C|%00|%2f/.test(uri));

test("a resource that there is not, or that is hidden, has the protocol's code", async (t) => {
  const { client } = await connected(t, "/rules");
  for (const [uri, code] of Object.entries(ABSENT)) {
    if (code === undefined) {
      const { contents } = await client.readResource({ uri });
      assert.equal(contents[0].text, FILES["/a.txt"]);
      continue;
    }
    await assert.rejects(
      client.readResource({ uri }),
      (error) => {
        assert.equal(error.code, code, `${uri}: ${error.message}`);
        if (!WRONG.includes(uri)) assert.deepEqual(error.data?.uri, new URL(uri).href);
        assert.doesNotMatch(error.message, /hidden/);
        return true;
      },
      uri,
    );
  }
  for (const uri of ["file:///a.txt", "other:///a.txt", "kitbag://host/a.txt", "no uri"]) {
    await assert.rejects(client.readResource({ uri }), ({ code }) => code < 0, uri);
  }
});

// `kitbag serve` over standard input and output and over Streamable HTTP: the SDK's own client, the
// command line of MCP Inspector, and requests that a page of somebody else would send.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { at } from "../../scripts/lib/paths.mjs";
import { installed, plant } from "./lib.mjs";

const deps = createRequire(at("tests/deps/agents/package.json"));
const sdk = (path) =>
  import(
    pathToFileURL(deps.resolve(`@modelcontextprotocol/sdk/${path}`)).href.replace("/cjs/", "/esm/")
  );
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
const { ListRootsRequestSchema } = await sdk("types.js");

let kitbag;
let folder;
const begun = [];

before(async () => {
  kitbag = await installed();
  kitbag.link("@modelcontextprotocol", "agents");
  folder = mkdtempSync(join(tmpdir(), "kitbag-serve-"));
  plant(folder, { "a.txt": "alpha\n", "sub/b.txt": "beta\n", ".env": "PASSW0RD" });
});
after(async () => {
  for (const child of begun) {
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await gone;
  }
  kitbag?.remove();
  rmSync(folder, { recursive: true });
});

/** Starts a server over HTTP; its URL, and the process. */
async function served(args = [], env = {}) {
  const child = kitbag.begin(["serve", folder, "--http", "0", ...args], { env });
  begun.push(child);
  let said = "";
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (data) => {
      said += data;
      const found = /serving at (\S+)/.exec(said);
      if (found) resolve(found[1]);
    });
    child.once("close", () => reject(new Error(said)));
  });
  return { url, child };
}

async function client(transport, capabilities = {}) {
  const made = new Client({ name: "test", version: "1" }, { capabilities });
  if (capabilities.roots) {
    made.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: [{ uri: pathToFileURL(join(folder, "sub")).href }],
    }));
  }
  await made.connect(transport);
  return made;
}

const http = (url, headers = {}) =>
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });

const textOf = async (one, name, input) =>
  (await one.callTool({ name, arguments: input })).content[0].text;

test("over standard input and output: the tools, the rules, structured results", async () => {
  const one = await client(
    new StdioClientTransport({
      command: kitbag.bin,
      args: ["serve", `file:${folder}`, "--structured", "--deny", "/sub/**"],
    }),
  );
  assert.equal((await one.listTools()).tools.length, 7);
  const { structuredContent } = await one.callTool({
    name: "read_file",
    arguments: { file_path: "/a.txt" },
  });
  assert.match(structuredContent.version, /^sha256-/);
  for (const path of ["/.env", "/sub/b.txt"]) {
    const { isError } = await one.callTool({ name: "read_file", arguments: { file_path: path } });
    assert.equal(isError, true, path);
  }
  assert.match(one.getInstructions(), /hidden by rules/);
  await one.close();
});

test("SIGTERM ends a server on standard input and output", async () => {
  const transport = new StdioClientTransport({ command: kitbag.bin, args: ["serve", folder] });
  const one = await client(transport);
  const gone = new Promise((resolve) => {
    one.onclose = resolve;
  });
  process.kill(transport.pid, "SIGTERM");
  await gone;
});

test("roots of the client narrow the folder, and where none is inside nothing is served", async () => {
  const args = ["serve", folder];
  const narrowed = await client(new StdioClientTransport({ command: kitbag.bin, args }), {
    roots: {},
  });
  assert.equal(await textOf(narrowed, "glob", { pattern: "**" }), "/sub/b.txt");
  await narrowed.close();
  // The folder is inside the root.
  const inside = join(folder, "sub");
  const whole = await client(
    new StdioClientTransport({ command: kitbag.bin, args: ["serve", inside] }),
    { roots: {} },
  );
  assert.equal(await textOf(whole, "glob", { pattern: "**" }), "/b.txt");
  await whole.close();
  const elsewhere = mkdtempSync(join(tmpdir(), "kitbag-elsewhere-"));
  writeFileSync(join(elsewhere, "c.txt"), "c");
  const open = async (...flags) => {
    const args = ["serve", elsewhere, ...flags];
    const one = await client(new StdioClientTransport({ command: kitbag.bin, args }), {
      roots: {},
    });
    const text = await textOf(one, "glob", { pattern: "**" });
    await one.close();
    return text;
  };
  assert.match(await open(), /are not in this tree.*nothing is offered.*--ignore-roots/);
  assert.equal(await open("--ignore-roots"), "/c.txt");
  rmSync(elsewhere, { recursive: true });
});

/** Folders of this machine, for one test. */
function folders(t, trees) {
  const root = mkdtempSync(join(tmpdir(), "kitbag-serve-several-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [name, files] of Object.entries(trees)) plant(join(root, name), files);
  return (name) => join(root, name);
}

/** A client of a server of its own over standard input and output. */
async function over(t, args, roots) {
  const made = new Client(
    { name: "test", version: "1" },
    { capabilities: roots ? { roots: {} } : {} },
  );
  if (roots) made.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
  const transport = new StdioClientTransport({ command: kitbag.bin, args: ["serve", ...args] });
  await made.connect(transport);
  t.after(() => made.close());
  return (name, input) => textOf(made, name, input);
}

const TREES = {
  "one/src": { "a.txt": "alpha\n", ".env": "PASSW0RD", "deep/b.txt": "beta\n" },
  "two/src": { "c.txt": "gamma\n", id_rsa: "PASSW0RD" },
  notes: { "n.md": "note\n" },
};

test("several folders are directories of one tree, under the rules and within each", async (t) => {
  const at = folders(t, TREES);
  symlinkSync(at("notes/n.md"), at("one/src/out.txt"));
  const all = [at("one/src"), at("two/src"), at("notes")];
  const call = await over(t, [...all, "--deny", "/src/deep/**"]);
  assert.deepEqual((await call("ls", {})).split("\n").sort(), ["/notes/", "/src-2/", "/src/"]);
  const found = await call("glob", { pattern: "**/*" });
  assert.deepEqual(found.split("\n").sort(), ["/notes/n.md", "/src-2/c.txt", "/src/a.txt"]);
  assert.match(await call("read_file", { file_path: "/src/a.txt", tail: 1 }), /alpha/);
  for (const path of ["/src/.env", "/src-2/id_rsa", "/src/deep/b.txt", "/src/out.txt"]) {
    for (const input of [{ file_path: path }, { file_path: path, tail: 1 }]) {
      const text = await call("read_file", input);
      assert.match(text, /^Error/, path);
      assert.doesNotMatch(text, /PASSW0RD|beta|note\b/, path);
    }
  }
  assert.match(await call("grep", { pattern: "PASSW0RD" }), /^No match/);
  assert.match(await call("write_file", { file_path: "/src-2/new/d.txt", content: "d" }), /^Wrote/);
  assert.equal(readFileSync(at("two/src/new/d.txt"), "utf8"), "d");
  for (const path of ["/elsewhere.txt", "/srcs/a.txt", "/src/../e.txt"]) {
    assert.match(await call("write_file", { file_path: path, content: "x" }), /^Error/, path);
  }
  assert.deepEqual((await call("ls", {})).split("\n").sort(), ["/notes/", "/src-2/", "/src/"]);
});

test("roots narrow several folders, and one root can hold more than one of them", async (t) => {
  const at = folders(t, TREES);
  const all = [at("one/src"), at("two/src"), at("notes")];
  const uri = (name) => ({ uri: pathToFileURL(at(name)).href });
  for (const [roots, expected] of [
    [[uri("two")], ["/src-2/c.txt"]],
    [[uri("one/src/deep")], ["/src/deep/b.txt"]],
    [
      [uri("one/src/deep"), uri("notes")],
      ["/notes/n.md", "/src/deep/b.txt"],
    ],
    [[uri("")], ["/notes/n.md", "/src-2/c.txt", "/src/a.txt", "/src/deep/b.txt"]],
  ]) {
    const call = await over(t, all, roots);
    const found = await call("glob", { pattern: "**/*" });
    assert.deepEqual(found.split("\n").sort(), expected, JSON.stringify(roots));
    assert.match(await call("write_file", { file_path: "/x.txt", content: "x" }), /^Error/);
  }
  const call = await over(t, all, [{ uri: pathToFileURL(`${tmpdir()}-none`).href }]);
  assert.match(await call("ls", {}), /are not in this tree.*nothing is offered/);
});

test("folders within each other, addresses that are none, and a shell over several are refused", async (t) => {
  const at = folders(t, TREES);
  symlinkSync(at("one"), at("same"));
  for (const [args, why] of [
    [[], /an address is needed/],
    [[at("one"), at("one/src")], /one\/src is in .*one; name only one of them/],
    [[at("one/src"), at("same/src")], /name only one of them/],
    [[at("notes"), at("missing")], /There is no folder/],
    [[at("notes"), "http://127.0.0.1:9/x"], /must be folders; http:\/\/127\.0\.0\.1:9\/x is none/],
    [[at("notes"), at("one"), "--shell"], /--shell needs one folder/],
  ]) {
    const { code, err } = await kitbag.run(["serve", ...args]);
    assert.equal(code, 2, err);
    assert.match(err, why);
  }
});

test("an address with a directory in it serves that directory and nothing else", async (t) => {
  const { url } = await served(["--files"]);
  const call = await over(t, [`${url}#/sub`]);
  assert.equal(await call("glob", { pattern: "**/*" }), "/sub/b.txt");
  assert.match(await call("read_file", { file_path: "/sub/b.txt" }), /beta/);
  for (const path of ["/a.txt", "/sub/../a.txt"]) {
    assert.match(await call("read_file", { file_path: path }), /^Error/, path);
    assert.match(await call("write_file", { file_path: "/new.txt", content: "x" }), /^Error/, path);
  }
});

test("over HTTP: several clients at the same time, and SIGTERM ends it", async () => {
  const { url, child } = await served(["--structured"]);
  const clients = await Promise.all([1, 2, 3].map(() => client(http(url))));
  const wrote = await Promise.all(
    clients.map((one, number) =>
      textOf(one, "write_file", { file_path: `/by/${number}.txt`, content: `${number}` }),
    ),
  );
  assert.match(wrote.join(), /Wrote \/by\/0\.txt.*Wrote \/by\/2\.txt/);
  assert.equal(readFileSync(join(folder, "by/1.txt"), "utf8"), "1");
  for (const one of clients) await one.close();
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  assert.equal(await gone, 0);
});

/** A request as any program could send it; the status and the body. */
const send = (url, headers, method = "POST") =>
  new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, (response) => {
      let body = "";
      response.on("data", (data) => (body += data));
      response.on("end", () => resolve({ status: response.statusCode, body }));
    });
    asked.on("error", reject);
    asked.end(method === "POST" ? "{}" : undefined);
  });

test("requests under another name or of another origin are refused", async (t) => {
  const { url } = await served();
  for (const [headers, status] of [
    [{ host: "evil.example" }, 403],
    [{ host: "127.0.0.1.evil.example:80" }, 403],
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://localhost:8080" }, 403],
    [{ origin: "http://localhost" }, 403],
    [{ origin: `https://${new URL(url).host}` }, 403],
    [{ origin: `http://evil.example:${new URL(url).port}` }, 403],
    [{ origin: `http://localhost.evil.example:${new URL(url).port}` }, 403],
    [{ origin: "file://" }, 403],
    [{ origin: "" }, 403],
    [{ origin: new URL(url).origin }, 406],
    [{ origin: `http://localhost:${new URL(url).port}` }, 406],
    [{}, 406],
  ]) {
    await t.test(
      `${JSON.stringify(headers).replaceAll(new URL(url).port, "PORT")} is answered by ${status}`,
      async () => {
        const answer = await send(url, headers);
        assert.equal(answer.status, status, `${JSON.stringify(headers)}: ${answer.body}`);
      },
    );
  }
  assert.equal((await send(url.replace("/mcp", "/other"), {})).status, 404);
});

test("a session that is not known is answered by 404", async (t) => {
  const { url } = await served();
  const headers = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  const transport = http(url);
  const known = await client(transport);
  const open = await client(http(url));
  const ended = transport.sessionId;
  await transport.terminateSession();
  await known.close();
  const unknown = {
    "no id": "",
    "a word": "gone",
    "an id of another server": crypto.randomUUID(),
    "a session that was ended": ended,
    "an id in other letters": ended.toUpperCase(),
    "an id and more": `${ended}, ${ended}`,
    "a long id": "a".repeat(4_000),
    "a name of every object": "__proto__",
  };
  for (const [name, id] of Object.entries(unknown)) {
    for (const method of ["POST", "GET", "DELETE"]) {
      await t.test(`${method} with ${name}`, async () => {
        const answer = await send(url, { ...headers, "mcp-session-id": id }, method);
        assert.equal(answer.status, 404, answer.body);
        assert.equal(JSON.parse(answer.body).error.code, -32001);
      });
    }
  }
  assert.equal((await send(url, headers)).status, 400);
  assert.match(await textOf(open, "ls", { path: "/" }), /a\.txt/);
  await open.close();
});

test("with KITBAG_TOKEN a client must send it, and it is not printed", async () => {
  const { url, child } = await served(["--host", "127.0.0.1"], { KITBAG_TOKEN: "t0ken-of-mine" });
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  assert.equal((await send(url, {})).status, 401);
  assert.equal((await send(url, { authorization: "Bearer t0ken-of-other" })).status, 401);
  const authorization = "Bearer t0ken-of-mine";
  // Who has it may use any name of this machine.
  assert.equal((await send(url, { authorization, host: "machine.example" })).status, 406);
  const one = await client(http(url, { authorization }));
  assert.match(await textOf(one, "read_file", { file_path: "/a.txt" }), /alpha/);
  await one.close();
  assert.doesNotMatch(said, /t0ken/);
});

test("the oldest of more than 100 sessions ends", async () => {
  const { url } = await served(["--read-only"]);
  const first = await client(http(url));
  const others = [];
  for (let number = 0; number < 100; number++) others.push(await client(http(url)));
  await assert.rejects(textOf(first, "ls", { path: "/" }));
  assert.match(await textOf(others[0], "ls", { path: "/" }), /a\.txt/);
  for (const one of others) await one.close();
});

test("MCP Inspector's command line lists and calls tools over HTTP", async () => {
  mkdirSync(join(folder, "inspected"), { recursive: true });
  const { url } = await served(["--structured"]);
  const cli = deps.resolve("@modelcontextprotocol/inspector-cli/build/cli.js");
  const inspect = async (...args) => {
    const all = [cli, "--cli", url, "--transport", "http", ...args];
    const { stdout } = await promisify(execFile)(process.execPath, all);
    return JSON.parse(stdout);
  };
  const { tools } = await inspect("--method", "tools/list");
  assert.ok(tools.every((tool) => tool.outputSchema.type === "object"));
  const call = ["--method", "tools/call", "--tool-name", "write_file"];
  const input = ["--tool-arg", "file_path=/inspected/x.txt", "--tool-arg", "content=hello"];
  const wrote = await inspect(...call, ...input);
  assert.match(wrote.structuredContent.version, /^sha256-/);
  assert.equal(readFileSync(join(folder, "inspected/x.txt"), "utf8"), "hello");
  const { resources } = await inspect("--method", "resources/list");
  assert.ok(resources.some(({ uri }) => uri === "kitbag:///inspected/x.txt"));
});

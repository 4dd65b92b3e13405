// The file server for agents, with a real Durable Object, a real R2 binding and the client of the
// MCP SDK.

import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Miniflare } from "miniflare";
import { must } from "../../scripts/lib/exec.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";
import { workerModules } from "../lib/bundle.mjs";
import { COMPATIBILITY_DATE } from "../lib/workerd.mjs";

const { HttpBackend } = await import("../../pkg/dist/node.js");

const packages = at("tests/deps/agents/node_modules");
const require = createRequire(`${packages}/package.json`);
const sdk = async (path) => {
  const { href } = pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${path}`));
  return import(href.replace("/cjs/", "/esm/"));
};

let worker;
let origin;
const headers = { authorization: "Bearer right" };

const modules = () =>
  workerModules('export { default, Workspace } from "./index.ts";', at("www/worker/src"), {
    nodePaths: [packages],
    alias: {
      "kitbag/mcp": at("pkg/dist/mcp.js"),
      "kitbag/server": at("pkg/dist/serve_files.js"),
      kitbag: at("pkg/dist/workerd.js"),
    },
  });

before(async () => {
  worker = new Miniflare({
    modules: await modules(),
    modulesRoot: "/",
    compatibilityDate: COMPATIBILITY_DATE,
    host: "127.0.0.1",
    port: 0,
    bindings: { TOKEN: "right" },
    r2Buckets: ["BUCKET"],
    durableObjects: { WORKSPACE: { className: "Workspace", useSQLite: true } },
  });
  origin = String(await worker.ready).replace(/\/$/, "");
});
after(() => worker?.dispose());

const ask = (path, init = {}) =>
  fetch(origin + path, { ...init, headers: { ...headers, ...init.headers } });

test("its sources compile against the types of the package", async () => {
  const sdkTypes = "@modelcontextprotocol/sdk";
  const config = cache("worker-tsconfig.json");
  const paths = {
    kitbag: [at("pkg/types/index.d.ts")],
    "kitbag/mcp": [at("pkg/types/adapter/mcp.d.ts")],
    "kitbag/server": [at("pkg/types/adapter/serve_files.d.ts")],
    [`${sdkTypes}/*`]: [`${packages}/${sdkTypes}/dist/esm/*`],
    zod: [`${packages}/zod`],
    "zod/*": [`${packages}/zod/*`],
  };
  const settings = {
    extends: at("www/worker/tsconfig.json"),
    compilerOptions: { paths },
    include: [at("www/worker/src")],
  };
  writeFileSync(config, JSON.stringify(settings));
  await must(process.execPath, [at("node_modules/typescript/bin/tsc"), "-p", config]);
});

test("a request without the token is refused", async () => {
  for (const authorization of ["", "Bearer wrong", "Bearer "]) {
    const answer = await fetch(`${origin}/one/tools`, { headers: { authorization } });
    assert.equal(answer.status, 401);
  }
});

test("files are stored and read as bytes, in SQLite and in R2", async () => {
  const bytes = Uint8Array.of(0, 1, 2, 255);
  for (const path of ["/notes/a.bin", "/shared/b.bin"]) {
    assert.equal((await ask(`/one/files${path}`, { method: "PUT", body: bytes })).status, 403);
    const own = { "x-kitbag": "1" };
    const stored = await ask(`/one/files${path}`, { method: "PUT", body: bytes, headers: own });
    assert.equal(stored.status, 204, await stored.text());
    const answer = await ask(`/one/files${path}`);
    assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), bytes);
    assert.match(answer.headers.get("content-security-policy"), /^sandbox/);
    const range = await ask(`/one/files${path}`, { headers: { range: "bytes=2-" } });
    assert.deepEqual([range.status, (await range.arrayBuffer()).byteLength], [206, 2]);
  }
  const bucket = await worker.getR2Bucket("BUCKET");
  const { objects } = await bucket.list();
  assert.deepEqual(
    objects.map(({ key }) => key),
    ["one/b.bin"],
  );
  assert.equal((await ask("/two/files/notes/a.bin")).status, 404);
  assert.equal((await ask("/two/files/shared/b.bin")).status, 404);
  assert.equal((await ask("/one/files/a/../b")).status, 404);
});

test("HttpBackend is a backend over it: conditions, searches, and both places of the tree", async () => {
  const files = new HttpBackend({ url: `${origin}/http-one/files`, headers });
  for (const path of ["/a.md", "/shared/a.md"]) {
    assert.equal((await files.write(path, "first\nsecond\n")).error, undefined);
    assert.equal((await files.write(path, "lost")).code, "already_exists");
    assert.equal((await files.edit(path, "second", "2nd")).error, undefined);
    assert.equal((await files.read(path)).content, "first\n2nd\n");
  }
  const { matches } = await files.grep("2nd");
  assert.deepEqual(
    matches.map(({ path }) => path),
    ["/a.md", "/shared/a.md"],
  );
  assert.equal((await files.write("/big", "x".repeat(1_600_000))).code, "quota_exceeded");
  const { files: listed } = await files.ls("/shared");
  assert.deepEqual(
    listed.map(({ path }) => path),
    ["/shared/a.md"],
  );
  const other = new HttpBackend({ url: `${origin}/http-two/files`, headers });
  assert.equal((await other.read("/a.md")).code, "not_found");
  const stranger = new HttpBackend({ url: `${origin}/http-one/files` });
  assert.ok((await stranger.read("/a.md")).error);
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, at) => files.write(`/many/${at}.md`, `${at}`)),
  );
  assert.ok(many.every(({ error }) => error === undefined));
  assert.equal((await files.ls("/many")).files.length, 20);
});

test("tools are called over plain HTTP", async () => {
  const { tools } = await (await ask("/http/tools")).json();
  assert.ok(tools.some(({ name }) => name === "edit_file"));
  const call = async (name, input) => {
    const answer = await ask(`/http/tools/${name}`, {
      method: "POST",
      body: JSON.stringify(input),
    });
    return answer.json();
  };
  const written = await call("write_file", { file_path: "/a.md", content: "one\n" });
  assert.equal(written.isError, false);
  const found = await call("grep", { pattern: "one" });
  assert.match(found.content[0].text, /\/a\.md/);
  assert.equal((await call("read_file", { file_path: "/none" })).isError, true);
});

test("a client of MCP reads, writes and edits over Streamable HTTP", async () => {
  const { Client } = await sdk("client/index.js");
  const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${origin}/mcp-one/mcp`), {
      requestInit: { headers },
    }),
  );
  const call = async (name, input) => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    assert.ok(!isError, content[0].text);
    return content[0].text;
  };
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "grep"));
  for (const path of ["/plan.md", "/shared/plan.md"]) {
    await call("write_file", { file_path: path, content: "first\nsecond\n" });
    await call("read_file", { file_path: path });
    await call("edit_file", { file_path: path, old_string: "second", new_string: "2nd" });
    assert.equal(await (await ask(`/mcp-one/files${path}`)).text(), "first\n2nd\n");
  }
  for (const path of ["/plan.md", "/shared/plan.md"]) {
    const ask = (name, more) => client.callTool({ name, arguments: { file_path: path, ...more } });
    const { version } = (await ask("read_file", {})).structuredContent;
    const write = (content, ifMatch) => ask("write_file", { content, ifMatch });
    const [one, other] = [await write("first\n2nd\n3rd\n", version), await write("lost", version)];
    assert.deepEqual([one.isError, other.isError], [false, true], one.content[0].text);
    assert.match(other.content[0].text, /changed since it was read/);
    const next = one.structuredContent.version;
    assert.equal((await write("first\n2nd\n", next)).isError, false);
  }
  const { contents } = await client.readResource({ uri: "kitbag:///plan.md" });
  assert.equal(contents[0].text, "first\n2nd\n");
  await client.close();
});

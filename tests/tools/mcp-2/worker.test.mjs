// A Worker without sessions in workerd: `createMcpHandler` with kitbag/mcp over an R2 bucket, and a client of
// 2026-07-28. The rounds of a review go to two isolates in turn.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as First } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Miniflare } from "miniflare";
import { at } from "../../../scripts/lib/paths.mjs";
import { workerModules } from "../../lib/bundle.mjs";
import { COMPATIBILITY_DATE } from "../../lib/workerd.mjs";

const ME = { name: "test", version: "1" };
const PINNED = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const FORMS = { capabilities: { elicitation: { form: {} } } };

let worker;
let origin;
let bucket;

before(async () => {
  const modules = await workerModules(
    'export { default } from "./stateless-worker.mjs";',
    import.meta.dirname,
    {
      nodePaths: [at("tests/deps/mcp/node_modules")],
    },
  );
  const one = (name, more) => ({
    ...{ name, modules, modulesRoot: "/", compatibilityDate: COMPATIBILITY_DATE },
    ...{ r2Buckets: { BUCKET: "files" }, bindings: { KEY: "k".repeat(32) }, ...more },
  });
  worker = new Miniflare({
    ...{ host: "127.0.0.1", port: 0 },
    workers: [one("first", { serviceBindings: { OTHER: "second" } }), one("second")],
  });
  origin = String(await worker.ready).replace(/\/$/, "");
  bucket = await worker.getR2Bucket("BUCKET", "first");
});
after(() => worker?.dispose());
beforeEach(async () => {
  const { objects } = await bucket.list();
  await bucket.delete(objects.map(({ key }) => key));
  await bucket.put("plan.md", "one\ntwo\n");
});

/** A client; `path` says where each of its requests goes. */
async function connected(t, path, options = FORMS) {
  const sent = [];
  const fetch = (_, init) => {
    const to = typeof path === "string" ? path : path(sent.length);
    sent.push([to, new Headers(init?.headers).get("mcp-session-id")]);
    return globalThis.fetch(`${origin}${to}`, init);
  };
  const client = new Client(ME, { ...PINNED, ...options });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { fetch }));
  t.after(() => client.close());
  const text = async (name, input = {}) =>
    (await client.callTool({ name, arguments: input })).content[0].text;
  return { client, text, sent };
}

const ASK = { method: "tools/call", params: { name: "commit", arguments: {} } };
const accept = { action: "accept", content: { decision: "accept" } };
const plan = async () => (await bucket.get("plan.md")).text();
const change = async ({ text }) => {
  const edit = { file_path: "/plan.md", old_string: "two", new_string: "2" };
  assert.match(await text("edit_file", edit), /replaced 1 occurrence/);
};

test("tools are listed and called, without a session", async (t) => {
  const { client, text, sent } = await connected(t, "/mcp");
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  assert.equal((await client.listTools()).tools.length, 7);
  assert.match(await text("read_file", { file_path: "/plan.md" }), /two/);
  assert.match(await text("write_file", { file_path: "/a/b.txt", content: "new" }), /^Wrote/);
  assert.equal(await (await bucket.get("a/b.txt")).text(), "new");
  assert.equal(await text("glob", { pattern: "**/*.txt" }), "/a/b.txt");
  assert.match(await text("grep", { pattern: "two" }), /plan\.md/);
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri }) => uri).sort(), [
    "kitbag:///a/b.txt",
    "kitbag:///plan.md",
  ]);
  const { contents } = await client.readResource({ uri: "kitbag:///plan.md" });
  assert.equal(contents[0].text, "one\ntwo\n");
  assert.ok(sent.every(([, session]) => session === null));
});

test("a version from one request is good for a change in the next, in another isolate", async (t) => {
  const { client } = await connected(t, (n) => (n % 2 ? "/other/mcp" : "/mcp"));
  const call = (name, input) => client.callTool({ name, arguments: input });
  const read = await call("read_file", { file_path: "/plan.md" });
  const { version } = read.structuredContent;
  const write = { file_path: "/plan.md", content: "mine", ifMatch: version };
  assert.equal((await call("write_file", write)).isError, false);
  assert.equal((await call("write_file", { ...write, content: "late" })).isError, true);
  assert.equal(await plan(), "mine");
});

test("a StateBackend lasts as long as its isolate", async (t) => {
  const { text } = await connected(t, "/state");
  assert.match(await text("write_file", { file_path: "/n.txt", content: "x" }), /^Wrote/);
  assert.match(await text("read_file", { file_path: "/n.txt" }), /x/);
  const other = await connected(t, "/other/state");
  assert.match(await other.text("read_file", { file_path: "/n.txt" }), /not found/i);
});

for (const [what, path] of [
  ["one isolate", "/review"],
  ["two isolates in turn", (n) => (n % 2 ? "/other/review" : "/review")],
]) {
  for (const [answer, says, after] of [
    [accept, /^Committed \/plan\.md\.$/, "one\n2\n"],
    [{ action: "accept", content: { decision: "reject" } }, /rejected/, "one\ntwo\n"],
    [{ action: "decline" }, /rejected/, "one\ntwo\n"],
    [{ action: "cancel" }, /nobody has decided/, "one\ntwo\n"],
  ]) {
    test(`a review over two rounds in ${what}: ${JSON.stringify(answer)}`, async (t) => {
      const made = await connected(t, path);
      const asked = [];
      made.client.setRequestHandler("elicitation/create", ({ params }) => {
        asked.push(params.message);
        return answer;
      });
      await change(made);
      assert.equal(await plan(), "one\ntwo\n");
      assert.match(await made.text("commit"), says);
      assert.equal(asked.length, 1);
      assert.match(asked[0], /-two\n\+2/);
      assert.equal(await plan(), after);
      if (answer.action === "cancel") {
        made.client.setRequestHandler("elicitation/create", () => accept);
        assert.match(await made.text("commit"), /^Committed/);
      }
    });
  }
}

test("an answer in another isolate counts for what was asked only", async (t) => {
  const made = await connected(t, "/review");
  const other = await connected(t, "/other/review");
  const ask = ({ client }, more = {}) =>
    client.request({ ...ASK, params: { ...ASK.params, ...more } }, { allowInputRequired: true });
  await change(made);
  const { resultType, requestState } = await ask(made);
  assert.equal(resultType, "input_required");
  const answered = (state) => ({ inputResponses: { review: accept }, requestState: state });
  for (const state of [undefined, "x", `${requestState}0`, requestState.replace(/.$/, "g")]) {
    const said = await ask(other, answered(state));
    assert.equal(said.isError, true, String(state));
    assert.equal(await plan(), "one\ntwo\n");
  }
  // Something else would be committed.
  await made.text("write_file", { file_path: "/more.md", content: "more" });
  assert.equal((await ask(other, answered(requestState))).isError, true);
  assert.equal(await plan(), "one\ntwo\n");
  const again = await ask(made);
  assert.equal((await ask(other, answered(again.requestState))).isError, false);
  assert.equal(await plan(), "one\n2\n");
});

test("a client that cannot be asked gets an error, and nothing is done", async (t) => {
  const made = await connected(t, "/review", {});
  await change(made);
  assert.match(await made.text("commit"), /nobody can be asked/);
  assert.equal(await plan(), "one\ntwo\n");
});

test("a client of version 1, and one of 2025, read and write", async (t) => {
  for (const client of [new First(ME), new Client(ME)]) {
    const Http = client instanceof First ? FirstHttp : StreamableHTTPClientTransport;
    await client.connect(new Http(new URL(`${origin}/mcp`)));
    t.after(() => client.close());
    const input = { name: "read_file", arguments: { file_path: "/plan.md" } };
    assert.match((await client.callTool(input)).content[0].text, /two/);
  }
});

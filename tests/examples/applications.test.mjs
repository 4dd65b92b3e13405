// The examples of whole applications, each with the packed package: MCP in a Worker without sessions, by the
// SDK's own client, and deepagents with undo, by a model that follows a script.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { workerModules } from "../lib/bundle.mjs";
import { answersOf, scriptedModels } from "../lib/model.mjs";
import { packedProject } from "../lib/packed.mjs";
import { startWorker } from "../lib/workerd.mjs";

const agents = createRequire(at("tests/deps/agents/package.json"));
/** The module that a page of the docs would import, also where `require` has another one. */
const module = (name) => import(pathToFileURL(agents.resolve(name).replace(/\.cjs$/, ".js")).href);

let project;
before(async () => {
  project = await packedProject({ set: "agents" });
  project.copy("examples", "examples");
});
after(() => project?.remove());

describe("a Worker with R2, D1 and MCP over HTTP without sessions", () => {
  let worker;
  before(async () => {
    const directory = join(project.root, "examples/worker-mcp/src");
    const source = readFileSync(join(directory, "index.js"), "utf8");
    worker = await startWorker(await workerModules(source, directory), {
      r2Buckets: ["FILES"],
      d1Databases: ["DB"],
      bindings: { USERS: JSON.stringify({ "token-of-ada": "ada", "token-of-bob": "bob" }) },
    });
  });
  after(() => worker?.stop());

  const { Client } = agents("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = agents(
    "@modelcontextprotocol/sdk/client/streamableHttp.js",
  );

  /** A client of a user, and its `ask`. */
  async function connected(user) {
    const client = new Client({ name: "test", version: "1" });
    const headers = { authorization: `Bearer token-of-${user}` };
    const transport = new StreamableHTTPClientTransport(new URL("/mcp", worker.url), {
      requestInit: { headers },
    });
    await client.connect(transport);
    const ask = async (name, input) => {
      const { content, structuredContent, isError } = await client.callTool({
        name,
        arguments: input,
      });
      return { text: content.map(({ text }) => text).join("\n"), structuredContent, isError };
    };
    return { client, transport, ask };
  }

  test("a user's files are in the bucket, memories in the database; there is no session", async () => {
    const { client, transport, ask } = await connected("ada");
    for (const file_path of ["/plan.md", "/memories/likes.md"]) {
      const { isError, text } = await ask("write_file", { file_path, content: "Ada likes tea.\n" });
      assert.equal(isError, false, text);
    }
    assert.equal(transport.sessionId, undefined);
    await client.close();
    const again = await connected("ada");
    const { text } = await again.ask("grep", { pattern: "tea" });
    assert.match(text, /\/memories\/likes\.md/);
    assert.match(text, /\/plan\.md/);
    await again.client.close();
  });

  test("another user sees none of it, and reaches none of it by a path", async () => {
    const { client, ask } = await connected("bob");
    assert.doesNotMatch((await ask("glob", { pattern: "**" })).text, /plan|likes/);
    for (const file_path of [
      "/../ada/plan.md",
      "/users/ada/plan.md",
      "/memories/../../ada/likes.md",
    ])
      assert.equal((await ask("read_file", { file_path })).isError, true, file_path);
    await client.close();
  });

  test("an edit needs no read in a session, and a stale version is refused", async () => {
    const { client, ask } = await connected("ada");
    const file_path = "/plan.md";
    const { structuredContent } = await ask("read_file", { file_path });
    const edit = { file_path, old_string: "tea", new_string: "coffee" };
    assert.equal((await ask("edit_file", edit)).isError, false);
    const write = { file_path, content: "mine", ifMatch: structuredContent.version };
    assert.equal((await ask("write_file", write)).isError, true);
    assert.match((await ask("read_file", { file_path })).text, /coffee/);
    await client.close();
  });

  test("a rule holds", async () => {
    const { client, ask } = await connected("ada");
    const write = { file_path: "/policies/refunds.md", content: "all is free" };
    const { isError, text } = await ask("write_file", write);
    assert.equal(isError, true);
    assert.match(text, /not allowed/);
    await client.close();
  });

  for (const [what, init, status] of [
    ["no token", {}, 401],
    ["a wrong token", { headers: { authorization: "Bearer nobody" } }, 401],
    ["a name of every object", { headers: { authorization: "Bearer constructor" } }, 401],
  ]) {
    test(`${what} is refused`, async () => {
      assert.equal((await worker.fetch("/mcp", { method: "POST", ...init })).status, status);
    });
  }

  test("a client that wants to listen or to end a session is told that it cannot", async () => {
    const headers = { authorization: "Bearer token-of-ada" };
    for (const method of ["GET", "DELETE"])
      assert.equal((await worker.fetch("/mcp", { method, headers })).status, 405);
  });
});

describe("deepagents over state, a folder and a store, with undo", () => {
  let folder;
  let made;
  let store;
  let turns;
  /** What the tools answered to the last message. */
  let answers;
  const thread = { configurable: { thread_id: "1" } };
  const files = () => readdirSync(folder).sort();
  const plan = () => readFileSync(join(folder, "plan.md"), "utf8");

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kitbag-undo-"));
    writeFileSync(join(folder, "plan.md"), "one\ntwo\n");
    const { makeAgent } = await import(
      pathToFileURL(join(project.root, "examples/node-undo/agent.mjs")).href
    );
    const { AIMessage } = await module("@langchain/core/messages");
    const { BaseChatModel } = await module("@langchain/core/language_models/chat_models");
    const { InMemoryStore, MemorySaver } = await module("@langchain/langgraph");
    const Model = scriptedModels({ AIMessage, BaseChatModel });
    turns = { go: [] };
    class Told extends Model {
      /** The turns of the last message: a thread has several. */
      async _generate(messages) {
        const last = messages.findLastIndex((message) => message.getType() === "human");
        answers = answersOf({ messages: messages.slice(last) });
        return super._generate(messages.slice(last));
      }
    }
    const model = new Told((text) => turns[text] ?? []);
    const options = { model, folder, user: "ada", checkpointer: new MemorySaver() };
    store = new InMemoryStore();
    made = makeAgent({ ...options, store });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const script = (name, ...calls) => {
    turns[name] = calls.map((call) => [call]);
    return made.answer(name, thread);
  };
  const edit = ["edit_file", { file_path: "/plan.md", old_string: "two", new_string: "three" }];
  const read = (file_path) => ["read_file", { file_path }];

  test("a message changes folder, store and state", async () => {
    const { changed, error } = await script(
      "first",
      edit,
      ["write_file", { file_path: "/new.md", content: "new\n" }],
      ["write_file", { file_path: "/memories/likes.md", content: "tea\n" }],
      ["write_file", { file_path: "/scratch/note.md", content: "a note\n" }],
    );
    assert.equal(error, undefined);
    assert.deepEqual(changed.sort(), ["/memories/likes.md", "/new.md", "/plan.md"]);
    assert.equal(plan(), "one\nthree\n");
    assert.equal((await store.search(["memories", "ada"])).length, 1);
    assert.ok(!files().includes("scratch"), "a note is in the state alone");
  });

  test("undo takes the folder and the store back, and leaves the state", async () => {
    assert.equal((await made.undo()).error, undefined);
    assert.equal(plan(), "one\ntwo\n");
    assert.ok(!files().includes("new.md"));
    assert.match((await made.undo()).error, /nothing to take back/);
    assert.equal((await store.search(["memories", "ada"])).length, 0);
    const { changed } = await script("look", read("/memories/likes.md"), read("/scratch/note.md"));
    assert.deepEqual(changed, []);
    assert.match(answers[0], /not found/);
    assert.match(answers[1], /a note/);
  });

  test("undo is refused if somebody changed the file since", async () => {
    await script("second", edit);
    writeFileSync(join(folder, "plan.md"), "mine\n");
    assert.match((await made.undo()).error, /changed/);
    assert.equal(plan(), "mine\n");
  });

  test("after an error of the model nothing is stored", async () => {
    turns.broken = [[["write_file", { file_path: "/half.md", content: "half\n" }]], null];
    turns.broken = new Proxy(turns.broken, {
      get: (target, key) => {
        if (key === "1") throw new Error("the model is gone");
        return target[key];
      },
    });
    await assert.rejects(made.answer("broken", thread), /the model is gone/);
    assert.ok(!files().includes("half.md"));
    const { changed } = await script("after");
    assert.deepEqual(changed, []);
  });
});

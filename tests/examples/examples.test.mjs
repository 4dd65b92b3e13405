// Each example as its README says, with the packed package. The model follows a script: a chat
// server on loopback, or a chat model of LangChain.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build as viteBuild } from "vite";
import { at } from "../../scripts/lib/paths.mjs";
import { launch } from "../lib/browser.mjs";
import { workerModules } from "../lib/bundle.mjs";
import { answersOf, scriptedModels } from "../lib/model.mjs";
import { packedProject } from "../lib/packed.mjs";
import { startWorker } from "../lib/workerd.mjs";
import { answered, startModel } from "./model.mjs";

let project;
before(async () => {
  project = await packedProject({ set: ["newest", "agents"] });
  project.copy("examples", "examples");
});
after(() => project?.remove());

const folder = (name) => join(project.root, "examples", name);
const load = (name) => import(pathToFileURL(join(project.root, name)).href);
const inSet = (set) => createRequire(at("tests/deps", set, "package.json"));
const call = (tool, input) => `${tool} ${JSON.stringify(input)}`;
const write = (file_path, content) => call("write_file", { file_path, content });
const read = (file_path) => call("read_file", { file_path });

test("each is a project of its own with a README that names its commands", () => {
  const names = readdirSync(at("examples"), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  );
  const listed = readFileSync(at("examples/README.md"), "utf8");
  for (const { name } of names) {
    const manifest = JSON.parse(readFileSync(at("examples", name, "package.json"), "utf8"));
    const version = /^version = "(.+)"/m.exec(readFileSync(at("Cargo.toml"), "utf8"))[1];
    // The page without a build names it in its import map: see cdn.test.mjs.
    const needs = name === "edge" ? "kitbag-component" : "kitbag";
    if (name !== "page-cdn") assert.equal(manifest.dependencies[needs], `^${version}`, name);
    assert.ok(manifest.scripts.start, `${name} has no start script`);
    assert.match(readFileSync(at("examples", name, "README.md"), "utf8"), /npm install/, name);
    assert.ok(listed.includes(`](${name})`), name);
  }
  assert.equal(names.length, 9);
});

describe("a Worker with R2 and a Durable Object", () => {
  let worker;
  let model;
  before(async () => {
    model = await startModel();
    const source = readFileSync(join(folder("worker-r2"), "src/index.js"), "utf8");
    const modules = await workerModules(source, join(folder("worker-r2"), "src"), {
      external: ["cloudflare:workers"],
    });
    worker = await startWorker(modules, {
      durableObjects: { AGENT: { className: "Agent", useSQLite: true } },
      r2Buckets: ["FILES"],
      bindings: { MODEL_URL: model.url, MODEL_KEY: "key", MODEL: "scripted" },
    });
  });
  after(async () => {
    await worker?.stop();
    await model?.stop();
  });
  const chat = (user, ...lines) =>
    worker.fetch(`/chat/${user}`, { method: "POST", body: lines.join("\n") });

  test("the agent keeps a file for the next message", async () => {
    const first = await chat("ada", write("/tea.md", "Ada likes tea.\n"));
    assert.equal(first.status, 200, first.text);
    const second = await chat("ada", read("/tea.md"));
    assert.match(second.text, /Ada likes tea\./);
  });

  test("the conversation goes on", () => {
    const said = model.seen.at(-1).messages.filter(({ role }) => role === "user");
    assert.equal(said.length, 2);
  });

  test("another user sees none of it", async () => {
    const { text } = await chat("bob", read("/tea.md"));
    assert.match(text, /not found/);
  });

  test("the user's files are there over HTTP, changed and searched, and those of nobody else", async () => {
    const own = { "x-kitbag": "1" };
    const tea = await worker.fetch("/files/ada/tea.md");
    assert.deepEqual([tea.status, tea.text], [200, "Ada likes tea.\n"]);
    const stored = await worker.fetch("/files/ada/milk.md", {
      ...{ method: "PUT", body: "and milk\n", headers: own },
    });
    assert.equal(stored.status, 204, stored.text);
    assert.match((await chat("ada", read("/milk.md"))).text, /and milk/);
    const found = await worker.fetch("/files/ada/", {
      method: "POST",
      headers: { ...own, "content-type": "application/json" },
      body: JSON.stringify({ op: "grep", pattern: "milk" }),
    });
    assert.match(found.text, /"\/milk\.md"/);
    for (const path of [
      "/files/bob/tea.md",
      "/files/ada/../bob/tea.md",
      "/files/bob%2F..%2Fada/tea.md",
    ]) {
      assert.equal((await worker.fetch(path)).status, 404, path);
    }
  });

  test("without a user there is no agent", async () => {
    assert.equal((await worker.fetch("/chat/")).status, 404);
    assert.equal((await worker.fetch("/files/")).status, 404);
  });
});

describe("the AI SDK in a page with OPFS, with approval and streaming", () => {
  const TYPES = { ".html": "text/html", ".js": "text/javascript" };
  let server;
  let browser;
  before(async () => {
    await viteBuild({ root: folder("page-opfs"), configFile: false, logLevel: "error" });
    server = createServer(async (request, response) => {
      if (await answered(request, response)) return;
      const path = request.url === "/" ? "/index.html" : request.url;
      try {
        const body = readFileSync(join(folder("page-opfs"), "dist", path));
        response.writeHead(200, { "content-type": TYPES[extname(path)] }).end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await new Promise((resolve) => server?.close(resolve));
  });

  const url = () => `http://127.0.0.1:${server.address().port}/`;
  /** Opens the page; what it could not do is in `errors`. */
  async function opened() {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(url());
    const send = async (...lines) => {
      await page.fill("textarea", lines.join("\n"));
      await page.click("button[type=submit]");
    };
    const said = (pattern) =>
      page.waitForFunction(
        (source) => new RegExp(source).test(document.getElementById("said").textContent),
        pattern.source,
      );
    const files = () =>
      page.$$eval("#files li", (items) => items.map(({ textContent }) => textContent));
    const idle = () => page.waitForSelector("#stop", { state: "hidden" });
    return { page, errors, send, said, files, idle };
  }

  test("changes are stored once a person has seen them, and are there after a reload", async () => {
    const { page, errors, send, said, files, idle } = await opened();
    await send(write("/notes/tea.md", "tea\n"), "commit {}");
    await page.waitForSelector("#review", { state: "visible" });
    assert.match(await page.textContent("#patch"), /\+\+\+ .*notes\/tea\.md[\s\S]*\+tea/);
    assert.deepEqual(await files(), []);
    await page.click("#approve");
    await said(/Committed \/notes\/tea\.md/);
    await idle();
    assert.deepEqual(await files(), ["/notes/tea.md"]);
    await page.reload();
    await page.waitForSelector("#files li");
    await send(read("/notes/tea.md"));
    await said(/\[read_file \/notes\/tea\.md\][\s\S]*tea/);
    await idle();
    assert.deepEqual(errors, []);
    await page.close();
  });

  test("what a person drops is not stored, and the agent is told", async () => {
    const { page, errors, send, said, files, idle } = await opened();
    await send(write("/notes/coffee.md", "coffee\n"), "commit {}");
    await page.waitForSelector("#review", { state: "visible" });
    await page.click("#reject");
    await said(/The user dropped the changes/);
    await idle();
    assert.ok(!(await files()).includes("/notes/coffee.md"));
    assert.deepEqual(errors, []);
    await page.close();
  });

  test("the answer is shown while it arrives, and can be stopped", async () => {
    const { page, errors, send, said, idle } = await opened();
    const long = Array.from({ length: 200 }, (_, at) => `word${at}`).join(" ");
    await send(write("/long.md", long), read("/long.md"));
    await said(/word3 /);
    await page.click("#stop");
    await said(/It failed: Stopped/);
    assert.doesNotMatch(await page.textContent("#said"), /word199/);
    await idle();
    await send("ls {}");
    await said(/\[ls \][\s\S]*\S/);
    await idle();
    assert.deepEqual(errors, []);
    await page.close();
  });
});

describe("deepagents with PostgreSQL and policies", () => {
  let client;
  let makeAgent;
  let Model;
  before(async () => {
    const { PGlite } = inSet("durable")("@electric-sql/pglite");
    client = new PGlite();
    ({ makeAgent } = await load("examples/node-postgres/agent.mjs"));
    const agents = inSet("agents");
    const { AIMessage } = await import(
      agents.resolve("@langchain/core/messages").replace(/\.cjs$/, ".js")
    );
    const { BaseChatModel } = await import(
      agents.resolve("@langchain/core/language_models/chat_models").replace(/\.cjs$/, ".js")
    );
    Model = scriptedModels({ AIMessage, BaseChatModel });
  });
  after(() => client?.close());

  async function ran(user, turns) {
    const audited = [];
    const agent = makeAgent({
      model: new Model(() => turns),
      client,
      user,
      policies: join(folder("node-postgres"), "policies"),
      audit: ({ operation, path, code }) => audited.push(`${operation} ${path} ${code}`),
    });
    const state = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
    return { answers: answersOf(state), audited };
  }

  test("policies can be read and not changed; a memory is stored", async () => {
    const file_path = "/policies/refunds.md";
    const { answers, audited } = await ran("ada", [
      [["read_file", { file_path }]],
      [["edit_file", { file_path, old_string: "50", new_string: "5000" }]],
      [["write_file", { file_path: "/policies/new.md", content: "all is free" }]],
      [["write_file", { file_path: "/memories/ada.md", content: "prefers e-mail\n" }]],
    ]);
    assert.match(answers[0], /up to 50 euros/);
    assert.match(answers[1], /permission denied/i);
    assert.match(answers[2], /permission denied/i);
    assert.ok(
      audited.some((line) => /^write \/memories\/ada\.md ok$/.test(line)),
      audited.join("\n"),
    );
    const policy = readFileSync(join(folder("node-postgres"), "policies/refunds.md"), "utf8");
    assert.match(policy, /50 euros/);
  });

  test("the next run has the memory, another user's has not", async () => {
    const turns = [[["read_file", { file_path: "/memories/ada.md" }]]];
    assert.match((await ran("ada", turns)).answers[0], /prefers e-mail/);
    assert.match((await ran("bob", turns)).answers[0], /not found/);
  });
});

describe("an MCP server over a folder", () => {
  let client;
  before(async () => {
    const agents = inSet("agents");
    const { Client } = agents("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = agents("@modelcontextprotocol/sdk/client/stdio.js");
    client = new Client({ name: "test", version: "1" });
    const args = [join(folder("mcp-folder"), "server.mjs"), join(folder("mcp-folder"), "docs")];
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }),
    );
  });
  after(() => client?.close());
  const ask = async (name, input) => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    return { text: content.map(({ text }) => text).join("\n"), isError };
  };

  test("a client reads the folder and writes drafts", async () => {
    assert.match((await ask("read_file", { file_path: "/guide.md" })).text, /Start here/);
    const written = await ask("write_file", { file_path: "/drafts/a.md", content: "a" });
    assert.equal(written.isError, false, written.text);
    const file = join(folder("mcp-folder"), "docs/drafts/a.md");
    assert.equal(readFileSync(file, "utf8"), "a");
  });

  for (const [what, name, input] of [
    ["a change elsewhere", "write_file", { file_path: "/b.md", content: "b" }],
    ["a secret", "read_file", { file_path: "/.env" }],
    ["a secret further down", "read_file", { file_path: "/app/.env.local" }],
    ["the history", "read_file", { file_path: "/.git/config" }],
    ["a secret among the drafts", "write_file", { file_path: "/drafts/.env", content: "k" }],
    ["a large file", "write_file", { file_path: "/drafts/b.md", content: "b".repeat(2_000_000) }],
  ]) {
    test(`${what} is refused`, async () => {
      const { isError, text } = await ask(name, input);
      assert.equal(isError, true);
      assert.match(text, /permission denied|quota|at most|limit/i);
    });
  }
});

// Values for the names of `given.d.ts`, new for each block, and a `fetch` that answers for the
// services which the documentation names: S3, Context Hub, Anthropic, OpenAI. Nothing leaves this
// machine.

import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { MockLanguageModelV3 } from "ai/test";
import { CustomBackend, presignS3, StateBackend } from "kitbag";
import { at } from "../../scripts/lib/paths.mjs";
import { MapBucket, MapStorage } from "../chunks/doubles.mjs";
import { HubServer, KEY } from "../durable/hub-server.mjs";
import { scriptedModels } from "../lib/model.mjs";
import { startQuick } from "../s3/quick.mjs";

const { Database } = createRequire(at("tests/deps/durable/package.json"))("node-sqlite3-wasm");

const FILES = { "/notes/todo.md": "- milk\n- eggs\n", "/src/main.ts": "export const one = 1;\n" };
const TURNS = [[["write_file", { file_path: "/notes/plan.md", content: "1. read\n" }]]];

/** An answer of a language model in parts. */
const streamed = () => [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "done" },
  { type: "text-end", id: "1" },
  {
    type: "finish",
    finishReason: { unified: "stop", raw: undefined },
    usage: { inputTokens: {}, outputTokens: {} },
  },
];

function sqlite() {
  const database = new Database(":memory:");
  return { prepare: (sql) => ({ all: (...values) => database.all(sql, values) }) };
}

function d1() {
  const database = sqlite();
  return {
    prepare: (sql) => ({
      bind: (...values) => ({
        all: async () => ({ results: database.prepare(sql).all(...values) }),
      }),
    }),
  };
}

const MAKERS = {
  files: () => new StateBackend({ files: FILES }),
  async backend() {
    const made = new CustomBackend(new MapStorage());
    for (const [path, text] of Object.entries(FILES)) await made.write(path, text);
    return made;
  },
  model: () => new (scriptedModels({ AIMessage, BaseChatModel }))(() => TURNS),
  languageModel: () =>
    new MockLanguageModelV3({
      doStream: async () => ({ stream: ReadableStream.from(streamed()) }),
      doGenerate: {
        finishReason: { unified: "stop", raw: undefined },
        usage: { inputTokens: {}, outputTokens: {} },
        content: [{ type: "text", text: "done" }],
        warnings: [],
      },
    }),
  checkpointer: () => new MemorySaver(),
  store: () => new InMemoryStore(),
  userId: () => "ann",
  prompt: () => "Write a plan.",
  env: () => ({ BUCKET: new MapBucket(), DB: d1() }),
  bucket: () => ({
    region: "eu-west-1",
    bucket: "agent-files",
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" },
  }),
  accessKeyId: () => "AKIDEXAMPLE",
  secretAccessKey: () => "secret",
  db: sqlite,
  sandbox: () => {
    const home = mkdtempSync(join(tmpdir(), "kitbag-docs-sandbox-"));
    const run = (command) =>
      new Promise((resolve) => {
        execFile("sh", ["-c", command], { cwd: home, maxBuffer: 1 << 26 }, (error, out, err) =>
          resolve({ output: out + err, exitCode: error ? Number(error.code ?? 1) : 0 }),
        );
      });
    return { id: "sandbox-1", home, run };
  },
  confirm: () => () => true,
  MyBackend: () => StateBackend,
  mayAccess: () => async () => true,
};

/** The values for these names. */
export async function given(names) {
  const values = await Promise.all(names.map((name) => MAKERS[name]()));
  return Object.fromEntries(names.map((name, at) => [name, values[at]]));
}

const json = (value) => Response.json(value);
const MESSAGE = { role: "assistant", content: "done", refusal: null };
const ANSWERS = {
  "api.anthropic.com": () =>
    json({
      id: "m",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "done" }],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  "api.openai.com": (url) =>
    url.pathname.endsWith("/responses")
      ? json({ id: "r", object: "response", output: [] })
      : json({ id: "c", object: "chat.completion", choices: [{ index: 0, message: MESSAGE }] }),
};

/** Replaces `fetch`; returns a function that ends the servers behind it. */
export async function answerRequests() {
  const s3 = await startQuick();
  const hub = await HubServer.start();
  const own = globalThis.fetch;
  process.env.LANGSMITH_API_KEY = KEY;
  process.env.ANTHROPIC_API_KEY = "test";
  process.env.OPENAI_API_KEY = "test";
  globalThis.fetch = async (input, init) => {
    if (input === "/sign") return json(await signed(JSON.parse(init.body)));
    const url = new URL(input instanceof Request ? input.url : input);
    const answer = ANSWERS[url.hostname];
    if (answer) return answer(url);
    const bucket = /^(?:(.+)\.)?s3\.[\w-]+\.amazonaws\.com$/.exec(url.hostname);
    const path = `${bucket?.[1] ? `/${bucket[1]}` : ""}${url.pathname}${url.search}`;
    if (bucket) return own(s3.endpoint + path, init);
    if (url.hostname === "api.smith.langchain.com") return own(hub.url + path, init);
    if (url.hostname === "127.0.0.1" || url.protocol === "data:") return own(input, init);
    throw new Error(`the documentation asks ${url.hostname}, which has no double in given.mjs`);
  };
  return () => Promise.all([s3.stop(), hub.stop?.()]);
}

function signed(request) {
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };
  return presignS3({ region: "eu-west-1", bucket: "agent-files", credentials }, request, 60);
}

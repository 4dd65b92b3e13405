// kitbag/anthropic, kitbag/openai and kitbag/ai with the real packages: scripted models do the task.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import * as six from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as five from "ai5";
import { MockLanguageModelV2 } from "ai5/test";
import { StateBackend } from "kitbag";
import { aiTools as tools6 } from "kitbag/ai";
import { anthropicTools, memoryTool, textEditorTool } from "kitbag/anthropic";
import { openaiTools } from "kitbag/openai";
import OpenAI from "openai";
import { checkTask, idOf, LARGE, STEPS } from "./task.mjs";

/** A provider on this machine: `answer` gets each request's body and makes the response. */
async function provider(answer) {
  const requests = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push(JSON.parse(body));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer(requests.at(-1), requests.length - 1)));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, requests, close: () => server.close() };
}

const report = {
  name: "large_report",
  description: "A report",
  schema: { type: "object", properties: {} },
};

test("Anthropic: the SDK's client, a scripted model, the task", async () => {
  const backend = new StateBackend();
  const files = anthropicTools(backend);
  const fake = await provider((_, at) => {
    const step = STEPS[at];
    return {
      id: `m${at}`,
      type: "message",
      role: "assistant",
      model: "scripted",
      usage: { input_tokens: 1, output_tokens: 1 },
      stop_reason: step ? "tool_use" : "end_turn",
      stop_sequence: null,
      content: step
        ? [{ type: "tool_use", id: idOf(at), name: step[0], input: step[1] }]
        : [{ type: "text", text: "done" }],
    };
  });
  const client = new Anthropic({ apiKey: "none", baseURL: fake.url, maxRetries: 0 });
  const messages = [{ role: "user", content: "go" }];
  const said = [];
  for (;;) {
    const message = await client.messages.create({
      model: "scripted",
      max_tokens: 100,
      messages,
      system: files.systemPrompt,
      tools: [
        ...files.definitions,
        { name: report.name, description: report.description, input_schema: report.schema },
      ],
    });
    messages.push({ role: "assistant", content: message.content });
    if (message.stop_reason !== "tool_use") break;
    const [use] = message.content;
    const results = files.handles(use.name)
      ? await files.run(message)
      : [
          {
            type: "tool_result",
            tool_use_id: use.id,
            is_error: false,
            content: [
              {
                type: "text",
                text: await files.offload(LARGE, { callId: use.id, toolName: use.name }),
              },
            ],
          },
        ];
    said.push(results[0].content[0].text);
    messages.push({ role: "user", content: results });
  }
  fake.close();
  await checkTask(said, backend);
  assert.equal(fake.requests[0].tools.length, 8);
  assert.equal(fake.requests.length, STEPS.length + 1);
  assert.equal(fake.requests.at(-1).messages.filter((one) => one.content[0]?.is_error).length, 2);
});

test("Anthropic: the memory tool's commands, and none that leave the directory", async () => {
  const backend = new StateBackend({ files: { "/other": "x" } });
  const memory = memoryTool(backend);
  const say = async (input, isError = false) => {
    const result = await memory.run(input);
    assert.equal(result.isError, isError, result.text);
    return result.text;
  };
  assert.match(await say({ command: "view", path: "/memories" }), /empty/);
  await say({ command: "create", path: "/memories/a.md", file_text: "one\ntwo\n" });
  assert.match(await say({ command: "view", path: "/memories" }), /\/memories\/a\.md \(8 bytes\)/);
  assert.equal(
    await say({ command: "view", path: "/memories/a.md", view_range: [2, 2] }),
    "     2\ttwo",
  );
  await say({ command: "str_replace", path: "/memories/a.md", old_str: "two", new_str: "2" });
  await say({
    command: "insert",
    path: "/memories/a.md",
    insert_line: 1,
    insert_text: "between\n",
  });
  assert.equal(backend.readRaw("/memories/a.md").data.content, "one\nbetween\n2\n");
  await say({ command: "rename", old_path: "/memories/a.md", new_path: "/memories/d/b.md" });
  assert.match(
    await say(
      { command: "str_replace", path: "/memories/d/b.md", old_str: "zz", new_str: "" },
      true,
    ),
    /does not appear/,
  );
  for (const path of [
    "/other",
    "/memories/../other",
    "/memoriesx",
    "/memories/%2e%2e/other",
    "/",
    "",
    7,
  ]) {
    await say({ command: "delete", path }, true);
  }
  await say({ command: "delete", path: "/memories" }, true);
  await say({ command: "format", path: "/memories/d" }, true);
  await say(null, true);
  await say({ command: "delete", path: "/memories/d" });
  assert.deepEqual(
    backend.glob("**").files.map((file) => file.path),
    ["/other"],
  );
});

test("Anthropic: the text editor tool's commands", async () => {
  const backend = new StateBackend();
  const editor = textEditorTool(backend);
  const run = (input) => editor.run(input);
  assert.equal(
    (await run({ command: "create", path: "/a.py", file_text: "a = 1\nb = 2\n" })).isError,
    false,
  );
  assert.equal(
    (await run({ command: "view", path: "/a.py" })).text,
    "     1\ta = 1\n     2\tb = 2",
  );
  assert.match((await run({ command: "view", path: "/" })).text, /\/a\.py/);
  assert.equal(
    (await run({ command: "insert", path: "/a.py", insert_line: 0, insert_text: "# top" })).isError,
    false,
  );
  assert.equal(
    (await run({ command: "insert", path: "/a.py", insert_line: 9, insert_text: "x" })).isError,
    true,
  );
  assert.equal(
    (await run({ command: "str_replace", path: "/a.py", old_str: " = ", new_str: "=" })).isError,
    true,
  );
  assert.equal((await run({ command: "delete", path: "/a.py" })).isError, true);
  assert.equal(backend.readRaw("/a.py").data.content, "# top\na = 1\nb = 2\n");
});

test("OpenAI: Chat Completions with the SDK's client", async () => {
  const backend = new StateBackend({ files: { "/p.png": new Uint8Array([1]) } });
  const files = openaiTools(backend);
  const fake = await provider((_, at) => {
    const step = STEPS[at];
    const call = step && {
      id: idOf(at),
      type: "function",
      function: { name: step[0], arguments: JSON.stringify(step[1]) },
    };
    const message = {
      role: "assistant",
      content: step ? null : "done",
      ...(call ? { tool_calls: [call] } : {}),
    };
    return {
      id: "c",
      object: "chat.completion",
      created: 0,
      model: "scripted",
      choices: [{ index: 0, finish_reason: step ? "tool_calls" : "stop", message }],
    };
  });
  const client = new OpenAI({ apiKey: "none", baseURL: fake.url, maxRetries: 0 });
  const messages = [
    { role: "system", content: files.systemPrompt },
    { role: "user", content: "go" },
  ];
  const said = [];
  for (;;) {
    const {
      choices: [{ message }],
    } = await client.chat.completions.create({
      model: "scripted",
      messages,
      tools: files.chatTools,
    });
    messages.push(message);
    const call = message.tool_calls?.[0];
    if (!call) break;
    const results = files.handles(call.function.name)
      ? await files.runChat(message)
      : [
          {
            role: "tool",
            tool_call_id: call.id,
            content: await files.offload(LARGE, { callId: call.id, toolName: call.function.name }),
          },
        ];
    said.push(results[0].content);
    messages.push(...results);
  }
  fake.close();
  await checkTask(said, backend);
  const call = {
    id: "p",
    type: "function",
    function: { name: "read_file", arguments: '{"file_path":"/p.png"}' },
  };
  const [, picture] = await files.runChat({ tool_calls: [call] });
  assert.equal(picture.content[0].image_url.url, "data:image/png;base64,AQ==");
});

test("OpenAI: Responses with the SDK's client", async () => {
  const backend = new StateBackend();
  const files = openaiTools(backend);
  const fake = await provider((_, at) => {
    const step = STEPS[at];
    const output = step
      ? [
          {
            type: "function_call",
            id: `f${at}`,
            call_id: idOf(at),
            name: step[0],
            arguments: JSON.stringify(step[1]),
            status: "completed",
          },
        ]
      : [
          {
            type: "message",
            id: "m",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "done", annotations: [] }],
          },
        ];
    return {
      id: `r${at}`,
      object: "response",
      created_at: 0,
      model: "scripted",
      status: "completed",
      output,
    };
  });
  const client = new OpenAI({ apiKey: "none", baseURL: fake.url, maxRetries: 0 });
  const input = [{ role: "user", content: "go" }];
  const said = [];
  for (;;) {
    const response = await client.responses.create({
      model: "scripted",
      input,
      tools: files.responsesTools,
    });
    const [call] = response.output;
    if (call.type !== "function_call") break;
    const results = files.handles(call.name)
      ? await files.runResponses(response.output)
      : [
          {
            type: "function_call_output",
            call_id: call.call_id,
            output: await files.offload(LARGE, { callId: call.call_id, toolName: call.name }),
          },
        ];
    said.push(results[0].output);
    input.push(...response.output, ...results);
  }
  fake.close();
  await checkTask(said, backend);
});

// The same module, met by version 5 in place of 6: two versions under one name need two folders.
const module6 = fileURLToPath(import.meta.resolve("kitbag/ai"));
const module5 = module6.replace(/ai\.js$/, "ai-with-5.js");
writeFileSync(module5, readFileSync(module6, "utf8").replace(/from "ai"/, 'from "ai5"'));
const { aiTools: tools5 } = await import(module5);

const usage3 = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

for (const [version, Model, sdk, aiTools, finish, usage] of [
  ["6", MockLanguageModelV3, six, tools6, (reason) => ({ unified: reason, raw: reason }), usage3],
  [
    "5",
    MockLanguageModelV2,
    five,
    tools5,
    (reason) => reason,
    { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  ],
]) {
  test(`AI SDK ${version}: its own mock model, the task, pictures`, async () => {
    const backend = new StateBackend({ files: { "/p.png": new Uint8Array([1]) } });
    const files = aiTools(backend);
    const steps = [...STEPS, ["read_file", { file_path: "/p.png" }]];
    let at = 0;
    const prompts = [];
    const model = new Model({
      doGenerate: async ({ prompt }) => {
        prompts.push(prompt);
        const step = steps[at++];
        const content = step
          ? [
              {
                type: "tool-call",
                toolCallId: idOf(at - 1),
                toolName: step[0],
                input: JSON.stringify(step[1]),
              },
            ]
          : [{ type: "text", text: "done" }];
        return { content, finishReason: finish(step ? "tool-calls" : "stop"), usage, warnings: [] };
      },
    });
    const large = sdk.tool({
      description: report.description,
      inputSchema: sdk.jsonSchema(report.schema),
      execute: (_, { toolCallId }) =>
        files.offload(LARGE, { callId: toolCallId, toolName: report.name }),
    });
    const result = await sdk.generateText({
      model,
      prompt: "go",
      system: files.systemPrompt,
      tools: { ...files.tools, large_report: large },
      stopWhen: sdk.stepCountIs(20),
    });
    assert.equal(result.text, "done");
    const said = result.steps.flatMap((step) => step.toolResults.map((one) => one.output));
    backend.delete("/p.png");
    await checkTask(said.slice(0, -1), backend);
    const shown = JSON.stringify(prompts.at(-1).at(-1));
    assert.match(shown, /image\/png/);
    assert.match(shown, /AQ==/);
  });
}

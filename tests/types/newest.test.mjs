// The adapters' types with the newest versions of the frameworks, in a strict program.

import { deepEqual, match } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { packedProject } from "../lib/packed.mjs";
import { complaintsOf } from "../lib/tsc.mjs";

const PROGRAM = `import Anthropic from "@anthropic-ai/sdk";
import { Workspace } from "@mastra/core/workspace";
import { Agent, applyPatchTool, shellTool } from "@openai/agents-core";
import { type Experimental_SandboxSession, generateText, isStepCount, type LanguageModel, streamText } from "ai";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { createDeepAgent } from "deepagents";
import { CompositeBackend, StateBackend, StoreBackend, withPolicy } from "kitbag";
import { fileTools as aiTools, sandboxSession } from "kitbag/ai";
import { agentToolset, fileTools as anthropicTools } from "kitbag/anthropic";
import { withBash } from "kitbag/just-bash";
import { fileTools as langchainTools, kitbagMiddleware, storeBackend } from "kitbag/langchain";
import { commandShell, fileTools as openaiTools, patchEditor } from "kitbag/openai";
import { workspaceFilesystem } from "kitbag/mastra";
import { createAgent } from "langchain";
import OpenAI from "openai";

declare const model: LanguageModel;
declare const chat: BaseChatModel;
const backend = withPolicy(new StateBackend(), {});

export async function ai() {
  const { tools, systemPrompt: instructions } = aiTools(backend);
  const stopWhen = isStepCount(20);
  const { responseMessages } = await generateText({ model, instructions, tools, stopWhen, prompt: "" });
  const { textStream } = streamText({ model, instructions, tools, stopWhen, prompt: "" });
  const experimental_sandbox: Experimental_SandboxSession = sandboxSession(withBash(backend));
  await generateText({ model, tools, prompt: "", experimental_sandbox });
  return [responseMessages, textStream] as const;
}

export async function openai(client: OpenAI) {
  const files = openaiTools(backend);
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "" }];
  const request = { model: "gpt-5", instructions: files.systemPrompt, input };
  const response = await client.responses.create({ ...request, tools: files.definitions });
  input.push(...(response.output as OpenAI.Responses.ResponseInput));
  input.push(...(await files.run(response)));
}

export async function anthropic(client: Anthropic) {
  const files = anthropicTools(backend);
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "" }];
  const request = { model: "claude-sonnet-4-5", max_tokens: 9, system: files.systemPrompt, messages };
  const message = await client.messages.create({ ...request, tools: files.definitions });
  messages.push({ role: "user", content: await files.run(message) });
  const tools = agentToolset(withBash(backend));
  await client.beta.messages.toolRunner({ model: "m", max_tokens: 9, messages: [], tools });
}

export const openaiAgent = new Agent({
  name: "a",
  tools: [
    applyPatchTool({ editor: patchEditor(backend) }),
    shellTool({ shell: commandShell(withBash(backend)) }),
  ],
});

export const workspace = new Workspace({ filesystem: workspaceFilesystem(backend) });

export const agents = [
  createAgent({ model: chat, middleware: [kitbagMiddleware(backend)] }),
  createAgent({ model: chat, tools: langchainTools(backend).tools }),
  createDeepAgent({
    model: chat,
    backend: new CompositeBackend(new StateBackend(), {
      "/memories/": new StoreBackend({ namespace: (ctx) => [String(ctx.runtime.context?.["userId"])] }),
      "/own/": storeBackend({ namespace: (runtime) => [String(runtime.context?.["userId"])] }),
    }),
  }),
];
`;

let project;
before(async () => {
  project = await packedProject({ set: ["newest", "optional"] });
});
after(() => project?.remove());

const complaints = (program) => complaintsOf(program, project.root);

test("a program with the newest AI SDK, OpenAI, Anthropic, LangChain and deepagents compiles", async () => {
  deepEqual(await complaints(PROGRAM), []);
});

test("the compiler does look: a tool set in the wrong place is found", async () => {
  const wrong = PROGRAM.replace("tools, stopWhen, prompt", "tools: [tools], stopWhen, prompt");
  match((await complaints(wrong)).join("\n"), /./);
});

test("the versions are those that are meant", () => {
  const { dependencies } = JSON.parse(readFileSync(at("tests/deps/newest/package.json"), "utf8"));
  for (const [name, major] of [
    ["ai", 7],
    ["openai", 7],
    ["@anthropic-ai/sdk", 1],
    ["@langchain/langgraph", 1],
  ]) {
    const file = at("tests/deps/newest/node_modules", name, "package.json");
    const { version } = JSON.parse(readFileSync(file, "utf8"));
    deepEqual([version, Number(version.split(".")[0])], [dependencies[name], major], name);
  }
});

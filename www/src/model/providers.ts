// One turn of a model, streamed, by `fetch` from this page. Messages are kept in the provider's own
// form; what is common is the text as it arrives and the tool calls at the end.

import type { FileTool } from "kitbag";
import { ask, events } from "./stream";

export interface Setting {
  key: string;
  model: string;
  base: string;
}

export interface ToolUse {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

export interface ToolAnswer {
  id: string;
  text: string;
  isError: boolean;
}

export interface Turn {
  setting: Setting;
  system: string;
  tools: FileTool[];
  messages: object[];
  signal: AbortSignal;
  onText(part: string): void;
  /** A call whose arguments are still arriving: so many characters until now. */
  onCall(name: string, characters: number): void;
}

export interface Provider {
  name: string;
  base: string;
  model: string;
  user(text: string): object;
  /** Adds the model's message to `messages`, and gives its tool calls. */
  turn(of: Turn): Promise<ToolUse[]>;
  answers(results: ToolAnswer[]): object[];
}

function parsed(json: string): Record<string, unknown> {
  try {
    return JSON.parse(json || "{}") as Record<string, unknown>;
  } catch {
    return {};
  }
}

interface AnthropicEvent {
  type?: string;
  index?: number;
  content_block?: { type: string; id?: string; name?: string };
  delta?: { type: string; text?: string; partial_json?: string };
  error?: { message?: string };
}

const anthropic: Provider = {
  name: "Anthropic",
  base: "https://api.anthropic.com",
  model: "claude-sonnet-4-5",
  user: (text) => ({ role: "user", content: text }),
  async turn({ setting, system, tools, messages, signal, onText, onCall }) {
    const response = await ask(`${setting.base}/v1/messages`, setting.key, {
      method: "POST",
      signal,
      headers: {
        "content-type": "application/json",
        "x-api-key": setting.key,
        "anthropic-version": "2023-06-01",
        "anthropic-dangerous-direct-browser-access": "true",
      },
      body: JSON.stringify({
        model: setting.model,
        max_tokens: 4096,
        stream: true,
        system,
        messages,
        tools: tools.map(({ name, description, inputSchema }) => ({
          name,
          description,
          input_schema: inputSchema,
        })),
      }),
    });
    const blocks: Array<{ type: string; text: string; id: string; name: string; json: string }> =
      [];
    for await (const event of events(response) as AsyncGenerator<AnthropicEvent>) {
      if (event.type === "error") throw new Error(event.error?.message ?? "the provider failed");
      if (event.type === "content_block_start" && event.content_block) {
        const { type, id = "", name = "" } = event.content_block;
        blocks[event.index ?? 0] = { type, id, name, text: "", json: "" };
        if (type === "tool_use") onCall(name, 0);
      }
      const block = blocks[event.index ?? 0];
      if (event.type !== "content_block_delta" || !block) continue;
      if (event.delta?.partial_json !== undefined) {
        block.json += event.delta.partial_json;
        onCall(block.name, block.json.length);
      }
      if (event.delta?.text) {
        block.text += event.delta.text;
        onText(event.delta.text);
      }
    }
    const uses = blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, json }) => ({ id, name, input: parsed(json) }));
    const texts = blocks.filter(({ type, text }) => type === "text" && text !== "");
    const content = [
      ...texts.map(({ text }) => ({ type: "text", text })),
      ...uses.map((use) => ({ type: "tool_use", ...use })),
    ];
    // A message without content is refused in the next turn.
    if (content.length > 0) messages.push({ role: "assistant", content });
    return uses;
  },
  answers: (results) => [
    {
      role: "user",
      content: results.map(({ id, text, isError }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: text || "[empty]",
        is_error: isError,
      })),
    },
  ],
};

interface OpenAiEvent {
  error?: { message?: string };
  choices?: Array<{
    delta?: {
      content?: string;
      tool_calls?: Array<{
        index: number;
        id?: string;
        function?: { name?: string; arguments?: string };
      }>;
    };
  }>;
}

const openai: Provider = {
  name: "OpenAI",
  base: "https://api.openai.com",
  model: "gpt-5-mini",
  user: (text) => ({ role: "user", content: text }),
  async turn({ setting, system, tools, messages, signal, onText, onCall }) {
    const response = await ask(`${setting.base}/v1/chat/completions`, setting.key, {
      method: "POST",
      signal,
      headers: {
        "content-type": "application/json",
        ...(setting.key && { authorization: `Bearer ${setting.key}` }),
      },
      body: JSON.stringify({
        model: setting.model,
        stream: true,
        messages: [{ role: "system", content: system }, ...messages],
        tools: tools.map(({ name, description, inputSchema }) => ({
          type: "function",
          function: { name, description, parameters: inputSchema },
        })),
      }),
    });
    let text = "";
    const calls: Array<{ id: string; name: string; json: string }> = [];
    for await (const { choices, error } of events(response) as AsyncGenerator<OpenAiEvent>) {
      if (error) throw new Error(error.message ?? "the provider failed");
      const delta = choices?.[0]?.delta;
      if (delta?.content) {
        text += delta.content;
        onText(delta.content);
      }
      for (const { index, id, function: part } of delta?.tool_calls ?? []) {
        calls[index] ??= { id: "", name: "", json: "" };
        const call = calls[index];
        call.id ||= id ?? "";
        call.name += part?.name ?? "";
        call.json += part?.arguments ?? "";
        onCall(call.name, call.json.length);
      }
    }
    messages.push({
      role: "assistant",
      content: text || null,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, json }) => ({
          id,
          type: "function",
          function: { name, arguments: json },
        })),
      }),
    });
    return calls.map(({ id, name, json }) => ({ id, name, input: parsed(json) }));
  },
  answers: (results) =>
    results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text })),
};

/**
 * The address before `/v1` of what a user typed: with `/v1` behind it, with a whole endpoint, or with
 * neither.
 */
export const baseOf = (address: string): string =>
  address.trim().replace(/(\/v1)?(\/messages|\/chat\/completions)?\/*$/, "");

export const PROVIDERS = { anthropic, openai };
export type ProviderId = keyof typeof PROVIDERS;

// What the drivers of LangChain and deepagents share: the scripted model, made of LangChain's own
// mock, and an agent led by it to the end.

import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { AIMessage, ToolMessage } from "langchain";
import { z } from "zod";
import { LARGE } from "../cases/material.mjs";
import { REPORT } from "./provider.mjs";

export const report = tool(() => LARGE, {
  name: REPORT.name,
  description: REPORT.description,
  schema: z.object({}),
});

export const textOf = (content) =>
  typeof content === "string"
    ? content
    : content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

/** The results since the user's last word: what was said before it is no part of the script. */
const shown = (messages, telling) =>
  messages
    .slice(messages.findLastIndex((message) => message.getType() === "human"))
    .filter((message) => ToolMessage.isInstance(message))
    .map(({ tool_call_id: id, content, status }) => ({
      id,
      text: textOf(content),
      media: (typeof content === "string" ? [] : content)
        .filter((block) => block.type === "image")
        .map(({ mimeType, data }) => ({ mimeType, data })),
      ...(telling ? { isError: status === "error" } : {}),
    }));

/**
 * A model that a script leads. `prompt` must be part of the system's message. `telling`: whether a
 * message's status tells of failures; deepagents' own tools leave it alone.
 */
export function scripted(script, { prompt, telling = true } = {}) {
  const model = fakeModel();
  let names = [];
  const bind = model.bindTools.bind(model);
  model.bindTools = (tools) => {
    names = tools.map((one) => one.name);
    return bind(tools);
  };
  for (let turn = 0; turn <= script.length; turn++) {
    model.respond((messages) => {
      script.offered(names, textOf(messages[0].content), prompt);
      const call = script.next(shown(messages, telling));
      if (!call) return new AIMessage("done");
      const { id, name, input } = call;
      return new AIMessage({
        content: "",
        tool_calls: [{ id, name, args: input, type: "tool_call" }],
      });
    });
  }
  return model;
}

/** Makes an agent round the scripted model, runs it, and gives its last words. */
export async function led(make, script, options) {
  const agent = make(scripted(script, options));
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: "go" }] },
    { recursionLimit: 300 },
  );
  return textOf(messages.at(-1).content);
}

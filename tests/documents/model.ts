// A chat model that follows a script, and what an agent's state says. Its answers depend on the
// conversation alone.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";

/** A tool and its arguments. */
export type Call = [name: string, args: Record<string, unknown>];

type Turns = Call[][] | ((first: string) => Call[][]);

class ScriptedModel extends BaseChatModel {
  constructor(
    private turns: Turns,
    private look?: (messages: BaseMessage[]) => void,
  ) {
    super({});
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]) {
    this.look?.(messages);
    const first = messages.find((message) => message.getType() === "human");
    const turn = messages.filter((message) => message.getType() === "ai").length;
    const turns = typeof this.turns === "function" ? this.turns(said(first)) : this.turns;
    const message = new AIMessage({
      content: turns[turn] ? "" : "done",
      tool_calls: (turns[turn] ?? []).map(([name, args], at) => ({
        id: `call_${turn}_${at}`,
        name,
        args,
        type: "tool_call" as const,
      })),
    });
    return { generations: [{ text: "", message }] };
  }
}

/** A model with these turns; each is a list of calls that are made together. */
export const model = (turns: Turns, look?: (messages: BaseMessage[]) => void) =>
  new ScriptedModel(turns, look);

/** The text of a message. */
export function said(message: BaseMessage | undefined): string {
  const content = message?.content ?? "";
  if (typeof content === "string") return content;
  return content.map((block) => ("text" in block ? String(block.text) : "")).join("\n");
}

/** An input with one message. */
export const ask = (content: string) => ({ messages: [{ role: "user", content }] });

/** What the tools answered. */
export function textsOf(state: unknown): string[] {
  const { messages } = state as { messages: BaseMessage[] };
  return messages.filter((message) => message.getType() === "tool").map(said);
}

/** The texts of files in a state. */
export function contents(files: Record<string, unknown> | undefined): Record<string, string> {
  const entries = Object.entries(files ?? {}).map(([path, file]): [string, string] => {
    const { content } = file as { content: string | string[] };
    return [path, Array.isArray(content) ? content.join("\n") : content];
  });
  return Object.fromEntries(entries.sort());
}

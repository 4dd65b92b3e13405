// A model whose answers are written down: what it says next depends on the conversation alone, so
// that any number of conversations can use it at the same time.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "langchain";

/** Each turn is a list of `[tool, args]`, called together; after the last one it says "done". */
export class ScriptedModel extends BaseChatModel {
  #turnsFor;
  /** What it was shown, call by call. */
  shown = [];

  /** `turnsFor` gives the turns for a conversation, by its first message. */
  constructor(turnsFor) {
    super({});
    this.#turnsFor = turnsFor;
  }

  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    this.shown.push(messages);
    const first = messages.find((message) => message.getType() === "human");
    const turn = messages.filter((message) => message.getType() === "ai").length;
    const calls = this.#turnsFor(textOf(first))[turn];
    const message = calls
      ? new AIMessage({
          content: "",
          tool_calls: calls.map(([name, args], at) => ({
            id: `call_${turn}_${at}`,
            name,
            args,
            type: "tool_call",
          })),
        })
      : new AIMessage("done");
    // Other conversations get a word in between.
    await new Promise((resolve) => setTimeout(resolve, turn % 3));
    return { generations: [{ text: "", message }] };
  }
}

function textOf(message) {
  const { content } = message;
  return typeof content === "string" ? content : content.map((block) => block.text).join("");
}

/** What the tools answered, in the order of their calls. */
export const answers = (state) =>
  state.messages.filter((message) => message.getType() === "tool").map(textOf);

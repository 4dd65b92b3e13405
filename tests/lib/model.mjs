// A model whose answers are given in advance. What it says depends on the conversation alone, so any
// number of conversations can use it at the same time.

/**
 * A class of models, made of one installation's own `AIMessage` and `BaseChatModel`. Its constructor
 * takes a function that returns the turns of a conversation by its first message. Each turn is a
 * list of `[tool, args]`, called together; after the last one the model says "done".
 */
export function scriptedModels({ AIMessage, BaseChatModel }) {
  return class ScriptedModel extends BaseChatModel {
    #turnsFor;

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
      // Conversations that run at the same time continue in different orders.
      for (let rest = turn % 3; rest >= 0; rest--) await new Promise(setImmediate);
      return { generations: [{ text: "", message }] };
    }
  };
}

/** The text of a message. */
export const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((block) => block.text).join("\n");

/** What the tools answered, in the order of their calls. */
export const answersOf = (state) =>
  state.messages.filter((message) => message.getType() === "tool").map(textOf);

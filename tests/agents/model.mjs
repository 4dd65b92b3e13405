// A model whose answers are written down, made of one version's own classes. What it says depends
// on the conversation alone, so any number of conversations can use it at the same time.

/** `turnsFor` gives the turns of a conversation by its first message, as lists of `[tool, args]`. */
export function scriptedModel({ AIMessage, BaseChatModel }, turnsFor) {
  return new (class extends BaseChatModel {
    constructor() {
      super({});
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
      const calls = turnsFor(textOf(first))[turn];
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
      await new Promise((resolve) => setImmediate(resolve));
      return { generations: [{ text: "", message }] };
    }
  })();
}

export const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((block) => block.text).join("\n");

/** What the tools answered, in the order of their calls. */
export const answersOf = (state) =>
  state.messages.filter((message) => message.getType() === "tool").map(textOf);

// This folder's version of deepagents and of what belongs to it, for the tests beside it.

export { BaseChatModel } from "@langchain/core/language_models/chat_models";
export { AIMessage, HumanMessage } from "@langchain/core/messages";
export { tool } from "@langchain/core/tools";
export {
  Annotation,
  InMemoryStore,
  MemorySaver,
  StateGraph,
} from "@langchain/langgraph";
export * from "deepagents";

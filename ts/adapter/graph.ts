// `kitbag/graph`: for adapters of frameworks other than LangGraph. They tell backends what a running
// graph provides, and let the calls of one step see each other's changes.

export { type GraphContext, provideGraphContext } from "../graph/context.js";
export { type SharedState, shareState } from "../graph/mirror.js";

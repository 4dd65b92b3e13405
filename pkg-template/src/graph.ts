// What a running LangGraph graph lends: its store, its config, its runtime. The core imports no
// LangGraph; an adapter that does says here where these are to be found.

/** The runtime of a graph, as far as backends read it. */
export interface GraphRuntime {
  // biome-ignore lint/suspicious/noExplicitAny: what a graph's context holds is its author's business
  context?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the server says what it likes
  serverInfo?: any;
  // biome-ignore lint/suspicious/noExplicitAny: differs from version to version
  executionInfo?: any;
}

/** What is known while a graph runs. */
export interface GraphContext {
  store?: unknown;
  config?: unknown;
  state?: unknown;
  runtime?: GraphRuntime;
}

let provider: (() => GraphContext | undefined) | undefined;

/** Says where the context of the graph that runs is to be found; called by adapters. */
export function provideGraphContext(find: () => GraphContext | undefined): void {
  provider = find;
}

/** The context of the graph that runs, if one does. */
export function graphContext(): GraphContext | undefined {
  try {
    return provider?.();
  } catch {
    // Outside a graph.
    return undefined;
  }
}

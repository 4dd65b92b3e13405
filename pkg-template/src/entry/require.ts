// Node, by `require`: the same as `node.ts`.

export * from "./agent-require.js";
export * from "./lent-require.js";
export * from "./storages-require.js";

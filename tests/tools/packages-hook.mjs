// Bare names in this folder and in those of `provenance` and `seats` are looked up from a set of `tests/deps`, where
// the frameworks and the built package are installed, and then from `tests/deps/optional`.

import { ERA, SET } from "./set.mjs";

const folders = ["./", "../provenance/", "../seats/"].map(
  (name) => new URL(name, import.meta.url).href,
);
const agents = new URL(`../deps/${SET}/package.json`, import.meta.url).href;
const optional = new URL("../deps/optional/package.json", import.meta.url).href;
const inAgents = new URL(`../deps/${SET}/node_modules/`, import.meta.url).href;

/** With an era of MCP, version 2 of its SDK stands where tests import version 1. */
const second = new URL("./mcp-2/sdk.mjs", import.meta.url).href;
const FIRST = /^@modelcontextprotocol\/sdk\//;

export async function resolve(specifier, context, next) {
  const from = context.parentURL ?? "";
  if (ERA && from.startsWith(folders[0]) && FIRST.test(specifier)) return next(second, context);
  const bare = !/^(\.{0,2}\/|[a-z]+:)/.test(specifier);
  const ours = bare && folders.some((folder) => from.startsWith(folder));
  try {
    return await next(specifier, ours ? { ...context, parentURL: agents } : context);
  } catch (error) {
    if (!bare || !(ours || from.startsWith(inAgents))) throw error;
    return next(specifier, { ...context, parentURL: optional });
  }
}

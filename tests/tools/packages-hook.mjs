// Bare names in this folder and in those of `provenance` and `seats` are looked up from a set of `tests/deps`, where
// the frameworks and the built package are installed, and then from `tests/deps/optional`.

import { SET } from "./set.mjs";

const folders = ["./", "../provenance/", "../seats/"].map(
  (name) => new URL(name, import.meta.url).href,
);
const agents = new URL(`../deps/${SET}/package.json`, import.meta.url).href;
const optional = new URL("../deps/optional/package.json", import.meta.url).href;
const inAgents = new URL(`../deps/${SET}/node_modules/`, import.meta.url).href;

export async function resolve(specifier, context, next) {
  const bare = !/^(\.{0,2}\/|[a-z]+:)/.test(specifier);
  const from = context.parentURL ?? "";
  const ours = bare && folders.some((folder) => from.startsWith(folder));
  try {
    return await next(specifier, ours ? { ...context, parentURL: agents } : context);
  } catch (error) {
    if (!bare || !(ours || from.startsWith(inAgents))) throw error;
    return next(specifier, { ...context, parentURL: optional });
  }
}

// Bare names in this folder are looked up from `tests/deps/agents`, where the frameworks and the
// built package are installed.

const here = new URL("./", import.meta.url).href;
const place = new URL("../deps/agents/package.json", import.meta.url).href;

export function resolve(specifier, context, next) {
  const bare = !/^(\.{0,2}\/|[a-z]+:)/.test(specifier);
  const ours = bare && context.parentURL?.startsWith(here);
  return next(specifier, ours ? { ...context, parentURL: place } : context);
}

// What the package exports: one table of its entries, and the fields of package.json that follow from
// it. Each tool looks for an entry in its own way, so the order of the conditions matters:
//
// - `workerd` and `edge-light` first: these runtimes and their tools know `module` or `node`, too.
// - `bun` before `module`: tools that build for Bun set both, and Bun itself then takes `bun`.
// - `module` is for bundlers. Those that build for Node set `node` as well. Some of them leave the
//   import as it is and copy the file that they found, and Node then takes `node`: so `server/…` names
//   what Node takes (see node-files.mjs).
// - `deno` behind it, for the same reason.
//
// docs/stacks.md lists the tools that are tested.

/** An entry with the same file everywhere; it imports `kitbag` by name. */
const plain = (name, { file = name, types = `adapter/${file}` } = {}) => [
  `./${name}`,
  { types, bundle: file, node: file, plain: true },
];

/** An entry with a file for each form of the WebAssembly. */
const formed = (name, files) => [
  `./${name}`,
  {
    types: `entry/${name}`,
    workerd: `workerd/${name}`,
    edge: `edge/${name}`,
    bun: `browser/${name}`,
    bundle: `browser/${name}`,
    server: `server/${name}`,
    node: name,
    ...files,
  },
];

/**
 * The entries by subpath, with the names of their files in `types/` and in `dist/`. `bundle` is for
 * pages and bundlers, `server` for bundlers that build for Node, `node` for Node, as `.js` and `.cjs`.
 */
export const ENTRIES = new Map([
  [
    ".",
    {
      types: "index",
      workerd: "workerd",
      edge: "edge",
      bun: "bun",
      bundle: "browser",
      server: "server",
      node: "node",
    },
  ],
  // The caller passes the WebAssembly, except in Node, Deno and Bun. A bundle for Bun is no exception.
  [
    "./slim",
    {
      types: "entry/slim",
      bundle: "slim",
      server: "server/slim",
      bunUnbundled: "slim-node",
      node: "slim-node",
    },
  ],
  // Empty where the chunk is loaded with the first expression.
  formed("regex", { workerd: "regex", edge: "regex" }),
  ...["guided", "history", "ignore", "indexed", "provenance", "sync"].map((name) => formed(name)),
  plain("node", { file: "node_shell" }),
  ...["langchain", "ai", "mastra", "mcp", "anthropic", "openai", "just-bash"].map((name) =>
    plain(name),
  ),
  ...["fs", "vscode", "transfer", "tar", "zip", "opentelemetry", "unchanged", "graph"].map((name) =>
    plain(name),
  ),
  plain("server", { file: "serve_files" }),
  plain("lend"),
  plain("conformance", { types: "conformance" }),
]);

/** Modules that do something when they are loaded: bundlers keep them although nothing is used. */
const SIDE_EFFECTS = ["browser/regex", "browser/guided", "server/regex", "server/guided", "bun"];

const script = (name) => `./dist/${name}.js`;
const declared = (name) => `./types/${name}.d.ts`;

/** The conditions of an entry, in the order in which they are tried. */
function conditions(entry) {
  const { types, workerd, edge, bun, bundle, server, bunUnbundled, node } = entry;
  const target = (file) => ({ types: declared(types), default: file });
  const one = (name) => name && target(script(name));
  const required = { types: `./types/${types}.d.cts`, default: `./dist/${node}.cjs` };
  if (entry.plain) return { module: one(bundle), require: required, default: one(node) };
  const all = [
    ["workerd", one(workerd)],
    ["edge-light", one(edge)],
    ["bun", one(bun)],
    ["module", { node: one(server), default: one(bundle) }],
    ["bun", one(bunUnbundled)],
    ["deno", one(node)],
    ["node", { require: required, default: one(node) }],
    ["default", one(bundle)],
  ];
  return Object.fromEntries(all.filter(([, value]) => value));
}

/** The fields of package.json that name files of `dist` and `types`. */
export function entryFields() {
  const subpaths = [...ENTRIES].filter(([path]) => path !== ".");
  const exported = [...ENTRIES].map(([path, entry]) => [path, conditions(entry)]);
  const main = ENTRIES.get(".");
  return {
    sideEffects: SIDE_EFFECTS.map(script),
    main: `./dist/${main.node}.cjs`,
    module: script(main.bundle),
    types: declared(main.types),
    // For TypeScript's older `moduleResolution`.
    typesVersions: {
      "*": Object.fromEntries(
        subpaths.map(([path, { types }]) => [path.slice(2), [declared(types)]]),
      ),
    },
    // For Parcel, which does not read `exports`.
    alias: {
      ...Object.fromEntries(subpaths.map(([path, { bundle }]) => [path, script(bundle)])),
      "./wasm/*": "./dist/wasm/$1",
    },
    exports: {
      ...Object.fromEntries(exported),
      "./wasm/*": "./dist/wasm/*",
      "./package.json": "./package.json",
    },
  };
}

/** The files with this ending that the exports name. */
export function exportedFiles(ending) {
  const named = (value) =>
    typeof value === "string" ? [value] : Object.values(value).flatMap(named);
  return [...new Set(named(entryFields().exports).filter((file) => file.endsWith(ending)))];
}

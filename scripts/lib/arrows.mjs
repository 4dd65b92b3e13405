// Which part of the code may import which. The parts stand in layers: a file imports from its own
// part and from the parts listed for it, and no two files import each other, not even through
// others. `npm run lint` prints every import that breaks this. What tests import is counted by
// `npm run figures`.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { at } from "./paths.mjs";

/** What each part of a turn may import. */
const BELOW_TURNS = [
  ...["core", "env", "protocol", "search"],
  ...["layer/kit", "layer/turn/bugs", "layer/winnow"],
];

/** The parts of the crate, and the parts that each may import. The longest name that fits counts. */
const RUST = {
  core: [],
  env: ["core"],
  search: ["core"],
  protocol: ["core", "search"],
  pins: ["core", "protocol"],
  storage: ["core", "env", "pins", "protocol", "search"],
  "storage/browser/opfs": ["core", "env", "protocol", "search", "storage"],
  "storage/browser/indexed_db": ["core", "env", "protocol", "search", "storage"],
  "storage/s3": ["core", "env", "protocol", "search", "storage"],
  files: ["core", "env", "protocol", "search", "storage"],
  foreign: ["core", "env", "protocol", "search"],
  remote: ["core", "env", "protocol", "search"],
  side: ["core", "env", "pins", "protocol"],
  layer: ["core", "env", "pins", "protocol", "search", "side"],
  "layer/kit": ["core", "protocol", "side"],
  "layer/winnow": ["core", "protocol"],
  "layer/turn/bugs": [],
  "layer/turn/overlay": [...BELOW_TURNS, "pins"],
  "layer/turn/commit": [...BELOW_TURNS, "layer/turn/overlay", "side"],
  "layer/turn/log": [...BELOW_TURNS, "layer/turn/overlay", "side"],
  tool: ["core", "env", "protocol", "search"],
  boundary: [
    ...["core", "env", "files", "layer", "protocol", "side"],
    ...["storage", "storage/s3", "tool"],
  ],
  conformance: ["core", "protocol"],
};
/** The same for TypeScript. */
const TYPESCRIPT = {
  types: [],
  source: [],
  core: ["source", "types"],
  foreign: ["core", "types"],
  graph: ["core", "types"],
  disk: ["core", "types"],
  backend: ["core", "disk", "foreign", "graph", "types"],
  tool: ["backend", "core", "foreign", "graph", "types"],
  adapter: ["core", "graph", "types"],
  conformance: ["core", "types"],
};

const files = (folder, wanted) =>
  readdirSync(at(folder), { recursive: true })
    .map((name) => String(name).replaceAll("\\", "/"))
    .filter((name) => wanted(name) && !name.includes("node_modules"));

const TEST_FILE = /(^|\/)(tests?(\/|\.rs)|testing\.rs)/;
const TEST_MODULE = /#\[cfg\(test\)\]\s*(pub(\(crate\))? )?mod \w+ \{[\s\S]*$/;

/**
 * Who imports whom in the crate: paths that begin with `crate::` or `super::`. With `tests`, the imports
 * of tests as well.
 */
function rust({ tests = false } = {}) {
  const names = files("src", (name) => /\.rs$/.test(name) && (tests || !TEST_FILE.test(name)));
  const moduleOf = (name) => name.replace(/\.rs$/, "").replace(/\/mod$/, "");
  const byModule = new Map(names.map((name) => [moduleOf(name), name]));
  const imports = new Map();
  for (const name of names) {
    // Who may see something is no import.
    const whole = readFileSync(at("src", name), "utf8").replace(/\/\/.*$|pub\(in [^)]*\)/gm, "");
    const text = tests ? whole : whole.replace(TEST_MODULE, "");
    const found = new Set();
    const add = (steps) => {
      for (let length = steps.length; length > 0; length--) {
        const file = byModule.get(steps.slice(0, length).join("/"));
        if (file === undefined) continue;
        if (file !== name) found.add(file);
        return;
      }
    };
    for (const [, base, group] of text.matchAll(/crate::((?:\w+::)*)\{([^{}]*)\}/g)) {
      for (const item of group.split(",")) {
        const path = base + item.trim().replace(/ as .*/, "");
        add(path.split("::").filter((step) => step !== "self"));
      }
    }
    for (const [, path] of text.matchAll(/crate::(\w+(?:::\w+)*)/g)) add(path.split("::"));
    for (const [, ups, path] of text.matchAll(/((?:super::)+)(\w+(?:::\w+)*)/g)) {
      const above = moduleOf(name)
        .split("/")
        .slice(0, -(ups.split("::").length - 1));
      add([...above, ...path.split("::")]);
    }
    imports.set(name, [...found]);
  }
  return imports;
}

/** Who imports whom in the TypeScript, types included. */
function typescript() {
  const names = files("ts", (name) => name.endsWith(".ts") && !name.endsWith(".d.ts"));
  const known = new Set(names);
  const imports = new Map();
  for (const name of names) {
    const text = readFileSync(at("ts", name), "utf8");
    const targets = [...text.matchAll(/(?:from|import)\s*"(\.[^"]+)"/g)].map(([, target]) =>
      normalize(join(dirname(name), target.replace(/\.js$/, ".ts"))).replaceAll("\\", "/"),
    );
    imports.set(
      name,
      targets.filter((target) => known.has(target)),
    );
  }
  return imports;
}

/** The part of a file: the longest name in the table that its path begins with. */
function partOf(name, table) {
  const path = name.replace(/\.(rs|ts)$/, "");
  const fits = Object.keys(table).filter((part) => path === part || path.startsWith(`${part}/`));
  return fits.sort((a, b) => b.length - a.length)[0];
}

/** Imports that the table does not allow. */
function forbidden(imports, table) {
  const bad = [];
  for (const [name, targets] of imports) {
    const part = partOf(name, table);
    if (part === undefined) continue;
    for (const target of targets) {
      const other = partOf(target, table);
      if (other === part || table[part].includes(other)) continue;
      // A folder's own parts may be declared and used by it.
      if (other?.startsWith(`${part}/`)) continue;
      bad.push(`${name} imports ${target}: ${part} may not use ${other ?? target}`);
    }
  }
  return bad;
}

/** Groups of files that import each other, by Tarjan's algorithm. */
function circles(imports) {
  const order = new Map();
  const low = new Map();
  const stack = [];
  const found = [];
  const visit = (name) => {
    order.set(name, order.size);
    low.set(name, order.get(name));
    stack.push(name);
    for (const target of imports.get(name) ?? []) {
      if (!order.has(target)) visit(target);
      else if (!stack.includes(target)) continue;
      low.set(name, Math.min(low.get(name), low.get(target)));
    }
    if (low.get(name) !== order.get(name)) return;
    const group = stack.splice(stack.indexOf(name));
    if (group.length > 1) found.push(group);
  };
  for (const name of imports.keys()) if (!order.has(name)) visit(name);
  return found.map((group) => `these import each other: ${group.sort().join(", ")}`);
}

/** What is wrong with the imports, one sentence each. */
export function wrongArrows() {
  const parts = [
    [rust(), RUST],
    [typescript(), TYPESCRIPT],
  ];
  return parts.flatMap(([imports, table]) => [...forbidden(imports, table), ...circles(imports)]);
}

/** What tests of the parts above may use besides: files in memory as a backend, and the common cases. */
const EQUIPMENT = ["conformance", "env", "files", "storage"];
/** Parts whose tests need no backend. */
const BARE = ["core", "env", "search", "protocol"];

/** Imports of tests that go upwards, one sentence each. */
export function wrongArrowsOfTests() {
  const table = Object.fromEntries(
    Object.entries(RUST).map(([part, others]) => [
      part,
      BARE.includes(part) ? others : [...others, ...EQUIPMENT],
    ]),
  );
  const others = new Set(forbidden(rust(), table));
  return forbidden(rust({ tests: true }), table).filter((line) => !others.has(line));
}

if (process.argv[1] === import.meta.filename) {
  for (const line of wrongArrows()) console.log(line);
}

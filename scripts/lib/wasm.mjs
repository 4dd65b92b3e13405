// Builds the WebAssembly: compiles the crate, splits it into a primary module and chunks, generates
// the JavaScript glue, optimises the modules, and adds a section with the build's id to each.

import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fingerprint } from "./built.mjs";
import { must } from "./exec.mjs";
import { optimised } from "./optimise.mjs";
import { at, cache } from "./paths.mjs";
import { remapped } from "./remap.mjs";
import { withRoom } from "./room.mjs";
import { bind, splitterPath } from "./splitter.mjs";

/** The custom section of each module, with its name and its build. */
const SECTION = "kitbag";

/** Every chunk that a class can import, also in a build without chunks. */
export const CHUNKS = readdirSync(at("src/wasm"))
  .flatMap((file) => [
    ...readFileSync(at("src/wasm", file), "utf8").matchAll(/^chunk!\(\s*"(\w+)"/gm),
  ])
  .map(([, name]) => name)
  .sort();

/** Rules, layers, and what is around backends. */
const LAYERS = [
  ...["foreign", "history", "ignore", "index", "policy", "provenance", "router"],
  ...["sync", "tools", "turns"],
];
const STORAGES = ["custom", "disk", "hub", "idb", "opfs", "s3", "sandbox", "sql", "store"];

/**
 * Sets of chunks, by the name of the chunk that has what several of them share: code is in that of the smallest
 * set that has all its users. So a page that has `StateBackend` alone loads none of it, and one with
 * `HttpBackend` only what that shares with others. What only `regex` shares with others is in the primary.
 */
const SHARED = {
  "idb-opfs": ["idb", "opfs"],
  "custom-disk": ["custom", "disk"],
  "ignore-sync": ["ignore", "sync"],
  "provenance-sync": ["provenance", "sync"],
  changes: ["history", "sync", "turns"],
  // What layers keep for themselves (`src/side/`), and the digest that proves it.
  records: ["history", "index", "provenance", "sync", "turns"],
  layers: LAYERS,
  storages: STORAGES,
  files: [...LAYERS, ...STORAGES],
  common: [...LAYERS, ...STORAGES, "http", "parts"],
};

/** Sources of the WebAssembly. */
const INPUTS = [
  ...["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "build.rs", "src", "tools"],
  ...["scripts/lib/splitter.mjs", "scripts/lib/wasm.mjs", "scripts/lib/optimise.mjs"],
  ...["scripts/lib/order.mjs", "scripts/lib/remap.mjs", "scripts/lib/room.mjs"],
  "scripts/lib/sections.mjs",
];

/** Of other forms nobody asks the size. */
const isPublished = ({ dev, testing }) => !dev && !testing;

const glueIn = (work) => join(work, "glue");

/** Builds everything, unless the last such build is up to date; see `make`. */
export async function buildWasm(options) {
  const work = cache(`wasm-${options.variant}`);
  const stamp = join(work, "stamp.json");
  const print = fingerprint(INPUTS);
  if (existsSync(stamp)) {
    const last = JSON.parse(readFileSync(stamp, "utf8"));
    if (last.print === print) {
      const names = Object.keys(last.texts);
      const read = (name) => [name, readFileSync(join(work, `${name}.wasm`))];
      return { ...last, glue: glueIn(work), modules: Object.fromEntries(names.map(read)) };
    }
  }
  const made = await make({ ...options, work });
  const texts = {};
  for (const [name, wasm] of Object.entries(made.modules)) {
    writeFileSync(join(work, `${name}.wasm`), wasm);
    texts[name] = await packed(work, name, made.build, isPublished(options));
  }
  const { needs, build } = made;
  writeFileSync(stamp, JSON.stringify({ print, needs, build, texts }));
  return { ...made, texts };
}

/**
 * Returns the directory of the glue, the modules by name (the primary is "kitbag"), and for each
 * chunk the names of the modules it needs, its own last. A `dev` build is one module, and its
 * chunks need none.
 */
async function make({ work, dev, named, testing }) {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(work, "split"), { recursive: true });
  const linked = await compile({ dev, named, testing });
  const cut = dev
    ? { primary: linked, files: {}, needs: {} }
    : await split(linked, join(work, "split"));
  const glue = glueIn(work);
  await bind(cut.primary, glue, "kitbag", { named });
  addStart(glue);
  const files = { kitbag: join(glue, "kitbag_bg.wasm"), ...cut.files };
  // The id covers all modules, because the same linked module can be split in several ways.
  const hash = createHash("sha256");
  const bare = {};
  for (const [name, file] of Object.entries(files)) {
    const wasm = readFileSync(file);
    const small = isPublished({ dev, testing }) ? await optimised(wasm) : wasm;
    bare[name] = name === "kitbag" ? withRoom(small) : small;
    hash.update(name).update("\0").update(bare[name]);
  }
  const build = hash.digest("hex").slice(0, 16);
  const modules = Object.fromEntries(
    Object.entries(bare).map(([name, bytes]) => [name, stamped(bytes, name, build)]),
  );
  const needs = Object.fromEntries(CHUNKS.map((name) => [name, cut.needs[name] ?? []]));
  return { glue, modules, needs, build };
}

async function compile({ dev, named, testing }) {
  // What the tests call of their own is not slow, and both forms have the same dependencies.
  const profile = named || testing ? "dev" : dev ? "quick" : "release";
  const features = [...(dev ? [] : ["split"]), ...(testing ? ["testing"] : [])];
  const args = [
    ...["rustc", "--lib", "--crate-type", "cdylib", "--profile", profile],
    ...(profile === "release" ? ["--config", await remapped(SMALL)] : []),
    ...["--target", "wasm32-unknown-unknown", "--features", features.join(",")],
    "--",
    ...(dev ? [] : ["-C", "link-arg=--emit-relocs"]),
  ];
  // wasm-bindgen drops debug information; the suites `wasm-…` compile the same dependencies without it.
  await must("cargo", args, { env: profile === "dev" ? { CARGO_PROFILE_DEV_DEBUG: "0" } : {} });
  const target = process.env.CARGO_TARGET_DIR ?? at("target");
  // Cargo's profile `dev` writes to the directory `debug`.
  return join(
    target,
    "wasm32-unknown-unknown",
    profile === "dev" ? "debug" : profile,
    "kitbag.wasm",
  );
}

/**
 * For the smallest page, of what asks to be inlined only the smaller is: pages are 5 KB smaller, a call of a small
 * file takes 5 % longer, and searches as long (2026-11-27; with a limit of 30, or `opt-level = "z"`, 10 KB, 30 %
 * and 5 %).
 */
const SMALL = ["-C", "llvm-args=-inlinehint-threshold=100"];

async function split(linked, directory) {
  const sets = Object.values(SHARED).map((chunks) => chunks.join("+"));
  const env = { SPLIT_SHARED: sets.join(" "), RUST_LOG: "error" };
  const told = await must(splitterPath(), ["split", linked, directory], { env });
  const groups = new Map();
  for (const line of told.trim().split("\n")) {
    const [group, ...parts] = line.split(" ");
    if (CHUNKS.includes(group)) groups.set(group, parts);
  }
  const missing = CHUNKS.filter((name) => !groups.has(name));
  if (missing.length > 0) throw new Error(`the splitter made no chunk ${missing.join(", ")}`);
  const alone = CHUNKS.filter((name) => name !== "regex" && !SHARED.common.includes(name));
  if (alone.length > 0) throw new Error(`SHARED has no set with ${alone.join(", ")}`);
  const files = {};
  const needs = {};
  for (const [group, parts] of groups) {
    needs[group] = parts.map((part) => {
      const users = [...groups].filter(([, used]) => used.includes(part)).map(([name]) => name);
      const name = nameOf(users);
      files[name] = join(directory, `${part}.wasm`);
      return name;
    });
  }
  return { primary: join(directory, "primary.wasm"), files, needs };
}

/** The name of a part with these chunks as its users. */
function nameOf(users) {
  if (users.length === 1) return users[0];
  const wanted = users.toSorted().join();
  const found = Object.entries(SHARED).find(([, chunks]) => chunks.toSorted().join() === wanted);
  if (!found) throw new Error(`the splitter made a part for ${wanted}, which is no set of SHARED`);
  return found[0];
}

/** Functions of the glue, not exported, by which `start` is written. */
const INSIDE = ["function __wbg_get_imports(", "function __wbg_finalize_init("];

/**
 * Adds to the glue `start`, which takes a compiled module, and writes `entry.js`, which exports it and the
 * functions of the WebAssembly. Nothing in the glue is changed. Its own loader is not exported, so the
 * bundler leaves it out: its `new URL("….wasm", import.meta.url)` would break bundlers of users, and its
 * `instanceof WebAssembly.Module` fails where modules come from another realm, as in the edge runtime of
 * Next.js.
 */
function addStart(glue) {
  const file = join(glue, "kitbag.js");
  const text = readFileSync(file, "utf8");
  for (const part of INSIDE) {
    if (text.split(part).length !== 2) {
      throw new Error(`wasm-bindgen's glue is not as expected: it should have one \`${part}…)\``);
    }
  }
  const start = `
export function start(module) {
  return __wbg_finalize_init(new WebAssembly.Instance(module, __wbg_get_imports()), module);
}
`;
  appendFileSync(file, start);
  const wasm = new WebAssembly.Module(readFileSync(join(glue, "kitbag_bg.wasm")));
  // Some functions the glue calls itself.
  const names = WebAssembly.Module.exports(wasm)
    .map(({ name }) => name)
    .filter((name) => text.includes(`\nexport function ${name}(`));
  const exported = ["start", ...names].join(", ");
  writeFileSync(join(glue, "entry.js"), `export { ${exported} } from "./kitbag.js";\n`);
  appendFileSync(
    join(glue, "kitbag.d.ts"),
    "export function start(module: WebAssembly.Module): unknown;\n",
  );
}

/** Adds a custom section with the name and the build to a module. */
function stamped(wasm, name, build) {
  const text = (value) => [value.length, ...Buffer.from(value)];
  const content = [...text(SECTION), ...Buffer.from(`${name} ${build}`)];
  if (content.length > 127) throw new Error(`${name} is too long a name for a chunk`);
  return Buffer.concat([wasm, Buffer.from([0, content.length, ...content])]);
}

/** Builds the small module that decompresses the others where they are strings in JavaScript. */
export async function buildUnpacker() {
  const target = cache("wasm-unpack");
  await must("cargo", [
    ...["build", "--release", "--locked", "--target", "wasm32-unknown-unknown"],
    ...["--manifest-path", at("tools/unpack/Cargo.toml"), "--target-dir", target],
  ]);
  const built = join(target, "wasm32-unknown-unknown/release/kitbag_unpack.wasm");
  return optimised(readFileSync(built), { shrink: 2 });
}

/**
 * Compresses a module and encodes it as base64: four bytes of the build, then what the packer wrote.
 * The primary module is the dictionary of the chunks, and the first to be packed.
 */
async function packed(work, name, build, published) {
  const file = (of) => join(work, `${of}.wasm`);
  const to = join(work, `${name}.packed`);
  const dictionary = name === "kitbag" ? [] : [file("kitbag")];
  await must(splitterPath(), [
    published ? "pack" : "pack-quickly",
    ...[file(name), to, ...dictionary],
  ]);
  return Buffer.concat([Buffer.from(build.slice(0, 8), "hex"), readFileSync(to)]).toString(
    "base64",
  );
}

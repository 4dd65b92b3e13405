// Builds the npm package: `npm run build [-- --dev] [--named] [--testing] [--out DIR]`. Compiles Rust to
// WebAssembly (a primary module and chunks), generates the glue, and bundles glue and TypeScript
// for each kind of runtime. `--dev` is a quick build: larger, slower, and without chunks.
// `--named` is a quick build, too, without any optimisation: the functions of the WebAssembly keep their
// names and none is inlined, so that a stack names all that was called.
// `--testing` adds exports for the test suite, and leaves out optimisation and types; `--quiet` prints no
// sizes of modules. `--sizes` bundles programs that use the package with three bundlers and prints their sizes.
// `--component` builds the WebAssembly component and its host of WASI instead of the package, in `.cache/component/`.

import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { COMPONENT, WASI } from "./lib/component.mjs";
import { finishDeclarations } from "./lib/declarations.mjs";
import { entryFields, exportedFiles } from "./lib/exports.mjs";
import { lastLine, nameRequired, writeNodeFiles } from "./lib/node-files.mjs";
import { removeUnreached } from "./lib/reached.mjs";
import { buildUnpacker, buildWasm } from "./lib/wasm.mjs";
import { ensure, ensureBuildTools } from "./setup.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, "ts");

const { values: options } = parseArgs({
  options: {
    dev: { type: "boolean", default: false },
    named: { type: "boolean", default: false },
    testing: { type: "boolean", default: false },
    out: { type: "string" },
    sizes: { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    component: { type: "boolean", default: false },
  },
});
if (options.component) {
  await ensure("component");
  for (const path of [COMPONENT, WASI]) {
    const bytes = readFileSync(path);
    const gzip = gzipSync(bytes, { level: 9 }).length;
    console.log(`${path}: ${bytes.length} bytes, ${gzip} after gzip`);
  }
  process.exit();
}
if (options.named) options.dev = true;
const suffix = options.named ? "-named" : options.dev ? "-dev" : "";
const variant = `${options.testing ? "testing" : "release"}${suffix}`;
const out = resolve(root, options.out ?? (options.testing ? ".cache/pkg-testing" : "pkg"));
const dist = join(out, "dist");
/** Modules of `ts/entry` with a class and a subpath of their own. */
const APART = ["history", "indexed", "ignore", "provenance", "sync"];

await ensureBuildTools();
const { build: esbuild, transform } = await import("esbuild");

const run = (command, args) =>
  execFileSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });

rmSync(out, { recursive: true, force: true });
mkdirSync(join(dist, "wasm"), { recursive: true });
const wasm = await buildWasm({ variant, ...options });
for (const [name, bytes] of Object.entries(wasm.modules)) {
  writeFileSync(join(dist, "wasm", `${name}.wasm`), bytes);
}
cpSync(join(wasm.glue, "kitbag.d.ts"), join(root, ".cache/glue.d.ts"));
const unpacker = (await buildUnpacker()).toString("base64");
await bundle();
removeUnreached(dist, entryFiles());
if (!options.testing && !options.named) {
  await linkPeers();
  declarations();
}
packageFiles();
if (!options.quiet) {
  for (const [name, bytes] of Object.entries(wasm.modules)) report(name, bytes);
}
if (options.sizes) {
  await ensure("npm:bundlers");
  const { measured, stranger, table } = await import("../tests/sizes/measure.mjs");
  const { project, remove } = await stranger();
  try {
    console.log(table(await measured(project)));
  } finally {
    remove();
  }
}

/**
 * The forms of the WebAssembly: which module of `source/` compiles it, and which code in the
 * package refers to one of its files.
 */
function forms() {
  const imported = (suffix) => (name) => `export { default } from "../wasm/${name}.wasm${suffix}";`;
  return {
    /** Compressed strings in the modules themselves. */
    inline: {
      source: "inline",
      of: (name) => `export default ${JSON.stringify(wasm.texts[name])};`,
    },
    /** Imported files, compiled by the tools of Workers. */
    module: { source: "module", of: imported("") },
    /** Imported files, in the way that Next.js's edge runtime needs. */
    edge: { source: "module", of: imported("?module") },
    /** Files beside the module, read at first use. */
    file: { source: "file", of: (name) => `export default "${name}.wasm";` },
    /** Passed in by the caller. */
    given: { source: "given", of: (name) => `export default "${name}.wasm";` },
  };
}

/** Provides the modules whose names begin with `#`. */
function provided({ source, of }) {
  const contents = ([kind, name]) => {
    if (kind === "#build") return `export default "${wasm.build}";`;
    if (kind === "#unpacker") return `export default "${unpacker}";`;
    if (kind === "#primary") return of("kitbag");
    if (kind === "#guided") return guidedOf(source);
    if (kind === "#warm") return warmOf(source);
    if (kind === "#regex") return regexOf(source, wasm.needs.regex?.length > 0);
    if (kind === "#bytes") return of(name);
    if (kind === "#part") return partOf(name, []);
    if (kind === "#chunks") return everyChunk();
    // A chunk: the last entry of its needs is its own file.
    const needs = wasm.needs[name];
    if (needs === undefined) throw new Error(`there is no chunk ${name} in src/wasm`);
    return partOf(needs.length > 0 ? name : undefined, needs.slice(0, -1));
  };
  return {
    name: "provided",
    setup(builder) {
      builder.onResolve({ filter: /^#glue$/ }, () => ({ path: join(wasm.glue, "entry.js") }));
      builder.onResolve({ filter: /^#source$/ }, () => ({
        path: join(src, `source/${source}.ts`),
      }));
      builder.onResolve(
        { filter: /^#(build|unpacker|primary|regex|guided|warm|chunks$|chunk\/|bytes\/|part\/)/ },
        (asked) => ({
          path: asked.path,
          namespace: "provided",
          sideEffects: false,
        }),
      );
      builder.onResolve({ filter: /\.wasm(\?module)?$/ }, ({ path }) => ({ path, external: true }));
      builder.onLoad({ filter: /.*/, namespace: "provided" }, ({ path }) => ({
        contents: contents(path.split("/")),
        resolveDir: src,
      }));
    },
  };
}

/** Adapters use the instance of the package: an import that brings calls of another one is a mistake. */
function refuseCalls(outputs) {
  for (const [file, { inputs }] of Object.entries(outputs)) {
    const entry = Object.keys(inputs).find((path) => path.endsWith("/glue/entry.js"));
    if (entry !== undefined && inputs[entry].bytesInOutput > 0) {
      throw new Error(
        `${file} calls WebAssembly of its own: an adapter imports such things from "kitbag"`,
      );
    }
  }
}

/** How a form gets the chunk `regex`: always, if the caller gives it, or by an import of it. */
function regexOf(source, isChunk) {
  const is = { inline: "imported", given: "given" }[source] ?? "always";
  const lines =
    isChunk && is !== "imported"
      ? [`export { default as regexSource } from "#bytes/regex";`]
      : ["export const regexSource = undefined;"];
  return [...lines, `export const regexIs = ${JSON.stringify(is)};`].join("\n");
}

/** Pages get the long texts about the tools only if they import them. */
function guidedOf(source) {
  return source === "inline" || source === "given"
    ? "export const guidedHere = undefined;"
    : `export { guidedPrompts as guidedHere } from "./tool/guided.js";`;
}

/** Only Node and Deno keep something of a folder between searches. */
function warmOf(source) {
  return source === "file"
    ? `export { warmHere } from "./disk/warm/here.js";`
    : "export const warmHere = undefined;";
}

/** Code of a chunk, or of a part that chunks share; without a name the part is in the primary. */
function partOf(name, needs) {
  const lines = [`import { Chunk } from "./core/chunk.js";`];
  if (name !== undefined) lines.push(`import bytes from "#bytes/${name}";`);
  needs.forEach((need, at) => {
    lines.push(`import need${at} from "#part/${need}";`);
  });
  const needed = needs.map((_, at) => `need${at}`).join(", ");
  const named = name === undefined ? `"", undefined` : `${JSON.stringify(name)}, bytes`;
  lines.push(`export default /* @__PURE__ */ new Chunk(${named}, [${needed}]);`);
  return lines.join("\n");
}

/** A record of all chunks, for the tests. */
function everyChunk() {
  const names = Object.keys(wasm.needs);
  const imports = names.map((name) => `import ${name} from "#chunk/${name}";`);
  return [...imports, `export default { ${names.join(", ")} };`].join("\n");
}

/** Modules with a class or function of the API. Each gets its own file, so bundlers can drop it. */
function apiModules() {
  const index = readFileSync(join(src, "index.ts"), "utf8");
  const names = [...index.matchAll(/^export (?!type)[^;]*? from "\.\/(.+)\.js";/gm)];
  return names.map(([, name]) => name);
}

async function bundle() {
  const all = forms();
  const common = (form) => ({
    bundle: true,
    target: "es2022",
    legalComments: "none",
    // Lines and names stay, so that a stack can be read.
    minifySyntax: true,
    // What tools of Workers and Next.js bundle again in any case has no whitespace, and neither has
    // `kitbag/slim`, so that the package stays small.
    minifyWhitespace: [all.edge, all.module, all.given].includes(form),
    logLevel: "warning",
    logOverride: { "empty-import-meta": "silent" },
    treeShaking: true,
    inject: [join(src, "core/text.ts")],
    define: { KITBAG_TESTING: String(options.testing) },
    // Optional peers, and the package itself, which the adapters import like any user.
    external: ["node:*", "kitbag", "kitbag/*", ...peers()],
    plugins: [provided(form)],
  });
  const esm = { outdir: dist, format: "esm", splitting: true, metafile: true };
  /** The whole package in one form: `NAME.js`, and a file for each class in `NAME/`. */
  const whole = (name, form, entry, more = {}) =>
    esbuild({
      ...common(form),
      ...esm,
      entryPoints: {
        [name]: join(src, entry),
        ...Object.fromEntries(
          apiModules().map((module) => [`${name}/${module}`, join(src, `${module}.ts`)]),
        ),
        ...Object.fromEntries(
          APART.map((module) => [`${name}/${module}`, join(src, `entry/${module}.ts`)]),
        ),
        ...more,
      },
      chunkNames: `${name}/core-[hash]`,
    });
  const testing = options.testing
    ? { "browser/testing": join(root, "tests/panics/testing.ts") }
    : {};
  const { metafile } = await whole("browser", all.inline, "index.ts", {
    "browser/regex": join(src, "entry/regex.ts"),
    "browser/guided": join(src, "entry/guided.ts"),
    ...testing,
  });
  const guided = (name) => ({ [`${name}/guided`]: join(src, "entry/guided.ts") });
  await whole("workerd", all.module, "index.ts", {
    ...guided("workerd"),
    ...renamed(testing, "workerd"),
  });
  await whole("edge", all.edge, "index.ts", guided("edge"));
  await whole("slim", all.given, "entry/slim.ts");
  const entries = ["node", ...APART].map((module) => join(src, `entry/${module}.ts`));
  const node = [...entries, ...Object.values(testing)];
  await esbuild({
    ...common(all.file),
    stdin: { contents: node.map((file) => `export * from "${file}";`).join(""), resolveDir: src },
    outfile: join(dist, "core.cjs"),
    footer: { js: lastLine(wasm.build) },
    format: "cjs",
    platform: "node",
  });
  const outputs = Object.entries(metafile.outputs);
  const namesOf = (end) => outputs.find(([file]) => file.endsWith(end))?.[1].exports ?? [];
  if (namesOf("dist/browser.js").length === 0) throw new Error("esbuild made no browser.js");
  const apart = Object.fromEntries(APART.map((name) => [name, namesOf(`browser/${name}.js`)]));
  const own = namesOf("dist/browser.js");
  writeNodeFiles(dist, { own, apart, testing: namesOf("/testing.js") });
  const adapters = subpaths().map((file) => join(src, file));
  const { metafile: made } = await esbuild({
    ...common(all.inline),
    ...esm,
    entryPoints: adapters,
    entryNames: "[name]",
    chunkNames: "shared-[hash]",
    metafile: true,
  });
  refuseCalls(made.outputs);
  await forRequire(made.outputs, exportedFiles(".cjs"));
  nameRequired(dist);
}

/**
 * The adapters for `require`, as far as the package exports them. Each file of the other form is
 * translated by itself, so that these share code, and what it remembers, as those do.
 */
async function forRequire(outputs, required) {
  const files = new Map(Object.keys(outputs).map((file) => [basename(file), outputs[file]]));
  const open = [...files.keys()].filter((name) =>
    required.includes(`./dist/${name.replace(/\.js$/, ".cjs")}`),
  );
  const done = new Set();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (done.has(name)) continue;
    done.add(name);
    for (const { path } of files.get(name).imports) {
      if (files.has(basename(path)) && /(^|\/)dist\//.test(path)) open.push(basename(path));
    }
    const text = readFileSync(join(dist, name), "utf8")
      .replace(/(["']\.\/[\w-]+)\.js(["'])/g, "$1.cjs$2")
      // The smaller entry of this package has no form for `require`.
      .replace("@zip.js/zip.js/lib/zip-core-native.js", "@zip.js/zip.js");
    const { code } = await transform(text, { format: "cjs", platform: "node", target: "es2022" });
    writeFileSync(join(dist, name.replace(/\.js$/, ".cjs")), code);
  }
}

/** The scripts at which somebody begins: those that the package exports or runs, and the tests' own. */
function entryFiles() {
  const named = [
    ...exportedFiles(".js"),
    ...exportedFiles(".cjs"),
    ...Object.values(template().bin),
  ];
  const testing = ["testing.js", "browser/testing.js", "workerd/testing.js"];
  const own = options.testing ? testing.map((name) => `./dist/${name}`) : [];
  return [...named, ...own].map((file) => join(out, file));
}

function renamed(entries, name) {
  return Object.fromEntries(
    Object.entries(entries).map(([key, file]) => [key.replace(/^\w+/, name), file]),
  );
}

/** Modules with their own subpath: every file in `ts/adapter`, and the conformance suite. */
function subpaths() {
  const names = readdirSync(src, { recursive: true }).map(String);
  return names.filter((name) => /^(adapter[\\/][^\\/]+|conformance)\.ts$/.test(name));
}

function peers() {
  const { peerDependencies = {} } = template();
  return Object.keys(peerDependencies).flatMap((name) => [name, `${name}/*`]);
}

function template() {
  return JSON.parse(readFileSync(join(root, "pkg-template/package.json"), "utf8"));
}

/** Links the peer packages, whose types the adapters use, from where they are installed. */
async function linkPeers() {
  const sets = ["agents", "optional"];
  for (const set of sets) await ensure(`npm:${set}`);
  const to = join(root, "ts/node_modules");
  rmSync(to, { recursive: true, force: true });
  const { peerDependencies = {} } = template();
  for (const name of Object.keys(peerDependencies)) {
    const target = sets
      .map((set) => join(root, "tests/deps", set, "node_modules", name))
      .find((folder) => existsSync(folder));
    if (!target) continue;
    mkdirSync(dirname(join(to, name)), { recursive: true });
    symlinkSync(target, join(to, name), "junction");
  }
}

function declarations() {
  run(process.execPath, [
    join(root, "node_modules/tsc/bin/tsc"),
    "-p",
    join(root, "pkg-template"),
    "--outDir",
    join(out, "types"),
  ]);
  finishDeclarations(
    join(out, "types"),
    exportedFiles(".d.ts").map((file) => file.replace("./types/", "")),
  );
}

function packageFiles() {
  const crate = readFileSync(join(root, "Cargo.toml"), "utf8");
  const version = /^version = "(.+)"/m.exec(crate)?.[1];
  if (!version) throw new Error("Cargo.toml names no version");
  writeFileSync(
    join(out, "package.json"),
    `${JSON.stringify({ ...template(), ...entryFields(), version }, undefined, 2)}\n`,
  );
  for (const [from, to] of [
    ["pkg-template/README.md", "README.md"],
    // For coding agents.
    ["pkg-template/llms.txt", "llms.txt"],
    ["pkg-template/skills", "skills"],
    ["LICENSE", "LICENSE"],
  ]) {
    cpSync(join(root, from), join(out, to), { recursive: true });
  }
}

function report(name, bytes) {
  const sizes = {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes).length,
    packed: wasm.texts[name].length * 0.75,
  };
  const shown = Object.entries(sizes).map(
    ([measure, size]) => `${measure} ${(size / 1024).toFixed(1)} KiB`,
  );
  console.log(`${name}.wasm (${variant}): ${shown.join(", ")}`);
}

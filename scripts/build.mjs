// Makes the npm package: `npm run build [-- --dev] [--testing] [--out DIR]`. Rust to wasm, wasm
// to its glue, glue and TypeScript to one shared chunk with an entry for each kind of runtime.
// `--dev` trades size and speed for a quick build; `--testing` adds the exports that only the
// test-suite calls. Prints the size of the wasm and fails over the budget.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { ensureBuildTools, wasmBindgen } from "./setup.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BUDGET = { gzip: 350 * 1024, brotli: 270 * 1024 };

const { values: options } = parseArgs({
  options: {
    dev: { type: "boolean", default: false },
    testing: { type: "boolean", default: false },
    out: { type: "string" },
  },
});
const variant = options.testing ? "testing" : options.dev ? "dev" : "release";
const out = resolve(root, options.out ?? (options.testing ? ".cache/pkg-testing" : "pkg"));
const dist = join(out, "dist");
const cacheDir = join(root, ".cache");

// One crate, two modules: what an agent works with, and the places that keep files elsewhere. The
// testing variant is one module, so that what only tests export is beside everything else.
const MODULES = options.testing
  ? [{ name: "kitbag", features: "agent,storages,testing" }]
  : [
      { name: "kitbag", features: "agent" },
      { name: "storages", features: "storages" },
    ];

/** Leaves what the second bundle holds to it: the first only names it. */
const secondBundle = {
  name: "second-bundle",
  setup(builder) {
    builder.onResolve({ filter: /^\.\/storages-\w+\.js$/ }, ({ path }) => ({
      path: path === "./storages-require.js" ? "./storages-require.cjs" : path,
      external: true,
    }));
  },
};

await ensureBuildTools();
const { build } = await import("esbuild");

const run = (command, args) =>
  execFileSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });

rmSync(out, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
for (const module of MODULES) {
  module.glue = join(cacheDir, `bindgen-${variant}`, module.name);
  module.wasm = makeWasm(module);
  writeFileSync(join(dist, `${module.name}.wasm`), module.wasm);
}
glueTypes();
await bundle();
declarations();
packageFiles();
for (const module of MODULES) report(module);

/** Compiles the crate and makes its glue; returns the wasm to ship. */
function makeWasm({ name, features, glue }) {
  const profile = options.dev ? "quick" : "release";
  run("cargo", [
    "build",
    "--lib",
    "--profile",
    profile,
    "--target",
    "wasm32-unknown-unknown",
    "--no-default-features",
    "--features",
    features,
  ]);
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const built = join(target, "wasm32-unknown-unknown", profile, "kitbag.wasm");
  rmSync(glue, { recursive: true, force: true });
  run(wasmBindgen(), [
    "--target",
    "web",
    "--remove-name-section",
    "--remove-producers-section",
    "--out-name",
    name,
    "--out-dir",
    glue,
    built,
  ]);
  const raw = join(glue, `${name}_bg.wasm`);
  if (options.dev) return readFileSync(raw);
  const small = join(glue, "small.wasm");
  const features_on = ["simd", "bulk-memory", "reference-types", "mutable-globals", "sign-ext"];
  run(process.execPath, [
    join(root, "node_modules/binaryen/bin/wasm-opt"),
    "-Oz",
    ...features_on.map((name) => `--enable-${name}`),
    "--enable-nontrapping-float-to-int",
    "--enable-multivalue",
    raw,
    "-o",
    small,
  ]);
  return readFileSync(small);
}

/** What TypeScript sees as `#glue`: the functions of every module, each once. */
function glueTypes() {
  const texts = MODULES.map(({ name, glue }) => readFileSync(join(glue, `${name}.d.ts`), "utf8"));
  const declared = /^export function (\w+)/;
  const lines = texts[0].split("\n");
  const known = new Set(lines.map((line) => declared.exec(line)?.[1]));
  for (const line of texts.slice(1).join("\n").split("\n")) {
    const name = declared.exec(line)?.[1];
    if (name && !known.has(name)) lines.push(line);
    known.add(name);
  }
  writeFileSync(join(cacheDir, "glue.d.ts"), lines.join("\n"));
}

/** The modules that the sources name with a `#`. */
function provided({ name, glue, wasm }) {
  return {
    name: "provided",
    setup(builder) {
      builder.onResolve({ filter: /^#glue$/ }, () => ({ path: join(glue, `${name}.js`) }));
      builder.onResolve({ filter: /^#wasm-base64$/ }, () => ({
        path: "wasm-base64",
        namespace: "provided",
      }));
      builder.onLoad({ filter: /.*/, namespace: "provided" }, () => ({
        contents: `export default ${JSON.stringify(Buffer.from(wasm).toString("base64"))};`,
      }));
    },
  };
}

async function bundle() {
  const src = join(root, "pkg-template/src");
  const entry = (name) => join(src, `entry/${name}.ts`);
  const [first, second] = MODULES;
  const shared = (module) => ({
    bundle: true,
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
    logOverride: { "empty-import-meta": "silent" },
    // The glue has a loader of its own that no entry calls; without it no bundler is misled.
    treeShaking: true,
    // Optional peers, and the package itself, which the adapters import as their user does.
    external: ["./kitbag.wasm", "./storages.wasm", "node:*", "kitbag", ...peers()],
    plugins: [provided(module), ...(second && module === first ? [secondBundle] : [])],
  });
  const esm = {
    entryNames: "[name]",
    chunkNames: "core-[hash]",
    outdir: dist,
    format: "esm",
    splitting: true,
  };
  const runtimes = ["node", "workerd", "browser", "slim"];
  await build({
    ...shared(first),
    ...esm,
    entryPoints: [
      ...runtimes.map(entry),
      ...subpaths().map((file) => join(src, file)),
      ...(options.testing ? [entry("testing"), join(root, "tests/panics/testing.ts")] : []),
    ],
  });
  const commonjs = (name) => ({
    entryPoints: [entry(name)],
    outfile: join(dist, `${name}.cjs`),
    format: "cjs",
    platform: "node",
  });
  await build({ ...shared(first), ...commonjs("require") });
  if (!second) return;
  const storages = runtimes.map((name) => entry(`storages-${name}`));
  await build({ ...shared(second), ...esm, entryPoints: storages });
  await build({ ...shared(second), ...commonjs("storages-require") });
}

/** Modules with a subpath of their own: every file in `src/adapters`, and the suite. */
function subpaths() {
  const src = join(root, "pkg-template/src");
  const names = readdirSync(src, { recursive: true }).map(String);
  return names.filter((name) => /^(adapters[\\/][^\\/]+|conformance)\.ts$/.test(name));
}

function peers() {
  const { peerDependencies = {} } = template();
  return Object.keys(peerDependencies).flatMap((name) => [name, `${name}/*`]);
}

function template() {
  return JSON.parse(readFileSync(join(root, "pkg-template/package.json"), "utf8"));
}

function declarations() {
  run(process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    join(root, "pkg-template"),
    "--outDir",
    join(out, "types"),
  ]);
  // For `require` under node16 resolution, where a `.d.ts` of an ES module does not count.
  writeFileSync(join(out, "types/index.d.cts"), 'export * from "./index.js";\n');
}

function packageFiles() {
  const crate = readFileSync(join(root, "Cargo.toml"), "utf8");
  const version = /^version = "(.+)"/m.exec(crate)?.[1];
  if (!version) throw new Error("Cargo.toml names no version");
  writeFileSync(
    join(out, "package.json"),
    `${JSON.stringify({ ...template(), version }, undefined, 2)}\n`,
  );
  for (const [from, to] of [
    ["pkg-template/README.md", "README.md"],
    ["LICENSE", "LICENSE"],
  ]) {
    cpSync(join(root, from), join(out, to));
  }
}

function report({ name, wasm }) {
  const sizes = {
    raw: wasm.length,
    gzip: gzipSync(wasm, { level: 9 }).length,
    brotli: brotliCompressSync(wasm).length,
  };
  const shown = Object.entries(sizes).map(
    ([name, bytes]) => `${name} ${(bytes / 1024).toFixed(1)} KiB`,
  );
  console.log(`${name}.wasm (${variant}): ${shown.join(", ")}`);
  if (variant !== "release") return;
  for (const [measure, limit] of Object.entries(BUDGET)) {
    if (sizes[measure] > limit) {
      console.error(`${name}.wasm is over its ${measure} budget of ${limit / 1024} KiB.`);
      process.exitCode = 1;
    }
  }
}

// Makes the npm package: `npm run build [-- --dev] [--testing] [--out DIR]`. Rust to wasm, wasm
// to its glue, glue and TypeScript to a bundle of each part with an entry for each kind of runtime.
// `--dev` trades size and speed for a quick build; `--testing` adds the exports that only the
// test-suite calls. Prints the size of the wasm and fails over the budget.

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
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { ensure, ensureBuildTools, wasmBindgen } from "./setup.mjs";

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

// One crate, three modules: what an agent works with, files in a browser and across a network, and
// what the host lends. The testing variant is one module, so that what only tests export is
// beside everything else.
const MODULES = options.testing
  ? [{ name: "kitbag", features: "agent,storages,lent,testing", profile: "release" }]
  : [
      { name: "kitbag", features: "agent", profile: "release", part: "agent" },
      { name: "storages", features: "storages", profile: "small", part: "storages" },
      { name: "lent", features: "lent", profile: "small", part: "lent" },
    ];

/** Leaves what the bundles of the parts hold to them: what gives everything only names them. */
const otherBundles = {
  name: "other-bundles",
  setup(builder) {
    builder.onResolve({ filter: /^\.\/(agent|storages|lent)-\w+\.js$/ }, ({ path }) => ({
      path: path.endsWith("-require.js") ? path.replace(/js$/, "cjs") : path,
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
// Entries for Workers name each module; where there is only one, it stands for the others.
if (options.testing) {
  for (const name of ["storages", "lent"]) {
    writeFileSync(join(dist, `${name}.wasm`), MODULES[0].wasm);
  }
}
glueTypes();
await bundle();
await linkPeers();
declarations();
packageFiles();
for (const module of MODULES) report(module);

/** Compiles the crate and makes its glue; returns the wasm to ship. */
function makeWasm({ name, features, glue, ...module }) {
  const profile = options.dev ? "quick" : module.profile;
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
    // More passes make fewer bytes and more of them once compressed: after `-Oz` code that was
    // alike is no longer, and gzip takes 17 KiB more than after this. Inlining is what does it.
    "-O1",
    "--shrink-level=2",
    ...features_on.map((name) => `--enable-${name}`),
    "--enable-nontrapping-float-to-int",
    "--enable-multivalue",
    raw,
    "-o",
    small,
  ]);
  return readFileSync(small);
}

/** What TypeScript sees as `#glue`: what every module declares, each name once. */
function glueTypes() {
  const [first, ...others] = MODULES.map(({ name, glue }) =>
    readFileSync(join(glue, `${name}.d.ts`), "utf8"),
  );
  // A function is one line; a class ends with the first brace that stands at a line's start.
  const declaration = /^export (?:function (\w+).*|class (\w+)[\s\S]*?\n\})/gm;
  const known = new Set(Array.from(first.matchAll(declaration), ([, name, type]) => name ?? type));
  let all = first;
  for (const [text, name, type] of others.join("\n").matchAll(declaration)) {
    if (!known.has(name ?? type)) all += `\n${text}\n`;
    known.add(name ?? type);
  }
  writeFileSync(join(cacheDir, "glue.d.ts"), all);
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
  const parts = MODULES.filter(({ part }) => part);
  const bundled = (module, more) =>
    build({
      bundle: true,
      target: "es2022",
      legalComments: "none",
      logLevel: "warning",
      logOverride: { "empty-import-meta": "silent" },
      // The glue has a loader of its own that no entry calls; without it no bundler is misled.
      treeShaking: true,
      // Optional peers, and the package itself, which the adapters import as their user does.
      external: [
        "./kitbag.wasm",
        "./storages.wasm",
        "./lent.wasm",
        "node:*",
        "kitbag",
        "kitbag/*",
        ...peers(),
      ],
      plugins: [provided(module), ...(parts.length > 0 ? [otherBundles] : [])],
      ...more,
    });
  const esm = (entryPoints) => ({
    entryPoints,
    entryNames: "[name]",
    chunkNames: "core-[hash]",
    outdir: dist,
    format: "esm",
    splitting: true,
  });
  const commonjs = (name) => ({
    entryPoints: [entry(name)],
    outfile: join(dist, `${name}.cjs`),
    format: "cjs",
    platform: "node",
  });
  const [first] = MODULES;
  const runtimes = ["node", "workerd", "browser", "slim"];
  const testing = options.testing ? [join(root, "tests/panics/testing.ts")] : [];
  const adapters = subpaths().map((file) => join(src, file));
  await bundled(first, esm([...runtimes.map(entry), ...adapters, ...testing]));
  await bundled(first, commonjs("require"));
  for (const module of parts) {
    const of = (runtime) => `${module.part}-${runtime}`;
    // In one file: Node takes two milliseconds for each that it loads.
    await bundled(module, { ...esm([entry(of("node"))]), splitting: false });
    const others = runtimes.filter((runtime) => runtime !== "node");
    await bundled(module, esm(others.map((runtime) => entry(of(runtime)))));
    await bundled(module, commonjs(of("require")));
  }
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

/** What the adapters' types are made from: the peers, linked to where they are installed. */
async function linkPeers() {
  const from = join(root, "tests/deps/agents");
  await ensure("npm:agents");
  const to = join(root, "pkg-template/node_modules");
  rmSync(to, { recursive: true, force: true });
  const { peerDependencies = {} } = template();
  for (const name of Object.keys(peerDependencies)) {
    const target = join(from, "node_modules", name);
    if (!existsSync(target)) continue;
    mkdirSync(dirname(join(to, name)), { recursive: true });
    symlinkSync(target, join(to, name), "junction");
  }
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
  for (const name of ["index", "agent", "storages", "lent"]) {
    writeFileSync(join(out, `types/${name}.d.cts`), `export * from "./${name}.js";\n`);
  }
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

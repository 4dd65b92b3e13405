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
const bindgen = join(root, ".cache/bindgen");

await ensureBuildTools();
const { build } = await import("esbuild");

const run = (command, args) =>
  execFileSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });

rmSync(out, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
const wasm = makeWasm();
writeFileSync(join(dist, "kitbag.wasm"), wasm);
await bundle(wasm);
declarations();
packageFiles();
report(wasm);

/** Compiles the crate and makes its glue; returns the wasm to ship. */
function makeWasm() {
  const profile = options.dev ? "quick" : "release";
  const features = options.testing ? ["--features", "testing"] : [];
  run("cargo", [
    "build",
    "--lib",
    "--profile",
    profile,
    "--target",
    "wasm32-unknown-unknown",
    ...features,
  ]);
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const built = join(target, "wasm32-unknown-unknown", profile, "kitbag.wasm");
  rmSync(bindgen, { recursive: true, force: true });
  run(wasmBindgen(), [
    "--target",
    "web",
    "--remove-name-section",
    "--remove-producers-section",
    "--out-dir",
    bindgen,
    built,
  ]);
  const raw = join(bindgen, "kitbag_bg.wasm");
  if (options.dev) return readFileSync(raw);
  const small = join(bindgen, "small.wasm");
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

/** The modules that the sources name with a `#`. */
function provided(wasm) {
  return {
    name: "provided",
    setup(builder) {
      builder.onResolve({ filter: /^#glue$/ }, () => ({ path: join(bindgen, "kitbag.js") }));
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

async function bundle(wasm) {
  const src = join(root, "pkg-template/src");
  const shared = {
    bundle: true,
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
    // The glue has a loader of its own that no entry calls; without it no bundler is misled.
    treeShaking: true,
    // Optional peers, and the package itself, which the adapters import as their user does.
    external: ["./kitbag.wasm", "node:*", "kitbag", ...peers()],
    plugins: [provided(wasm)],
  };
  const entries = ["node", "workerd", "browser", "slim"].map((name) => `entry/${name}.ts`);
  await build({
    ...shared,
    entryPoints: [
      ...[...entries, ...subpaths()].map((file) => join(src, file)),
      ...(options.testing ? [join(root, "tests/panics/testing.ts")] : []),
    ],
    entryNames: "[name]",
    chunkNames: "core-[hash]",
    outdir: dist,
    format: "esm",
    splitting: true,
  });
  await build({
    ...shared,
    entryPoints: [join(src, "entry/require.ts")],
    outfile: join(dist, "require.cjs"),
    format: "cjs",
    platform: "node",
  });
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

function report(wasm) {
  const sizes = {
    raw: wasm.length,
    gzip: gzipSync(wasm, { level: 9 }).length,
    brotli: brotliCompressSync(wasm).length,
  };
  const shown = Object.entries(sizes).map(
    ([name, bytes]) => `${name} ${(bytes / 1024).toFixed(1)} KiB`,
  );
  console.log(`kitbag.wasm (${variant}): ${shown.join(", ")}`);
  if (variant !== "release") return;
  for (const [name, limit] of Object.entries(BUDGET)) {
    if (sizes[name] > limit) {
      console.error(`The wasm is over its ${name} budget of ${limit / 1024} KiB.`);
      process.exitCode = 1;
    }
  }
}

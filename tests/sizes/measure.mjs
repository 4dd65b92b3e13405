// What a consumer's page downloads: programs that import the packed package, bundled whole
// (JavaScript and WebAssembly together), minified and compressed, by three bundlers.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { pack } from "../lib/pack.mjs";

const USE = {
  StateBackend: `const files = new StateBackend({ files: { "/a.txt": "one\\ntwo\\n" } });
    said.push(files.grep("two").matches[0].line);`,
  withPolicy: `const guarded = withPolicy(files, { readOnlyPrefixes: ["/no/"] });
    said.push((await guarded.write("/no/b.txt", "")).code);`,
  CompositeBackend: `const tree = new CompositeBackend(guarded, { "/m/": new StateBackend() });
    said.push((await tree.write("/m/c.txt", "3")).path);`,
  createFileTools: `const { tools } = createFileTools(tree);
    said.push(tools.length > 5);`,
  IndexedDbBackend: `const kept = new IndexedDbBackend({ database: "sizes" });
    said.push(typeof kept.read);`,
  begin: `const turn = begin(files);
    await turn.edit("/a.txt", "one", "three");
    const done = await turn.commit();
    said.push(files.grep("three").matches[0].text.length);`,
  undo: `await undo(files, done.receipt);
    said.push(files.grep("o").matches.length);`,
  S3Backend: `const bucket = new S3Backend({ region: "us-east-1", bucket: "b",
      credentials: { accessKeyId: "k", secretAccessKey: "s" } });
    said.push(typeof bucket.read);`,
  HttpBackend: `const there = new HttpBackend({ url: "https://files.example/" });
    said.push(typeof there.read);`,
  withIndex: `const searched = withIndex(files, { keepIn: { path: "/.index/" } });
    said.push((await searched.grep("two", "/", null, { stats: true })).stats.unindexed);`,
  withHistory: `const noted = withHistory(files, { keepIn: { backend: new StateBackend() } });
    await noted.edit("/a.txt", "one", "three");
    said.push((await noted.log("/a.txt")).entries.length);`,
};

/** What a page has that uses all of these at once; turns have a row of their own. */
const ALL = [
  ...["Backend", "CompositeBackend", "ContextHubBackend", "CustomBackend", "D1Backend"],
  ...["FilesystemBackend", "IndexedDbBackend", "KitbagPanic", "LocalShellBackend", "OpfsBackend"],
  ...[
    "PolicyBackend",
    "PolicyWrapper",
    "PostgresBackend",
    "R2Backend",
    "S3Backend",
    "SandboxBackend",
  ],
  ...["SqlBackend", "StateBackend", "StoreBackend", "adaptBackendProtocol"],
  ...["adaptSandboxProtocol", "createFileTools", "presignS3"],
  ...["resolveBackend", "ringAudit", "silenceDeprecations", "toV1", "withPolicy"],
];

function everything() {
  return `import { ${ALL.join(", ")} } from "kitbag";
    const all = { ${ALL.join(", ")} };
    globalThis.done = Promise.resolve(typeof new StateBackend().read + Object.keys(all).length);`;
}

/** Where a name is imported from, if not from `kitbag`. */
const FROM = {
  withHistory: "kitbag/history",
  withIndex: "kitbag/indexed",
};

function program(...names) {
  const body = names.map((name) => USE[name]).join("\n");
  const imports = names.map((name) => `import { ${name} } from "${FROM[name] ?? "kitbag"}";`);
  return `${imports.join("\n")}
    const run = async () => { const said = []; ${body} return said.join(" "); };
    globalThis.done = run();`;
}

/**
 * The programs, the most that each may weigh (KiB after gzip), and what each says. The goals were lower for
 * some: 235 with a policy, 245 with turns, 215 and 220 with an index, 325 with a history. The mends of holes
 * (folded names, forged journals, bounds of engines) cost 2 to 4 % more, and the room in which layers
 * keep their records, with its seals (`src/side/`), some 4 KiB for turns and an index. The descriptions of
 * options and calls (`ts/core/given.ts`) cost each page 1 to 2 KiB more than what they replaced. Pauses within
 * differences and merges cost turns and histories some 14 KiB; within updates of an index, and `ls` from it, 6 KiB.
 */
export const PROGRAMS = [
  {
    name: "imported, unused",
    source: `import { StateBackend } from "kitbag"; globalThis.done = Promise.resolve("");`,
    limit: 1,
    says: "",
  },
  { name: "StateBackend", source: program("StateBackend"), limit: 168.9, says: "2" },
  {
    name: "+ withPolicy",
    source: program("StateBackend", "withPolicy"),
    limit: 249.6,
    says: "2 permission_denied",
  },
  {
    name: "+ policy, composite, createFileTools",
    source: program("StateBackend", "withPolicy", "CompositeBackend", "createFileTools"),
    limit: 303.3,
    says: "2 permission_denied /m/c.txt true",
  },
  {
    name: "StateBackend + IndexedDbBackend",
    source: program("StateBackend", "IndexedDbBackend"),
    limit: 216.8,
    says: "2 function",
  },
  {
    name: "StateBackend + S3Backend",
    source: program("StateBackend", "S3Backend"),
    limit: 260.3,
    says: "2 function",
  },
  {
    name: "StateBackend + HttpBackend",
    source: program("StateBackend", "HttpBackend"),
    limit: 199.1,
    says: "2 function",
  },
  {
    name: "StateBackend + turns",
    source: program("StateBackend", "begin", "undo"),
    limit: 281.2,
    says: "2 5 2",
  },
  {
    name: "StateBackend + withIndex",
    source: program("StateBackend", "withIndex"),
    limit: 270.1,
    says: "2 1",
  },
  {
    name: "StateBackend + withHistory",
    source: program("StateBackend", "withHistory"),
    limit: 357,
    says: "2 1",
  },
  {
    name: "all backends, policy, composite, tools",
    source: everything(),
    limit: 576.5,
    says: /^function\d\d$/,
  },
];

/** Each bundles a file into one script: `{ code, warnings }`. */
const BUNDLERS = {
  async esbuild(entry) {
    const { outputFiles, warnings } = await esbuild({
      entryPoints: [entry],
      bundle: true,
      minify: true,
      format: "esm",
      write: false,
      logLevel: "silent",
    });
    return { code: outputFiles[0].text, warnings: warnings.map(({ text }) => text) };
  },
  async vite(entry, project) {
    const warnings = [];
    const { output } = await vite({
      root: project,
      configFile: false,
      logLevel: "silent",
      build: {
        write: false,
        // What a page gets, without Vite's own preload helper.
        modulePreload: false,
        rollupOptions: {
          input: entry,
          onwarn: (warning) => warnings.push(warning.message),
        },
      },
    });
    return { code: output.map((file) => file.code ?? "").join(""), warnings };
  },
  async webpack(entry, project) {
    const webpack = createRequire(at("tests/deps/bundlers/package.json"))("webpack");
    const compiler = webpack({
      mode: "production",
      context: project,
      entry,
      output: { path: join(project, "webpack"), filename: "page.js" },
      performance: false,
    });
    const stats = await new Promise((resolve, reject) => {
      compiler.run((error, done) => (error ? reject(error) : resolve(done)));
    });
    const { errors, warnings, assets } = stats.toJson({
      all: false,
      errors: true,
      warnings: true,
      assets: true,
    });
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"));
    await new Promise((resolve) => compiler.close(resolve));
    const code = assets.map(({ name }) => readFileSync(join(project, "webpack", name), "utf8"));
    return { code: code.join(""), warnings: warnings.map(({ message }) => message) };
  },
};

/** A project with the packed package installed; `remove()` takes it away. */
export async function stranger() {
  const project = mkdtempSync(join(tmpdir(), "kitbag-sizes-"));
  const about = await pack(project);
  writeFileSync(
    join(project, "package.json"),
    '{ "name": "stranger", "private": true, "type": "module" }\n',
  );
  const quiet = ["--no-audit", "--no-fund", "--offline"];
  await must("npm", ["install", ...quiet, join(project, about.filename)], { cwd: project });
  return { project, remove: () => rmSync(project, { recursive: true, force: true }) };
}

/** Bundles every program with every bundler; gives rows with code, size and warnings. */
export async function measured(project) {
  const rows = [];
  for (const [which, program] of PROGRAMS.entries()) {
    for (const [bundler, bundle] of Object.entries(BUNDLERS)) {
      const folder = join(project, `${which}-${bundler}`);
      mkdirSync(folder);
      const entry = join(folder, "main.js");
      writeFileSync(entry, program.source);
      const { code, warnings } = await bundle(entry, project);
      const gzip = gzipSync(code, { level: 9 }).length;
      rows.push({ ...program, bundler, code, gzip, warnings });
    }
  }
  return rows;
}

const kib = (bytes) => (bytes / 1024).toFixed(1);

/** The rows as a Markdown table. */
export function table(rows) {
  const bundlers = Object.keys(BUNDLERS);
  const lines = [
    `| import, KiB gzip | ${bundlers.join(" | ")} | limit |`,
    `|---|${"---:|".repeat(bundlers.length + 1)}`,
  ];
  for (const { name, limit } of PROGRAMS) {
    const of = (bundler) => rows.find((row) => row.name === name && row.bundler === bundler).gzip;
    const cells = bundlers.map((one) => kib(of(one)));
    lines.push(`| ${name} | ${cells.join(" | ")} | ${limit} |`);
  }
  return lines.join("\n");
}

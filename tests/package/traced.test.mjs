// Tools that copy a server's files (`@vercel/nft` in Nitro, Nuxt, Next.js, Vercel) begin at the file that
// they found under their conditions. What they copy must be enough for the file that the runtime takes.
// For each entry that is tried in a folder which has nothing else of the package.

import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build as esbuild } from "esbuild";
import { build as viteBuild } from "vite";
import { run } from "../../scripts/lib/exec.mjs";
import { ENTRIES } from "../../scripts/lib/exports.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { packedProject } from "../lib/packed.mjs";

const { nodeFileTrace } = createRequire(at("tests/deps/servers/package.json"))("@vercel/nft");
const runtime = (name) => at("tests/deps/runtimes/node_modules/.bin", name);
const PACKAGE = "node_modules/kitbag/";
const nameOf = (path) => `kitbag${path.slice(1)}`;

/** How a runtime is started, and the conditions of tools that copy files for it. */
const RUNTIMES = {
  Node: {
    command: [process.execPath],
    conditions: [["node"], ["production", "node"], ["module", "node"]],
  },
  Bun: {
    command: [runtime("bun"), "run"],
    conditions: [
      ["bun", "node"],
      ["bun", "worker", "module", "node"],
    ],
  },
  Deno: {
    command: [runtime("deno"), "run", "--allow-all", "--no-lock", "--node-modules-dir=manual"],
    conditions: [
      ["deno", "node"],
      ["deno", "module", "node"],
    ],
  },
};

let project;
/** What the tracer has read of the files of a folder, by the folder. */
const caches = new Map();
before(async () => {
  project = await packedProject({ set: ["agents", "optional", "newest"] });
});
after(() => project?.remove());

/** Writes a program that loads an entry, and works with files if the entry has a class for that. */
function program(root, entry, kind) {
  const load =
    kind === "import" ? `import * as entry from "${entry}";` : `const entry = require("${entry}");`;
  const file = `${entry.replaceAll("/", "-")}.${kind === "import" ? "mjs" : "cjs"}`;
  const work = `
    const { CustomBackend, StateBackend } = entry;
    if (StateBackend) {
      const { matches } = new StateBackend({ files: { "/a": "1" } }).grep("1");
      if (matches.length !== 1) throw new Error("found nothing");
      new CustomBackend({ get: () => null, list: () => [] });
    }
    console.log("loaded");`;
  writeFileSync(join(root, file), `${load}${work}\n`);
  return file;
}

/** The files of the package that a tool with these conditions copies for a program. */
async function traced(root, file, conditions) {
  if (!caches.has(root)) caches.set(root, {});
  const { fileList, warnings } = await nodeFileTrace([join(root, file)], {
    base: root,
    conditions,
    cache: caches.get(root),
    ignore: (path) => path !== file && !path.startsWith(PACKAGE),
  });
  const own = [...warnings].filter(({ message }) => message.includes(PACKAGE));
  assert.deepEqual(own, []);
  return [...fileList].filter((path) => path.startsWith(PACKAGE));
}

/** Runs a program in a new folder with these files, and with the other packages of the project. */
async function runWith(root, file, files, command) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-traced-"));
  try {
    mkdirSync(join(folder, PACKAGE), { recursive: true });
    for (const path of [file, ...files]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(root, path), join(folder, path));
    }
    const modules = join(project.root, "node_modules");
    for (const name of readdirSync(modules)) {
      if (name === "kitbag") continue;
      symlinkSync(join(modules, name), join(folder, "node_modules", name), "junction");
    }
    const [name, ...args] = command;
    return await run(name, [...args, file], { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A program that loads an entry, and what every tool copies for it. */
async function copied(root, entry, kind, { conditions }) {
  const file = program(root, entry, kind);
  const copies = [];
  for (const one of conditions) copies.push(await traced(root, file, one));
  return { file, files: copies[0].filter((path) => copies.every((copy) => copy.includes(path))) };
}

/** Whether what every tool copies for a program is enough to run it. */
async function isEnough(root, entry, kind, runtime) {
  const { file, files } = await copied(root, entry, kind, runtime);
  return runWith(root, file, files, runtime.command);
}

describe("what a tool copies is enough in Node", () => {
  for (const path of ENTRIES.keys()) {
    for (const kind of ["import", "require"]) {
      test(`${kind} ${nameOf(path)}`, async () => {
        const { code, output } = await isEnough(project.root, nameOf(path), kind, RUNTIMES.Node);
        assert.equal(code, 0, output);
        assert.equal(output, "loaded\n");
      });
    }
  }

  test("with every file of WebAssembly", async () => {
    const wasm = readdirSync(join(project.home, "dist/wasm"));
    for (const [path, { server }] of ENTRIES) {
      // `regex` is empty in Node: it is for a program that imports `kitbag`.
      if (!server || path === "./regex") continue;
      const { files } = await copied(project.root, nameOf(path), "import", RUNTIMES.Node);
      for (const name of wasm) assert.ok(files.includes(`${PACKAGE}dist/wasm/${name}`), name);
    }
  });

  test("the check itself works: without the lines for these tools it is not", async () => {
    const root = mkdtempSync(join(tmpdir(), "kitbag-untraced-"));
    try {
      cpSync(project.home, join(root, PACKAGE), { recursive: true });
      for (const name of ["server.js", "node.js"]) {
        const file = join(root, PACKAGE, "dist", name);
        const text = readFileSync(file, "utf8");
        const without = text.replace(/^const filesToCopy = .*\n/m, "");
        assert.notEqual(without, text, name);
        writeFileSync(file, without);
      }
      const { code, output } = await isEnough(root, "kitbag", "import", RUNTIMES.Node);
      assert.notEqual(code, 0);
      assert.match(output, /Cannot find module/);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

for (const name of ["Bun", "Deno"]) {
  describe(`what a tool copies is enough in ${name}`, () => {
    for (const path of [".", "./slim", "./guided", "./history", "./transfer"]) {
      test(`import ${nameOf(path)}`, async () => {
        const { code, output } = await isEnough(
          project.root,
          nameOf(path),
          "import",
          RUNTIMES[name],
        );
        assert.equal(code, 0, output);
        assert.match(output, /loaded\n$/);
      });
    }
  });
}

describe("a bundle that contains kitbag is traced, and needs no other file", () => {
  const ENTRY = "disk.mjs";
  before(() => {
    writeFileSync(
      join(project.root, ENTRY),
      `import { FilesystemBackend, StateBackend } from "kitbag";
      import { withHistory } from "kitbag/history";
      const disk = new FilesystemBackend({ rootDir: import.meta.dirname ?? __dirname });
      const kept = withHistory(new StateBackend(), { keepIn: { backend: new StateBackend() } });
      kept.write("/a", "1").then(() => disk.ls("/")).then(({ files }) => {
        console.log(files.length > 0 ? "loaded" : "empty");
      });\n`,
    );
  });

  async function isWhole(file) {
    const bundle = join(project.root, file);
    // From the root of the file system, as such tools do in a repository of several packages.
    const { fileList } = await nodeFileTrace([bundle], { base: "/" });
    assert.deepEqual([...fileList], [bundle.slice(1)]);
    const { code, output } = await runWith(project.root, file, [], RUNTIMES.Node.command);
    assert.equal(code, 0, output);
    assert.equal(output, "loaded\n");
  }

  for (const format of ["esm", "cjs"]) {
    for (const minify of [false, true]) {
      test(`esbuild, ${format}${minify ? ", minified" : ""}`, async () => {
        const file = `esbuild-${minify}.${format === "esm" ? "mjs" : "cjs"}`;
        const { warnings } = await esbuild({
          entryPoints: [join(project.root, ENTRY)],
          bundle: true,
          platform: "node",
          format,
          minify,
          outfile: join(project.root, file),
          logLevel: "silent",
          logOverride: { "empty-import-meta": "silent" },
        });
        assert.deepEqual(warnings, []);
        await isWhole(file);
      });
    }
  }

  for (const minify of [false, true]) {
    test(`Vite${minify ? ", minified" : ""}`, async () => {
      await viteBuild({
        root: project.root,
        configFile: false,
        logLevel: "error",
        ssr: { noExternal: true },
        build: { ssr: ENTRY, outDir: `vite-${minify}`, minify, emptyOutDir: false },
      });
      const [file] = readdirSync(join(project.root, `vite-${minify}`));
      cpSync(join(project.root, `vite-${minify}`, file), join(project.root, `vite-${minify}.mjs`));
      await isWhole(`vite-${minify}.mjs`);
    });
  }

  test("the check itself works: a template of the same text breaks the tool", async () => {
    const text =
      "export const at = (handle) => { const it = `/proc/self/fd/${handle.fd}`; return it; };";
    const file = join(project.root, "template.mjs");
    writeFileSync(file, `${text}\n`);
    await assert.rejects(nodeFileTrace([file], { base: "/" }), /does not exist/);
  });
});

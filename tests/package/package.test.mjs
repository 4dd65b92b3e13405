// The tarball as a stranger meets it: installed into an empty project, imported by its plain name
// everywhere it should run, and bundled for a page with no configuration at all.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build as esbuild } from "esbuild";
import { build as viteBuild } from "vite";
import { must } from "../../scripts/lib/exec.mjs";
import { lastLine } from "../../scripts/lib/node-files.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { launch, pageOf, resultOf, serve } from "../lib/browser.mjs";
import { pageScript, workerModules } from "../lib/bundle.mjs";
import { pack } from "../lib/pack.mjs";
import { startWorker } from "../lib/workerd.mjs";

/** What every program here does with the package; it ends with the text "1 2 /a.txt". */
const PROGRAM = `
  const backend = new StateBackend();
  backend.write("/a.txt", "one\\ntwo\\n");
  const edited = backend.edit("/a.txt", "two", "2");
  const { matches } = backend.grep("2");
  const said = [edited.occurrences, matches[0].line, matches[0].path].join(" ");
`;
const SAID = "1 2 /a.txt";

let project;
let tarball;
let listed;
let browser;

before(async () => {
  project = mkdtempSync(join(tmpdir(), "kitbag-package-"));
  const about = await pack(project);
  tarball = join(project, about.filename);
  listed = about.files.map((file) => file.path);
  writeFileSync(join(project, "package.json"), '{ "name": "stranger", "private": true }\n');
  await must("npm", ["install", "--no-audit", "--no-fund", "--offline", tarball], { cwd: project });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(project, { recursive: true, force: true });
});

const manifest = () => JSON.parse(readFileSync(join(project, "node_modules/kitbag/package.json")));

describe("the tarball", () => {
  test("holds what it should and nothing else", () => {
    const more = ["llms.txt", "skills/kitbag/SKILL.md"];
    for (const path of ["LICENSE", "README.md", "package.json", "dist/wasm/kitbag.wasm", ...more]) {
      assert.ok(listed.includes(path), `${path} is missing`);
    }
    for (const path of listed) {
      assert.match(path, /^(dist|types|skills)\/|^(LICENSE|README\.md|llms\.txt|package\.json)$/);
      assert.doesNotMatch(path, /testing|\.test\.|\.map$|bindgen/);
    }
  });

  test("says who made it and under what terms; the version is the crate's", () => {
    const crate = /^version = "(.+)"/m.exec(readFileSync(at("Cargo.toml"), "utf8"))[1];
    const { license, version } = manifest();
    assert.equal(version, crate);
    assert.equal(license, "MIT");
    assert.ok(readFileSync(join(project, "node_modules/kitbag/README.md"), "utf8").length > 500);
  });

  test("the file of Node ends with a line of the build, by which its length differs", () => {
    const core = readFileSync(join(project, "node_modules/kitbag/dist/core.cjs"), "utf8");
    const [, build] = /^\/\/ build ([0-9a-f]{16}) \.*$/m.exec(core) ?? [];
    assert.ok(build && core.endsWith(`${lastLine(build)}\n`));
  });

  test("every file that an export names is there", () => {
    const named = (value) =>
      typeof value === "string" ? [value] : Object.values(value).flatMap(named);
    const { exports, main, module, types } = manifest();
    const files = named(exports).filter((file) => !file.includes("*"));
    for (const file of [...files, main, module, types]) {
      assert.ok(listed.includes(file.replace("./", "")), `${file} is missing`);
    }
  });

  test("has no loader of WebAssembly by wasm-bindgen, which breaks bundlers", () => {
    for (const path of listed.filter((path) => /\.c?js$/.test(path))) {
      const text = readFileSync(join(project, "node_modules/kitbag", path), "utf8");
      assert.doesNotMatch(text, /__wbg_load|kitbag_bg\.wasm/, path);
    }
  });

  test("needs no other package", () => {
    assert.deepEqual(manifest().dependencies ?? {}, {});
    const installed = readdirSync(join(project, "node_modules")).filter((name) => name[0] !== ".");
    assert.deepEqual(installed, ["kitbag"]);
  });
});

describe("in Node", () => {
  const said = (args) => {
    const done = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    assert.equal(done.stderr, "");
    return done.stdout.trim();
  };

  test("by import", () => {
    const program = `import { StateBackend } from "kitbag"; ${PROGRAM} console.log(said);`;
    assert.equal(said(["--input-type=module", "-e", program]), SAID);
  });

  test("by require", () => {
    const program = `const { StateBackend } = require("kitbag"); ${PROGRAM} console.log(said);`;
    assert.equal(said(["--input-type=commonjs", "-e", program]), SAID);
  });

  test("by import, by require and as kitbag/slim it is one package with one instance", () => {
    const program = `
      import { createRequire } from "node:module";
      import * as imported from "kitbag";
      import * as slim from "kitbag/slim";
      const require = createRequire(import.meta.url);
      const all = [imported, slim, require("kitbag"), require("kitbag/slim")];
      const names = Object.keys(imported).filter((name) => name !== "default");
      const differ = names.filter((name) => all.some((one) => one[name] !== imported[name]));
      const { withIndex } = await import("kitbag/indexed");
      if (slim.withIndex !== withIndex || require("kitbag/slim").withIndex !== withIndex)
        throw new Error("withIndex of kitbag/slim is another one");
      const { StateBackend } = slim;
      const inside = imported.withPolicy(new StateBackend({ files: { "/a": "1" } }), {});
      console.log(differ.length, names.length > 20, (await inside.read("/a")).content);`;
    writeFileSync(join(project, "one.mjs"), program);
    assert.equal(said(["one.mjs"]), "0 true 1");
  });

  test("a file of wasm of another build is refused by name", () => {
    const program = `
      import { readFileSync, writeFileSync, cpSync } from "node:fs";
      cpSync("node_modules/kitbag", "other/node_modules/kitbag", { recursive: true });
      const file = "other/node_modules/kitbag/dist/wasm/custom.wasm";
      const wasm = readFileSync(file, "latin1");
      writeFileSync(file, wasm.replace(/custom [0-9a-f]{16}$/, "custom 0123456789abcdef"), "latin1");
      const { CustomBackend, StateBackend } = await import("./other/node_modules/kitbag/dist/node.js");
      let said;
      try { new CustomBackend({ get() {}, list() { return []; } }); } catch (error) { said = error.message; }
      if (!/"custom" of build 0123456789abcdef/.test(said)) throw new Error("said " + said);
      ${PROGRAM} console.log(said2);`.replace("const said =", "const said2 =");
    writeFileSync(join(project, "mixed.mjs"), program);
    // A build for development is one module, without chunks.
    if (process.env.KITBAG_DEV_BUILD !== "1") assert.equal(said(["mixed.mjs"]), SAID);
  });

  for (const readme of ["README.md", "pkg-template/README.md"]) {
    test(`the first program of ${readme} runs and says what it says`, () => {
      const [, program] = /```js\n(.*?)```/s.exec(readFileSync(at(readme), "utf8"));
      const checks = `
        if (files.read("/notes/todo.md").content !== "- oat milk\\n- eggs\\n") throw new Error();
        console.log(files.write("/src/main.ts", "").code);`;
      const output = said(["--input-type=module", "-e", program + checks]);
      assert.ok(output.endsWith("already_exists"), output);
    });
  }

  test("slim, with the wasm from its own export", () => {
    const program = `
      import { readFileSync } from "node:fs";
      import { createRequire } from "node:module";
      import { withIndex, init, initSync, CustomBackend, StateBackend } from "kitbag/slim";
      const refused = (make) => { try { make(); } catch (error) { return error.message; } };
      const early = refused(() => new StateBackend());
      if (!/await init\\(\\)/.test(early)) throw new Error("not refused before init: " + early);
      const file = (name) => readFileSync(
        createRequire(import.meta.url).resolve("kitbag/wasm/" + name + ".wasm"));
      initSync(file("kitbag"));
      const custom = () => new CustomBackend({ get: () => null, list: () => [] });
      const chunk = refused(custom);
      // All that are missing are named at once.
      const parts = ["custom", "custom-disk", "common", "files", "storages"];
      const names = JSON.parse("[" + (/init\\(([^)]+)\\)/.exec(chunk)?.[1] ?? "") + "]");
      if (chunk && names.sort().join() !== parts.toSorted().join()) throw new Error("not refused: " + chunk);
      if (chunk) await init(...parts.map(file));
      if ((await custom().ls("/")).files.length !== 0) throw new Error("not empty");
      if (chunk) await init(...["index", "records", "layers"].map(file));
      const searched = withIndex(new StateBackend({ files: { "/a": "1" } }), { keepIn: { path: "/.index/" } });
      const { stats } = await searched.grep("1", "/", null, { stats: true });
      if (stats.unindexed !== 1) throw new Error("not searched");
      if ((await searched.updateIndex()).code !== "unsupported") throw new Error("updated memory");
      if (!/not one of/.test(refused(() => initSync(new Uint8Array([0,97,115,109,1,0,0,0])))))
        throw new Error("took a stranger");
      ${PROGRAM} console.log(said);`;
    writeFileSync(join(project, "slim.mjs"), program);
    // As bundlers and pages resolve it; by itself Node finds the files beside it.
    assert.equal(said(["--conditions=module", "slim.mjs"]), SAID);
  });

  test("the browser's entry runs in Node too, for tools that choose it", () => {
    const program = `import { StateBackend } from "kitbag"; ${PROGRAM} console.log(said);`;
    assert.equal(said(["--conditions=browser", "--input-type=module", "-e", program]), SAID);
  });

  test("the conformance suite is there", () => {
    const program = `
      import { StateBackend } from "kitbag";
      import { runConformance } from "kitbag/conformance";
      const { failed } = await runConformance(() => new StateBackend(), { writeModes: ["create"] });
      console.log(failed);`;
    assert.equal(said(["--input-type=module", "-e", program]), "0");
  });
});

describe("in a bundle for a server, run from another folder", () => {
  const program = `
    import { FilesystemBackend, StateBackend } from "kitbag";
    ${PROGRAM}
    const disk = new FilesystemBackend({ rootDir: process.argv.at(-1) });
    disk.read("/package.json").then(({ content }) => console.log(said, content.length > 10));`;
  const bun = at("tests/deps/runtimes/node_modules/.bin/bun");
  let elsewhere;
  before(() => {
    elsewhere = mkdtempSync(join(tmpdir(), "kitbag-moved-"));
    writeFileSync(join(project, "server.mjs"), program);
  });
  after(() => rmSync(elsewhere, { recursive: true, force: true }));

  const said = (command, args) => {
    const done = spawnSync(command, [...args, project], { cwd: elsewhere, encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
  };

  for (const format of ["esm", "cjs"]) {
    test(`esbuild for Node, ${format}`, async () => {
      const outfile = join(elsewhere, `server.${format === "esm" ? "mjs" : "cjs"}`);
      const { warnings } = await esbuild({
        entryPoints: [join(project, "server.mjs")],
        bundle: true,
        platform: "node",
        format,
        outfile,
        logLevel: "silent",
      });
      assert.deepEqual(warnings, []);
      assert.equal(said(process.execPath, [outfile]), `${SAID} true`);
    });
  }

  test("bun build", () => {
    const outfile = join(elsewhere, "bun.js");
    const args = ["build", "server.mjs", "--target=bun", `--outfile=${outfile}`];
    const built = spawnSync(bun, args, { cwd: project, encoding: "utf8" });
    assert.equal(built.status, 0, built.stderr);
    assert.equal(said(bun, [outfile]), `${SAID} true`);
  });

  test("bun build --compile", () => {
    const outfile = join(elsewhere, "program");
    const args = ["build", "server.mjs", "--compile", `--outfile=${outfile}`];
    const built = spawnSync(bun, args, { cwd: project, encoding: "utf8" });
    assert.equal(built.status, 0, built.stderr);
    assert.equal(said(outfile, []), `${SAID} true`);
  });
});

/** `node:` modules that a text imports, in whatever way. */
function nodeImports(text) {
  const found = text.matchAll(
    /(?:from\s*|import\s*\(?\s*|require\s*\(\s*)["'](node:[\w/]+|fs|path|url)["']/g,
  );
  return [...found].map((match) => match[1]);
}

describe("in workerd", () => {
  test("by its plain name; nothing that is loaded imports node:", async () => {
    const source = `
      import { StateBackend } from "kitbag";
      export default { fetch() { ${PROGRAM} return new Response(said); } };
    `;
    const modules = await workerModules(source, project);
    const [script, ...others] = modules.map(({ type }) => type);
    assert.equal(script, "ESModule");
    assert.ok(others.length > 0 && others.every((type) => type === "CompiledWasm"), `${others}`);
    assert.deepEqual(nodeImports(modules[0].contents), []);
    const worker = await startWorker(modules);
    try {
      assert.equal((await worker.fetch()).text, SAID);
    } finally {
      await worker.stop();
    }
  });

  test("from its files as they are, without a bundler", async () => {
    const dist = join(project, "node_modules/kitbag/dist");
    const program = `import { StateBackend } from "./kitbag/dist/workerd.js";
      export default { fetch() { ${PROGRAM} return new Response(said); } };`;
    const files = readdirSync(dist, { recursive: true }).filter((name) =>
      /^workerd(\/.*)?\.js$|\.wasm$/.test(name),
    );
    const modules = files.map((name) => ({
      type: name.endsWith(".wasm") ? "CompiledWasm" : "ESModule",
      path: `/kitbag/dist/${name}`,
      contents: readFileSync(join(dist, name), name.endsWith(".wasm") ? undefined : "utf8"),
    }));
    const entry = { type: "ESModule", path: "/worker.mjs", contents: program };
    const worker = await startWorker([entry, ...modules]);
    try {
      assert.equal((await worker.fetch()).text, SAID);
    } finally {
      await worker.stop();
    }
  });
});

describe("in Chromium", () => {
  const page = `import { StateBackend } from "kitbag"; ${PROGRAM} globalThis.done = said;`;

  async function saidBy(files, path = "/") {
    const server = await serve(files);
    try {
      return await resultOf(browser, server.origin + path);
    } finally {
      await server.stop();
    }
  }

  test("bundled by esbuild, with no options", async () => {
    const script = await pageScript(page, project);
    assert.deepEqual(nodeImports(script), []);
    const files = { "/": ["text/html", pageOf()], "/page.js": ["text/javascript", script] };
    assert.equal(await saidBy(files), SAID);
  });

  test("bundled by Vite, with no configuration", async () => {
    writeFileSync(join(project, "index.html"), pageOf("/main.js"));
    writeFileSync(join(project, "main.js"), page);
    await viteBuild({ root: project, configFile: false, logLevel: "error" });
    const files = {};
    for (const name of readdirSync(join(project, "dist"), { recursive: true })) {
      const type = { html: "text/html", js: "text/javascript" }[name.split(".").at(-1)];
      if (type) files[`/${name}`] = [type, readFileSync(join(project, "dist", name))];
    }
    for (const [name, [, body]] of Object.entries(files)) {
      assert.deepEqual(nodeImports(`${body}`), [], name);
    }
    assert.equal(await saidBy(files, "/index.html"), SAID);
  });

  test("from the files as they are, as a module that a page imports", async () => {
    const dist = join(project, "node_modules/kitbag/dist");
    const files = { "/": ["text/html", pageOf()] };
    for (const name of readdirSync(dist, { recursive: true })) {
      if (name.endsWith(".js"))
        files[`/k/${name}`] = ["text/javascript", readFileSync(join(dist, name))];
    }
    files["/page.js"] = ["text/javascript", page.replace('"kitbag"', '"/k/browser.js"')];
    assert.equal(await saidBy(files), SAID);
  });

  test("slim, fetching and compiling the wasm as it streams", async () => {
    const dist = join(project, "node_modules/kitbag/dist");
    const files = { "/": ["text/html", pageOf()] };
    const names = readdirSync(dist, { recursive: true });
    for (const name of names.filter((name) => /\.(js|wasm)$/.test(name))) {
      const type = name.endsWith(".wasm") ? "application/wasm" : "text/javascript";
      files[`/k/${name}`] = [type, readFileSync(join(dist, name))];
    }
    files["/page.js"] = [
      "text/javascript",
      `import { init, StateBackend } from "/k/slim.js";
       globalThis.done = (async () => { await init(); ${PROGRAM} return said; })();`,
    ];
    assert.equal(await saidBy(files), SAID);
  });
});

describe("what browsers and Workers load", () => {
  /** The files that a file imports, and theirs, and so on. */
  function reached(file, seen = new Set()) {
    if (seen.has(file)) return seen;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, next] of text.matchAll(/(?:from|import)\s*\(?\s*["'](\.[\w./-]+\.c?js)["']/g)) {
      reached(join(dirname(file), next), seen);
    }
    return seen;
  }
  const dist = () => join(project, "node_modules/kitbag/dist");

  for (const entry of ["browser.js", "workerd.js", "edge.js", "slim.js", "conformance.js"]) {
    test(`${entry} reaches no node: module and no file by its address`, () => {
      const files = [...reached(join(dist(), entry))];
      if (entry !== "conformance.js") assert.ok(files.length > 20, `${files.length} files`);
      for (const file of files) {
        const text = readFileSync(file, "utf8");
        assert.deepEqual(nodeImports(text), [], file);
        assert.doesNotMatch(text, /new URL\([^)]*import\.meta/, file);
      }
    });
  }

  test("the check itself works: the entry for Node does reach one", () => {
    const texts = [...reached(join(dist(), "node.js"))].map((file) => readFileSync(file, "utf8"));
    assert.ok(texts.flatMap(nodeImports).includes("node:module"));
  });
});

// Whether `sideEffects` in package.json is true: a module that is not listed does nothing when it is
// loaded, so that bundlers may drop it; one that is listed does, so that they must keep it.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import { run } from "../../scripts/lib/exec.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";

const root = cache("side-effects");
const manifest = JSON.parse(readFileSync(at("pkg/package.json"), "utf8"));

before(() => {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "node_modules"), { recursive: true });
  symlinkSync(at("pkg"), join(root, "node_modules/kitbag"), "junction");
});
after(() => rmSync(root, { recursive: true, force: true }));

/** A bundle for a page; `kept`: as if every module had side effects. */
async function bundle(contents, kept = false) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    ignoreAnnotations: kept,
    logLevel: "error",
  });
  return outputFiles[0].text;
}

async function said(name, code) {
  const file = join(root, `${name}.mjs`);
  writeFileSync(file, code);
  const { code: status, output } = await run(process.execPath, [file]);
  assert.equal(status, 0, output);
  return output.trim();
}

test("an import that nothing uses costs nothing", async () => {
  assert.ok((await bundle(`import { StateBackend } from "kitbag";`)).length < 200);
  assert.ok((await bundle(`import { fileTools } from "kitbag/openai";`)).length < 200);
});

test("kitbag/regex is kept although nothing of it is used", async () => {
  assert.ok((await bundle(`import "kitbag/regex";`)).length > 50_000);
});

const PROGRAM = `
  import { CompositeBackend, createFileTools, StateBackend, withPolicy } from "kitbag";
  import "kitbag/regex";
  const files = new StateBackend({ files: { "/a.txt": "straße\\nSTRASSE\\n" } });
  const tree = withPolicy(new CompositeBackend(files, { "/m/": new StateBackend() }), { readOnly: true });
  const found = await tree.grep("\\\\p{Lu}{7}", "/", null, null, { regex: true });
  const written = await tree.write("/m/a", "");
  console.log(JSON.stringify([found.matches, written.code, createFileTools(tree).tools.length]));`;

test("a program says the same with and without the modules that bundlers drop", async () => {
  const [dropped, kept] = [await bundle(PROGRAM), await bundle(PROGRAM, true)];
  console.log(`side effects: ${dropped.length} bytes, ${kept.length} with every module`);
  assert.ok(dropped.length < kept.length, `${dropped.length} of ${kept.length}`);
  const texts = [await said("dropped", dropped), await said("kept", kept)];
  assert.equal(texts[0], texts[1]);
  assert.match(texts[0], /STRASSE.*permission_denied/);
});

describe("a module that is not listed does nothing when it is loaded", () => {
  const listed = manifest.sideEffects.map((file) => file.replace("./dist/", ""));
  const modules = readdirSync(at("pkg/dist/browser"))
    .filter((name) => name.endsWith(".js"))
    .map((name) => `browser/${name}`)
    .filter((name) => !listed.includes(name));
  test(`${modules.length} modules`, async () => {
    const program = `
      const names = () => Object.getOwnPropertyNames(globalThis).sort().join();
      const before = [names(), Object.getOwnPropertyNames(Object.prototype).join(), process.listenerCount("exit")];
      const compiled = [];
      for (const name of ["Module", "Instance", "compile", "instantiate"]) {
        const own = WebAssembly[name];
        WebAssembly[name] = new Proxy(own, {
          construct: (...args) => (compiled.push(name), Reflect.construct(...args)),
          apply: (...args) => (compiled.push(name), Reflect.apply(...args)),
        });
      }
      for (const file of ${JSON.stringify(modules)}) await import(${JSON.stringify(at("pkg/dist"))} + "/" + file);
      const after = [names(), Object.getOwnPropertyNames(Object.prototype).join(), process.listenerCount("exit")];
      console.log(before.every((one, at) => one === after[at]), compiled.length, process.getActiveResourcesInfo().filter((one) => /Timeout|Immediate/.test(one)).length);`;
    assert.ok(modules.length > 20, `${modules.length} modules`);
    assert.equal(await said("loaded", program), "true 0 0");
  });
});

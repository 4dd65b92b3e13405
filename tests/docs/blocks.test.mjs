// Every code block of the documentation: it compiles under `strict` against the packed package, and
// it runs and prints what it says.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { run } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { launch, resultOf, serve } from "../lib/browser.mjs";
import { expectations, fits, modules } from "./blocks.mjs";
import { asJavaScript, makeProject, project, typeErrors } from "./project.mjs";

/** Blocks that only compile. Each has its reason in its fence; no more than so many may exist. */
const MOST_COMPILED_ONLY = 12;

const declared = readFileSync(at("tests/docs/given.d.ts"), "utf8");
const givenNames = [...declared.matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
const blocks = modules(givenNames);
const inNode = blocks.filter(({ how }) => how === "");
const inPage = blocks.filter(({ how }) => how === "browser");
const compiledOnly = blocks.filter(({ how }) => how === "compile");

let errors;
let results;
let browser;

before(async () => {
  await makeProject();
  errors = await typeErrors(blocks);
  results = await ranInNode();
  browser = await launch();
});

after(() => browser?.close());

async function ranInNode() {
  const list = inNode.map(({ id, code, needs, extension }) => {
    const file = join(project, `${id}.mjs`);
    writeFileSync(file, asJavaScript({ code, needs, extension }));
    return { id, file, needs, signs: code.includes("presignS3") };
  });
  const listFile = join(project, "list.json");
  const resultFile = join(project, "results.json");
  writeFileSync(listFile, JSON.stringify(list));
  // From there `kitbag` and LangChain are the same packages that the blocks import.
  for (const name of ["given.mjs", "run-blocks.mjs"]) {
    const text = readFileSync(at("tests/docs", name), "utf8");
    const moved = text
      .replaceAll('"../', `"${at("tests")}/`)
      .replaceAll(`${at("tests")}/../`, `${at()}/`);
    writeFileSync(join(project, name), moved);
  }
  const runner = join(project, "run-blocks.mjs");
  const { code, output } = await run(process.execPath, [runner, listFile, resultFile]);
  assert.equal(code, 0, output);
  console.log(output);
  return JSON.parse(readFileSync(resultFile, "utf8"));
}

function printsWhatItSays(code, printed) {
  for (const [which, said] of expectations(code).entries()) {
    if (said === undefined) continue;
    assert.ok(fits(said, printed[which] ?? ""), `said: ${said}\nprinted: ${printed[which]}`);
  }
}

test("every fence says how its block is checked", () => {
  const known = ["", "continues", "browser", "compile"];
  const strange = blocks.filter(({ how }) => !known.includes(how)).map(({ name }) => name);
  assert.deepEqual(strange, []);
  assert.ok(blocks.length > 60, `${blocks.length} blocks`);
  console.log(
    `${blocks.length} blocks: ${inNode.length} run in Node, ${inPage.length} in a page, ${compiledOnly.length} only compile`,
  );
});

test("few blocks only compile, and each says why", () => {
  const silent = compiledOnly.filter(({ reason }) => reason === "").map(({ name }) => name);
  assert.deepEqual(silent, []);
  assert.ok(compiledOnly.length <= MOST_COMPILED_ONLY, `${compiledOnly.length}`);
});

describe("under strict", () => {
  for (const { name, id } of blocks) {
    test(`${name} compiles`, () => assert.deepEqual(errors.get(id), []));
  }
});

describe("in Node", () => {
  for (const { name, id, code } of inNode) {
    test(`${name} runs`, () => {
      assert.deepEqual(results[id].errors, []);
      printsWhatItSays(code, results[id].printed);
    });
  }
});

describe("in a page", () => {
  for (const block of inPage) {
    test(`${block.name} runs`, async () => {
      const server = await serve({
        ...kitbagFiles(),
        "/": ["text/html", PAGE],
        "/page.js": ["text/javascript", ANSWER],
        "/block.js": ["text/javascript", asJavaScript(block)],
      });
      try {
        printsWhatItSays(block.code, await resultOf(browser, server.origin));
      } finally {
        await server.stop();
      }
    });
  }
});

/** A page without a bundler: an import map names the packed package. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>block</title><link rel="icon" href="data:,">
<script type="importmap">{ "imports": { "kitbag": "/kitbag/browser.js" } }</script>
<script type="module" src="/page.js"></script>`;

/** Answers with what the block printed. */
const ANSWER = `
  const printed = [];
  const shown = (value) => typeof value === "string" ? value : JSON.stringify(value);
  console.log = (...values) => printed.push(values.map(shown).join(" "));
  globalThis.showDirectoryPicker = () => navigator.storage.getDirectory();
  globalThis.done = import("/block.js").then(() => printed);
`;

/** The package's modules for pages, by their address. */
function kitbagFiles() {
  const dist = join(project, "node_modules/kitbag/dist");
  const names = readdirSync(dist, { recursive: true }).filter((name) =>
    /^browser(\.js$|\/.*\.js$)/.test(name),
  );
  const file = (name) => ["text/javascript", readFileSync(join(dist, name))];
  return Object.fromEntries(names.map((name) => [`/kitbag/${name}`, file(name)]));
}

// The binary: its package, its size and its speed. What it says of itself: `types.test.mjs`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { PACKAGE, WASI } from "../../scripts/lib/component.mjs";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { patched } from "./glue.mjs";
import { COMPONENT } from "./load.mjs";

const bytes = readFileSync(COMPONENT);

/** Most bytes, as they are and after gzip: little above what was measured. */
const MOST = { bytes: 1_188_500, gzip: 495_700, wasi: 29_200 };
/** How many times the time of the npm package a call may take. */
const TIMES = 2;

test("its package has the component, its types and nothing of the crate", async () => {
  const listed = await must("npm", ["pack", "--dry-run", "--json"], { cwd: PACKAGE });
  const [about] = Object.values(JSON.parse(listed.slice(listed.search(/^[[{]/m))));
  assert.deepEqual(about.files.map(({ path }) => path).sort(), [
    ...["LICENSE", "README.md", "kitbag-wasi.wasm", "kitbag-wasi.wit"],
    ...["kitbag.component.wasm", "kitbag.wit", "package.json"],
  ]);
  assert.ok(about.size <= MOST.gzip + MOST.wasi + 20_000, `${about.size} bytes`);
  assert.deepEqual(readFileSync(`${PACKAGE}/kitbag.component.wasm`), bytes);
  assert.deepEqual(readFileSync(`${PACKAGE}/kitbag-wasi.wasm`), readFileSync(WASI));
});

test("its size, and that of kitbag-wasi, is within the bounds", (t) => {
  const gzip = gzipSync(bytes, { level: 9 }).length;
  t.diagnostic(`${bytes.length} bytes, ${gzip} after gzip`);
  assert.ok(bytes.length <= MOST.bytes, `${bytes.length} bytes`);
  assert.ok(gzip <= MOST.gzip, `${gzip} bytes after gzip`);
  const wasi = gzipSync(readFileSync(WASI), { level: 9 }).length;
  t.diagnostic(`kitbag-wasi: ${wasi} after gzip`);
  assert.ok(wasi <= MOST.wasi, `kitbag-wasi has ${wasi} bytes after gzip`);
});

test("neither names a path of the machine that built it", () => {
  for (const built of [bytes, readFileSync(WASI)]) {
    const named = built.latin1Slice().match(/[\w./-]+\.rs\b/g) ?? [];
    assert.ok(named.length > 2, named.join(" "));
    // Those of the standard library begin with its commit.
    assert.deepEqual(
      named.filter((path) => path.startsWith("/") && !/^\/rust(c\/\w+)?\//.test(path)),
      [],
    );
  }
});

test("a read and a search with 40,000 matches take at most twice the time of the npm package", async (t) => {
  const told = await must(process.execPath, [at("tests/component/speed.mjs"), String(TIMES)]);
  const { found, measured } = JSON.parse(told);
  assert.equal(found, 40_000);
  for (const { name, component, npm } of measured) {
    const times = component / npm;
    t.diagnostic(`${name}: ${component.toFixed(4)} ms, npm ${npm.toFixed(4)} ms`);
    assert.ok(times <= TIMES, `${name}: ${times.toFixed(2)} times`);
  }
});

test("what is replaced in jco's glue is there, or its absence is noticed", () => {
  const [decoder, debugs] = ["new TextDecoder()", "!globalThis?.process?.env?.JCO_DEBUG"];
  assert.match(patched(`${decoder}; ${debugs}`), /ignoreBOM: true.*; true$/);
  assert.throws(() => patched(debugs), /has not one new TextDecoder/);
  assert.throws(() => patched(`${decoder}; ${debugs}; ${debugs}`), /has not one/);
});

// What the binary says of itself: that it is valid, what it imports, its types, and its size.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { PACKAGE } from "../../scripts/lib/component.mjs";
import { must, run } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { which } from "../../scripts/setup.mjs";
import { COMPONENT, patched } from "./load.mjs";
import { found, measured } from "./speed.mjs";

const wasmTools = which("wasm-tools") ?? at(".cache/tools/bin/wasm-tools");
const component = (...args) => must(wasmTools, ["component", ...args]);
const bytes = readFileSync(COMPONENT);

/** Most bytes, as they are and after gzip: a tenth above what was measured. */
const MOST = { bytes: 690_000, gzip: 306_000 };
/** How many times the time of the npm package a call may take. */
const TIMES = 2;

/** The functions and types of each interface in a text of WIT. */
function interfacesOf(text) {
  const interfaces = new Map();
  for (const [, , name, body] of text.matchAll(/^( *)interface (\S+) \{\n([\s\S]*?)\n\1\}$/gm)) {
    const items = body.split(/\n\s*\n/).flatMap((block) => {
      const item = block.replace(/\s+/g, " ").trim();
      return item.startsWith("use ") ? item.split(/(?<=;) ?/) : [item];
    });
    const sorted = items
      .filter((item) => item !== "")
      .map((item) =>
        item.replace(
          /\{([^{}]*)\};$/,
          (_, names) =>
            `{${names
              .split(/, */)
              .map((one) => one.trim())
              .sort()
              .join()}};`,
        ),
      );
    interfaces.set(name, sorted.sort());
  }
  return interfaces;
}

test("it is valid, and has all that the world of the WIT wants", async () => {
  await must(wasmTools, ["validate", COMPONENT]);
  await component("targets", at("wit"), COMPONENT, "--world", "kitbag");
  const { code } = await run(wasmTools, ["validate", "-"], { input: bytes.subarray(0, -100) });
  assert.notEqual(code, 0, "a part of it is not valid");
});

test("it imports the clock, random numbers, commands and volumes of the host, and nothing else", async () => {
  const printed = await component("wit", COMPONENT);
  const imports = [...printed.matchAll(/^ {2}import (\S+);$/gm)].map(([, name]) => name);
  assert.deepEqual(imports, [
    "kitbag:files/types@0.1.0",
    "kitbag:files/clock@0.1.0",
    "kitbag:files/random@0.1.0",
    "kitbag:files/shell@0.1.0",
    "kitbag:files/storage@0.1.0",
  ]);
});

test("its types and functions are those of the committed WIT", async () => {
  const printed = interfacesOf(await component("wit", "--no-docs", COMPONENT));
  const committed = interfacesOf(await component("wit", "--no-docs", at("wit")));
  assert.deepEqual([...printed.keys()].sort(), [...committed.keys()].sort());
  for (const [name, items] of printed) {
    assert.ok(items.length > 0);
    assert.deepEqual(items, committed.get(name), name);
  }
});

test("its package has the component, its types and nothing of the crate", async () => {
  const listed = await must("npm", ["pack", "--dry-run", "--json"], { cwd: PACKAGE });
  const [about] = Object.values(JSON.parse(listed.slice(listed.search(/^[[{]/m))));
  assert.deepEqual(about.files.map(({ path }) => path).sort(), [
    ...["LICENSE", "README.md", "kitbag.component.wasm", "kitbag.wit", "package.json"],
  ]);
  assert.ok(about.size <= MOST.gzip + 20_000, `${about.size} bytes`);
  assert.deepEqual(readFileSync(`${PACKAGE}/kitbag.component.wasm`), bytes);
});

test("its size is within the bounds", (t) => {
  const gzip = gzipSync(bytes, { level: 9 }).length;
  t.diagnostic(`${bytes.length} bytes, ${gzip} after gzip`);
  assert.ok(bytes.length <= MOST.bytes, `${bytes.length} bytes`);
  assert.ok(gzip <= MOST.gzip, `${gzip} bytes after gzip`);
});

test("a read and a search with 40,000 matches take at most twice the time of the npm package", (t) => {
  assert.equal(found(), 40_000);
  for (const { name, component, npm } of measured(TIMES)) {
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

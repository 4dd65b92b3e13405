// What the component says of itself: that it is valid, what it imports, and its types.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { COMPONENT, stripped, validate, wasmTools } from "../../scripts/lib/component.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { shapesOf } from "./shapes.mjs";

const tools = await wasmTools();
const bytes = readFileSync(COMPONENT);

const WIT = readFileSync(at("wit/kitbag.wit"), "utf8");

/** A component without code, of the world of a WIT. */
async function wanted(witSource = WIT) {
  const module = await tools.componentEmbed({ dummy: true, witSource, world: "kitbag" });
  return stripped(Buffer.from(await tools.componentNew(module)));
}

test("it is valid, and has all that the world of the WIT wants", async () => {
  await validate(bytes);
  assert.equal(await tools.componentWit(bytes), await tools.componentWit(await wanted()));
});

describe("what is not valid is noticed", () => {
  const module = bytes.indexOf(Buffer.from("\0asm\x01\0\0\0", "latin1"));
  // Bytes that are no instruction, no number and no text.
  const changed = (at, length = 1) => Buffer.from(bytes).fill(0xff, at, at + length);
  const cut = [1, 10, 100, 10_000, bytes.length - 100].map((length) => [
    `without the last ${length} bytes`,
    bytes.subarray(0, -length),
  ]);
  const wrong = [
    ["with another kind of section", changed(8)],
    ["with another size of a section", changed(9)],
    ["with another type of an import", changed(200, 20)],
    ["with another name of an import", changed(1_000, 20)],
    ["with another kind of section in its module", changed(module + 8)],
    ["with other code in its module", changed(module + Math.floor(bytes.length / 2), 20)],
    ["with other code at another place of it", changed(module + Math.floor(bytes.length / 3), 20)],
    ["with another type of an export", changed(bytes.length - 500, 20)],
    ["with bytes behind it", Buffer.concat([bytes, Buffer.from("more")])],
  ];
  for (const [name, damaged] of [...cut, ...wrong]) {
    test(name, () => assert.rejects(validate(damaged)));
  }
});

test("it imports the clock, random numbers, commands, answers and volumes of the host, and nothing else", async () => {
  const printed = await tools.componentWit(bytes);
  const imports = [...printed.matchAll(/^ {2}import (\S+);$/gm)].map(([, name]) => name);
  assert.deepEqual(imports, [
    "kitbag:files/types@0.1.0",
    "kitbag:files/clock@0.1.0",
    "kitbag:files/random@0.1.0",
    "kitbag:files/shell@0.1.0",
    "kitbag:files/rules@0.1.0",
    "kitbag:files/storage@0.1.0",
  ]);
});

test("its types and functions are those of the committed WIT", async () => {
  const printed = shapesOf(await tools.print(bytes));
  const committed = shapesOf(await tools.print(await wanted()));
  assert.deepEqual([...printed.keys()].sort(), [...committed.keys()].sort());
  assert.equal(printed.size, 11);
  for (const [name, items] of printed) {
    assert.ok(items.length > 0);
    assert.deepEqual(items, committed.get(name), name);
  }
});

describe("another type in the WIT is noticed", () => {
  const edits = [
    ["now: func() -> timestamp", "now: func() -> u64"],
    ["bits: func() -> u64", "bits: func() -> s64"],
    ["type timestamp = s64", "type timestamp = u64"],
    ["exit-code: option<s32>", "exit-code: s32"],
    ["bytes(list<u8>)", "bytes(list<u16>)"],
    ["notes: list<string>", "remarks: list<string>"],
    ["        quota-exceeded,\n", ""],
    ["stat: func(path: string) -> result<option<metadata>, error>", "stat: func(path: string)"],
    ["delete: func(path: string, version: option<string>)", "delete: func(path: string)"],
    ["execute: func(id: string, command: string,", "execute: func(command: string, id: string,"],
    ["backend: borrow<backend>", "backend: own<backend>"],
    ["    bits: func", "    more: func();\n    bits: func"],
  ];
  for (const [from, to] of edits) {
    test(`${from.trim()} as ${to.trim() || "nothing"}`, async () => {
      assert.ok(WIT.includes(from));
      const other = await wanted(WIT.replace(from, to)).then(tools.print);
      assert.notDeepEqual(shapesOf(other), shapesOf(await tools.print(bytes)));
    });
  }
});

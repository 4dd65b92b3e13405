// No figure of the structure gets worse, and a change of the public names is seen in review. The
// ceilings are upper bounds: a change that makes a figure smaller passes, and lowers its ceiling.

import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bare, endOfBlock } from "../../scripts/lib/figures/lines.mjs";
import { publicNames, surfaceText } from "../../scripts/lib/figures/surface.mjs";
import { ceilings, figures } from "../../scripts/lib/figures/table.mjs";
import { at } from "../../scripts/lib/paths.mjs";

const all = new Map((await figures()).map((figure) => [figure.key, figure]));

for (const [key, ceiling] of Object.entries(ceilings())) {
  test(`${key}: at most ${ceiling}`, () => {
    const { what, value, places = [] } = all.get(key);
    ok(value <= ceiling, `${what}: ${value} instead of ${ceiling}\n${places.join("\n")}`);
  });
}

test("every figure has a value", () => {
  for (const { key, value } of all.values()) ok(Number.isSafeInteger(value) && value >= 0, key);
});

test("the way of a call begins in TypeScript, and its way through Rust is known", () => {
  const files = all.get("way").places.map((line) => line.trim().split(/\s+/).at(-1));
  for (const folder of ["ts/backend/", "ts/core/", "src/wasm/", "src/layer/", "src/storage/s3/"]) {
    ok(
      files.some((file) => file.startsWith(folder)),
      `no file of ${folder} in ${files.join(", ")}`,
    );
  }
});

test("the public names are those of surface.txt; npm run figures -- --surface rewrites it", () => {
  strictEqual(surfaceText(publicNames()), readFileSync(at("tests/figures/surface.txt"), "utf8"));
});

const COMMENTS = [
  ["a line comment", "let a = 1; // b\n", "let a = 1;     \n"],
  ["a comment in a comment", "a /* b /* c */ d */ e", "a                   e"],
  ["a comment of two lines", "a /* b\nc */ d", "a     \n     d"],
  ["a text with slashes", '"http://a" // b', '"http://a"     '],
  ["a raw text with a quote", 'r#"a " // b"# // c', 'r#"a " // b"#     '],
  ["a quote as a character", `'"' // "a`, `'"'      `],
  ["a lifetime", "fn a<'b>(c: &'b str) // 'd'", "fn a<'b>(c: &'b str)       "],
  ["an escaped quote", String.raw`"a\" // b" // c`, String.raw`"a\" // b"     `],
];
for (const [name, text, wanted] of COMMENTS) {
  test(`Rust without comments: ${name}`, () => strictEqual(bare(text), wanted));
}

test("Rust without comments: braces in texts are no blocks", () => {
  const text = bare('fn a() { b("}"); } fn c() {}', { texts: false });
  deepStrictEqual(text.slice(endOfBlock(text, 0)), " fn c() {}");
});

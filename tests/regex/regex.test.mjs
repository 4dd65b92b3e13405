// The table of expressions, whose answers are those of the crate `regex`, through the package:
// with all of Unicode as Node has it, and as a page without `kitbag/regex` and with it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import * as node from "../lib/kitbag.mjs";

const { text, cases } = JSON.parse(readFileSync(at("tests/regex/table.json"), "utf8"));
const LINE = /import "kitbag\/regex"$/;

function grep({ StateBackend }, { pattern, ignoreCase }, lines = text) {
  const backend = new StateBackend({ files: { "/a.txt": lines.join("\n") } });
  const { error, code, matches } = backend.grep(pattern, "/", null, null, {
    regex: true,
    ignoreCase,
  });
  if (error !== undefined) assert.equal(code, "invalid_pattern", error);
  return { error, lines: matches?.map(({ line }) => line) };
}

/** The cases with a name for each, as expressions differ only in how case is treated at times. */
const named = cases.map((one) => [
  `${JSON.stringify(one.pattern)}${one.ignoreCase ? ", case ignored" : ""}`,
  one,
]);

/** A test for each case: the lines are those of the table. */
function answersAll(kitbag) {
  for (const [name, one] of named) {
    test(name, () => {
      const { error, lines } = grep(kitbag(), one);
      assert.deepEqual(lines, one.lines, error);
    });
  }
}

test("the table has more than 300 expressions", () => {
  assert.ok(cases.length > 300 && text.length > 80);
});

describe("Node answers as the crate regex", () => answersAll(() => node));

describe("a page", () => {
  let page;
  before(async () => {
    page = await import(pathToFileURL(at("pkg/dist/browser.js")));
  });

  describe("without kitbag/regex it answers the same, or refuses with the line to add", () => {
    let refused = 0;
    for (const [name, one] of named) {
      test(name, () => {
        for (const [at, line] of text.entries()) {
          const { error, lines } = grep(page, one, [line]);
          if (one.lines === undefined) assert.notEqual(error, undefined);
          else if (error === undefined) {
            assert.equal(lines.length > 0, one.lines.includes(at + 1), line);
          } else {
            assert.match(error, LINE);
            refused++;
          }
        }
      });
    }

    test("it refuses some", () => assert.ok(refused > 0));
  });

  for (const [what, options] of [
    ["a Unicode class", { pattern: "\\p{Greek}" }],
    ["a word beside letters of another script", { pattern: "\\bส" }],
  ]) {
    test(`without kitbag/regex it refuses ${what}`, () => {
      assert.match(grep(page, options).error, LINE);
    });
  }

  test("without kitbag/regex case is ignored in every script", () => {
    for (const [pattern, text] of [
      ["^\\w+É$", "CAFé"],
      ["^[а-я]+$", "МИР"],
      ["^straße$", "STRAẞE"],
      ["^ա+$", "Աա"],
      ["^σ.*σ$", "Σοφός"],
      ["^[^à-ÿ]$", "k"],
    ]) {
      assert.deepEqual(grep(page, { pattern, ignoreCase: true }, [text]).lines, [1], pattern);
      assert.equal(grep(page, { pattern }, [text]).lines.length, pattern.includes("^à") ? 1 : 0);
    }
    assert.deepEqual(grep(page, { pattern: "^[^à-ÿ]$", ignoreCase: true }, ["É"]).lines, []);
  });

  test("without kitbag/regex, text decides whether \\w is refused", () => {
    const word = { pattern: "^\\w+$" };
    assert.deepEqual(grep(page, word, ["café", "a b", "日本語", "→", "мир"]).lines, [1, 3, 5]);
    assert.match(grep(page, word, ["café", "สวัสดี"]).error, LINE);
  });

  describe("with kitbag/regex it answers as the crate regex", () => {
    before(() => import(pathToFileURL(at("pkg/dist/browser/regex.js"))));
    answersAll(() => page);
  });
});

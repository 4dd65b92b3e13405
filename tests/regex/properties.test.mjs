// The names of properties and of their values against the tables of the crate `regex-syntax`, of which only its source
// tells the names: a newer Unicode with more of them is noticed. What each name means: `cargo test`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";

const told = await must("cargo", ["metadata", "--offline", "--locked", "--format-version", "1"]);
const { packages } = JSON.parse(told.slice(told.indexOf('{"packages"')));
const crate = packages.find(({ name }) => name === "regex-syntax");
const tables = join(dirname(crate.manifest_path), "src/unicode_tables");
const source = (file) => readFileSync(join(tables, file), "utf8");

/** What stands from a text on, up to the end of that list. */
function listed(text, from, end) {
  const start = text.indexOf(from);
  assert.ok(start >= 0, from);
  return text.slice(start, text.indexOf(end, start));
}

/** The values of which a file has a table: no character of a text is a surrogate. */
const values = (file) =>
  new Set(
    [...listed(source(file), "BY_NAME", "];").matchAll(/\(\s*"([^"]+)",/g)].map(([, v]) => v),
  );

/** The names in a list that are for one of these values. */
const names = (list, known) =>
  [...list.matchAll(/\(\s*"([^"]+)",\s*"([^"]+)",?\s*\)/g)]
    .filter(([, , value]) => known.has(value))
    .map(([, name]) => name)
    .sort();

const lines = readFileSync(at("src/search/regex/properties.txt"), "utf8").trim().split("\n");
const ours = (kind) =>
  lines
    .filter((line) => line.startsWith(`${kind} `))
    .flatMap((line) => line.split(" ").slice(1))
    .sort();

for (const [kind, property, file] of [
  ["g", "General_Category", "general_category.rs"],
  ["s", "Script", "script.rs"],
  ["a", "Age", "age.rs"],
  ["c", "Grapheme_Cluster_Break", "grapheme_cluster_break.rs"],
  ["w", "Word_Break", "word_break.rs"],
  ["b", "Sentence_Break", "sentence_break.rs"],
]) {
  test(`all values of ${property}`, () => {
    const list = listed(source("property_values.rs"), `"${property}",`, "],");
    assert.deepEqual(names(list, values(file)), ours(kind));
  });
}

test("all properties that a character has or has not", () => {
  assert.deepEqual(names(source("property_names.rs"), values("property_bool.rs")), ours("p"));
});

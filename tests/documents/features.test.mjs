// The features that the documents name, each with what shows it: a test here, a named test of another
// file, an example, or a heading of a page. The words are ours; the identifiers are for the count.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import places from "./features/places.mjs";
import protocol from "./features/protocol.mjs";
import together from "./features/together.mjs";
import tools from "./features/tools.mjs";

const FEATURES = { ...tools, ...places, ...together, ...protocol };

/** How many features each letter has. */
const COUNTS = {
  T: 36,
  S: 8,
  F: 12,
  L: 11,
  B: 12,
  H: 8,
  C: 6,
  P: 7,
  V: 6,
  Q: 8,
  M: 5,
  R: 18,
  X: 3,
};

const text = (file) => readFileSync(at(file), "utf8");

/** Fails if no test of a file has this name, as it is written there, or if no suite runs the file. */
function namedTest({ file, words }) {
  const source = text(file);
  const named = [...source.matchAll(/(?:test\(|name:|tally\.check\()\s*(["'`])([\s\S]*?)\1/g)];
  assert.ok(
    named.some(([, , name]) => name === words),
    `${file} has no test "${words}"`,
  );
  if (file.startsWith("ts/conformance/")) {
    assert.match(text("ts/conformance.ts"), new RegExp(`/${basename(file, ".ts")}\\.js`));
    return;
  }
  const folder = file.split("/")[1];
  const suites = readdirSync(at("tests", folder)).filter((name) => name.endsWith(".suite.mjs"));
  const runs = (suite) => {
    const manifest = text(`tests/${folder}/${suite}`);
    const below = dirname(file).slice("tests/".length);
    return (
      manifest.includes(`testFiles("${below}")`) ||
      manifest.includes(basename(file)) ||
      manifest.includes(`"${basename(file, ".test.mjs")}"`)
    );
  };
  assert.ok(suites.some(runs), `no suite runs ${file}`);
}

/** Fails if a page lacks a heading. */
function headingOf({ page, heading }) {
  const file = `docs/${page}.md`;
  assert.ok(existsSync(at(file)), `${file} is missing`);
  const headings = [...text(file).matchAll(/^#+ (.*)$/gm)].map(([, words]) => words);
  assert.ok(headings.includes(heading), `${file} has no heading "${heading}"`);
}

const examples = text("tests/documents/examples.ts");

function isExample({ example }) {
  assert.ok(examples.includes(`  "${example}":`), `there is no example "${example}"`);
}

const kinds = { "test here": 0, "test elsewhere": 0, example: 0, "page of docs": 0, different: 0 };
const different = [];

for (const [id, [words, how]] of Object.entries(FEATURES)) {
  if (typeof how === "function") {
    kinds["test here"] += 1;
    test(`${id}: ${words}`, how);
  } else if ("because" in how) {
    kinds.different += 1;
    different.push(`${id}: ${words}: ${how.because}`);
    test(`${id}: ${words}: ${how.because}`, async () => {
      headingOf(how.where);
      await how.show?.();
    });
  } else if ("file" in how) {
    kinds["test elsewhere"] += 1;
    test(`${id}: ${words}`, () => namedTest(how));
  } else if ("example" in how) {
    kinds.example += 1;
    test(`${id}: ${words}`, () => isExample(how));
  } else {
    kinds["page of docs"] += 1;
    test(`${id}: ${words}`, () => headingOf(how));
  }
}

test("all 140 are there, and those that differ say why", () => {
  const wanted = Object.entries(COUNTS).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, at) => `${letter}${at + 1}`),
  );
  assert.deepEqual(Object.keys(FEATURES).sort(), wanted.sort());
  assert.equal(wanted.length, 140);
  const counted = Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`);
  console.log(`# ${wanted.length} features: ${counted.join(", ")}`);
  for (const line of different) console.log(`# different: ${line}`);
});

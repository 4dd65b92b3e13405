// The figures of the library: what is counted, the goal, and for what is held by a test the ceiling in
// `tests/figures/ceilings.json`. A change that makes one of these smaller lowers its ceiling.

import { readFileSync } from "node:fs";
import { wrongArrows, wrongArrowsOfTests } from "../arrows.mjs";
import { at } from "../paths.mjs";
import { docsWords, filesOf, rustLines, typescriptLines } from "./lines.mjs";
import { encodings, forwarding, ownFormats, storageMethods } from "./structure.mjs";
import { countNames, publicNames } from "./surface.mjs";
import { way } from "./way.mjs";

/** The ceilings by key: no larger figure may land. */
export const ceilings = () => JSON.parse(readFileSync(at("tests/figures/ceilings.json"), "utf8"));

/**
 * All figures: `key`, `what` is counted, `value`, `goal`, and the `places` that were counted, where
 * there is a list. The package must be built; for the way of a call it is built once more, with names.
 */
export async function figures() {
  const { entered, stacked } = await way();
  const lines = typescriptLines();
  const names = countNames(publicNames());
  const ways = Object.entries(encodings()).filter(([, places]) => places.length > 0);
  const words = docsWords();
  const listed = (key, what, goal, places) => ({ key, what, value: places.length, goal, places });
  return [
    {
      key: "rust",
      what: "lines of Rust in src/ without tests, comments, blank lines",
      value: rustLines(),
      goal: 38_000,
    },
    {
      key: "typescript",
      what: `lines of TypeScript in ts/ (${lines.code} without comments and blank lines)`,
      value: lines.all,
      goal: 20_000,
    },
    listed(
      "way",
      `files that withPolicy(S3).read enters before fetch (${stacked.length} wait for fetch)`,
      26,
      entered.map((file) => `${stacked.includes(file) ? "waits" : "     "} ${file}`),
    ),
    listed("forwarding", "places that write out the operations by hand", 0, forwarding()),
    listed(
      "encodings",
      "encodings at the boundary",
      1,
      ways.map(([way, places]) => [`${way}: ${places.length}`, ...places].join("\n  ")),
    ),
    listed("formats", "ways to keep files of a layer", 1, ownFormats()),
    listed("storage", "methods of the trait Storage", 8, storageMethods()),
    {
      key: "names",
      what: `public names of all entries: ${names.all.values} values, ${names.all.types} types (${names.different.names} different ones)`,
      value: names.all.names,
      goal: 300,
    },
    {
      key: "words",
      what: `words of docs, in ${filesOf("docs", ".md").length} pages`,
      value: words,
      goal: 38_000,
    },
    listed("arrows", "circles and upward imports", 0, wrongArrows()),
    listed("testArrows", "upward imports of tests", 0, wrongArrowsOfTests()),
  ];
}

// `npm run figures`: prints the figures of the library, read from the tree and from the built package,
// with their goals. `--places` lists what was counted, `--surface` writes the list of public names
// (`tests/figures/surface.txt`). The suite `figures` holds those of the structure.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ceilings, figures } from "./lib/figures/table.mjs";
import { at } from "./lib/paths.mjs";
import { ensureAll } from "./setup.mjs";

const { values: options } = parseArgs({
  options: {
    places: { type: "boolean", default: false },
    surface: { type: "boolean", default: false },
  },
});

await ensureAll(["npm", "npm:agents", "npm:optional", "build"]);
if (options.surface) {
  const { publicNames, surfaceText } = await import("./lib/figures/surface.mjs");
  writeFileSync(at("tests/figures/surface.txt"), surfaceText(publicNames()));
} else {
  const held = ceilings();
  const number = (value) => (value === undefined ? "" : value.toLocaleString("en-US"));
  console.log("   today  ceiling     goal");
  for (const { key, what, value, goal, places } of await figures()) {
    const columns = [value, held[key], goal].map((one) => number(one).padStart(8));
    console.log(`${columns.join(" ")}  ${what}`);
    if (!options.places) continue;
    for (const place of places ?? []) console.log(place.replace(/^/gm, " ".repeat(30)));
  }
  console.log("Times of rules and mounts: npm run bench");
}

// The built package put where the frameworks are installed, so that both are found by their names.

import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { at } from "../../scripts/lib/paths.mjs";

/** Copies `pkg/` to the packages of `tests/deps/agents`. */
export function placeKitbag() {
  const place = at("tests/deps/agents/node_modules/kitbag");
  rmSync(place, { recursive: true, force: true });
  cpSync(at("pkg"), place, { recursive: true });
  // The adapter as version 5 of the AI SDK meets it: two versions under one name would need two
  // folders, so that one is installed as `ai5`, and here is our module with its name.
  const shipped = readFileSync(`${place}/dist/ai.js`, "utf8");
  const named = shipped.replace(/from "ai"/, 'from "ai5"');
  if (named === shipped) throw new Error("dist/ai.js does not import ai as expected");
  writeFileSync(`${place}/dist/ai-with-5.js`, named);
}

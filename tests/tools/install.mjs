// The built package, installed next to the frameworks that it is tested with, so that tests import
// all of them by name.

import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { at } from "../../scripts/lib/paths.mjs";

/** Copies `pkg/` to the packages of a set of `tests/deps`, and links its command, as npm does. */
export function installKitbag(set = "agents") {
  const modules = at("tests/deps", set, "node_modules");
  const place = join(modules, "kitbag");
  rmSync(place, { recursive: true, force: true });
  cpSync(at("pkg"), place, { recursive: true });
  const command = join(modules, ".bin/kitbag-mcp");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  rmSync(command, { force: true });
  chmodSync(join(place, "dist/kitbag-mcp.js"), 0o755);
  symlinkSync("../kitbag/dist/kitbag-mcp.js", command);
  // Version 5 of the AI SDK is installed as `ai5`, since two versions under one name would need two
  // folders. This copy of the adapter imports it by that name.
  const shipped = readFileSync(join(place, "dist/ai.js"), "utf8");
  const named = shipped.replace(/from "ai"/, 'from "ai5"');
  if (named === shipped) throw new Error("dist/ai.js does not import ai as expected");
  writeFileSync(join(place, "dist/ai-with-5.js"), named);
  const file = join(place, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  manifest.exports["./ai-with-5"] = "./dist/ai-with-5.js";
  writeFileSync(file, JSON.stringify(manifest));
}

/** Runs test files that import the frameworks and the package by name. */
export function toolTests(ctx, files, env = {}, { set = "agents", ...options } = {}) {
  installKitbag(set);
  const nodeArgs = ["--import", at("tests/tools/packages.mjs")];
  return ctx.nodeTests(files, { nodeArgs, env: { ...env, KITBAG_TOOLS_SET: set }, ...options });
}

/** The paths of test files of this folder, by name. */
export const named = (...names) => names.map((name) => `tests/tools/${name}.test.mjs`);

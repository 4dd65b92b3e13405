// The built package, installed beside the frameworks it is tried with.

import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/** Puts `pkg/` into `tests/deps/agents`, as a user's installer would, its command included. */
export function installKitbag(ctx) {
  const modules = ctx.at("tests/deps/agents/node_modules");
  const place = join(modules, "kitbag");
  rmSync(place, { recursive: true, force: true });
  cpSync(ctx.at("pkg"), place, { recursive: true });
  const command = join(modules, ".bin/kitbag-mcp");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  rmSync(command, { force: true });
  chmodSync(join(place, "dist/kitbag-mcp.js"), 0o755);
  symlinkSync("../kitbag/dist/kitbag-mcp.js", command);
}

/** Runs test files of `tests/tools`, which find the frameworks and the package there. */
export function toolTests(ctx, names, env = {}) {
  installKitbag(ctx);
  return ctx.nodeTests(
    names.map((name) => `tests/tools/${name}.test.mjs`),
    { nodeArgs: ["--import", ctx.at("tests/tools/packages.mjs")], env },
  );
}

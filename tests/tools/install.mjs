// The built package, installed beside the frameworks it is tried with.

import { cpSync, rmSync } from "node:fs";

/** Puts `pkg/` into `tests/deps/agents`, as a user's installer would. */
export function installKitbag(ctx) {
  const place = ctx.at("tests/deps/agents/node_modules/kitbag");
  rmSync(place, { recursive: true, force: true });
  cpSync(ctx.at("pkg"), place, { recursive: true });
}

/** Runs test files of `tests/tools`, which find the frameworks and the package there. */
export function toolTests(ctx, names, env = {}) {
  installKitbag(ctx);
  return ctx.nodeTests(
    names.map((name) => `tests/tools/${name}.test.mjs`),
    { nodeArgs: ["--import", ctx.at("tests/tools/packages.mjs")], env },
  );
}

// React Router as a framework, and Deno without permissions; Astro, Rsbuild and `edge-runtime` are in
// `short/`, which runs in CI.

import { ok, strictEqual } from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { environmentOf, nodeOf } from "../../scripts/lib/nodes.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { chromium } from "./chromium.mjs";
import { ISOLATED, isolateFiles, routerFiles } from "./frameworks.mjs";
import {
  command,
  freePort,
  LARGE_FILES,
  noWarning,
  opened,
  shownIn,
  tool,
  weighed,
  withServer,
  workshop,
} from "./lib.mjs";

let shop;
let browser;
before(async () => {
  shop = await workshop("frameworks");
  browser = await chromium();
});
after(async () => {
  await browser?.close();
  shop?.remove();
});

test("React Router: a resource route, and a page with a loader that is rendered and runs", async () => {
  const folder = shop.project("react-router", routerFiles());
  // React Router 8 needs Node 22.
  const quiet = (output) => noWarning(output, LARGE_FILES);
  await tool(folder, "react-router", ["build"], { env: environmentOf("24"), quiet });
  const port = await freePort();
  const bin = join(shop.root, "node_modules/@react-router/serve/bin.cjs");
  const args = [bin, join(folder, "build/server/index.js")];
  const env = { PORT: String(port), HOST: "127.0.0.1", NODE_ENV: "production" };
  await withServer({ cwd: folder, args, port, env, node: nodeOf("24") }, async (origin) => {
    strictEqual((await (await fetch(`${origin}/api`)).json()).text, "memory disk");
    const page = await (await fetch(`${origin}/`)).text();
    ok(page.includes('<p id="rendered">rendered</p>'), page);
    const said = await opened(browser, `${origin}/`);
    strictEqual(said?.text, "memory database");
    weighed("React Router", join(folder, "build/client"), said);
  });
});

test("Deno without permissions: a program in one file", async () => {
  const folder = shop.project("deno", isolateFiles());
  await tool(folder, "esbuild", [
    "printed.mjs",
    "--bundle",
    "--format=esm",
    "--outfile=built.mjs",
    "--log-level=warning",
  ]);
  const deno = createRequire(at("tests/deps/runtimes/package.json")).resolve("deno/package.json");
  const args = ["run", "--no-prompt", "--cached-only", "built.mjs"];
  const said = await command(join(folder, "built.mjs"), args, join(deno, "../deno"));
  strictEqual(said.text, ISOLATED);
  weighed("Deno", join(folder, "built.mjs"), said);
});

test("docs/stacks.md shows the configuration of each as it was tested", () => {
  ok(shop.configurations.size >= 1);
  for (const [text, name] of shop.configurations) ok(shownIn("docs/stacks.md", text), name);
});

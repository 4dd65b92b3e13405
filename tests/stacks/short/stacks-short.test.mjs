// Three stacks that differ most: a server framework that renders a page and runs it (Astro), a bundler
// for pages that is not Vite (Rsbuild), and an isolate without files (`edge-runtime`).

import { ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { environmentOf, nodeOf } from "../../../scripts/lib/nodes.mjs";
import { chromium } from "../chromium.mjs";
import { astroFiles, ISOLATED, isolateFiles, rsbuildFiles } from "../frameworks.mjs";
import {
  freePort,
  LARGE_FILES,
  noWarning,
  opened,
  served,
  shownIn,
  tool,
  weighed,
  withServer,
  workshop,
} from "../lib.mjs";

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

/** Astro needs Node 22 or later, and these tests run on Node 20, too. */
const NODE = { ...environmentOf("24"), ASTRO_TELEMETRY_DISABLED: "1" };

test("Astro: a route, and a page that is rendered and runs", async () => {
  const folder = shop.project("astro", astroFiles());
  const quiet = (output) => noWarning(output, LARGE_FILES);
  await tool(folder, "astro", ["build"], { env: NODE, quiet });
  const port = await freePort();
  const args = [join(folder, "dist/server/entry.mjs")];
  const env = { PORT: String(port), HOST: "127.0.0.1" };
  await withServer({ cwd: folder, args, port, env, node: nodeOf("24") }, async (origin) => {
    strictEqual((await (await fetch(`${origin}/api`)).json()).text, "memory disk");
    const page = await (await fetch(`${origin}/`)).text();
    ok(page.includes('<p id="rendered">rendered</p>'), page);
    const said = await opened(browser, `${origin}/`);
    strictEqual(said?.text, "memory database");
    weighed("Astro", join(folder, "dist/client"), said);
  });
});

test("Rsbuild: a page", async () => {
  const folder = shop.project("rsbuild", rsbuildFiles());
  // It warns of scripts over 300 KiB, as Rspack does.
  const quiet = (output) =>
    noWarning(output, /performance recommendations|size limit|warnings?:?$/i);
  await tool(folder, "rsbuild", ["build"], { quiet });
  const server = await served(join(folder, "dist"));
  try {
    const said = await opened(browser, `${server.origin}/`);
    strictEqual(said?.text, "memory database");
    weighed("Rsbuild", join(folder, "dist"), said);
  } finally {
    await server.close();
  }
});

test("edge-runtime: a program in one file", async () => {
  const folder = shop.project("edge-runtime", isolateFiles());
  const bundled = [
    "fetched.mjs",
    "--bundle",
    "--minify",
    "--format=iife",
    "--log-level=warning",
    "--outfile=built.js",
  ];
  await tool(folder, "esbuild", bundled);
  const port = await freePort();
  const bin = join(shop.root, "node_modules/edge-runtime/dist/cli/index.js");
  const args = [bin, "--listen", "--port", String(port), "--host", "127.0.0.1", "built.js"];
  await withServer({ cwd: folder, args, port }, async (origin) => {
    const said = await (await fetch(`${origin}/`)).json();
    strictEqual(said.text, ISOLATED);
    weighed("edge-runtime", join(folder, "built.js"), said);
  });
});

test("docs/stacks.md shows the configuration of each as it was tested", () => {
  ok(shop.configurations.size >= 2);
  for (const [text, name] of shop.configurations) ok(shownIn("docs/stacks.md", text), name);
});

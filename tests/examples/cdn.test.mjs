// The page without a build. Its import map names a CDN; requests to it are answered here as it answers
// them, `/npm/NAME@VERSION/PATH`, with the files of the packed package and nothing else.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { launch } from "../lib/browser.mjs";
import { packedProject } from "../lib/packed.mjs";

const EXAMPLE = at("examples/page-cdn");
const CDN = "https://cdn.jsdelivr.net";
const SITE = "https://notes.example";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

let project;
let browser;
before(async () => {
  project = await packedProject();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  project?.remove();
});

const html = readFileSync(join(EXAMPLE, "index.html"), "utf8");
const { imports } = JSON.parse(/<script type="importmap">([\s\S]*?)<\/script>/.exec(html)[1]);

/** A browser that reaches the example's site and the CDN; `seen` has what it asked the CDN for. */
async function visitor({ headers = {} } = {}) {
  const context = await browser.newContext();
  const seen = [];
  const errors = [];
  const { name, version } = project.manifest;
  const roots = { [SITE]: [EXAMPLE, "/"], [CDN]: [project.home, `/npm/${name}@${version}/`] };
  await context.route("**/*", (route) => {
    const { origin, pathname } = new URL(route.request().url());
    const [folder, prefix] = roots[origin] ?? [];
    const path = pathname === "/" ? "/index.html" : pathname;
    const file = folder && path.startsWith(prefix) && join(folder, path.slice(prefix.length));
    if (origin === CDN) seen.push(pathname);
    if (!file || !existsSync(file) || !statSync(file).isFile()) {
      errors.push(`${route.request().url()} is not there`);
      return route.fulfill({ status: 404 });
    }
    const own = origin === SITE ? headers : { "access-control-allow-origin": "*" };
    const contentType = TYPES[extname(file)] ?? "text/plain";
    return route.fulfill({ headers: own, contentType, body: readFileSync(file) });
  });
  const open = async () => {
    const page = await context.newPage();
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(`${SITE}/`);
    return page;
  };
  return { open, seen, errors, close: () => context.close() };
}

const shown = (page) => page.$$eval("#found li", (all) => all.map((one) => one.textContent));
const until = (page, count) =>
  page.waitForFunction((n) => document.querySelectorAll("#found li").length === n, count);

test("the map has an exact version, this one, and a line for each import", () => {
  const { version, exports } = project.manifest;
  for (const [name, address] of Object.entries(imports)) {
    ok(address.startsWith(`${CDN}/npm/kitbag@${version}/`), address);
    const { module } = exports[name.replace("kitbag", ".")];
    const file = (module.default?.default ?? module.default ?? module).replace("./", "");
    equal(address.slice(`${CDN}/npm/kitbag@${version}/`.length), file, name);
  }
  const script = readFileSync(join(EXAMPLE, "main.js"), "utf8");
  const wanted = [...script.matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
  deepEqual(wanted.sort(), Object.keys(imports).sort());
});

test("notes are saved, found, seen by another tab, and there after a reload", async () => {
  const { open, seen, errors, close } = await visitor();
  const page = await open();
  await until(page, 1);
  deepEqual(await shown(page), ["/welcome.md"]);
  const other = await open();
  await until(other, 1);
  await page.fill("[name=name]", "tea");
  await page.fill("[name=text]", "one\ngreen tea\n");
  await page.click("button");
  await until(page, 2);
  await until(other, 2);
  await page.fill("#search", "green");
  await until(page, 1);
  deepEqual(await shown(page), ["/tea.md:2 green tea"]);
  await page.reload();
  await until(page, 2);
  deepEqual(await shown(page), ["/tea.md", "/welcome.md"]);
  deepEqual(errors, []);
  ok(seen.some((path) => path.endsWith("/dist/transfer.js")));
  // Each file of the package once a visit, so one instance serves both entries.
  equal(seen.filter((path) => /core-/.test(path)).length % 3, 0, seen.join("\n"));
  await close();
});

test("under the policy that its README names it works, without the directive it does not", async () => {
  const policy = (more) => ({
    "content-security-policy": `default-src 'none'; img-src data:; script-src 'self' 'unsafe-inline' ${CDN} ${more}`,
  });
  const allowed = await visitor({ headers: policy("'wasm-unsafe-eval'") });
  await until(await allowed.open(), 1);
  deepEqual(allowed.errors, []);
  await allowed.close();
  const refused = await visitor({ headers: policy("") });
  const page = await refused.open();
  // What it threw while it loaded has arrived when it answers.
  equal(await page.evaluate(() => document.querySelectorAll("#found li").length), 0);
  match(refused.errors.join("\n"), /wasm-unsafe-eval/);
  await refused.close();
});

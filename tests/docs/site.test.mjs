// The site as `npm run docs` builds it, below a directory: every page loads in Chromium, asks no
// other host, and its links lead somewhere; the search finds things.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { buildSite } from "../../scripts/docs/build.mjs";
import { pageNames } from "../../scripts/docs/pages.mjs";
import { cache } from "../../scripts/lib/paths.mjs";
import { launch, serve } from "../lib/browser.mjs";

const BASE = "/kitbag/";
const out = cache("docs-dist");
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

let server;
let browser;
let pages;

before(async () => {
  await buildSite({ base: BASE, out });
  const files = {};
  for (const name of readdirSync(out, { recursive: true })) {
    const type = TYPES[extname(name)];
    if (type) files[BASE + name] = [type, readFileSync(join(out, name))];
  }
  files[BASE] = files[`${BASE}index.html`];
  pages = Object.keys(files).filter((path) => path.endsWith(".html") && !path.includes("404"));
  server = await serve(files);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A tab that notes what its pages ask of other hosts, and what they log as an error. */
async function watched() {
  const page = await browser.newPage();
  const strangers = [];
  const errors = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== server.origin && url.protocol !== "data:") strangers.push(url.href);
  });
  page.on("pageerror", (error) => errors.push(`${page.url()}: ${error}`));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(`${page.url()}: ${message.text()}`);
  });
  page.on("response", (answer) => {
    if (answer.status() >= 400) errors.push(`${answer.status()}: ${answer.url()}`);
  });
  const open = (path) => page.goto(server.origin + path, { waitUntil: "load" });
  return { page, open, strangers, errors };
}

/** Opens pages in one tab, and gives what was noted. */
async function opened(paths, look = async () => {}) {
  const { page, open, strangers, errors } = await watched();
  try {
    for (const path of paths) await open(path);
    await look(page);
    return { strangers, errors };
  } finally {
    await page.close();
  }
}

const html = (path) => readFileSync(join(out, path.slice(BASE.length) || "index.html"), "utf8");
const withoutCode = (text) => text.replace(/<(script|pre)\b[\s\S]*?<\/\1>/g, "");

test("there is a page for each file of docs/ and for the API", () => {
  for (const name of pageNames()) assert.ok(pages.includes(`${BASE}${name}.html`), name);
  assert.ok(pages.filter((path) => path.includes("/api/")).length > 20);
  console.log(`${pages.length} pages`);
});

test("every page loads, without an error and without a request to another host", async () => {
  const { strangers, errors } = await opened(pages);
  assert.deepEqual(strangers, []);
  assert.deepEqual(errors, []);
});

test("a request to another host would be noticed", async () => {
  const { strangers } = await opened([BASE], (tab) =>
    tab.evaluate(() => fetch("http://127.0.0.2:9/").catch(() => {})),
  );
  assert.deepEqual(strangers, ["http://127.0.0.2:9/"]);
});

test("every link within the site leads to a page and to a heading of it", () => {
  const ids = new Map(
    pages.map((path) => [
      path,
      new Set([...html(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  );
  const broken = [];
  let anchors = 0;
  for (const path of pages) {
    for (const [, href] of withoutCode(html(path)).matchAll(/ href="([^"]+)"/g)) {
      const url = new URL(href.replaceAll("&amp;", "&"), `http://site${path}`);
      if (url.host !== "site" || /\.(css|js|png|svg|woff2)$/.test(url.pathname)) continue;
      const target =
        url.pathname === BASE ? `${BASE}index.html` : url.pathname.replace(/\/$/, "/index.html");
      const id = decodeURIComponent(url.hash.slice(1));
      anchors += id === "" ? 0 : 1;
      if (!ids.has(target)) broken.push(`${path}: ${href}`);
      else if (id !== "" && !ids.get(target).has(id)) broken.push(`${path}: ${href}`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(anchors > 500, `${anchors} links to headings`);
});

test("nothing in the files names another host to load from", () => {
  for (const path of pages) {
    const loads = [
      ...html(path).matchAll(/<(?:script|link|img)\b[^>]*(?:src|href)="(https?:[^"]+)"/g),
    ];
    assert.deepEqual(
      loads.map(([, url]) => url),
      [],
      path,
    );
  }
});

/** What people ask who have just begun, and the page that answers it. */
const QUESTIONS = {
  "Which backend should I use?": "choose",
  "Why kitbag instead of memfs?": "why",
  "How do I keep files after a reload?": "persistence",
  "How do I share files between tabs?": "tabs",
  "How do I limit an agent to a folder?": "folder",
  "How can a person approve a change?": "approvals",
  "How do I see what the agent did?": "audit",
  "How do I undo?": "undo",
  "What happens when two writers conflict?": "concurrency",
  "How do I test my agent?": "testing-agents",
  "How do I migrate from deepagents?": "migrate",
  "Does it work in Next.js?": "nextjs",
  "Does it run in a Cloudflare Worker?": "workers",
  "Which Content Security Policy does it need?": "csp",
  "How large is it in KB?": "sizes",
  "How do I use my own storage?": "custom",
  "How do I run an MCP server?": "mcp",
  "How do I stream with the AI SDK?": "streaming",
  "Can skills be read-only?": "skills",
  "Which versions may break my program?": "versions",
  "How do I hide secrets?": "policies",
  "How do I set up CORS for S3?": "s3",
  "Does each LangGraph thread have its own files?": "langgraph",
  "How do I commit a turn inside a graph?": "turns",
  "Which error codes are there?": "protocol",
};

describe("the search", () => {
  let tab;
  before(async () => {
    tab = await watched();
    await tab.open(BASE);
    await tab.page.click("#local-search button");
  });
  after(() => tab?.page.close());

  /** The pages that it finds, the best first. */
  async function searched(words) {
    const { page, strangers, errors } = tab;
    const links = page.locator("#localsearch-list a");
    await page.fill("#localsearch-input", "");
    await links.first().waitFor({ state: "detached" });
    await page.fill("#localsearch-input", words);
    await links.first().waitFor();
    assert.deepEqual(strangers, []);
    assert.deepEqual(errors, []);
    return links.evaluateAll((found) => found.map((link) => link.pathname));
  }

  for (const [words, page] of [
    ["quota", "policies"],
    ["share files tabs", "tabs"],
    ["wasm-unsafe-eval", "csp"],
    ["offset", "protocol"],
    ["presignS3", "s3"],
  ]) {
    test(`finds "${words}" on the page ${page}`, async () => {
      const found = await searched(words);
      assert.ok(
        found.some((path) => path.endsWith(`/${page}.html`)),
        found.join(" "),
      );
    });
  }

  for (const [question, page] of Object.entries(QUESTIONS)) {
    test(`"${question}" is answered by its first hit`, async () => {
      const found = await searched(question);
      assert.equal(found[0], `${BASE}${page}.html`, found.slice(0, 4).join(" "));
    });
  }
});

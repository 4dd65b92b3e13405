// Copies all pages into one directory, adds the API reference, and lets VitePress make the site of
// it. The copy is needed because some pages are in the root of the repository.

import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { at, cache } from "../lib/paths.mjs";
import { apiPages } from "./api.mjs";
import { fileOf, groups, pageNames, ROOT_PAGES, titleOf } from "./pages.mjs";

const VITEPRESS = at("tests/deps/docs/node_modules/vitepress/dist/node/index.js");
const staged = cache("docs-site");
/** The icon of the playground. */
const [, ICON] = /rel="icon"\s+href="([^"]+)"/.exec(readFileSync(at("www/index.html"), "utf8"));

/** Changes links between files of the repository into links between pages of the site. */
export function asPage(name, text) {
  const fromRoot = name in ROOT_PAGES;
  return text.replace(/\]\((?!https?:|#)([^)\s]+)\)/g, (link, target) => {
    const [path, anchor] = target.split("#");
    const hash = anchor === undefined ? "" : `#${anchor}`;
    const inRoot = fromRoot ? path : path.replace(/^\.\.\//, "");
    if (fromRoot || path.startsWith("../")) {
      const root = Object.entries(ROOT_PAGES).find(([, file]) => file === inRoot);
      if (root) return `](./${root[0]}.md${hash})`;
    }
    if (fromRoot && path.startsWith("docs/")) return `](./${path.slice("docs/".length)}${hash})`;
    return link;
  });
}

function stage() {
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(join(staged, "api"), { recursive: true });
  mkdirSync(join(staged, ".vitepress"), { recursive: true });
  for (const name of pageNames()) {
    writeFileSync(join(staged, `${name}.md`), asPage(name, readFileSync(fileOf(name), "utf8")));
  }
  const api = apiPages();
  for (const { name, text } of api) writeFileSync(join(staged, "api", `${name}.md`), text);
  try {
    cpSync(at("docs/images"), join(staged, "images"), { recursive: true });
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  cpSync(at("scripts/docs/theme"), join(staged, ".vitepress/theme"), { recursive: true });
  for (const file of ["style/tokens.css", "ui/bag.ts"]) {
    cpSync(at("www/src", file), join(staged, ".vitepress/theme", basename(file)));
  }
  symlinkSync(at("tests/deps/docs/node_modules"), join(staged, "node_modules"), "junction");
  return api;
}

function config(api, { base, out }) {
  const item = (name) => ({ text: titleOf(name), link: `/${name}` });
  const sidebar = groups().map(({ text, names }) => ({
    text,
    collapsed: text === "Backends" ? false : undefined,
    items: names.map(item),
  }));
  const reference = {
    text: "API",
    collapsed: true,
    items: api.map(({ name, title }) => ({
      text: title,
      link: name === "index" ? "/api/" : `/api/${name}`,
    })),
  };
  return {
    title: "kitbag",
    description: "One filesystem for AI agents, wherever JavaScript runs.",
    lang: "en",
    base,
    outDir: out,
    cacheDir: cache("docs-vite"),
    cleanUrls: false,
    // Pages say what holds now; when a file was changed says little.
    lastUpdated: false,
    head: [["link", { rel: "icon", href: ICON }]],
    markdown: { theme: { light: "github-light", dark: "github-dark" } },
    vite: { logLevel: "error" },
    themeConfig: {
      siteTitle: "kitbag",
      nav: [
        { text: "Start", link: "/start" },
        { text: "Which backend?", link: "/choose" },
        { text: "Policies", link: "/policies" },
        { text: "API", link: "/api/" },
        // As `docs/` of a playground, the site is one directory below it.
        ...(base.endsWith("/docs/") ? [{ text: "Playground", link: "/../", target: "_self" }] : []),
      ],
      sidebar: [...sidebar, reference],
      outline: { level: [2, 3] },
      search: { provider: "local" },
      docFooter: { prev: "Previous", next: "Next" },
    },
  };
}

/** Builds the site; with `serve`, starts a server for it instead. Returns the number of pages. */
export async function buildSite({ base = "/", out = at("www-dist/docs"), serve = false } = {}) {
  const api = stage();
  const settings = config(api, { base, out });
  const file = join(staged, ".vitepress/config.mjs");
  const ranked = `
import { boostDocument, processTerm } from ${JSON.stringify(pathToFileURL(at("scripts/docs/rank.mjs")).href)};
settings.themeConfig.search.options = { miniSearch: { searchOptions: { boostDocument, processTerm } } };
`;
  const json = JSON.stringify(settings, undefined, 2);
  writeFileSync(file, `const settings = ${json};\n${ranked}export default settings;\n`);
  const { build, createServer } = await import(pathToFileURL(VITEPRESS).href);
  if (serve) {
    const server = await createServer(staged, { host: "127.0.0.1" });
    await server.listen();
    server.printUrls();
  } else {
    await build(staged);
  }
  return { pages: pageNames().length + api.length };
}

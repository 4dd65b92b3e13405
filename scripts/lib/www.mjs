// The playground: its packages, the built package among them as an installed user would have it,
// and its static files.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { fingerprint } from "./built.mjs";
import { locked } from "./lock.mjs";
import { html } from "./markdown.mjs";
import { at, cache } from "./paths.mjs";

/** Puts what would be published into `www/node_modules/kitbag`: files, not a link to the sources. */
export function installPackage(folder = at("www")) {
  const target = `${folder}/node_modules/kitbag`;
  rmSync(target, { recursive: true, force: true });
  for (const name of ["dist", "types", "package.json", "LICENSE"]) {
    cpSync(at("pkg", name), `${target}/${name}`, { recursive: true });
  }
}

/** Vite's options, with changes. */
export async function viteOptions(extra = {}) {
  const { default: options } = await import("../../www/vite.config.mjs");
  return { ...options, ...extra, build: { ...options.build, ...extra.build } };
}

/** Pages that were made here, and not by `npm run docs`. */
const MADE = '<meta name="generator" content="npm start">';

/** The look of the playground: its colours and fonts, and its header. */
const STYLE = `html{font:1rem/1.55 var(--sans);color:var(--text);background:var(--bg)}
body{margin:0}
header{display:flex;align-items:center;gap:1.25rem;height:52px;padding:0 1rem;background:var(--surface);border-bottom:1px solid var(--line)}
header a{color:var(--muted);text-decoration:none}
header a:hover{color:var(--text)}
header .brand{display:flex;align-items:center;gap:.5rem;color:var(--accent)}
header strong{color:var(--text);font-weight:640;letter-spacing:-.02em}
main{max-width:76ch;margin:2rem auto;padding:0 1rem}
h1,h2,h3{letter-spacing:-.015em;line-height:1.25}
a{color:var(--accent);text-underline-offset:2px}
code,pre{font-family:var(--mono);font-size:.875em}
pre{overflow-x:auto;padding:.75rem 1rem;border-radius:.5rem;background:var(--sunken);border:1px solid var(--line)}
pre code{font-size:1em}
table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{padding:.3rem .6rem;border:1px solid var(--line-strong);text-align:left;vertical-align:top}
img{max-width:100%}
`;

/** The theme that was chosen in the playground. */
const THEME =
  "try{const t=localStorage.getItem('theme');if(t)document.documentElement.dataset.theme=t}catch{}";

function header() {
  const [, bag] = /"(M[^"]+)"/.exec(readFileSync(at("www/src/ui/bag.ts"), "utf8"));
  const svg = `<svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true"><path d="${bag}" fill="currentColor" fill-rule="evenodd"/></svg>`;
  return `<header><a class="brand" href="start.html">${svg}<strong>kitbag</strong></a><a href="../index.html">Playground</a></header>`;
}

/** The address of a link in a page. Other pages are beside it; nothing else of the repository is. */
function linkOf(url, pages) {
  const [, path, rest = ""] = /^([^#?]*)(.*)$/.exec(url);
  const page = /^(?:\.\/)?([\w-]+)\.md$/.exec(path)?.[1];
  if (page !== undefined && pages.includes(page)) return `${page}.html${rest}`;
  return /^[a-z]+:|^#/i.test(url) || path.startsWith("images/") ? url : undefined;
}

/** Where the documentation was not built, its pages without the site around them. */
export function barePages(outDir) {
  const pages = readdirSync(at("docs"))
    .filter((name) => name.endsWith(".md") && name !== "index.md")
    .map((name) => name.slice(0, -3));
  mkdirSync(`${outDir}/docs`, { recursive: true });
  const tokens = readFileSync(at("www/src/style/tokens.css"), "utf8");
  writeFileSync(`${outDir}/docs/plain.css`, `${tokens}\n${STYLE}`);
  const top = header();
  for (const page of pages) {
    const file = `${outDir}/docs/${page}.html`;
    if (existsSync(file) && !readFileSync(file, "utf8").includes(MADE)) continue;
    const body = html(readFileSync(at(`docs/${page}.md`), "utf8"), (url) => linkOf(url, pages));
    const title = /<h1[^>]*>(.*?)<\/h1>/.exec(body)?.[1].replace(/<[^>]*>/g, "") ?? page;
    const head = `<meta charset="utf-8">${MADE}<meta name="viewport" content="width=device-width">`;
    writeFileSync(
      file,
      `<!doctype html><html lang="en"><head>${head}<title>${title}</title><link rel="stylesheet" href="plain.css"><script>${THEME}</script></head><body>${top}<main>\n${body}\n</main></body></html>\n`,
    );
  }
  cpSync(at("docs/images"), `${outDir}/docs/images`, { recursive: true });
}

/** Builds the static files into a folder. */
export async function buildWww(outDir, base = "./") {
  installPackage();
  // Names carry hashes, so files of earlier builds would stay.
  rmSync(`${outDir}/assets`, { recursive: true, force: true });
  // It is built apart (`addSimulator`).
  rmSync(`${outDir}/simulator`, { recursive: true, force: true });
  mkdirSync(`${outDir}/simulator`, { recursive: true });
  writeFileSync(`${outDir}/simulator/state.json`, JSON.stringify({ state: "absent" }));
  const { build } = await import("vite");
  await build(await viteOptions({ base, build: { outDir } }));
  barePages(outDir);
}

/** What the static files are made of. */
const INPUTS = ["www", "pkg", "docs", "scripts/lib/www.mjs", "scripts/lib/markdown.mjs"];

/** The folder of the static files that suites share, built if a source has changed since. */
export function builtWww() {
  const folder = cache("www-test");
  const stamp = cache("www-test.json");
  return locked("www-test", async () => {
    const print = fingerprint(INPUTS);
    const last = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
    if (last === print && existsSync(`${folder}/index.html`)) {
      // The sources are also compiled against it, and an installation of packages removes it. Where it is, it
      // stays: another suite may be reading it.
      if (!existsSync(at("www/node_modules/kitbag/package.json"))) installPackage();
      return folder;
    }
    rmSync(stamp, { force: true });
    await buildWww(folder);
    writeFileSync(stamp, print);
    return folder;
  });
}

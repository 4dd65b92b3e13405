// The playground: its packages, the built package among them as an installed user would have it,
// and its static files.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fingerprint } from "./built.mjs";
import { locked } from "./lock.mjs";
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

const escaped = (text) => text.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Where the documentation was not built, its pages that the views name, as plain text. */
function plainPages(outDir) {
  const samples = readFileSync(at("www/src/code/samples.ts"), "utf8");
  for (const [, page] of samples.matchAll(/docs: "([\w-]+)\.html"/g)) {
    const file = `${outDir}/docs/${page}.html`;
    if (existsSync(file)) continue;
    mkdirSync(`${outDir}/docs`, { recursive: true });
    const text = escaped(readFileSync(at(`docs/${page}.md`), "utf8"));
    const style = "max-width:100ch;margin:2rem auto;padding:0 1rem;white-space:pre-wrap";
    writeFileSync(
      file,
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>${page}</title><style>:root{color-scheme:light dark}</style><pre style="${style}">${text}</pre></html>\n`,
    );
  }
}

/** Builds the static files into a folder. */
export async function buildWww(outDir, base = "./") {
  installPackage();
  // Names carry hashes, so files of earlier builds would stay.
  rmSync(`${outDir}/assets`, { recursive: true, force: true });
  const { build } = await import("vite");
  await build(await viteOptions({ base, build: { outDir } }));
  plainPages(outDir);
}

/** What the static files are made of. */
const INPUTS = ["www", "pkg", "docs", "scripts/lib/www.mjs"];

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

// The playground: its packages, the built package among them as an installed user would have it,
// and its static files.

import { cpSync, rmSync } from "node:fs";
import { at } from "./paths.mjs";

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

/** Builds the static files into a folder. */
export async function buildWww(outDir, base = "./") {
  installPackage();
  const { build } = await import("vite");
  await build(await viteOptions({ base, build: { outDir } }));
}

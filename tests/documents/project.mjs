// A project beside the packed package: kitbag from its tarball, deepagents and LangChain as they are
// installed for the tests.

import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../scripts/lib/exec.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";
import { unpack } from "../lib/pack.mjs";
import { TSC } from "../lib/tsc.mjs";

/** Makes a project with a version of deepagents ("latest" or "older"), and returns its folder. */
export async function makeProject(version, name = version) {
  const project = cache(`documents/${name}`);
  rmSync(project, { recursive: true, force: true });
  const modules = join(project, "node_modules");
  mkdirSync(modules, { recursive: true });
  await unpack(join(project, "package"));
  symlinkSync(join(project, "package"), join(modules, "kitbag"), "junction");
  const installed = at(`tests/deps/${version}/node_modules`);
  for (const name of readdirSync(installed)) {
    if (!name.startsWith(".")) symlinkSync(join(installed, name), join(modules, name), "junction");
  }
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  return project;
}

/** Compiles files into a project, under `strict`; returns what the compiler said. */
export async function compiled(project, changes, ...files) {
  const options = {
    strict: true,
    noImplicitOverride: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    preserveSymlinks: true,
    lib: ["es2023", "dom", "dom.iterable"],
    types: ["node"],
    typeRoots: [at("node_modules/@types")],
    rootDir: at("tests/documents"),
    outDir: project,
    paths: {
      "*": ["./node_modules/*"],
      kitbag: ["./package"],
      "kitbag/*": ["./package/types/adapter/*"],
    },
    ...changes,
  };
  const config = join(project, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ compilerOptions: options, files }));
  return run(process.execPath, [TSC, "-p", config]);
}

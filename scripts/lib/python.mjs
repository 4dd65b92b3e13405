// Builds the Python package: `python/` with the WebAssembly component, as an sdist and a wheel. Only if its
// sources have changed since the last time.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fingerprint } from "./built.mjs";
import { COMPONENT } from "./component.mjs";
import { must } from "./exec.mjs";
import { at, cache } from "./paths.mjs";

const INPUTS = ["python", "LICENSE", "Cargo.toml", "scripts/lib/python.mjs"];

/** Where the sdist and the wheel are. */
export const DIST = cache("python/dist");

/** The wheel. */
export function wheel() {
  const name = existsSync(DIST) && readdirSync(DIST).find((file) => file.endsWith(".whl"));
  return name ? join(DIST, name) : undefined;
}

/** Builds with this interpreter, which has the package `build`, and returns the path of the wheel. */
export async function buildPython(python) {
  mkdirSync(cache("python"), { recursive: true });
  const stamp = cache("python/stamp");
  const print = fingerprint(INPUTS) + readFileSync(cache("component/stamp"), "utf8");
  const built = wheel();
  if (built && existsSync(stamp) && readFileSync(stamp, "utf8") === print) return built;
  const source = cache("python/source");
  for (const folder of [source, DIST]) rmSync(folder, { recursive: true, force: true });
  cpSync(at("python"), source, {
    recursive: true,
    filter: (path) => !/__pycache__|\.egg-info|\.wasm$/.test(path),
  });
  cpSync(COMPONENT, join(source, "src/kitbag/kitbag.component.wasm"));
  cpSync(at("LICENSE"), join(source, "LICENSE"));
  const version = /^version = "(.+)"/m.exec(readFileSync(at("Cargo.toml"), "utf8"))?.[1];
  if (!version) throw new Error("Cargo.toml names no version");
  writeFileSync(join(source, "VERSION"), `${version}\n`);
  // Without a new environment: the one of the tests has the build backend in the version that is pinned.
  await must(python, ["-m", "build", "--no-isolation", "--outdir", DIST, source]);
  writeFileSync(stamp, print);
  return wheel();
}

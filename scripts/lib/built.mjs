// Builds the package only if its sources have changed since the last build, so that running a suite
// again needs no build. The stamp file is beside the output directory, not in it.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must } from "./exec.mjs";
import { at, cache } from "./paths.mjs";

const INPUTS = [
  "Cargo.toml",
  "Cargo.lock",
  ".cargo/config.toml",
  "package-lock.json",
  "LICENSE",
  "scripts/build.mjs",
  "scripts/lib/declarations.mjs",
  "scripts/lib/exports.mjs",
  "scripts/lib/node-files.mjs",
  "scripts/lib/optimise.mjs",
  "scripts/lib/order.mjs",
  "scripts/lib/remap.mjs",
  "scripts/lib/reached.mjs",
  "scripts/lib/room.mjs",
  "scripts/lib/sections.mjs",
  "scripts/lib/splitter.mjs",
  "scripts/lib/wasm.mjs",
  "tools",
  "src",
  "pkg-template",
  "ts",
];

function* files(path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  for (const name of readdirSync(path).sort()) {
    // Created by the build itself, or by Python.
    if (name !== "node_modules" && name !== "__pycache__") yield* files(join(path, name));
  }
}

/** A hash of files and folders. */
export function fingerprint(inputs) {
  const hash = createHash("sha256");
  for (const input of inputs) {
    for (const file of files(at(input))) {
      hash.update(file).update("\0").update(readFileSync(file)).update("\0");
    }
  }
  return hash.digest("hex");
}

function stampOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

/** Whether quick builds are allowed: `npm test -- --dev`. */
const quick = () => process.env.KITBAG_DEV_BUILD === "1";

/** The forms of the package: where each is built. */
const OUTPUTS = {
  "": at("pkg"),
  testing: cache("pkg-testing"),
  named: cache("pkg-named"),
};

/** Builds a form of the package, unless its last build is up to date: published, `testing` or `named`. */
export async function buildPackage(form = "") {
  const out = OUTPUTS[form];
  const stamp = cache(`built${form && `-${form}`}.json`);
  const dev = quick();
  const print = fingerprint(INPUTS);
  const last = stampOf(stamp);
  const fits = last.print === print && (dev || !last.dev);
  if (fits && existsSync(join(out, "package.json"))) return;
  process.stderr.write(`setup: building the package${form && `, variant ${form}`}\n`);
  const options = [
    "--quiet",
    "--out",
    out,
    ...(form ? [`--${form}`] : []),
    ...(dev ? ["--dev"] : []),
  ];
  await must(process.execPath, [at("scripts/build.mjs"), ...options]);

  mkdirSync(cache(), { recursive: true });
  writeFileSync(stamp, JSON.stringify({ print, dev }));
}

// The packed package in a project of its own, as `npm install` leaves it, and its command.

import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { pack } from "../lib/pack.mjs";

/** Installs the package; `links` are packages of `tests/deps` beside it: `{ pg: "durable" }`. */
export async function installed() {
  const root = mkdtempSync(join(tmpdir(), "kitbag-command-"));
  const { filename } = await pack(root);
  writeFileSync(join(root, "package.json"), '{ "private": true }');
  const quiet = ["--no-audit", "--no-fund", "--offline", "--legacy-peer-deps"];
  await must("npm", ["install", ...quiet, join(root, filename)], { cwd: root });
  const bin = join(root, "node_modules/.bin/kitbag");
  /** Lets the project import a package of a set of `tests/deps`; returns what undoes it. */
  const link = (name, set, from = name) => {
    const place = join(root, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(at("tests/deps", set, "node_modules", from), place, "junction");
    return () => rmSync(place);
  };
  /** Runs the command to its end: `{ code, out, err }`. */
  const run = (args, { env = {}, cwd = root } = {}) =>
    new Promise((resolve) => {
      const options = {
        cwd,
        env: { PATH: process.env.PATH, HOME: root, ...env },
        encoding: "utf8",
        maxBuffer: 1 << 26,
      };
      execFile(bin, args, options, (error, out, err) =>
        resolve({ code: error ? error.code : 0, out, err }),
      );
    });
  /** Starts the command. */
  const begin = (args, { env = {}, stdio = ["ignore", "pipe", "pipe"] } = {}) =>
    spawn(bin, args, { cwd: root, env: { PATH: process.env.PATH, HOME: root, ...env }, stdio });
  const remove = () => rmSync(root, { recursive: true, force: true });
  return { root, bin, run, begin, link, remove };
}

/** Writes files into a folder. */
export function plant(root, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

// The example `edge` as it is built and joined with kitbag, and servers of it. The application is built anew only if what it
// consists of has changed: that takes half a minute of processors.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fingerprint } from "../../scripts/lib/built.mjs";
import { COMPONENT, PACKAGE, WASI } from "../../scripts/lib/component.mjs";
import { composed } from "../../scripts/lib/compose.mjs";
import { must } from "../../scripts/lib/exec.mjs";
import { locked } from "../../scripts/lib/lock.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";
import { transpiled } from "./glue.mjs";

const OUT = cache("component/edge");
const PROJECT = join(OUT, "project");
/** The application alone, and joined with kitbag. */
const APP = join(PROJECT, "app.wasm");
export const EDGE = join(OUT, "edge.wasm");

/** Calls `make` unless it did with the same print. */
async function once(file, print, make) {
  const stamp = `${file}.stamp`;
  if (existsSync(file) && existsSync(stamp) && readFileSync(stamp, "utf8") === print) return;
  await make();
  writeFileSync(stamp, print);
}

/** The example in a folder with the packages that it names. */
async function app() {
  rmSync(PROJECT, { recursive: true, force: true });
  cpSync(at("examples/edge"), PROJECT, { recursive: true });
  const packages = {
    "kitbag-component": PACKAGE,
    "@bytecodealliance": at("tests/deps/component/node_modules/@bytecodealliance"),
  };
  mkdirSync(join(PROJECT, "node_modules"));
  for (const [name, path] of Object.entries(packages)) {
    symlinkSync(path, join(PROJECT, "node_modules", name), "junction");
  }
  await must("npm", ["run", "build"], { cwd: PROJECT });
}

async function built() {
  mkdirSync(OUT, { recursive: true });
  const sources = ["examples/edge", "wit", "component/wasi/wit"];
  const print = fingerprint([...sources, "tests/deps/component/package-lock.json"]);
  await once(APP, print, app);
  const parts = [WASI, COMPONENT, APP].map((file) => readFileSync(file));
  const hash = createHash("sha256").update(fingerprint(["scripts/lib/compose.mjs"]));
  for (const part of parts) hash.update(part);
  await once(EDGE, hash.digest("hex"), async () => writeFileSync(EDGE, await composed(parts)));
}

/** Makes instances of the joined component, after `built`. */
export async function edge() {
  await locked("component-edge", built);
  return transpiled(EDGE, "edge", "jco-edge");
}

/** A server of the component in a process of its own, with a directory as `/data`: its address, and how to end it. */
export async function served(directory) {
  const script = new URL("edge-server.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, directory], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    // It ends when its input does, also if this process is killed.
    const stop = () => {
      child.stdin.end();
      return ended;
    };
    return { url: line, stop };
  }
  throw new Error(`the server ended with ${await ended}`);
}

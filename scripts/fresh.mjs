// `npm run fresh`: whether `npm start` and `npm test` work on a new machine. Clones the commit into an
// empty folder, starts the playground until it answers, and runs the tests, with an empty home, cargo
// home, npm cache and `.cache`. Rust's toolchain and the programs of the system stay.
// `-- --quick` uses quick builds and runs two suites; names of suites run those; `-- --keep` keeps the folder;
// `-- --short` builds nothing: it runs what must work before anything is installed, and after the crates are.

import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { state } from "./lib/checked.mjs";
import { end, must, run, start } from "./lib/exec.mjs";
import { cargoBin, freshEnvironment, TOOLCHAIN } from "./lib/fresh.mjs";
import { root } from "./lib/paths.mjs";

/** Suites that need most of what is installed: crates, packages, runtimes, a browser, both builds. */
const QUICK = ["package", "state"];

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
});

const folder = mkdtempSync(join(tmpdir(), "kitbag-fresh-"));
const cwd = join(folder, "kitbag");
const env = freshEnvironment(process.env, { folder, repository: root });
mkdirSync(env.HOME);
mkdirSync(join(folder, "rust"));
for (const name of TOOLCHAIN) {
  const program = join(cargoBin(process.env), name);
  if (existsSync(program)) symlinkSync(program, join(folder, "rust", name));
}

const began = performance.now();
const say = (text) => {
  console.log(`fresh: ${text} (${((performance.now() - began) / 1000).toFixed(0)} s)`);
};

/** A command that has only what a new machine has: `start` and `run` would add our own variables. */
const bare = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
const there = { cwd, env: { ...bare, ...env } };

/** A port that nobody uses now. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Runs `npm start` until it serves the playground, and asks for the page and its scripts. */
async function starts() {
  const dev = flags.quick ? ["--dev"] : [];
  const args = ["start", "--", "--port", String(await freePort()), ...dev];
  const child = start("npm", args, there);
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    const address = await new Promise((resolve, reject) => {
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text) => {
          process.stdout.write(text);
          output += text;
          const found = /The playground is at (http\S+)/.exec(output);
          if (found) resolve(found[1]);
        });
      }
      child.once("error", reject);
      child.once("close", (code) => reject(new Error(`npm start ended with code ${code}`)));
    });
    const page = await (await asked(address)).text();
    const scripts = [...page.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, src]) => src);
    if (scripts.length === 0) throw new Error(`the page at ${address} has no script:\n${page}`);
    for (const src of scripts) await asked(new URL(src, address));
    say(`npm start serves the playground: its page and ${scripts.length} of its scripts answer`);
  } finally {
    end(child);
    await ended;
  }
}

async function asked(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  return answer;
}

/** What needs no build and no npm package: less than a minute. */
async function short() {
  const steps = [
    ["every suite can be listed", "npm", ["test", "--", "--list"]],
    ["a suite that needs nothing passes", "npm", ["test", "--", "scripts"]],
    ["the crates are installed", "node", ["scripts/setup.mjs", "crates"]],
    [
      "the crates of all systems are there",
      "node",
      ["--test", "--test-name-pattern=^every crate", "tests/package/supply.test.mjs"],
    ],
  ];
  for (const [what, command, args] of steps) {
    const { code, output } = await run(command, args, there);
    if (code !== 0) throw new Error(`this failed: ${what}\n${output}`);
    say(what);
  }
}

try {
  const changed = state()?.changed ?? [];
  if (changed.length > 0) say(`${changed.length} changes are not committed, and not in the copy`);
  await must("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, cwd]);
  say(`cloned into ${cwd}`);
  if (flags.short) await short();
  else await whole();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
} finally {
  if (flags.keep) say(`kept ${folder}`);
  else rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** `npm start` and `npm test`. */
async function whole() {
  await starts();
  const suites = positionals.length > 0 ? positionals : flags.quick ? QUICK : [];
  const options = [...(flags.quick ? ["--dev"] : []), ...suites];
  const { code } = await run("npm", ["test", ...(options.length > 0 ? ["--", ...options] : [])], {
    ...there,
    show: true,
  });
  say(code === 0 ? "npm start and npm test work" : `npm test ended with code ${code}`);
  process.exitCode = code;
}

// FilesystemBackend on 20,000 files against ripgrep on the same tree. For ripgrep the whole process
// is timed. For kitbag both are: the first search in a new process, from creating the backend to
// the result, and the whole process, including the start of the runtime and loading kitbag. The
// goal is at most three times ripgrep's time. The runtime is Node unless another is named. Deno
// has no goal: there, a loop that only opens, reads and closes the files takes as long.
//
// Then single calls on small files against deepagents' FilesystemBackend.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { at } from "../scripts/lib/paths.mjs";
import { compare } from "./lib/compare.mjs";

const ROUNDS = 15;
/** Calls in a round; an even number, so that an edited file is again what it was. */
const CALLS = 50;
const require = createRequire(at("tests/deps/latest/package.json"));

// This variable, set on some machines, makes every Node process read a list of certificates when
// it starts. That takes longer than a search and is not part of one.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

function plant(dir) {
  const words = "alpha beta gamma delta import export const function return value".split(" ");
  let seed = 1;
  const next = (n) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed % n;
  };
  for (let n = 0; n < 20_000; n++) {
    const folder = join(dir, `d${n % 20}`, `e${Math.floor(n / 20) % 20}`);
    if (n < 400) mkdirSync(folder, { recursive: true });
    let text = n % 1000 === 0 ? "raretoken here\n" : "";
    for (let line = next(100) + 20; line > 0; line--) {
      for (let word = 0; word < 6; word++) text += `${words[next(words.length)]} `;
      text += "\n";
    }
    writeFileSync(join(folder, `f${n}.${n % 3 === 0 ? "md" : "ts"}`), text);
  }
}

/** Times a process, and reads the time that it prints itself. */
function timed(command, args, said) {
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, {
    stdio: ["ignore", said ? "pipe" : "ignore", "pipe"],
    env,
  });
  const whole = performance.now() - began;
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`);
  return { whole, work: Number(stdout) };
}

function median(times) {
  return times.toSorted((a, b) => a - b)[times.length >> 1];
}

/** One read and one edit of a small file, in turn with deepagents in one process. */
async function calls(place, print) {
  const { FilesystemBackend: Peer } = await import(
    pathToFileURL(require.resolve("deepagents")).href
  );
  const { FilesystemBackend } = await import(pathToFileURL(at("pkg/dist/node.js")).href);
  const rootDir = join(place, "calls");
  mkdirSync(join(rootDir, "src/lib"), { recursive: true });
  const text = "a line of a small file\n".repeat(60);
  for (const name of ["read", "theirs", "ours"]) {
    writeFileSync(join(rootDir, `src/lib/${name}.ts`), `${text}the end 0\n`);
  }
  const [peer, ours] = [
    new Peer({ rootDir, virtualMode: true }),
    new FilesystemBackend({ rootDir }),
  ];
  const times = async (call) => {
    for (let n = 0; n < CALLS; n++) {
      const { error } = await call(n);
      if (error) throw new Error(error);
    }
  };
  const read = (backend) => () => times(() => backend.read("/src/lib/read.ts"));
  const edit = (backend, name) => () =>
    times((n) => backend.edit(`/src/lib/${name}.ts`, `the end ${n % 2}`, `the end ${(n + 1) % 2}`));
  print("\n| one call | deepagents µs | kitbag µs | times | goal |\n|---|---:|---:|---:|---:|");
  for (const [name, theirs, own, goal] of [
    ["read", read(peer), read(ours), 1.1],
    ["edit", edit(peer, "theirs"), edit(ours, "ours"), 1.5],
  ]) {
    const { peer: a, ours: b } = await compare(theirs, own, ROUNDS);
    const [left, right] = [a, b].map((ms) => ((ms * 1000) / CALLS).toFixed(0));
    const mark = b / a <= goal ? `≤ ${goal}` : `≤ ${goal} (over)`;
    print(`| ${name} | ${left} | ${right} | ${(b / a).toFixed(2)} | ${mark} |`);
  }
}

async function run({ print }) {
  const place = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
  const dir = join(place, "tree");
  try {
    plant(dir);
    const module = JSON.stringify(pathToFileURL(at("pkg/dist/node.js")).href);
    const program = (call, options = {}) => `import { writeSync } from "node:fs";
      import { FilesystemBackend } from ${module};
      const began = performance.now();
      const files = new FilesystemBackend(${JSON.stringify({ rootDir: dir, ...options })});
      const answer = await files.${call};
      const took = performance.now() - began;
      if (answer.error) throw new Error(answer.error);
      writeSync(1, String(took));`;
    const kitbag = (...asked) => [
      process.execPath,
      ["--input-type=module", "-e", program(...asked)],
    ];
    const script = join(place, "grep.mjs");
    writeFileSync(script, program('grep("raretoken")'));
    const runtime = (name) => at("tests/deps/runtimes/node_modules/.bin", name);
    const rg = (...args) => ["rg", ["--no-config", "-uuu", ...args, dir]];
    const rows = [
      ["grep, 20 matches", rg("raretoken"), kitbag('grep("raretoken")')],
      ["grep, 20 matches, Bun", rg("raretoken"), [runtime("bun"), [script]]],
      ["grep, 20 matches, Deno", rg("raretoken"), [runtime("deno"), ["run", "-A", script]], "–"],
      ["grep, with ripgrep", rg("raretoken"), kitbag('grep("raretoken")', { ripgrep: true })],
      [
        "glob, newest first",
        rg("--files", "--sortr=modified", "-g", "*.ts"),
        kitbag('glob("**/*.ts")'),
      ],
      [
        "glob, 7 files",
        rg("--files", "--sortr=modified", "-g", "f1?99.ts"),
        kitbag('glob("**/f1?99.ts")'),
      ],
    ];
    const again = `import { FilesystemBackend } from ${module};
      const disk = new FilesystemBackend({ rootDir: ${JSON.stringify(dir)} });
      await disk.grep("raretoken");
      const began = performance.now();
      await disk.grep("raretoken");
      console.log(performance.now() - began);`;
    execFileSync("rg", ["--version"]);
    print("| 20,000 files | rg ms | kitbag ms | times | its whole process ms | times | goal |");
    print("|---|---|---|---|---|---|---|");
    for (const [name, theirs, ours, goal = "≤ 3"] of rows) {
      const times = { rg: [], work: [], whole: [] };
      for (let round = 0; round < ROUNDS; round++) {
        times.rg.push(timed(...theirs, false).whole);
        const { work, whole } = timed(...ours, true);
        times.work.push(work);
        times.whole.push(whole);
      }
      const rg = median(times.rg);
      const against = (ms) => `${ms.toFixed(0)} | ${(ms / rg).toFixed(1)}`;
      const [work, whole] = [median(times.work), median(times.whole)].map(against);
      print(`| ${name} | ${rg.toFixed(0)} | ${work} | ${whole} | ${goal} |`);
    }
    const later = Array.from({ length: ROUNDS }, () =>
      Number(execFileSync(process.execPath, ["--input-type=module", "-e", again], { env })),
    );
    print(`\nThe same grep again in one process: ${median(later).toFixed(0)} ms.`);
    await calls(place, print);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

export default {
  title: "FilesystemBackend against ripgrep and deepagents",
  needs: ["build", "ripgrep", "npm:runtimes", "npm:latest"],
  run,
};

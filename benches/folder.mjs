// Searches of a large folder again and again in one process, as an agent does, beside ripgrep, which is a
// whole process each time. The table's searches come after the sets are made.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { at } from "../scripts/lib/paths.mjs";

const ROUNDS = 5;
/** Files that are older are kept track of. */
const OLD_MS = 2_500;
const RARE = "withinTheRoundTripper";
const TEXTS = [
  ["no match", RARE],
  ["rare", "pnpm-workspace.yaml"],
  ["some", "createHash("],
  ["many", "function"],
];

/** The first search of a new process. */
const first = (rootDir, searchCache) => `
import { FilesystemBackend } from ${JSON.stringify(pathToFileURL(at("pkg/dist/node.js")).href)};
const files = new FilesystemBackend(${JSON.stringify({ rootDir, searchCache })});
const began = performance.now();
const { error } = await files.grep(${JSON.stringify(RARE)});
if (error) throw new Error(error);
console.log(performance.now() - began);
process.exit();`;

const program = (rootDir) => `
import fs from "node:fs";
const { closeSync, constants, openSync, readlinkSync, readSync } = fs;
// The files that a search reads. They are opened within an open directory.
let opened;
fs.openSync = (path, flags, ...more) => {
  if (opened && !(flags & constants.O_DIRECTORY)) {
    const [dir] = /^\\/proc\\/\\d+\\/fd\\/\\d+/.exec(path) ?? [""];
    opened.push(dir === "" ? path : readlinkSync(dir) + path.slice(dir.length));
  }
  return openSync(path, flags, ...more);
};
const { FilesystemBackend } = await import(${JSON.stringify(pathToFileURL(at("pkg/dist/node.js")).href)});
const rootDir = ${JSON.stringify(rootDir)};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const used = () => { gc(); gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
const timed = async (backend, text) => {
  const began = performance.now();
  const { error, matches } = await backend.grep(text);
  if (error) throw new Error(error);
  return [performance.now() - began, matches];
};
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const space = Buffer.alloc(10 << 20);
// What no search by these sets is faster than: the files that it reads, opened, read and closed.
const read = (paths) => {
  const began = performance.now();
  for (const path of paths) {
    const file = openSync(path);
    while (readSync(file, space) === space.length);
    closeSync(file);
  }
  return performance.now() - began;
};
const out = { texts: {} };
const kept = new FilesystemBackend({ rootDir });
await timed(kept, ${JSON.stringify(RARE)});
const began = performance.now();
const before = used();
for (let still = 0, last; still < 20; ) {
  await sleep(50);
  out.note = kept.capability.notes.at(-1);
  still = out.note === last ? still + 1 : 0;
  last = out.note;
}
out.ready = performance.now() - began - 1000;
out.memory = used() - before;
const cold = new FilesystemBackend({ rootDir, searchCache: false });
for (const text of ${JSON.stringify(TEXTS.map(([, text]) => text))}) {
  const times = { kept: [], cold: [], read: [] };
  let [matches, files] = [];
  for (let round = 0; round < ${ROUNDS}; round++) {
    for (const [name, backend] of [["kept", kept], ["cold", cold]]) {
      const [ms, found] = await timed(backend, text);
      times[name].push(ms);
      matches = found;
    }
    if (!files) {
      opened = [];
      await kept.grep(text);
      [files, opened] = [opened, undefined];
    }
    times.read.push(read(files));
  }
  const lines = matches.reduce((sum, { text }) => sum + text.length, 0);
  out.texts[text] = { matches: matches.length, lines, files: files.length };
  for (const name of ["kept", "cold", "read"]) out.texts[text][name] = median(times[name]);
}
console.log(JSON.stringify(out));
process.exit();`;

function median(list) {
  return list.toSorted((a, b) => a - b)[list.length >> 1];
}

async function run({ print }) {
  mkdirSync(at(".cache"), { recursive: true });
  const place = mkdtempSync(join(at(".cache"), "bench-folder-"));
  try {
    for (const from of ["node_modules", "tests/deps/agents/node_modules"]) {
      cpSync(at(from), join(place, from), { recursive: true, verbatimSymlinks: true });
    }
    const sum =
      "find . -type f -size -10M -printf \"%s\\n\" | awk '{ n++; s += $1 } END { print n, s }'";
    const counted = execFileSync("sh", ["-c", sum], { cwd: place, encoding: "utf8" });
    const [files, bytes] = counted.split(" ").map(Number);
    await new Promise((resolve) => setTimeout(resolve, OLD_MS));
    const rg = (text) =>
      median(
        Array.from({ length: ROUNDS }, () => {
          const began = performance.now();
          const given = ["--no-config", "-uu", "-F", "-e", text, place];
          const { status, error } = spawnSync("rg", given, { maxBuffer: Number.POSITIVE_INFINITY });
          if (error || status > 1) throw error ?? new Error(`ripgrep ended with ${status}`);
          return performance.now() - began;
        }),
      );
    const run = (script) => {
      const given = ["--expose-gc", "--input-type=module", "-e", script];
      return JSON.parse(execFileSync(process.execPath, given, { encoding: "utf8" }));
    };
    const firsts = { kept: [], cold: [] };
    for (let round = 0; round < ROUNDS; round++) {
      firsts.kept.push(run(first(place, true)));
      firsts.cold.push(run(first(place, false)));
    }
    const said = run(program(place));
    print(`${files} files, ${(bytes / 1e6).toFixed(0)} MB. ${said.note}`);
    print(
      `First search of a process ${median(firsts.kept).toFixed(0)} ms, without the cache ${median(firsts.cold).toFixed(0)}; sets made ${(said.ready / 1000).toFixed(1)} s after it; ${(said.memory / 1e6).toFixed(1)} MB more memory, ${((said.memory / bytes) * 100).toFixed(1)} % of the text.\n`,
    );
    print(
      "| text | matches | MB of lines | files read | kitbag ms | reading alone ms | without the cache ms | rg ms | times faster than rg |",
    );
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (const [name, text] of TEXTS) {
      const { matches, lines, files, kept, cold, read } = said.texts[text];
      const theirs = rg(text);
      print(
        `| ${name} | ${matches} | ${(lines / 1e6).toFixed(1)} | ${files} | ${kept.toFixed(1)} | ${read.toFixed(1)} | ${cold.toFixed(0)} | ${theirs.toFixed(0)} | ${(theirs / kept).toFixed(1)} |`,
      );
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

export default {
  title: "A folder, searched again",
  needs: ["build", "ripgrep", "npm:agents"],
  run,
};

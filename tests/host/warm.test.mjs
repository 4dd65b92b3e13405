// What FilesystemBackend keeps of a folder between searches: every answer is ripgrep's, whatever other
// programs do, on each runtime; and nothing of it stays behind.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { FRAME, stretches } from "../lib/stretches.mjs";
import { measured } from "../lib/work.mjs";
import { kitbag, packageDir, root } from "./lib.mjs";

const HISTORIES = Number(process.env.KITBAG_HISTORIES ?? 100);
/** Histories of one process. */
const AT_ONCE = 100;
/** Files changed in the last two seconds are always read, so sets are made of older ones. */
const OLD_MS = 2_200;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A folder on the disk of this checkout: the one for temporary files may be in memory. */
async function withPlace(use) {
  const above = join(root, ".cache");
  fs.mkdirSync(above, { recursive: true });
  const place = fs.mkdtempSync(join(above, "warm-"));
  try {
    return await use(place);
  } finally {
    fs.rmSync(place, { recursive: true, force: true });
  }
}

/** A folder with a needle in one of many files, and a backend that has made its sets. */
const withWarm = (files, use) =>
  withPlace(async (place) => {
    const rootDir = join(place, "root");
    for (let n = 0; n < files; n++) {
      fs.mkdirSync(join(rootDir, `d${n % 7}`), { recursive: true });
      fs.writeFileSync(join(rootDir, `d${n % 7}/f${n}.txt`), `words of file ${n}\n`.repeat(40));
    }
    fs.appendFileSync(join(rootDir, "d0/f0.txt"), "a rare needle\n");
    await sleep(OLD_MS);
    const backend = new kitbag.FilesystemBackend({ rootDir });
    try {
      assert.equal((await backend.grep("rare needle")).matches.length, 1);
      await filled(backend);
      await use({ backend, rootDir, place });
    } finally {
      backend.dispose();
    }
  });

const says = (backend) => backend.capability.notes.find((note) => note.startsWith("Searches"));

async function filled(backend) {
  let before;
  for (let still = 0; still < 5; ) {
    await sleep(40);
    const now = says(backend);
    still = now === before && /[1-9]\d* bytes/.test(now) ? still + 1 : 0;
    before = now;
  }
}

/** How many files and directories a search opens. */
async function opens(backend, text, found) {
  const open = fs.openSync;
  let count = 0;
  fs.openSync = (...given) => {
    count += 1;
    return open(...given);
  };
  try {
    const { matches, error } = await backend.grep(text);
    assert.equal(error, undefined);
    assert.equal(matches.length, found, text);
  } finally {
    fs.openSync = open;
  }
  return count;
}

const runtime = (name) => join(root, "tests/deps/runtimes/node_modules/.bin", name);
const RUNTIMES = [
  ["Node, by watchers", process.execPath, [], {}, HISTORIES, /by watchers/],
  // Without a place for its fence it cannot use what it hears.
  ["Node, by metadata", process.execPath, [], { TMPDIR: "/nowhere" }, 40, /by metadata/],
  ["Deno", runtime("deno"), ["run", "-A"], {}, 40, /by metadata/],
];

for (const [name, program, args, more, histories, how] of RUNTIMES) {
  test(`histories in ${name}`, async () => {
    const script = join(root, "tests/host/histories.mjs");
    for (let from = 0; from < histories; from += AT_ONCE) {
      const seed = HISTORIES > AT_ONCE ? Math.floor(Math.random() * 1e9) : 7 + from;
      await withPlace(async (place) => {
        const count = Math.min(AT_ONCE, histories - from);
        const given = [script, packageDir, place, process.env.KITBAG_RG ?? "rg", count, seed];
        const env = { ...process.env, ...more };
        const done = await promisify(execFile)(program, [...args, ...given.map(String)], {
          env,
          maxBuffer: 64 << 20,
        });
        const said = JSON.parse(done.stdout.trim().split("\n").at(-1));
        assert.deepEqual(said.told, [], `seed ${seed}`);
        assert.equal(said.wrong, 0, `seed ${seed}`);
        assert.match(said.how, how);
        assert.equal(said.searches, count * 8);
        assert.ok(said.opens.kept < said.opens.cold, JSON.stringify(said.opens));
      });
    }
  });
}

test("what is kept is made when the first search has ended, also beside others without a pause", () =>
  withPlace(async (place) => {
    const rootDir = join(place, "root");
    for (let n = 0; n < 4_000; n++) {
      fs.mkdirSync(join(rootDir, `d${n % 40}`), { recursive: true });
      fs.writeFileSync(join(rootDir, `d${n % 40}/f${n}.txt`), `words of file ${n}\n`.repeat(20));
    }
    await sleep(OLD_MS);
    const backend = new kitbag.FilesystemBackend({ rootDir });
    const { watch } = fs;
    let watched = 0;
    fs.watch = (...given) => {
      watched += 1;
      return watch(...given);
    };
    try {
      assert.equal((await backend.grep("nowhere")).matches.length, 0);
      assert.equal(watched, 0);
      const until = performance.now() + 60_000;
      while (!/[1-9]\d* bytes/.test(says(backend)) && performance.now() < until) {
        assert.equal((await backend.grep("nowhere")).matches.length, 0);
      }
      assert.match(says(backend), /[1-9]\d* bytes/);
      assert.ok(watched > 40, `${watched}`);
    } finally {
      fs.watch = watch;
      backend.dispose();
    }
  }));

test("a search opens only what may match, also with an expression or a pattern of names", () =>
  withWarm(400, async ({ backend, rootDir }) => {
    const cold = new kitbag.FilesystemBackend({ rootDir, searchCache: false });
    assert.ok((await opens(cold, "a rare needle", 1)) > 400);
    assert.ok((await opens(backend, "a rare needle", 1)) < 60);
    // A set may admit a text by chance, and with it a block of files.
    const absent = ["not in there", "another thing", "something else here", "completely different"];
    let opened = 0;
    for (const text of absent) opened += await opens(backend, text, 0);
    assert.ok(opened < 60 * absent.length, `${opened}`);
    assert.equal(
      (await backend.grep("rare \\w+dle", "/", null, null, { regex: true })).matches.length,
      1,
    );
    assert.equal((await backend.grep("rare needle", "/", "**/f0.*")).matches.length, 1);
    assert.equal((await backend.grep("rare needle", "/d0")).matches.length, 1);
    assert.equal((await backend.grep("rare needle", "/d1")).matches.length, 0);
    assert.equal(
      (await backend.grep("RARE NEEDLE", "/", null, null, { ignoreCase: true })).matches.length,
      1,
    );
    cold.dispose();
  }));

test("small files have grams of four bytes, large ones of five, and the last bytes of a text count", () =>
  withPlace(async (rootDir) => {
    const sizes = { small: 2_000, limit: 65_536, large: 65_537, larger: 300_000 };
    for (const [name, size] of Object.entries(sizes)) {
      fs.mkdirSync(join(rootDir, name));
      const text = "some other words\n".repeat(size / 17 + 1);
      fs.writeFileSync(join(rootDir, name, "a.txt"), `${text.slice(0, size - 6)}Qzjxkw`);
    }
    await sleep(OLD_MS);
    const backend = new kitbag.FilesystemBackend({ rootDir });
    try {
      await opens(backend, "nowhere", 0);
      await filled(backend);
      const reads = async (text, found) => {
        const names = [];
        const open = fs.openSync;
        fs.openSync = (path, ...more) => {
          const fd = open(path, ...more);
          if (path.endsWith("/a.txt")) names.push(fs.readlinkSync(`/proc/self/fd/${fd}`));
          return fd;
        };
        try {
          assert.equal((await backend.grep(text)).matches.length, found, text);
        } finally {
          fs.openSync = open;
        }
        return names.map((path) => path.split("/").at(-2)).sort();
      };
      const all = Object.keys(sizes).sort();
      for (const text of ["Qzjxkw", "zjxkw", "jxkw", "xkw"]) {
        assert.deepEqual(await reads(text, all.length), all, text);
      }
      assert.deepEqual(await reads("jxkv", 0), ["large", "larger"]);
      assert.deepEqual(await reads("zjxkv", 0), []);
      assert.deepEqual(await reads("xkv", 0), all);
    } finally {
      backend.dispose();
    }
  }));

test("a file that is too short for a set is found", () =>
  withPlace(async (rootDir) => {
    const texts = ["q", "qz", "qzj", "qzjx", "qzjxk", "qzjxkw"];
    for (const text of texts) {
      fs.mkdirSync(join(rootDir, `of${text.length}`));
      for (const name of ["plain", "typed.txt"]) {
        fs.writeFileSync(join(rootDir, `of${text.length}`, name), text);
      }
    }
    fs.writeFileSync(join(rootDir, "long.txt"), "some other words\n".repeat(40));
    await sleep(OLD_MS);
    const backend = new kitbag.FilesystemBackend({ rootDir });
    try {
      for (const round of ["cold", "warm"]) {
        for (const [at, text] of texts.entries()) {
          const found = (await backend.grep(text)).matches.length;
          assert.equal(found, 2 * (texts.length - at), `${text}, ${round}`);
          const pattern = `[${text[0]}]${text.slice(1)}`;
          const { matches } = await backend.grep(pattern, "/", null, { regex: true });
          assert.equal(matches.length, 2 * (texts.length - at), `${text} as expression, ${round}`);
        }
        await filled(backend);
      }
    } finally {
      backend.dispose();
    }
  }));

test("a change that no watcher tells is seen after half a minute", () =>
  withWarm(40, async ({ backend, rootDir, place }) => {
    fs.linkSync(join(rootDir, "d1/f1.txt"), join(place, "elsewhere"));
    fs.appendFileSync(join(place, "elsewhere"), "the silent one\n");
    const now = performance.now.bind(performance);
    performance.now = () => now() + 31_000;
    try {
      assert.equal((await backend.grep("the silent one")).matches.length, 1);
    } finally {
      performance.now = now;
    }
  }));

test("more changes at once than the system's queue holds", () =>
  withWarm(40, async ({ backend, rootDir }) => {
    for (let n = 0; n < 10_000; n++) fs.writeFileSync(join(rootDir, "d2/busy.txt"), `${n}`);
    for (let n = 0; n < 10_000; n++) {
      fs.writeFileSync(join(rootDir, `d2/n${n % 50}`), "x");
      fs.unlinkSync(join(rootDir, `d2/n${n % 50}`));
    }
    fs.appendFileSync(join(rootDir, "d3/f3.txt"), "after the flood\n");
    assert.equal((await backend.grep("after the flood")).matches.length, 1);
  }));

test("nothing is written to the folder, and nothing stays behind", () =>
  withWarm(10, async ({ backend, rootDir, place }) => {
    const names = fs.readdirSync(rootDir, { recursive: true }).sort();
    await backend.grep("rare needle");
    assert.deepEqual(fs.readdirSync(rootDir, { recursive: true }).sort(), names);
    const tmp = join(place, "tmp");
    fs.mkdirSync(tmp);
    const program = (end) => `
      const { FilesystemBackend } = require(${JSON.stringify(join(packageDir, "dist/core.cjs"))});
      const fs = require("node:fs");
      (async () => {
        const backend = new FilesystemBackend({ rootDir: ${JSON.stringify(rootDir)} });
        await backend.grep("rare needle");
        await new Promise((resolve) => setTimeout(resolve, 500));
        const { matches } = await backend.grep("rare needle");
        const watched = () => fs.readdirSync("/proc/self/fdinfo").flatMap((fd) => {
          try {
            return fs.readFileSync("/proc/self/fdinfo/" + fd, "utf8").match(/^inotify wd/gm) ?? [];
          } catch {
            return [];
          }
        }).length;
        const used = watched();
        ${end}
        console.log(matches.length, fs.readdirSync(${JSON.stringify(tmp)}).length, used > 0, watched() > 0);
      })();`;
    // It ends by itself, with and without having been closed.
    for (const [end, said] of [
      ["backend.dispose();", "1 0 true false\n"],
      ["", "1 1 true true\n"],
    ]) {
      const { stdout } = await promisify(execFile)(process.execPath, ["-e", program(end)], {
        env: { ...process.env, TMPDIR: tmp },
        timeout: 20_000,
      });
      assert.equal(stdout, said);
      assert.deepEqual(fs.readdirSync(tmp), []);
    }
  }));

test("it is off where it is not wanted, or cannot be right", () =>
  withPlace(async (rootDir) => {
    fs.writeFileSync(join(rootDir, "a.txt"), "here\n");
    for (const options of [{ searchCache: false }, { virtualMode: false }, { ripgrep: true }]) {
      const backend = new kitbag.FilesystemBackend({ rootDir, ...options });
      await backend.grep("here", options.virtualMode === false ? rootDir : "/");
      assert.equal(says(backend), undefined, JSON.stringify(options));
      backend.dispose();
    }
  }));

test("no search that finds little keeps the host from other work for longer than a frame", () =>
  withWarm(8_000, async ({ backend, rootDir }) => {
    const cold = new kitbag.FilesystemBackend({ rootDir, searchCache: false });
    const nothing = "words that no file has";
    const calls = {
      "all files are read": () => cold.grep(nothing),
      "all names are read": () => cold.glob("**/*.none"),
      "no file is read": () => backend.grep(nothing),
      "one file is read": () => backend.grep("rare needle"),
      "all names are known": () => backend.glob("**/*.none"),
    };
    const long = [];
    for (const [what, call] of Object.entries(calls)) {
      const look = async () => {
        const { answer, longest } = await stretches(call);
        assert.equal(answer.error, undefined, what);
        return longest;
      };
      const seen = await measured(FRAME, look, 10);
      if (process.env.KITBAG_SHOW) console.log(`# ${what}: ${seen.map((ms) => ms.toFixed(1))}`);
      if (Math.min(...seen) > FRAME) long.push(`${what}: ${seen.map((ms) => ms.toFixed(1))} ms`);
    }
    assert.deepEqual(long, []);
  }));

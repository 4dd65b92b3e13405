// A program for Node, Deno and Bun: many folders, each searched again and again between random changes of
// other programs, and every answer compared with ripgrep's and with that of a search that keeps nothing.
//
//     histories.mjs PACKAGE FOLDER RIPGREP HISTORIES SEED

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [packageDir, base, ripgrep, count, seed] = process.argv.slice(2);
const { FilesystemBackend } = await import(pathToFileURL(join(packageDir, "dist/node.js")).href);

let state = Number(seed) || 1;
const roll = (sides) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * sides);
};
const one = (list) => list[roll(list.length)];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const WORDS = Array.from({ length: 60 }, (_, n) => `${"kvrtmplsdg"[n % 10]}ob${n}ansel`);
const NEEDLES = ["quartz", "zephyr", "jackdaw", "obelisk of night"];
/** Texts that are too short for a set of grams, or just not, and what is looked for in them. */
const SHORT = ["", "k", "ab", "xyz", "quay", "plumb"];
/** Files changed in the last two seconds are always read, so sets are made of older ones. */
const OLD_MS = 2_200;

const text = () => {
  if (roll(6) === 0) return one(SHORT);
  const lines = Array.from({ length: 1 + roll(8) }, () => `${one(WORDS)} ${one(WORDS)}`);
  if (roll(6) === 0) lines[roll(lines.length)] = `a ${one(NEEDLES)} here`;
  return `${lines.join("\n")}\n`;
};
const folder = () => one(["", "a/", "a/b/", "c/", "c/d/e/"]);
const name = () => `${folder()}f${roll(6)}${one([".txt", "", ".md"])}`;

function write(path, body = text()) {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, body);
}

/** What other programs do to a folder, given the paths of two of its files, and a place outside of it. */
const CHANGES = {
  create: (_at, to) => write(to),
  append: (at) => fs.appendFileSync(at, text()),
  truncate: (at) => fs.truncateSync(at, 3),
  "change in place": (at) => {
    const fd = fs.openSync(at, "r+");
    fs.writeSync(fd, one(NEEDLES), 0);
    fs.closeSync(fd);
  },
  "equal size and time": (at) => {
    const { size, atime, mtime } = fs.statSync(at);
    fs.writeFileSync(at, `${one(NEEDLES)} `.padEnd(size, "x").slice(0, size));
    fs.utimesSync(at, atime, mtime);
  },
  replace: (at, to) => {
    fs.writeFileSync(`${at}~`, text());
    fs.renameSync(`${at}~`, to);
  },
  remove: (at) => fs.unlinkSync(at),
  move: (at, to) => fs.renameSync(at, to),
  "hard link": (at, to) => fs.linkSync(at, to),
  "write through a hard link outside": (_at, _to, out) => {
    if (fs.existsSync(join(out, "twin"))) fs.appendFileSync(join(out, "twin"), text());
  },
  link: (at, to) => {
    if (fs.lstatSync(to, { throwIfNoEntry: false })) fs.unlinkSync(to);
    fs.symlinkSync(at, to);
  },
  "link to a folder": (at, to) => fs.symlinkSync(dirname(at), `${to}-link`),
  "replace a link": (at, to) => {
    fs.symlinkSync(at, `${to}~`);
    fs.renameSync(`${to}~`, to);
  },
  "file to folder": (at) => {
    fs.unlinkSync(at);
    write(`${at}/deep/new.txt`);
  },
  "remove a folder": (at) => fs.rmSync(dirname(at), { recursive: true }),
  "move a folder": (at, to) => fs.renameSync(dirname(at), `${to}-moved`),
  "exchange folders": (at, to) => {
    fs.renameSync(dirname(at), `${dirname(to)}-other`);
    fs.renameSync(dirname(to), dirname(at));
    fs.renameSync(`${dirname(to)}-other`, dirname(to));
  },
  "change a folder outside": (at, _to, out) => {
    const away = join(out, `away${roll(1e9)}`);
    fs.renameSync(dirname(at), away);
    write(join(away, "meanwhile.txt"));
    fs.renameSync(away, `${dirname(at)}-back`);
  },
  "make folders": (at) => {
    write(join(dirname(at), `n${roll(3)}/m/k/one.txt`));
    write(join(dirname(at), `n${roll(3)}/m/two.txt`));
  },
};
const KINDS = Object.keys(CHANGES);

function* filesIn(dir) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

const told = [];
const made = {};

function change(root, out) {
  // It may have been removed, or moved, as well.
  fs.mkdirSync(root, { recursive: true });
  const files = [...filesIn(root)];
  const kind = one(KINDS);
  try {
    if (files.length > 0) CHANGES[kind](one(files), join(root, name()), out);
    else write(join(root, name()));
    made[kind] = (made[kind] ?? 0) + 1;
  } catch (error) {
    // The tree does not allow it: a folder into itself, a name that is taken.
    if (!/^E[A-Z]+$/.test(error.code ?? "")) throw error;
  }
  return kind;
}

const lines = (matches) => matches.map(({ path, line, text }) => `${path}:${line}:${text}`).sort();

/** ripgrep's lines of all folders, without what is behind links. */
function byRipgrep(needle) {
  const args = ["--no-config", "-uu", "-n", "-F", "--no-heading", "--null", "-e", needle, "."];
  const { status, stdout, stderr } = spawnSync(ripgrep, args, { cwd: base, encoding: "utf8" });
  if (status > 1) throw new Error(`ripgrep ended with ${status}: ${stderr}`);
  const found = new Map();
  for (const row of stdout.split("\n").filter((row) => row !== "")) {
    const [, root, path, rest] = /^\.\/([^/]+)\/root\/([^\0]*)\0(.*)$/s.exec(row) ?? [];
    if (root === undefined) continue;
    if (!found.has(root)) found.set(root, []);
    found.get(root).push(`/${path}:${rest}`);
  }
  return found;
}

let opened = 0;
const open = fs.openSync;
const spied = process.getBuiltinModule?.("node:fs") ?? fs;
spied.openSync = (...given) => {
  opened += 1;
  return open(...given);
};

const subjects = [];
for (let n = 0; n < Number(count); n++) {
  const [root, out] = [join(base, `h${n}/root`), join(base, `h${n}/out`)];
  fs.mkdirSync(out, { recursive: true });
  for (let file = 6 + roll(14); file > 0; file--) write(join(root, name()));
  // Neighbours share a set, so these have none but short ones.
  for (let file = roll(3); file > 0; file--) write(join(root, `short/s${file}.txt`), one(SHORT));
  if (roll(3) === 0) fs.linkSync(one([...filesIn(root)]), join(out, "twin"));
  const history = [];
  const [kept, cold] = [true, false].map(
    (searchCache) => new FilesystemBackend({ rootDir: root, searchCache }),
  );
  subjects.push({ n, root, out, history, kept, cold });
}

const opens = { kept: 0, cold: 0 };
let searches = 0;
let wrong = 0;

async function compare() {
  const needle = one([...NEEDLES, one(WORDS), one(SHORT.slice(1))]);
  const expected = byRipgrep(needle);
  for (const { n, root, history, kept, cold } of subjects) {
    const answers = {};
    for (const [name, backend] of [
      ["kept", kept],
      ["cold", cold],
    ]) {
      const before = opened;
      const { matches, error } = await backend.grep(needle);
      answers[name] = error ?? lines(matches);
      opens[name] += opened - before;
    }
    searches += 1;
    const links = (row) => fs.lstatSync(root + row.slice(0, row.indexOf(":"))).isSymbolicLink();
    const own = answers.kept.filter((row) => !links(row));
    const rows = [own, (expected.get(`h${n}`) ?? []).sort(), answers.kept, answers.cold];
    const [a, b, c, d] = rows.map((row) => JSON.stringify(row));
    if (a === b && c === d) continue;
    wrong += 1;
    if (told.length < 3)
      told.push({
        n,
        seed,
        needle,
        history: [...history],
        how: kept.capability.notes.at(-1),
        kept: c,
        cold: d,
        ripgrep: b,
      });
  }
}

/** Waits until the sets of all folders are made. */
async function filled() {
  let before;
  for (let still = 0; still < 4; ) {
    await sleep(60);
    const now = subjects.map(({ kept }) => kept.capability.notes.at(-1)).join();
    still = now === before && !now.includes("not yet") ? still + 1 : 0;
    before = now;
  }
}

const begun = performance.now();
for (let phase = 0; phase < 2; phase++) {
  await sleep(OLD_MS);
  await compare();
  if (phase > 0) await sleep(2_600);
  await filled();
  for (let step = 0; step < 3; step++) {
    for (const { root, out, history } of subjects) {
      for (let times = roll(3); times > 0; times--) history.push(change(root, out));
      history.push("search");
    }
    await compare();
  }
}
const how = subjects[0].kept.capability.notes.at(-1);
for (const { kept, cold } of subjects) for (const one of [kept, cold]) one.dispose();
const seconds = (performance.now() - begun) / 1000;
console.log(JSON.stringify({ searches, wrong, told, opens, how, made, seconds }));

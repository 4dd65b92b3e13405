// StateBackend against other libraries that keep files in memory: the second table in
// docs/performance.md, and FilesystemBackend against one that keeps them in a folder. A library that has
// a search of its own is asked for it; with the others, a loop over their files searches, as their users
// would write it. An answer that is not the same is no row.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { at } from "../scripts/lib/paths.mjs";
import { compare } from "./lib/compare.mjs";
import { corpus } from "./lib/corpus.mjs";
import { bashLike, keysLike, nodeLike, ofBackend, ofFiles } from "./lib/peer-kinds.mjs";

/** A call that takes longer (ms) is timed only once. */
const SLOW = 1_000;

/** A package with its version, as it stands in the set. */
function version(set, name) {
  const { dependencies } = JSON.parse(readFileSync(at(`tests/deps/${set}/package.json`), "utf8"));
  return `${name} ${dependencies[name]}`;
}

/** Folders of this run, which are deleted at its end. */
const folders = [];
function folder() {
  folders.push(mkdtempSync(join(tmpdir(), "kitbag-peers-")));
  return folders.at(-1);
}

/** The main module of a package, also of one that only has a form for `import`. */
function library(set, name) {
  const folder = at(`tests/deps/${set}/node_modules/${name}`);
  const { main } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  if (set === "peers") return import(pathToFileURL(`${folder}/${main}`).href);
  const { resolve } = createRequire(at(`tests/deps/${set}/package.json`));
  return import(pathToFileURL(resolve(name)).href);
}

/** Each with its version and a function that makes an empty one. */
const PEERS = {
  [version("latest", "deepagents")]: async () => {
    const { StateBackend } = await library("latest", "deepagents");
    return () => {
      const state = { files: {} };
      const backend = new StateBackend({ state });
      const own = ofBackend(backend);
      // What a graph does with the update of a call.
      const changed = (call) => {
        const { error, filesUpdate } = call;
        if (error) throw new Error(error);
        Object.assign(state.files, filesUpdate);
      };
      return {
        ...own,
        write: (path, text) => changed(backend.write(path, text)),
        edit: (path, from, to) => changed(backend.edit(path, from, to)),
      };
    };
  },
  [version("filesystems", "just-bash")]: async () => {
    const { InMemoryFs } = await library("filesystems", "just-bash");
    return () => bashLike(new InMemoryFs());
  },
  [version("filesystems", "@cloudflare/shell")]: async () => {
    const { InMemoryFs } = await library("filesystems", "@cloudflare/shell");
    return () => bashLike(new InMemoryFs());
  },
  [version("filesystems", "agentfs-sdk")]: async () => {
    const { AgentFS } = await library("filesystems", "agentfs-sdk");
    return async () => {
      const { fs } = await AgentFS.open({ path: ":memory:" });
      return ofFiles({
        readdir: async (dir) =>
          (await fs.readdirPlus(dir)).map(({ name, stats }) => ({
            name,
            isDirectory: stats.isDirectory(),
          })),
        readFile: (path) => fs.readFile(path, "utf8"),
        writeFile: (path, text) => fs.writeFile(path, text),
        // It makes the parents of a file itself.
        mkdir: () => undefined,
      });
    };
  },
  [version("peers", "@struktoai/mirage-core")]: async () => {
    const { PathSpec, RAMResource } = await library("peers", "@struktoai/mirage-core");
    const at = (path) => PathSpec.fromStrPath(path);
    const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
    return () => {
      const fs = new RAMResource();
      const kind = async (path) => ({
        name: path.slice(path.lastIndexOf("/") + 1),
        isDirectory: (await fs.stat(at(path))).type === "directory",
      });
      return ofFiles({
        readdir: async (dir) => Promise.all((await fs.readdir(at(dir))).map(kind)),
        readFile: async (path) => decoder.decode(await fs.readFile(at(path))),
        writeFile: (path, text) => fs.writeFile(at(path), encoder.encode(text)),
        mkdir: (path) => fs.mkdir(at(path), { recursive: true }),
      });
    };
  },
  [version("peers", "memfs")]: async () => {
    const { memfs } = await library("peers", "memfs");
    return () => nodeLike(memfs().fs);
  },
  [version("peers", "@zenfs/core")]: async () => {
    const { configureSingle, fs, InMemory } = await library("peers", "@zenfs/core");
    return async () => {
      await configureSingle({ backend: InMemory });
      return nodeLike(fs);
    };
  },
  [version("fs", "unstorage")]: async () => {
    const { createStorage } = await library("fs", "unstorage");
    return () => keysLike(createStorage());
  },
};

/** Those that keep files in a folder; kitbag's `FilesystemBackend` has one as well. */
const OVER_FOLDERS = {
  [version("newest", "@mastra/core")]: async () => {
    const entry = createRequire(at("tests/deps/newest/package.json")).resolve(
      "@mastra/core/workspace",
    );
    const { LocalFilesystem } = await import(pathToFileURL(entry).href);
    return () => {
      const fs = new LocalFilesystem({ basePath: folder() });
      // It takes a path that begins with a slash for one of the machine.
      const below = (path) => path.slice(1) || ".";
      return ofFiles({
        readdir: async (dir) =>
          (await fs.readdir(below(dir))).map(({ name, type }) => ({
            name,
            isDirectory: type === "directory",
          })),
        readFile: (path) => fs.readFile(below(path), { encoding: "utf8" }),
        writeFile: (path, text) => fs.writeFile(below(path), text, { recursive: true }),
        // It makes the parents of a file itself.
        mkdir: () => undefined,
      });
    };
  },
};

const LINE = "const value = read(at, count);\n";
const BIG = `${LINE.repeat(33_000)}the only one\n`;

/** The operations: a call, and how many of it are timed at once. */
function questions(dir) {
  const grep = (text) => (store) => store.grep(text);
  return {
    "grep, no match": [grep("zqxjkv wyvern"), 1],
    "grep, rare": [grep("createDeepAgent"), 1],
    "grep, some": [grep("await"), 1],
    "glob **/*.ts": [(store) => store.glob(), 1],
    ls: [(store) => store.ls(dir), 20],
    "read 100 lines amid 1 MB": [(store) => store.page("/big.txt", 16_000, 100), 20],
  };
}

/** Calls of which all may return promises. */
async function times(count, call) {
  for (let n = 0; n < count; n++) {
    const answer = call();
    if (answer instanceof Promise) await answer;
  }
}

async function fill(store, files) {
  for (const [path, text] of Object.entries(files)) {
    const done = store.write(path, text);
    if (done instanceof Promise) await done;
  }
  await store.write("/big.txt", BIG);
}

/** The ratios of each operation, and `"other"` where the answers differ. */
async function against(make, ours, mine, files) {
  const theirs = await make();
  const cells = {};
  await fill(theirs, files);
  const dir = Object.keys(files)[1_000].split("/").slice(0, 3).join("/");
  for (const [name, [call, count]] of Object.entries(questions(dir))) {
    const began = performance.now();
    const [answer, wanted] = [await call(theirs), await call(mine)];
    const took = performance.now() - began;
    // In the order of kitbag, which is by path; a library may have another.
    const sorted = (rows) => (Array.isArray(rows) ? rows.map(String).sort() : rows);
    if (!isDeepStrictEqual(sorted(answer), sorted(wanted))) {
      cells[name] = "other";
      continue;
    }
    const rounds = took > SLOW ? [1, 0] : [7, 3];
    const both = await compare(
      () => times(count, () => call(theirs)),
      () => times(count, () => call(mine)),
      ...rounds,
    );
    cells[name] = both.peer / both.ours;
  }
  const turns = { theirs: 0, mine: 0 };
  const edit = (store, who) => {
    turns[who] += 1;
    const words = ["the only one", "another one"];
    const [from, to] = turns[who] % 2 === 1 ? words : words.toReversed();
    return store.edit("/big.txt", from, to);
  };
  const edited = await compare(
    () => edit(theirs, "theirs"),
    () => edit(mine, "mine"),
  );
  const same = (await theirs.text("/big.txt")) === (await mine.text("/big.txt"));
  cells["edit in 1 MB"] = same ? edited.peer / edited.ours : "other";
  // Last, because one of them has only one tree: a new one replaces it.
  const small = async (store) => {
    for (let n = 0; n < 1000; n++) {
      const done = store.write(`/dir/file${n}.txt`, `the text of file ${n}\n`);
      if (done instanceof Promise) await done;
    }
  };
  const written = await compare(
    async () => small(await make()),
    async () => small(await ours()),
    5,
  );
  cells["write 1,000 small files"] = written.peer / written.ours;
  return cells;
}

/** Prints how many times kitbag is faster than each of these libraries. */
async function table(peers, ours, files, print) {
  const mine = await ours();
  await fill(mine, files);
  const columns = {};
  for (const [name, load] of Object.entries(peers)) {
    columns[name] = await against(await load(), ours, mine, files);
  }
  const names = Object.keys(columns);
  print(`| operation | ${names.join(" | ")} |`);
  print(`|---|${"---:|".repeat(names.length)}`);
  const shown = (cell) =>
    typeof cell === "number" ? `${Number(cell.toPrecision(3))}` : "another answer";
  for (const row of Object.keys(columns[names[0]])) {
    print(`| ${row} | ${names.map((name) => shown(columns[name][row])).join(" | ")} |`);
  }
}

async function run({ print }) {
  const { FilesystemBackend, StateBackend } = await import(
    pathToFileURL(at("pkg/dist/node.js")).href
  );
  const { files, count, bytes } = corpus(10_000, 92_000_000);
  print(`Corpus: ${count} files, ${(bytes / 1e6).toFixed(1)} MB. Times that kitbag is faster.\n`);
  try {
    await table(PEERS, () => ofBackend(new StateBackend({ files: {} })), files, print);
    print("\nBoth over a folder:\n");
    const inFolder = () => ofBackend(new FilesystemBackend({ rootDir: folder() }));
    await table(OVER_FOLDERS, inFolder, files, print);
  } finally {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  }
}

export default {
  title: "StateBackend against other libraries in memory, and a folder against another's",
  needs: ["build", "npm:latest", "npm:filesystems", "npm:peers", "npm:fs", "npm:newest"],
  run,
};

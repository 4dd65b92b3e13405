// StateBackend against other libraries that keep files in memory: the second table in
// docs/performance.md. A library that has a search of its own is asked for it; with the others, a loop
// over their files searches, as their users would write it. An answer that is not the same is no row.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { at } from "../scripts/lib/paths.mjs";
import { compare } from "./lib/compare.mjs";
import { corpus } from "./lib/corpus.mjs";

/** A call that takes longer (ms) is timed only once. */
const SLOW = 1_000;

/** A package with its version, as it stands in the set. */
function version(set, name) {
  const { dependencies } = JSON.parse(readFileSync(at(`tests/deps/${set}/package.json`), "utf8"));
  return `${name} ${dependencies[name]}`;
}

/** The main module of a package, also of one that only has a form for `import`. */
function library(set, name) {
  const folder = at(`tests/deps/${set}/node_modules/${name}`);
  const { main } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  if (set === "peers") return import(pathToFileURL(`${folder}/${main}`).href);
  const { resolve } = createRequire(at(`tests/deps/${set}/package.json`));
  return import(pathToFileURL(resolve(name)).href);
}

/** A backend of the protocol, kitbag's or deepagents'. */
function ofBackend(backend) {
  const rows = ({ matches }) => matches.map(({ path, line, text }) => [path, line, text]);
  const paths = ({ files }) => files.map(({ path }) => path).sort();
  return {
    grep: (text) => rows(backend.grep(text)),
    glob: () => paths(backend.glob("**/*.ts", "/")),
    ls: (dir) => paths(backend.ls(dir)).map((path) => path.replace(/\/$/, "")),
    page: (path, from, count) => backend.read(path, from, count).content.replace(/\n$/, ""),
    write: (path, text) => void backend.write(path, text),
    edit: (path, from, to) => void backend.edit(path, from, to),
    text: (path) => {
      const raw = backend.readRaw(path).data.content;
      return Array.isArray(raw) ? raw.join("\n") : raw;
    },
  };
}

/**
 * A file system in the manner of Node: `readdir(dir)` gives names with their kind, `readFile` text,
 * `writeFile` takes text, and `mkdir` makes parents. All of them may return promises.
 */
function ofFiles(fs) {
  const join = (dir, name) => (dir === "/" ? `/${name}` : `${dir}/${name}`);
  async function* walk(dir) {
    for (const { name, isDirectory } of await fs.readdir(dir)) {
      const path = join(dir, name);
      if (isDirectory) yield* walk(path);
      else yield path;
    }
  }
  const grep = async (text) => {
    const found = [];
    for await (const path of walk("/")) {
      const body = await fs.readFile(path);
      if (!body.includes(text)) continue;
      const lines = body.split("\n");
      for (let at = 0; at < lines.length; at++) {
        if (!lines[at].includes(text)) continue;
        found.push([path, at + 1, lines[at]]);
      }
    }
    return found;
  };
  return {
    grep,
    async glob() {
      const found = [];
      for await (const path of walk("/")) if (path.endsWith(".ts")) found.push(path);
      return found.sort();
    },
    ls: async (dir) => (await fs.readdir(dir)).map(({ name }) => join(dir, name)).sort(),
    page: async (path, from, count) =>
      (await fs.readFile(path))
        .split("\n")
        .slice(from, from + count)
        .join("\n"),
    async write(path, text) {
      await fs.mkdir(path.slice(0, path.lastIndexOf("/")) || "/");
      await fs.writeFile(path, text);
    },
    edit: async (path, from, to) =>
      fs.writeFile(
        path,
        (await fs.readFile(path)).replace(from, () => to),
      ),
    text: (path) => fs.readFile(path),
  };
}

/** `fs.promises` or the synchronous functions of Node's kind. */
const nodeLike = (fs) =>
  ofFiles({
    readdir: (dir) =>
      fs
        .readdirSync(dir, { withFileTypes: true })
        .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() })),
    readFile: (path) => fs.readFileSync(path, "utf8"),
    writeFile: (path, text) => fs.writeFileSync(path, text),
    mkdir: (path) => fs.mkdirSync(path, { recursive: true }),
  });

const bashLike = (fs) =>
  ofFiles({
    readdir: async (dir) =>
      (await fs.readdirWithFileTypes(dir)).map(({ name, type, isDirectory }) => ({
        name,
        isDirectory: isDirectory ?? type === "directory",
      })),
    readFile: (path) => fs.readFile(path),
    writeFile: (path, text) => fs.writeFile(path, text),
    mkdir: (path) => fs.mkdir(path, { recursive: true }),
  });

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

async function run({ print }) {
  const { StateBackend } = await import(pathToFileURL(at("pkg/dist/node.js")).href);
  const ours = () => ofBackend(new StateBackend({ files: {} }));
  const { files, count, bytes } = corpus(10_000, 92_000_000);
  print(`Corpus: ${count} files, ${(bytes / 1e6).toFixed(1)} MB. Times that kitbag is faster.\n`);
  const mine = ours();
  await fill(mine, files);
  const columns = {};
  for (const [name, load] of Object.entries(PEERS)) {
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

export default {
  title: "StateBackend against other libraries in memory",
  needs: ["build", "npm:latest", "npm:filesystems", "npm:peers"],
  run,
};

// StateBackend against deepagents' own, over real source files: the table in docs/performance.md.

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { at } from "../scripts/lib/paths.mjs";
import { compare, median, Table } from "./lib/compare.mjs";
import { corpus } from "./lib/corpus.mjs";
import { native } from "./lib/native.mjs";

const require = createRequire(at("tests/deps/latest/package.json"));
const NOW = "2026-01-01T00:00:00.000Z";
/** After so many searches the index in memory is complete. */
const SEARCHES = 40;
/** The searches of those whose times are printed. */
const SHOWN = [1, 2, 4, 8, 12, 16, 20, SEARCHES];

/** Files as deepagents keeps them in a state. */
function recordOf(files) {
  const record = {};
  for (const [path, content] of Object.entries(files)) {
    record[path] = { content, mimeType: "text/plain", created_at: NOW, modified_at: NOW };
  }
  return record;
}

async function run({ print }) {
  const { StateBackend: Peer } = await import(pathToFileURL(require.resolve("deepagents")).href);
  const { StateBackend } = await import(pathToFileURL(at("pkg/dist/node.js")).href);
  const contenders = (files) => {
    const record = recordOf(files);
    return [new Peer({ state: { files: record } }), new StateBackend({ files: record })];
  };
  const table = new Table("deepagents");
  const { files, count, bytes } = corpus(10_000, 92_000_000);
  print(`Corpus: ${count} files, ${(bytes / 1e6).toFixed(1)} MB.\n`);
  const patterns = { none: "zqxjkv wyvern", rare: "createDeepAgent", two: "return undefined" };
  const machine = await native(Object.values(files), Object.values(patterns));
  const speed = (ms) => `${ms.toFixed(1)} ms, ${(bytes / 1e6 / ms).toFixed(1)} GB/s`;
  print(`The machine, natively, over these bytes end to end: summing them ${speed(machine.sum)}.`);
  for (const [text, ms] of machine.found) print(`memmem "${text}": ${speed(ms)}.`);
  print("");
  searching(files, StateBackend, patterns.none, print);
  const [peer, ours] = contenders(files);
  // The rows below are those of a backend that knows its blocks.
  for (let n = 0; n < SEARCHES; n++) ours.grep(patterns.none);
  const both = async (name, call, goal, rounds, limit) => {
    const [a, b] = [call(peer), call(ours)].map((answer) => answer.matches ?? answer.files);
    const found = a.length === b.length ? `${a.length}` : `${a.length} / ${b.length}`;
    table.add(
      `${name} (${found})`,
      await compare(
        () => call(peer),
        () => call(ours),
        rounds,
      ),
      goal,
      limit,
    );
  };
  const whole = (name, pattern, goal) =>
    both(name, (b) => b.grep(pattern), goal, 15, machine.found.get(pattern));
  // Short operations are timed twenty at a time, for both contenders.
  const score = async (name, call, goal) => {
    const twenty = (backend) => () => {
      for (let n = 0; n < 20; n++) call(backend);
    };
    const { peer: a, ours: b } = await compare(twenty(peer), twenty(ours));
    table.add(name, { peer: a / 20, ours: b / 20 }, goal);
  };

  await whole("grep, no match", patterns.none, 25);
  await whole("grep, rare", patterns.rare, 25);
  await whole("grep, two words", patterns.two, 27);
  const words = ["await", "string", "function", "return", "import", "const"];
  const counted = words.map((word) => [word, ours.grep(word).matches.length]);
  const nearest = (wanted) =>
    counted.reduce((a, b) => (Math.abs(b[1] - wanted) < Math.abs(a[1] - wanted) ? b : a))[0];
  const some = nearest(9_500);
  const many = nearest(51_000);
  await both(`grep, some: ${some}`, (b) => b.grep(some), 18);
  await both(`grep, many: ${many}`, (b) => b.grep(many), 6, 5);
  await both("grep in *.ts", (b) => b.grep("Promise<void>", "/", "*.ts"), 18);
  await both("grep, maxCount 100", (b) => b.grep(many, "/", null, 100), 100);
  await score("glob **/*.ts", (b) => b.glob("**/*.ts"), 60);
  await score("glob **/*.{ts,tsx,md}", (b) => b.glob("**/*.{ts,tsx,md}"), 50);
  const dir = Object.keys(files)[count >> 1].split("/").slice(0, 3).join("/");
  await score("glob dir/**/*.js", (b) => b.glob(`${dir.slice(1)}/**/*.js`), 200);
  await score(`ls ${dir} (${ours.ls(dir).files.length})`, (b) => b.ls(dir), 150);
  await paging(table, contenders, 20, [20, 1000]);
  await paging(table, contenders, 1, [15, 200]);
  await editing(table, contenders);
  await writing(table, Peer, StateBackend);
  startUp(table);
  table.print(print);
  return table.figures();
}

/** Prints what a text that is nowhere takes in the first searches of a backend, which read for its index. */
function searching(files, StateBackend, text, print) {
  const few = recordOf(Object.fromEntries(Object.entries(files).slice(0, 500)));
  const all = recordOf(files);
  const warm = new StateBackend({ files: few });
  for (let n = 0; n < 300; n++) warm.grep(text);
  const rounds = Array.from({ length: 5 }, () => {
    const backend = new StateBackend({ files: all });
    return Array.from({ length: SEARCHES }, () => {
      const start = performance.now();
      backend.grep(text);
      return performance.now() - start;
    });
  });
  const shown = SHOWN.map((nth) => {
    const took = median(rounds.map((times) => times[nth - 1]));
    return `${nth}: ${took.toFixed(2)}`;
  });
  print(`A text that is nowhere, ms by the number of the search: ${shown.join(", ")}.\n`);
}

async function paging(table, contenders, megabytes, [first, again]) {
  // As long as an average line of source code.
  const line = "const value = read(at, count);\n";
  const text = line.repeat((megabytes * 1e6) / line.length);
  const middle = Math.floor(text.length / line.length / 2);
  const times = { peer: [], ours: [] };
  let last;
  // What deepagents takes varies by ten times with the state of the heap, so few rounds tell little.
  for (let round = 0; round < 500 / (megabytes + 9); round++) {
    const [peer, ours] = contenders({ "/big.txt": text });
    for (const [name, backend] of [
      ["peer", peer],
      ["ours", ours],
    ]) {
      const start = performance.now();
      backend.read("/big.txt", middle, 100);
      times[name].push(performance.now() - start);
    }
    last = [peer, ours];
  }
  const name = `read 100 lines amid ${megabytes} MB`;
  table.add(`${name}, first`, { peer: median(times.peer), ours: median(times.ours) }, first);
  const [peer, ours] = last;
  const many = () => {
    for (let n = 0; n < 200; n++) ours.read("/big.txt", middle, 100);
  };
  const compared = await compare(() => peer.read("/big.txt", middle, 100), many, 45);
  table.add(`${name}, again`, { peer: compared.peer, ours: compared.ours / 200 }, again);
}

async function editing(table, contenders) {
  const text = `${"a line of the file that is edited\n".repeat(30_000)}the only one\n`;
  for (const [what, to] of [
    ["", "another one"],
    [", longer", "the only one, and some words more"],
  ]) {
    const times = { peer: [], ours: [] };
    for (let round = 0; round < 15; round++) {
      const [peer, ours] = contenders({ "/f.txt": text });
      for (const [name, backend] of [
        ["peer", peer],
        ["ours", ours],
      ]) {
        const start = performance.now();
        backend.edit("/f.txt", "the only one", to);
        times[name].push(performance.now() - start);
      }
    }
    const medians = { peer: median(times.peer), ours: median(times.ours) };
    table.add(`edit a unique string in 1 MB${what}`, medians, 7);
  }
}

async function writing(table, Peer, StateBackend) {
  const write = (backend) => {
    for (let n = 0; n < 1000; n++) backend.write(`/dir/file${n}.txt`, `the text of file ${n}\n`);
  };
  const fresh = (make) => () => write(make());
  const peer = fresh(() => new Peer({ state: { files: {} } }));
  table.add(
    "write 1,000 small files",
    await compare(
      peer,
      fresh(() => new StateBackend()),
      15,
    ),
    1.2,
  );
}

/** In a new process each: import, create a backend with 100 files, search it once. */
function startUp(table) {
  const script = (specifier, make) => `
    const start = performance.now();
    const { StateBackend } = await import(${JSON.stringify(specifier)});
    const files = {};
    for (let n = 0; n < 100; n++) files["/f" + n + ".txt"] =
      { content: "text " + n, mimeType: "text/plain", created_at: ${JSON.stringify(NOW)}, modified_at: ${JSON.stringify(NOW)} };
    const backend = ${make};
    backend.grep("text");
    console.log(performance.now() - start);`;
  const timed = (specifier, make) =>
    Number(
      execFileSync(process.execPath, ["--input-type=module", "-e", script(specifier, make)], {
        encoding: "utf8",
      }),
    );
  const peer = [];
  const ours = [];
  for (let round = 0; round < 5; round++) {
    peer.push(
      timed(
        pathToFileURL(require.resolve("deepagents")).href,
        "new StateBackend({ state: { files } })",
      ),
    );
    ours.push(timed(pathToFileURL(at("pkg/dist/node.js")).href, "new StateBackend({ files })"));
  }
  table.add(
    "import and first operation, 100 files",
    { peer: median(peer), ours: median(ours) },
    15,
  );
}

export default {
  title: "StateBackend against deepagents' own",
  needs: ["build", "npm:latest"],
  run,
};

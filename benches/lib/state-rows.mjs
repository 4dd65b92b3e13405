// The rows of `npm run bench -- state`. Node and a page run them, so both contenders, the files and the
// machine's own times are given, and nothing of a host is imported.

import { compare, median, Table } from "./compare.mjs";

export const NOW = "2026-01-01T00:00:00.000Z";
export const PATTERNS = {
  none: "zqxjkv wyvern",
  rare: "createDeepAgent",
  two: "return undefined",
};
/** After so many searches the index in memory is complete. */
export const SEARCHES = 40;
/** The searches of those whose times are printed. */
const SHOWN = [1, 2, 4, 8, 12, 16, 20, SEARCHES];

/** Files as deepagents keeps them in a state. */
export function recordOf(files) {
  const record = {};
  for (const [path, content] of Object.entries(files)) {
    record[path] = { content, mimeType: "text/plain", created_at: NOW, modified_at: NOW };
  }
  return record;
}

/**
 * Runs all rows but that of the start. `machine` has the native times by pattern, `effort` is the part
 * of the rounds that are run. Returns the table, and the two backends with what was searched.
 */
export async function rows({ Peer, StateBackend, files, machine = {}, effort = 1, print }) {
  const contenders = (files) => {
    const record = recordOf(files);
    return [new Peer({ state: { files: record } }), new StateBackend({ files: record })];
  };
  const of = (rounds) => Math.max(3, Math.round(rounds * effort));
  const table = new Table("deepagents");
  searching(files, StateBackend, of(5), print);
  const [peer, ours] = contenders(files);
  // The rows below are those of a backend that knows its blocks.
  for (let n = 0; n < SEARCHES; n++) ours.grep(PATTERNS.none);
  const searched = [];
  const both = async (name, call, goal, rounds = 9, limit = undefined) => {
    const [a, b] = [call(peer), call(ours)].map((answer) => answer.matches ?? answer.files);
    const found = a.length === b.length ? `${a.length}` : `${a.length} / ${b.length}`;
    const times = await compare(
      () => call(peer),
      () => call(ours),
      of(rounds),
    );
    table.add(`${name} (${found})`, times, goal, limit);
  };
  const grep = async (name, pattern, goal, rounds = 9, suffix = undefined) => {
    const limit = suffix ? undefined : machine[pattern];
    const glob = suffix && `*${suffix}`;
    await both(name, (b) => b.grep(pattern, "/", glob), goal, rounds, limit);
    searched.push({ name, pattern, suffix, matches: ours.grep(pattern, "/", glob).matches });
  };
  // Short operations are timed twenty at a time, for both contenders.
  const score = async (name, call, goal) => {
    const twenty = (backend) => () => {
      for (let n = 0; n < 20; n++) call(backend);
    };
    const { peer: a, ours: b } = await compare(twenty(peer), twenty(ours), of(9));
    table.add(name, { peer: a / 20, ours: b / 20 }, goal);
  };

  await grep("grep, no match", PATTERNS.none, 25, 15);
  await grep("grep, rare", PATTERNS.rare, 25, 15);
  await grep("grep, two words", PATTERNS.two, 27, 15);
  const words = ["await", "string", "function", "return", "import", "const"];
  const counted = words.map((word) => [word, ours.grep(word).matches.length]);
  const nearest = (wanted) =>
    counted.reduce((a, b) => (Math.abs(b[1] - wanted) < Math.abs(a[1] - wanted) ? b : a))[0];
  const some = nearest(9_500);
  const many = nearest(51_000);
  await grep(`grep, some: ${some}`, some, 18);
  await grep(`grep, many: ${many}`, many, 6, 5);
  await grep("grep in *.ts", "Promise<void>", 18, 9, ".ts");
  await both("grep, maxCount 100", (b) => b.grep(many, "/", null, 100), 100);
  await score("glob **/*.ts", (b) => b.glob("**/*.ts"), 60);
  await score("glob **/*.{ts,tsx,md}", (b) => b.glob("**/*.{ts,tsx,md}"), 50);
  const paths = Object.keys(files);
  const dir = paths[paths.length >> 1].split("/").slice(0, 3).join("/");
  await score("glob dir/**/*.js", (b) => b.glob(`${dir.slice(1)}/**/*.js`), 200);
  await score(`ls ${dir} (${ours.ls(dir).files.length})`, (b) => b.ls(dir), 150);
  await paging(table, contenders, 20, [20, 1000], of);
  await paging(table, contenders, 1, [15, 200], of);
  await editing(table, contenders, of);
  await writing(table, Peer, StateBackend, of);
  return { table, searched, listed: ours.glob("**/*.ts").files };
}

/** Prints what a text that is nowhere takes in the first searches of a backend, which read for its index. */
function searching(files, StateBackend, count, print) {
  const few = recordOf(Object.fromEntries(Object.entries(files).slice(0, 500)));
  const all = recordOf(files);
  const warm = new StateBackend({ files: few });
  for (let n = 0; n < 300; n++) warm.grep(PATTERNS.none);
  const rounds = Array.from({ length: count }, () => {
    const backend = new StateBackend({ files: all });
    return Array.from({ length: SEARCHES }, () => {
      const start = performance.now();
      backend.grep(PATTERNS.none);
      return performance.now() - start;
    });
  });
  const shown = SHOWN.map((nth) => {
    const took = median(rounds.map((times) => times[nth - 1]));
    return `${nth}: ${took.toFixed(2)}`;
  });
  print(`A text that is nowhere, ms by the number of the search: ${shown.join(", ")}.\n`);
}

/** As long as an average line of source code. */
const LINE = "const value = read(at, count);\n";

/** A text of so many megabytes. */
export const pageText = (megabytes) => LINE.repeat((megabytes * 1e6) / LINE.length);

async function paging(table, contenders, megabytes, [first, again], of) {
  const text = pageText(megabytes);
  const middle = Math.floor(text.length / LINE.length / 2);
  const times = { peer: [], ours: [] };
  let last;
  // What deepagents takes varies by ten times with the state of the heap, so few rounds tell little.
  for (let round = 0; round < of(500 / (megabytes + 9)); round++) {
    last = contenders({ "/big.txt": text });
    for (const [at, name] of ["peer", "ours"].entries()) {
      const start = performance.now();
      last[at].read("/big.txt", middle, 100);
      times[name].push(performance.now() - start);
    }
  }
  const name = `read 100 lines amid ${megabytes} MB`;
  table.add(`${name}, first`, { peer: median(times.peer), ours: median(times.ours) }, first);
  const [peer, ours] = last;
  const many = () => {
    for (let n = 0; n < 200; n++) ours.read("/big.txt", middle, 100);
  };
  const compared = await compare(() => peer.read("/big.txt", middle, 100), many, of(45));
  table.add(`${name}, again`, { peer: compared.peer, ours: compared.ours / 200 }, again);
}

export const EDITED = `${"a line of the file that is edited\n".repeat(30_000)}the only one\n`;

async function editing(table, contenders, of) {
  for (const [what, to] of [
    ["", "another one"],
    [", longer", "the only one, and some words more"],
  ]) {
    const times = { peer: [], ours: [] };
    for (let round = 0; round < of(15); round++) {
      const both = contenders({ "/f.txt": EDITED });
      for (const [at, name] of ["peer", "ours"].entries()) {
        const start = performance.now();
        both[at].edit("/f.txt", "the only one", to);
        times[name].push(performance.now() - start);
      }
    }
    const medians = { peer: median(times.peer), ours: median(times.ours) };
    table.add(`edit a unique string in 1 MB${what}`, medians, 7);
  }
}

/** The files of the row that writes. */
export const SMALL = Array.from({ length: 1000 }, (_, n) => [
  `/dir/file${n}.txt`,
  `the text of file ${n}\n`,
]);

/** The same for `uploadFiles`. */
export const SMALL_BYTES = SMALL.map(([path, text]) => [path, new TextEncoder().encode(text)]);

async function writing(table, Peer, StateBackend, of) {
  const write = (backend) => {
    for (const [path, text] of SMALL) backend.write(path, text);
  };
  const times = await compare(
    () => write(new Peer({ state: { files: {} } })),
    () => write(new StateBackend()),
    of(15),
  );
  table.add("write 1,000 small files", times, 1.2);
  // Beside the same 1,000 calls of `write` of the other contender.
  const upload = await compare(
    () => write(new Peer({ state: { files: {} } })),
    () => new StateBackend().uploadFiles(SMALL_BYTES),
    of(15),
  );
  table.add("upload 1,000 small files", upload, 2);
}

// docs/limits.md: every row has its number from the source, and a test here or elsewhere that meets
// the bound; and every constant that bounds something is either in the table or known to be a step
// size that no caller can notice.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { CompositeBackend, CustomBackend, StateBackend } from "../lib/kitbag.mjs";
import { BOUNDS } from "./places.mjs";
import { ROWS } from "./rows.mjs";
import { STEPS } from "./steps.mjs";

const at = (path) => new URL(`../../${path}`, import.meta.url);
const docs = readFileSync(at("docs/limits.md"), "utf8");

/** Rows: name, number, what happens. */
const rows = [...docs.matchAll(/^\| (.+) \|$/gm)]
  .map(([, line]) => line.split(" | "))
  .filter((cells) => cells.length === 3 && /^[\d,]+ /.test(`${cells[1]} `))
  .map(([name, bound]) => {
    const [file, constant] = BOUNDS[name]?.source.split(" ") ?? [];
    const value = Number(/^[\d,]+/.exec(bound)[0].replaceAll(",", ""));
    return { name, value, file, constant, test: BOUNDS[name]?.test };
  });

/** The constants of a file, with their values. */
function constants(file) {
  const text = readFileSync(at(file), "utf8");
  const found = new Map();
  const known = (expression) => {
    const plain = expression
      .replace(/Duration::from_secs\((\d+)\)/, "$1")
      .replace(/Duration::from_millis\((\d+)\)/, "$1 / 1000")
      .replaceAll(/i32::MAX( as usize)?/g, "2147483647")
      .replaceAll(/u64::MAX/g, "Infinity")
      .replaceAll(/\b[A-Z_]+\b/g, (name) => found.get(name) ?? name);
    if (!/^[\d_\s*+\-/<().xa-fA-F]+$|^Infinity$/.test(plain)) return undefined;
    return Function(`return (${plain});`)();
  };
  const RUST =
    /^\s*(?:pub(?:\(.*\))? )?const ([A-Z_]+): (?:usize|u\d+|i\d+|f64|Duration) =\s*([^;]+);/gm;
  const TYPESCRIPT = /^(?:export )?const ([A-Z_]+) = ([\d(][^;]*);/gm;
  for (const [, name, expression] of text.matchAll(file.endsWith(".rs") ? RUST : TYPESCRIPT)) {
    found.set(name, known(expression));
  }
  // The most that an option may be, in a description of options.
  for (const [, name, most] of text.matchAll(/^\s*(\w+): .*\[.*\bmost (\d+)/gm)) {
    found.set(name, Number(most));
  }
  return found;
}

function sources(dir) {
  return readdirSync(at(dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(rs|ts)$/.test(entry.name))
    .map(
      (entry) =>
        `${(entry.parentPath ?? entry.path).split(/\/(?=(?:src|ts)(?:\/|$))/).at(-1)}/${entry.name}`,
    )
    .filter((file) => !/tests?\b|testing|conformance|examples/.test(file));
}

test("the table has rows", () => assert.ok(rows.length >= 30, `${rows.length}`));

for (const { name, value, file, constant, test: shown } of rows) {
  test(`the row "${name}" has the number of ${constant}, and a test`, () => {
    assert.ok(file, "places.mjs says where it comes from");
    assert.equal(constants(file).get(constant), value, `${file} ${constant}`);
    if (!shown) return assert.ok(ROWS[name], "it has a test here");
    const [path, title] = shown.split(" › ");
    assert.ok(existsSync(at(path)), path);
    assert.match(path, /\btests?\b/, "it names a test");
    assert.ok(readFileSync(at(path), "utf8").includes(title), `${path} has no "${title}"`);
  });
}

test("every test and every constant of a row belongs to one", () => {
  const names = new Set(rows.map(({ name }) => name));
  for (const name of [...Object.keys(ROWS), ...Object.keys(BOUNDS)]) {
    assert.ok(names.has(name), name);
  }
});

test("every constant is in the table or a step size", () => {
  const documented = new Set(rows.map(({ file, constant }) => `${file} ${constant}`));
  const steps = new Set(STEPS);
  const all = [...sources("src"), ...sources("ts")].flatMap((file) =>
    [...constants(file).keys()].map((name) => `${file} ${name}`),
  );
  assert.ok(all.length > 100, `${all.length}`);
  const unknown = all.filter((one) => !documented.has(one) && !steps.has(one));
  assert.deepEqual(
    unknown,
    [],
    "add them to docs/limits.md and places.mjs with a test, or to steps.mjs",
  );
  const gone = STEPS.filter((one) => !all.includes(one));
  assert.deepEqual(gone, [], "these are no constants any more");
});

for (const { name, value } of rows.filter(({ name }) => ROWS[name])) {
  test(`limit: ${name} (${value})`, () => ROWS[name](value));
}

// Sizes: the short form of what `npm run soak -- limits` does with the sizes of the issue.
const SCALE = Number(process.env.KITBAG_LIMITS ?? 0.1);
const MIB = 2 ** 20;

/** Runs `call` and returns its answer; the time limit leaves room for a busy machine. */
async function soon(what, call, seconds = 1) {
  const start = performance.now();
  const answer = await call();
  const took = (performance.now() - start) / 1000;
  assert.ok(took < seconds * 4, `${what} took ${took.toFixed(2)} s`);
  return answer;
}

test(`${1_000_000 * SCALE} files of 10 bytes: each operation answers soon`, async () => {
  const count = 1_000_000 * SCALE;
  const body = new TextEncoder().encode("ten bytes\n");
  const backend = new StateBackend({ writeMode: "overwrite" });
  for (let from = 0; from < count; from += 10_000) {
    const files = Array.from({ length: 10_000 }, (_, n) => [
      `/${((from + n) / 1000) | 0}/${from + n}.txt`,
      body,
    ]);
    backend.uploadFiles(files);
  }
  await soon("ls", () => backend.ls("/0"));
  await soon("read", () => backend.read("/7/7000.txt"));
  const found = await soon("grep", () => backend.grep("no such text"));
  assert.deepEqual(found.matches, []);
  const some = await soon("grep", () => backend.grep("ten", "/", null, 100));
  assert.deepEqual([some.matches.length, some.truncated], [100, true]);
  await soon("grep of a directory", () => backend.grep("ten", "/7"));
  const named = await soon("glob", () => backend.glob("**/77*7.txt"));
  assert.ok(named.files.length > 0);
  await soon("write", () => backend.write("/new.txt", "x"));
  await soon("delete", () => backend.delete("/7"));
});

test(`a file of ${1024 * SCALE} MB: each operation answers soon, or is too_large`, async () => {
  const size = Math.floor(1024 * SCALE) * MIB;
  const body = new Uint8Array(size).fill(120);
  for (let at = 0; at < size; at += 100) body[at] = 10;
  const backend = new StateBackend({ writeMode: "overwrite" });
  assert.equal(backend.uploadFiles([["/a.txt", body]])[0].error, null);
  const page = await soon("read", () => backend.read("/a.txt", size / 200, 5), 2);
  assert.equal(page.content.split("\n").length, 5);
  await soon("grep", () => backend.grep("no such text"), 2);
  const few = await soon("grep", () => backend.grep("xxx", "/", null, 10));
  assert.equal(few.matches.length, 10);
  await soon("regex", () => backend.grep("y[a-f]+", "/", null, 10, { regex: true }), 4);
  const raw = await soon("readRaw", () => backend.readRaw("/a.txt"), 3);
  assert.ok(raw.data !== undefined || raw.code === "too_large");
  await soon("edit", () => backend.edit("/a.txt", "none", "b"), 3);
  const [down] = await soon("downloadFiles", () => backend.downloadFiles(["/a.txt"]), 3);
  assert.equal(down.content.length, size);
});

test(`a line of ${100 * SCALE} MB: each operation answers soon`, async () => {
  const line = "word ".repeat((100 * SCALE * MIB) / 5);
  const inner = new StateBackend({ files: { "/a.txt": `${line}\nend\n` } });
  const custom = new CustomBackend({
    get: () => ({ content: `${line}\nend\n` }),
    list: () => ["/a.txt"],
    put: () => undefined,
    delete: () => true,
  });
  for (const backend of [inner, new CompositeBackend(inner, {}), custom]) {
    assert.equal((await soon("read", () => backend.read("/a.txt", 1, 1), 2)).content, "end");
    assert.equal((await soon("grep", () => backend.grep("end"), 2)).matches.length, 1);
    const any = { ignoreCase: true };
    const found = await soon("any case", () => backend.grep("ÉND", "/", null, null, any), 4);
    assert.equal(found.matches.length, 0);
    const regex = { regex: true };
    const all = await soon("regex", () => backend.grep("w[o-r]+d", "/", null, 1, regex), 4);
    assert.equal(all.matches.length, 1);
  }
});

test("a pattern of a megabyte: refused or answered soon", async () => {
  const backend = new StateBackend({ files: { "/a.txt": "one\n".repeat(100_000) } });
  for (const piece of ["a", "(a|b)*", "[a-z]", "{a,b}", "**/", "\\", "é", "((((", "a{99}"]) {
    const pattern = piece.repeat(MIB / piece.length);
    for (const call of [
      () => backend.grep(pattern),
      () => backend.grep(pattern, "/", null, null, { ignoreCase: true }),
      () => backend.grep(pattern, "/", null, null, { regex: true }),
      () => backend.grep("one", "/", pattern),
      () => backend.glob(pattern),
      () => backend.edit("/a.txt", pattern, "x"),
      () => backend.read(pattern),
    ]) {
      const answer = await soon(piece, call);
      assert.ok(answer.error !== undefined || answer.matches || answer.files);
    }
  }
});

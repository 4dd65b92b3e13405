// What one search may cost: its answer is bounded in bytes and rows, context included, and so is
// its time. The backend works as before afterwards.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CompositeBackend, createFileTools, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const MOST_ROWS = 2 ** 21;
const HUGE = [1e9, 2 ** 31, 2 ** 32, 2 ** 53, Number.MAX_VALUE];

function works(backend) {
  assert.equal(backend.write("/after.txt", "after").error, undefined);
  assert.equal(backend.edit("/after.txt", "after", "before").occurrences, 1);
  assert.equal(backend.grep("before", "/after.txt").matches.length, 1);
  assert.equal(backend.delete("/after.txt").error, undefined);
}

function rows(matches) {
  return matches.reduce(
    (sum, one) => sum + 1 + (one.before?.length ?? 0) + (one.after?.length ?? 0),
    0,
  );
}

/** Every match stands between its own context, as far as there is any. */
function isRight(matches, lines) {
  for (const { line, text, before, after } of matches) {
    assert.equal(text, lines[line - 1]);
    assert.deepEqual(before, lines.slice(line - 1 - before.length, line - 1));
    assert.deepEqual(after, lines.slice(line, line + after.length));
  }
}

const short = Array.from({ length: 10_000 }, (_, n) => `${n % 10}`);
const long = Array.from({ length: 200 }, (_, n) => `${n} ${"x".repeat(7_000)}`);

describe("an answer is bounded", () => {
  for (const [name, lines, options] of [
    ["before: 1e9 over 20 KB", short, { before: 1e9 }],
    ["after: 1e9 over 20 KB", short, { after: 1e9 }],
    ["before and after: 1e9 over 20 KB", short, { before: 1e9, after: 1e9 }],
    ["context of 5,000 lines", short, { before: 5_000, after: 5_000 }],
    ["an expression with context", short, { before: 1e9, after: 1e9, regex: true }],
    ["any case with context", short, { before: 1e9, after: 1e9, ignoreCase: true }],
  ]) {
    test(`${name}: truncated, and what there is is right`, () => {
      const backend = new StateBackend({ files: { "/a.txt": lines.join("\n") } });
      const answer = backend.grep(options.regex ? "[0-9]" : "", "/", null, null, options);
      assert.equal(answer.error, undefined);
      assert.equal(answer.truncated, true);
      assert.ok(answer.matches.length > 0 && rows(answer.matches) <= MOST_ROWS + lines.length);
      isRight([answer.matches[0], ...answer.matches.slice(-20)], lines);
      works(backend);
    });
  }

  for (const count of HUGE) {
    test(`counts of ${count}: as if they were as many as there are lines`, () => {
      const lines = ["a", "b", "c", "d"];
      const backend = new StateBackend({ files: { "/a.txt": lines.join("\n") } });
      const options = { before: count, after: count, maxPerFile: count };
      const answer = backend.grep("c", "/", null, count, options);
      assert.deepEqual(answer, {
        matches: [{ path: "/a.txt", line: 3, text: "c", before: ["a", "b"], after: ["d"] }],
      });
      works(backend);
    });
  }

  test("context of 100 long lines around every match: each line is stored once", () => {
    const backend = new StateBackend({ files: { "/a.txt": long.join("\n") } });
    const answer = backend.grep("x", "/", null, null, { before: 100, after: 100 });
    assert.equal(answer.truncated, undefined);
    assert.equal(answer.matches.length, long.length);
    isRight(answer.matches, long);
    works(backend);
  });

  test("a tool's call with context 100 over 1.4 MB", async () => {
    const backend = new StateBackend({ files: { "/a.txt": long.join("\n") } });
    const grep = createFileTools(backend).tools.find(({ name }) => name === "grep");
    const input = { pattern: "x", output_mode: "content", before: 100, after: 100 };
    for (let round = 0; round < 5; round++) {
      const text = String(await grep.execute(input));
      assert.match(text, /not shown/);
      assert.ok(text.length < 200_000);
    }
    works(backend);
  });

  test("the same through a router and a policy", async () => {
    const files = { "/a.txt": short.join("\n") };
    const mounts = {};
    for (let n = 0; n < 12; n++) mounts[`/m${n}/`] = new StateBackend({ files });
    const router = new CompositeBackend(new StateBackend({ files }), mounts);
    const guarded = withPolicy(router, { readOnlyPrefixes: ["/m3/"] });
    for (const backend of [router, guarded]) {
      const answer = await backend.grep("", "/", null, null, { before: 1e9, after: 1e9 });
      assert.equal(answer.truncated, true);
      assert.ok(answer.matches.length > 0 && rows(answer.matches) <= MOST_ROWS + short.length);
      assert.equal((await backend.grep("0", "/a.txt", null, 3)).matches.length, 3);
    }
  });

  test("many searches at the bound, one after the other, leave no memory behind", () => {
    const backend = new StateBackend({ files: { "/a.txt": short.join("\n") } });
    for (let round = 0; round < 4; round++) {
      backend.grep("", "/", null, null, { before: 1e9, after: 1e9 });
    }
    works(backend);
  });
});

const line = "a".repeat(64 * 1024);
/** Letters in no order, in one line. */
const noise = Array.from({ length: 2 ** 24 }, (_, n) =>
  Math.imul(n ^ (n >>> 9), 0x9e3779b1) >>> 31 ? "a" : "b",
).join("");
const regex = (backend, pattern, more) =>
  backend.grep(pattern, "/", null, null, { regex: true, ...more });

describe("an expression that is too large is refused", () => {
  for (const pattern of [
    "(?:a{99}){90}[bc]",
    "((a{10}){10}){50}",
    "(?:(?:a?){99}){99}b",
    "(?i:a{99}){90}",
    "[a-c]{4001}",
    "\\w{1000}\\w{1000}\\w{1000}\\w{1001}",
    "(?:ab|c){2000}",
    "(?P<n>a{50}){100}",
    "(?:ab{40}c){99}",
    "(?:a{2,99}){50}",
    "a{99999999}",
    "((((((a{99}){99}){99}){99}){99}){99}){99}",
  ]) {
    test(`${pattern}`, () => {
      const backend = new StateBackend({ files: { "/a.txt": line } });
      const answer = regex(backend, pattern);
      assert.equal(answer.code, "invalid_pattern");
      assert.match(answer.error, /^Invalid regex pattern: .*(at most 4000|repetition)/);
      works(backend);
    });
  }
});

describe("an expression that takes too long", () => {
  test("without a limit of the caller's, by one of kitbag's", () => {
    const backend = new StateBackend({ files: { "/a.txt": noise } });
    const answer = regex(backend, "(?:[ab]*a[ab]{490}){8}c");
    assert.equal(answer.code, "timeout");
    assert.match(answer.error, /\d s that a search of so many bytes may take/);
    works(backend);
  });
});

describe("what is not too large is found as before", () => {
  test("a list of 500 words", () => {
    const words = Array.from({ length: 500 }, (_, n) => `word${n}x`);
    const backend = new StateBackend({ files: { "/a.txt": `none\nsee word499x here\n` } });
    assert.equal(regex(backend, words.join("|")).matches.length, 1);
  });

  test("in a line of 5 MB, at its start, in its midst and at its end", () => {
    const filler = "let x = f(1, 2); ".repeat(150_000);
    const body = `needle77 ${filler} needle78 ${filler} needle79`;
    const backend = new StateBackend({ files: { "/a.js": body } });
    for (const [pattern, count] of [
      ["needle[0-9]+", 1],
      ["needle[0-9]8 ", 1],
      ["needle79$", 1],
      ["^needle79", 0],
      ["\\bneedle[0-9]{2}\\b", 1],
      ["[n-p]eedle80", 0],
    ]) {
      assert.equal(regex(backend, pattern).matches?.length, count, pattern);
    }
  });

  test("letters of several bytes at the seams between the parts of a long line", () => {
    const body = `${"é😀ü".repeat(400_000)}x7`;
    const backend = new StateBackend({ files: { "/a.txt": body } });
    assert.equal(regex(backend, "[x-z][0-9]$").matches.length, 1);
    assert.equal(regex(backend, "ü{2}").matches.length, 0);
    assert.equal(regex(backend, "(é😀ü){3}").matches.length, 1);
  });
});

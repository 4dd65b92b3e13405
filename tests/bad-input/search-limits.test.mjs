// A search ends by its time limit, also within one line: whatever the pattern and the text are, it
// answers or gives up soon after `timeoutMs`. And what is large but harmless is fast.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CustomBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const MIB = 2 ** 20;
const LIMIT = 100;
/** For the check of the clock. */
const GRACE = 400;

/**
 * Milliseconds since now, by the clock or by what this process worked, whichever are fewer: others may have
 * the processors.
 */
function watch() {
  const began = performance.now();
  const worked = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(worked);
    return Math.min(performance.now() - began, (user + system) / 1_000);
  };
}

/** Letters in no order, so that no state of an automaton comes back. */
function noise(length, letters) {
  let seed = 7;
  const next = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return letters[(seed >>> 24) % letters.length];
  };
  const block = Array.from({ length: Math.min(length, 2 ** 18) }, next).join("");
  return block.repeat(Math.ceil(length / block.length)).slice(0, length);
}

const ab = noise(MIB, "ab");
const wide = noise(MIB, "аб語");

function soon(backend, pattern, options) {
  const since = watch();
  const answer = backend.grep(pattern, "/", null, null, { timeoutMs: LIMIT, ...options });
  const took = since();
  assert.ok(took < LIMIT + GRACE, `${took.toFixed(0)} ms`);
  if (answer.error) assert.match(answer.code, /^(timeout|invalid_pattern)$/, answer.error);
  return answer;
}

function holding(body) {
  return new StateBackend({ files: { "/a.txt": body } });
}

const regex = { regex: true };

describe("an expression on one line ends by its limit", () => {
  for (const [name, pattern, body, options] of [
    ["nested repetitions", "(?:a{99}){40}[bc]c", ab],
    ["nested optional repetitions", "(?:(?:a?b?){30}){30}c", ab],
    ["a set of states that grows without end", "[ab]*a[ab]{900}c", ab],
    ["such a set several times", "(?:[ab]*a[ab]{300}){8}c", ab],
    ["alternations", "(?:a|ab|b|ba|aab|bba){400}c", ab],
    [
      "many alternations of long texts",
      `(?:${Array.from({ length: 300 }, (_, n) => `${ab.slice(n, n + 12)}`).join("|")})c`,
      ab,
    ],
    ["case ignored", "[ab]*a[ab]{900}c", ab.toUpperCase(), { ignoreCase: true }],
    ["characters of several bytes", "[а-я語]*а[а-я語]{900}z", wide],
    ["a line of 16 MB", "[ab]*a[ab]{900}c", ab.repeat(16)],
    ["a line of 100 MB", "[ab]*a[ab]{900}c", ab.repeat(100)],
    ["a line of 100 MB that is easy at first", "[ab]*a[ab]{900}c", "x".repeat(99 * MIB) + ab],
    ["word boundaries", "(?:\\b[ab]+\\b.?){300}c", ab.replaceAll("bb", " ")],
    ["many lines", "[ab]*a[ab]{900}c", ab.replaceAll("bbbb", "\n")],
  ]) {
    test(name, () => {
      const backend = holding(body);
      soon(backend, pattern, { ...regex, ...options });
      assert.equal(backend.write("/after.txt", "after").error, undefined);
    });
  }

  test("the search that was given up says so", () => {
    const answer = soon(holding(ab.repeat(16)), "[ab]*a[ab]{900}c", regex);
    assert.equal(answer.code, "timeout");
    assert.match(answer.error, /timeoutMs/);
  });

  test("through a policy, over a storage of the host", async () => {
    const storage = { get: () => ({ content: ab }), list: () => ["/a.txt"] };
    const backend = withPolicy(new CustomBackend(storage), {});
    const since = watch();
    const options = { ...regex, timeoutMs: LIMIT };
    const answer = await backend.grep("(?:[ab]*a[ab]{300}){8}c", "/", null, null, options);
    assert.equal(answer.code, "timeout");
    assert.ok(since() < LIMIT + GRACE);
  });
});

describe("what is large but harmless is fast", () => {
  for (const [name, pattern, body, count] of [
    ["the expression that took 20 s", "(?:a{99}){40}[bc]", "a".repeat(2 ** 16), 0],
    ["2,000 optional letters", "(?:a?){2000}[bc]", "a".repeat(MIB), 0],
    ["stars in stars", "((a*)*)*b", "a".repeat(MIB), 0],
    ["a choice of equal branches", "(a|a|a)*$b", "a".repeat(MIB), 0],
    ["a line that matches at its end", "a+b$", `${"a".repeat(MIB)}b`, 1],
  ]) {
    test(name, () => {
      const since = watch();
      const answer = holding(body).grep(pattern, "/", null, null, regex);
      assert.equal(answer.matches?.length, count, answer.error);
      assert.ok(since() < 2_000);
    });
  }
});

describe("a pattern of a megabyte", () => {
  const large = "ab".repeat(MIB / 2);
  for (const [name, pattern, options] of [
    ["a text", large, {}],
    ["a text, case ignored", large, { ignoreCase: true }],
    ["a text beyond ASCII, case ignored", "éß".repeat(MIB / 4), { ignoreCase: true }],
    ["an expression", large, regex],
    ["an expression of braces", "a{1}".repeat(MIB / 4), regex],
    ["an expression of parentheses", "(".repeat(MIB), regex],
    ["an expression of stars", `a${"*".repeat(MIB)}`, regex],
  ]) {
    test(name, () => {
      const answer = soon(holding(`${"ab".repeat(MIB)}\né`), pattern, options);
      if (options.regex) assert.equal(answer.code, "invalid_pattern");
    });
  }
});

describe("a literal on one long line", () => {
  for (const [name, pattern, body, options] of [
    ["a needle that nearly occurs everywhere", `${"a".repeat(5_000)}b`, "a".repeat(32 * MIB), {}],
    ["case ignored", `${"a".repeat(5_000)}b`, "aA".repeat(8 * MIB), { ignoreCase: true }],
    ["beyond ASCII, case ignored", "éééx", "É".repeat(16 * MIB), { ignoreCase: true }],
  ]) {
    test(name, () => {
      soon(holding(body), pattern, options);
    });
  }

  test("a hit across the parts of a long line is found", () => {
    for (const before of [65_533, 65_534, 65_535, 65_536, 65_537]) {
      const backend = holding(`${"x".repeat(before)}ÉÉÉ${"é".repeat(70_000)}`);
      const answer = backend.grep("xééé", "/", null, null, { ignoreCase: true });
      assert.equal(answer.matches.length, 1, `${before}`);
    }
  });
});

describe("a glob is matched or refused at once", () => {
  const files = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [`/${"a".repeat(200)}/${"ab".repeat(100)}/${n}.txt`, ""]),
  );
  const backend = new StateBackend({ files });
  for (const [name, pattern] of [
    ["stars", `${"*a".repeat(100)}b`],
    ["double stars", `${"**/a*/".repeat(200)}z`],
    ["nested braces", `${"{a,".repeat(30)}b${"}".repeat(30)}`],
    ["a product of braces", "{a,b}".repeat(300)],
    ["a product of stars and braces", "{a*,*b}".repeat(9)],
    ["a megabyte", "*a".repeat(MIB / 2)],
    ["a megabyte of braces", "{a,b}".repeat(MIB / 5)],
    ["classes", "[a-z]".repeat(800)],
    ["question marks between stars", "*?".repeat(1_000)],
    ["a brace that is never closed", "{a,".repeat(1_300)],
  ]) {
    test(name, () => {
      for (const call of [() => backend.glob(pattern), () => backend.grep("x", "/", pattern)]) {
        const since = watch();
        const answer = call();
        assert.ok(since() < 1_000);
        if (answer.error) assert.match(answer.code, /^(timeout|invalid_pattern)$/);
      }
    });
  }
});

describe("an edit is made or refused at once", () => {
  const long = "a".repeat(8 * MIB);
  for (const [name, body, old, text, all, code] of [
    [
      "a needle that nearly occurs everywhere",
      long,
      `${"a".repeat(9_999)}b`,
      "x",
      true,
      "no_match",
    ],
    ["a needle that starts alike", long, `b${"a".repeat(9_999)}`, "x", true, "no_match"],
    ["a needle of half the file", long, "a".repeat(5 * MIB), "x", false, undefined],
    [
      "a megabyte of line ends",
      `${"\r\n".repeat(MIB)}`,
      "\n".repeat(MIB - 1),
      "x",
      true,
      undefined,
    ],
    [
      "other line ends, nearly everywhere",
      "a\r\n".repeat(MIB),
      `${"a\n".repeat(999)}b`,
      "x",
      true,
      "no_match",
    ],
    ["a result too large", long, "a", "a".repeat(MIB), true, "too_large"],
    ["every second character", "ab".repeat(4 * MIB), "b", "", true, undefined],
    ["characters of several bytes", "語".repeat(2 * MIB), "語語語x", "x", true, "no_match"],
  ]) {
    test(name, () => {
      const backend = holding(body);
      const since = watch();
      const answer = backend.edit("/a.txt", old, text, all);
      assert.equal(answer.code, code, answer.error?.slice(0, 200));
      const took = since();
      assert.ok(took < 1_500, `${took}`);
    });
  }
});

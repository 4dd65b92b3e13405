// The lines of a search: what `JSON.stringify` would have made of each match, whatever is in it.

import assert from "node:assert/strict";
import test, { describe } from "node:test";
import {
  adaptBackendProtocol,
  CompositeBackend,
  over,
  StateBackend,
  served,
  withPolicy,
} from "./lib.mjs";

const encoder = new TextEncoder();

/** The lines that a server sends, without the last one, and what that one says. */
async function linesOf(url, query) {
  const answer = await fetch(`${url}/`, {
    method: "POST",
    headers: {
      accept: "application/x-ndjson",
      "content-type": "application/json",
      "x-kitbag": "1",
    },
    body: JSON.stringify({ op: "grep", ...query }),
  });
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
  const text = await answer.text();
  assert.ok(text.endsWith("\n"));
  const lines = text.slice(0, -1).split("\n");
  return { lines: lines.slice(0, -1), end: JSON.parse(lines.at(-1)).end };
}

const stored = (contents) => {
  const backend = new StateBackend({ files: {} });
  const files = Object.entries(contents).map(([path, content]) => [
    path,
    typeof content === "string" ? encoder.encode(content) : content,
  ]);
  for (const { error } of backend.uploadFiles(files)) assert.equal(error, null);
  return backend;
};

const ALL = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join("");
const PATHS = ["/a.txt", '/with "quotes".txt', "/sub/ünï-日本.txt", "/sub/\u{1f600} b.txt"];
const LETTERS = [
  "a",
  "Z",
  " ",
  '"',
  "\\",
  "/",
  "\t",
  "\u0001",
  "\u001f",
  "\u007f",
  "é",
  "日",
  "😀",
];

/** Numbers that are the same each time. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const CONTENTS = {
  "plain lines": { "/a.txt": "one\ntwo\nthree\n" },
  "empty lines": { "/a.txt": "\n\n\n", "/b.txt": "x\n\n" },
  "all control characters": { "/a.txt": `${ALL.replace("\n", "").replace("\0", "")}\n` },
  "quotes and backslashes": { "/a.txt": `"\\"\\\\""\n\\n\\u0041\n` },
  "letters of two, three and four bytes": { "/a.txt": "é\n日本語\n😀😀\nñandú 😀 日\n" },
  "line separators of Unicode": { "/a.txt": "a\u2028b\u2029c\u0085d\n" },
  "a byte order mark": { "/a.txt": "\ufeffone\n" },
  "bytes that are no UTF-8": {
    "/a.txt": new Uint8Array([104, 255, 105, 10, 195, 40, 10, 237, 160]),
  },
  "carriage returns": { "/a.txt": "one\r\ntwo\rthree\r\n" },
  "paths that need escapes": Object.fromEntries(PATHS.map((path) => [path, "x\n"])),
  "lines longer than a piece": { "/a.txt": `${'"'.repeat(300_000)}\n${"é".repeat(200_000)}\nx\n` },
  "letters across the chunks of an answer": {
    "/a.txt": `${"a".repeat(16_383)}é\n${"b".repeat(16_384)}\n${"日".repeat(9_000)}\nz\n`,
  },
  "a chunk that is ASCII between two that are not": {
    "/a.txt": `${"é".repeat(20_000)}\n${"a\n".repeat(20_000)}${"é".repeat(20_000)}\n`,
  },
  "numbers of lines with one to six digits": { "/a.txt": "x\n".repeat(100_001) },
};

describe("each line is the match as JSON", () => {
  for (const [what, contents] of Object.entries(CONTENTS)) {
    for (const through of ["memory", "a policy", "a mount"]) {
      test(`${what}, through ${through}`, async (t) => {
        const memory = stored(contents);
        const backend = {
          memory: () => memory,
          "a policy": () => withPolicy(memory, {}),
          "a mount": () => new CompositeBackend(memory, {}),
        }[through]();
        const { url } = await over(t, backend);
        const wanted = memory.grep("").matches.map((match) => JSON.stringify(match));
        assert.ok(wanted.length > 0);
        const { lines, end } = await linesOf(url, { pattern: "" });
        assert.deepEqual(lines, wanted);
        assert.deepEqual(end, {});
      });
    }
  }

  test("of 300 random trees", async (t) => {
    let backend;
    const { url } = await served(t, () => backend);
    for (let seed = 1; seed <= 300; seed += 1) {
      const next = random(seed);
      const text = () =>
        Array.from({ length: next(40) }, () => LETTERS[next(LETTERS.length)]).join("");
      // Half of them have ASCII alone.
      const pure = next(2) === 0 ? (line) => line.replace(/[^\0-\x7f]/gu, "~") : (line) => line;
      const line = () => pure(text().repeat(next(50) === 0 ? 400 : 1));
      const files = PATHS.slice(0, 1 + next(PATHS.length)).map((path) => [
        path,
        `${Array.from({ length: next(60) }, line).join("\n")}\n`,
      ]);
      backend = stored(Object.fromEntries(files));
      const pattern = ["", "a", '"', "😀", "\\"][next(5)];
      const wanted = backend.grep(pattern).matches.map((match) => JSON.stringify(match));
      assert.deepEqual((await linesOf(url, { pattern })).lines, wanted, `seed ${seed}`);
    }
  });
});

describe("an answer in pieces", () => {
  const many = () => stored({ "/a.txt": `${"é word\n".repeat(60_000)}` });

  test("stays the same while others search", async (t) => {
    const backend = many();
    const { url } = await over(t, backend);
    const wanted = backend.grep("word").matches.map((match) => JSON.stringify(match));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => linesOf(url, { pattern: at % 2 === 0 ? "word" : "é" })),
    );
    for (const { lines } of answers) assert.deepEqual(lines, wanted);
  });

  for (const maxResultBytes of [1, 45, 46, 1000, 300_000, 1_000_000]) {
    test(`ends behind the match with which it has ${maxResultBytes} bytes`, async (t) => {
      const backend = many();
      const { url } = await over(t, backend, { maxResultBytes });
      const wanted = backend.grep("word").matches.map((match) => JSON.stringify(match));
      const { lines, end } = await linesOf(url, { pattern: "word" });
      assert.deepEqual(lines, wanted.slice(0, lines.length));
      const bytes = (count) => encoder.encode(`${lines.slice(0, count).join("\n")}\n`).length;
      assert.ok(bytes(lines.length) >= maxResultBytes);
      assert.ok(lines.length === 1 || bytes(lines.length - 1) < maxResultBytes);
      assert.deepEqual(end, { truncated: true });
    });
  }

  test("says what else a search has", async (t) => {
    const { url } = await over(t, stored({ "/a.txt": "x\nx\nx\n" }));
    const { lines, end } = await linesOf(url, { pattern: "x", maxCount: 2, stats: true });
    assert.equal(lines.length, 2);
    assert.equal(end.truncated, true);
    assert.ok(end.stats === undefined || typeof end.stats.bytes === "number");
  });
});

describe("matches are objects", () => {
  const text = "one\ntwo x\nthree\n";
  const same = { path: "/a.txt", line: 2, text: "two x" };

  test("for a method in the place of kitbag's", async (t) => {
    class Mine extends StateBackend {
      grep(...given) {
        const answer = super.grep(...given);
        return { ...answer, matches: answer.matches.filter(({ text }) => text !== "one") };
      }
    }
    const backend = new Mine({ files: { "/a.txt": text } });
    const { url } = await over(t, backend);
    const { lines } = await linesOf(url, { pattern: "e" });
    assert.deepEqual(
      lines.map(JSON.parse).map(({ line }) => line),
      [3],
    );
  });

  test("for a method that was put on an object", async (t) => {
    const backend = new StateBackend({ files: { "/a.txt": text } });
    const { grep } = backend;
    backend.grep = (...given) => {
      const answer = grep.apply(backend, given);
      return { ...answer, matches: answer.matches.map((match) => ({ ...match, text: "?" })) };
    };
    const { url } = await over(t, backend);
    const { lines } = await linesOf(url, { pattern: "x" });
    assert.deepEqual(lines.map(JSON.parse), [{ ...same, text: "?" }]);
  });

  test("of an object of another library", async (t) => {
    const backend = { grep: () => ({ matches: [same] }), ls: () => ({ files: [] }) };
    const { url } = await over(t, adaptBackendProtocol(backend));
    assert.deepEqual((await linesOf(url, { pattern: "x" })).lines.map(JSON.parse), [same]);
  });

  test("with lines around them", async (t) => {
    const { url } = await over(t, new StateBackend({ files: { "/a.txt": text } }));
    const { lines } = await linesOf(url, { pattern: "x", before: 1, after: 1 });
    assert.deepEqual(lines.map(JSON.parse), [{ ...same, before: ["one"], after: ["three"] }]);
  });

  test("in an answer that is not asked for line by line", async (t) => {
    const { url } = await over(t, new StateBackend({ files: { "/a.txt": text } }));
    const answer = await fetch(`${url}/`, {
      headers: { "x-kitbag-query": JSON.stringify({ op: "grep", pattern: "x" }) },
    });
    assert.deepEqual((await answer.json()).matches, [same]);
  });
});

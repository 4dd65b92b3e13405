// The worst input of a megabyte for each engine of docs/limits.md that can be asked for much. Each
// entry makes its input first and returns the calls to measure, with the answers they may give.

import assert from "node:assert/strict";
import { withIgnore } from "../../pkg/dist/ignore.js";
import { applyPatch, begin, StateBackend, toPatch, undo } from "../lib/kitbag.mjs";
import { json, nearest, v4a } from "./adapters.mjs";
import { records } from "./records.mjs";

const MIB = 2 ** 20;
const utf8 = new TextEncoder();

/** Where the files of a call are, unless a test says otherwise. */
const inMemory = (files) => new StateBackend({ files, writeMode: "overwrite" });
const regex = (backend, pattern, more) =>
  backend.grep(pattern, "/", null, null, { regex: true, ...more });

/** An answer, or an error with one of these codes. */
function answered(answer, ...codes) {
  if (answer.error !== undefined && !codes.includes(answer.code)) {
    assert.fail(JSON.stringify(answer).slice(0, 300));
  }
  return answer;
}

function noise(letters, length) {
  let seed = 7;
  return Uint8Array.from({ length }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return 97 + ((seed >>> 16) % letters);
  });
}

const lines = (count, line) => Array.from({ length: count }, (_, at) => `${line(at)}\n`).join("");

/** Pairs of texts, a megabyte together, that are slow for the usual algorithms of differences. */
export const PAIRS = {
  "equal lines and two lines": ["\n".repeat(MIB), "x\n\n"],
  "two lines and equal lines": ["x\n\n", "\n".repeat(MIB)],
  "equal lines, and others between": ["\n".repeat(MIB / 2), "\n\nx\n".repeat(MIB / 8)],
  "every second line changed": [
    lines(80_000, (at) => at),
    lines(80_000, (at) => (at % 2 ? `${at}!` : at)),
  ],
  "the same lines in another order": [
    lines(80_000, (at) => at >> 1),
    lines(80_000, (at) => at % 40_000),
  ],
  "all lines different": [lines(60_000, (at) => `a${at}`), lines(60_000, (at) => `b${at}`)],
  "long lines with one beginning": [
    lines(500, (at) => `${"x".repeat(1000)}${at}`),
    lines(500, (at) => `${"x".repeat(1000)}${at * 3}`),
  ],
  "interleaved blocks": [lines(120_000, (at) => at % 300), lines(120_000, (at) => (at * 7) % 300)],
  "every line in the reverse order": [
    lines(70_000, (at) => at),
    lines(70_000, (at) => 69_999 - at),
  ],
  "equal lines and three, of 150 KB": ["\n".repeat(150_000), "x\n\n"],
  "noise of sixteen letters": [
    new TextDecoder().decode(noise(16, MIB / 4)).replace(/./g, "$&\n"),
    new TextDecoder().decode(noise(16, MIB / 4).reverse()).replace(/./g, "$&\n"),
  ],
};

const IGNORED = {
  "lines, 220 KB": lines(40_000, (at) => `${at}`),
  "stars, 220 KB": lines(900, () => `${"*a".repeat(120)}b*`),
  "one line": "a".repeat(MIB),
  "classes that do not end": "[".repeat(MIB),
  "classes within a class": `[${"[:".repeat(MIB / 2 - 1)}]`,
  "named classes": `[${"[:alnum:]".repeat(MIB / 9)}]`,
  "ranges of a class": `[${"\u0001-~".repeat(MIB / 3)}]`,
  stars: "a*".repeat(MIB / 2),
  names: lines(MIB / 8, (at) => `a${at}`),
  endings: lines(MIB / 8, (at) => `*.${at}`),
  beginnings: lines(MIB / 8, (at) => `${at}*`),
  directories: lines(MIB / 8, (at) => `x${at}*/`),
  "stars that match nearly": lines(MIB / 400, () => `${"*a".repeat(200)}b*`),
  "deep stars": lines(MIB / 400, () => `${"**/a*".repeat(80)}/b*`),
};

const tree = () => {
  const files = {};
  for (let at = 0; at < 100; at++) {
    files[`/${at}/${"a".repeat(250)}`] = "needle";
    files[`/${at}/${"a/".repeat(120)}a`] = "needle";
    files[`/${at}/${"a*".repeat(100)}`] = "needle";
  }
  return files;
};

const X = utf8.encode("x");

/** Receipts that somebody has changed, or made. */
function receipts(backend) {
  const at = new Date().toISOString();
  const receipt = (files) => ({ id: "x", by: "x", at, files });
  const many = (file) => Array.from({ length: MIB / 32 }, (_, at) => file(at));
  const cases = {
    "a receipt of many files": receipt(many((at) => ({ path: `/${at}`, before: null, after: X }))),
    "a receipt of one file, many times": receipt(
      many(() => ({ path: "/a.txt", before: null, after: X })),
    ),
    "a receipt of one name": receipt([{ path: "/a".repeat(MIB / 2), before: null, after: X }]),
  };
  return Object.fromEntries(
    Object.entries(cases).map(([name, one]) => [
      name,
      // What is no receipt is thrown, as every wrong argument.
      async () => {
        try {
          assert.ok((await undo(backend, one)) !== undefined);
        } catch (error) {
          assert.ok(error instanceof TypeError, `${error}`);
        }
      },
    ]),
  );
}

/** By the name of the engine: the calls to measure, by name. */
export const ENGINES = {
  "ignore files": (state = inMemory) =>
    Object.fromEntries(
      Object.entries(IGNORED).map(([name, text]) => {
        const backend = withIgnore(state({ ...tree(), "/.gitignore": text }));
        return [
          name,
          async (options) => {
            const found = answered(
              await backend.grep("needle", "/", null, null, options),
              "timeout",
            );
            // Another call would have the whole time limit again.
            if (found.error !== undefined) return found;
            return answered(await backend.glob("**/*", "/", options), "timeout");
          },
        ];
      }),
    ),
  differences: (state = inMemory) =>
    Object.fromEntries(
      Object.entries(PAIRS).map(([name, [before, after]]) => {
        const turn = begin(state({ "/a.txt": before }));
        return [
          name,
          async (options) => {
            await turn.uploadFiles([["/a.txt", utf8.encode(after)]]);
            const answer = answered(await turn.diff(options), "timeout");
            if (answer.changes) assert.ok(answer.changes[0].hunks.length > 0);
            return answer;
          },
        ];
      }),
    ),
  merges: (state = inMemory) => {
    const changed = (rest, what) => lines(100_000, (at) => (at % 10 === rest ? what : at));
    const pairs = Object.entries(PAIRS).map(([name, [before, after]]) => [
      name,
      [before, after, `${before}end\n`],
    ]);
    const base = changed(-1);
    const cases = [
      ...pairs,
      ["10,000 conflicts", [base, changed(1, "ours"), changed(1, "theirs")]],
      ["10,000 changes on both sides", [base, changed(1, "ours"), changed(6, "theirs")]],
    ];
    return Object.fromEntries(
      cases.map(([name, [before, ours, theirs]]) => [
        name,
        async (options) => {
          const backend = state({ "/a.txt": before });
          const turn = begin(backend);
          await turn.uploadFiles([["/a.txt", utf8.encode(ours)]]);
          await backend.uploadFiles([["/a.txt", utf8.encode(theirs)]]);
          return answered(await turn.rebase(options), "timeout");
        },
      ]),
    );
  },
  patches: (state = inMemory) => {
    const same = "a\n".repeat(MIB / 2);
    const hunk = (at, old, fresh) =>
      `@@ -${at},${old.length} +${at},${fresh.length} @@\n${old.map((line) => `-${line}\n`).join("")}${fresh
        .map((line) => `+${line}\n`)
        .join("")}`;
    const head = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n";
    const rows = Array.from({ length: 30_000 }, (_, at) => `${at}`);
    const cases = {
      "a hunk that fits nowhere": [same, head + hunk(1, [...Array(100_000).fill("a"), "b"], ["c"])],
      "hunks far from their lines": [
        `${rows.join("\n")}\n`,
        head + rows.map((line, at) => hunk(30_000 - at, [line], ["x"])).join(""),
      ],
      "a hunk of very many lines": [same, head + hunk(1, Array(MIB / 4).fill("a"), ["c"])],
      "a name of a megabyte": ["a\n", `${head}--- "${"a".repeat(MIB)}"\n+++ "b"\n`],
      "a name of tabs": ["a\n", `${head}--- ${"\t".repeat(MIB)}\u2028\n+++ b\n`],
      "headers alone": ["a\n", "diff --git a/a.txt b/a.txt\n".repeat(MIB / 27)],
      "10,000 hunks": [
        `${rows.join("\n")}\n`,
        head +
          rows
            .filter((_, at) => at % 3 === 0)
            .map((line) => hunk(+line + 1, [line], ["x"]))
            .join(""),
      ],
    };
    const written = {
      "a patch that is written": async () => {
        const [before, after] = PAIRS["every second line changed"];
        const turn = begin(state({ "/a.txt": before }));
        await turn.uploadFiles([["/a.txt", utf8.encode(after)]]);
        answered(toPatch(answered(await turn.diff()).changes));
      },
    };
    const applied = Object.fromEntries(
      Object.entries(cases).map(([name, [text, patch]]) => {
        const backend = state({ "/a.txt": text });
        const codes = ["no_match", "invalid_argument", "not_found", "invalid_path"];
        return [
          name,
          async (options) =>
            answered(await applyPatch(backend, patch, options), ...codes, "unavailable", "timeout"),
        ];
      }),
    );
    return { ...written, ...applied };
  },
  "undo of a receipt": (state = inMemory) => {
    const backend = state({ "/a.txt": PAIRS["every second line changed"][0] });
    return {
      "a large text": async () => {
        const turn = begin(backend);
        const after = PAIRS["every second line changed"][1];
        await turn.uploadFiles([["/a.txt", utf8.encode(after)]]);
        const { receipt } = answered(await turn.commit());
        answered(await undo(backend, receipt));
      },
      ...receipts(backend),
    };
  },
  records,
  "glob patterns": (state = inMemory) => {
    const files = {};
    for (let at = 0; at < 1_000; at++) files[`/${at}/${"a".repeat(1000)}`] = "needle";
    const backend = state(files);
    const patterns = {
      stars: `**/${"*a".repeat(2000)}b*`,
      alternatives: `**/{${Array(33)
        .fill(`${"*a".repeat(60)}?b*`)
        .join(",")}}`,
      classes: `**/${"*[a-z]".repeat(600)}b*`,
      directories: `${"**/a*/".repeat(600)}b*`,
      "braces within braces": `**/${"{*a*,*b*}".repeat(9)}c*`,
    };
    const codes = ["timeout", "invalid_pattern"];
    const calls = Object.entries(patterns).flatMap(([name, pattern]) => [
      [name, async () => answered(await backend.glob(pattern), ...codes)],
      [
        `${name}, excluded`,
        async () => answered(await backend.grep("needle", "/", `!${pattern}`), ...codes),
      ],
    ]);
    return Object.fromEntries(calls);
  },
  "expressions, compiled": (state = inMemory) => {
    const backend = state({ "/a.txt": "one\n" });
    const pieces = [
      "(a|b)*",
      "[a-z]",
      "(?:a{0,9}){0,9}",
      "\\s",
      "(",
      "a?",
      "[^a]|",
      "(?i)é",
      "x{99}",
    ];
    const wide = (at) => `[${String.fromCodePoint(0x100 + at)}-\u{10ffff}]`;
    const patterns = [
      ...pieces.map((piece) => [piece, piece.repeat(8_192 / piece.length)]),
      ["classes of nearly everything", Array.from({ length: 900 }, (_, at) => wide(at)).join("")],
    ];
    return Object.fromEntries(
      patterns.map(([name, pattern]) => [
        name,
        async () =>
          answered(await regex(backend, pattern, { ignoreCase: true }), "invalid_pattern"),
      ]),
    );
  },
  "expressions, searched": (state = inMemory) => {
    const texts = {
      noise: new TextDecoder().decode(noise(2, MIB)),
      "short lines": "a\n".repeat(MIB / 2),
      "one line": "a".repeat(MIB),
    };
    const patterns = ["(?:[ab]*a[ab]{490}){8}c", "(.*)(.*)(.*)(.*)x", "(a|a|a)*$b", "^(a?){100}b"];
    const calls = {};
    for (const [name, text] of Object.entries(texts)) {
      const backend = state({ "/a.txt": text });
      for (const pattern of patterns) {
        calls[`${pattern} in ${name}`] = async () =>
          answered(await regex(backend, pattern), "timeout");
      }
    }
    return calls;
  },
  "literals, searched": (state = inMemory) => {
    const ascii = state({ "/a.txt": "a".repeat(MIB) });
    const wide = state({ "/a.txt": "é".repeat(MIB / 2) });
    const near = `${"a".repeat(10_000)}b`;
    const folded = { ignoreCase: true };
    const search = (backend, text, more) => async () =>
      answered(await backend.grep(text, "/", null, null, more));
    return {
      "a text that nearly matches": search(ascii, near),
      "the same in any case": search(ascii, near, folded),
      "letters beyond ASCII in any case": search(wide, `${"É".repeat(5_000)}x`, folded),
      "the long s": search(
        state({ "/a.txt": "ſ".repeat(MIB / 2) }),
        `${"s".repeat(5_000)}x`,
        folded,
      ),
    };
  },
  "V4A patches": v4a,
  "nearest lines": nearest,
  JSON: json,
  replacing: (state = inMemory) => {
    const calls = {
      "every byte": ["a".repeat(MIB), "a", "bb"],
      "nearly everywhere": ["a".repeat(MIB), `${"a".repeat(10_000)}b`, "c"],
      "other line endings": ["a\r\n".repeat(MIB / 3), "a\na\n", "b\n"],
      "other line endings, nearly": ["a\r\n".repeat(MIB / 3), `${"a\n".repeat(10_000)}b`, "c"],
    };
    return Object.fromEntries(
      Object.entries(calls).map(([name, [text, old, fresh]]) => [
        name,
        async () =>
          answered(await state({ "/a.txt": text }).edit("/a.txt", old, fresh, true), "no_match"),
      ]),
    );
  },
  paging: (state = inMemory) => {
    const backend = state({ "/a.txt": "\n".repeat(MIB) });
    return {
      "every line": async () => answered(await backend.read("/a.txt", 0, 2 * MIB)),
      "the last line, a hundred times": async () => {
        for (let at = 1; at <= 100; at++) answered(await backend.read("/a.txt", MIB - at, 1));
      },
    };
  },
};

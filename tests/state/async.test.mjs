// `grepAsync` and `globAsync`: what the synchronous methods find, with pauses in which a page draws its
// frames.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { FRAME, stretches } from "../lib/stretches.mjs";
import { measured } from "../lib/work.mjs";

/** The best of so many: what else the machine does is not what is measured. */
const ATTEMPTS = 10;

const words = [
  "const",
  "await",
  "read",
  "Ünïcödé",
  "return",
  "value",
  "=>",
  "/* note */",
  "STRASSE",
];
let state = 11;
const roll = (sides) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * sides);
};
const LINES = Array.from({ length: 4_096 }, (_, at) => {
  const line = Array.from({ length: 7 }, () => words[roll(words.length)]).join(" ");
  return `${line} ${at}${at === 77 ? " rare_word" : ""}`;
});
const text = (first, bytes) => {
  const lines = [];
  for (let size = 0, at = first; size < bytes; at++) {
    lines.push(LINES[at % LINES.length]);
    size += lines.at(-1).length + 1;
  }
  return lines.join("\n");
};

/** About 100 MB: 16,000 small files and two large ones. */
function large() {
  const files = { "/big/one.txt": text(5, 12e6), "/big/two.md": text(9, 12e6) };
  const bodies = Array.from({ length: 64 }, (_, at) => text(at * 61, 4_800));
  for (let at = 0; at < 16_000; at++) files[`/src/d${at % 40}/f${at}.ts`] = bodies[at % 64];
  return new StateBackend({ files });
}
const files = large();

const QUERIES = [
  ["a text that is nowhere", ["zqxjkv wyvern"]],
  ["a rare text", ["rare_word"]],
  ["a common text, the first 10,000 lines", ["await", "/", null, 10_000]],
  ["a common text in large files", ["await", "/big", null, 10_000]],
  ["every line of large files, with context", ["", "/big", "*.md", 5_000, { before: 1, after: 1 }]],
  ["ASCII in any case", ["RARE_WORD", "/", null, null, { ignoreCase: true }]],
  ["text beyond ASCII in any case", ["ÜNÏCÖDÉ 7", "/big", null, 10_000, { ignoreCase: true }]],
  ["an expression", ["(await|value) \\w+ 409[0-9]$", "/", null, null, { regex: true }]],
  [
    "an expression with a limit for each file",
    ["re.*d", "/", "*.ts", null, { regex: true, maxPerFile: 1 }],
  ],
];

/** The last answer of a call whose longest stretch is at most `most` milliseconds in one of its runs. */
async function short(run, most, what) {
  let answer;
  const seen = await measured(
    most,
    async () => {
      const one = await run();
      answer = one.answer;
      return Math.round(one.longest * 10) / 10;
    },
    ATTEMPTS,
  );
  console.log(`# ${what}: ${seen.join(", ")} ms`);
  assert.ok(seen.at(-1) <= most, `${what}: ${seen.join(", ")} ms`);
  return { answer };
}

describe("100 MB", () => {
  for (const [what, query] of QUERIES) {
    test(`${what}: the matches of grep`, async () => {
      const found = await files.grepAsync(...query);
      assert.equal(found.error, undefined);
      assert.deepEqual(found, files.grep(...query));
    });

    test(`${what}: no stretch is longer than a frame`, async () => {
      await short(() => stretches(() => files.grepAsync(...query)), FRAME, what);
    });
  }

  test("a policy, whose methods return promises, has no longer stretches", async () => {
    const guarded = withPolicy(files, { readOnly: true });
    const search = () => guarded.grep("re.*d 4", "/", null, 10, { regex: true });
    await short(() => stretches(search), FRAME, "a policy");
  });

  for (const pattern of ["**/*.md", "src/d7/*.ts", "/big/*"]) {
    test(`globAsync finds what glob finds: ${pattern}`, async () => {
      const find = () => stretches(() => files.globAsync(pattern));
      const { answer } = await short(find, FRAME * 2, pattern);
      assert.deepEqual(answer, files.glob(pattern));
      assert.ok(answer.files.length > 0);
    });
  }

  test("a signal ends a search with the next pause", async () => {
    const slow = ["[a-d]{3}\\w*[q-t]{3}", "/", null, null];
    const ended = async () => {
      const abort = new AbortController();
      let settled = false;
      let turns = 0;
      const count = () => {
        if (settled) return;
        turns += 1;
        setImmediate(count);
      };
      setTimeout(() => {
        abort.abort();
        setImmediate(count);
      }, 20);
      const seen = await stretches(async () => {
        const found = await files.grepAsync(...slow, { regex: true, signal: abort.signal });
        settled = true;
        return found;
      });
      assert.equal(seen.answer.code, "timeout");
      assert.match(seen.answer.error, /signal/);
      assert.ok(turns <= 1, `${turns} turns after its signal`);
      return seen;
    };
    await short(ended, FRAME * 2, "a signal");
    const worked = await measured(30, async () => {
      const { user } = process.cpuUsage();
      const began = performance.now();
      while (performance.now() - began < 40) await new Promise((next) => setTimeout(next, 5));
      return (process.cpuUsage().user - user) / 1000;
    });
    assert.ok(worked.at(-1) < 30, `worked on for ${worked} ms`);
  });
});

describe("changes during a search", () => {
  const LOOKS_FOR = ["[a-d]{3}\\w*[q-t]{2}|the needle", "/", null, null, { regex: true }];

  test("each file is searched once, as it is when the search comes to it", async () => {
    const own = new StateBackend({ files: {}, writeMode: "overwrite" });
    const name = (at) => `/f${String(at).padStart(3, "0")}.txt`;
    const body = (at, words) => `${text(at, 40_000)}\n${words}\n`;
    for (let at = 0; at < 600; at++) own.write(name(at), body(at, "the needle"));
    let done = false;
    let [low, high] = [0, 599];
    const change = () => {
      if (done || low === 10) return;
      // Behind the search, and before it.
      own.write(name(low), body(low, "late"));
      own.delete(name(low + 1));
      own.write(`/a${low}.txt`, "the needle late");
      own.write(name(high), body(high, "early"));
      own.edit(name(high - 1), "the needle", "the needle early");
      own.delete(name(high - 2));
      own.write(`/z${high}.txt`, "the needle early");
      low += 2;
      high -= 3;
      setImmediate(change);
    };
    const search = own.grepAsync(...LOOKS_FOR);
    setImmediate(change);
    const { matches, error } = await search;
    done = true;
    assert.equal(error, undefined);
    assert.equal(low, 10, `${low / 2} times changed`);
    const rows = matches.map(({ path, line }) => `${path} ${line}`);
    assert.equal(new Set(rows).size, rows.length, "no line is found twice");
    assert.deepEqual(
      matches.map(({ path }) => path),
      matches.map(({ path }) => path).toSorted(),
    );
    const texts = new Set(matches.map(({ text: found }) => found));
    assert.ok(
      !texts.has("the needle late") && texts.has("the needle early"),
      [...texts].slice(0, 9),
    );
    const found = new Set(matches.map(({ path }) => path));
    for (let at = 0; at <= high - 3; at++) assert.ok(found.has(name(at)), name(at));
    for (let at = high + 3; at < 600; at += 3) assert.ok(!found.has(name(at)), name(at));
  });

  test("a file that is changed while it is searched is found as it was", async () => {
    const long = `${text(3, 8e6)}\nthe needle\n`;
    const own = new StateBackend({ files: { "/a.txt": long } });
    const before = own.grep(...LOOKS_FOR);
    const search = own.grepAsync(...LOOKS_FOR);
    own.edit("/a.txt", "the needle", "a pin");
    own.append("/a.txt", "the needle\n");
    own.delete("/a.txt");
    assert.deepEqual(await search, before);
  });

  test("several searches at once do not disturb each other", async () => {
    const found = await Promise.all(
      QUERIES.slice(0, 3).map(([, query]) => files.grepAsync(...query)),
    );
    QUERIES.slice(0, 3).forEach(([, query], at) => {
      assert.deepEqual(found[at], files.grep(...query));
    });
  });

  test("a backend that is disposed of during a search ends it without an exception", async () => {
    const own = new StateBackend({ files: { "/a.txt": text(1, 3e6) } });
    const search = own.grepAsync("(?:[a-z ]*a[a-z ]{20}){2}zzz", "/", null, null, { regex: true });
    own.dispose();
    const { error, matches } = await search;
    assert.ok(error !== undefined || matches.length === 0);
    assert.equal((await own.grepAsync("a")).code, "unavailable");
  });
});

describe("other states", () => {
  test("a channel is read at the call", async () => {
    const now = { "/a.txt": { content: "one", modified_at: "2026-01-01T00:00:00.000Z" } };
    const own = new StateBackend({ channel: { read: () => now, send: () => {} } });
    assert.equal((await own.grepAsync("one")).matches[0].path, "/a.txt");
    now["/b.txt"] = { content: "one", modified_at: "2026-01-01T00:00:00.000Z" };
    assert.equal((await own.grepAsync("one")).matches.length, 2);
    assert.equal((await own.globAsync("*.txt")).files.length, 2);
  });

  test("wrong arguments and options are refused in words", async () => {
    const refused = async (answer, words, code = "invalid_argument") => {
      const { error, code: seen } = await answer;
      assert.match(error, words);
      assert.equal(seen, code);
    };
    await refused(files.grepAsync(5), /pattern/);
    await refused(files.grepAsync("a", "/", null, { timeoutMs: "5" }), /options.timeoutMs/);
    await refused(files.grepAsync("a", "/", null, { maxcount: 5 }), /"maxcount".*maxCount/);
    await refused(files.grepAsync("(", "/", null, { regex: true }), /./, "invalid_pattern");
    await refused(files.globAsync("*", "/", { signal: 5 }), /options.signal/);
    await refused(files.globAsync("*", "/", { sort: 1 }), /"sort"/);
    await refused(files.globAsync("["), /./, "invalid_pattern");
    const early = { signal: AbortSignal.abort() };
    await refused(files.grepAsync("a", "/", null, early), /before it began/, "timeout");
    await refused(files.globAsync("*", "/", early), /before it began/, "timeout");
  });
});

// A hostile model: five hundred generated calls with wrong names, types, paths and numbers, over
// files with a rule on some of them and a shell behind them. Half of what it sends is well formed and
// aims at the secret; nothing may throw, and the rule must hold.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend } from "kitbag";
import { withBash } from "kitbag/just-bash";

const SECRET = "TOP-SECRET-1";

const PATHS = [
  "/secret/key",
  "secret/key",
  "//secret//key",
  "/open/../secret/key",
  "/./secret/key",
  "/secret/key/",
  "/SECRET/key",
  "/secret%2fkey",
  "/open/%2e%2e/secret/key",
  "C:\\secret\\key",
  "~/secret/key",
  "\0/secret/key",
  "",
  "/",
  "/secret",
  "/open",
  "/open/a",
  "x".repeat(5_000),
  "😀",
  "\ud800",
  "__proto__",
];

const PATTERNS = [
  "TOP",
  "",
  "hello",
  "(a+)+$",
  "[",
  "**/*",
  "/secret/**",
  "{secret,open}/**",
  "s*/k*",
  "*".repeat(3_000),
  "{".repeat(3_000),
  "y".repeat(100_000),
];

const COMMANDS = ["cat /secret/key", "grep -r TOP /", "rm -rf /secret", "echo x > /secret/key", ""];

const NUMBERS = [0, -1, 1, 1e308, -1e308, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1e-300];

const JUNK = [
  null,
  undefined,
  true,
  "1",
  "NaN",
  [],
  {},
  [["a"]],
  { toString: 1 },
  ...NUMBERS,
  ...PATTERNS,
  ...PATHS,
];

/** What each parameter takes, well formed. */
const FITTING = {
  file_path: PATHS,
  path: PATHS,
  content: ["x", "", "y".repeat(100_000)],
  old_string: ["hello", "TOP", ""],
  new_string: ["hello", "x"],
  replace_all: [true, false, "true"],
  pattern: PATTERNS,
  glob: PATTERNS,
  output_mode: ["content", "count", "files_with_matches"],
  max_count: [0, 1, 2 ** 31],
  regex: [true, false],
  ignore_case: [true, false],
  before: [0, 1, 2 ** 53],
  after: [0, 1, 2 ** 53],
  offset: [0, 1, 2 ** 53, "1"],
  limit: [0, 1, 2 ** 53, "1"],
  column: [0, 1, 2 ** 53],
  command: COMMANDS,
  timeout: [0, 1, 3_600],
};

const STRANGERS = ["rm", "", "__proto__", "constructor", "read_file ", "LS"];

test("five hundred hostile calls: five hundred texts, no throw, the policy intact", async () => {
  const inner = new StateBackend({ files: { "/secret/key": SECRET, "/open/a": "hello\n" } });
  const files = createFileTools(withBash(inner), {
    permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
  });
  const tools = new Map(files.tools.map((tool) => [tool.name, tool]));
  assert.equal(files.tools.length, 8);
  let seed = 42;
  const random = (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  const pick = (list) => list[random(list.length)];
  const cyclic = {};
  cyclic.self = cyclic;
  const noInput = [...JUNK, "{", "[1", '{"a":', cyclic, () => 1, 1n, Symbol("s")];

  /** Fitting values, but for one in three calls, which has junk in some places. */
  const inputFor = (tool) => {
    if (random(12) === 0) return pick(noInput);
    const input = {};
    const wild = random(3) === 0;
    const required = tool?.inputSchema.required ?? [];
    const names = Object.keys(tool?.inputSchema.properties ?? FITTING);
    if (wild) names.push("__proto__", "extra");
    for (const name of names) {
      if (!required.includes(name) && random(3) === 0) continue;
      const value = wild && random(2) === 0 ? pick(JUNK) : pick(FITTING[name] ?? JUNK);
      Object.defineProperty(input, name, { value, enumerable: true, configurable: true });
    }
    return input;
  };

  const met = { stranger: 0, unfit: 0, denied: 0, done: 0 };
  for (let at = 0; at < 500; at++) {
    const name = random(6) === 0 ? pick(STRANGERS) : pick([...tools.keys()]);
    const input = inputFor(tools.get(name));
    const { text, isError } = await files.call(name, input, { callId: pick(PATHS) });
    assert.equal(typeof text, "string");
    assert.ok(text.length > 0 && text.length < 100_000, `${text.length}`);
    assert.ok(!text.includes(SECRET), text);
    // A shell sees no rule, so under one it may not run.
    if (name === "execute") assert.ok(isError, text);
    if (!isError) {
      met.done += 1;
      // A receipt may repeat a path that was given; what lists or searches must not know it.
      if (["ls", "glob", "grep"].includes(name)) assert.doesNotMatch(text, /^\/secret\/key/m);
    } else if (/permission denied|not allowed under|not available under/.test(text))
      met.denied += 1;
    else if (/does not exist\. The tools are/.test(text)) met.stranger += 1;
    else if (/must be|is missing|not valid JSON|Invalid p/.test(text)) met.unfit += 1;
  }
  console.log(`# ${JSON.stringify(met)}`);
  // The generator reaches what it is aimed at; the numbers are the same in every run.
  for (const [what, count] of Object.entries(met)) assert.ok(count >= 40, `${what}: ${count}`);
  assert.equal(inner.readRaw("/secret/key").data.content, SECRET);
  assert.deepEqual(
    inner.glob("secret/**").files.map((file) => file.path),
    ["/secret/key"],
  );
});

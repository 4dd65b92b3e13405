// Large files and hostile patterns in the seats: more lines than a function can have arguments, patterns
// that `RegExp` would follow for ever, and other work that goes on meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import { applyDiff } from "@openai/agents-core";
import { StateBackend, withPolicy } from "kitbag";
import { textEditorTool } from "kitbag/anthropic";
import { workspaceFilesystem } from "kitbag/mastra";
import { patchEditor } from "kitbag/openai";
import { FRAME, stretches } from "../lib/stretches.mjs";
import { slow } from "../lib/work.mjs";
import { dice } from "./lib.mjs";

/** More than any engine takes as arguments of one call. */
const MANY = 200_000;
const lines = (count, line) => Array.from({ length: count }, (_, at) => `${line(at)}\n`).join("");
const numbers = lines(MANY, (at) => at);
const backendOf = (content) =>
  new StateBackend({
    files: content === undefined ? {} : { "/a": content },
    writeMode: "overwrite",
  });
const contentOf = (backend) => Buffer.from(backend.downloadFiles(["/a"])[0].content).toString();

/** Differences of many lines. */
const LARGE = {
  "a change near the end": [numbers, `@@ ${MANY - 3}\n ${MANY - 2}\n-${MANY - 1}\n+end`],
  "a change at the beginning": [numbers, "-0\n+zero\n 1"],
  "two far from one another": [numbers, `@@\n-0\n+zero\n@@ ${MANY - 2}\n-${MANY - 1}\n+end`],
  "many lines added": ["a\nb\n", `@@ a\n${lines(MANY, (at) => `+${at}`)} b`],
  "many lines removed": [numbers, lines(MANY, (at) => `-${at}`)],
  "many changes in one section": [numbers, lines(MANY, (at) => (at % 2 ? ` ${at}` : `-${at}\n+x`))],
  "many sections": [lines(3_000, (at) => at), lines(1_000, (at) => `@@\n-${at * 3}\n+x`)],
  "many anchors": [lines(3_000, (at) => at), `${lines(1_000, (at) => `@@ ${at * 3}`)}-2998\n+x`],
  "the same lines again and again": ["a\nb\n".repeat(2_000), `${" a\n b\n".repeat(999)}-a\n+x\n b`],
  "white space at the ends": [lines(4_000, (at) => `  ${at}  `), "@@ 3000\n-3001\n+x\n 3002"],
  "at the end of the file": [`${"a\n".repeat(4_000)}`, `${" a\n".repeat(20)}+end\n*** End of File`],
  "Windows' line endings": [numbers.replaceAll("\n", "\r\n"), `@@ ${MANY - 2}\n-${MANY - 1}\n+end`],
};

for (const [name, [content, diff]] of Object.entries(LARGE)) {
  test(`V4A: ${name}`, async () => {
    const backend = backendOf(content);
    const operation = { type: "update_file", path: "a", diff };
    const { status, output } = await patchEditor(backend).updateFile(operation);
    assert.equal(status, "completed", output);
    let wanted;
    try {
      wanted = applyDiff(content, diff);
    } catch (error) {
      // Its own reader has too many arguments.
      if (!(error instanceof RangeError)) throw error;
      return assert.notEqual(contentOf(backend), content);
    }
    assert.ok(contentOf(backend) === wanted, "as applyDiff applies it");
  });
}

test("V4A: random differences of repeated lines as applyDiff applies them", async () => {
  const roll = dice(71);
  const words = ["a", "b", "a ", " a", "b\t", ""];
  const pick = () => words[roll(words.length)];
  let applied = 0;
  for (let at = 0; at < 400; at++) {
    const file = Array.from({ length: 20 + roll(300) }, pick);
    const diff = [];
    for (let from = roll(40); from < file.length; from += roll(80)) {
      if (diff.length > 0 || roll(2)) diff.push(roll(3) ? "@@" : `@@ ${pick()}`);
      const real = () => (roll(12) ? file[from++] : file[from++]?.trim()) ?? "x";
      for (let one = roll(9); one > 0; one--) diff.push(` ${real()}`);
      if (roll(3)) diff.push(`-${real()}`);
      diff.push(`+${pick()}`);
      for (let one = roll(4); one > 0; one--) diff.push(` ${real()}`);
      if (roll(4) === 0) break;
    }
    if (roll(6) === 0) diff.push("*** End of File");
    const [content, text] = [file.join("\n"), diff.join("\n")];
    let wanted;
    try {
      wanted = applyDiff(content, text);
    } catch {
      wanted = undefined;
    }
    const backend = backendOf(content);
    const operation = { type: "update_file", path: "a", diff: text };
    const { status } = await patchEditor(backend).updateFile(operation);
    assert.equal(status, wanted === undefined ? "failed" : "completed", JSON.stringify(text));
    assert.equal(contentOf(backend), wanted ?? content, JSON.stringify([content, text]));
    if (wanted !== undefined) applied += 1;
  }
  assert.ok(applied > 100, `${applied} applied`);
});

test("V4A: a difference that would take too long is refused, and the file stays", async () => {
  const content = `${"b \nc \nc \n".repeat(2e4)}${"b\nc\nb\n".repeat(8e4)}`;
  const backend = backendOf(content);
  const diff = "@@\n-b\n-c\n-c\n+d\n".repeat(2e4);
  const { status, output } = await patchEditor(backend).updateFile({
    type: "update_file",
    path: "a",
    diff,
  });
  assert.equal(status, "failed");
  assert.ok(contentOf(backend) === content);
  assert.ok(output.length < 1_000, output.slice(0, 200));
});

test("the text editor of Anthropic inserts many lines, at the ends and between", async () => {
  for (const [body, at] of [
    ["one\ntwo\n", 0],
    ["one\ntwo\n", 1],
    ["one\ntwo", 2],
    ["", 0],
    [numbers, MANY],
    [numbers, 5],
  ]) {
    const backend = backendOf(body);
    const input = { command: "insert", path: "/a", insert_line: at, insert_text: numbers };
    const answer = await textEditorTool(backend).run(input);
    assert.match(answer.text, /has been edited/, JSON.stringify(answer).slice(0, 200));
    const all = body === "" ? [] : body.replace(/\n$/, "").split("\n");
    all.splice(at, 0, numbers.slice(0, -1));
    const end = body.endsWith("\n") ? "\n" : "";
    assert.ok(contentOf(backend) === all.join("\n") + end, `${body.length}, ${at}`);
  }
});

test("Mastra lists a directory of very many files", async () => {
  const files = Object.fromEntries(Array.from({ length: 130_000 }, (_, at) => [`/d/${at}`, ""]));
  const workspace = workspaceFilesystem(new StateBackend({ files }));
  assert.equal((await workspace.readdir("/", { recursive: true })).length, 130_001);
});

/** Patterns that `RegExp` follows for ever, or nearly, and a line in which they match late or never. */
const HOSTILE = {
  "(a+)+$|b": ["a".repeat(40), "!b"],
  "(a*)*$|b": ["a".repeat(40), "!b"],
  "(a|a)*$|b": ["a".repeat(40), "!b"],
  "(?:a|a?)+$|b": ["a".repeat(40), "!b"],
  "(a+a+)+c|b": ["a".repeat(40), "!b"],
  "(?:(?:a+)+)+!!|b": ["a".repeat(40), "!b"],
  "([a-z]+\\d*)+;|b$": ["a".repeat(40), "!b"],
  "(\\w+\\s?)+$|b!": ["a a a ".repeat(12), "!b!"],
  "(a{1,40}){1,40}$|b": ["a".repeat(40), "!b"],
  "(.*)(.*)(.*)(.*)(.*)!!|b": ["a".repeat(3_000), "!b"],
  "(?:a?){40}a{40}!|b": ["a".repeat(39), "!b"],
  "(x+x+)+y|b": [`${"x".repeat(50)} `, "b"],
};

for (const [pattern, [before, end]] of Object.entries(HOSTILE)) {
  test(`Mastra's search for ${pattern} finds the column soon`, async () => {
    const line = before + end;
    const files = workspaceFilesystem(backendOf(`${line}\n!!`));
    for (const caseSensitive of [true, false]) {
      let found;
      const search = async () => {
        found = await files.grep({ pattern, path: "/", caseSensitive });
      };
      assert.deepEqual(await slow({ [pattern]: search }, 1, "columns"), []);
      assert.equal(found[0].matches[0].line, 1);
      assert.equal(found[0].matches[0].column, line.lastIndexOf("b"));
    }
  });
}

test("Mastra's columns are those of RegExp, for random patterns", async () => {
  const roll = dice(23);
  const pick = (from) => from[roll(from.length)];
  const atoms = [
    "a",
    "b",
    ".",
    "\\w",
    "\\d",
    "\\s",
    "[ab]",
    "[^a]",
    "\\b",
    "^",
    "$",
    "1",
    " ",
    "é",
  ];
  const more = ["[a-c1]", "\\x61", "\\u00e9", "😀", "{", "\\.", "\\W", "\\D", "[\\w-]", "\\t"];
  const counts = ["", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,}", "{2,}?"];
  const part = (depth) => {
    if (depth > 0 && roll(3) === 0) {
      const group = pick(["(", "(?:", "(?<n>"]);
      const choices = Array.from({ length: 1 + roll(2) }, () => sequence(depth - 1));
      return `${group}${choices.join("|")})${pick(counts)}`;
    }
    const atom = pick(roll(3) ? atoms : more);
    return /^(\\b|\^|\$)$/.test(atom) ? atom : atom + pick(counts);
  };
  const sequence = (depth) => Array.from({ length: roll(4) }, () => part(depth)).join("");
  const letters = [
    "a",
    "b",
    "A",
    "c",
    "1",
    " ",
    "é",
    "😀",
    ".",
    "-",
    "{",
    "\t",
    "_",
    "\r",
    "\u2028",
  ];
  let [checked, found] = [0, 0];
  for (let at = 0; at < 1_500; at++) {
    const pattern = [sequence(2), sequence(2)].slice(0, 1 + roll(2)).join("|");
    const caseSensitive = roll(2) === 0;
    let wanted;
    try {
      wanted = new RegExp(pattern, caseSensitive ? "" : "i");
    } catch {
      continue;
    }
    const texts = Array.from({ length: 6 }, () =>
      Array.from({ length: roll(12) }, () => pick(letters)).join(""),
    );
    const files = workspaceFilesystem(backendOf(`${texts.join("\n")}\n`));
    let results;
    try {
      results = await files.grep({ pattern, path: "/", caseSensitive });
    } catch {
      // Mastra searches by itself.
      continue;
    }
    checked += 1;
    const rows = (results[0]?.matches ?? []).map(({ line, column, text }) => [line, column, text]);
    for (const [, column, text] of rows) {
      assert.equal(column, text.search(wanted), JSON.stringify([pattern, text, caseSensitive]));
      found += 1;
    }
  }
  assert.ok(checked > 400 && found > 800, `${checked} patterns, ${found} columns`);
});

test("Mastra's columns in very long lines cost at most a second", async () => {
  const long = "a".repeat(1 << 20);
  const calls = {};
  for (const pattern of [
    "(a+)+$",
    "(a|b)*c|a$",
    "(.*)(.*)(.*)x|a",
    "(?:a{1,50}){1,50}b|a$",
    "a+",
  ]) {
    const files = workspaceFilesystem(backendOf(`${long}\n`));
    const many = workspaceFilesystem(backendOf("aaaa\n".repeat(1 << 17)));
    calls[pattern] = async () => assert.ok(await files.grep({ pattern, path: "/" }));
    calls[`${pattern} in many lines`] = async () => {
      const [{ matches }] = await many.grep({ pattern, path: "/" }).catch(() => [{ matches: [] }]);
      assert.ok(Array.isArray(matches));
    };
  }
  assert.deepEqual(await slow(calls, 1, "columns"), []);
});

test("other work goes on while Mastra's columns are found", async () => {
  const backend = withPolicy(backendOf(`${"a".repeat(250)}\n`.repeat(1_000)), {});
  const files = workspaceFilesystem(backend);
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 10 && least > FRAME; attempt++) {
    const search = () => files.grep({ pattern: "(a|b)*c|a$", path: "/" });
    const { answer, longest } = await stretches(search);
    assert.equal(answer[0].matches[999].column, 249);
    least = Math.min(least, longest);
  }
  assert.ok(least <= FRAME, `${least} ms`);
});

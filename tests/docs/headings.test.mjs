// Fifteen questions that people ask, each answered by a heading of the site.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileOf, groups, pageNames } from "../../scripts/docs/pages.mjs";
import { at } from "../../scripts/lib/paths.mjs";

const QUESTIONS = {
  "which backend": ["choose", /^Which backend should I use\?$/],
  persist: ["persistence", /^Keep files: persistence$/],
  "share between tabs": ["tabs", /^Share files between tabs$/],
  "limit to a folder": ["folder", /^Limit an agent to a folder$/],
  conflict: ["concurrency", /^Conflicts: several writers$/],
  "see what the agent did": ["audit", /^See what the agent did$/],
  undo: ["undo", /^Undo$/],
  test: ["testing-agents", /^Test your agent$/],
  migrate: ["migrate", /^From deepagents' backends$/],
  "Next.js": ["nextjs", /^Next\.js$/],
  CSP: ["csp", /^Content Security Policy \(CSP\)$/],
  "cost in KB": ["sizes", /^Sizes in KB$/],
  "offset base": ["protocol", /where does `offset` begin\?$/],
  "own storage": ["custom", /^CustomBackend: your own storage$/],
  MCP: ["mcp", /^MCP server: files for any client$/],
};

/** The headings of a page, without those in its code. */
export function headings(name) {
  const text = readFileSync(fileOf(name), "utf8").replace(/^ *```[\s\S]*?^ *```$/gm, "");
  return [...text.matchAll(/^#{1,4} (.+)$/gm)].map(([, heading]) => heading);
}

for (const [question, [page, pattern]] of Object.entries(QUESTIONS)) {
  test(`"${question}" is answered by a heading`, () => {
    const found = headings(page).filter((heading) => pattern.test(heading));
    assert.equal(found.length, 1, `${page}: ${headings(page).join(", ")}`);
  });
}

test("there are fifteen questions", () => assert.equal(Object.keys(QUESTIONS).length, 15));

test("every page has one title, and is in the list of pages", () => {
  const listed = groups().flatMap(({ names }) => names);
  for (const name of pageNames().filter((one) => one !== "index")) {
    const text = readFileSync(fileOf(name), "utf8").replace(/^ *```[\s\S]*?^ *```$/gm, "");
    assert.equal([...text.matchAll(/^# /gm)].length, 1, name);
    assert.ok(listed.includes(name), name);
  }
});

test("a backend's page says its options, promises, limits and cost", () => {
  const { names } = groups().find(({ text }) => text === "Backends");
  assert.equal(names.length, 12);
  for (const name of names) {
    const text = headings(name).join("\n");
    for (const part of [/options/i, /promises|concurrent writers/i, /limits/i, /cost/i]) {
      assert.match(text, part, `${name}: ${part}`);
    }
  }
});

test("the npm page names every backend, and links to pages that exist", () => {
  const text = readFileSync(at("pkg-template/README.md"), "utf8");
  const index = readFileSync(at("ts/index.ts"), "utf8");
  const all = [...index.matchAll(/\b([A-Z]\w+Backend)\b/g)].map(([, name]) => name);
  // A type, and the class of what `withPolicy` returns, which has its own row.
  const backends = all.filter((name) => name !== "AnyBackend" && name !== "PolicyBackend");
  assert.match(text, /\| `withPolicy` \|/);
  assert.ok(backends.length >= 15);
  for (const name of backends) assert.ok(text.includes(`| \`${name}\` |`), name);
  const links = [...text.matchAll(/\]\(docs\/([\w-]+)\.md\)/g)].map(([, name]) => name);
  assert.ok(links.length > 25);
  assert.deepEqual(
    links.filter((name) => !pageNames().includes(name)),
    [],
  );
});

// Parts of the playground that need no page: where a command ended, the address of a model, and the
// pages of the documentation as `npm start` makes them.

import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import { html } from "../../scripts/lib/markdown.mjs";
import { at } from "../../scripts/lib/paths.mjs";

/** A module of the playground that imports nothing at run time. */
async function source(path) {
  const { code } = await transform(readFileSync(at(path), "utf8"), { loader: "ts", format: "esm" });
  const alone = code.replace(/^import .*$/gm, "");
  return import(`data:text/javascript;base64,${Buffer.from(alone).toString("base64")}`);
}

/** What a shell prints, and what must be shown and kept of it. */
export async function placesAreFound() {
  const { ended, newMark, within } = await source("www/src/shell/directory.ts");
  const mark = newMark();
  assert.notEqual(mark, newMark());
  const place = (directory) => `${mark}${directory}${mark}`;
  const cases = [
    [`out\n${place("/work")}`, "out\n", "/work"],
    [`${place("/work")}bash: foo: command not found\n`, "bash: foo: command not found\n", "/work"],
    [`${place("/work")}ls: x: No such file\n`, "ls: x: No such file\n", "/work"],
    [`${place("/work")}Error: EACCES: /work/a`, "Error: EACCES: /work/a", "/work"],
    [`a${place("/my dir/bash: x")}b`, "ab", "/my dir/bash: x"],
    [`${place("/a\nb")}c`, "c", "/a\nb"],
    [`\u0001/elsewhere\u0001${place("/work")}`, "\u0001/elsewhere\u0001", "/work"],
    [`${place("/work")}${place("/elsewhere")}`, place("/elsewhere"), "/work"],
    ["bash: syntax error\n", "bash: syntax error\n", undefined],
    [`cut off ${mark}/wo`, `cut off ${mark}/wo`, undefined],
    [place("%s"), "", undefined],
    ["", "", undefined],
  ];
  for (const [output, said, cwd] of cases) {
    const seen = ended(output, mark);
    assert.deepEqual([seen.said, seen.cwd], [said, cwd], JSON.stringify(output));
  }
  assert.match(within("/it's", "ls", mark), /^cd '\/it'\\''s'\nls\n/);
}

/** Addresses as users type them. */
export async function addressesAreCut() {
  const { baseOf } = await source("www/src/model/providers.ts");
  const local = "http://localhost:11434";
  for (const end of [
    "",
    "/",
    "//",
    "/v1",
    "/v1/",
    "/v1/messages",
    "/v1/chat/completions",
    "/v1/chat/completions/",
    "/messages",
    " ",
  ]) {
    assert.equal(baseOf(`${local}${end}`), local, end);
  }
  assert.equal(baseOf("https://openrouter.ai/api/v1"), "https://openrouter.ai/api");
  assert.equal(baseOf("https://host/v1/proxy"), "https://host/v1/proxy");
  assert.equal(baseOf("https://host/av1"), "https://host/av1");
  assert.equal(baseOf(""), "");
}

const CASES = [
  ["# One `two` & three", '<h1 id="one-two-three">One <code>two</code> &#38; three</h1>'],
  ["a **b** and *c*\nd", "<p>a <strong>b</strong> and <em>c</em>\nd</p>"],
  ["`**/*.md` and `<b>`", "<p><code>**/*.md</code> and <code>&#60;b&#62;</code></p>"],
  ["[a `b`](x.md#y)", '<p><a href="x.md#y">a <code>b</code></a></p>'],
  ["[a](javascript:alert(1))", "<p>a)</p>"],
  ["<script>alert(1)</script>", "<p>&#60;script&#62;alert(1)&#60;/script&#62;</p>"],
  ["![a](images/b.png)", '<p><img alt="a" src="images/b.png"></p>'],
  [
    "```ts continues\nconst a = 1 < 2;\n\n# no\n```",
    "<pre><code>const a = 1 &#60; 2;\n\n# no\n</code></pre>",
  ],
  ["- a\n- b\n  c\n\n- d", "<ul><li>a</li>\n<li>b\nc</li></ul>\n<ul><li>d</li></ul>"],
  ["`a\nb` **c\nd** `e`", "<p><code>a b</code> <strong>c\nd</strong> <code>e</code></p>"],
  ["1. a\n2. b", "<ol><li>a</li>\n<li>b</li></ol>"],
  [
    "| a | b |\n|---|---|\n| `x \\| y` | 2 |",
    "<table><thead><tr><th>a</th><th>b</th></tr></thead>\n<tbody><tr><td><code>x | y</code></td><td>2</td></tr></tbody></table>",
  ],
  ["> a\n> b", "<blockquote><p>a\nb</p></blockquote>"],
];

/** Markdown is rendered, and nothing of it becomes a script. */
export function markdownIsRendered() {
  for (const [markdown, wanted] of CASES) assert.equal(html(markdown), wanted, markdown);
}

/** Every page of the documentation is HTML, and each link in it leads to something. */
export function pagesAreRendered(folder) {
  const docs = join(folder, "docs");
  const names = readdirSync(docs).filter((name) => name.endsWith(".html"));
  const pages = new Map(names.map((name) => [name, readFileSync(join(docs, name), "utf8")]));
  assert.ok(names.length > 50, `${names.length}`);
  let links = 0;
  for (const [name, page] of pages) {
    assert.match(page, /<h1 /, name);
    assert.match(page, /<header>.*<a href="..\/index.html">Playground<\/a>/, name);
    const words = page.replace(/<pre>[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, "");
    assert.doesNotMatch(words, /^#{1,6} |^\|.*\||```|\]\(/m, name);
    for (const [, href] of page.matchAll(/<a href="([^"]*)">/g)) {
      if (/^[a-z]+:/.test(href)) continue;
      if (href === "../index.html") continue;
      const [file, id] = href.split("#");
      const target = pages.get(file || name);
      assert.ok(target, `${name}: ${href}`);
      if (id) assert.ok(target.includes(`id="${id}"`), `${name}: ${href}`);
      links += 1;
    }
  }
  assert.ok(links > 100, `${links}`);
}

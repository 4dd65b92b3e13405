// What a release refuses. The script itself runs once, dry: it names the fields that nobody gave.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { run } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import * as rules from "../../scripts/lib/release.mjs";

const manifest = {
  name: "kitbag",
  version: "1.2.3",
  description: "d",
  license: "MIT",
  homepage: "https://host.example/a/b#readme",
  repository: { type: "git", url: "git+https://host.example/a/b.git" },
  bugs: "https://host.example/a/b/issues",
  keywords: ["vfs", "virtual-filesystem", "ai-sdk", "mcp", "memory", "sandbox", "langgraph"],
  publishConfig: { access: "public", provenance: true },
  exports: { ".": { types: "./types/index.d.ts", default: "./dist/index.js" } },
  sideEffects: ["./dist/regex.js"],
};
const paths = [
  "LICENSE",
  "README.md",
  "llms.txt",
  "skills/kitbag/SKILL.md",
  "package.json",
  "types/index.d.ts",
  "dist/index.js",
  "dist/regex.js",
];
const versions = { crate: "1.2.3", lock: "1.2.3", manifest: "1.2.3", tags: ["v1.2.2"] };
const now = { commit: "abc", changed: [] };

test("what is right passes", () => {
  assert.deepEqual(rules.contents(paths, manifest), []);
  assert.deepEqual(rules.size(2_000_000), []);
  assert.deepEqual(rules.version(versions), []);
  assert.deepEqual(rules.version({ ...versions, tags: ["v1.2.3"], tag: "v1.2.3" }), []);
  assert.deepEqual(rules.changelog("# C\n\n## 1.2.3 (2026-01-02)\n", "1.2.3"), []);
  assert.deepEqual(rules.fields(manifest), []);
  assert.deepEqual(
    rules.checks(now, () => "abc"),
    [],
  );
});

describe("a release is refused", () => {
  const without = (name) =>
    Object.fromEntries(Object.entries(manifest).filter(([key]) => key !== name));
  for (const [why, said, message] of [
    ["a file is missing", rules.contents(paths.slice(0, -1), manifest), /names dist\/regex\.js/],
    [
      "a file is too many",
      rules.contents([...paths, "dist/index.js.map"], manifest),
      /index\.js\.map/,
    ],
    ["a test is in it", rules.contents([...paths, "dist/testing.js"], manifest), /testing/],
    [
      "it is too large",
      rules.size(rules.MOST + 20_000),
      /^the tarball has 3\.\d\d MB, over 3\.\d\d MB$/,
    ],
    [
      "it was built of another version",
      rules.version({ ...versions, manifest: "1.2.2" }),
      /build again/,
    ],
    ["the lock file is older", rules.version({ ...versions, lock: "1.2.2" }), /Cargo\.lock/],
    ["the version was released", rules.version({ ...versions, tags: ["v1.2.3"] }), /was released/],
    [
      "the tag is of another version",
      rules.version({ ...versions, tag: "v1.2.4" }),
      /the tag is v1\.2\.4/,
    ],
    ["the version is none", rules.version({ ...versions, crate: "1.2" }), /no version/],
    ["the changelog lacks it", rules.changelog("## 1.2.2 (2026-01-01)\n", "1.2.3"), /no heading/],
    [
      "the changelog has no date",
      rules.changelog("## 1.2.3 (unreleased)\n", "1.2.3"),
      /write the date/,
    ],
    [
      "another version is newer",
      rules.changelog("## 1.2.4 (2026-01-03)\n\n## 1.2.3 (2026-01-02)\n", "1.2.3"),
      /begins with 1\.2\.4/,
    ],
    [
      "no repository is known",
      rules.fields(without("repository")),
      /no "repository": give --repository/,
    ],
    ["no homepage is known", rules.fields(without("homepage")), /no "homepage"/],
    ["no place for bugs is known", rules.fields(without("bugs")), /no "bugs"/],
    ["there is no provenance", rules.fields(without("publishConfig")), /provenance/],
    ["nobody would find it", rules.fields(without("keywords")), /keywords vfs, virtual-filesystem/],
    ["it asks for money", rules.fields({ ...manifest, funding: "x" }), /funding/],
    ["it needs other packages", rules.fields({ ...manifest, dependencies: {} }), /dependencies/],
    [
      "the tree is not clean",
      rules.checks({ ...now, changed: [" M a"] }, () => "abc"),
      /not clean: M a/,
    ],
    [
      "the tests did not run",
      rules.checks(now, (name) => (name === "lint" ? "abc" : "")),
      /npm test/,
    ],
    [
      "lint did not run",
      rules.checks(now, (name) => (name === "test" ? "abc" : "")),
      /npm run lint/,
    ],
    ["there is no commit", rules.checks(undefined, () => "abc"), /no git work tree/],
  ]) {
    test(`if ${why}`, () => {
      assert.ok(said.length > 0);
      assert.match(said.join("\n"), message);
    });
  }
});

test("the project's places follow from its repository, however it is written", () => {
  for (const repository of [
    "https://host.example/a/b",
    "https://host.example/a/b.git",
    "git+https://host.example/a/b.git",
    "git@host.example:a/b.git",
    "ssh://git@host.example/a/b.git",
  ]) {
    const { homepage, repository: found, bugs } = rules.places({ repository });
    assert.equal(homepage, manifest.homepage, repository);
    assert.deepEqual(found, manifest.repository);
    assert.equal(bugs, manifest.bugs);
  }
  assert.deepEqual(rules.places({ repository: "/srv/git/b" }), {});
  const own = rules.places({ repository: manifest.repository.url, homepage: "https://b.example" });
  assert.equal(own.homepage, "https://b.example");
});

const REPOSITORY = "https://host.example/a/b";
const own = {
  base: `${REPOSITORY}/blob/v1.2.3/`,
  text: (file) => (file === "docs/a.md" ? "# A\n\n## Jest and `x.y`\n" : undefined),
};

test("links of a packed page lead to the repository at this version, unless the file is packed", () => {
  const text = "[a](docs/a.md#jest-and-xy) [b](LICENSE) [c](https://c.example/) [d](#d)";
  const made = rules.published(text, {
    repository: `${REPOSITORY}.git`,
    version: "1.2.3",
    packed: paths,
  });
  assert.equal(made, text.replace("docs/a.md", `${REPOSITORY}/blob/v1.2.3/docs/a.md`));
  assert.deepEqual(rules.links({ "README.md": made }, paths, own), []);
  assert.equal(rules.published(text, { version: "1.2.3" }), text);
});

for (const [why, page, text, message] of [
  ["is not packed", "README.md", "[a](docs/a.md)", /docs\/a\.md, which is not in the package/],
  ["is not packed there", "skills/a/B.md", "[a](README.md)", /README\.md, which is not in/],
  ["is not secure", "README.md", "[a](http://c.example/)", /http:\/\/c\.example/],
  ["does not exist", "README.md", `[a](${own.base}docs/b.md)`, /docs\/b\.md, which does not exist/],
  ["has no such heading", "README.md", `[a](${own.base}docs/a.md#c)`, /docs\/a\.md#c, a heading/],
]) {
  test(`a link to what ${why} is refused`, () => {
    const said = rules.links({ [page]: text }, paths, own);
    assert.equal(said.length, 1);
    assert.match(said[0], message);
  });
}

const release = (...args) => run(process.execPath, [at("scripts/release.mjs"), ...args]);

test("a dry run prints what would be published, and what is missing", async () => {
  const { output } = await release("--dry-run", "--repository", "https://host.example/a/b");
  assert.match(output, /^kitbag \d+\.\d+\.\d+/m);
  assert.match(output, /tarball: \d+ KB, unpacked \d+ KB/);
  assert.match(
    output,
    /repository: \{"type":"git","url":"git\+https:\/\/host\.example\/a\/b\.git"\}/,
  );
  // A build for development is larger than what is published.
  const size = process.env.KITBAG_DEV_BUILD === "1" ? [] : ["size"];
  const others = ["version", "fields", "types", "publint", "links", "workflow"];
  for (const name of ["contents", ...size, ...others]) {
    assert.match(output, new RegExp(`^ok   ${name}$`, "m"), output);
  }
  assert.match(output, /^skip checks$/m);
  assert.doesNotMatch(output, /npm notice|\+ kitbag@/);
});

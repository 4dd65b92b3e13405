// What the workflow that publishes must fulfil: the file itself passes, and each of its ways to be wrong
// is refused by name.

import { deepEqual, match, notEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { workflow } from "../../scripts/lib/workflow.mjs";

const text = readFileSync(at(".github/workflows/publish.yml"), "utf8");

/** The file with a change, which must be one. */
function changed(from, to) {
  const made = text.replace(from, to);
  notEqual(made, text, String(from));
  return made;
}

test("the workflow of this repository passes", () => deepEqual(workflow(text), []));

for (const [why, broken, message] of [
  ["is not there", undefined, /no jobs/],
  ["is no YAML", "jobs: [", /no YAML/],
  ["starts with a branch", changed('tags: ["v*"]', "branches: [main]"), /pushed tags alone/],
  ["starts with any tag", changed('["v*"]', '["*"]'), /pushed tags alone/],
  [
    "starts with a pull request too",
    changed("on:\n", "on:\n  pull_request_target:\n"),
    /pushed tags alone/,
  ],
  [
    "gives every job all rights",
    changed("permissions: {}", "permissions: write-all"),
    /permissions: \{\}/,
  ],
  ["says nothing of rights", changed("permissions: {}\n", ""), /permissions: \{\}/],
  [
    "lets the build prove its identity",
    changed("contents: read", "contents: read\n      id-token: write"),
    /build: .* no right to write/,
  ],
  [
    "cannot prove its identity",
    changed("id-token: write", "id-token: read"),
    /publish: its only permission/,
  ],
  [
    "has more rights than it needs",
    changed("id-token: write", "id-token: write\n      contents: write"),
    /publish: its only permission/,
  ],
  [
    "has a token",
    changed(
      /(npm publish .*)$/m,
      "$1\n        env:\n          NODE_AUTH_TOKEN: ${{ secrets.NPM }}",
    ),
    /stored token/,
  ],
  [
    "makes a place for a token",
    changed(
      /(publish:[\s\S]*node-version: 24)/,
      "$1\n          registry-url: https://registry.example",
    ),
    /stored token/,
  ],
  [
    "trusts a tag of an action",
    changed(/checkout@\w+ # v5\.0\.0/, "checkout@v5"),
    /checkout@v5 must be pinned/,
  ],
  [
    "builds where it publishes",
    changed("- run: npm publish", "- run: npm ci\n      - run: npm publish"),
    /npm publish alone/,
  ],
  [
    "has the repository where it publishes",
    changed(/(publish:[\s\S]*?steps:)/, `$1\n      - uses: actions/checkout@${"a".repeat(40)}`),
    /without the repository/,
  ],
  [
    "publishes what was not tested",
    changed("./released/*.tgz", "."),
    /the tarball that was tested/,
  ],
  [
    "publishes something else",
    changed(/(download[\s\S]*name: )released/, "$1other"),
    /artifact that build uploads/,
  ],
  ["does not wait", changed("    needs: build\n", ""), /wait for build/],
  ["does not test", changed("      - run: .ci/run\n", ""), /all checks/],
  ["does not check the release", changed(/ {6}- run: npm run release.*\n/, ""), /npm run release/],
  ["does not compare tag and version", changed(' --tag "$GITHUB_REF_NAME"', ""), /--tag/],
  [
    "puts a name into a command",
    changed('"$GITHUB_REF_NAME"', "${{ github.ref_name }}".replace("\\", "")),
    /program text/,
  ],
  [
    "leaves the token of git",
    changed("persist-credentials: false", "fetch-depth: 1"),
    /persist-credentials/,
  ],
  ["uses an old npm", changed(/(publish:[\s\S]*node-version: )24/, "$1 20"), /Node 22\.14/],
  [
    "uses the first npm of Node 22",
    changed(/(publish:[\s\S]*node-version: )24/, "$1 22"),
    /Node 22\.14/,
  ],
  [
    "publishes from a machine of our own",
    changed(/(publish:[\s\S]*runs-on: )ubuntu-24\.04/, "$1self-hosted"),
    /GitHub's own machines/,
  ],
  [
    "has a third job",
    `${text}\n  more:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: "true"\n`,
    /two jobs/,
  ],
  ["does both in one job", changed(/ {2}publish:[\s\S]*?steps:\n/, ""), /two jobs/],
]) {
  test(`a workflow that ${why} is refused`, () => {
    const said = workflow(broken);
    ok(said.length > 0);
    match(said.join("\n"), message);
  });
}

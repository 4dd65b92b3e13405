// A file whose bytes come in parts is judged as one that is at hand: each rule has the same answer for both,
// and what is there afterwards is the same.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { kitbag } from "../host/lib.mjs";

const { CompositeBackend, FilesystemBackend, StateBackend, begin, withPolicy } = kitbag;
const require = createRequire(import.meta.url);
const { withIgnore } = require("../../pkg/dist/ignore.cjs");
const { withProvenance } = require("../../pkg/dist/provenance.cjs");

const roots = [];
after(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});
/** A folder with files, a link inside it and one that leads out. */
function folder() {
  const rootDir = mkdtempSync(join(tmpdir(), "kitbag-test-"));
  roots.push(rootDir);
  for (const name of ["src", "skills", "secret/deep"])
    mkdirSync(join(rootDir, name), { recursive: true });
  for (const name of ["src/a.ts", "skills/a.md", "secret/key", "agents.md"]) {
    writeFileSync(join(rootDir, name), "before");
  }
  symlinkSync("skills/a.md", join(rootDir, "src/link.md"));
  symlinkSync("/etc", join(rootDir, "out"));
  return { rootDir, backend: new FilesystemBackend({ rootDir, writeMode: "overwrite" }) };
}

const PATHS = [
  ...["/src/a.ts", "/src/new.ts", "/skills/a.md", "/skills/new/b.md", "/agents.md", "/secret/key"],
  ...["/secret", "/secret/deep", "/src", "/src/link.md", "/out/passwd", "/src/a.ts/below", "/"],
  ...[
    "/.kitbag/turns/journal",
    "/deep/.kitbag/x",
    "/a\u200b.md",
    "/../x",
    "relative",
    "/x\\y",
    "/.hidden",
  ],
];
const ask = (answer) => ({
  permissions: [{ operations: ["write"], paths: ["/skills/**"], mode: "ask" }],
  onAsk: () => answer,
});
const RULES = {
  none: {},
  "read-only prefixes": { readOnlyPrefixes: ["/skills", "/agents.md"] },
  "read only": { readOnly: true },
  denied: {
    permissions: [{ operations: ["write"], paths: ["/secret/**", "/*.md"], mode: "deny" }],
  },
  hidden: { permissions: [{ operations: ["read"], paths: ["/secret/**"], mode: "deny" }] },
  allowed: {
    permissions: [
      { operations: ["read", "write"], paths: ["/src/**"], mode: "allow" },
      { operations: ["read", "write"], paths: ["/**"], mode: "deny" },
    ],
  },
  "asked, yes": ask(true),
  "asked, no": ask(false),
  "a quota of a file": { quota: { maxFileBytes: 1000 } },
  "a quota of all": { quota: { maxBytes: 1000 } },
  "a quota that is wide": { quota: { maxBytes: 2 ** 30 } },
  "names with what nobody sees": { hiddenCharacters: "allow" },
  inspected: {
    inspect: ({ path }) => {
      if (path.endsWith(".md")) throw new Error("no text");
    },
  },
  hooked: {
    hooks: {
      before: ({ paths }) => {
        if (paths.some((path) => path.includes("new"))) throw new Error("nothing new");
      },
    },
  },
};
const AROUND = {
  plain: (inner) => inner,
  "a mount": (inner) => new CompositeBackend(inner, { "/memories/": new StateBackend() }),
  labelled: (inner) => withProvenance(inner, { labels: [{ paths: ["/skills/**"], as: "web" }] }),
  ignored: (inner) => withIgnore(inner, { patterns: ["/dist/"] }),
};

/** What becomes of a file that is stored at each path, one after another. */
async function outcome(around, rules, contentOf) {
  const { rootDir, backend } = folder();
  const files = withPolicy(AROUND[around](backend), rules);
  const answers = [];
  for (const path of PATHS) {
    const [{ error, code, message }] = await files.uploadFiles([[path, contentOf(path)]]);
    let now;
    try {
      now = readFileSync(join(rootDir, path)).length;
    } catch (failed) {
      now = failed.code;
    }
    answers.push({ path, error, code, message, now });
  }
  return answers;
}

const SIZE = 1.5 * 2 ** 20;
const bytes = new Uint8Array(SIZE).fill(120);
const small = new TextEncoder().encode("x".repeat(2000));

for (const around of Object.keys(AROUND)) {
  describe(`over a folder: ${around}`, () => {
    for (const [name, rules] of Object.entries(RULES)) {
      test(`${name}: a Blob has the answers of its bytes`, async () => {
        for (const content of [bytes, small]) {
          const [whole, parts] = [
            await outcome(around, rules, () => content),
            await outcome(around, rules, () => new Blob([content])),
          ];
          assert.deepEqual(parts, whole);
        }
      });
    }
  });
}

test("a turn and its commit have the answers of its bytes", async () => {
  const made = [];
  for (const content of [bytes, new Blob([bytes])]) {
    const { rootDir, backend } = folder();
    const turn = await begin(withPolicy(backend, RULES.hidden));
    const [stored] = await turn.uploadFiles([["/src/new.ts", content]]);
    const [refused] = await turn.uploadFiles([["/.kitbag/x", content]]);
    const { error } = await turn.commit();
    made.push([stored, refused.code, error, readFileSync(join(rootDir, "src/new.ts")).length]);
  }
  assert.deepEqual(made[1], made[0]);
});

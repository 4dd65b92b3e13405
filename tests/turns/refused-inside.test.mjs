// A commit of which rules below the turn refuse a file: nothing of it stays, and the next commit is made.

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { kitbag } from "../host/lib.mjs";

const { CompositeBackend, FilesystemBackend, StateBackend, begin, withPolicy } = kitbag;

const roots = [];
after(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});
function folder() {
  const rootDir = mkdtempSync(join(tmpdir(), "kitbag-test-"));
  roots.push(rootDir);
  mkdirSync(join(rootDir, "fixed"));
  for (const name of ["a.txt", "b.txt", "z.txt", "fixed/kept.txt"]) {
    writeFileSync(join(rootDir, name), "before");
  }
  return { rootDir, backend: new FilesystemBackend({ rootDir, writeMode: "overwrite" }) };
}

/** Rules that refuse a change at `/fixed`, and what they say. */
const RULES = {
  "a read-only prefix": [{ readOnlyPrefixes: ["/fixed"] }, "permission_denied"],
  "a denial": [
    { permissions: [{ operations: ["write"], paths: ["/fixed/**"], mode: "deny" }] },
    "permission_denied",
  ],
  "a person who says no": [
    {
      permissions: [{ operations: ["write"], paths: ["/fixed/**"], mode: "ask" }],
      onAsk: () => false,
    },
    "permission_denied",
  ],
  "an inspection": [
    {
      inspect: ({ path }) => {
        if (path.startsWith("/fixed")) throw new Error("no");
      },
    },
    "permission_denied",
  ],
};
const AROUND = {
  "below a router": (ruled) => new CompositeBackend(ruled, {}),
  "below a mount": (ruled) => new CompositeBackend(ruled, { "/m/": new StateBackend() }),
};
/** What a turn does besides, before and behind the refused file in the order of paths. */
const CHANGES = {
  "edits a file before": (turn) => turn.edit("/a.txt", "before", "after"),
  "deletes a file before": (turn) => turn.delete("/b.txt"),
  "makes a file before": (turn) => turn.write("/c.txt", "new"),
  "edits a file behind": (turn) => turn.edit("/z.txt", "before", "after"),
};
const REFUSED = {
  "makes one": (turn) => turn.write("/fixed/new.txt", "x".repeat(200)),
  "changes one": (turn) => turn.edit("/fixed/kept.txt", "before", "x".repeat(200)),
};

const all = (rootDir) =>
  readdirSync(rootDir, { recursive: true, withFileTypes: true })
    .filter(
      (one) => one.isFile() && !join(one.parentPath ?? one.path, one.name).includes(".kitbag"),
    )
    .map((one) => {
      const path = join(one.parentPath ?? one.path, one.name);
      return [path.slice(rootDir.length), readFileSync(path, "utf8")];
    })
    .sort();

for (const [where, around] of Object.entries(AROUND)) {
  for (const [rule, [rules, code]] of Object.entries(RULES)) {
    describe(`${rule}, ${where}`, () => {
      for (const [name, change] of Object.entries(CHANGES)) {
        for (const [what, refused] of Object.entries(REFUSED)) {
          test(`a turn that ${name}, and ${what} that is refused`, async () => {
            const { rootDir, backend } = folder();
            const tree = around(withPolicy(backend, rules));
            const before = all(rootDir);
            const turn = await begin(tree);
            assert.equal((await change(turn)).error, undefined);
            assert.equal((await refused(turn)).error, undefined);
            const failed = await turn.commit();
            assert.equal(failed.code, code, failed.error);
            assert.deepEqual(all(rootDir), before);
            assert.ok(!existsSync(join(rootDir, ".kitbag/turns/journal")), "no journal is left");
            const next = await begin(tree);
            await next.write("/next.txt", "next");
            const { error } = await next.commit();
            assert.equal(error, undefined);
            assert.equal(readFileSync(join(rootDir, "next.txt"), "utf8"), "next");
          });
        }
      }
    });
  }
}

describe("what cannot be taken back stays, and is said", () => {
  // What was there is refused by now.
  const inspect = ({ path, content }) => {
    const text = typeof content === "string" ? content : new TextDecoder().decode(content);
    const isOld = path === "/b.txt" && text.includes("secret");
    if (path.startsWith("/fixed") || isOld) throw new Error("no");
  };
  for (const [name, change, now] of [
    ["a deletion", (turn) => turn.delete("/b.txt"), undefined],
    ["an edit", (turn) => turn.edit("/b.txt", "the secret", "nothing"), "nothing"],
  ]) {
    test(`${name} of what an inspection refuses`, async () => {
      const { rootDir, backend } = folder();
      writeFileSync(join(rootDir, "b.txt"), "the secret");
      const tree = new CompositeBackend(withPolicy(backend, { inspect }), {});
      const turn = await begin(tree);
      assert.equal((await change(turn)).error, undefined);
      assert.equal((await turn.edit("/a.txt", "before", "after")).error, undefined);
      assert.equal((await turn.write("/fixed/new.txt", "x")).error, undefined);
      const failed = await turn.commit();
      assert.equal(failed.code, "unavailable");
      assert.match(
        failed.error,
        /refuse to take back what it did to \/b\.txt: there its changes stay/,
      );
      const there = Object.fromEntries(all(rootDir));
      assert.equal(there["/b.txt"], now);
      assert.equal(there["/a.txt"], "before");
      assert.ok(!existsSync(join(rootDir, ".kitbag/turns/journal")));
      const next = await begin(tree);
      await next.write("/next.txt", "next");
      assert.equal((await next.commit()).error, undefined);
    });
  }
});

// Patches: git takes what `toPatch` writes, and `applyPatch` takes what git writes.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { applyPatch, begin, StateBackend, toPatch } from "../lib/kitbag.mjs";

const folders = [];

after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A repository of git with these files. */
function repository(files) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-patch-"));
  folders.push(folder);
  const git = (...args) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_SYSTEM: "/dev/null",
      },
    });
  git("init", "-q");
  store(folder, files);
  git("add", "-A");
  git("commit", "-qm", "first");
  return { folder, git };
}

function store(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (content === null) rmSync(join(folder, path));
    else writeFileSync(join(folder, path), content);
  }
}

const lines = (from, to) =>
  Array.from({ length: to - from + 1 }, (_, n) => `${from + n}\n`).join("");

const BEFORE = {
  "/a b/long.txt": lines(1, 60),
  "/no-end.txt": "one\ntwo",
  "/grüße.txt": "hallo\n",
  "/gone.txt": "gone\n",
  "/move.txt": lines(1, 9),
  "/empty.txt": "",
  "/crlf.txt": "a\r\nb\r\nc\r\n",
};
const AFTER = {
  "/a b/long.txt": `0\n${lines(1, 20)}${lines(22, 40)}forty-one\n${lines(42, 60)}`,
  "/no-end.txt": "one\ntwo\nthree",
  "/grüße.txt": "hallo\nwelt\n",
  "/gone.txt": null,
  "/move.txt": null,
  "/dir/moved.txt": lines(1, 9),
  "/empty.txt": null,
  "/crlf.txt": "a\r\nB\r\nc\r\n",
  "/new.txt": "new, without an end",
  "/new empty.txt": "",
};
const expected = Object.entries({ ...BEFORE, ...AFTER }).filter(([, content]) => content !== null);

async function changed() {
  const turn = begin(new StateBackend({ files: BEFORE }));
  for (const [path, content] of Object.entries(AFTER)) {
    if (content === null) await turn.delete(path);
    else await turn.uploadFiles([[path, new TextEncoder().encode(content)]]);
  }
  return (await turn.diff()).changes;
}

test("git takes the patch of a turn", async () => {
  const { patch } = toPatch(await changed());
  const { folder, git } = repository(BEFORE);
  const file = join(folder, "..", `${folder.split("/").pop()}.patch`);
  folders.push(file);
  writeFileSync(file, patch);
  git("apply", "--index", file);
  for (const [path, content] of expected) {
    assert.equal(readFileSync(join(folder, path), "utf8"), content, path);
  }
  const there = git("-c", "core.quotePath=false", "ls-files").trim().split("\n");
  assert.deepEqual(there.sort(), expected.map(([path]) => path.slice(1)).sort());
});

test("apply takes the patch of a turn, and that of git", async () => {
  const { folder, git } = repository(BEFORE);
  store(folder, AFTER);
  git("add", "-A");
  const ours = toPatch(await changed()).patch;
  const theirs = git("diff", "--cached", "-M");
  for (const patch of [ours, theirs]) {
    const files = new StateBackend({ files: BEFORE });
    const done = await applyPatch(files, patch, { by: "git" });
    assert.equal(done.error, undefined);
    assert.equal(done.receipt.by, "git");
    const all = files.glob("**").files.map(({ path }) => path);
    assert.deepEqual(all.sort(), expected.map(([path]) => path).sort());
    for (const [path, content] of expected) {
      const [{ content: bytes }] = files.downloadFiles([path]);
      assert.equal(new TextDecoder().decode(bytes), content, path);
    }
  }
});

test("a patch that does not fit changes nothing, and one that moved a few lines fits", async () => {
  const patch = toPatch(await changed()).patch;
  const other = new StateBackend({ files: { ...BEFORE, "/no-end.txt": "other" } });
  const refused = await applyPatch(other, patch);
  assert.equal(refused.code, "no_match");
  assert.match(refused.error, /\/no-end\.txt.*nothing was changed/);
  assert.equal(other.glob("/new.txt").files.length, 0);
  const one = new StateBackend({ files: { "/f": `top\n\n${lines(1, 9)}` } });
  const moved = "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n";
  assert.equal((await applyPatch(one, moved)).error, undefined);
  assert.equal(one.read("/f").content, `top\n\n${lines(1, 9).replace("3", "three")}`);
});

test("what is no patch, and what a patch cannot hold, is refused", async () => {
  const files = new StateBackend();
  assert.equal(
    (await applyPatch(files, "--- a/f\n+++ b/f\n@@ nonsense\n")).code,
    "invalid_argument",
  );
  assert.equal(
    (await applyPatch(files, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n x")).code,
    "invalid_argument",
  );
  assert.equal((await applyPatch(files, 7)).code, "invalid_argument");
  const turn = begin(files);
  await turn.uploadFiles([["/b.bin", Uint8Array.of(0, 255)]]);
  const { changes } = await turn.diff();
  assert.equal(toPatch(changes).code, "unsupported");
  assert.deepEqual(toPatch([]), { patch: "" });
});

test("applyPatch ends with its signal and its time, and refuses options that it has not", async () => {
  const files = new StateBackend({ files: { "/f": "a\n" } });
  const patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
  assert.equal((await applyPatch(files, patch, { signal: AbortSignal.abort() })).code, "timeout");
  const wrong = await applyPatch(files, patch, { timeoutMS: 5 });
  assert.equal(wrong.code, "invalid_argument");
  assert.match(wrong.error, /no option "timeoutMS" here; is "timeoutMs" meant/);
  assert.equal((await applyPatch(files, patch, { timeoutMs: "5" })).code, "invalid_argument");
  assert.equal(files.read("/f").content, "a\n");
  const done = await applyPatch(files, patch, { timeoutMs: 60_000, by: "me" });
  assert.equal(done.receipt?.by, "me");
});

test("a path in a patch that no file can have is refused", async () => {
  const long = `--- "a/${"\\303\\251".repeat(600)}"\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n`;
  const refused = await applyPatch(new StateBackend(), long);
  assert.equal(refused.code, "invalid_argument");
  assert.match(refused.error, /longer than any path can be/);
});

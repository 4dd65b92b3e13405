// watch on files in memory: every change is told, whatever it was made through.

import assert from "node:assert/strict";
import test from "node:test";
import { createFileTools, StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { listening } from "../lib/listening.mjs";

test("changes through methods, rules and tools are told, and reads are not", async () => {
  const files = new StateBackend({ files: { "/a.txt": "a" } });
  assert.equal(files.capability.watch, true);
  const { seen, has, until, stop } = listening(files);
  files.read("/a.txt");
  files.write("/b.txt", "b");
  files.edit("/a.txt", "a", "c");
  await has("/a.txt", "/b.txt");
  assert.deepEqual(seen, { paths: new Set(["/a.txt", "/b.txt"]), rescans: 0, calls: 1 });
  await withPolicy(files, {}).write("/rules.txt", "x");
  const tools = createFileTools(files);
  await tools.call("write_file", { file_path: "/tools.txt", content: "x" });
  await has("/rules.txt", "/tools.txt");
  seen.paths.clear();
  files.move("/a.txt", "/d/e.txt");
  files.copy("/d/e.txt", "/f.txt");
  await has("/a.txt", "/d/e.txt", "/f.txt");
  seen.paths.clear();
  files.uploadFiles([["/d/g.txt", new Uint8Array(3)]]);
  await has("/d/g.txt");
  files.delete("/d");
  await has("/d/e.txt");
  files.restore({ "/only.txt": "x" });
  await until((now) => now.rescans > 0);
  stop();
  const { calls } = seen;
  files.write("/later.txt", "x");
  const later = listening(files, "/later.txt");
  files.edit("/later.txt", "x", "y");
  await later.has("/later.txt");
  assert.equal(seen.calls, calls);
  files.dispose();
});

test("a refused change is not told", async () => {
  const files = new StateBackend({ files: { "/a.txt": "a" }, maxBytes: 4 });
  const { seen, has } = listening(files);
  assert.equal(files.write("/a.txt", "x").code, "already_exists");
  assert.equal(files.write("/large.txt", "large").code, "quota_exceeded");
  assert.equal(files.edit("/a.txt", "z", "y").code, "no_match");
  assert.equal(files.move("/none.txt", "/b.txt").code, "not_found");
  files.write("/b.txt", "b");
  await has("/b.txt");
  assert.deepEqual([...seen.paths], ["/b.txt"]);
});

test("files that somebody else may change as well cannot be watched", () => {
  const channel = { read: () => ({ files: {} }), send() {} };
  const elsewhere = [new StateBackend(), new StateBackend({ channel })];
  for (const files of elsewhere) {
    assert.deepEqual([files.watch, files.capability.watch], [undefined, undefined]);
  }
  assert.equal(new StateBackend({ scope: "instance" }).capability.watch, true);
});

test("rules tell of changes, and name a path only if they cannot hide it", async () => {
  const files = new StateBackend({ files: {} });
  const deny = { operations: ["read"], paths: ["/secret/**"], mode: "deny" };
  const hiding = [
    { permissions: [deny] },
    { denyPrefixes: ["/secret"] },
    { defaultMode: "deny" },
  ].map((policy) => listening(withPolicy(files, policy)));
  const counting = withPolicy(files, { quota: { maxFiles: 9 } });
  const open = listening(counting, "/secret");
  assert.equal(counting.capability.watch, true);
  files.write("/secret/key.txt", "x");
  await open.has("/secret/key.txt");
  for (const { begun, seen } of hiding) {
    await begun();
    assert.deepEqual([...seen.paths], []);
  }
  const blind = withPolicy(new StateBackend(), { readOnly: true });
  assert.deepEqual([blind.watch, blind.capability.watch], [undefined, undefined]);
});

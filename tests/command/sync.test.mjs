// `kitbag sync`: what it prints, its exit codes, and what it refuses.

import assert from "node:assert/strict";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { installed, plant } from "./lib.mjs";

let kitbag;
let root;
before(async () => {
  kitbag = await installed();
  kitbag.link("node-sqlite3-wasm", "durable");
  root = mkdtempSync(join(tmpdir(), "kitbag-command-sync-"));
});
after(() => {
  kitbag?.remove();
  rmSync(root, { recursive: true });
});

test("it brings two folders together, and says what it did", async () => {
  const [a, b] = [join(root, "a"), join(root, "b")];
  plant(a, { "x.txt": "x", "deep/y.txt": "y" });
  plant(b, { "z.txt": "z" });
  const planned = await kitbag.run(["sync", "--dry-run", a, b]);
  assert.equal(planned.code, 1);
  assert.equal(planned.out, "+ b /deep/y.txt\n+ b /x.txt\n+ a /z.txt\n");
  assert.ok(!existsSync(join(b, "x.txt")));
  const done = await kitbag.run(["sync", a, b]);
  assert.deepEqual([done.code, done.err], [0, ""]);
  assert.match(done.out, /^\+ b \/deep\/y\.txt\n\+ b \/x\.txt\n\+ a \/z\.txt\n3 files changed, /);
  const again = await kitbag.run(["sync", a, b, "--json"]);
  assert.equal(again.code, 0);
  assert.deepEqual(JSON.parse(again.out).changed, []);

  writeFileSync(join(a, "x.txt"), "mine");
  writeFileSync(join(b, "x.txt"), "theirs");
  const conflict = await kitbag.run(["sync", a, b]);
  assert.equal(conflict.code, 1);
  assert.match(conflict.out, /^! \/x\.txt: a's is in \/x \(conflict of a, .*\)\.txt$/m);
  assert.equal(readFileSync(join(a, "x.txt"), "utf8"), "theirs");
});

test("it syncs a folder with SQLite, and only what is asked for", async () => {
  const a = join(root, "notes");
  plant(a, { "keep/x.md": "x", "skip/y.md": "y", "keep/z.log": "z", ".gitignore": "*.log\n" });
  const address = `sqlite:${join(root, "files.db")}`;
  const flags = ["--only", "/keep/**", "--ignore", ".gitignore"];
  const done = await kitbag.run(["sync", a, address, ...flags]);
  assert.deepEqual([done.code, done.err], [0, ""]);
  assert.match(done.out, /^\+ b \/keep\/x\.md\n1 file changed/);
});

test("what it cannot do ends with a message", async () => {
  const a = join(root, "a");
  for (const [args, expected] of [
    [["sync", a], /Usage: kitbag sync A B/],
    [["sync", a, a], /the same place/],
    [["sync", a, `sqlite:${join(root, "files.db")}#/notes`], /--only '\/notes\/\*\*'/],
    [["sync", a, join(root, "b"), "--only", "["], /Invalid glob pattern '\['/],
    [["sync", a, "http://127.0.0.1:1/x"], /could not be reached/],
    [["sync", a, join(root, "b"), "--conflicts", "newest"], /--conflicts must be both or a/],
  ]) {
    const { code, err } = await kitbag.run(args);
    assert.equal(code, 2);
    assert.match(err, expected);
  }
});

test("neither tree may be in the other one, also through links", async () => {
  const [a, link] = [join(root, "outer"), join(root, "link")];
  plant(a, { "x.txt": "x", "sub/y.txt": "y" });
  symlinkSync(a, link, "junction");
  for (const [one, other, words] of [
    [a, join(a, "sub"), /B is inside A/],
    [join(a, "sub"), a, /A is inside B/],
    [a, join(a, "new/deep"), /B is inside A/],
    [a, join(link, "sub"), /B is inside A/],
    [join(link, "new"), a, /A is inside B/],
    [a, link, /the same place/],
  ]) {
    const { code, err } = await kitbag.run(["sync", one, other]);
    assert.equal(code, 2, err);
    assert.match(err, words);
  }
  assert.deepEqual(readdirSync(a).sort(), ["sub", "x.txt"]);
  const beside = await kitbag.run(["sync", a, `${a}side`]);
  assert.deepEqual([beside.code, beside.err], [0, ""]);
});

test("a folder that lost its files deletes nothing", async () => {
  const [a, b] = [join(root, "c"), join(root, "d")];
  plant(a, { "x.txt": "x" });
  plant(b, {});
  assert.equal((await kitbag.run(["sync", a, b])).code, 0);
  rmSync(join(b, "x.txt"));
  const refused = await kitbag.run(["sync", a, b]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /Side "b" has no files/);
  assert.ok(existsSync(join(a, "x.txt")));
  assert.equal((await kitbag.run(["sync", a, b, "--allow-empty"])).code, 0);
  assert.ok(!existsSync(join(a, "x.txt")));
});

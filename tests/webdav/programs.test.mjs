// Clients that people use: cadaver, curl and rclone.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { drive, folder, program, StateBackend } from "./lib.mjs";

const FILES = Number(process.env.KITBAG_DAV_FILES ?? 1000);

test("cadaver uploads, lists, moves, locks, sets properties and downloads", async (t) => {
  const backend = new StateBackend({ writeMode: "overwrite" });
  const { url } = await drive(t, backend);
  const cwd = folder(t);
  writeFileSync(join(cwd, "plan.md"), "# plan\n");
  const commands = [
    ...["mkcol notes", "mkcol notes/empty", "put plan.md notes/plan.md", "ls notes"],
    ...["copy notes/plan.md notes/copy.md", "move notes/copy.md notes/moved.md"],
    ...["lock notes/plan.md", "discover notes/plan.md", "propset notes/plan.md colour blue"],
    ...["propget notes/plan.md colour", "unlock notes/plan.md", "get notes/moved.md got.md"],
    ...["copy notes all", "delete notes/moved.md", "rmcol notes/empty", "quit"],
  ];
  const { out } = await program("cadaver", [`${url}/`], {
    cwd,
    input: `${commands.join("\n")}\n`,
    env: { HOME: cwd },
  });
  assert.ok(!/failed|error|could not/i.test(out), out);
  assert.match(out, /Value of colour is: blue/, out);
  assert.equal(readFileSync(join(cwd, "got.md"), "utf8"), "# plan\n");
  const paths = backend.glob("**", "/").files.map(({ path }) => path);
  assert.deepEqual(paths.sort(), ["/all/moved.md", "/all/plan.md", "/notes/plan.md"]);
});

test("curl asks for parts of a file, and goes on behind what it has", async (t) => {
  const text = "0123456789".repeat(300_000);
  const { url } = await drive(t, new StateBackend({ files: { "/a.txt": text } }));
  const cwd = folder(t);
  const curl = (...args) => program("curl", ["-sf", ...args, `${url}/a.txt`], { cwd });
  for (const [range, start, end] of [
    ["2-5", 2, 6],
    ["2999990-", 2_999_990],
    ["-3", 2_999_997],
    ["1000000-2500000", 1_000_000, 2_500_001],
  ]) {
    assert.equal((await curl("-r", range)).out, text.slice(start, end), range);
  }
  assert.equal((await curl("-r", "3000000-")).code, 22);
  writeFileSync(join(cwd, "part.txt"), text.slice(0, 1_234_567));
  assert.equal((await curl("-C", "-", "-o", "part.txt")).code, 0);
  assert.equal(readFileSync(join(cwd, "part.txt"), "utf8"), text);
});

test(`rclone copies, syncs and checks ${FILES} files`, async (t) => {
  const backend = new StateBackend({ writeMode: "overwrite" });
  const { url } = await drive(t, backend);
  const cwd = folder(t);
  const root = join(cwd, "tree");
  for (let n = 0; n < FILES; n++) {
    const dir = join(root, `d${n % 10}`, `e${n % 7}`);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, `${n} ü+%.txt`), `file ${n}\n`.repeat(1 + (n % 5)));
  }
  const env = {
    RCLONE_CONFIG: join(cwd, "rclone.conf"),
    RCLONE_CONFIG_DRIVE_TYPE: "webdav",
    RCLONE_CONFIG_DRIVE_URL: url,
    RCLONE_CONFIG_DRIVE_VENDOR: "other",
  };
  const rclone = async (...args) => {
    const { code, out } = await program("rclone", [...args, "--transfers=8"], { cwd, env });
    assert.equal(code, 0, out);
    return out;
  };
  const count = () => backend.glob("**", "/").files.length;
  await rclone("copy", root, "drive:tree");
  assert.equal(count(), FILES);
  // Sizes; in the long form also what is downloaded again.
  const check = ["check", root, "drive:tree", ...(FILES > 1000 ? ["--download"] : [])];
  assert.match(await rclone(...check), /0 differences found/);
  for (const { path } of backend.glob("**", "/").files) {
    const stored = backend.readRaw(path).data.content;
    assert.equal(stored, readFileSync(join(cwd, path), "utf8"));
  }
  const changed = join(root, "d1", "new.txt");
  writeFileSync(changed, "new");
  writeFileSync(join(root, "d0/e0/0 ü+%.txt"), "another length");
  await rclone("sync", root, "drive:tree");
  assert.equal(backend.read("/tree/d1/new.txt").content, "new");
  assert.equal(backend.read("/tree/d0/e0/0 ü+%.txt").content, "another length");
  await rclone("purge", "drive:tree");
  assert.equal(count(), 0);
});

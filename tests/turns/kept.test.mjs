// Turns that are kept in a backend, over memory, a database, a folder and a bucket: another object or
// process goes on with them. IndexedDB is tested in a browser (tests/browser/cases/special.mjs).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { beginKept, keptTurns } from "../../pkg/dist/history.js";
import { MapBucket } from "../chunks/doubles.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { cleared, foreign, SUBJECTS } from "./subjects.mjs";

const { FilesystemBackend, R2Backend, StateBackend } = kitbag;

const folders = [];
const folder = () => {
  folders.push(mkdtempSync(join(tmpdir(), "kitbag-kept-")));
  return folders.at(-1);
};

after(() => {
  cleared();
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

/** Each returns a function that makes a new object over the same files, as another process would. */
const STORES = {
  memory: () => {
    const files = new StateBackend({ files: {} });
    return () => files;
  },
  SQLite: () => {
    const database = SUBJECTS.SQLite[1]();
    return () => database;
  },
  disk: () => {
    const rootDir = folder();
    return () => new FilesystemBackend({ rootDir });
  },
  R2: () => {
    const bucket = new MapBucket();
    return () => new R2Backend({ bucket });
  },
  foreign: () => {
    const files = foreign(new StateBackend({ files: {}, writeMode: "overwrite" }));
    return () => files;
  },
};

const FILES = { "/a.txt": "one\n", "/b.txt": "two\n", "/r.txt": "read\n" };
const text = async (backend, path) => {
  const [{ content }] = await backend.downloadFiles([path]);
  return content ? new TextDecoder().decode(content) : null;
};
const own = await roomOf(kitbag);
const all = async (backend) => (await backend.glob("**")).files.map(({ path }) => path).sort();

for (const [name, store] of Object.entries(STORES)) {
  describe(name, () => {
    test("another object goes on with a turn by its name, and commits it", async () => {
      const files = new StateBackend({ files: FILES });
      const open = store();
      const first = beginKept(files, { keepIn: { backend: open() }, name: "task-7" });
      assert.equal(first.name, "task-7");
      await first.edit("/a.txt", "one", "1");
      await first.delete("/b.txt");
      await first.uploadFiles([["/c.bin", Uint8Array.of(0, 255)]]);
      const changes = (await first.diff()).changes;
      assert.deepEqual(await keptTurns({ backend: open() }), { names: ["task-7"] });

      const second = beginKept(files, { keepIn: { backend: open() }, name: "task-7" });
      assert.deepEqual((await second.diff()).changes, changes);
      assert.equal(files.read("/a.txt").content, "one\n");
      assert.equal((await second.commit()).error, undefined);
      assert.deepEqual(await all(files), ["/a.txt", "/c.bin", "/r.txt"]);
      assert.deepEqual(await ownFiles(own, open()), []);
      assert.deepEqual(await keptTurns({ backend: open() }), { names: [] });
    });

    test("what the turn read before is checked by the commit after", async () => {
      const files = new StateBackend({ files: FILES });
      const open = store();
      const first = beginKept(files, { keepIn: { backend: open() }, name: "reads" });
      await first.edit("/a.txt", "one", "1");
      await first.read("/r.txt");
      files.edit("/r.txt", "read", "other");
      const second = beginKept(files, { keepIn: { backend: open() }, name: "reads" });
      const refused = await second.commit();
      assert.equal(refused.code, "conflict");
      assert.deepEqual(
        refused.conflicts.map(({ path }) => path),
        ["/r.txt"],
      );
      assert.equal((await second.rebase()).error, undefined);
      const third = beginKept(files, { keepIn: { backend: open() }, name: "reads" });
      assert.equal((await third.commit()).error, undefined);
      assert.equal(files.read("/a.txt").content, "1\n");
    });

    test("a turn that is discarded leaves nothing, and begins anew", async () => {
      const files = new StateBackend({ files: FILES });
      const open = store();
      const turn = beginKept(files, { keepIn: { backend: open(), path: "/my/turns" } });
      await turn.edit("/a.txt", "one", "1");
      assert.deepEqual(await keptTurns({ backend: open(), path: "/my/turns" }), {
        names: [turn.name],
      });
      await turn.discard(["/**"]);
      assert.deepEqual(await ownFiles(own, open(), "/my/turns/.kitbag"), []);
      await turn.edit("/a.txt", "one", "2");
      const again = beginKept(files, {
        keepIn: { backend: open(), path: "/my/turns" },
        name: turn.name,
      });
      assert.equal(await text(again, "/a.txt"), "2\n");
    });
  });
}

test("a turn can be kept in the backend that it changes, and does not show itself", async () => {
  const files = new StateBackend({ files: FILES });
  const turn = beginKept(files, { keepIn: { backend: files }, name: "own" });
  await turn.edit("/a.txt", "one", "1");
  assert.deepEqual(await all(turn), ["/a.txt", "/b.txt", "/r.txt"]);
  const again = beginKept(files, { keepIn: { backend: files }, name: "own" });
  assert.equal(await text(again, "/a.txt"), "1\n");
  assert.equal((await again.commit()).error, undefined);
  assert.deepEqual(await all(files), ["/a.txt", "/b.txt", "/r.txt"]);
});

test("of two objects that go on with one turn, the later one wins, and the other is told", async () => {
  const files = new StateBackend({ files: FILES });
  const keepIn = new StateBackend({ files: {} });
  const first = beginKept(files, { keepIn: { backend: keepIn }, name: "t" });
  await first.edit("/a.txt", "one", "1");
  const second = beginKept(files, { keepIn: { backend: keepIn }, name: "t" });
  await second.edit("/a.txt", "1", "2");
  const refused = await first.edit("/a.txt", "1", "3");
  assert.equal(refused.code, "conflict");
  assert.match(refused.error, /another process/);
  assert.ok((await first.commit()).error);
  assert.ok((await second.commit()).receipt);
  assert.equal(files.read("/a.txt").content, "2\n");
});

test("a process that is killed leaves every call that had returned", async () => {
  const [rootDir, kept] = [folder(), folder()];
  const files = new FilesystemBackend({ rootDir });
  await files.write("/a.txt", "one\n");
  const program = fileURLToPath(new URL("kept-process.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, rootDir, kept], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let returned = 0;
  for await (const chunk of child.stdout) {
    returned = Number(`${chunk}`.trim().split("\n").at(-1));
    if (returned >= 5) break;
  }
  child.kill("SIGKILL");
  await once(child, "exit").catch(() => {});
  const turn = beginKept(files, {
    keepIn: { backend: new FilesystemBackend({ rootDir: kept }) },
    name: "killed",
  });
  const written = (await turn.glob("/new/**")).files.length;
  assert.ok(written >= returned, `${written} of ${returned}`);
  for (let at = 0; at < written; at++) assert.equal(await text(turn, `/new/${at}`), `${at}\n`);
  assert.equal(await text(turn, "/a.txt"), "1\n");
  assert.equal((await turn.commit()).error, undefined);
  assert.equal((await files.glob("/new/**")).files.length, written);
  assert.deepEqual(await ownFiles(own, new FilesystemBackend({ rootDir: kept })), []);
});

test("wrong options are refused in words", async () => {
  const files = new StateBackend();
  assert.throws(
    () => beginKept(files, { keepIn: {} }),
    /keepIn: option "backend" .*must be a backend/,
  );
  assert.throws(
    () => beginKept(files, { name: "x" }),
    /option "keepIn" .*must be \{ backend, path \}/,
  );
  assert.throws(() => beginKept(files), /option "keepIn" .*must be \{ backend, path \}/);
  assert.throws(() => beginKept(files, { keepIn: files }), /not a backend; write \{ backend: … \}/);
  assert.throws(
    () => beginKept(files, { keepIn: { backend: {} } }),
    /keepIn.backend must be a backend/,
  );
  assert.throws(
    () => beginKept(files, { keepIn: { backend: files }, by: 7 }),
    /option "by" must be a string/,
  );
  for (const name of ["", "a/b", "..", ".x", "é", "x".repeat(201)]) {
    assert.throws(
      () => beginKept(files, { keepIn: { backend: files }, name }),
      /option "name" must be 1 to 200/,
    );
  }
  assert.throws(
    () => beginKept(files, { keepIn: { backend: files, path: "/a/../b" } }),
    /keepIn: option "path"/,
  );
  for (const wrong of [undefined, files, {}, { backend: 7 }, { backend: files, path: 7 }]) {
    assert.equal((await keptTurns(wrong)).code, "invalid_argument");
  }
  assert.equal((await keptTurns({ backend: files, path: "/../x" })).code, "invalid_path");
});

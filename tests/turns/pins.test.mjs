// Pins of a history: over memory, a database, a folder, a bucket and a foreign object.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { openPin, withHistory } from "../../pkg/dist/history.js";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { cleared, PLACES } from "./subjects.mjs";

const { createFileTools, StateBackend } = kitbag;

after(cleared);

const bytes = async (backend, path) => {
  const [{ content, error }] = await backend.downloadFiles([path]);
  return content ? Buffer.from(content).toString("base64") : error;
};
const tree = async (backend) => {
  const paths = (await backend.glob("**")).files.map(({ path }) => path).sort();
  const all = await Promise.all(paths.map(async (path) => [path, await bytes(backend, path)]));
  return Object.fromEntries(all);
};
const KEPT = "/.kitbag/history";

for (const [name, place] of Object.entries(PLACES)) {
  describe(name, () => {
    test("a pin is the tree of its moment, until it is let go", async () => {
      const [inner, keepIn] = [place(), place()];
      await inner.write("/before.txt", "there before the history\n");
      const world = withHistory(inner, { keepIn: { backend: keepIn }, keep: { count: 0 } });
      const moments = [];
      const pinned = async () => {
        const { pin, error } = await world.pin();
        assert.equal(error, undefined);
        moments.push([pin, await tree(world)]);
        return pin;
      };
      const first = await pinned();
      await world.write("/dir/a.txt", "one\ntwo\n");
      await world.write("/dir/b.bin", "AP8=");
      await pinned();
      await world.edit("/dir/a.txt", "one", "1");
      await world.delete("/before.txt");
      await pinned();
      await world.restore("/", moments[0] && new Date());
      assert.equal((await world.prune()).error, undefined);
      for (const [pin, then] of moments)
        assert.deepEqual(await tree((await openPin(world, pin)).backend), then);
      assert.deepEqual(
        (await world.pins()).pins.map(({ pin }) => pin),
        moments.map(([pin]) => pin),
      );
      assert.deepEqual(await world.verify(), { lost: [], drifted: [] });
      // The same files have the same pin, also in another store.
      const other = place();
      const files = Object.entries(await tree(world)).reverse();
      await other.uploadFiles(files.map(([path, text]) => [path, Buffer.from(text, "base64")]));
      assert.equal(
        (await withHistory(other, { keepIn: { backend: place() } }).pin()).pin,
        moments.at(-1)[0],
      );
      for (const [pin] of moments) assert.deepEqual(await world.unpin(pin), { pin });
      assert.equal((await world.unpin(first)).code, "not_found");
      await world.prune();
      const own = await roomOf(kitbag);
      assert.deepEqual(await ownFiles(own, keepIn, KEPT), [`${KEPT}/dropped`]);
      const { backend: gone } = await openPin(world, first);
      assert.equal((await gone.read("/before.txt")).code, "unavailable");
    });

    test("what a pin lost is told, and is never what the file holds now", async () => {
      for (const what of ["bodies", "nodes"]) {
        for (const damage of ["missing", "damaged"]) {
          const [inner, keepIn] = [place(), place()];
          await inner.write("/a.txt", "one\n");
          const world = withHistory(inner, { keepIn: { backend: keepIn } });
          const { pin } = await world.pin();
          const own = await roomOf(kitbag);
          const [path] = await ownFiles(own, keepIn, `${KEPT}/${what}`);
          if (damage === "missing") await keepIn.delete(own(path));
          else await keepIn.uploadFiles([[own(path), Buffer.from("o")]]);
          const { backend: then } = await openPin(world, pin);
          const read = await then.read("/a.txt");
          assert.deepEqual([read.code, read.content], ["unavailable", undefined]);
          assert.equal((await then.grep("o")).code, "unavailable");
          assert.deepEqual(await world.verify(pin), {
            lost: [
              {
                ...{ path: what === "nodes" ? "" : "/a.txt", reason: damage },
                ...{ what: what === "nodes" ? "list" : "content", digest: path.split("/").at(-1) },
              },
            ],
            drifted: [],
          });
        }
      }
    });

    test("files that were changed past the history have drifted", async () => {
      const inner = place();
      await inner.write("/a.txt", "one\n");
      await inner.write("/b.txt", "one\n");
      const world = withHistory(inner, { keepIn: { backend: place() } });
      const { pin } = await world.pin();
      await world.edit("/a.txt", "one", "two");
      assert.deepEqual((await world.verify(pin)).drifted, []);
      await inner.edit("/b.txt", "one", "past");
      await inner.write("/c.txt", "past\n");
      assert.deepEqual((await world.verify()).drifted, ["/b.txt", "/c.txt"]);
      // The next pin has them.
      const { backend: next } = await openPin(world, (await world.pin()).pin);
      assert.deepEqual(await tree(next), await tree(inner));
    });
  });
}

test("a pinned moment is a backend that cannot be changed", async () => {
  const files = { "/a.txt": "one\ntwo\n", "/dir/b.txt": "two\n", "/dir-c": "two\n" };
  const world = withHistory(new StateBackend({ files }), {
    keepIn: { backend: new StateBackend() },
  });
  const { pin, at: made } = await world.pin();
  assert.match(pin, /^[0-9a-f]{48}$/);
  const { backend: then } = await openPin(world, pin);
  await world.delete("/dir");
  assert.equal(then.pin, pin);
  assert.deepEqual((await then.ls("/")).files, [
    { path: "/a.txt", is_dir: false, size: 8, modified_at: made },
    { path: "/dir-c", is_dir: false, size: 4, modified_at: made },
    { path: "/dir/", is_dir: true, size: 0, modified_at: "" },
  ]);
  assert.equal((await then.read("/a.txt", 1, 1)).content, "two");
  assert.equal((await then.readRaw("/dir/b.txt")).data.content, "two\n");
  assert.equal((await then.grep("two", null, "*.txt")).matches.length, 2);
  assert.deepEqual(
    (await then.glob("dir/*")).files.map(({ path }) => path),
    ["/dir/b.txt"],
  );
  const changes = {
    write: await then.write("/new.txt", "x"),
    edit: await then.edit("/a.txt", "one", "1"),
    delete: await then.delete("/a.txt"),
    move: await then.move("/a.txt", "/b.txt"),
    append: await then.append("/a.txt", "x"),
  };
  for (const [name, { code, error }] of Object.entries(changes)) {
    assert.deepEqual([name, code], [name, "permission_denied"]);
    assert.match(error, /read-only/);
  }
  const [{ error }] = await then.uploadFiles([["/a.txt", new Uint8Array(1)]]);
  assert.equal(error, "permission_denied");
  assert.equal((await then.capability).create, "never");
  const read = await createFileTools(then).call("read_file", { file_path: "/dir/b.txt" });
  assert.match(read.text, /two/);
});

test("wrong pins are refused in words", async () => {
  const world = withHistory(new StateBackend({ files: {} }), {
    keepIn: { backend: new StateBackend() },
  });
  const none = "0".repeat(64);
  assert.equal((await world.unpin(none)).code, "not_found");
  assert.equal((await world.verify(none)).code, "not_found");
  for (const wrong of ["", "x", none.slice(1), "Z".repeat(64)]) {
    assert.match((await world.unpin(wrong)).error, /is no pin: give what pin\(\) returned/);
    const { error, code } = await openPin(world, wrong);
    assert.match(error, /is no pin/);
    assert.equal(code, "invalid_argument");
  }
  for (const wrong of [7, null, {}]) {
    assert.equal((await world.unpin(wrong)).code, "invalid_argument");
    assert.match((await openPin(world, wrong)).error, /the pin must be a string/);
  }
  assert.match((await openPin(new StateBackend(), none)).error, /must be a history/);
  assert.equal((await world.pin({ timeoutMs: "x" })).code, "invalid_argument");
});

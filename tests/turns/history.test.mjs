// The history of a backend: over memory, a database, a folder and a bucket, and as a backend.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { after, describe, test } from "node:test";
import { runConformance } from "../../pkg/dist/conformance.js";
import { withHistory } from "../../pkg/dist/history.js";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { cleared, PLACES } from "./subjects.mjs";

const { applyPatch, begin, createFileTools, StateBackend } = kitbag;
const { toPatch, undo, withPolicy } = kitbag;

after(cleared);

const text = async (backend, path) => {
  const [{ content }] = await backend.downloadFiles([path]);
  return content ? new TextDecoder().decode(content) : null;
};
const tree = async (backend) => {
  const paths = (await backend.glob("**")).files.map(({ path }) => path).sort();
  const all = await Promise.all(paths.map(async (path) => [path, await text(backend, path)]));
  return Object.fromEntries(all);
};

for (const [name, place] of Object.entries(PLACES)) {
  describe(name, () => {
    test("a file goes back to any moment, by its entry and by the time", async () => {
      const files = withHistory(place(), { keepIn: { backend: place() }, by: "agent-7" });
      const moments = [];
      const made = async (call) => {
        assert.equal((await call).error, undefined);
        const { entries } = await files.log();
        moments.push([entries[0].id, await tree(files)]);
      };
      await made(files.write("/a.txt", "one\ntwo\n"));
      await made(files.write("/dir/b.bin", "AP8="));
      await made(files.edit("/a.txt", "one", "1"));
      await made(files.delete("/dir"));
      await made(files.delete("/a.txt"));
      const now = await tree(files);
      for (const [id, then] of moments) {
        assert.equal((await files.restore("/", id)).error, undefined);
        assert.deepEqual(await tree(files), then);
      }
      assert.deepEqual(await tree(files), now);
      const { paths } = await files.restore("/", new Date(0));
      assert.deepEqual([paths, await tree(files)], [[], {}]);
      const { entries } = await files.log("/a.txt");
      assert.deepEqual(
        entries.filter(({ operation }) => operation !== "restore").map((one) => one.operation),
        ["delete", "edit", "write"],
      );
      assert.ok(entries.every(({ by, at }) => by === "agent-7" && at.startsWith("20")));
    });

    test("a range of changes is a patch, and another backend takes it", async () => {
      const inner = place();
      await inner.write("/a.txt", "one\ntwo\nthree\n");
      const files = withHistory(inner, { keepIn: { backend: place() } });
      const before = new StateBackend({ files: await tree(inner) });
      const began = new Date();
      await files.edit("/a.txt", "two", "2");
      await files.write("/new.txt", "new\n");
      const { entries } = await files.log();
      const { changes } = await files.diff(new Date(began.getTime() - 1));
      assert.deepEqual(
        changes.map(({ path, kind, hunks }) => [path, kind, hunks[0].lines]),
        [
          ["/a.txt", "changed", ["-two", "+2"]],
          ["/new.txt", "created", ["+new"]],
        ],
      );
      assert.equal((await applyPatch(before, toPatch(changes).patch)).error, undefined);
      assert.deepEqual(await tree(before), await tree(files));
      const last = await files.diff(entries[1].id, entries[0].id);
      assert.deepEqual(
        last.changes.map(({ path }) => path),
        ["/new.txt"],
      );
    });
  });
}

test("a history conforms, like any backend", async () => {
  const report = await runConformance(({ writeMode }) =>
    withHistory(new StateBackend({ files: {} }), {
      keepIn: { backend: new StateBackend() },
      writeMode,
    }),
  );
  assert.deepEqual(report.failures, []);
  assert.ok(report.passed > 130, `${report.passed}`);
});

test("who tells at each change which call made it, also through tools", async () => {
  const calls = new AsyncLocalStorage();
  const files = withHistory(new StateBackend({ files: { "/a.txt": "one\n" } }), {
    ...{ keepIn: { backend: new StateBackend() }, by: "agent-7" },
    who: () => calls.getStore(),
  });
  const { tools } = createFileTools(files);
  const tool = (wanted) => tools.find(({ name }) => name === wanted);
  await calls.run({ call: "call-1" }, () => tool("read_file").execute({ file_path: "/a.txt" }));
  await calls.run({ call: "call-1" }, () =>
    tool("edit_file").execute({ file_path: "/a.txt", old_string: "one", new_string: "two" }),
  );
  await calls.run({ by: "a person", call: "call-2" }, () => files.edit("/a.txt", "two", "three"));
  await files.edit("/a.txt", "three", "four");
  const { entries, known } = await files.why("/a.txt");
  assert.deepEqual(
    entries.map(({ by, call }) => [by, call]),
    [
      ["agent-7", ""],
      ["a person", "call-2"],
      ["agent-7", "call-1"],
    ],
  );
  assert.equal(known, true);
});

test("a change is refused if who throws, and nothing is changed", async () => {
  const inner = new StateBackend({ files: { "/a.txt": "one\n" } });
  const keepIn = new StateBackend({ files: {} });
  for (const who of [
    () => {
      throw new Error("nobody is there");
    },
    () => ({ by: 7 }),
  ]) {
    const files = withHistory(inner, { keepIn: { backend: keepIn }, who });
    assert.match((await files.edit("/a.txt", "one", "two")).error, /nobody is there|as a string/);
    assert.equal(inner.read("/a.txt").content, "one\n");
    assert.deepEqual(keepIn.glob("**").files, []);
  }
});

test("a change that cannot be noted is not made", async () => {
  const inner = new StateBackend({ files: { "/a.txt": "one\n" } });
  const files = withHistory(inner, {
    keepIn: { backend: withPolicy(new StateBackend(), { quota: { maxBytes: 300 } }) },
  });
  assert.ok((await files.uploadFiles([["/a.txt", new Uint8Array(1000)]]))[0].error);
  assert.equal(inner.read("/a.txt").content, "one\n");
  assert.deepEqual((await files.log()).entries, []);
});

test("a commit of a turn and its undo are noted, and the journal is not", async () => {
  const keepIn = new StateBackend();
  const inner = new StateBackend({ files: { "/a.txt": "one\n", "/b.txt": "b\n" } });
  const files = withHistory(inner, { keepIn: { backend: keepIn } });
  const turn = begin(files, { by: "agent-7" });
  await turn.edit("/a.txt", "one", "two");
  await turn.delete("/b.txt");
  const { receipt } = await turn.commit();
  assert.ok(receipt);
  const paths = async () => {
    const { entries } = await files.log();
    return entries.flatMap((entry) => entry.files.map(({ path }) => path)).sort();
  };
  assert.deepEqual(await paths(), ["/a.txt", "/b.txt"]);
  assert.ok((await undo(files, receipt)).receipt);
  assert.deepEqual(await paths(), ["/a.txt", "/a.txt", "/b.txt", "/b.txt"]);
  assert.deepEqual((await inner.glob("**")).files.length, 2);
});

test("rules around a history, and inside, decide first", async () => {
  const rules = { readOnlyPrefixes: ["/fixed"] };
  const inner = new StateBackend({ files: { "/fixed/f.txt": "fixed\n", "/a.txt": "one\n" } });
  const noted = withHistory(inner, { keepIn: { backend: new StateBackend() } });
  const around = withPolicy(noted, rules);
  assert.equal((await around.edit("/fixed/f.txt", "fixed", "x")).code, "permission_denied");
  assert.deepEqual((await noted.log()).entries, []);
  const inside = withHistory(withPolicy(inner, rules), { keepIn: { backend: new StateBackend() } });
  assert.equal((await inside.edit("/fixed/f.txt", "fixed", "x")).code, "permission_denied");
  assert.equal((await inside.edit("/a.txt", "one", "two")).error, undefined);
  assert.deepEqual(
    (await inside.log()).entries.map(({ operation }) => operation),
    ["edit"],
  );
});

test("moves, copies and appends are noted", async () => {
  const files = withHistory(new StateBackend({ files: { "/a.txt": "one\n" } }), {
    keepIn: { backend: new StateBackend() },
  });
  const began = new Date(0);
  await files.move("/a.txt", "/b.txt");
  await files.copy("/b.txt", "/c.txt");
  await files.append("/c.txt", "two\n");
  assert.deepEqual(await tree(files), { "/b.txt": "one\n", "/c.txt": "one\ntwo\n" });
  await files.restore("/", began);
  assert.deepEqual(await tree(files), { "/a.txt": "one\n" });
});

test("old entries and their contents are dropped", async () => {
  const keepIn = new StateBackend({ files: {} });
  const files = withHistory(new StateBackend({ files: {} }), {
    keepIn: { backend: keepIn },
    keep: { count: 2 },
  });
  for (let at = 0; at < 5; at++) await files.uploadFiles([["/a.txt", new Uint8Array([at])]]);
  assert.deepEqual(await files.prune(), { dropped: 3, entries: 2, bytes: 3 });
  assert.equal((await files.log()).entries.length, 2);
  const own = await roomOf(kitbag);
  assert.equal((await ownFiles(own, keepIn, "/.kitbag/history/bodies")).length, 3);
  assert.equal((await files.log("/a.txt", { limit: 1 })).entries.length, 1);
});

test("log returns 100 entries, or as many as asked for", async () => {
  const files = withHistory(new StateBackend({ files: {} }), {
    keepIn: { backend: new StateBackend() },
  });
  for (let at = 0; at < 120; at++) await files.write(`/dir/${at}`, `${at}`);
  const counts = [undefined, 1, 110, 1000].map(async (limit) => {
    const { entries } = await files.log("/dir", { limit });
    return [entries.length, entries[0].files[0].path];
  });
  assert.deepEqual(
    (await Promise.all(counts)).map(([count, path]) => [count, path]),
    [100, 1, 110, 120].map((count) => [count, "/dir/119"]),
  );
});

test("wrong arguments are refused in words", async () => {
  const inner = new StateBackend({ files: {} });
  const keepIn = new StateBackend();
  assert.throws(() => withHistory(inner), /option "keepIn" .*must be \{ backend, path \}/);
  assert.throws(
    () => withHistory(inner, { keepIn: inner }),
    /not a backend; write \{ backend: … \}/,
  );
  assert.throws(
    () => withHistory(inner, { keepIn: { backend: inner } }),
    /must be another backend/,
  );
  assert.throws(
    () => withHistory({}, { keepIn: { backend: keepIn } }),
    /withHistory: the backend must be a backend/,
  );
  assert.throws(
    () => withHistory(inner, { keepIn: { backend: keepIn, path: "/../x" } }),
    /withHistory: keepIn: option "path"/,
  );
  assert.throws(
    () => withHistory(inner, { keepIn: { backend: keepIn }, keep: { count: -1 } }),
    /"count"/,
  );
  assert.throws(
    () => withHistory(inner, { keepIn: { backend: keepIn }, keep: { cuont: 1 } }),
    /is "count" meant/,
  );
  const files = withHistory(inner, { keepIn: { backend: keepIn } });
  for (const wrong of ["yesterday", "", 7, null, new Date(Number.NaN)]) {
    assert.equal((await files.restore("/", wrong)).code, "invalid_argument");
    assert.equal((await files.diff(wrong)).code, "invalid_argument");
  }
  assert.equal((await files.log(7)).code, "invalid_argument");
  assert.equal((await files.log("/", { limit: 0 })).code, "invalid_argument");
  assert.equal((await files.why("/../a")).code, "invalid_path");
  assert.equal((await files.prune({ timeoutMs: "x" })).code, "invalid_argument");
});

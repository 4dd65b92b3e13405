// CustomBackend: the example of the documentation as it stands there, a storage without
// conditions, and storages that misbehave.

import assert from "node:assert/strict";
import test from "node:test";
import { documentedStorage, kitbag } from "./lib.mjs";

const { CustomBackend } = kitbag;

const MapStorage = documentedStorage();

/** Answers late and in no order, checks no condition: as plain as a storage can be. */
function plain(files = new Map()) {
  const later = () => new Promise((resolve) => setImmediate(resolve));
  return {
    files,
    async get(path) {
      await later();
      return files.has(path) ? { content: files.get(path) } : null;
    },
    async list(prefix) {
      await later();
      return [...files.keys()].reverse().filter((path) => path.startsWith(prefix));
    },
    async put(path, file) {
      await later();
      await later();
      files.set(path, file.content);
    },
    async delete(path) {
      await later();
      return files.delete(path);
    },
  };
}

test("the documented storage gives every operation", async () => {
  const it = new CustomBackend(new MapStorage());
  assert.equal((await it.write("/a/one.txt", "alpha\nbeta\n")).error, undefined);
  assert.equal((await it.write("/a/one.txt", "again")).code, "already_exists");
  assert.equal((await it.edit("/a/one.txt", "beta", "gamma")).occurrences, 1);
  assert.equal((await it.read("/a/one.txt")).content, "alpha\ngamma\n");
  const list = (await it.ls("/")).files.map((file) => file.path);
  assert.deepEqual(list, ["/a/"]);
  assert.deepEqual((await it.grep("gamma")).matches, [
    { path: "/a/one.txt", line: 2, text: "gamma" },
  ]);
  const found = (await it.glob("**/*.txt")).files.map((file) => file.path);
  assert.deepEqual(found, ["/a/one.txt"]);
  const [up] = await it.uploadFiles([["/b.bin", new Uint8Array([0, 255])]]);
  assert.equal(up.error, null);
  const [down] = await it.downloadFiles(["/b.bin"]);
  assert.deepEqual([...down.content], [0, 255]);
  assert.equal((await it.delete("/a")).error, undefined);
  assert.equal((await it.read("/a/one.txt")).code, "not_found");
  assert.equal(it.capability.update, "storage");
});

test("without conditional puts nothing is lost inside one instance", async () => {
  const it = new CustomBackend(plain());
  assert.equal(it.capability.update, "instance");
  assert.match(it.capability.notes.join(), /another writer/);
  const creators = await Promise.all(
    Array.from({ length: 8 }, (_, n) => it.write("/made.txt", `by ${n}`)),
  );
  assert.equal(creators.filter((answer) => answer.error === undefined).length, 1);
  await it.write("/count.txt", "");
  for (let round = 0; round < 5; round++) {
    const edits = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const mark = `<${round}.${n}>`;
        const before = (await it.read("/count.txt")).content;
        if (before === "") return it.edit("/count.txt", "", `${mark}END`);
        return it.edit("/count.txt", "END", `${mark}END`);
      }),
    );
    // The first round races ten edits of an empty file; those that found it filled are told so.
    if (round > 0) assert.ok(edits.every((answer) => answer.error === undefined));
  }
  const text = (await it.read("/count.txt")).content;
  for (let round = 1; round < 5; round++) {
    for (let n = 0; n < 10; n++) assert.ok(text.includes(`<${round}.${n}>`), text);
  }
});

test("a storage with update conditions is replayed until every edit lands", async () => {
  // Two instances over one storage: turns cannot help, the versions must.
  const storage = new MapStorage();
  const slow = {
    ...plain(),
    capability: storage.capability,
    get: async (path) => {
      const file = storage.get(path);
      await new Promise((resolve) => setImmediate(resolve));
      return file;
    },
    put: async (...all) => storage.put(...all),
    list: (prefix) => storage.list(prefix),
    delete: (path) => storage.delete(path),
  };
  const [one, two] = [new CustomBackend(slow), new CustomBackend(slow)];
  await one.write("/n.txt", "END");
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) => (n % 2 ? one : two).edit("/n.txt", "END", `<${n}>END`)),
  );
  assert.deepEqual(
    answers.filter((answer) => answer.error),
    [],
  );
  const { content } = await one.read("/n.txt");
  for (let n = 0; n < 30; n++) assert.ok(content.includes(`<${n}>`), content);
});

test("without put or delete it is read-only, and says so", async () => {
  for (const left of ["put", "delete"]) {
    const storage = plain(new Map([["/a.txt", "alpha"]]));
    delete storage[left];
    const it = new CustomBackend(storage);
    assert.equal(it.capability.writable, false);
    assert.equal(it.capability.update, "never");
    assert.equal((await it.read("/a.txt")).content, "alpha");
    for (const answer of [
      await it.write("/b.txt", "x"),
      await it.edit("/a.txt", "alpha", "x"),
      await it.delete("/a.txt"),
    ]) {
      assert.equal(answer.code, "permission_denied");
      assert.match(answer.error, /read-only/);
    }
    const [upload] = await it.uploadFiles([["/b.txt", new Uint8Array(1)]]);
    assert.equal(upload.error, "permission_denied");
    assert.equal(storage.files.size, 1);
  }
});

test("a listing may come in pages, in any order, with keys no path can name", async () => {
  const pages = [
    ["/b/2.txt", "/b//x", "relative", "/b/../y"],
    ["/b/1.txt", "/b/2.txt"],
    ["/a.txt"],
  ];
  const it = new CustomBackend({
    get: () => ({ content: "x" }),
    list: (prefix, cursor = 0) => ({
      entries: pages[cursor].filter((path) => path.startsWith(prefix)),
      cursor: cursor + 1 < pages.length ? cursor + 1 : undefined,
    }),
  });
  assert.deepEqual(
    (await it.ls("/")).files.map((file) => file.path),
    ["/a.txt", "/b/"],
  );
  assert.deepEqual(
    (await it.ls("/b")).files.map((file) => file.path),
    ["/b/1.txt", "/b/2.txt"],
  );
});

test("a listing that never ends is an error, not a hang", async () => {
  const it = new CustomBackend({ get: () => null, list: () => ({ entries: [], cursor: "again" }) });
  const answer = await it.ls("/");
  assert.equal(answer.code, "unavailable");
  assert.match(answer.error, /cursor twice/);
});

test("what a storage throws or answers amiss becomes an error with its cause", async (t) => {
  const boom = new Error("the database is away");
  const denied = Object.assign(new Error("not yours"), { code: "permission_denied" });
  const cases = [
    [
      () => {
        throw boom;
      },
      "unavailable",
      boom,
    ],
    [
      async () => {
        throw boom;
      },
      "unavailable",
      boom,
    ],
    [
      () => {
        throw "text";
      },
      "unavailable",
      "text",
    ],
    [
      () => {
        throw denied;
      },
      "permission_denied",
      denied,
    ],
    [
      () => {
        throw Object.assign(new Error("x"), { code: "EACCES" });
      },
      "permission_denied",
    ],
    [() => 7, "unavailable"],
    [() => "text", "unavailable"],
    [() => ({}), "unavailable"],
    [() => ({ content: 7 }), "unavailable"],
    [
      () => ({
        get content() {
          throw boom;
        },
      }),
      "unavailable",
    ],
  ];
  for (const [get, code, cause] of cases) {
    await t.test(`${code}: ${String(get).replace(/\s+/g, " ")}`, async () => {
      const answer = await new CustomBackend({ get, list: () => [] }).read("/a.txt");
      assert.equal(answer.code, code, String(get));
      if (cause) assert.equal(answer.cause, cause);
    });
  }
  for (const list of [() => 7, () => null, () => [7], () => ({ entries: 1 })]) {
    await t.test(`list is ${list}`, async () => {
      const answer = await new CustomBackend({ get: () => null, list }).ls("/");
      assert.equal(answer.code, "unavailable", String(list));
    });
  }
});

test("a storage that never answers is ended by the caller's limit", async () => {
  const it = new CustomBackend({ get: () => new Promise(() => {}), list: () => [] });
  const answer = await it.read("/a.txt", 0, 10, { timeoutMs: 20 });
  assert.equal(answer.code, "timeout");
});

test("a wrong storage or option is a TypeError that names it", async (t) => {
  const list = () => [];
  const get = () => null;
  for (const [make, named] of [
    [() => new CustomBackend(), /storage/],
    [() => new CustomBackend({}), /storage\.get/],
    [() => new CustomBackend({ get }), /storage\.list/],
    [() => new CustomBackend({ get, list, put: 1 }), /storage\.put/],
    [() => new CustomBackend({ get, list, capability: 1 }), /storage\.capability/],
    [() => new CustomBackend({ get, list }, { writeMode: "both" }), /writeMode/],
    [() => new CustomBackend({ get, list }, { maxBytes: 1 }), /maxBytes/],
  ]) {
    await t.test(String(named), async () => {
      assert.throws(make, (error) => error instanceof TypeError && named.test(error.message));
    });
  }
});

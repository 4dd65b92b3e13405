// Hooks, audit, rates and questions: the same name for an operation everywhere, one order, and a
// record of every call, also of one that was refused before any rule.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend, withPolicy } from "../lib/kitbag.mjs";

const bytes = (text) => new TextEncoder().encode(text);
const files = () => new StateBackend({ files: { "/a.txt": "one" } });

const CALLS = {
  ls: (backend) => backend.ls("/"),
  read: (backend) => backend.read("/a.txt"),
  readRaw: (backend) => backend.readRaw("/a.txt"),
  grep: (backend) => backend.grep("one"),
  glob: (backend) => backend.glob("*"),
  write: (backend) => backend.write("/b.txt", "two"),
  edit: (backend) => backend.edit("/a.txt", "one", "two"),
  delete: (backend) => backend.delete("/a.txt"),
  uploadFiles: (backend) => backend.uploadFiles([["/c.txt", bytes("x")]]),
  downloadFiles: (backend) => backend.downloadFiles(["/a.txt"]),
  move: (backend) => backend.move("/a.txt", "/b.txt"),
  copy: (backend) => backend.copy("/a.txt", "/b.txt"),
  append: (backend) => backend.append("/a.txt", "x"),
};

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} has one name for hooks, questions, inspection, audit, rates and in errors`, async () => {
    const names = new Set();
    const seen = ({ operation }) => void names.add(operation);
    const all = [{ operations: ["read", "write"], paths: ["/**"], mode: "ask" }];
    const backend = withPolicy(files(), {
      hooks: { before: seen, after: seen },
      audit: seen,
      inspect: seen,
      permissions: all,
      onAsk: (asked) => {
        seen(asked);
        return true;
      },
    });
    await call(backend);
    assert.deepEqual([...names], [name]);
    const limited = withPolicy(files(), { rateLimit: { [name]: { operations: 0, perMs: 1000 } } });
    const [refused] = [await call(limited)].flat();
    assert.equal(refused.code, "rate_limited");
    if (name !== "read" && name !== "write") {
      assert.match(refused.error.length > 20 ? refused.error : refused.message, new RegExp(name));
    }
  });

  test(`${name} passes the rules in the documented order`, async () => {
    const order = [];
    const note = (what) => () => void order.push(what);
    const backend = withPolicy(files(), {
      hooks: { before: note("before"), after: note("after") },
      audit: note("audit"),
      inspect: note("inspect"),
      permissions: [{ operations: ["read", "write"], paths: ["/**"], mode: "ask" }],
      onAsk: () => order.push("ask") > 0,
      quota: { maxBytes: 1000 },
    });
    await call(backend);
    const writes = ["write", "edit", "uploadFiles", "move", "copy", "append"];
    const stores = writes.includes(name) ? ["inspect"] : [];
    assert.deepEqual([...new Set(order)], ["before", "ask", ...stores, "after", "audit"]);
  });

  test(`${name} that hooks.before refuses does not count for a rate`, async () => {
    let refuse = true;
    const backend = withPolicy(files(), {
      rateLimit: { operations: 1, perMs: 60_000 },
      hooks: { before: () => (refuse ? { deny: "not now" } : undefined) },
    });
    const [first] = [await call(backend)].flat();
    assert.equal(first.code, "permission_denied");
    refuse = false;
    const [second] = [await call(backend)].flat();
    assert.ok(!second.error, second.error);
    const [third] = [await call(backend)].flat();
    assert.equal(third.code, "rate_limited");
  });

  test(`${name} that a permission or an answer refuses does not count for a rate`, async () => {
    for (const mode of ["deny", "ask"]) {
      const backend = withPolicy(files(), {
        rateLimit: { operations: 1, perMs: 60_000 },
        permissions: [{ operations: ["read", "write"], paths: ["/", "/**"], mode }],
        onAsk: () => false,
      });
      for (let time = 0; time < 3; time++) {
        const [answer] = [await call(backend)].flat();
        assert.equal(answer.code, "permission_denied");
      }
    }
  });
}

/** A policy with an audit, and its records. */
function audited() {
  const records = [];
  const backend = withPolicy(files(), { audit: (record) => records.push(record) });
  return { backend, records };
}

const aborted = { signal: AbortSignal.abort() };
const BAD = {
  "a path that is no string": [
    "ls",
    (b) => b.ls(1),
    (b) => b.ls(null),
    (b) => b.ls(undefined),
    (b) => b.ls({}),
  ],
  "an offset that is no number": [
    "read",
    (b) => b.read("/a.txt", "1"),
    (b) => b.read("/a.txt", 0, {}),
  ],
  "no path": ["readRaw", (b) => b.readRaw(), (b) => b.readRaw(Symbol("x"))],
  "a wrong pattern": ["grep", (b) => b.grep(1), (b) => b.grep("x", 1), (b) => b.grep("x", "/", 1)],
  "a wrong option of grep": [
    "grep",
    (b) => b.grep("x", "/", null, null, "regex"),
    (b) => b.grep("x", "/", null, null, { regex: 1 }),
    (b) => b.grep("x", "/", null, null, { before: "1" }),
  ],
  "a wrong glob": ["glob", (b) => b.glob(null), (b) => b.glob("*", 1)],
  "content that is no content": ["write", (b) => b.write("/b.txt"), (b) => b.write("/b.txt", 1)],
  "an edit without text": ["edit", (b) => b.edit("/a.txt", "one"), (b) => b.edit("/a.txt", 1, "x")],
  "replaceAll that is no flag": ["edit", (b) => b.edit("/a.txt", "one", "two", "yes")],
  "a delete of nothing": ["delete", (b) => b.delete(), (b) => b.delete("/a.txt", { unchanged: 1 })],
  "a batch that is none": ["uploadFiles", (b) => b.uploadFiles("x"), (b) => b.uploadFiles(null)],
  "a batch of wrong entries": [
    "uploadFiles",
    (b) => b.uploadFiles([1]),
    (b) => b.uploadFiles([["/a.txt", "text"]]),
  ],
  "paths that are none": [
    "downloadFiles",
    (b) => b.downloadFiles([1, 2]),
    (b) => b.downloadFiles(1),
  ],
  "a getter that throws": [
    "grep",
    (b) =>
      b.grep("x", "/", null, null, {
        get regex() {
          throw new Error("no");
        },
      }),
  ],
  "a wrong signal": ["read", (b) => b.read("/a.txt", 0, 1, { signal: 1 })],
  "a wrong timeoutMs": ["write", (b) => b.write("/b.txt", "x", { timeoutMs: -1 })],
};
for (const [what, [operation, ...calls]] of Object.entries(BAD)) {
  test(`${operation} that is refused for ${what} leaves a record`, async () => {
    for (const call of calls) {
      const { backend, records } = audited();
      await call(backend);
      assert.equal(records.length, 1, `${call}`);
      const [{ time, durationMs, ...record }] = records;
      assert.deepEqual(record, { operation, path: "", bytes: 0, code: "invalid_argument" });
    }
  });
}

test("a call with an aborted signal leaves a record", async () => {
  const calls = {
    ls: (b) => b.ls("/", aborted),
    read: (b) => b.read("/a.txt", 0, 1, aborted),
    readRaw: (b) => b.readRaw("/a.txt", aborted),
    grep: (b) => b.grep("x", "/", null, null, aborted),
    glob: (b) => b.glob("*", "/", aborted),
    write: (b) => b.write("/b.txt", "x", aborted),
    edit: (b) => b.edit("/a.txt", "one", "two", false, aborted),
    delete: (b) => b.delete("/a.txt", aborted),
    uploadFiles: (b) => b.uploadFiles([["/b.txt", bytes("x")]], aborted),
    downloadFiles: (b) => b.downloadFiles(["/a.txt"], aborted),
    move: (b) => b.move("/a.txt", "/b.txt", aborted),
    copy: (b) => b.copy("/a.txt", "/b.txt", aborted),
    append: (b) => b.append("/a.txt", "x", aborted),
  };
  for (const [operation, call] of Object.entries(calls)) {
    const { backend, records } = audited();
    await call(backend);
    assert.deepEqual(
      records.map((record) => [record.operation, record.code]),
      [[operation, "timeout"]],
    );
  }
});

test("a path that is refused leaves one record", async () => {
  for (const [operation, call] of Object.entries({
    ls: (b) => b.ls("/../x"),
    read: (b) => b.read("/../x"),
    grep: (b) => b.grep("x", "~"),
    uploadFiles: (b) => b.uploadFiles([["/../x", bytes("x")]]),
    downloadFiles: (b) => b.downloadFiles(["/../x", "C:/x"]),
    move: (b) => b.move("/a.txt", "/../x"),
    copy: (b) => b.copy("/../x", "/b.txt"),
    append: (b) => b.append("/../x", "x"),
  })) {
    const { backend, records } = audited();
    await call(backend);
    assert.deepEqual(
      records.map((record) => [record.operation, record.code]),
      [[operation, "invalid_path"]],
    );
  }
});

test("a batch of which a part is refused early leaves a record of each part", async () => {
  const batches = {
    uploadFiles: [
      [["/b.txt", bytes("x")], 1],
      [
        ["/b.txt", bytes("x")],
        ["/../x", bytes("x")],
      ],
    ],
    downloadFiles: [
      ["/a.txt", 1],
      ["/a.txt", "/../x"],
    ],
  };
  for (const [operation, [wrong, path]] of Object.entries(batches)) {
    for (const [batch, code] of [
      [wrong, "invalid_argument"],
      [path, "invalid_path"],
    ]) {
      const { backend, records } = audited();
      const answers = await backend[operation](batch);
      assert.equal(answers.length, 2);
      assert.ok(!answers[0].error && answers[1].error);
      assert.deepEqual(
        records.map((record) => [record.operation, record.code]),
        [
          [operation, code],
          [operation, "ok"],
        ],
      );
    }
  }
});

test("execute with a wrong command leaves a record", async () => {
  const records = [];
  const shell = {
    id: "shell",
    execute: async () => ({ output: "", exitCode: 0, truncated: false }),
  };
  const inner = files();
  for (const name of Object.keys(CALLS)) shell[name] = (...args) => inner[name](...args);
  const backend = withPolicy(shell, { audit: (record) => records.push(record) });
  await backend.execute(1);
  await backend.execute("true");
  assert.deepEqual(
    records.map((record) => [record.operation, record.code]),
    [
      ["execute", "invalid_argument"],
      ["execute", "ok"],
    ],
  );
});

test("a refused call of an object without a policy calls nobody", async () => {
  const { backend, records } = audited();
  const other = withPolicy(files(), {});
  assert.equal((await other.read(1)).code, "invalid_argument");
  assert.deepEqual(records, []);
  await backend.read("/a.txt");
  assert.equal(records.length, 1);
});

/** For each option that can refuse: a policy with it, and a call that it refuses. */
const REFUSING = {
  readOnly: [{ readOnly: true }],
  readOnlyPrefixes: [{ readOnlyPrefixes: ["/"] }],
  permissions: [{ permissions: [{ operations: ["write"], paths: ["/**"], mode: "deny" }] }],
  onAsk: [
    { permissions: [{ operations: ["write"], paths: ["/**"], mode: "ask" }], onAsk: () => false },
  ],
  rateLimit: [{ rateLimit: { operations: 0, perMs: 1000 } }],
  inspect: [{ inspect: () => ({ deny: "no" }) }],
  quota: [{ quota: { maxFiles: 1 } }, { quota: { maxFileBytes: 1 } }],
  "hooks.before": [{ hooks: { before: () => ({ deny: "no" }) } }],
};

for (const [rule, policies] of Object.entries(REFUSING)) {
  test(`the record of a refusal by ${rule} names it, also through a policy around it`, async () => {
    for (const policy of policies) {
      const records = [];
      const audit = (record) => void records.push(record);
      const inner = withPolicy(files(), { ...policy, audit });
      const outer = withPolicy(inner, { audit });
      assert.notEqual((await outer.write("/new.txt", "two")).error, undefined);
      assert.deepEqual(
        records.filter(({ operation }) => operation === "write").map((record) => record.rule),
        [rule, rule],
      );
    }
  });
}

test("the record of what no rule refused names none", async () => {
  const records = [];
  const backend = withPolicy(files(), { readOnly: true, audit: (one) => void records.push(one) });
  await backend.read("/a.txt");
  await backend.read("/missing.txt");
  await backend.write("../x", "");
  assert.ok(records.length === 3 && records.every((record) => !("rule" in record)));
});

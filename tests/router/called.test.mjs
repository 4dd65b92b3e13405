// `called` of a record, a question and a hook: the tool or the method that was called, where the
// operation is one that nobody called. A refusal has that name, too.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CompositeBackend,
  createFileTools,
  ringAudit,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const files = () => new StateBackend({ files: { "/a.txt": "one\n", "/d/b.txt": "two\n" } });
const bytes = new TextEncoder().encode("x");

/** What a policy tells of each operation of a call: `operation`, or `operation of called`. */
function watched(inner = files(), policy = {}) {
  const ring = ringAudit(100);
  const seen = { audit: ring, before: [], asked: [], after: [] };
  const backend = withPolicy(inner, {
    audit: ring,
    permissions: [{ operations: ["read", "write"], paths: ["/**"], mode: "ask" }],
    onAsk: (asked) => seen.asked.push(asked) > 0,
    hooks: {
      before: (call) => void seen.before.push(call),
      after: (record) => void seen.after.push(record),
    },
    ...policy,
  });
  const texts = (records) => [
    ...new Set(records.map(({ operation, called }) => operation + (called ? ` of ${called}` : ""))),
  ];
  return {
    backend,
    told: () => Object.entries(seen).map(([, list]) => texts(list.records ?? list)),
  };
}

const TOOLS = [
  ["read_file", { file_path: "/a.txt" }, ["readRaw of read_file"]],
  [
    "write_file",
    { file_path: "/new.txt", content: "x" },
    ["readRaw of write_file", "write of write_file"],
  ],
  [
    "edit_file",
    { file_path: "/a.txt", old_string: "one", new_string: "two" },
    ["readRaw of edit_file", "edit of edit_file"],
  ],
  [
    "append_file",
    { file_path: "/a.txt", content: "x" },
    ["readRaw of append_file", "append of append_file"],
  ],
  ["copy_file", { source: "/a.txt", destination: "/c.txt" }, ["copy of copy_file"]],
  ["move_file", { source: "/a.txt", destination: "/c.txt" }, ["move of move_file"]],
  ["ls", { path: "/" }, ["ls"]],
  ["glob", { pattern: "*" }, ["glob"]],
  ["grep", { pattern: "one" }, ["grep"]],
  ["delete", { file_path: "/a.txt" }, ["delete"]],
];

for (const [name, input, wanted] of TOOLS) {
  test(`the tool ${name} is named by audit, questions and hooks`, async () => {
    const { backend, told } = watched();
    const tools = createFileTools(backend, { tools: "all" });
    if (/edit|append/.test(name)) await tools.call("read_file", { file_path: "/a.txt" });
    const first = told();
    const { isError, text } = await tools.call(name, input);
    assert.equal(isError, false, text);
    for (const [at, list] of told().entries()) {
      const own = list.filter((one) => !first[at].includes(one));
      assert.deepEqual(own, wanted);
    }
  });
}

const METHODS = {
  read: (it) => it.read("/a.txt"),
  readRaw: (it) => it.readRaw("/a.txt"),
  write: (it) => it.write("/b.txt", "x"),
  uploadFiles: (it) => it.uploadFiles([["/b.txt", bytes]]),
  downloadFiles: (it) => it.downloadFiles(["/a.txt"]),
  copy: (it) => it.copy("/a.txt", "/b.txt"),
  move: (it) => it.move("/a.txt", "/b.txt"),
};

for (const [name, call] of Object.entries(METHODS)) {
  test(`${name} that was called itself has no other name`, async () => {
    const { backend, told } = watched();
    await call(backend);
    for (const list of told()) assert.deepEqual(list, [name]);
  });
}

for (const name of ["copy", "move"]) {
  test(`a ${name} into another mount is named in the records and the refusals of both`, async () => {
    const [from, to] = [watched(), watched(new StateBackend({ files: {} }))];
    const router = new CompositeBackend(new StateBackend({ files: {} }), {
      "/from/": from.backend,
      "/to/": to.backend,
    });
    assert.equal((await router[name]("/from/a.txt", "/to/a.txt")).error, undefined);
    for (const { told } of [from, to]) {
      for (const one of told().flat()) assert.match(one, new RegExp(`^${name}$| of ${name}$`));
      assert.ok(told()[0].length > 0);
    }
    const closed = new CompositeBackend(files(), {
      "/to/": withPolicy(new StateBackend({ files: {} }), { readOnly: true }),
    });
    const { error } = await closed[name]("/a.txt", "/to/a.txt");
    assert.match(error, new RegExp(`permission denied for ${name} on /to/a.txt`));
    assert.doesNotMatch(error, /uploadFiles/);
  });
}

test("a rate that a tool exceeds names the tool", async () => {
  const backend = withPolicy(files(), { rateLimit: { readRaw: { operations: 1, perMs: 60_000 } } });
  const tools = createFileTools(backend);
  await tools.call("read_file", { file_path: "/a.txt" });
  const { text } = await tools.call("read_file", { file_path: "/a.txt" });
  assert.match(text, /read_file is limited to 1/);
});

test("calls at the same time keep their names", async () => {
  const { backend, told } = watched(new CompositeBackend(files(), {}));
  const tools = createFileTools(backend, { tools: "all" });
  await Promise.all([
    tools.call("read_file", { file_path: "/a.txt" }),
    backend.readRaw("/a.txt"),
    tools.call("write_file", { file_path: "/n.txt", content: "x" }),
    backend.ls("/"),
  ]);
  for (const list of told()) {
    assert.deepEqual([...list].sort(), [
      "ls",
      "readRaw",
      "readRaw of read_file",
      "readRaw of write_file",
      "write of write_file",
    ]);
  }
});

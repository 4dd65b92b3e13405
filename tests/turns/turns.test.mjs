// The behaviours of turns on each kind of backend, and of a turn as a backend.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { runConformance } from "../../pkg/dist/conformance.js";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { cleared, foreign, SUBJECTS } from "./subjects.mjs";

const { begin, StateBackend, undo, withPolicy } = kitbag;
const TURNS = [
  "a turn shows its changes, and nothing changes before its commit",
  "a commit makes all changes, and undo takes them back",
  "a file that others changed is a conflict, and nothing changes",
  "what the turn read is checked, too",
  "undo is refused over newer work",
  "a rebase merges by lines, and lists what it cannot merge",
  "changes can be taken in part",
  "a turn in a turn commits into it",
];

after(cleared);

for (const [name, [commit, make]] of Object.entries(SUBJECTS)) {
  describe(name, () => {
    test(`commits: ${commit}`, () => {
      const { capability } = begin(make());
      assert.equal(capability.commit, commit.split(" ")[0]);
      const reads = { transaction: "checked", journal: "turns", none: "compared" };
      assert.equal(capability.reads, reads[commit] ?? "turns");
    });

    for (const one of TURNS) {
      test(one, async () => {
        const { passed, failures } = await runConformance(make, {
          only: [one],
          turns: { begin, undo },
        });
        assert.deepEqual(failures, []);
        assert.equal(passed, 1);
      });
    }
  });
}

test("a turn conforms, like any backend", async () => {
  const report = await runConformance(({ writeMode }) =>
    begin(new StateBackend({ files: {}, writeMode }), { writeMode }),
  );
  assert.deepEqual(report.failures, []);
  assert.ok(report.passed > 130, `${report.passed}`);
});

const text = async (backend, path) => {
  const [{ content }] = await backend.downloadFiles([path]);
  return content ? new TextDecoder().decode(content) : null;
};

test("what a policy refuses gets in by no commit and no undo", async () => {
  const inner = new StateBackend({ files: { "/fixed/f.txt": "fixed\n", "/a.txt": "one\n" } });
  const records = [];
  const guarded = withPolicy(inner, {
    readOnlyPrefixes: ["/fixed"],
    audit: (record) => records.push(`${record.operation} ${record.outcome ?? record.code}`),
  });
  const turn = begin(guarded);
  await turn.edit("/fixed/f.txt", "fixed", "mine");
  await turn.edit("/a.txt", "one", "two");
  const refused = await turn.commit();
  assert.equal(refused.code, "permission_denied");
  assert.match(refused.error, /nothing was changed/);
  assert.equal(await text(inner, "/a.txt"), "one\n");
  await turn.discard(["/fixed/**"]);
  const { receipt } = await turn.commit();
  assert.equal(await text(inner, "/a.txt"), "two\n");
  assert.ok(
    records.some((record) => record.startsWith("edit")),
    `${records}`,
  );
  const forged = {
    ...receipt,
    files: [{ path: "/fixed/f.txt", before: null, after: bytes("fixed\n") }],
  };
  assert.equal((await undo(guarded, forged)).code, "permission_denied");
  assert.equal(await text(inner, "/fixed/f.txt"), "fixed\n");
  const moved = await undo(guarded, {
    files: [{ path: "/fixed/../a.txt", before: null, after: null }],
  });
  assert.equal(moved.code, "invalid_path");
});

const bytes = (content) => new TextEncoder().encode(content);

test("inspect sees the content at the commit, and may refuse it", async () => {
  const seen = [];
  const guarded = withPolicy(new StateBackend({ files: {} }), {
    inspect: ({ content }) => {
      seen.push(content);
      if (String(content).includes("secret")) throw new Error("no secrets");
    },
  });
  const turn = begin(guarded);
  await turn.write("/a.txt", "plain\n");
  await turn.write("/b.txt", "secret\n");
  assert.deepEqual(seen, []);
  assert.ok((await turn.commit()).error);
  assert.equal(await text(guarded, "/a.txt"), null);
  await turn.discard(["/b.txt"]);
  assert.ok((await turn.commit()).receipt);
});

test("a commit that fails midway is taken back, also without conditions", async () => {
  const inner = new StateBackend({ files: { "/a.txt": "one\n", "/b.txt": "two\n" } });
  const other = foreign(inner);
  const upload = other.uploadFiles;
  other.uploadFiles = async (files) => {
    const failing = files.some(([path, body]) => path === "/b.txt" && body[0] === 50);
    return failing ? [{ path: "/b.txt", error: "permission_denied" }] : upload(files);
  };
  const turn = begin(other);
  await turn.edit("/a.txt", "one", "1");
  await turn.edit("/b.txt", "two", "2");
  assert.ok((await turn.commit()).error);
  assert.equal(await text(inner, "/a.txt"), "one\n");
});

test("a journal that was left behind is finished by the next turn", async () => {
  // A process that ends in the midst of its commit: the third change never comes back.
  let left = Number.POSITIVE_INFINITY;
  class Dying extends StateBackend {
    edit(...args) {
      left -= 1;
      return left < 0 ? new Promise(() => {}) : super.edit(...args);
    }
  }
  const files = { "/a.txt": "one\n", "/b.txt": "two\n" };
  const backend = new Dying({ files });
  const turn = begin(backend);
  await turn.edit("/a.txt", "one", "1");
  await turn.edit("/b.txt", "two", "2");
  left = 2;
  const broken = await turn.commit({ timeoutMs: 300 });
  assert.equal(broken.code, "timeout");
  left = Number.POSITIVE_INFINITY;
  assert.equal(await text(backend, "/b.txt"), "two\n");
  const next = begin(backend);
  assert.equal(await text(next, "/a.txt"), "1\n");
  assert.equal(await text(next, "/b.txt"), "2\n");
  assert.deepEqual(await ownFiles(await roomOf(kitbag), backend), []);
});

test("execute is refused, and is there only if the backend has it", async () => {
  const execute = async () => ({ output: "ran", exitCode: 0, truncated: false });
  const shell = new kitbag.SandboxBackend({ id: "s", execute });
  const refused = await begin(shell).execute("ls");
  assert.match(refused.error ?? refused.output, /refused in a turn/);
  assert.equal("execute" in begin(new StateBackend()), false);
});

test("a receipt survives JSON if its bytes do, and undo can be undone", async () => {
  const files = new StateBackend({ files: { "/a.txt": "one\n" } });
  const turn = begin(files, { by: "agent-7" });
  await turn.edit("/a.txt", "one", "two");
  const { receipt } = await turn.commit();
  assert.equal(receipt.by, "agent-7");
  assert.match(receipt.at, /^\d{4}-\d\d-\d\dT/);
  const back = await undo(files, structuredClone(receipt), { by: "a person" });
  assert.equal(back.receipt.by, "a person");
  assert.equal(await text(files, "/a.txt"), "one\n");
  assert.ok((await undo(files, back.receipt)).receipt);
  assert.equal(await text(files, "/a.txt"), "two\n");
});

test("wrong arguments are refused in words", async () => {
  const files = new StateBackend();
  assert.throws(() => begin({}), /begin: the backend must be a backend/);
  assert.throws(() => begin(files, { by: 7 }), /begin: option "by" must be a string/);
  assert.throws(() => begin(files, { writeMode: "x" }), /writeMode/);
  const turn = begin(files);
  assert.match((await turn.discard("/a")).error, /patterns must be an array/);
  assert.match((await turn.accept([{}])).error, /must be a string/);
  assert.equal((await turn.accept([{ id: "none" }])).code, "no_match");
  assert.equal((await turn.discard(["["])).code, "invalid_pattern");
  assert.equal((await turn.rebase({ keep: [7] })).code, "invalid_argument");
  assert.equal((await undo(files, {})).code, "invalid_argument");
  assert.equal((await undo(files, { files: [{ path: 7 }] })).code, "invalid_argument");
  assert.equal((await turn.commit({ timeoutMs: "x" })).code, "invalid_argument");
});

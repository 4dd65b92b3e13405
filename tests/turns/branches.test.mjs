// Branches: fork, merge, rebase, over a pin and over what is below now, in memory, SQLite and a folder.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { fork, keptTurns, merge, openPin, withHistory } from "../../pkg/dist/history.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { cleared, foreign, SUBJECTS } from "./subjects.mjs";

const { StateBackend, undo, withPolicy } = kitbag;

after(cleared);

const PLAN = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const FILES = { "/plan.md": PLAN, "/a.txt": "a\n", "/b.txt": "b\n", "/dir/c.txt": "c\n" };
const bytes = (text) => (text === null ? null : new TextEncoder().encode(text));
const string = (content) => (content ? new TextDecoder().decode(content) : null);
const text = async (backend, path) => {
  const [{ content }] = await backend.downloadFiles([path]);
  return string(content);
};
const all = async (backend) => {
  const { files, error } = await backend.glob("**");
  assert.equal(error, undefined);
  const paths = files.map(({ path }) => path).sort();
  const found = await backend.downloadFiles(paths);
  return Object.fromEntries(found.map(({ path, content }) => [path, string(content)]));
};
const put = async (backend, files) => {
  const entries = Object.entries(files).map(([path, content]) => [
    path,
    typeof content === "string" ? bytes(content) : content,
  ]);
  for (const { error } of await backend.uploadFiles(entries)) assert.equal(error ?? null, null);
};
const memory = (files = {}) => new StateBackend({ files: { ...files } });
const good = (answer) => {
  assert.equal(answer.error, undefined);
  return answer;
};
const edit = async (backend, path, from, to) => good(await backend.edit(path, from, to));
/** A branch of `from`, kept in `notes`. */
const branched = async (from, name, notes = memory(), more = {}) =>
  good(await fork(from, { name, keepIn: { backend: notes }, ...more })).branch;
const world = (backend, notes = memory()) => withHistory(backend, { keepIn: { backend: notes } });
const brief = (conflicts) => conflicts.map(({ path, took }) => `${path} ${took}`);

/** What branches are made of: a function from a backend to what is forked. */
const BASES = { pin: (backend) => world(backend), live: (backend) => backend };
const STORES = { memory: SUBJECTS.State[1], SQLite: SUBJECTS.SQLite[1], disk: SUBJECTS.disk[1] };

for (const [store, make] of Object.entries(STORES)) {
  for (const [base, over] of Object.entries(BASES)) {
    describe(`${store}, ${base}`, () => {
      const fresh = async () => {
        const backend = make();
        await put(backend, FILES);
        return over(backend);
      };

      test("a branch keeps its changes to itself, and a merge makes them as one", async () => {
        const main = await fresh();
        const branch = await branched(main, "one", memory(), { by: "agent-1" });
        assert.equal(branch.capability.base, base);
        await edit(branch, "/plan.md", "2", "two");
        good(await branch.write("/new.txt", "new\n"));
        good(await branch.delete("/b.txt"));
        assert.deepEqual(await all(main), FILES);
        const { receipt, conflicts, changes } = good(await merge(branch, { into: main }));
        assert.deepEqual(conflicts, []);
        assert.equal(receipt.by, "agent-1");
        assert.deepEqual(
          changes.map(({ path, kind }) => `${path} ${kind}`),
          ["/b.txt deleted", "/new.txt created", "/plan.md changed"],
        );
        const { "/b.txt": _, ...rest } = FILES;
        const merged = { ...rest, "/plan.md": PLAN.replace("2", "two"), "/new.txt": "new\n" };
        assert.deepEqual(await all(main), merged);
        good(await undo(main, receipt));
        assert.deepEqual(await all(main), FILES);
      });

      test("edits of others at other lines are merged, and come by rebase", async () => {
        const main = await fresh();
        const branch = await branched(main, "one");
        await edit(branch, "/plan.md", "2", "two");
        await edit(main, "/plan.md", "8", "eight");
        await edit(main, "/a.txt", "a", "A");
        assert.equal(await text(branch, "/a.txt"), base === "pin" ? "a\n" : "A\n");
        assert.equal(await text(branch, "/plan.md"), PLAN.replace("2", "two"));
        good(await merge(branch, { into: main }));
        const both = PLAN.replace("2", "two").replace("8", "eight");
        assert.equal(await text(main, "/plan.md"), both);
        assert.equal(await text(branch, "/plan.md"), PLAN.replace("2", "two"));
        assert.deepEqual(good(await branch.rebase()).conflicts, []);
        assert.equal(await text(branch, "/plan.md"), both);
        assert.equal(await text(branch, "/a.txt"), "A\n");
        assert.deepEqual(good(await branch.diff()).changes, []);
      });

      test("a second merge takes only what is new", async () => {
        const main = await fresh();
        const branch = await branched(main, "one");
        await edit(branch, "/plan.md", "2", "two");
        good(await branch.write("/gone.txt", "gone\n"));
        good(await merge(branch, { into: main }));
        assert.deepEqual(good(await branch.diff()).changes, []);
        assert.deepEqual(good(await merge(branch, { into: main })).changes, []);
        // Others go on, also with what the branch made.
        good(await main.delete("/gone.txt"));
        await edit(main, "/plan.md", "9", "nine");
        await edit(branch, "/plan.md", "two", "TWO");
        const { conflicts } = good(await merge(branch, { into: main }));
        assert.deepEqual(conflicts, []);
        const merged = PLAN.replace("2", "TWO").replace("9", "nine");
        assert.deepEqual(await all(main), { ...FILES, "/plan.md": merged });
      });

      test("another process goes on with a branch by its name, also after a merge", async () => {
        const main = await fresh();
        const notes = make();
        const first = await branched(main, "one", notes);
        await edit(first, "/plan.md", "2", "two");
        good(await first.delete("/a.txt"));
        await edit(main, "/dir/c.txt", "c", "C");
        const second = await branched(main, "one", notes);
        assert.equal(second.pin, first.pin);
        assert.deepEqual(good(await second.diff()).changes, good(await first.diff()).changes);
        assert.equal(await text(second, "/dir/c.txt"), base === "pin" ? "c\n" : "C\n");
        good(await merge(second, { into: main }));
        const third = await branched(main, "one", notes);
        assert.deepEqual(good(await third.diff()).changes, []);
        await edit(third, "/plan.md", "two", "2");
        good(await merge(third, { into: main }));
        assert.equal(await text(main, "/plan.md"), PLAN);
        assert.equal(await text(main, "/a.txt"), null);
      });

      test("what conflicts stays as it is on both sides, and the rest goes in", async () => {
        const main = await fresh();
        const branch = await branched(main, "one");
        await edit(branch, "/plan.md", "2", "two");
        await edit(branch, "/a.txt", "a", "A");
        await edit(main, "/plan.md", "2", "zwei");
        const { receipt, conflicts } = good(await merge(branch, { into: main }));
        assert.deepEqual(
          receipt.files.map(({ path }) => path),
          ["/a.txt"],
        );
        assert.equal(conflicts.length, 1);
        const [{ hunks, before, now, ours, ...rest }] = conflicts;
        assert.deepEqual(rest, { path: "/plan.md", branch: "one", took: "leave" });
        assert.deepEqual(
          [string(before), string(now), string(ours)],
          [PLAN, PLAN.replace("2", "zwei"), PLAN.replace("2", "two")],
        );
        assert.deepEqual(
          hunks.map(({ lines }) => lines),
          [["-zwei", "+two"]],
        );
        assert.equal(await text(main, "/plan.md"), PLAN.replace("2", "zwei"));
        assert.equal(await text(branch, "/plan.md"), PLAN.replace("2", "two"));
        // It is still there, until somebody settles it.
        assert.equal(good(await merge(branch, { into: main })).conflicts.length, 1);
        assert.equal(good(await branch.rebase()).conflicts.length, 1);
        good(await branch.rebase({ keep: ["/plan.md"] }));
        assert.deepEqual(good(await merge(branch, { into: main })).conflicts, []);
        assert.equal(await text(main, "/plan.md"), PLAN.replace("2", "two"));
      });
    });
  }
}

describe("each of nine", () => {
  const WAYS = {
    unchanged: async () => {},
    edited: (backend, text) => put(backend, { "/a.txt": text }),
    deleted: async (backend) => good(await backend.delete("/a.txt")),
  };
  // What `into` has then, and whether that is a conflict.
  const EXPECTED = {
    "unchanged unchanged": ["a\n"],
    "unchanged edited": ["into\n"],
    "unchanged deleted": [null],
    "edited unchanged": ["branch\n"],
    "edited edited": ["into\n", true],
    "edited deleted": [null, true],
    "deleted unchanged": [null],
    "deleted edited": ["into\n", true],
    "deleted deleted": [null],
  };
  for (const [name, [expected, conflicts = false]] of Object.entries(EXPECTED)) {
    const [ours, theirs] = name.split(" ");
    for (const [base, over] of Object.entries(BASES)) {
      test(`${ours} in the branch, ${theirs} in into, ${base}`, async () => {
        const main = over(memory(FILES));
        const branch = await branched(main, "one");
        await WAYS[ours](branch, "branch\n");
        await WAYS[theirs](main, "into\n");
        const done = good(await merge(branch, { into: main }));
        assert.equal(await text(main, "/a.txt"), expected);
        assert.equal(done.conflicts.length, conflicts ? 1 : 0);
        // And back: nothing of either side is lost.
        const up = good(await branch.rebase());
        assert.equal(up.conflicts.length, conflicts ? 1 : 0);
        const kept = { edited: "branch\n", deleted: null };
        assert.equal(await text(branch, "/a.txt"), conflicts ? kept[ours] : expected);
      });
    }
  }

  test("created on both sides, the same: nothing to do", async () => {
    const main = memory();
    const branch = await branched(main, "one");
    await put(branch, { "/n": "same\n" });
    await put(main, { "/n": "same\n" });
    const { conflicts, changes, receipt } = good(await merge(branch, { into: main }));
    assert.deepEqual([conflicts, changes, receipt], [[], [], undefined]);
    assert.deepEqual(good(await branch.diff()).changes, []);
  });

  test("created on both sides, different: a conflict without a file before", async () => {
    const main = memory();
    const branch = await branched(main, "one");
    await put(branch, { "/n": "one\n" });
    await put(main, { "/n": "two\n" });
    const { conflicts } = good(await merge(branch, { into: main }));
    assert.deepEqual(brief(conflicts), ["/n leave"]);
    assert.equal(conflicts[0].before, null);
    assert.equal(await text(main, "/n"), "two\n");
  });

  test("the same edit on both sides counts once", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    for (const side of [branch, main]) await edit(side, "/plan.md", "2", "two");
    await edit(branch, "/plan.md", "8", "eight");
    assert.deepEqual(good(await merge(branch, { into: main })).conflicts, []);
    assert.equal(await text(main, "/plan.md"), PLAN.replace("2", "two").replace("8", "eight"));
  });
});

describe("a conflict is settled", () => {
  const both = async (ours = "ours\n", theirs = "theirs\n") => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    for (const [side, content] of [
      [branch, ours],
      [main, theirs],
    ]) {
      if (content === null) good(await side.delete("/a.txt"));
      else await put(side, { "/a.txt": content });
    }
    return { main, branch };
  };
  const CASES = {
    branch: ["branch", "ours\n"],
    into: ["into", "theirs\n"],
    "by a function, branch": [() => "branch", "ours\n"],
    "by a function, into": [async () => "into", "theirs\n"],
    "by a function, a text": [() => ({ content: "both\n" }), "both\n"],
    "by a function, bytes": [
      ({ ours, now }) => ({ content: new Uint8Array([...now, ...ours]) }),
      "theirs\nours\n",
    ],
    "by a function, deleted": [() => ({ content: null }), null],
  };
  for (const [name, [onConflict, expected]] of Object.entries(CASES)) {
    test(`${name}: and not found again`, async () => {
      const { main, branch } = await both();
      const { conflicts } = good(await merge(branch, { into: main, onConflict }));
      assert.equal(conflicts.length, 1);
      assert.notEqual(conflicts[0].took, "leave");
      assert.equal(await text(main, "/a.txt"), expected);
      assert.deepEqual(good(await merge(branch, { into: main })).conflicts, []);
      assert.equal(await text(main, "/a.txt"), expected);
      assert.deepEqual(good(await branch.rebase()).conflicts, []);
      assert.equal(await text(branch, "/a.txt"), expected);
    });
  }

  for (const [onConflict, ours, theirs, expected] of [
    ["branch", null, "theirs\n", "theirs\n"],
    ["into", "ours\n", null, "ours\n"],
    ["branch", "ours\n", null, "ours\n"],
    ["into", null, "theirs\n", "theirs\n"],
  ]) {
    test(`a deletion never beats an edit: ${onConflict}, ${ours ? "edited" : "deleted"} in the branch`, async () => {
      const { main, branch } = await both(ours, theirs);
      good(await merge(branch, { into: main, onConflict }));
      assert.equal(await text(main, "/a.txt"), expected);
      good(await branch.rebase());
      assert.equal(await text(branch, "/a.txt"), expected);
    });
  }

  test("a function that throws, or returns something else: nothing is done", async () => {
    const { main, branch } = await both();
    await edit(branch, "/b.txt", "b", "B");
    for (const [onConflict, code] of [
      [
        () => {
          throw new Error("no");
        },
        "unavailable",
      ],
      [() => Promise.reject(new Error("no")), "unavailable"],
      [() => "both", "invalid_argument"],
      [() => undefined, "invalid_argument"],
      [() => ({ content: 7 }), "invalid_argument"],
    ]) {
      const done = await merge(branch, { into: main, onConflict });
      assert.equal(done.code, code, done.error);
      assert.match(done.error, /onConflict/);
      assert.equal(await text(main, "/b.txt"), "b\n");
    }
  });

  test("a person decides later, from plain data", async () => {
    const { main, branch } = await both();
    const { conflicts, receipt } = good(await merge(branch, { into: main, dryRun: true }));
    assert.equal(receipt, undefined);
    const shown = JSON.parse(JSON.stringify(conflicts.map(({ path, hunks }) => ({ path, hunks }))));
    assert.deepEqual(shown[0].hunks[0].lines, ["-theirs", "+ours"]);
    const decisions = { [shown[0].path]: "branch" };
    good(await merge(branch, { into: main, onConflict: ({ path }) => decisions[path] ?? "leave" }));
    assert.equal(await text(main, "/a.txt"), "ours\n");
  });

  test("commit is all or nothing, and names what conflicts", async () => {
    const { main, branch } = await both();
    await edit(branch, "/b.txt", "b", "B");
    const done = await branch.commit();
    assert.equal(done.code, "conflict");
    assert.deepEqual(
      done.conflicts.map(({ path, operation, before, now }) => [
        path,
        operation,
        string(before),
        string(now),
      ]),
      [["/a.txt", "write", "a\n", "theirs\n"]],
    );
    assert.equal(await text(main, "/b.txt"), "b\n");
    good(await branch.rebase({ keep: ["/**"] }));
    const { receipt } = good(await branch.commit());
    assert.deepEqual(
      receipt.files.map(({ path }) => path),
      ["/a.txt", "/b.txt"],
    );
    assert.equal(await text(main, "/a.txt"), "ours\n");
  });
});

describe("files of all kinds", () => {
  test("binary files: one side goes in, both sides conflict", async () => {
    const main = memory();
    await put(main, { "/x.bin": Uint8Array.of(0, 1), "/y.bin": Uint8Array.of(0, 2) });
    const branch = await branched(main, "one");
    await put(branch, {
      "/x.bin": Uint8Array.of(0, 9),
      "/y.bin": Uint8Array.of(0, 8),
      "/z.bin": Uint8Array.of(255),
    });
    await put(main, { "/y.bin": Uint8Array.of(0, 7) });
    const { conflicts } = good(await merge(branch, { into: main }));
    assert.deepEqual(brief(conflicts), ["/y.bin leave"]);
    assert.deepEqual(conflicts[0].hunks, []);
    const found = await main.downloadFiles(["/x.bin", "/y.bin", "/z.bin"]);
    assert.deepEqual(
      found.map(({ content }) => [...content]),
      [[0, 9], [0, 7], [255]],
    );
  });

  test("an empty file is a file", async () => {
    const main = memory({ "/e": "" });
    const branch = await branched(main, "one");
    await put(branch, { "/f": "" });
    good(await branch.delete("/e"));
    good(await merge(branch, { into: main }));
    assert.deepEqual(await all(main), { "/f": "" });
  });

  test("a move goes in, with what others changed in the file", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    good(await branch.move("/plan.md", "/docs/plan.md"));
    await edit(main, "/plan.md", "5", "five");
    const { conflicts } = good(await merge(branch, { into: main }));
    assert.deepEqual(conflicts, []);
    assert.equal(await text(main, "/plan.md"), null);
    assert.equal(await text(main, "/docs/plan.md"), PLAN.replace("5", "five"));
    good(await branch.rebase());
    assert.equal(await text(branch, "/docs/plan.md"), PLAN.replace("5", "five"));
    assert.deepEqual(good(await branch.diff()).changes, []);
  });

  test("a move of a file that others deleted creates it", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    good(await branch.move("/a.txt", "/moved.txt"));
    good(await main.delete("/a.txt"));
    assert.deepEqual(good(await merge(branch, { into: main })).conflicts, []);
    assert.equal(await text(main, "/moved.txt"), "a\n");
    assert.equal(await text(main, "/a.txt"), null);
  });

  test("a move to a name that others took conflicts, and the old file stays", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    good(await branch.move("/a.txt", "/moved.txt"));
    await put(main, { "/moved.txt": "theirs\n" });
    const { conflicts } = good(await merge(branch, { into: main }));
    assert.deepEqual(brief(conflicts), ["/moved.txt leave"]);
    assert.deepEqual(
      [await text(main, "/a.txt"), await text(main, "/moved.txt")],
      ["a\n", "theirs\n"],
    );
    good(await merge(branch, { into: main, onConflict: "branch" }));
    assert.deepEqual([await text(main, "/a.txt"), await text(main, "/moved.txt")], [null, "a\n"]);
  });

  for (const [onConflict, expected] of [
    ["into", ["A\n", "theirs\n"]],
    ["branch", ["A\n", "a\n"]],
  ]) {
    test(`a move that conflicts leaves the edit of others at the old name: ${onConflict}`, async () => {
      const main = memory(FILES);
      const branch = await branched(main, "one");
      good(await branch.move("/a.txt", "/moved.txt"));
      await put(main, { "/moved.txt": "theirs\n", "/a.txt": "A\n" });
      good(await merge(branch, { into: main, onConflict }));
      assert.deepEqual([await text(main, "/a.txt"), await text(main, "/moved.txt")], expected);
      assert.deepEqual(good(await merge(branch, { into: main })).conflicts, []);
    });
  }

  test("a move that is settled for into takes nothing away there", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    good(await branch.move("/a.txt", "/moved.txt"));
    await put(main, { "/moved.txt": "theirs\n" });
    good(await merge(branch, { into: main, onConflict: "into" }));
    assert.deepEqual(
      [await text(main, "/a.txt"), await text(main, "/moved.txt")],
      ["a\n", "theirs\n"],
    );
  });

  test("a file that others moved and the branch edited conflicts, and its edit stays", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    await edit(branch, "/a.txt", "a", "A");
    good(await main.move("/a.txt", "/moved.txt"));
    assert.deepEqual(brief(good(await merge(branch, { into: main })).conflicts), ["/a.txt leave"]);
    assert.equal(await text(branch, "/a.txt"), "A\n");
  });

  test("only some files", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    await edit(branch, "/a.txt", "a", "A");
    await edit(branch, "/b.txt", "b", "B");
    good(await merge(branch, { into: main, only: (path) => path === "/b.txt" }));
    assert.deepEqual([await text(main, "/a.txt"), await text(main, "/b.txt")], ["a\n", "B\n"]);
    assert.deepEqual(
      good(await branch.diff()).changes.map(({ path }) => path),
      ["/a.txt"],
    );
    good(await merge(branch, { into: main }));
    assert.equal(await text(main, "/a.txt"), "A\n");
  });

  test("a move goes only with both of its names", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    good(await branch.move("/a.txt", "/moved.txt"));
    for (const one of ["/a.txt", "/moved.txt"]) {
      good(await merge(branch, { into: main, only: (path) => path === one }));
      assert.deepEqual(await all(main), FILES);
    }
    good(await merge(branch, { into: main }));
    assert.equal(await text(main, "/moved.txt"), "a\n");
  });

  test("dryRun shows the changes and makes none", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    await edit(branch, "/a.txt", "a", "A");
    const { changes, receipt } = good(await merge(branch, { into: main, dryRun: true }));
    assert.deepEqual(
      changes.map(({ path, hunks }) => [path, hunks[0].lines]),
      [["/a.txt", ["-a", "+A"]]],
    );
    assert.equal(receipt, undefined);
    assert.deepEqual(await all(main), FILES);
    assert.equal(good(await merge(branch, { into: main })).changes.length, 1);
    assert.equal(await text(main, "/a.txt"), "A\n");
  });

  test("a file where into has a directory, or below a file, is not merged silently", async () => {
    const main = SUBJECTS.disk[1]();
    await put(main, { "/a.txt": "a\n" });
    const branch = await branched(main, "one");
    await put(branch, { "/d": "file\n" });
    await put(main, { "/d/e.txt": "e\n" });
    const done = await merge(branch, { into: main });
    assert.ok(done.error ?? done.refused.length + done.conflicts.length > 0);
    assert.equal(await text(main, "/d/e.txt"), "e\n");
    assert.equal(await text(branch, "/d"), "file\n");
  });
});

describe("many at once", () => {
  const LINES = Array.from({ length: 64 }, (_, at) => `line ${at}`);
  const long = () => `${LINES.join("\n")}\n`;

  for (const [store, make] of Object.entries(STORES)) {
    test(`eight agents edit one tree and merge at once: ${store}`, async () => {
      const backend = make();
      await put(backend, { "/long.txt": long(), "/shared.txt": "start\n" });
      const main = world(backend);
      const notes = make();
      const agents = await Promise.all(
        Array.from({ length: 8 }, (_, at) => branched(main, `agent-${at}`, notes)),
      );
      await Promise.all(
        agents.map(async (branch, at) => {
          await edit(branch, "/long.txt", `line ${at * 8}\n`, `agent ${at}\n`);
          await put(branch, { [`/own/${at}.txt`]: `${at}\n`, "/shared.txt": `of ${at}\n` });
        }),
      );
      const results = await Promise.all(agents.map((branch) => merge(branch, { into: main })));
      for (const done of results) good(done);
      const files = await all(main);
      for (let at = 0; at < 8; at++) {
        assert.match(files["/long.txt"], new RegExp(`^agent ${at}$`, "m"));
        assert.equal(files[`/own/${at}.txt`], `${at}\n`);
      }
      // One came first with the file that all have changed; the others still have theirs.
      const left = results.flatMap(({ conflicts }) => brief(conflicts));
      assert.deepEqual(left, Array(7).fill("/shared.txt leave"));
      const first = results.findIndex(({ conflicts }) => conflicts.length === 0);
      assert.equal(files["/shared.txt"], `of ${first}\n`);
      for (const [at, branch] of agents.entries()) {
        assert.equal(await text(branch, "/shared.txt"), `of ${at}\n`);
      }
    });
  }

  test("a list of branches is one commit, and they conflict with each other", async () => {
    const main = memory({ "/long.txt": long(), "/shared.txt": "start\n" });
    const agents = await Promise.all(["x", "y", "z"].map((name) => branched(main, name)));
    for (const [at, branch] of agents.entries()) {
      await edit(branch, "/long.txt", `line ${at * 9}\n`, `agent ${at}\n`);
      await put(branch, { "/shared.txt": `of ${at}\n` });
    }
    const { receipt, conflicts } = good(await merge(agents, { into: main, by: "lead" }));
    assert.equal(receipt.by, "lead");
    assert.deepEqual(
      conflicts.map(({ branch, path }) => `${branch} ${path}`),
      ["y /shared.txt", "z /shared.txt"],
    );
    good(await undo(main, receipt));
    assert.equal(await text(main, "/long.txt"), long());
    assert.equal(await text(main, "/shared.txt"), "start\n");
  });

  test("others write all the time while branches are merged, and no line is lost", async () => {
    const main = memory({ "/long.txt": long() });
    const agents = await Promise.all([0, 1, 2, 3].map((at) => branched(main, `agent-${at}`)));
    let merging = true;
    const others = (async () => {
      let round = 0;
      for (; merging && round < 500; round++) {
        await edit(
          main,
          "/long.txt",
          /^line 63.*$/m.exec(await text(main, "/long.txt"))[0],
          `line 63 ${round}`,
        );
        await new Promise((done) => setImmediate(done));
      }
      return round;
    })();
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        agents.map(async (branch, at) => {
          const line = at * 12 + round * 2;
          await edit(branch, "/long.txt", `line ${line}\n`, `agent ${at} ${round}\n`);
          const { conflicts } = good(await merge(branch, { into: main }));
          assert.deepEqual(conflicts, []);
        }),
      );
    }
    merging = false;
    const rounds = await others;
    const found = await text(main, "/long.txt");
    for (let at = 0; at < 4; at++) {
      for (let round = 0; round < 5; round++)
        assert.match(found, new RegExp(`^agent ${at} ${round}$`, "m"));
    }
    assert.match(found, new RegExp(`^line 63 ${rounds - 1}$`, "m"));
  });

  test("an agent goes on writing while its branch is merged and rebased", async () => {
    const main = memory({ "/long.txt": long() });
    const branch = await branched(main, "one");
    let last = "";
    const writing = (async () => {
      for (let round = 0; round < 60; round++) {
        const from = round === 0 ? "line 7\n" : `round ${round - 1}\n`;
        last = `round ${round}\n`;
        await edit(branch, "/long.txt", from, last);
        await new Promise((done) => setImmediate(done));
      }
    })();
    for (let round = 0; round < 20; round++) {
      good(await merge(branch, { into: main }));
      good(await branch.rebase());
      await new Promise((done) => setImmediate(done));
    }
    await writing;
    assert.ok((await text(branch, "/long.txt")).includes(last));
    assert.deepEqual(good(await merge(branch, { into: main })).conflicts, []);
    assert.equal(await text(main, "/long.txt"), long().replace("line 7\n", last));
  });

  for (const [name, change, expected] of [
    ["edited", (main) => put(main, { "/a.txt": "theirs\n" }), "theirs\n"],
    ["deleted", (main) => main.delete("/a.txt"), null],
    ["edited at another line", (main) => put(main, { "/a.txt": "a\n2\n3\n" }), undefined],
  ]) {
    for (const ours of ["ours\n1\n", null]) {
      test(`a file is ${name} between the look and the commit; ${ours ? "edited" : "deleted"} in the branch`, async () => {
        const files = new StateBackend({ files: { ...FILES }, writeMode: "overwrite" });
        const main = foreign(files);
        const branch = await branched(main, "one");
        if (ours === null) good(await branch.delete("/a.txt"));
        else await put(branch, { "/a.txt": ours });
        await edit(branch, "/b.txt", "b", "B");
        const look = main.downloadFiles;
        let looks = 0;
        main.downloadFiles = async (paths) => {
          const found = await look(paths);
          if (paths.includes("/a.txt") && looks++ === 0) await change(files);
          return found;
        };
        const { conflicts } = good(await merge(branch, { into: main }));
        assert.ok(looks > 1);
        const isGone = name === "deleted" && ours === null;
        assert.deepEqual(brief(conflicts), isGone ? [] : ["/a.txt leave"]);
        if (expected !== undefined) assert.equal(await text(files, "/a.txt"), expected);
        assert.equal(await text(files, "/b.txt"), "B\n");
        assert.equal(await text(branch, "/a.txt"), ours);
      });
    }
  }

  test("a rebase while a merge is going on does not make others' lines those of the branch", async () => {
    const files = new StateBackend({ files: { ...FILES }, writeMode: "overwrite" });
    const main = foreign(files);
    const branch = await branched(main, "one");
    await edit(branch, "/plan.md", "2", "two");
    await edit(files, "/plan.md", "8", "eight");
    const look = main.downloadFiles;
    main.downloadFiles = async (paths) => {
      main.downloadFiles = look;
      const found = await look(paths);
      good(await branch.rebase());
      return found;
    };
    good(await merge(branch, { into: main }));
    // Others take their line back.
    await edit(files, "/plan.md", "eight", "8");
    good(await merge(branch, { into: main }));
    assert.equal(await text(files, "/plan.md"), PLAN.replace("2", "two"));
  });

  test("an edit that is taken back while a merge is going on is taken back", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    await edit(branch, "/a.txt", "a", "A");
    const onConflict = () => "leave";
    const merging = merge(branch, { into: main, onConflict });
    await Promise.all([merging, edit(branch, "/a.txt", "A", "a")]);
    await merging;
    assert.equal(await text(branch, "/a.txt"), "a\n");
    good(await merge(branch, { into: main }));
    good(await branch.rebase());
    assert.equal(await text(main, "/a.txt"), "a\n");
    assert.equal(await text(branch, "/a.txt"), "a\n");
  });
});

describe("a branch of a branch", () => {
  test("is merged into it, and with it into the first", async () => {
    const main = world(memory(FILES));
    const outer = await branched(main, "outer");
    await edit(outer, "/plan.md", "2", "two");
    const inner = await branched(outer, "inner");
    assert.equal(inner.capability.base, "live");
    assert.equal(await text(inner, "/plan.md"), PLAN.replace("2", "two"));
    await edit(inner, "/plan.md", "8", "eight");
    good(await inner.delete("/b.txt"));
    assert.equal(await text(outer, "/b.txt"), "b\n");
    good(await merge(inner, { into: outer }));
    assert.equal(await text(outer, "/b.txt"), null);
    assert.equal(await text(main, "/b.txt"), "b\n");
    good(await merge(outer, { into: main }));
    assert.equal(await text(main, "/plan.md"), PLAN.replace("2", "two").replace("8", "eight"));
    assert.equal(await text(main, "/b.txt"), null);
    assert.deepEqual(good(await merge(inner, { into: outer })).changes, []);
  });

  test("with a history of the branch it shows a pin of it", async () => {
    const main = world(memory(FILES));
    const outer = await branched(main, "outer");
    await edit(outer, "/a.txt", "a", "A");
    const between = world(outer);
    const inner = await branched(between, "inner");
    assert.equal(inner.capability.base, "pin");
    await edit(outer, "/a.txt", "A", "AA");
    assert.equal(await text(inner, "/a.txt"), "A\n");
    await edit(inner, "/b.txt", "b", "B");
    good(await merge(inner, { into: outer, remember: true }));
    assert.deepEqual([await text(outer, "/a.txt"), await text(outer, "/b.txt")], ["AA\n", "B\n"]);
    good(await inner.rebase());
    assert.equal(await text(inner, "/a.txt"), "AA\n");
  });

  test("rebase brings the newest through both", async () => {
    const main = memory(FILES);
    const outer = await branched(main, "outer");
    const inner = await branched(outer, "inner");
    await edit(inner, "/plan.md", "2", "two");
    await edit(outer, "/plan.md", "5", "five");
    await edit(main, "/plan.md", "8", "eight");
    good(await outer.rebase());
    good(await inner.rebase());
    const merged = PLAN.replace("2", "two").replace("5", "five").replace("8", "eight");
    assert.equal(await text(inner, "/plan.md"), merged);
    good(await merge(inner, { into: outer }));
    good(await merge(outer, { into: main }));
    assert.equal(await text(main, "/plan.md"), merged);
  });
});

describe("elsewhere", () => {
  test("a merge into another backend leaves the branch as it is, so the first gets all", async () => {
    const main = memory(FILES);
    const other = memory(FILES);
    const branch = await branched(main, "one");
    await edit(branch, "/a.txt", "a", "A");
    good(await merge(branch, { into: other }));
    assert.equal(await text(other, "/a.txt"), "A\n");
    good(await merge(branch, { into: main }));
    assert.equal(await text(main, "/a.txt"), "A\n");
  });

  test("remember says that another object has the same files", async () => {
    const files = memory(FILES);
    const main = world(files);
    const guarded = withPolicy(main, { permissions: [] });
    const branch = await branched(main, "one");
    good(await branch.write("/n.txt", "n\n"));
    good(await merge(branch, { into: guarded, remember: true }));
    good(await main.delete("/n.txt"));
    assert.deepEqual(good(await merge(branch, { into: guarded, remember: true })).changes, []);
    assert.equal(await text(main, "/n.txt"), null);
  });

  test("remember: false takes the same again where it was taken back", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    await edit(branch, "/a.txt", "a", "A");
    const { receipt } = good(await merge(branch, { into: main, remember: false }));
    good(await undo(main, receipt));
    good(await merge(branch, { into: main }));
    assert.equal(await text(main, "/a.txt"), "A\n");
  });
});

describe("rules", () => {
  const secret = { ...FILES, "/secret/key.txt": "hunter2\n" };
  const RULES = {
    permissions: [
      { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" },
      { operations: ["write"], paths: ["/fixed/**"], mode: "deny" },
    ],
  };

  for (const [base, over] of Object.entries({
    pin: (files) => world(withPolicy(files, RULES)),
    live: (files) => withPolicy(files, RULES),
  })) {
    test(`what may not be read is not in a branch: ${base}`, async () => {
      const files = memory(secret);
      const notes = memory();
      const branch = await branched(over(files), "one", notes);
      assert.equal(await text(branch, "/secret/key.txt"), null);
      assert.ok(!(await branch.glob("**")).files.some(({ path }) => path.startsWith("/secret")));
      assert.deepEqual((await branch.grep("hunter2")).matches, []);
      const own = await roomOf(kitbag);
      for (const path of await ownFiles(own, notes)) {
        const [{ content }] = await notes.downloadFiles([own(path)]);
        assert.ok(!string(content).includes("hunter2"), path);
      }
    });
  }

  test("what into hides stays out of a conflict, and nothing of it is changed", async () => {
    const files = memory(secret);
    const branch = await branched(files, "one");
    await put(branch, { "/secret/key.txt": "mine\n", "/a.txt": "A\n" });
    const into = withPolicy(files, RULES);
    const done = await merge(branch, { into, remember: true });
    assert.ok(!JSON.stringify(done).includes("hunter2"));
    assert.equal(await text(files, "/secret/key.txt"), "hunter2\n");
    const rest = good(
      await merge(branch, { into, remember: true, only: (path) => !path.startsWith("/secret") }),
    );
    assert.deepEqual(rest.receipt?.files.map(({ path }) => path) ?? ["/a.txt"], ["/a.txt"]);
    assert.equal(await text(files, "/a.txt"), "A\n");
    assert.equal(await text(branch, "/secret/key.txt"), "mine\n");
  });

  test("a file that into does not let be read is neither replaced nor deleted", async () => {
    for (const ours of ["mine\n", null]) {
      const files = memory(secret);
      const permissions = [{ operations: ["read"], paths: ["/secret/**"], mode: "deny" }];
      const into = withPolicy(files, { permissions });
      const branch = await branched(files, "one");
      if (ours === null) good(await branch.delete("/secret/key.txt"));
      else await put(branch, { "/secret/key.txt": ours });
      await edit(branch, "/a.txt", "a", "A");
      const done = good(await merge(branch, { into, onConflict: "branch", remember: true }));
      assert.deepEqual(
        done.refused.map(({ path, branch: name }) => [path, name]),
        [["/secret/key.txt", "one"]],
      );
      assert.deepEqual(await all(files), { ...secret, "/a.txt": "A\n" });
      assert.equal(good(await branch.diff()).changes.length, 1);
    }
  });

  test("a change that rules refuse refuses the merge; the rest goes with only", async () => {
    const files = memory(FILES);
    const into = withPolicy(files, RULES);
    const branch = await branched(into, "one");
    await put(branch, { "/fixed/x.txt": "x\n", "/a.txt": "A\n" });
    const done = await merge(branch, { into });
    assert.equal(done.code, "permission_denied");
    assert.match(done.error, /\/fixed\/x\.txt/);
    assert.deepEqual(await all(files), FILES);
    good(await merge(branch, { into, only: (path) => !path.startsWith("/fixed/") }));
    assert.equal(await text(files, "/a.txt"), "A\n");
    assert.deepEqual(
      good(await branch.diff()).changes.map(({ path }) => path),
      ["/fixed/x.txt"],
    );
  });

  test("a quota of into holds for the merge as a whole", async () => {
    const files = memory({ "/a.txt": "a\n" });
    const into = withPolicy(files, { quota: { maxBytes: 20 } });
    const branch = await branched(into, "one");
    await put(branch, { "/b.txt": "x".repeat(15), "/c.txt": "x".repeat(15) });
    const done = await merge(branch, { into });
    assert.equal(done.code, "quota_exceeded");
    assert.deepEqual(await all(files), { "/a.txt": "a\n" });
    assert.equal((await branch.diff()).changes.length, 2);
  });

  const labels = [{ paths: ["/web/**"], as: "web" }];
  for (const [base, over] of Object.entries(BASES)) {
    test(`labels go along into what was forked, and into nothing else: ${base}`, async () => {
      const inner = memory({ ...FILES, "/web/page": "from outside\n" });
      const files = withProvenance(inner, { labels });
      const main = over(files);
      const branch = await branched(main, "one");
      good(await branch.read("/web/page"));
      good(await branch.write("/summary.md", "from outside, in short\n"));
      for (const into of [inner, memory(), withProvenance(inner, { labels })]) {
        const done = await merge(branch, { into, remember: true });
        assert.equal(done.code, "unsupported");
        assert.match(done.error, /^merge: labels of withProvenance/);
        assert.equal(await text(inner, "/summary.md"), null);
      }
      good(await merge(branch, { into: main }));
      assert.deepEqual((await files.labels("/summary.md")).labels, ["web"]);
    });
  }

  test("rules over a branch are those of its agent", async () => {
    const main = memory(secret);
    const branch = await branched(main, "one");
    const agent = withPolicy(branch, RULES);
    assert.equal((await agent.write("/fixed/x.txt", "x")).code, "permission_denied");
    await edit(agent, "/a.txt", "a", "A");
    good(await merge(branch, { into: main }));
    assert.equal(await text(main, "/a.txt"), "A\n");
  });
});

describe("a process that ends", () => {
  /** A backend that ends the process at one of its changes: before it or right after it. */
  const ending = (inner, at, late) => {
    let left = at;
    const over = { is: false };
    const object = foreign(inner);
    for (const name of ["write", "edit", "delete", "uploadFiles"]) {
      const method = object[name];
      object[name] = async (...args) => {
        if (over.is) return new Promise(() => {});
        if (left-- > 0) return method(...args);
        over.is = true;
        if (late) await method(...args);
        return new Promise(() => {});
      };
    }
    return { object, over };
  };
  /** Runs work that may never end; resolves to whether it did. */
  const ends = async (work, over) => {
    let done = false;
    const running = work().then(() => {
      done = true;
    });
    for (let turns = 0; !done && turns < 2000; turns++) {
      await Promise.race([running, new Promise((next) => setImmediate(next))]);
      if (over.is && turns > 50) break;
    }
    return done;
  };
  const expected = {
    ...FILES,
    "/plan.md": PLAN.replace("2", "two").replace("8", "eight"),
    "/n.txt": "n\n",
  };
  delete expected["/b.txt"];

  for (const [base, over] of Object.entries(BASES)) {
    for (const late of [false, true]) {
      test(`${late ? "after" : "before"} any change of what keeps the branch, ${base}: it goes on`, async () => {
        let ended = 0;
        for (let at = 0; ; at++) {
          const files = memory(FILES);
          const main = over(files);
          const notes = new StateBackend({ files: {}, writeMode: "overwrite" });
          const { object, over: is } = ending(notes, at, late);
          let acknowledged = 0;
          const work = async (keep) => {
            const branch = await branched(main, "one", keep);
            const mine = [
              async () =>
                (await text(branch, "/plan.md")).includes("two") ||
                edit(branch, "/plan.md", "2", "two"),
              async () => put(branch, { "/n.txt": "n\n" }),
              async () => branch.delete("/b.txt"),
            ];
            for (const [step, one] of mine.entries()) {
              if (step < acknowledged && keep !== object) continue;
              await one();
              acknowledged = Math.max(acknowledged, step + 1);
            }
            await put(main, { "/plan.md": (await text(main, "/plan.md")).replace("8", "eight") });
            assert.deepEqual(good(await merge(branch, { into: main })).conflicts, []);
            good(await branch.rebase());
            return branch;
          };
          const isWhole = await ends(() => work(object), is);
          if (!isWhole) ended += 1;
          // Another process goes on: what was acknowledged is there.
          const again = await branched(main, "one", notes);
          if (acknowledged > 0) assert.match(await text(again, "/plan.md"), /two/);
          if (acknowledged > 1) assert.equal(await text(again, "/n.txt"), "n\n");
          if (acknowledged > 2) assert.equal(await text(again, "/b.txt"), null);
          const branch = await work(notes);
          assert.deepEqual(await all(files), expected, `at ${at}`);
          assert.deepEqual(await all(branch), expected);
          assert.deepEqual(good(await merge(branch, { into: main })).changes, []);
          if (isWhole) break;
        }
        assert.ok(ended >= 5, `${ended} ends`);
      });
    }
  }

  test("in the midst of a commit: the next merge finishes it, and nothing is made twice", async () => {
    let ended = 0;
    for (let at = 0; ; at++) {
      const files = new StateBackend({ files: { ...FILES }, writeMode: "overwrite" });
      const notes = memory();
      const { object, over } = ending(files, at, at % 2 === 1);
      const dying = await branched(object, "one", notes);
      await put(dying, { "/n.txt": "n\n", "/a.txt": "A\n" });
      good(await dying.delete("/b.txt"));
      const isWhole = await ends(async () => good(await merge(dying, { into: object })), over);
      if (!isWhole) ended += 1;
      const main = foreign(files);
      const branch = await branched(main, "one", notes);
      const { conflicts } = good(await merge(branch, { into: main }));
      assert.deepEqual(conflicts, []);
      const { "/b.txt": _, ...rest } = FILES;
      assert.deepEqual(await all(files), { ...rest, "/n.txt": "n\n", "/a.txt": "A\n" });
      if (isWhole) break;
    }
    assert.ok(ended >= 3, `${ended} ends`);
  });

  test("what keeps the branch is down after the commit: the receipt is not lost", async () => {
    const main = memory(FILES);
    const notes = new StateBackend({ files: {}, writeMode: "overwrite" });
    const keep = foreign(notes);
    const branch = await branched(main, "one", keep);
    await edit(branch, "/a.txt", "a", "A");
    for (const name of ["write", "uploadFiles"]) keep[name] = async () => ({ error: "down" });
    const done = await merge(branch, { into: main });
    assert.match(done.error, /"one" was merged, but could not note it/);
    assert.deepEqual(
      done.made.files.map(({ path }) => path),
      ["/a.txt"],
    );
    const again = await branched(main, "one", notes);
    assert.deepEqual(good(await merge(again, { into: main })).changes, []);
  });
});

describe("what is kept", () => {
  const KEY = "correct horse battery staple";
  const notesOf = async (notes) => ownFiles(await roomOf(kitbag), notes, "/.kitbag/branches");

  test("nothing is left of a branch that is given up, and its name begins a new one", async () => {
    const main = world(memory(FILES));
    const notes = memory();
    const branch = await branched(main, "one", notes);
    await edit(branch, "/a.txt", "a", "A");
    assert.deepEqual(await keptTurns({ backend: notes, path: "/.kitbag/branches" }), {
      names: ["one"],
    });
    good(await branch.discard(["/**"]));
    assert.deepEqual(await notesOf(notes), []);
    await edit(main, "/b.txt", "b", "B");
    const again = await branched(main, "one", notes);
    assert.equal(await text(again, "/b.txt"), "B\n");
    assert.equal(await text(again, "/a.txt"), "a\n");
  });

  test("reads are not kept: an agent that only reads writes nothing", async () => {
    const notes = memory();
    const branch = await branched(memory(FILES), "one", notes);
    await branch.read("/a.txt");
    await branch.ls("/");
    await branch.grep("a");
    await branch.glob("**");
    assert.deepEqual(await notesOf(notes), []);
  });

  test("two processes with one branch find out", async () => {
    const main = memory(FILES);
    const notes = memory();
    const one = await branched(main, "one", notes);
    await edit(one, "/a.txt", "a", "A");
    const two = await branched(main, "one", notes);
    await edit(two, "/b.txt", "b", "B");
    assert.equal((await one.edit("/plan.md", "2", "two")).code, "conflict");
    good(await merge(two, { into: main }));
    assert.deepEqual([await text(main, "/a.txt"), await text(main, "/b.txt")], ["A\n", "B\n"]);
  });

  test("with a key, forged and damaged files are not believed, and others' changes not lost", async () => {
    const own = await roomOf(kitbag);
    let seen = 0;
    for (let victim = 0; victim < 4; victim++) {
      for (const damage of ["forged", "cut", "changed", "deleted"]) {
        const main = world(memory(FILES));
        const notes = new StateBackend({ files: {}, writeMode: "overwrite" });
        const keepIn = { backend: notes, key: KEY };
        const { branch } = good(await fork(main, { name: "one", keepIn }));
        await edit(branch, "/a.txt", "a", "A");
        await edit(branch, "/b.txt", "b", "B");
        const path = (await ownFiles(own, notes, "/.kitbag/branches"))[victim];
        if (path === undefined) continue;
        seen += 1;
        const [{ content }] = await notes.downloadFiles([own(path)]);
        const other = content.slice();
        other[other.length >> 1] ^= 1;
        const made = {
          forged: bytes("f".repeat(200)),
          cut: content.slice(0, content.length >> 1),
          changed: other,
        };
        if (damage === "deleted") good(await notes.delete(own(path)));
        else
          for (const { error } of await notes.uploadFiles([[own(path), made[damage]]]))
            assert.equal(error ?? null, null);
        const found = await fork(main, { name: "one", keepIn });
        const done = found.branch ? await merge(found.branch, { into: main }) : found;
        // Either it is refused by name, or what is left of it is merged; never something else.
        if (done.error !== undefined) assert.equal(done.code, "unavailable", done.error);
        const files = await all(main);
        assert.ok(["a\n", "A\n"].includes(files["/a.txt"]));
        assert.ok(["b\n", "B\n"].includes(files["/b.txt"]));
        assert.equal(files["/plan.md"], PLAN);
      }
    }
    assert.ok(seen >= 12);
  });

  test("another key is refused", async () => {
    const main = memory(FILES);
    const notes = memory();
    const { branch } = good(
      await fork(main, { name: "one", keepIn: { backend: notes, key: KEY } }),
    );
    await edit(branch, "/a.txt", "a", "A");
    const found = await fork(main, { name: "one", keepIn: { backend: notes, key: `not ${KEY}` } });
    assert.match(found.error, /key/);
  });

  test("a pin that is gone answers unavailable, and rebase shows another one", async () => {
    const files = memory(FILES);
    const main = world(files);
    const branch = await branched(main, "one");
    await edit(branch, "/b.txt", "b", "B");
    await edit(main, "/a.txt", "a", "A");
    good(await main.unpin(branch.pin));
    const pruned = withHistory(files, { keepIn: { backend: memory() } });
    const lost = good(await openPin(pruned, branch.pin)).backend;
    assert.equal((await lost.read("/a.txt")).code, "unavailable");
    good(await branch.rebase());
    assert.equal(await text(branch, "/a.txt"), "A\n");
    good(await merge(branch, { into: main }));
    assert.equal(await text(main, "/b.txt"), "B\n");
  });
});

describe("who watches", () => {
  class Watched extends StateBackend {
    heard = new Set();
    watch(hear) {
      this.heard.add(hear);
      return () => this.heard.delete(hear);
    }
  }
  const heard = async (base) => {
    const files = new Watched({ scope: "instance", files: { ...FILES } });
    const main = BASES[base](files);
    const branch = await branched(main, "one");
    const told = [];
    const stop = branch.watch(({ paths }) => told.push(...paths));
    await edit(main, "/a.txt", "a", "A");
    for (const hear of files.heard) hear({ paths: ["/a.txt"] });
    await edit(branch, "/b.txt", "b", "B");
    for (let turns = 0; turns < 50 && !told.includes("/b.txt"); turns++) {
      await new Promise((next) => setImmediate(next));
    }
    await new Promise((next) => setTimeout(next, 20));
    stop();
    return [...new Set(told)].sort();
  };
  test("a branch over a pin hears only of its own changes", async () => {
    assert.deepEqual(await heard("pin"), ["/b.txt"]);
  });
  test("one of what is below hears of both", async () => {
    assert.deepEqual(await heard("live"), ["/a.txt", "/b.txt"]);
  });
});

describe("wrong options", () => {
  const WRONG = {
    "fork: no backend": [
      () => fork({}, { name: "x", keepIn: { backend: memory() } }),
      /^fork: the backend must be a backend/,
    ],
    "fork: no options": [() => fork(memory()), /^fork: option "keepIn" is missing/],
    "fork: keepIn is a backend": [
      () => fork(memory(), { keepIn: memory() }),
      /^fork: keepIn must be an object/,
    ],
    "fork: keepIn without a backend": [
      () => fork(memory(), { keepIn: {} }),
      /^fork: keepIn: option "backend"/,
    ],
    "fork: a misspelt option": [
      () => fork(memory(), { nmae: "x", keepIn: { backend: memory() } }),
      /^fork: there is no option "nmae"/,
    ],
    "fork: a name with a slash": [
      () => fork(memory(), { name: "a/b", keepIn: { backend: memory() } }),
      /^fork: option "name" must be/,
    ],
    "fork: a name that is no text": [
      () => fork(memory(), { name: 7, keepIn: { backend: memory() } }),
      /^fork: option "name" must be/,
    ],
    "fork: writeMode": [
      () => fork(memory(), { writeMode: "no", keepIn: { backend: memory() } }),
      /option "writeMode" must be/,
    ],
    "fork: timeoutMs": [
      () => fork(memory(), { timeoutMs: "no", keepIn: { backend: memory() } }),
      /timeoutMs/,
    ],
    "merge: no branch": [
      () => merge(memory(), { into: memory() }),
      /^merge: the first argument must be what fork returned/,
    ],
    "merge: nothing": [() => merge(), /^merge: the first argument/],
    "merge: an empty list": [
      () => merge([], { into: memory() }),
      /^merge: the list of branches is empty/,
    ],
    "merge: without into": [(branch) => merge(branch, {}), /^merge: option "into" is missing/],
    "merge: into no backend": [
      (branch) => merge(branch, { into: {} }),
      /^merge: into must be a backend/,
    ],
    "merge: into itself": [
      (branch) => merge(branch, { into: branch }),
      /^merge: a branch cannot be merged into itself/,
    ],
    "merge: twice": [
      (branch) => merge([branch, branch], { into: memory() }),
      /^merge: the branch "x" is there twice/,
    ],
    "merge: onConflict": [
      (branch) => merge(branch, { into: memory(), onConflict: "both" }),
      /^merge: option "onConflict" must be/,
    ],
    "merge: only": [
      (branch) => merge(branch, { into: memory(), only: "/a" }),
      /^merge: option "only" must be a function/,
    ],
    "merge: remember": [
      (branch) => merge(branch, { into: memory(), remember: 1 }),
      /^merge: option "remember"/,
    ],
    "merge: misspelt": [
      (branch) => merge(branch, { into: memory(), dryrun: true }),
      /^merge: there is no option "dryrun"/,
    ],
    "merge: by": [
      (branch) => merge(branch, { into: memory(), by: 1 }),
      /^merge: option "by" must be a string/,
    ],
  };
  for (const [name, [call, message]] of Object.entries(WRONG)) {
    test(name, async () => {
      const branch = await branched(memory(), "x");
      const done = await call(branch);
      assert.match(done.error, message);
      assert.equal(done.code, "invalid_argument");
    });
  }

  test("a branch over a pin asks for its history", async () => {
    const files = memory(FILES);
    const notes = memory();
    await branched(world(files), "one", notes);
    const found = await fork(files, { name: "one", keepIn: { backend: notes } });
    assert.equal(found.code, "invalid_argument");
    assert.match(found.error, /^fork: the branch "one" shows a pin; pass the withHistory/);
  });

  test("a signal and a time limit end a merge before it begins", async () => {
    const main = memory(FILES);
    const branch = await branched(main, "one");
    await edit(branch, "/a.txt", "a", "A");
    const done = await merge(branch, { into: main, signal: AbortSignal.abort() });
    assert.equal(done.code, "timeout");
    assert.equal(await text(main, "/a.txt"), "a\n");
  });
});

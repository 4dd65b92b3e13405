// A call that is broken off midway, for want of memory or of stack or by a defect: nothing stays
// borrowed, locked or queued for, what a backend holds is whole or is refused by name, and other
// backends do not notice. Each operation is broken off at every allocation that it makes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CompositeBackend,
  CustomBackend,
  createFileTools,
  KitbagPanic,
  StateBackend,
  withPolicy,
} from "../../.cache/pkg-testing/dist/node.js";
import { failAllocation, panicNow } from "../../.cache/pkg-testing/dist/testing.js";

const BODY = "one\ntwo\nthree\n";
const bytes = (text) => new TextEncoder().encode(text);

function files() {
  const record = { "/a.txt": BODY, "/long.txt": `${"word ".repeat(2_000)}\n`.repeat(4) };
  for (let n = 0; n < 30; n++) record[`/dir/${n}.txt`] = `${n}\n`;
  return record;
}

/** Runs `call` with its n-th allocation failing; tells whether it was reached, and the answer. */
async function brokenAt(n, call) {
  let answer;
  let thrown;
  failAllocation(n);
  try {
    answer = await call();
  } catch (error) {
    thrown = error;
  }
  const reached = failAllocation(0) === 0;
  if (thrown !== undefined) {
    assert.ok(thrown instanceof KitbagPanic, `${n}: ${thrown?.stack}`);
    assert.equal(thrown.code, "internal");
    assert.match(thrown.message, /not enough memory/);
    assert.doesNotMatch(thrown.message, /unreachable|borrowed/);
  }
  for (const one of [answer].flat()) {
    if (one?.code !== "too_large") continue;
    assert.match(one.message ?? one.error, /not enough memory|too large/);
    assert.doesNotMatch(one.error, /unreachable|borrowed/);
    thrown = one;
  }
  return { reached, answer, thrown };
}

/** Either everything works, or everything is refused alike. */
function wholeOrRefused(backend) {
  backend.delete("/probe.txt");
  const looks = [
    backend.ls("/"),
    backend.read("/a.txt"),
    backend.readRaw("/a.txt"),
    backend.grep("o"),
    backend.glob("**"),
    backend.write("/probe.txt", "probe"),
    backend.edit("/probe.txt", "probe", "p"),
    backend.delete("/probe.txt"),
    backend.uploadFiles([["/probe.txt", bytes("p")]])[0],
    backend.downloadFiles(["/a.txt"])[0],
  ];
  const refused = looks.filter((one) => one.error);
  if (refused.length === 0) return true;
  for (const look of looks.slice(0, 8)) {
    assert.equal(look.code, "internal", JSON.stringify(look));
    assert.match(look.error, /broken off midway.*Make a new backend/);
  }
  for (const look of looks.slice(8)) assert.ok(look.error, "batches are refused as well");
  assert.throws(() => backend.snapshot(), /broken off midway/);
  assert.throws(() => backend.restore({}), /broken off midway/);
  return false;
}

const READS = [
  ["ls", (b) => b.ls("/")],
  ["read", (b) => b.read("/a.txt")],
  ["read of a long file", (b) => b.read("/long.txt", 1, 2)],
  ["readRaw", (b) => b.readRaw("/a.txt")],
  ["grep", (b) => b.grep("t")],
  ["grep with context", (b) => b.grep("t", "/", null, null, { before: 2, after: 2 })],
  ["grep by an expression", (b) => b.grep("[tw]+o", "/", "*.txt", 5, { regex: true })],
  ["grep in any case", (b) => b.grep("É", "/", null, null, { ignoreCase: true })],
  ["glob", (b) => b.glob("**/*.txt")],
  ["downloadFiles", (b) => b.downloadFiles(["/a.txt", "/none.txt", "/dir/1.txt"])],
  ["snapshot", (b) => b.snapshot()],
];

const CHANGES = [
  ["write", (b) => b.write("/new.txt", "new"), "/new.txt", [undefined, "new"]],
  [
    "write of a long text",
    (b) => b.write("/new.txt", "x".repeat(9_000)),
    "/new.txt",
    [undefined, "x".repeat(9_000)],
  ],
  ["edit", (b) => b.edit("/a.txt", "two", "2"), "/a.txt", [BODY, BODY.replace("two", "2")]],
  [
    "edit that grows",
    (b) => b.edit("/a.txt", "e", "EEEE", true),
    "/a.txt",
    [BODY, BODY.replaceAll("e", "EEEE")],
  ],
  ["delete", (b) => b.delete("/dir/3.txt"), "/dir/3.txt", ["3\n", undefined]],
  ["delete of a directory", (b) => b.delete("/dir"), "/dir/7.txt", ["7\n", undefined]],
  ["uploadFiles", (b) => b.uploadFiles([["/a.txt", bytes("up")]]), "/a.txt", [BODY, "up"]],
];

describe("broken off at each allocation in turn", () => {
  for (const [name, read] of READS) {
    test(`${name}: nothing is left behind, and the backend goes on working`, async () => {
      const other = new StateBackend({ files: { "/a.txt": BODY } });
      let broken = 0;
      for (let n = 1; ; n++) {
        const backend = new StateBackend({ files: files() });
        const { reached, thrown } = await brokenAt(n, () => read(backend));
        broken += thrown ? 1 : 0;
        assert.ok(wholeOrRefused(backend), `a read must not spoil the files (allocation ${n})`);
        assert.ok(wholeOrRefused(other));
        if (!reached) break;
      }
      assert.ok(broken > 0, "some of them must have been broken off");
    });
  }

  for (const [name, change, path, contents] of CHANGES) {
    test(`${name}: the old content, the new, or a refusal`, async () => {
      const other = new StateBackend({ files: { "/a.txt": BODY } });
      let broken = 0;
      for (let n = 1; ; n++) {
        const backend = new StateBackend({ files: files() });
        const { reached, thrown } = await brokenAt(n, () => change(backend));
        broken += thrown ? 1 : 0;
        const now = backend.read(path);
        if (now.code !== "internal")
          assert.ok(contents.includes(now.content), `${n}: ${JSON.stringify(now)}`);
        wholeOrRefused(backend);
        assert.ok(wholeOrRefused(other));
        assert.ok(wholeOrRefused(new StateBackend({ files: { "/a.txt": BODY } })));
        if (!reached) break;
      }
      assert.ok(broken > 0, "some of them must have been broken off");
    });
  }

  test("a tool's call: the next call of the same tool set works", async () => {
    for (let n = 1; ; n++) {
      const backend = new StateBackend({ files: files() });
      const tools = createFileTools(backend).tools;
      const grep = tools.find(({ name }) => name === "grep");
      const input = { pattern: "o", output_mode: "content", before: 3, after: 3 };
      const { reached } = await brokenAt(n, () => grep.execute(input));
      assert.match(String(await grep.execute(input)), /one/);
      assert.ok(wholeOrRefused(backend));
      if (!reached) break;
    }
  });

  test("a router and a policy over it: both answer as before", async () => {
    for (let n = 1; ; n++) {
      const inner = new StateBackend({ files: files() });
      const router = new CompositeBackend(inner, {
        "/m/": new StateBackend({ files: { "/b.txt": BODY } }),
      });
      const guarded = withPolicy(router, { quota: { maxBytes: 10_000_000 } });
      const { reached } = await brokenAt(n, () => guarded.grep("o"));
      assert.equal((await guarded.grep("two")).matches.length, 2);
      assert.equal((await guarded.edit("/m/b.txt", "two", "2")).occurrences, 1);
      assert.equal((await guarded.write("/new.txt", "new")).error, undefined);
      if (!reached) break;
    }
  });
});

/** A storage of the caller's, one map. */
function custom() {
  const held = new Map();
  const later = () => new Promise((resolve) => setImmediate(resolve));
  return {
    held,
    async get(path) {
      await later();
      return held.get(path);
    },
    async put(path, file) {
      await later();
      held.set(path, file);
    },
    async delete(path) {
      return held.delete(path);
    },
    list: (prefix) => [...held.keys()].filter((path) => path.startsWith(prefix)),
  };
}

describe("calls that wait for one another", () => {
  test("a change whose turn a broken call had does not wait for ever", async () => {
    let broken = 0;
    for (let n = 1; n < 400; n++) {
      const backend = new CustomBackend(custom(), { writeMode: "overwrite" });
      assert.equal((await backend.write("/a.txt", "0 0 0")).error, undefined);
      failAllocation(n);
      const first = backend.edit("/a.txt", "0", "1", true).catch((error) => error);
      const second = backend.write("/a.txt", "second").catch((error) => error);
      const third = backend.edit("/a.txt", "d", "D", true).catch((error) => error);
      const answers = await Promise.all([first, second, third]);
      const reached = failAllocation(0) === 0;
      for (const answer of answers) {
        if (answer instanceof Error || answer.code === "too_large") broken += 1;
        if (answer instanceof Error) assert.ok(answer instanceof KitbagPanic, answer.stack);
      }
      assert.equal((await backend.write("/a.txt", "after")).error, undefined);
      assert.equal((await backend.read("/a.txt")).content, "after");
      if (!reached) break;
    }
    assert.ok(broken > 0, "some of them must have been broken off");
  });

  test("a quota's count that a broken call held is free again", async () => {
    for (let n = 1; n < 600; n++) {
      const storage = new CustomBackend(custom(), { writeMode: "overwrite" });
      const backend = withPolicy(storage, { quota: { maxBytes: 1_000, maxFiles: 5 } });
      failAllocation(n);
      const calls = [1, 2, 3].map((n) => backend.write(`/${n}.txt`, "x").catch((error) => error));
      await Promise.all(calls);
      const reached = failAllocation(0) === 0;
      assert.equal((await backend.write("/a.txt", "after")).error, undefined);
      if (!reached) break;
    }
  });
});

/** Calls `run` with ever more of the stack left, from nearly none. */
function atEveryDepth(run, levels) {
  const returned = [];
  const down = () => {
    try {
      down();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    if (returned.length < levels) {
      try {
        returned.push(run());
      } catch (error) {
        returned.push(error);
      }
    }
  };
  down();
  return returned;
}

describe("where the stack ends", () => {
  const calls = [
    ["read", (b) => b.read("/a.txt").content],
    ["grep", (b) => b.grep("two").matches?.length],
    [
      "grep by an expression",
      (b) => b.grep("t(w|x)o", "/", null, null, { regex: true }).matches?.length,
    ],
    ["edit", (b) => b.edit("/a.txt", "o", "o", true).occurrences],
    ["uploadFiles", (b) => b.uploadFiles([["/up.txt", bytes("x".repeat(9_000))]])[0]?.error],
    ["write", (b) => b.write("/new.txt", "n").path ?? b.delete("/new.txt")],
  ];
  for (const [name, call] of calls) {
    test(`${name}: an answer or a refusal at every distance, and the backend works after`, () => {
      const backend = new StateBackend({ files: { "/a.txt": BODY } });
      const other = new StateBackend({ files: { "/a.txt": BODY } });
      for (let round = 0; round < 20; round++) {
        const answers = atEveryDepth(() => call(backend), 600);
        assert.equal(answers.length, 600);
        for (const answer of answers) {
          if (answer instanceof Error) assert.match(answer.message, /stack/);
        }
        backend.delete("/new.txt");
        assert.ok(wholeOrRefused(backend));
        assert.ok(wholeOrRefused(other));
        assert.equal(backend.read("/a.txt").content, BODY);
      }
    });
  }

  test("a refusal for want of stack says so", () => {
    const backend = new StateBackend({ files: { "/a.txt": BODY } });
    // The engine's first rounds compile, which takes stack of its own.
    const rounds = Array.from({ length: 8 }, () => {
      return atEveryDepth(() => backend.read("/a.txt"), 600);
    });
    const answers = rounds.slice(2).flat();
    const refused = answers.filter((answer) => answer.error);
    assert.ok(refused.length > 0);
    for (const { error, code } of refused) {
      assert.match(error, /too little stack/);
      assert.equal(code, "unavailable");
    }
    assert.ok(answers.some((answer) => answer.content === BODY));
  });
});

describe("a call inside another", () => {
  test("a defect in the inner one leaves the outer one and its locks alone", async () => {
    const storage = custom();
    const backend = new CustomBackend(storage, { writeMode: "overwrite" });
    await backend.write("/a.txt", "one");
    const get = storage.get;
    storage.get = (path) => {
      assert.throws(panicNow, KitbagPanic);
      return get(path);
    };
    const answers = await Promise.all([
      backend.edit("/a.txt", "one", "two"),
      backend.edit("/a.txt", "two", "three"),
    ]);
    assert.deepEqual(
      answers.map(({ occurrences }) => occurrences),
      [1, 1],
    );
    assert.equal((await backend.read("/a.txt")).content, "three");
  });
});

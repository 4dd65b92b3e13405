// What is lent is a backend at the other end: the conformance suite, rules, questions, changes, large files,
// and an end that goes away.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { describe } from "node:test";
import { runConformance } from "../../pkg/dist/conformance.js";
import { borrowFiles, lendFiles } from "../../pkg/dist/lend.js";
import {
  createFileTools,
  FilesystemBackend,
  HttpBackend,
  StateBackend,
  withPolicy,
} from "../../pkg/dist/node.js";
import { BACKENDS, begin, folder, undo } from "../reach/lib.mjs";
import { pair, until } from "./lib.mjs";

const MIB = 1 << 20;

/** A backend that is lent, as its borrower sees it. */
function lent(backend, options, use) {
  const [lender, borrower] = pair();
  const stop = lendFiles(lender, backend, options);
  return { files: borrowFiles(borrower, use), lender, borrower, stop };
}

describe("conformance", () => {
  for (const [name, make] of Object.entries(BACKENDS)) {
    test(`${name}: every case`, async (t) => {
      const { passed, failures, deviations } = await runConformance(
        async ({ writeMode }) => {
          const { files } = lent(await make(t, writeMode), { maxParallel: 1000 });
          await files.ls("/");
          return files;
        },
        { turns: { begin, undo } },
      );
      assert.deepEqual(failures, []);
      assert.deepEqual(deviations, []);
      assert.ok(passed > 100, `${passed}`);
    });
  }
});

describe("rules and questions of who lends", () => {
  const rules = {
    permissions: [
      { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" },
      { operations: ["write"], paths: ["/fixed/**"], mode: "deny" },
    ],
  };
  const files = { "/secret/key": "5ECRET", "/fixed/a": "fixed", "/a": "open" };

  test("hold for every call of the borrower", async () => {
    const state = new StateBackend({ files, writeMode: "overwrite" });
    const { files: them } = lent(withPolicy(state, rules));
    assert.equal((await them.read("/a")).content, "open");
    const secret = [
      them.read("/secret/key"),
      them.readRaw("/secret/key"),
      them.edit("/secret/key", "5", "6"),
      them.move("/secret/key", "/b"),
      them.copy("/secret/key", "/b"),
      them.downloadFiles(["/secret/key"]).then(([one]) => one),
      them.uploadFiles([["/secret/key", new Uint8Array(1)]]).then(([one]) => one),
      them.append("/secret/key", "x"),
      them.delete("/secret/key"),
      them.write("/secret/key", "x"),
      them.read("//secret/./key"),
      them.write("/fixed/a", "x"),
      them.delete("/fixed"),
      them.delete("/"),
    ];
    for (const answer of await Promise.all(secret)) {
      assert.ok(answer.error, JSON.stringify(answer));
      assert.doesNotMatch(JSON.stringify(answer), /5ECRET/);
    }
    for (const search of [them.grep("5ECRET"), them.glob("**"), them.ls("/"), them.ls("/secret")]) {
      assert.doesNotMatch(JSON.stringify(await search), /key|5ECRET/);
    }
    assert.equal(state.read("/secret/key").content, "5ECRET");
    assert.equal(state.read("/fixed/a").content, "fixed");
  });

  test("a person is asked there, and the answer decides", async () => {
    const asked = [];
    let answer = false;
    const state = new StateBackend({ files, writeMode: "overwrite" });
    const { files: them } = lent(
      withPolicy(state, {
        permissions: [{ operations: ["write"], paths: ["/**"], mode: "ask" }],
        onAsk: async (request) => {
          asked.push(request.path);
          return answer;
        },
      }),
    );
    assert.equal((await them.write("/a", "1")).code, "permission_denied");
    answer = true;
    assert.equal((await them.write("/a", "2")).error, undefined);
    assert.deepEqual(asked, ["/a", "/a"]);
    assert.equal(state.read("/a").content, "2");
  });

  test("tools of an agent work over it", async () => {
    const state = new StateBackend({ files });
    const tools = createFileTools(lent(withPolicy(state, rules)).files);
    const called = await tools.call("write_file", { file_path: "/plan.md", content: "1. look\n" });
    assert.equal(called.isError, false);
    assert.equal(state.read("/plan.md").content, "1. look\n");
    const hidden = await tools.call("read_file", { file_path: "/secret/key" });
    assert.equal(hidden.isError, true);
  });

  test("several that are lent are apart", async () => {
    const made = Array.from({ length: 5 }, (_, at) =>
      lent(new StateBackend({ files: { "/a": `${at}` } })),
    );
    const read = await Promise.all(made.map(({ files: them }) => them.read("/a")));
    assert.deepEqual(
      read.map(({ content }) => content),
      ["0", "1", "2", "3", "4"],
    );
  });
});

describe("large files", () => {
  /** The most bytes of bodies that were on their way at once: sent, and not said to be read. */
  function onTheWay(from, to) {
    let [now, most] = [0, 0];
    from.addEventListener("message", ({ data }) => {
      const bytes = new Uint8Array(data);
      if (bytes[0] === 6) now -= new DataView(data).getUint32(5);
    });
    to.addEventListener("message", ({ data }) => {
      if (new Uint8Array(data)[0] === 3) now += data.byteLength - 5;
      most = Math.max(most, now);
    });
    return () => most;
  }

  test("cross both ways, with at most a MiB of each on its way", async () => {
    const bytes = randomBytes(20 * MIB);
    const state = new StateBackend({ maxBytes: 64 * MIB });
    const { files, lender, borrower } = lent(state);
    const [up, down] = [onTheWay(borrower, lender), onTheWay(lender, borrower)];
    const [stored] = await files.uploadFiles([["/film.bin", bytes]]);
    assert.equal(stored.error, null, JSON.stringify(stored));
    const { data } = await files.readRaw("/film.bin");
    assert.ok(bytes.equals(data.content));
    for (const most of [up(), down()]) assert.ok(most > MIB / 2 && most <= MIB, `${most}`);
    for (const [, length] of [...lender.sent, ...borrower.sent]) assert.ok(length <= MIB / 4);
  });

  test("are stored in the page's folder while they cross", async (t) => {
    const bytes = randomBytes(20 * MIB);
    const rootDir = folder(t);
    const disk = new FilesystemBackend({ rootDir, maxFileBytes: 64 * MIB });
    const { files, lender, borrower } = lent(disk);
    const up = onTheWay(borrower, lender);
    const torn = { size: 20 * MIB, stream: () => new Blob([bytes.subarray(0, 5 * MIB)]).stream() };
    const answers = await files.uploadFiles([
      ["/film.bin", new Blob([bytes])],
      ["/torn.bin", torn],
    ]);
    assert.deepEqual(
      answers.map(({ code }) => code),
      [undefined, "unavailable"],
    );
    assert.ok(bytes.equals(readFileSync(join(rootDir, "film.bin"))));
    assert.ok(up() <= MIB, `${up()}`);
    await until(() => readdirSync(rootDir).length === 1);
  });

  test("many searches and files at once arrive whole", async () => {
    const state = new StateBackend({ writeMode: "overwrite" });
    for (let at = 0; at < 300; at++) state.write(`/d/${at}.txt`, `needle ${at}\n`.repeat(200));
    const { files } = lent(state, { maxParallel: 1000 });
    const found = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        at % 2 ? files.grep("needle", "/d") : files.readRaw(`/d/${at}.txt`),
      ),
    );
    for (const [at, one] of found.entries()) {
      if (at % 2) assert.equal(one.matches.length, 60_000);
      else assert.match(one.data.content, new RegExp(`^needle ${at}\n`));
    }
  });
});

describe("an end goes away", { concurrency: true }, () => {
  /** Lends what never answers. */
  const never = () =>
    new Proxy(new StateBackend({ files: { "/a": "1" } }), {
      get: (target, name) =>
        name === "read" ? () => new Promise(() => {}) : Reflect.get(target, name, target),
    });

  for (const [what, away] of Object.entries({
    "the socket closes": ({ lender }) => lender.close(),
    "the borrower closes it": ({ borrower }) => borrower.close(),
    "the lender stops": ({ stop }) => stop(),
  })) {
    test(`${what}: calls of before and after end with unavailable`, async () => {
      const made = lent(never(), {}, { timeoutMs: 2000 });
      const waiting = made.files.read("/a");
      await until(() => made.borrower.sent.length > 0);
      away(made);
      for (const answer of [await waiting, await made.files.read("/a")]) {
        assert.equal(answer.code, "unavailable", JSON.stringify(answer));
      }
    });
  }

  test("a call that is given up stops the work there", async () => {
    const signals = [];
    const state = new StateBackend({ files: { "/a": "1" } });
    const slow = new Proxy(state, {
      get: (target, name) =>
        name === "read"
          ? (_path, _offset, _limit, { signal }) =>
              new Promise((resolve) => {
                signals.push(signal);
                signal.addEventListener("abort", () => resolve({ error: "x", code: "timeout" }));
              })
          : Reflect.get(target, name, target),
    });
    const { files } = lent(slow);
    const stop = new AbortController();
    const waiting = files.read("/a", 0, 10, { signal: stop.signal });
    await until(() => signals.length === 1);
    stop.abort();
    assert.equal((await waiting).code, "timeout");
    await until(() => signals[0].aborted);
  });

  test("a lender that has stopped changes nothing, and leaves the socket to its owner", async () => {
    const state = new StateBackend({ files: { "/a": "1" }, writeMode: "overwrite" });
    const { files, lender, stop } = lent(state);
    assert.equal((await files.read("/a")).content, "1");
    stop();
    assert.equal((await files.write("/a", "2")).code, "unavailable");
    assert.equal(state.read("/a").content, "1");
    assert.equal(lender.readyState, 1);
  });

  test("nothing is sent before the socket is open", async () => {
    const [lender, borrower] = pair();
    lendFiles(lender, new StateBackend({ files: { "/a": "1" } }));
    borrower.readyState = 0;
    const reading = borrowFiles(borrower).read("/a");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(borrower.sent.length, 0);
    borrower.readyState = 1;
    borrower.dispatchEvent(new Event("open"));
    assert.equal((await reading).content, "1");
  });

  test("texts on the socket are somebody else's", async () => {
    const { files, lender, borrower } = lent(new StateBackend({ files: { "/a": "1" } }));
    borrower.send("hello");
    lender.send('{"type":"chat"}');
    assert.equal((await files.read("/a")).content, "1");
  });
});

test("changes are heard", async (t) => {
  const rootDir = folder(t);
  const { files } = lent(new FilesystemBackend({ rootDir }), {}, { watch: true });
  const heard = new Set();
  const stop = files.watch("/", ({ paths }) => {
    for (const path of paths) heard.add(path);
  });
  await until(async () => {
    writeFileSync(join(rootDir, "b"), `${Date.now()}`);
    return heard.has("/b");
  });
  stop();
});

describe("wrong arguments are named", () => {
  const state = new StateBackend();
  const [socket] = pair();
  for (const [call, message] of [
    [() => lendFiles(undefined, state), /^lendFiles: the first argument must be a WebSocket/],
    [() => lendFiles({ send() {} }, state), /^lendFiles: the first argument must be a WebSocket/],
    [() => lendFiles(socket, undefined), /^lendFiles: the second argument must be a backend/],
    [() => lendFiles(socket, state, { path: "/x" }), /lendFiles.*"path"/],
    [() => lendFiles(socket, state, { timeoutMs: -1 }), /"timeoutMs" must be a whole number/],
    [() => borrowFiles(null), /^borrowFiles: the first argument must be a WebSocket/],
    [() => borrowFiles(socket, { url: "http://elsewhere" }), /borrowFiles.*"url"/],
    [() => borrowFiles(socket, { timeoutMs: "1" }), /"timeoutMs"/],
  ]) {
    test(`${message}`, () => assert.throws(call, { name: "TypeError", message }));
  }
  test("what is borrowed is an HttpBackend", () => {
    assert.ok(borrowFiles(socket) instanceof HttpBackend);
  });
});

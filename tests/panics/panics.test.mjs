// A panic is an ordinary Error at its caller; the instance, other backends and the host go on.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { KitbagPanic, StateBackend } from "../../.cache/pkg-testing/dist/node.js";
import {
  chunkNames,
  inUse,
  panicInChunk,
  panicLater,
  panicNow,
} from "../../.cache/pkg-testing/dist/testing.js";
import { workerModules } from "../lib/bundle.mjs";
import { startWorker } from "../lib/workerd.mjs";

const pkg = fileURLToPath(new URL("../../.cache/pkg-testing/", import.meta.url));

const isOurs = (error) => {
  assert.ok(error instanceof KitbagPanic);
  assert.ok(error instanceof Error);
  assert.equal(error.code, "internal");
  assert.match(error.message, /a deliberate panic/);
  assert.doesNotMatch(error.message, /unreachable/);
  return true;
};

function works(backend) {
  const path = "/work.txt";
  assert.equal(backend.write(path, "one\ntwo\n").error, undefined);
  assert.equal(backend.edit(path, "two", "2").occurrences, 1);
  assert.deepEqual(backend.grep("2", path).matches, [{ path, line: 2, text: "2" }]);
  assert.equal(backend.delete(path).error, undefined);
}

describe("in Node", () => {
  test("a synchronous panic is thrown as an Error", () => {
    const backend = new StateBackend();
    assert.throws(panicNow, isOurs);
    works(backend);
  });

  test("a panic in a task rejects its promise", async () => {
    const backend = new StateBackend();
    await assert.rejects(panicLater(), isOurs);
    works(backend);
  });

  test("panics in flight together each reject their own promise", async () => {
    const settled = await Promise.allSettled(Array.from({ length: 50 }, () => panicLater()));
    for (const { status, reason } of settled) {
      assert.equal(status, "rejected");
      isOurs(reason);
    }
    works(new StateBackend());
  });

  test("what other backends hold is as it was", async () => {
    const backends = Array.from({ length: 20 }, (_, n) => {
      return new StateBackend({ files: { "/n.txt": `${n}` } });
    });
    assert.throws(panicNow, isOurs);
    await assert.rejects(panicLater(), isOurs);
    for (const [n, backend] of backends.entries()) {
      assert.equal(backend.read("/n.txt").content, `${n}`);
      works(backend);
    }
  });

  test("10,000 panics use up nothing", async () => {
    const backend = new StateBackend({ files: { "/kept.txt": "kept" } });
    for (let n = 0; n < 10_000; n++) assert.throws(panicNow, KitbagPanic);
    assert.equal(backend.read("/kept.txt").content, "kept");
    works(backend);
    for (let n = 0; n < 10_000; n++) await assert.rejects(panicLater(), KitbagPanic);
    works(backend);
    works(new StateBackend());
  });

  test("a chunk that is not loaded is an Error, and works once it is loaded", () => {
    // In a process of its own, since a chunk stays loaded.
    const script = `
      import { KitbagPanic, StateBackend } from "./dist/node.js";
      import { callChunk, chunkNames, panicInChunk } from "./dist/testing.js";
      const backend = new StateBackend({ files: { "/kept.txt": "kept" } });
      const caught = (run) => {
        try { run(); } catch (error) { return error instanceof KitbagPanic && error.message; }
      };
      for (const name of chunkNames) {
        const early = caught(() => callChunk(name));
        const loaded = caught(() => panicInChunk(name));
        const again = caught(() => callChunk(name));
        const kept = backend.read("/kept.txt").content;
        console.log(JSON.stringify({ name, early, loaded, again, kept }));
      }`;
    const done = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: pkg,
      encoding: "utf8",
    });
    assert.equal(done.status, 0, done.stderr);
    const seen = done.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(seen.length, chunkNames.length);
    for (const { name, early, loaded, again, kept } of seen) {
      if (process.env.KITBAG_DEV_BUILD !== "1") assert.doesNotMatch(early, /deliberate/, name);
      assert.match(loaded, new RegExp(`a deliberate panic in the chunk ${name}`));
      assert.equal(again, loaded);
      assert.equal(kept, "kept");
    }
  });

  for (const name of chunkNames) {
    test(`1,000 panics inside the chunk ${name} use up nothing`, async () => {
      const backend = new StateBackend({ files: { "/kept.txt": "kept" } });
      const wanted = new RegExp(`a deliberate panic in the chunk ${name}`);
      // Loads the chunk, and lets memory grow to what one panic takes.
      assert.throws(() => panicInChunk(name), KitbagPanic);
      const before = inUse();
      for (let n = 0; n < 1_000; n++) {
        assert.throws(
          () => panicInChunk(name),
          (error) => error instanceof KitbagPanic && wanted.test(error.message),
        );
      }
      assert.deepEqual(inUse(), before);
      assert.equal(backend.read("/kept.txt").content, "kept");
      works(backend);
      works(new StateBackend());
    });
  }

  test("the process neither exits nor sees an uncaught exception", () => {
    const script = `
      import { StateBackend } from "./dist/node.js";
      import { panicLater, panicNow } from "./dist/testing.js";
      process.on("uncaughtException", () => process.exit(3));
      process.on("unhandledRejection", () => process.exit(4));
      try { panicNow(); process.exit(5); } catch {}
      let caught = 0;
      await panicLater().catch(() => { caught += 1; });
      await new Promise((resolve) => setTimeout(resolve, 10));
      const backend = new StateBackend({ files: { "/a": "a" } });
      if (caught !== 1 || backend.read("/a").content !== "a") process.exit(6);
      console.log("went on");
    `;
    const done = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: pkg,
      encoding: "utf8",
    });
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stdout, /went on/);
  });
});

describe("in workerd", () => {
  test("a Worker that panics answers, and goes on answering", async () => {
    const source = `
      import { StateBackend } from "./dist/workerd.js";
      import { panicInChunk, panicLater, panicNow } from "./dist/workerd/testing.js";
      const backend = new StateBackend({ files: { "/kept.txt": "kept" } });
      export default {
        async fetch(request) {
          const seen = [];
          const { pathname } = new URL(request.url);
          try {
            if (pathname === "/now") panicNow();
            if (pathname === "/later") await panicLater();
            if (pathname.startsWith("/in/")) panicInChunk(pathname.slice(4));
          } catch (error) {
            seen.push(error.name);
          }
          return Response.json([...seen, backend.read("/kept.txt").content]);
        },
      };
    `;
    const worker = await startWorker(await workerModules(source, pkg));
    try {
      for (let round = 0; round < 3; round++) {
        for (const [path, wanted] of [
          ["/now", ["KitbagPanic", "kept"]],
          ["/later", ["KitbagPanic", "kept"]],
          ...chunkNames.map((name) => [`/in/${name}`, ["KitbagPanic", "kept"]]),
          ["/plain", ["kept"]],
        ]) {
          const { status, text } = await worker.fetch(path);
          assert.equal(status, 200);
          assert.deepEqual(JSON.parse(text), wanted);
        }
      }
    } finally {
      await worker.stop();
    }
  });
});

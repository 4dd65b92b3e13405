// CompositeBackend in the package: routes of every sort, deepagents' own composite, the older
// protocol.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  adaptBackendProtocol,
  adaptSandboxProtocol,
  CompositeBackend,
  StateBackend,
  toV1,
  withPolicy,
} from "../lib/kitbag.mjs";

async function deepagents(folder) {
  const require = createRequire(
    fileURLToPath(new URL(`../deps/${folder}/package.json`, import.meta.url)),
  );
  return import(pathToFileURL(require.resolve("deepagents")).href);
}

const paths = (result) => result.files.map((file) => file.path);

function sandbox(extra = {}) {
  const files = new StateBackend();
  const own = {
    id: "box-1",
    execute: async (command) => ({ output: command, exitCode: 0, truncated: false }),
  };
  return Object.assign(adaptBackendProtocol(files), own, extra);
}

test("id and execute exist only when the default backend has them", async () => {
  const plain = new CompositeBackend(new StateBackend(), { "/m/": sandbox() });
  assert.equal("execute" in plain, false);
  assert.equal("id" in plain, false);
  const able = new CompositeBackend(sandbox(), { "/m/": new StateBackend() });
  assert.equal(able.id, "box-1");
  assert.equal((await able.execute("echo")).output, "echo");
  assert.deepEqual(able.routePrefixes, ["/m/"]);
});

test("a shell under path rules is refused, and says how to allow it", async () => {
  const rules = { readOnlyPrefixes: ["/secrets"] };
  const answer = await withPolicy(sandbox(), rules).execute("cat /secrets/key");
  assert.equal(answer.code, "permission_denied");
  assert.match(answer.error, /allowExecute: true/);
  const allowed = withPolicy(sandbox(), { ...rules, allowExecute: true });
  assert.equal((await allowed.execute("ls")).output, "ls");
});

test("allowExecute: false refuses commands, also where no rule is about files", async () => {
  for (const rules of [{}, { rateLimit: { write: { operations: 5, perMs: 1_000 } } }]) {
    const answer = await withPolicy(sandbox(), { ...rules, allowExecute: false }).execute("ls");
    assert.equal(answer.code, "permission_denied");
    assert.match(answer.error, /allowExecute: false/);
    assert.equal((await withPolicy(sandbox(), rules).execute("ls")).output, "ls");
  }
});

test("a wrong route is refused early, by name", () => {
  const state = new StateBackend();
  assert.throws(() => new CompositeBackend(state, { "/": state }), TypeError);
  assert.throws(() => new CompositeBackend(state, { "/a/": state, "//a": state }), TypeError);
  assert.throws(() => new CompositeBackend(state, { "/../a": state }), /'\.\.'/);
  assert.throws(() => new CompositeBackend(state, { "/a": {} }), /routes\["\/a"\]/);
  assert.throws(() => new CompositeBackend(undefined, {}), TypeError);
  assert.throws(() => new CompositeBackend(state, null), TypeError);
});

test("a route stays usable by itself", async () => {
  const memories = new StateBackend();
  const composite = new CompositeBackend(new StateBackend(), { "/memories/": memories });
  await composite.write("/memories/a.md", "hello");
  assert.equal(memories.read("/a.md").content, "hello");
  memories.write("/b.md", "world");
  assert.deepEqual(paths(await composite.ls("/memories")), ["/memories/a.md", "/memories/b.md"]);
});

test("what a route throws, answers late or answers wrongly is told", async () => {
  const route = (methods) => {
    const base = adaptBackendProtocol(new StateBackend());
    return new CompositeBackend(new StateBackend(), { "/r/": Object.assign(base, methods) });
  };
  const cause = new Error("boom");
  const thrower = route({
    read() {
      throw cause;
    },
  });
  const answer = await thrower.read("/r/a");
  assert.equal(answer.code, "unavailable");
  assert.equal(answer.cause, cause);
  const rejecting = route({ grep: () => Promise.reject(cause) });
  assert.match((await rejecting.grep("x")).error, /^The mount '\/r\/' failed: .*boom/);
  assert.equal((await route({ ls: () => 7 }).ls("/r")).code, "unavailable");
  assert.equal((await route({ glob: () => ({ files: "no" }) }).glob("**")).code, "unavailable");
  const odd = route({ ls: () => ({ files: [{ path: "/../x" }, { path: 3 }, { path: "/ok" }] }) });
  assert.deepEqual(paths(await odd.ls("/r")), ["/r/ok"]);
});

test("an error's path is that of the caller", async () => {
  const composite = new CompositeBackend(new StateBackend(), {
    "/r/": adaptBackendProtocol(new StateBackend()),
  });
  assert.deepEqual(await composite.read("/r/none"), {
    error: "File '/r/none' not found",
    code: "not_found",
  });
  assert.equal((await composite.edit("/r/none", "a", "b")).code, "not_found");
});

test("filesUpdate carries the caller's paths", async () => {
  const runtime = { state: { files: {} } };
  const composite = new CompositeBackend(new StateBackend(), { "/r/": new StateBackend(runtime) });
  const written = await composite.write("/r/a.txt", "x");
  assert.deepEqual(Object.keys(written.filesUpdate), ["/r/a.txt"]);
  assert.equal(written.filesUpdate["/r/a.txt"].content, "x");
  runtime.state.files["/b.txt"] = written.filesUpdate["/r/a.txt"];
  assert.equal((await composite.read("/r/b.txt")).content, "x");
});

for (const folder of ["latest", "older"]) {
  test(`works with the deepagents of tests/deps/${folder}`, async () => {
    const peer = await deepagents(folder);
    const ours = new StateBackend();
    const theirs = new peer.CompositeBackend(ours, {
      "/mem/": new CompositeBackend(new StateBackend(), { "/deep/": new StateBackend() }),
      "/guarded/": withPolicy(new StateBackend(), { readOnly: true }),
    });
    assert.equal((await theirs.write("/mem/deep/a.md", "needle")).error, undefined);
    assert.equal((await theirs.write("/x.md", "needle")).error, undefined);
    assert.match((await theirs.write("/guarded/x", "1")).error, /permission denied/);
    const found = await theirs.grep("needle", "/");
    assert.deepEqual(found.matches.map((match) => match.path).sort(), ["/mem/deep/a.md", "/x.md"]);
    assert.deepEqual(paths(await theirs.ls("/mem/")), ["/mem/deep/"]);
    const batch = await theirs.downloadFiles(["/mem/deep/a.md", "/x.md", "/none"]);
    assert.deepEqual(
      batch.map((one) => one.error),
      [null, null, "file_not_found"],
    );
    // And the other way round: theirs as a route of ours.
    const inner = new peer.CompositeBackend(new StateBackend(), { "/in/": new StateBackend() });
    const composite = new CompositeBackend(new StateBackend(), { "/their/": inner });
    await composite.write("/their/in/b.md", "needle");
    assert.deepEqual((await composite.grep("needle")).matches, [
      { path: "/their/in/b.md", line: 1, text: "needle" },
    ]);
    assert.equal(peer.isSandboxBackend(composite), false);
    assert.equal(peer.isSandboxBackend(new CompositeBackend(sandbox(), {})), true);
    // Their own in-memory backend as a route, in the form that hands changes back.
    const runtime = { state: { files: {} } };
    const older = new CompositeBackend(new StateBackend(), {
      "/s/": new peer.StateBackend(runtime),
    });
    const written = await older.write("/s/a.txt", "text");
    assert.deepEqual(Object.keys(written.filesUpdate ?? {}), ["/s/a.txt"]);
  });
}

test("read of the first version gives 2,000 rows unless it is told otherwise", async () => {
  const text = Array.from({ length: 2_500 }, (_, at) => `line ${at}`).join("\n");
  const v1 = toV1(new StateBackend({ files: { "/a.txt": text } }));
  const rows = (page) => page.split("\n").length;
  assert.equal(rows(await v1.read("/a.txt")), 2_000);
  assert.equal(rows(await v1.read("/a.txt", 2_000)), 500);
  assert.equal(rows(await v1.read("/a.txt", 0, 2_400)), 2_400);
});

test("the first version sees numbered text, bare arrays and regular expressions", async () => {
  const state = new StateBackend({
    files: { "/a.txt": "one\ntwo\n", "/e.txt": "", "/l.txt": "x".repeat(12_000) },
  });
  const v1 = toV1(state);
  assert.equal(await v1.read("/a.txt"), "     1\tone\n     2\ttwo");
  assert.equal(await v1.read("/a.txt", 1, 1), "     2\ttwo");
  assert.match(await v1.read("/e.txt"), /empty/);
  const long = (await v1.read("/l.txt")).split("\n").map((row) => row.split("\t")[0].trim());
  assert.deepEqual(long, ["1", "1.1", "1.2"]);
  assert.equal((await v1.read("/l.txt", 0, 2)).split("\n").length, 2);
  assert.match(await v1.read("/none"), /^Error: File '\/none' not found/);
  await assert.rejects(async () => v1.readRaw("/none"), /not found/);
  assert.equal((await v1.readRaw("/a.txt")).content, "one\ntwo\n");
  assert.deepEqual(await v1.grepRaw("^t.o$"), [{ path: "/a.txt", line: 2, text: "two" }]);
  assert.match(await v1.grepRaw("("), /^Invalid regex pattern: /);
  assert.deepEqual(
    (await v1.lsInfo("/")).map((one) => one.path),
    ["/a.txt", "/e.txt", "/l.txt"],
  );
  assert.deepEqual(
    (await v1.globInfo("a.*")).map((one) => one.path),
    ["/a.txt"],
  );
  const back = adaptBackendProtocol(v1);
  assert.deepEqual((await back.grep("t.o")).matches, []);
  assert.deepEqual(await back.read("/a.txt", 1, 1), state.read("/a.txt", 1, 1));
  assert.equal("execute" in v1, false);
  const box = adaptSandboxProtocol(
    Object.assign(toV1(state), {
      id: "v1",
      execute() {
        throw new Error("no");
      },
    }),
  );
  assert.equal(box.id, "v1");
  assert.equal((await box.execute("x")).code, "unavailable");
});

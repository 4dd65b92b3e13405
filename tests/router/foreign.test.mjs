// JavaScript objects behind policies, routers and tools: what they are given beside the
// protocol's arguments, and what of their promises arrives.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  CompositeBackend,
  CustomBackend,
  createFileTools,
  StateBackend,
  toV1,
  withPolicy,
} from "../lib/kitbag.mjs";

const FILES = { "/a.txt": "one\ntwo\n", "/dir/b.txt": "two\n" };

function withResolvers() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A backend of another's making, which takes options and writes down what each call was given. */
class Stranger {
  id = "stranger";
  files = new StateBackend({ files: FILES });
  calls = [];
  /** The methods that do not answer; `reached` is told what the first of them was given. */
  hangs = [];
  reached = withResolvers();

  constructor(...hangs) {
    this.hangs = hangs;
  }

  #called(name, given, count) {
    this.calls.push([name, given]);
    if (!this.hangs.includes(name)) return this.files[name](...given.slice(0, count));
    this.reached.resolve(given);
    const { signal } = given.at(-1);
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("aborted")));
    });
  }

  ls(path, ...options) {
    return this.#called("ls", [path, ...options], 1);
  }
  read(path, offset, limit, ...options) {
    return this.#called("read", [path, offset, limit, ...options], 3);
  }
  readRaw(path, ...options) {
    return this.#called("readRaw", [path, ...options], 1);
  }
  grep(pattern, path, glob, maxCount, ...options) {
    return this.#called("grep", [pattern, path, glob, maxCount, ...options], 4);
  }
  glob(pattern, path, ...options) {
    return this.#called("glob", [pattern, path, ...options], 2);
  }
  write(path, content, ...options) {
    return this.#called("write", [path, content, ...options], 2);
  }
  edit(path, oldString, newString, replaceAll, ...options) {
    return this.#called("edit", [path, oldString, newString, replaceAll, ...options], 4);
  }
  delete(path, ...options) {
    return this.#called("delete", [path, ...options], 1);
  }
  uploadFiles(files, ...options) {
    return this.#called("uploadFiles", [files, ...options], 1);
  }
  downloadFiles(paths, ...options) {
    return this.#called("downloadFiles", [paths, ...options], 1);
  }
  execute(command, ...options) {
    return this.#called("execute", [command, ...options], 1);
  }
}

const bytes = new TextEncoder().encode("three\n");

/** Every operation: its arguments beneath a directory, and where the options stand. */
const OPERATIONS = {
  ls: (at) => [at || "/"],
  read: (at) => [`${at}/a.txt`, 0, 10],
  readRaw: (at) => [`${at}/a.txt`],
  grep: (at) => ["two", at || "/", null, 5],
  glob: (at) => ["**", at || "/"],
  write: (at) => [`${at}/new.txt`, "new"],
  edit: (at) => [`${at}/a.txt`, "one", "1", false],
  delete: (at) => [`${at}/dir/b.txt`],
  uploadFiles: (at) => [[[`${at}/up.txt`, bytes]]],
  downloadFiles: (at) => [[`${at}/a.txt`]],
};

const rules = { readOnlyPrefixes: ["/never"], allowExecute: true };
const mounted = (inner) => new CompositeBackend(new StateBackend(), { "/m/": inner });

/** Every way round a backend, and where its files are then. */
const WAYS = {
  "a policy": [(inner) => withPolicy(inner, rules), ""],
  "a mount": [mounted, "/m"],
  "the default of a router": [(inner) => new CompositeBackend(inner, {}), ""],
  "a policy over a mount": [(inner) => withPolicy(mounted(inner), rules), "/m"],
  "a mount over a policy": [(inner) => mounted(withPolicy(inner, rules)), "/m"],
};

/** The answer of a call that was given up. */
function givenUp(answer) {
  const one = Array.isArray(answer) ? answer[0] : answer;
  assert.equal(one.code, "timeout");
}

for (const [way, [wrap, at]] of Object.entries(WAYS)) {
  test(`an abort of the call aborts the foreign method's signal: ${way}`, async () => {
    for (const [operation, args] of Object.entries(OPERATIONS)) {
      const stranger = new Stranger(operation);
      const controller = new AbortController();
      const { signal } = controller;
      const answer = wrap(stranger)[operation](...args(at), { signal });
      const given = await stranger.reached.promise;
      assert.equal(given.length, args(at).length + 1, operation);
      assert.equal(given.at(-1).signal.aborted, false, operation);
      controller.abort();
      givenUp(await answer);
      assert.equal(given.at(-1).signal.aborted, true, operation);
    }
  });
}

test("a command's signal aborts with the call, and its time limit stands beside it", async () => {
  for (const wrap of [(inner) => withPolicy(inner, rules), (b) => new CompositeBackend(b, {})]) {
    const stranger = new Stranger("execute");
    const controller = new AbortController();
    const options = { signal: controller.signal, timeoutMs: 60_000 };
    const answer = wrap(stranger).execute("sleep", options);
    const [command, given] = await stranger.reached.promise;
    assert.equal(command, "sleep");
    assert.equal(given.timeoutMs, 60_000);
    controller.abort();
    givenUp(await answer);
    assert.equal(given.signal.aborted, true);
  }
});

test("a time limit aborts the foreign method's signal", async () => {
  const stranger = new Stranger("read");
  const backend = withPolicy(mounted(stranger), rules);
  givenUp(await backend.read("/m/a.txt", 0, 10, { timeoutMs: 1 }));
  assert.equal((await stranger.reached.promise).at(-1).signal.aborted, true);
});

test("an abort of a tool aborts the foreign method's signal", async () => {
  const stranger = new Stranger("read", "readRaw", "downloadFiles");
  const tools = createFileTools(mounted(stranger), { policy: rules });
  const controller = new AbortController();
  const answer = tools.call("read_file", { file_path: "/m/a.txt" }, controller);
  const given = await stranger.reached.promise;
  controller.abort();
  assert.equal((await answer).isError, true);
  assert.equal(given.at(-1).signal.aborted, true);
});

test("a call that is answered leaves its signal as it was", async () => {
  const stranger = new Stranger();
  const backend = withPolicy(mounted(stranger), rules);
  for (const [operation, args] of Object.entries(OPERATIONS)) {
    const controller = new AbortController();
    await backend[operation](...args("/m"), controller);
    controller.abort();
  }
  const names = new Set(stranger.calls.map(([name]) => name));
  assert.deepEqual([...names].sort(), Object.keys(OPERATIONS).sort());
  for (const [name, given] of stranger.calls)
    assert.equal(given.at(-1).signal.aborted, false, name);
});

test("an override in a subclass of ours is given the signal, and ends what it calls", async () => {
  const reached = withResolvers();
  class Noting extends CustomBackend {
    async read(...given) {
      const answer = super.read(...given);
      reached.resolve({ given, answer });
      return answer;
    }
  }
  const never = { get: () => new Promise(() => {}), list: () => [] };
  const controller = new AbortController();
  const backend = withPolicy(mounted(new Noting(never)), rules);
  const outer = backend.read("/m/a.txt", 0, 10, { signal: controller.signal });
  const { given, answer } = await reached.promise;
  assert.equal(given.length, 4);
  controller.abort();
  givenUp(await outer);
  givenUp(await answer);
});

test("an object of the first version is given its own arguments only", async () => {
  const v1 = toV1(new StateBackend({ files: FILES }));
  const lengths = {};
  const counting = new Proxy(v1, {
    get(target, name) {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (first, ...others) => {
        lengths[name] = 1 + others.length;
        return value.call(target, first, ...others);
      };
    },
  });
  const backend = withPolicy(mounted(counting), rules);
  for (const [operation, args] of Object.entries(OPERATIONS)) {
    await backend[operation](...args("/m"), { signal: new AbortController().signal });
  }
  assert.deepEqual(lengths, {
    lsInfo: 1,
    readRaw: 1,
    grepRaw: 3,
    globInfo: 2,
    write: 2,
    edit: 4,
    delete: 1,
    uploadFiles: 1,
    downloadFiles: 1,
  });
});

test("methods that gather their arguments are given those of the protocol only", async () => {
  const files = new StateBackend({ files: FILES });
  const lengths = {};
  const sent = {
    id: "far",
    execute(...args) {
      lengths.execute = args.length;
      return { output: "", exitCode: 0, truncated: false };
    },
  };
  for (const name of Object.keys(OPERATIONS)) {
    sent[name] = (...args) => {
      lengths[name] = args.length;
      // As to a worker, which no signal can be sent to.
      return files[name](...structuredClone(args));
    };
  }
  const backend = withPolicy(sent, rules);
  for (const [operation, args] of Object.entries(OPERATIONS)) {
    const answer = await backend[operation](...args(""));
    assert.ok(!("error" in answer), `${operation}: ${answer.error}`);
  }
  await backend.execute("true");
  const expected = Object.entries(OPERATIONS).map(([name, args]) => [name, args("").length]);
  assert.deepEqual(lengths, { ...Object.fromEntries(expected), execute: 1 });
});

for (const folder of ["latest", "older"]) {
  test(`deepagents' own backends answer as without the signal: ${folder}`, async () => {
    const require = createRequire(
      fileURLToPath(new URL(`../deps/${folder}/package.json`, import.meta.url)),
    );
    const peer = await import(pathToFileURL(require.resolve("deepagents")).href);
    const place = await mkdtemp(join(tmpdir(), "kitbag-foreign-"));
    try {
      const theirs = new peer.FilesystemBackend({ rootDir: place, virtualMode: true });
      const filled = async (backend) => {
        for (const [path, text] of Object.entries(FILES)) {
          assert.equal((await backend.write(path, text)).error, undefined);
        }
        return backend;
      };
      const state = new peer.StateBackend({ state: { files: {} } });
      const written = await withPolicy(state, rules).write("/a.txt", "one\n");
      assert.equal(written.filesUpdate["/a.txt"].content.toString().trim(), "one");
      const routed = new peer.CompositeBackend(await filled(theirs), {
        "/in/": await filled(new StateBackend()),
      });
      for (const [backend, at] of [
        [theirs, ""],
        [routed, "/in"],
      ]) {
        const guarded = withPolicy(mounted(backend), rules);
        const read = await guarded.read(`/m${at}/a.txt`);
        assert.equal(read.content, (await backend.read(`${at}/a.txt`)).content);
        const found = await guarded.grep("two", `/m${at}/`);
        assert.equal(found.matches.length, 2);
        assert.equal((await guarded.glob("**/*.txt", `/m${at}/`)).files.length, 2);
        assert.equal((await guarded.ls(`/m${at}/`)).files.length, 2);
        assert.equal((await guarded.edit(`/m${at}/a.txt`, "one", "1")).occurrences, 1);
        const [up] = await guarded.uploadFiles([[`/m${at}/up.txt`, bytes]]);
        assert.equal(up.error, null);
        const [down] = await guarded.downloadFiles([`/m${at}/up.txt`]);
        assert.deepEqual(new Uint8Array(down.content), bytes);
      }
    } finally {
      await rm(place, { recursive: true });
    }
  });
}

test("what a subclass of ours promises arrives through policies and mounts, its notes too", async () => {
  class Mine extends CustomBackend {}
  const storage = {
    capability: { keepsMime: true, maxFileBytes: 1_000, notes: ["May be a day old."] },
    get: () => null,
    list: () => [],
    put: () => true,
    delete: () => true,
  };
  const mine = new Mine(storage);
  assert.ok(mine.capability.notes.length >= 2);
  assert.deepEqual(withPolicy(mine, rules).capability, mine.capability);
  assert.deepEqual(new CompositeBackend(mine, {}).capability, mine.capability);
  const both = withPolicy(mounted(mine), rules).capability;
  const bare = new StateBackend().capability.notes;
  assert.deepEqual(both.notes, [...bare, ...mine.capability.notes.map((note) => `/m/: ${note}`)]);
  assert.equal(both.maxFileBytes, 1_000);
});

test("what a foreign object says of itself is believed, what it leaves out is as for any other", () => {
  const unknown = withPolicy(new Stranger(), rules).capability;
  assert.equal(unknown.writable, true);
  assert.equal(unknown.create, "instance");
  const own = Object.assign(new Stranger(), {
    capability: { notes: ["Slow on Mondays.", 7], create: "storage", keepsCreated: true },
  });
  assert.deepEqual(withPolicy(own, rules).capability, {
    ...unknown,
    notes: ["Slow on Mondays."],
    create: "storage",
    keepsCreated: true,
  });
  const odd = Object.assign(new Stranger(), { capability: { writable: "no", notes: "none" } });
  assert.deepEqual(withPolicy(odd, rules).capability, { ...unknown, notes: [] });
});

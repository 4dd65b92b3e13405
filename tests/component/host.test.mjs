// A host that answers wrongly, throws or lies: the caller gets an error, and the instance goes on.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { instance } from "./load.mjs";
import { errorOf, Protocol, policyOptions, stateOptions } from "./protocol.mjs";
import { MapVolume, volumeOptions } from "./volume.mjs";

let Backend;
let steady;

beforeEach(() => {
  ({ Backend } = instance());
  steady = new Protocol(Backend.state(stateOptions()));
  assert.deepEqual(steady.write("/steady.txt", "as it was"), { path: "/steady.txt" });
});

afterEach(() => {
  assert.equal(steady.read("/steady.txt").content, "as it was", "the instance goes on");
  assert.equal(steady.edit("/steady.txt", "was", "is").occurrences, 1);
});

const lent = (volume) => new Protocol(Backend.lent(volume, volumeOptions()));

/** A volume with one method that is not right. */
function volumeWith(methods) {
  const volume = new MapVolume();
  const backend = lent(volume);
  assert.deepEqual(backend.write("/a.txt", "one\ntwo\n"), { path: "/a.txt" });
  Object.assign(volume, methods);
  return { volume, backend };
}

const BOOM = new Error("the disk is on fire");
const throws = () => {
  throw BOOM;
};
const thrownBy = (call) => {
  try {
    return { answer: call() };
  } catch (thrown) {
    return { thrown };
  }
};

describe("a volume that throws", () => {
  const calls = {
    capability: (_, volume) => Backend.lent(volume, volumeOptions()),
    stat: (backend) => backend.write("/a.txt", "x"),
    get: (backend) => backend.read("/a.txt"),
    put: (backend) => backend.edit("/a.txt", "one", "1"),
    delete: (backend) => backend.delete("/a.txt"),
    list: (backend) => backend.ls("/"),
  };
  for (const [method, call] of Object.entries(calls)) {
    test(`${method}: the exception reaches the caller, again and again, and nothing stays locked`, () => {
      const { backend, volume } = volumeWith({ [method]: throws });
      const writes = method === "stat";
      for (let time = 0; time < 20; time += 1) {
        const { thrown, answer } = thrownBy(() => call(backend, volume));
        // A create is one step for this volume, which asks nothing before.
        if (writes) assert.equal(answer.code, "already_exists");
        else assert.equal(thrown, BOOM);
      }
      delete volume[method];
      assert.equal(backend.read("/a.txt").content, "one\ntwo\n");
      assert.equal(backend.edit("/a.txt", "two", "2").occurrences, 1);
    });
  }

  test("so often that its stack is used up: an error says so, and nothing traps", () => {
    const own = instance();
    const volume = new MapVolume();
    const backend = new Protocol(own.Backend.lent(volume, volumeOptions()));
    backend.write("/a.txt", "x");
    volume.get = throws;
    let answer;
    for (let time = 0; time < 50_000 && answer === undefined; time += 1) {
      const seen = thrownBy(() => backend.read("/a.txt"));
      if (seen.thrown !== undefined) assert.equal(seen.thrown, BOOM);
      answer = seen.answer;
    }
    assert.equal(answer.code, "unavailable");
    assert.match(answer.error, /make a new one/);
  });
});

describe("a volume that refuses", () => {
  for (const [given, code] of [
    ["permission-denied", "permission_denied"],
    ["quota-exceeded", "quota_exceeded"],
    ["unavailable", "unavailable"],
    ["internal", "internal"],
  ]) {
    test(`${given} is what the caller gets`, () => {
      const refuse = () => {
        throw { code: given, message: `not today: ${given}` };
      };
      const { backend } = volumeWith({ get: refuse, put: refuse, list: refuse });
      for (const answer of [
        backend.read("/a.txt"),
        backend.write("/b.txt", "x"),
        backend.ls("/"),
        backend.grep("one"),
      ]) {
        assert.deepEqual(answer, { error: `not today: ${given}`, code });
      }
    });
  }

  test("a conflict each time ends after a number of tries", () => {
    let tries = 0;
    const { backend } = volumeWith({
      put() {
        tries += 1;
        throw { code: "conflict", message: "again" };
      },
    });
    assert.equal(backend.edit("/a.txt", "one", "1").code, "conflict");
    assert.ok(tries > 1 && tries < 200, `${tries} tries`);
  });
});

describe("a volume that calls the instance while it is asked", () => {
  for (const reach of ["storage", "instance"]) {
    test(`the call that asked fails, the other one counts (${reach})`, () => {
      const volume = new MapVolume();
      const { capability } = volume;
      volume.capability = () => ({ ...capability.call(volume), update: reach, create: reach });
      const backend = lent(volume);
      backend.write("/a.txt", "one two");
      const { get } = volume;
      const inner = [];
      volume.get = (path) => {
        const file = get.call(volume, path);
        volume.get = get;
        inner.push(backend.edit("/a.txt", "two", "2"), steady.ls("/"));
        return file;
      };
      const { error, code } = backend.edit("/a.txt", "one", "1");
      assert.equal(code, "unavailable");
      assert.match(error, /while it was asked/);
      assert.equal(inner[0].occurrences, 1);
      assert.equal(backend.read("/a.txt").content, "one 2");
      assert.equal(backend.edit("/a.txt", "one", "1").occurrences, 1);
      assert.equal(backend.read("/a.txt").content, "1 2");
    });
  }

  test("again and again, as deep as the host goes: each call ends", () => {
    const { volume, backend } = volumeWith({});
    const { get } = volume;
    let depth = 0;
    volume.get = (path) => {
      depth += 1;
      if (depth < 50) backend.read("/a.txt");
      return get.call(volume, path);
    };
    assert.equal(backend.read("/a.txt").code, "unavailable");
    assert.equal(backend.read("/a.txt").content, "one\ntwo\n");
  });
});

describe("a volume that lies", () => {
  const entry = (path) => ({ path, metadata: {} });

  test("paths that are none, or elsewhere, are in no listing", () => {
    const wrong = ["", "a", "/a//b", "/../etc/passwd", "/x\u0000y", "\\x", "/b\\c", "/.kitbag/key"];
    const { backend } = volumeWith({
      list: () => ({ entries: [...wrong, "/z.txt", "/z.txt", "/dir/f"].map(entry) }),
    });
    assert.deepEqual(
      backend.ls("/").files.map(({ path }) => path),
      ["/dir/", "/z.txt"],
    );
    assert.deepEqual(
      backend.glob("**/*", "/dir").files.map(({ path }) => path),
      ["/dir/f"],
    );
  });

  test("a listing without an end is refused", () => {
    const { backend } = volumeWith({ list: () => ({ entries: [], next: "and so on" }) });
    const { error, code } = backend.ls("/");
    assert.equal(code, "unavailable");
    assert.match(error, /round in circles/);
  });

  test("a size that is wrong does not matter", () => {
    const { volume, backend } = volumeWith({});
    const { body, metadata } = volume.get("/a.txt");
    const size = (1n << 64n) - 1n;
    volume.get = () => ({ body, metadata: { ...metadata, size } });
    volume.stat = () => ({ ...metadata, size });
    volume.list = () => ({ entries: [{ path: "/a.txt", metadata: { ...metadata, size } }] });
    assert.equal(backend.read("/a.txt").content, "one\ntwo\n");
    assert.equal(backend.grep("two").matches.length, 1);
    assert.equal(backend.edit("/a.txt", "one", "1").occurrences, 1);
  });

  test("times beyond every calendar are answered", () => {
    const { volume, backend } = volumeWith({});
    const { body, metadata } = volume.get("/a.txt");
    for (const time of [(1n << 63n) - 1n, -(1n << 63n)]) {
      const odd = { ...metadata, created: time, modified: time };
      volume.get = () => ({ body, metadata: odd });
      volume.list = () => ({ entries: [{ path: "/a.txt", metadata: odd }] });
      assert.equal(backend.inner.readRaw("/a.txt").content.val, "one\ntwo\n");
      assert.equal(backend.inner.ls("/").length, 1);
      assert.equal(backend.inner.glob("*", undefined).files.length, 1);
    }
  });

  test("a file that is there and then is not is not found", () => {
    const { backend } = volumeWith({ get: () => undefined });
    assert.equal(backend.read("/a.txt").code, "not_found");
    assert.equal(backend.edit("/a.txt", "one", "1").code, "not_found");
  });

  test("answers of another type are refused where they come in", () => {
    for (const wrong of [7, "text", { metadata: {} }, { body: 7, metadata: {} }, []]) {
      const { backend } = volumeWith({ get: () => wrong });
      assert.ok(thrownBy(() => backend.read("/a.txt")).thrown instanceof Error);
    }
  });

  test("texts of 64 MB are carried, or refused with an error", () => {
    const huge = "x".repeat(64 << 20);
    const { volume, backend } = volumeWith({
      list: () => ({ entries: [entry(`/${huge}`)] }),
    });
    assert.deepEqual(backend.ls("/"), { files: [] });
    volume.get = () => {
      throw { code: "unavailable", message: huge };
    };
    const { error, code } = backend.read("/a.txt");
    assert.equal(code, "unavailable");
    assert.ok(error.length > 0 && error.length <= huge.length);
  });
});

describe("a clock that is wrong", () => {
  for (const [about, now] of [
    ["stands", () => 0n],
    [
      "runs backwards",
      (() => {
        let time = 1n << 50n;
        return () => (time -= 1_000_000n);
      })(),
    ],
    ["is at its end", () => (1n << 63n) - 1n],
    ["is before everything", () => -(1n << 63n)],
  ]) {
    test(`${about}: files are written, limited and searched`, () => {
      const own = instance({ now });
      const rates = [{ kind: "all", operations: 1000, perMs: 60_000n }];
      const state = own.Backend.state(stateOptions());
      const backend = new Protocol(state.withPolicy(policyOptions({ rates })));
      assert.deepEqual(backend.write("/a.txt", "one"), { path: "/a.txt" });
      assert.equal(backend.grep("one").matches.length, 1);
      assert.equal(backend.inner.glob("*", undefined).files.length, 1);
    });
  }

  test("throws: the exception reaches the caller, and the instance refuses what follows", () => {
    let is = false;
    const own = instance({ now: () => (is ? throws() : 0n) });
    const backend = new Protocol(own.Backend.state(stateOptions()));
    is = true;
    assert.equal(thrownBy(() => backend.write("/a.txt", "x")).thrown, BOOM);
    is = false;
    for (const answer of [backend.write("/b.txt", "x"), backend.read("/a.txt")]) {
      assert.equal(answer.code, "unavailable");
      assert.match(answer.error, /make a new one/);
    }
  });
});

describe("commands", () => {
  const shellOf = (execute) => {
    const own = instance({ execute });
    const state = own.Backend.state(stateOptions());
    return new Protocol(state.withShell("box"));
  };

  test("an error of the host is that of the call; an exception reaches the caller", () => {
    const refusing = shellOf(() => {
      throw { code: "timeout", message: "too slow" };
    });
    assert.deepEqual(refusing.execute("ls"), { error: "too slow", code: "timeout" });
    assert.equal(thrownBy(() => shellOf(throws).execute("ls")).thrown, BOOM);
  });

  test("what is printed is passed on, whatever it is", () => {
    const output = "\ufeff\u0000\u{1f600}".repeat(1000);
    const backend = shellOf(() => ({ output, exitCode: -1, truncated: true }));
    assert.deepEqual(backend.execute("ls"), { output, exitCode: -1, truncated: true });
  });

  test("a machine without an id is refused", () => {
    const error = errorOf(() => Backend.state(stateOptions()).withShell(""));
    assert.equal(error?.code, "invalid-argument");
  });
});

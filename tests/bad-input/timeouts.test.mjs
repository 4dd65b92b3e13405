// A call's `timeoutMs`: hosts count at most 2^31 - 1 milliseconds and take whatever is more for one,
// so a long limit must not end a call at once.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CustomBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const LONG = [
  ["2^31 - 1", 2 ** 31 - 1],
  ["2^31", 2 ** 31],
  ["2^32", 2 ** 32],
  ["2^53", 2 ** 53],
  ["the largest number", Number.MAX_VALUE],
  ["infinity", Number.POSITIVE_INFINITY],
];

/** A storage that answers when the host's timers have had a turn. */
function slow() {
  const file = { content: "one\n", size: 4 };
  const later = (value) => new Promise((resolve) => setTimeout(resolve, 5, value));
  return {
    get: () => later(file),
    list: () => later(["/a.txt"]),
    put: () => later(undefined),
    delete: () => later(true),
  };
}

const CALLS = [
  ["ls", (b, o) => b.ls("/", o)],
  ["read", (b, o) => b.read("/a.txt", 0, 10, o)],
  ["readRaw", (b, o) => b.readRaw("/a.txt", o)],
  ["grep", (b, o) => b.grep("one", "/", null, null, o)],
  ["grep by an expression", (b, o) => b.grep("on.", "/", null, null, { ...o, regex: true })],
  ["glob", (b, o) => b.glob("**", "/", o)],
  ["write", (b, o) => b.write("/b.txt", "x", o)],
  ["edit", (b, o) => b.edit("/a.txt", "one", "two", false, o)],
  ["delete", (b, o) => b.delete("/a.txt", o)],
  ["uploadFiles", (b, o) => b.uploadFiles([["/b.txt", Uint8Array.of(65)]], o)],
  ["downloadFiles", (b, o) => b.downloadFiles(["/a.txt"], o)],
  ["copy", (b, o) => b.copy("/a.txt", "/c.txt", { ...o, overwrite: true })],
  ["append", (b, o) => b.append("/a.txt", "x", o)],
];

const isAnswered = (answer) => {
  for (const one of [answer].flat()) assert.notEqual(one.code, "timeout", JSON.stringify(one));
};

describe("a limit beyond what hosts count is none", () => {
  for (const [name, call] of CALLS) {
    for (const [value, timeoutMs] of LONG) {
      test(`${name}: timeoutMs of ${value}`, async (t) => {
        const set = t.mock.method(globalThis, "setTimeout");
        const backend = new CustomBackend(slow(), { writeMode: "overwrite" });
        isAnswered(await call(backend, { timeoutMs }));
        isAnswered(await call(withPolicy(backend, {}), { timeoutMs }));
        for (const { arguments: given } of set.mock.calls) {
          assert.ok(given[1] === undefined || given[1] < 2 ** 31, `${given[1]} ms`);
        }
      });
    }
  }

  for (const [value, timeoutMs] of LONG) {
    test(`a synchronous search: timeoutMs of ${value}`, () => {
      const backend = new StateBackend({ files: { "/a.txt": "one\n" } });
      const answer = backend.grep("o.e", "/", null, null, { regex: true, timeoutMs });
      assert.equal(answer.matches.length, 1);
    });
  }
});

test("a short limit still ends a call", async () => {
  const backend = new CustomBackend({ ...slow(), get: () => new Promise(() => {}) });
  assert.equal((await backend.read("/a.txt", 0, 1, { timeoutMs: 1 })).code, "timeout");
});

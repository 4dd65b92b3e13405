// An end that sends what it likes: the other one closes the socket or passes over it, keeps no more than its
// bounds, and nothing is thrown where nobody could catch it.

import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { borrowFiles, lendFiles } from "../../pkg/dist/lend.js";
import { StateBackend, withPolicy } from "../../pkg/dist/node.js";
import { frame, pair, until } from "./lib.mjs";

const [ASK, ANSWER, PIECE, END, STOP, MORE] = [1, 2, 3, 4, 5, 6];
const ask = (more) => ({ method: "GET", path: "/a", headers: { "x-kitbag": "1" }, ...more });
const four = (number) => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
};
const big = (size) => new Uint8Array(size);
const many = (count, make) => Array.from({ length: count }, (_, at) => make(at));

/** Frames that end the socket. */
const AT_LENDER = {
  "an empty message": [new Uint8Array(0)],
  "a message without a number": [new Uint8Array([ASK, 0, 0])],
  "a kind that is not known": [frame(99, 1)],
  "an answer": [frame(ANSWER, 1, { status: 200, headers: {} })],
  "a head that is no JSON": [frame(ASK, 1, "{")],
  "a head that is no UTF-8": [frame(ASK, 1, Uint8Array.of(0xff, 0xfe))],
  "a head that is null": [frame(ASK, 1, "null")],
  "a head that is too large": [frame(ASK, 1, ask({ headers: { x: "y".repeat(70_000) } }))],
  "a head without a method": [frame(ASK, 1, { path: "/a" })],
  "a path that is no text": [frame(ASK, 1, ask({ path: 7 }))],
  "a path that is another address": [frame(ASK, 1, ask({ path: "http://elsewhere/" }))],
  "headers that are no texts": [frame(ASK, 1, ask({ headers: { a: ["b"] } }))],
  "two calls of one number": [
    frame(ASK, 1, ask({ method: "PUT", body: true })),
    frame(ASK, 1, ask({ method: "PUT", body: true })),
  ],
  "a body that does not wait": [
    frame(ASK, 1, ask({ method: "PUT", body: true })),
    ...many(9, () => frame(PIECE, 1, big(256 << 10))),
  ],
  "a piece that is too large": [
    frame(ASK, 1, ask({ body: true })),
    frame(PIECE, 1, big(300 << 10)),
  ],
  "more read than sent": [
    frame(ASK, 1, ask({ method: "PUT", body: true })),
    frame(MORE, 1, four(10)),
  ],
  "nothing read": [frame(ASK, 1, ask({ method: "PUT", body: true })), frame(MORE, 1, four(0))],
  "half a number of bytes": [
    frame(ASK, 1, ask({ method: "PUT", body: true })),
    frame(MORE, 1, Uint8Array.of(1)),
  ],
};

/** A lender of some files. */
function lender(options) {
  const [mine, theirs] = pair();
  const state = new StateBackend({ files: { "/a": "1", "/secret/key": "5ECRET" } });
  lendFiles(
    mine,
    withPolicy(state, {
      permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
    }),
    options,
  );
  const heard = [];
  theirs.addEventListener("message", ({ data }) => heard.push(new Uint8Array(data)));
  return { mine, theirs, state, heard };
}

describe("a lender closes the socket after", () => {
  for (const [what, frames] of Object.entries(AT_LENDER)) {
    test(what, async () => {
      const { mine, theirs, state } = lender();
      theirs.burst(frames);
      await until(() => mine.readyState === 3);
      assert.equal(mine.code, 1002);
      assert.equal(state.read("/a").content, "1");
    });
  }
});

describe("a lender goes on after", () => {
  for (const [what, frames] of Object.entries({
    "frames of calls that are not there": [
      frame(PIECE, 7, big(100)),
      frame(END, 7),
      frame(STOP, 7),
      frame(MORE, 7, four(5)),
    ],
    "a call that is given up at once": [frame(ASK, 7, ask()), frame(STOP, 7)],
    "a body behind what has none": [frame(ASK, 7, ask()), frame(PIECE, 7, big(10)), frame(END, 7)],
    "a body that breaks off": [
      frame(ASK, 7, ask({ method: "PUT", path: "/new", body: true })),
      frame(PIECE, 7, big(10)),
      frame(STOP, 7),
    ],
    "two ends": [
      frame(ASK, 7, ask({ method: "PUT", path: "/a", body: true })),
      frame(END, 7),
      frame(END, 7),
    ],
    "a method that is not known": [frame(ASK, 7, ask({ method: "BREW" }))],
    "an address that cannot be": [frame(ASK, 7, ask({ path: "/%ff" }))],
    "paths that lead out": [
      frame(ASK, 7, ask({ path: "/../../etc/passwd" })),
      frame(ASK, 8, ask({ path: "/a/%2e%2e/secret/key" })),
      frame(ASK, 9, ask({ path: "/secret/key" })),
      frame(ASK, 10, ask({ path: "//secret/key" })),
      frame(ASK, 11, ask({ path: "/secret%2Fkey" })),
    ],
    "a change without the header": [frame(ASK, 7, { method: "DELETE", path: "/a", headers: {} })],
    "a page's origin": [frame(ASK, 7, ask({ headers: { origin: "https://evil.example" } }))],
  })) {
    test(what, async () => {
      const { mine, theirs, heard, state } = lender();
      for (const one of frames) theirs.send(one);
      theirs.send(frame(ASK, 99, ask()));
      const id = (bytes) => new DataView(bytes.buffer).getUint32(1);
      await until(() => heard.some((bytes) => id(bytes) === 99 && bytes[0] === END));
      assert.equal(mine.readyState, 1);
      const text = heard.map((bytes) => new TextDecoder().decode(bytes.subarray(5))).join("\n");
      assert.doesNotMatch(text, /5ECRET|root:/);
      assert.equal(state.read("/new").code, "not_found");
      assert.ok(["1", ""].includes(state.read("/a").content));
    });
  }

  test("more calls at once than it takes: the rest is stopped", async () => {
    const { theirs, heard } = lender({ maxParallel: 10_000 });
    const all = many(1000, (at) => frame(ASK, at + 1, ask({ method: "PUT", body: true })));
    for (const one of all) theirs.send(one);
    await until(() => heard.filter((bytes) => bytes[0] === STOP).length === 1000 - 256);
    // Its calls end with the socket: none keeps this process alive until its time is over.
    theirs.close();
  });

  test("10,000 calls that are given up leave none", async () => {
    const { theirs, heard } = lender();
    for (let at = 1; at <= 10_000; at++) {
      theirs.send(frame(ASK, at, ask({ method: "PUT", body: true })));
      theirs.send(frame(STOP, at));
      if (at % 50 === 0) await later(0);
    }
    theirs.send(frame(ASK, 20_000, ask()));
    await until(() =>
      heard.some((bytes) => bytes[0] === END && bytes[3] === 0x4e && bytes[4] === 0x20),
    );
  });
});

/** Answers of a lender, to the first call. */
const AT_BORROWER = {
  "a question": [frame(ASK, 1, ask())],
  "a kind that is not known": [frame(0, 1)],
  "a head that is no JSON": [frame(ANSWER, 1, "x")],
  "a status that is no number": [frame(ANSWER, 1, { status: "200", headers: {} })]
    .slice(0, 0)
    .concat([frame(ANSWER, 1, { status: "x", headers: {} })]),
  "a status that cannot be": [frame(ANSWER, 1, { status: 99, headers: {} })],
  "a status that is too large": [frame(ANSWER, 1, { status: 1000, headers: {} })],
  "headers that cannot be": [frame(ANSWER, 1, { status: 200, headers: { "a\nb": "c" } })],
  "headers that are no texts": [frame(ANSWER, 1, { status: 200, headers: { a: {} } })],
  "a body without end": [
    frame(ANSWER, 1, { status: 200, headers: {} }),
    ...many(9, () => frame(PIECE, 1, big(256 << 10))),
  ],
  "a body before its head": many(9, () => frame(PIECE, 1, big(256 << 10))),
  "more read than sent": [frame(MORE, 1, four(1 << 20))],
};

describe("a borrower's call ends, and the socket with it, after", { concurrency: true }, () => {
  for (const [what, frames] of Object.entries(AT_BORROWER)) {
    test(what, async () => {
      const [mine, theirs] = pair();
      const files = borrowFiles(mine, { timeoutMs: 1000 });
      const reading = files.read("/a");
      await until(() => mine.sent.length > 0);
      theirs.burst(frames);
      await until(() => mine.readyState === 3);
      assert.equal(mine.code, 1002);
      assert.equal((await reading).code, "unavailable");
    });
  }
});

describe("a borrower's call ends with an error after", { concurrency: true }, () => {
  for (const [what, frames] of Object.entries({
    "an end without a head": [frame(END, 1)],
    "a stop": [frame(STOP, 1)],
    "a stop behind the head": [frame(ANSWER, 1, { status: 200, headers: {} }), frame(STOP, 1)],
    "a body that is no answer": [
      frame(ANSWER, 1, { status: 200, headers: { "content-type": "application/json" } }),
      frame(PIECE, 1, "[1, 2"),
      frame(END, 1),
    ],
    "answers to calls that are not there": [
      frame(ANSWER, 9, { status: 200, headers: {} }),
      frame(PIECE, 9, big(10)),
      frame(END, 9),
      frame(STOP, 1),
    ],
    "a redirection": [
      frame(ANSWER, 1, { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
      frame(END, 1),
    ],
  })) {
    test(what, async () => {
      const [mine, theirs] = pair();
      const files = borrowFiles(mine, { timeoutMs: 1000 });
      // Each attempt has the next number.
      let attempt = 0;
      theirs.addEventListener("message", ({ data }) => {
        if (new Uint8Array(data)[0] !== ASK) return;
        attempt += 1;
        for (const one of frames) {
          const own = one.slice();
          const view = new DataView(own.buffer);
          if (view.getUint32(1) === 1) view.setUint32(1, attempt);
          theirs.send(own);
        }
      });
      const answer = await files.read("/a", 0, 10, { timeoutMs: 8000 });
      assert.ok(answer.error, JSON.stringify(answer));
      assert.equal(mine.readyState, 1);
    });
  }

  test("a body that never ends", async () => {
    const [mine, theirs] = pair();
    const files = borrowFiles(mine, { maxResultBytes: 1 << 20 });
    let sent = 0;
    const on = new Set();
    theirs.addEventListener("message", ({ data }) => {
      const bytes = new Uint8Array(data);
      const id = new DataView(data).getUint32(1);
      if (bytes[0] === STOP) on.delete(id);
      if (bytes[0] === ASK) {
        on.add(id);
        theirs.send(frame(ANSWER, id, { status: 200, headers: {} }));
      }
      if (![ASK, MORE].includes(bytes[0]) || !on.has(id)) return;
      sent += 100_000;
      theirs.send(frame(PIECE, id, big(100_000)));
    });
    const answer = await files.read("/a", 0, 10, { timeoutMs: 8000 });
    assert.ok(answer.error, JSON.stringify(answer));
    assert.ok(sent > 0 && sent < 20 << 20, `${sent}`);
    await until(() => on.size === 0);
  });

  test("no answer at all, within its time", async () => {
    const [mine] = pair();
    const files = borrowFiles(mine, { timeoutMs: 100 });
    const answer = await files.read("/a", 0, 10, { timeoutMs: 1000 });
    assert.ok(["timeout", "unavailable"].includes(answer.code), JSON.stringify(answer));
  });
});

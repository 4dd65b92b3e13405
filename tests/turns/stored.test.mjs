// Receipts tell what was stored, also where a rule has stored something else than was asked for, so that
// an undo finds what it expects.

import assert from "node:assert/strict";
import { test } from "node:test";
import { beginKept, withHistory } from "../../pkg/dist/history.js";
import * as kitbag from "../lib/kitbag.mjs";

const { begin, CompositeBackend, StateBackend, undo, withPolicy } = kitbag;
const FILES = { "/a.txt": "key=abc\n", "/b.txt": "b\n", "/d/c.txt": "key=def\n" };
const text = (bytes) => (bytes ? new TextDecoder().decode(bytes) : null);
const memory = () => new StateBackend({ scope: "instance", files: FILES });
/** Stores no key: a rule that replaces contents. */
const inspect = ({ content }) => ({ content: plain(content).replace(/key=\w+/g, "key=***") });
const upper = ({ content }) => ({ content: plain(content).toUpperCase() });
const plain = (content) => (typeof content === "string" ? content : text(content));

const CALLS = {
  write: (turn) => turn.write("/new.txt", "key=new\n"),
  edit: (turn) => turn.edit("/b.txt", "b", "key=b"),
  append: (turn) => turn.append("/b.txt", "key=b\n"),
  uploadFiles: (turn) => turn.uploadFiles([["/b.txt", new TextEncoder().encode("key=b\n")]]),
  move: (turn) => turn.move("/a.txt", "/moved.txt"),
  "move of a directory": (turn) => turn.move("/d", "/e"),
  copy: (turn) => turn.copy("/a.txt", "/copied.txt"),
  delete: (turn) => turn.delete("/a.txt"),
  "several at once": async (turn) => {
    await turn.write("/new.txt", "key=new\n");
    await turn.delete("/d");
    return turn.edit("/b.txt", "b", "key=b");
  },
};
const STACKS = {
  "a policy": (inner) => withPolicy(inner, { inspect }),
  "two policies": (inner) => withPolicy(withPolicy(inner, { inspect }), { inspect: upper }),
  "a policy with other rules": (inner) =>
    withPolicy(inner, { inspect, readOnlyPrefixes: ["/fixed"], quota: { maxFiles: 100 } }),
  "a policy around a router": (inner) =>
    withPolicy(new CompositeBackend(inner, { "/m/": memory() }), { inspect }),
  "a policy around a history": (inner) =>
    withPolicy(withHistory(inner, { keepIn: { backend: memory() }, writeMode: "overwrite" }), {
      inspect,
    }),
};

async function all(backend) {
  const { files } = await backend.glob("**", "/");
  const bodies = await backend.downloadFiles(files.map(({ path }) => path).sort());
  return Object.fromEntries(bodies.map(({ path, content }) => [path, text(content)]));
}

for (const [name, over] of Object.entries(STACKS)) {
  for (const [call, go] of Object.entries(CALLS)) {
    test(`${name}: the receipt of ${call} tells what was stored`, async () => {
      const inner = memory();
      const guarded = over(inner);
      const before = await all(inner);
      const turn = begin(guarded);
      assert.equal((await go(turn)).error ?? undefined, undefined);
      const { receipt, error } = await turn.commit();
      assert.equal(error, undefined);
      const after = await all(inner);
      assert.doesNotMatch(
        JSON.stringify(after).replace("key=abc", "").replace("key=def", ""),
        /key=[a-z]/,
      );
      assert.ok(receipt.files.length > 0);
      for (const file of receipt.files) {
        assert.equal(text(file.before), before[file.path] ?? null);
        assert.equal(text(file.after), after[file.path] ?? null);
      }
      // Who undoes it past the rule gets back exactly what was there.
      const undone = await undo(inner, receipt);
      assert.equal(undone.error, undefined);
      assert.deepEqual(await all(inner), before);
    });
  }
}

test("an undo through the rule is made, and its receipt tells what it stored", async () => {
  const inner = memory();
  const guarded = withPolicy(inner, { inspect });
  const turn = begin(guarded);
  await turn.write("/new.txt", "key=new\n");
  await turn.delete("/a.txt");
  const { receipt } = await turn.commit();
  const undone = await undo(guarded, receipt);
  assert.equal(undone.error, undefined);
  assert.deepEqual(await all(inner), { ...FILES, "/a.txt": "key=***\n" });
  const again = await undo(guarded, undone.receipt);
  assert.equal(again.error, undefined);
  assert.deepEqual(Object.keys(await all(inner)), ["/b.txt", "/d/c.txt", "/new.txt"]);
});

test("a change that a rule makes none of is in no receipt", async () => {
  const inner = new StateBackend({ scope: "instance", files: { "/a.txt": "key=***\n" } });
  const turn = begin(withPolicy(inner, { inspect }));
  await turn.edit("/a.txt", "***", "secret");
  const { receipt } = await turn.commit();
  assert.deepEqual(receipt.files, []);
});

test("a kept turn's receipt tells what was stored, too", async () => {
  const inner = memory();
  const guarded = withPolicy(inner, { inspect });
  const keepIn = new StateBackend({ scope: "instance" });
  await beginKept(guarded, { keepIn: { backend: keepIn }, name: "t" }).write(
    "/new.txt",
    "key=new\n",
  );
  const { receipt } = await beginKept(guarded, { keepIn: { backend: keepIn }, name: "t" }).commit();
  assert.equal(text(receipt.files[0].after), "key=***\n");
  assert.equal((await undo(guarded, receipt)).error, undefined);
  assert.deepEqual(await all(inner), FILES);
});

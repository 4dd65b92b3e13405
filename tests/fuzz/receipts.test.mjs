// Receipts as somebody sends them who has changed them on their way, as JSON or as objects: `undo` answers
// with a result or an error, and does no more than the rules allow to whoever asks.

import assert from "node:assert/strict";
import test from "node:test";
import * as kitbag from "../lib/kitbag.mjs";

const { begin, StateBackend, undo, withPolicy } = kitbag;
const CASES = 2_000 * Number(process.env.KITBAG_FUZZ ?? 1);
const encode = (text) => new TextEncoder().encode(text);

function dice(seed) {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const PATHS = [
  ...["/a", "/new", "/fixed/a", "/fixed/new", "/secret/a", "/.kitbag/turns/journal", "/.KITBAG/x"],
  ...["/", "", "a/../fixed/a", "//fixed//a", "/FIXED/a", "/a\u202eb", "/fixed", "\0/fixed/a"],
];
const VALUES = [
  ...[null, undefined, 0, -1, Number.NaN, 2 ** 53, "", "text", true, [], {}, () => 1, Symbol("s")],
  ...[encode("one"), encode("two"), encode("fixed"), new Uint8Array(0), new ArrayBuffer(3)],
  ...[{ 0: 111, 1: 110, 2: 101 }, new Proxy({}, { get: () => () => 1 }), "b25l", 1n],
];

/** A receipt with some of its parts replaced, dropped or repeated. */
function changed(receipt, roll) {
  const pick = (some) => some[roll(some.length)];
  const copy = { ...receipt, files: receipt.files.map((file) => ({ ...file })) };
  for (let times = roll(4) + 1; times > 0; times--) {
    const file = pick(receipt.files.map((_, at) => copy.files[at]));
    const what = roll(9);
    if (what === 0) file.path = pick(PATHS);
    else if (what === 1) file.before = pick(VALUES);
    else if (what === 2) file.after = pick(VALUES);
    else if (what === 3) file.path = pick(VALUES);
    else if (what === 4) copy[pick(["id", "by", "at"])] = pick(VALUES);
    else if (what === 5) delete file[pick(["path", "before", "after"])];
    else if (what === 6) copy.files.push({ ...file, path: pick(PATHS) });
    else if (what === 7)
      copy.files.push({ path: pick(PATHS), before: encode("evil"), after: null });
    else if (Array.isArray(copy.files)) copy.files.push(pick(VALUES));
  }
  if (roll(20) === 0) copy.files = pick(VALUES);
  if (roll(20) === 0) return pick(VALUES);
  if (roll(10) > 0) return copy;
  try {
    return JSON.parse(JSON.stringify(copy));
  } catch {
    return copy;
  }
}

test(`${CASES} changed receipts are answered, and no rule is broken`, async () => {
  const roll = dice(7);
  const seen = { done: 0, refused: 0 };
  for (let number = 0; number < CASES; number++) {
    const inner = new StateBackend({
      scope: "instance",
      files: { "/a": "one", "/fixed/a": "fixed", "/secret/a": "hidden" },
    });
    const both = { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" };
    const files = withPolicy(inner, { readOnlyPrefixes: ["/fixed"], permissions: [both] });
    const turn = begin(files);
    await turn.edit("/a", "one", "two");
    await turn.write("/new", "new");
    const { receipt } = await turn.commit();
    const given = changed(receipt, roll);
    let answer;
    try {
      answer = await undo(files, given);
    } catch (error) {
      assert.fail(`it rejects: ${error?.stack}`);
    }
    if (answer.error === undefined && !answer.conflicts) seen.done += 1;
    else {
      seen.refused += 1;
      assert.equal(typeof answer.code, "string", JSON.stringify(answer));
      assert.doesNotMatch(answer.error, /hidden/);
    }
    assert.equal(inner.read("/fixed/a").content, "fixed");
    assert.equal(inner.read("/secret/a").content, "hidden");
    assert.equal(inner.read("/fixed/new").code, "not_found");
  }
  assert.ok(seen.done > CASES / 100 && seen.refused > CASES / 10, JSON.stringify(seen));
});

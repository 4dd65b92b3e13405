// A change in a bucket that was cancelled while the server was at it: the server may still make it,
// but never over a newer change of the same backend. A put with a condition is refused then, so that
// later puts need not wait for it; everything else waits.

import assert from "node:assert/strict";
import test from "node:test";
import { BUCKETS, begin } from "./buckets.mjs";
import { CHANGES, codeOf, Gate, textOf, turns } from "./gate.mjs";
import { kitbag } from "./lib.mjs";

const { CompositeBackend, StateBackend, withPolicy } = kitbag;

/** Requests go to and fro, so that a change that waits for nothing would have begun. */
async function idle(backend) {
  for (let turn = 0; turn < 6; turn++) assert.equal(await textOf(backend, "/other.txt"), "old");
  await turns();
}

/** Begins a change, and cancels it when the bucket has the request. */
async function cancel(gate, backend, change, requests = 1) {
  const abort = new AbortController();
  const answer = change(backend, "cancelled", { signal: abort.signal });
  await gate.begun(requests);
  abort.abort();
  assert.equal(codeOf(await answer), "timeout");
}

/** The answer of a call, once it is there. */
function watched(call) {
  const seen = {};
  seen.over = call.then((answer) => {
    seen.answer = answer;
  });
  return seen;
}

/** A host may make changes in another order than they began: the last one first. */
function release(gate) {
  gate.open = true;
  for (const one of gate.waiting.toReversed()) one.make();
}

async function left(backend, text, answer) {
  if (text === undefined) {
    assert.ok([undefined, "not_found"].includes(answer.code), JSON.stringify(answer));
  } else assert.equal(codeOf(answer), null, JSON.stringify(answer));
  await idle(backend);
  assert.equal(await textOf(backend, "/d/a.txt"), text);
}

const several = (change) => change === "upload of several";
const FIRSTS = [...Object.keys(CHANGES), "create"];
const LATER = ["write", "upload", "upload of several", "edit", "delete", "delete of the directory"];

for (const [name, bucket] of Object.entries(BUCKETS)) {
  for (const first of FIRSTS) {
    for (const later of LATER) {
      const creates = first === "create";
      const [change] = CHANGES[creates ? "write" : first];
      const [next, leaves] = CHANGES[later];
      const deletes = leaves === "gone";
      // An edit needs a file that is there.
      if (later === "edit" && (creates || first.startsWith("delete"))) continue;
      // An upload of several creates one of them.
      const creation = creates ? deletes : several(first) && later === "delete of the directory";
      const waits = !bucket.conditional || first.startsWith("delete") || creation;
      const what = waits ? "waits for" : "goes before";

      test(`${name}: a later ${later} ${what} a cancelled ${first}, and is not undone`, async () => {
        const gate = new Gate();
        const { backend, stop } = await begin(gate, bucket, { empty: creates });
        await cancel(gate, backend, change, several(first) ? 2 : 1);
        // Only what has begun is held.
        gate.open = true;
        const newer = watched(next(backend, "newer"));
        if (waits) {
          await idle(backend);
          assert.equal(newer.answer, undefined);
        } else await newer.over;
        release(gate);
        await newer.over;
        if (codeOf(newer.answer) === "no_match") {
          assert.ok(waits && later === "edit");
          assert.equal(await textOf(backend, "/d/a.txt"), "cancelled", "it was made before");
        } else await left(backend, deletes ? undefined : "newer", newer.answer);
        await stop();
      });
    }
  }

  test(`${name}: a put of the same content as before waits for a cancelled edit of it`, async () => {
    const gate = new Gate();
    const { backend, stop } = await begin(gate, bucket);
    await cancel(gate, backend, CHANGES.edit[0]);
    gate.open = true;
    if (bucket.conditional) assert.equal(codeOf(await backend.write("/d/a.txt", "newer")), null);
    // The condition of the cancelled put would hold again.
    const again = watched(backend.write("/d/a.txt", "old"));
    await idle(backend);
    assert.equal(again.answer, undefined);
    release(gate);
    await again.over;
    await left(backend, "old", again.answer);
    await stop();
  });

  test(`${name}: other paths stay open`, async () => {
    const gate = new Gate();
    const { backend, stop } = await begin(gate, bucket);
    await cancel(gate, backend, CHANGES.write[0]);
    gate.open = true;
    assert.equal(codeOf(await backend.write("/d/b.txt", "beside")), null);
    assert.equal(codeOf(await backend.delete("/d/b.txt")), null);
    release(gate);
    await idle(backend);
    await stop();
  });

  test(`${name}: an attempt that took too long never lands over a later change`, async (t) => {
    const gate = new Gate();
    const more = { retry: { attempts: 1, timeoutMs: 30_000 } };
    const { backend, stop } = await begin(gate, bucket, { more });
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const late = backend.delete("/d/a.txt");
    await gate.begun(1);
    t.mock.timers.tick(30_000);
    assert.equal((await late).code, "timeout");
    t.mock.timers.reset();
    gate.open = true;
    const newer = watched(backend.write("/d/a.txt", "newer"));
    await idle(backend);
    assert.equal(newer.answer, undefined);
    release(gate);
    await newer.over;
    await left(backend, "newer", newer.answer);
    await stop();
  });

  test(`${name}: a change that waits ends at its own timeoutMs and changes nothing`, async () => {
    const gate = new Gate();
    const { backend, objects, stop } = await begin(gate, bucket);
    await cancel(gate, backend, CHANGES.delete[0]);
    const answer = await backend.write("/d/a.txt", "newer", { timeoutMs: 50 });
    assert.equal(answer.code, "timeout");
    assert.equal(gate.waiting.length, 1, "the put was not begun");
    assert.equal(`${objects.all.get("d/a.txt").body}`, "old");
    release(gate);
    await idle(backend);
    await stop();
  });

  test(`${name}: without timeoutMs it is told after 30 s that the cancelled one hangs`, async (t) => {
    const gate = new Gate();
    const { backend, stop } = await begin(gate, bucket);
    await cancel(gate, backend, CHANGES.delete[0]);
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const newer = watched(backend.write("/d/a.txt", "newer"));
    await turns();
    t.mock.timers.tick(31_000);
    await newer.over;
    assert.equal(newer.answer.code, "unavailable");
    assert.match(newer.answer.error, /'\/d\/a\.txt' was given up/);
    assert.equal(gate.waiting.length, 1, "the put was not begun");
    t.mock.timers.reset();
    release(gate);
    await idle(backend);
    await stop();
  });

  test(`${name}: through rules and a router a later change waits, too`, async () => {
    const gate = new Gate();
    const { backend: inner, stop } = await begin(gate, bucket);
    const backend = withPolicy(new CompositeBackend(new StateBackend(), { "/s3/": inner }), {
      permissions: [{ operations: ["read", "write"], paths: ["/never/**"], mode: "deny" }],
    });
    const abort = new AbortController();
    const answer = backend.delete("/s3/d/a.txt", { signal: abort.signal });
    await gate.begun(1);
    abort.abort();
    assert.equal((await answer).code, "timeout");
    gate.open = true;
    const newer = watched(backend.write("/s3/d/a.txt", "newer"));
    await idle(inner);
    assert.equal(newer.answer, undefined);
    release(gate);
    await newer.over;
    await left(inner, "newer", newer.answer);
    await stop();
  });

  test(`${name}: cancelled writes never exceed a quota`, async () => {
    const gate = new Gate();
    const { backend, objects, stop } = await begin(gate, bucket, { empty: true });
    const guarded = withPolicy(backend, { quota: { maxBytes: 1000 } });
    for (let at = 0; at < 4; at++) {
      const abort = new AbortController();
      const cancelled = guarded.write(`/${at}.txt`, "x".repeat(900), { signal: abort.signal });
      if (at === 0) await gate.begun(1);
      await idle(backend);
      abort.abort();
      assert.equal((await cancelled).code, "timeout");
    }
    const last = guarded.write("/last.txt", "x".repeat(900));
    await idle(backend);
    release(gate);
    assert.equal((await last).code, "quota_exceeded");
    const bytes = objects.within("").reduce((sum, { body }) => sum + body.length, 0);
    assert.ok(bytes <= 1000, `${bytes}`);
    await stop();
  });

  if (bucket.http) {
    test(`${name}: a change that hangs for a minute is closed, and its path opens`, async (t) => {
      const gate = new Gate();
      const { backend, closed, stop } = await begin(gate, bucket);
      t.mock.timers.enable({ apis: ["setTimeout"] });
      await cancel(gate, backend, CHANGES.delete[0]);
      gate.open = true;
      assert.deepEqual(
        closed.filter((one) => one.startsWith("DELETE")),
        [],
      );
      t.mock.timers.tick(60_000);
      while (!closed.includes("DELETE d/a.txt")) await turns();
      assert.equal(codeOf(await backend.write("/d/a.txt", "newer")), null);
      t.mock.timers.reset();
      release(gate);
      await stop();
    });
  }
}

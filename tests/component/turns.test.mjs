// Turns of the component against those of the npm package: random calls of a turn, and of others meanwhile, have
// the same answers; over memory and over a lent volume, where a commit has a journal.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { documentedStorage } from "../host/lib.mjs";
import { begin, CustomBackend, StateBackend, undo, withPolicy } from "../lib/kitbag.mjs";
import { instance } from "./load.mjs";
import { errorOf, Protocol, policyOptions, stateOptions } from "./protocol.mjs";
import {
  asked,
  change,
  changesOf,
  changesOfNpm,
  numbers,
  PATHS,
  stripped,
  text,
} from "./random.mjs";
import { MapVolume, volumeOptions } from "./volume.mjs";

const HISTORIES = 150;
const STEPS = 25;

/** A turn of the npm package: its answers in the form that both have. */
function ofNpm(base, by) {
  const turn = begin(base, { by });
  let hunks = [];
  const failed = ({ error, code }) => ({ error, code });
  const conflict = ({ path, operation, before, now }) => [path, operation, text(before), text(now)];
  const outcome = ({ receipt, conflicts, code, error }) => {
    if (receipt) return { receipt };
    return conflicts ? { conflicts: conflicts.map(conflict) } : { error, code };
  };
  return {
    files: turn,
    async diff() {
      const { changes, ...rest } = await turn.diff();
      if (!changes) return failed(rest);
      hunks = changes.flatMap((one) => one.hunks);
      return changesOfNpm(changes);
    },
    commit: async () => outcome(await turn.commit()),
    async accept(which) {
      const wanted = hunks.filter((_, at) => which(at));
      const answer = await turn.accept(wanted);
      return answer.paths ?? failed(answer);
    },
    async discard(patterns) {
      const answer = await turn.discard(patterns);
      return answer.paths ?? failed(answer);
    },
    async rebase(keep) {
      const { merged, read, conflicts, ...rest } = await turn.rebase({ keep });
      if (!merged) return failed(rest);
      const unmerged = ({ path, before, now, ours }) => [path, text(before), text(now), text(ours)];
      return { merged, read, conflicts: conflicts.map(unmerged) };
    },
    undo: async (receipt) => outcome(await undo(base, receipt)),
  };
}

/** The same of the component. */
function ofComponent({ Turn, undo: takeBack }, base, by) {
  const turn = Turn.begin(base, by, "create");
  let hunks = [];
  const conflict = ({ path, operation, before, now }) => [path, operation, text(before), text(now)];
  const outcome = ({ tag, val }) =>
    tag === "done" ? { receipt: val } : { conflicts: val.map(conflict) };
  return {
    files: new Protocol(turn.files()),
    commits: () => turn.commits(),
    diff: () =>
      asked(
        () => turn.diff(),
        (changes) => {
          hunks = changes.flatMap((one) => one.hunks);
          return changesOf(changes);
        },
      ),
    commit: () => asked(() => turn.commit(), outcome),
    accept: (which) =>
      asked(() => turn.accept(hunks.filter((_, at) => which(at)).map((one) => one.id))),
    discard: (patterns) => asked(() => turn.discard(patterns)),
    rebase: (keep) =>
      asked(
        () => turn.rebase(keep),
        ({ merged, read, conflicts }) => ({
          ...{ merged, read },
          conflicts: conflicts.map(({ path, before, now, ours }) => [
            ...[path, text(before), text(now), text(ours)],
          ]),
        }),
      ),
    undo: (receipt) => asked(() => takeBack(base, receipt, receipt.by), outcome),
  };
}

/** A receipt without what differs in every run. */
const plain = (answer) =>
  answer?.receipt
    ? {
        by: answer.receipt.by,
        files: answer.receipt.files.map(({ path, before, after }) => [
          ...[path, text(before), text(after)],
        ]),
      }
    : answer;

async function play(seed, turn, base) {
  const at = numbers(seed);
  const seen = [];
  let receipt;
  for (let step = 0; step < STEPS; step++) {
    const kind = at(16);
    let answer;
    if (kind < 7) answer = stripped(await change(turn.files, at));
    else if (kind < 10) answer = stripped(await change(base, at));
    else if (kind === 10) answer = await turn.diff();
    else if (kind === 11) {
      await turn.diff();
      const odd = at(2);
      answer = await turn.accept((one) => one % 2 === odd);
    } else if (kind === 12) answer = await turn.discard([["/d/**"], ["*.txt"], ["/a*"]][at(3)]);
    else if (kind === 13) answer = await turn.rebase(at(2) ? ["/d/**"] : []);
    else if (kind === 14) {
      const done = await turn.commit();
      receipt = done.receipt ?? receipt;
      answer = plain(done);
    } else if (receipt) answer = plain(await turn.undo(receipt));
    seen.push([kind, answer]);
  }
  const end = [];
  for (const path of PATHS) end.push((await base.read(path)).content ?? null);
  return { seen, end };
}

describe("random turns have the answers of the npm package", () => {
  const component = instance();
  const state = () => component.Backend.state(stateOptions());
  const volume = () => component.Backend.lent(new MapVolume(), volumeOptions());
  const npmState = () => new StateBackend();
  const MapStorage = documentedStorage();
  for (const [name, make, makeNpm, commits] of [
    ["in memory", state, npmState, "transaction"],
    ["on a volume", volume, () => new CustomBackend(new MapStorage()), "journal"],
    [
      ...["behind rules", () => state().withPolicy(policyOptions())],
      ...[() => withPolicy(npmState(), {}), "transaction"],
    ],
  ]) {
    test(`${name}: ${HISTORIES} histories`, async () => {
      const kinds = new Set();
      for (let seed = 1; seed <= HISTORIES; seed++) {
        const own = make();
        const turn = ofComponent(component, own, "agent-7");
        assert.equal(turn.commits(), commits);
        const theirs = makeNpm();
        const wanted = await play(seed, ofNpm(theirs, "agent-7"), theirs);
        const found = await play(seed, turn, new Protocol(own));
        for (const [step, [kind, answer]] of wanted.seen.entries()) {
          assert.deepEqual(found.seen[step][1], answer, `seed ${seed}, step ${step} (${kind})`);
          const word = answer?.conflicts ? "conflicts" : answer?.files ? "receipt" : "";
          kinds.add(`${kind} ${word}`);
        }
        assert.deepEqual(found.end, wanted.end, `seed ${seed}`);
      }
      for (const kind of [
        "13 conflicts",
        "14 conflicts",
        "14 receipt",
        "15 conflicts",
        "15 receipt",
      ]) {
        assert.ok(kinds.has(kind), `no history has ${kind}: ${[...kinds].sort()}`);
      }
    });
  }
});

test("a turn over a turn commits into it", () => {
  const component = instance();
  const base = component.Backend.state(stateOptions());
  const outer = component.Turn.begin(base, "outer", "create");
  const inner = component.Turn.begin(outer.files(), "inner", "create");
  const files = new Protocol(inner.files());
  assert.deepEqual(files.write("/a.txt", "one"), { path: "/a.txt" });
  assert.equal(new Protocol(outer.files()).read("/a.txt").code, "not_found");
  assert.equal(inner.commit().tag, "done");
  assert.equal(new Protocol(outer.files()).read("/a.txt").content, "one");
  assert.equal(new Protocol(base).read("/a.txt").code, "not_found");
  assert.equal(outer.commit().tag, "done");
  assert.equal(new Protocol(base).read("/a.txt").content, "one");
});

test("rules bind a commit and an undo", () => {
  const { Backend, Turn, undo: takeBack } = instance();
  const state = Backend.state(stateOptions());
  const files = state.withPolicy(policyOptions({ readOnlyPrefixes: ["/closed"] }));
  const turn = Turn.begin(state, "", "create");
  new Protocol(turn.files()).write("/closed/a.txt", "planted");
  const { val: receipt } = turn.commit();
  assert.equal(errorOf(() => takeBack(files, receipt, ""))?.code, "permission-denied");
  assert.equal(new Protocol(state).read("/closed/a.txt").content, "planted");
  const ruled = Turn.begin(files, "", "create");
  new Protocol(ruled.files()).write("/closed/b.txt", "planted");
  assert.equal(errorOf(() => ruled.commit())?.code, "permission-denied");
  assert.equal(new Protocol(state).read("/closed/b.txt").code, "not_found");
});

test("a receipt that was made up changes nothing it must not", () => {
  const { Backend, undo: takeBack } = instance();
  const files = Backend.state(stateOptions());
  const receipt = (...paths) => ({
    ...{ id: "x", by: "y", at: 0n },
    files: paths.map((path) => ({ path, before: new Uint8Array([1]), after: undefined })),
  });
  for (const [given, code] of [
    [receipt("/a", "/a"), "invalid-argument"],
    [receipt("/../a"), "invalid-path"],
    [receipt("/"), "invalid-path"],
    [receipt("/.kitbag/turns/journal"), "invalid-path"],
  ]) {
    const error = errorOf(() => takeBack(files, given, ""));
    assert.equal(error?.code, code, JSON.stringify(given.files.map((one) => one.path)));
  }
  assert.deepEqual(new Protocol(files).ls("/").files, []);
});

test("a commit that its own host has broken off is finished by the next call", () => {
  const volume = new MapVolume();
  const { Backend, Turn } = instance({ now: () => 1_000_000_000n });
  const base = Backend.lent(volume, volumeOptions());
  const files = new Protocol(base);
  for (const path of ["/a.txt", "/b.txt"]) files.write(path, "old");
  const put = volume.put;
  for (const [from, to] of [
    ["old", "new"],
    ["new", "newest"],
  ]) {
    const turn = Turn.begin(base, "one", "create");
    for (const path of ["/a.txt", "/b.txt"]) new Protocol(turn.files()).edit(path, from, to);
    volume.put = function (path, ...rest) {
      if (path === "/b.txt") throw new Error("the disk is on fire");
      return put.call(this, path, ...rest);
    };
    assert.throws(() => turn.commit(), /on fire/);
    volume.put = put;
    assert.ok(volume.files.has("/.kitbag/turns/journal"));
    const next = Turn.begin(base, "two", "create");
    assert.equal(new Protocol(next.files()).read("/b.txt").content, to);
    assert.deepEqual(next.commit().val.files, []);
    assert.ok(!volume.files.has("/.kitbag/turns/journal"));
    assert.equal(files.read("/a.txt").content, to);
    // What the first one wants is there already, which it did not expect.
    assert.equal(turn.commit().tag, "conflicts");
    assert.deepEqual(turn.rebase([]).conflicts, []);
    assert.deepEqual(turn.diff(), []);
  }
});

test("a commit of another process that was broken off is finished after ten seconds, and not before", () => {
  const volume = new MapVolume();
  let now = 1_000_000_000n;
  const host = { now: () => now };
  const first = instance(host);
  const base = first.Backend.lent(volume, volumeOptions());
  const files = new Protocol(base);
  for (const path of ["/a.txt", "/b.txt"]) files.write(path, "old");
  const broken = first.Turn.begin(base, "one", "create");
  for (const path of ["/a.txt", "/b.txt"]) {
    assert.equal(new Protocol(broken.files()).edit(path, "old", "new").occurrences, 1);
  }
  // The process ends when it has changed one of its files.
  const put = volume.put;
  volume.put = function (path, ...rest) {
    if (path === "/b.txt") throw new Error("killed");
    return put.call(this, path, ...rest);
  };
  assert.throws(() => broken.commit(), /killed/);
  volume.put = put;
  assert.ok(volume.files.has("/.kitbag/turns/journal"));

  const second = instance(host);
  const again = second.Backend.lent(volume, volumeOptions());
  const turn = second.Turn.begin(again, "two", "create");
  const look = () => new Protocol(turn.files()).read("/b.txt");
  for (const wait of [0n, 5_000_000n, 4_900_000n]) {
    now += wait;
    const { code, error, retryAfterMs } = look();
    assert.equal(code, "unavailable", error);
    assert.match(error, /Another commit is being made here/);
    assert.equal(retryAfterMs, 100);
  }
  now += 200_000n;
  assert.equal(look().content, "new");
  assert.equal(new Protocol(again).read("/a.txt").content, "new");
  assert.ok(!volume.files.has("/.kitbag/turns/journal"));
  assert.equal(new Protocol(turn.files()).edit("/b.txt", "new", "newest").occurrences, 1);
  assert.equal(turn.commit().tag, "done");
  assert.equal(new Protocol(again).read("/b.txt").content, "newest");
});

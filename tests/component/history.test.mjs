// Histories and pins of the component against those of the npm package: random calls have the same answers. What is
// kept is damaged, planted and of another key.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { openPin, withHistory } from "../../pkg/dist/history.js";
import { documentedStorage } from "../host/lib.mjs";
import { CustomBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { instance } from "./load.mjs";
import { errorOf, historyOptions, Protocol, policyOptions, stateOptions } from "./protocol.mjs";
import {
  asked,
  change,
  changesOf,
  changesOfNpm,
  numbers,
  PATHS,
  stripped,
  text,
  turnOf,
  turnOfNpm,
} from "./random.mjs";
import { MapVolume, volumeOptions } from "./volume.mjs";

const HISTORIES = 30;
const STEPS = 40;

// Both take the time from here.
const { now: real } = Date;
let time = real();
after(() => {
  Date.now = real;
});

/** The component takes a time as a number, and its functions do not name themselves. */
const failed = ({ error, code }) => ({
  error: error
    .replace("log(), a time in ISO 8601, or a pin", "log(), or a pin")
    .replace(/^openPin: /, ""),
  code,
});
const entryOf = ({ by, call, operation, at, files }) => [
  ...[by, call, operation, at],
  files.map(({ path, before, after: then }) => [path, before ?? null, then ?? null]),
];
const iso = (micros) => new Date(Number(micros / 1000n)).toISOString();

/** A history of the npm package: its answers in the form that both have. */
function ofNpm(base, keepIn, keep) {
  const world = withHistory(base, {
    ...{ keepIn: { backend: keepIn }, by: "agent-7" },
    keep: Object.fromEntries(Object.entries(keep).map(([name, value]) => [name, Number(value)])),
  });
  const answer = async (call, shape) => {
    const found = await call;
    return found.error === undefined ? shape(found) : failed(found);
  };
  const moment = (at) => at.id ?? at.pin ?? new Date(Number(at.at / 1000n));
  return {
    files: world,
    turn: () => turnOfNpm(world),
    as: (call) => world.as({ by: "other\nauthor", call }),
    ids: async () => (await world.log("/", { limit: 1000 })).entries.map(({ id }) => id),
    log: (path, limit) => answer(world.log(path, { limit }), ({ entries }) => entries.map(entryOf)),
    why: (path) =>
      answer(world.why(path), ({ known, entries }) => ({ known, entries: entries.map(entryOf) })),
    diff: (from, to) =>
      answer(world.diff(moment(from), to && moment(to)), ({ changes }) => changesOfNpm(changes)),
    restore: (path, at) => answer(world.restore(path, moment(at)), ({ paths }) => paths),
    prune: () => answer(world.prune(), ({ dropped, entries, bytes }) => [dropped, entries, bytes]),
    pin: () => answer(world.pin(), ({ pin, at }) => [pin, at]),
    pins: () => answer(world.pins(), ({ pins }) => pins.map(({ pin, at }) => [pin, at])),
    unpin: (pin) => answer(world.unpin(pin), () => "gone"),
    label: (label, pin) => answer(world.label(label, pin), () => "labelled"),
    labelled: (label) => answer(world.labelled(label), ({ pin }) => pin),
    verify: (pin) => answer(world.verify(pin), (found) => found),
    async opened(pin) {
      const { backend, ...rest } = await openPin(world, pin);
      return backend ? { backend } : failed(rest);
    },
  };
}

/** The same of the component. */
function ofComponent({ History, Turn }, base, keepIn, keep) {
  const world = History.open(base, historyOptions(keepIn, { by: "agent-7", keep }));
  const moment = (at) =>
    at.at === undefined ? { tag: "named", val: at.id ?? at.pin } : { tag: "at", val: at.at };
  const entry = ({ at, ...rest }) => entryOf({ at: iso(at), ...rest });
  const kept = ({ pin, at }) => [pin, iso(at)];
  const lost = ({ path, isList, isMissing, digest }) => ({
    path,
    what: isList ? "list" : "content",
    reason: isMissing ? "missing" : "damaged",
    digest,
  });
  return {
    files: new Protocol(world.files()),
    turn: () => turnOf(Turn, world.files()),
    as: (call) => new Protocol(world.forAuthor("other\nauthor", call).files()),
    ids: () => world.log("/", 1000).map(({ id }) => id),
    log: (path, limit) =>
      asked(
        () => world.log(path, limit),
        (entries) => entries.map(entry),
      ),
    why: (path) =>
      asked(
        () => world.why(path),
        ({ known, entries }) => ({ known, entries: entries.map(entry) }),
      ),
    diff: (from, to) => asked(() => world.diff(moment(from), to && moment(to)), changesOf),
    restore: (path, at) => asked(() => world.restore(path, moment(at))),
    prune: () =>
      asked(
        () => world.prune(),
        ({ dropped, entries, bytes }) => [dropped, entries, bytes].map(Number),
      ),
    pin: () => asked(() => world.pin(), kept),
    pins: () =>
      asked(
        () => world.pins(),
        (pins) => pins.map(kept),
      ),
    unpin: (pin) =>
      asked(
        () => world.unpin(pin),
        () => "gone",
      ),
    label: (label, pin) =>
      asked(
        () => world.label(label, pin),
        () => "labelled",
      ),
    labelled: (label) => asked(() => world.labelled(label)),
    verify: (pin) =>
      asked(
        () => world.verify(pin),
        (found) => ({ lost: found.lost.map(lost), drifted: found.drifted }),
      ),
    opened: (pin) =>
      asked(
        () => world.openPin(pin),
        (backend) => ({ backend: new Protocol(backend) }),
      ),
  };
}

const DIRECTORIES = ["/", "/d", "/a.txt", "/d/e/f.txt", "/../x"];
const NO_PIN = "0".repeat(48);

async function play(seed, world, base) {
  const roll = numbers(seed);
  const one = (list) => list[roll(list.length)];
  const pins = [NO_PIN];
  const seen = [];
  const turn = world.turn();
  /** A moment that both have: an entry by its place, a pin, or a time. */
  const moment = async () => {
    const ids = await world.ids();
    const kind = roll(8);
    if (kind === 0) return { at: BigInt(time - roll(20) * 1000) * 1000n };
    if (kind === 1) return { pin: one(pins) };
    return ids.length > 0 ? { id: one(ids) } : { id: "no moment" };
  };
  for (let step = 0; step < STEPS; step++) {
    time += 500 + roll(5000);
    const kind = roll(20);
    let answer;
    if (kind < 8) answer = stripped(await change(world.files, roll));
    else if (kind === 8) answer = stripped(await change(base, roll));
    else if (kind === 9) answer = stripped(await change(await world.as(`call-${step}`), roll));
    else if (kind === 10) answer = await world.log(one(DIRECTORIES), 1 + roll(8));
    else if (kind === 11) answer = await world.why(one(PATHS));
    else if (kind === 12)
      answer = await world.diff(await moment(), roll(2) ? await moment() : undefined);
    else if (kind === 13) answer = await world.restore(one(DIRECTORIES), await moment());
    else if (kind === 14) answer = await world.prune();
    else if (kind === 15) {
      answer = await world.pin();
      if (Array.isArray(answer)) pins.push(answer[0]);
    } else if (kind === 16) {
      const [pin, label] = [one(pins), one(["release", "x".repeat(100_000), "a/../b\n"])];
      const calls = [
        () => world.pins(),
        () => world.unpin(pin),
        () => world.label(label, roll(9) ? pin : "no pin"),
        () => world.labelled(label),
      ];
      answer = await one(calls)();
    } else if (kind === 17) answer = await world.verify(roll(2) ? one(pins) : undefined);
    else if (kind === 18) {
      const { backend, ...rest } = await world.opened(one([...pins, "no pin"]));
      const calls = [
        (files) => files.read(one(PATHS)),
        (files) => files.grep("t"),
        (files) => files.ls("/d"),
        (files) => files.write("/new.txt", "x"),
      ];
      answer = backend ? stripped(await one(calls)(backend)) : rest;
    } else {
      for (let at = roll(3); at >= 0; at--) await change(turn.files, roll);
      answer = await turn.commit();
    }
    seen.push([kind, answer]);
  }
  const end = [await world.log("/", 1000)];
  for (const path of PATHS) end.push((await base.read(path)).content ?? null);
  return { seen, end };
}

/** What is kept: everything, few entries, young ones, or few bytes. */
const KEEPS = [{}, { count: 5 }, { ageMs: 30_000n }, { bytes: 60n }];

// An instance takes a quarter of a second, so most tests share this one.
const component = instance({ now: () => BigInt(time) * 1000n });

describe("random histories have the answers of the npm package", () => {
  const state = () => component.Backend.state(stateOptions());
  const volume = () => component.Backend.lent(new MapVolume(), volumeOptions());
  const npmState = () => new StateBackend();
  const MapStorage = documentedStorage();
  const npmVolume = () => new CustomBackend(new MapStorage());
  const rules = () => state().withPolicy(policyOptions({ readOnlyPrefixes: ["/d/e"] }));
  const npmRules = () => withPolicy(npmState(), { readOnlyPrefixes: ["/d/e"] });
  for (const [name, make, makeNpm] of [
    ["in memory", state, npmState],
    ["on a volume", volume, npmVolume],
    ["behind rules", rules, npmRules],
  ]) {
    test(`${name}: ${HISTORIES} histories`, async () => {
      Date.now = () => time;
      const kinds = new Map();
      for (let seed = 1; seed <= HISTORIES; seed++) {
        const keep = KEEPS[seed % KEEPS.length];
        const start = time;
        const [theirs, own] = [makeNpm(), make()];
        const wanted = await play(seed, ofNpm(theirs, npmState(), keep), theirs);
        const end = time;
        time = start;
        const found = await play(
          seed,
          ofComponent(component, own, state(), keep),
          new Protocol(own),
        );
        assert.equal(time, end);
        for (const [step, [kind, answer]] of wanted.seen.entries()) {
          assert.deepEqual(found.seen[step][1], answer, `seed ${seed}, step ${step} (${kind})`);
          const is = answer.code ?? (answer.length === 0 ? "empty" : "fine");
          kinds.set(`${kind} ${is}`, (kinds.get(`${kind} ${is}`) ?? 0) + 1);
        }
        assert.deepEqual(found.end, wanted.end, `seed ${seed}`);
      }
      Date.now = real;
      for (let kind = 0; kind < 20; kind++) {
        assert.ok(kinds.get(`${kind} fine`) > 0 || kind === 19, `${kind}: ${[...kinds].sort()}`);
      }
      for (const kind of [
        "13 invalid_path",
        "16 not_found",
        "17 not_found",
        "18 permission_denied",
      ]) {
        assert.ok(kinds.has(kind), `no history has ${kind}: ${[...kinds].sort()}`);
      }
    });
  }
});

const bytes = (value) => new TextEncoder().encode(value);
const KEY = bytes("sixteen bytes or more");

/** A history over memory that is kept on a volume, with some entries and a pin. */
function told(options = {}, { Backend, History } = component) {
  const volume = new MapVolume();
  const base = Backend.state(stateOptions());
  const keepIn = Backend.lent(volume, volumeOptions());
  const open = (more = {}) => History.open(base, historyOptions(keepIn, { ...options, ...more }));
  const world = open();
  const files = new Protocol(world.files());
  files.write("/a.txt", "one\n");
  files.write("/d/b.txt", "two\n");
  const { pin } = world.pin();
  files.edit("/a.txt", "one", "three");
  files.delete("/d/b.txt");
  return { volume, base, keepIn, open, world, files, pin };
}

test("an option that is wrong is refused, and says which", () => {
  const { Backend, History } = component;
  const base = Backend.state(stateOptions());
  const other = Backend.state(stateOptions());
  for (const [keepIn, options, said] of [
    [base, {}, /must be another one than that of the files/],
    [other, { key: bytes("short") }, /option "key" must have 16 bytes or more/],
    [other, { path: "/a/../b" }, /must be a directory such as '\/notes'/],
    [other, { path: "a\\b" }, /must be a directory/],
  ]) {
    const error = errorOf(() => History.open(base, historyOptions(keepIn, options)));
    assert.equal(error?.code, "invalid-argument");
    assert.match(error.message, said);
  }
  const world = History.open(base, historyOptions(other));
  for (const call of [
    () => world.restore("/", { tag: "named", val: "yesterday" }),
    () => world.diff({ tag: "named", val: "" }),
    () => world.openPin("no pin"),
    () => world.label("a", "no pin"),
    () => world.unpin("f".repeat(49)),
  ]) {
    assert.equal(errorOf(call)?.code, "invalid-argument", String(call));
  }
  assert.equal(errorOf(() => world.log("/../a", 1))?.code, "invalid-path");
  assert.equal(errorOf(() => world.why("/"))?.code, "invalid-path");
  for (const at of [2n ** 63n - 1n, -(2n ** 63n)]) {
    assert.deepEqual(world.restore("/", { tag: "at", val: at }), []);
  }
});

test("it is kept where the options say, and goes on in another instance", () => {
  const { volume, world } = told({ path: "/notes", key: KEY });
  assert.ok([...volume.files.keys()].every((path) => path.startsWith("/notes/.kitbag/")));
  const { Backend, History } = instance();
  const keepIn = Backend.lent(volume, volumeOptions());
  const base = Backend.state(stateOptions());
  const again = History.open(base, historyOptions(keepIn, { path: "/notes", key: KEY }));
  assert.deepEqual(again.log("/", 9), world.log("/", 9));
  assert.deepEqual(again.pins(), world.pins());
  assert.deepEqual(again.restore("/", { tag: "named", val: again.pins()[0].pin }), [
    ...["/a.txt", "/d/b.txt"],
  ]);
  assert.equal(new Protocol(base).read("/a.txt").content, "one\n");
});

test("what has no key is not believed, and what has another one is in the way for ten minutes", () => {
  for (const key of [undefined, bytes("another key of the same length")]) {
    const { volume, pin } = told({ key });
    let at = BigInt(real()) * 1000n;
    const { Backend, History } = instance({ now: () => at });
    const keepIn = Backend.lent(volume, volumeOptions());
    const options = historyOptions(keepIn, { key: KEY });
    const world = History.open(Backend.state(stateOptions()), options);
    const files = new Protocol(world.files());
    if (key) {
      const error = errorOf(() => world.log("/", 9));
      assert.equal(error?.code, "invalid-argument");
      assert.match(error.message, /has another key\. Give keepIn the key/);
      at += 601_000_000n;
    }
    assert.deepEqual(world.log("/", 9), []);
    assert.deepEqual(world.pins(), []);
    assert.equal(errorOf(() => world.unpin(pin))?.code, "not-found");
    assert.deepEqual(files.write("/mine.txt", "mine"), { path: "/mine.txt" });
    assert.equal(world.log("/", 9).length, 1);
  }
});

test("another author and another call are noted; all changes count for pruning", () => {
  const { world } = told({ by: "agent-7", keep: { count: 5 } });
  const other = world.forAuthor("person", "toolu_01");
  new Protocol(other.files()).write("/c.txt", "c");
  const [newest, older] = world.log("/", 2);
  assert.deepEqual(
    [newest.by, newest.call, older.by, older.call],
    [...["person", "toolu_01", "agent-7", ""]],
  );
  for (let at = 0; at < 64; at++) {
    new Protocol(world.forAuthor("one", `call-${at}`).files()).append("/c.txt", "c");
  }
  assert.ok(world.log("/", 100).length < 15);
});

test("rules outside of a history are asked first, and a turn commits through it", () => {
  const { Backend, History, Turn } = component;
  const world = History.open(
    Backend.state(stateOptions()),
    historyOptions(Backend.state(stateOptions())),
  );
  const ruled = world.files().withPolicy(policyOptions({ readOnlyPrefixes: ["/closed"] }));
  assert.equal(new Protocol(ruled).write("/closed/a.txt", "a").code, "permission_denied");
  const turn = Turn.begin(ruled, "agent", "create");
  new Protocol(turn.files()).write("/a.txt", "a");
  new Protocol(turn.files()).write("/b.txt", "b");
  assert.deepEqual(world.log("/", 9), []);
  assert.equal(turn.commit().tag, "done");
  const changed = world.log("/", 9).flatMap(({ files }) => files.map(({ path }) => path));
  assert.deepEqual(changed.sort(), ["/a.txt", "/b.txt"]);
});

test("the files of a pin cannot be changed, and outlive the objects that they are of", () => {
  const { world, pin } = told();
  const then = new Protocol(world.openPin(pin));
  world[Symbol.dispose]();
  assert.equal(then.read("/a.txt").content, "one\n");
  assert.deepEqual(
    then.glob("**").files.map(({ path }) => path),
    ["/a.txt", "/d/b.txt"],
  );
  for (const answer of [
    then.write("/new.txt", "x"),
    then.edit("/a.txt", "one", "two"),
    then.delete("/d"),
    then.move("/a.txt", "/c.txt"),
  ]) {
    assert.equal(answer.code, "permission_denied");
  }
});

describe("a place that was damaged gives errors, and never another content", () => {
  const RIGHT = new Set(["one\n", "two\n", "three\n", null]);
  const damages = {
    "is gone": (volume, path) => volume.files.delete(path),
    "is empty": (_volume, _path, file) => {
      file.body = new Uint8Array();
    },
    "has other bytes": (_volume, _path, file) => {
      file.body = bytes("\u0000\uffff planted");
    },
    "is cut": (_volume, _path, file) => {
      file.body = file.body.slice(0, -1);
    },
    "is that of another name": (volume, path, file) => {
      const other = [...volume.files].find(([name]) => name !== path);
      file.body = other[1].body;
    },
  };
  for (const key of [KEY, undefined]) {
    for (const [name, damage] of Object.entries(damages)) {
      test(`a file ${name}${key ? "" : ", without a key"}`, () => {
        const paths = [...told({ key }).volume.files.keys()];
        let [errors, losses] = [0, 0];
        for (let at = 0; at < paths.length; at++) {
          const { volume, base, world, open, pin } = told({ key });
          const path = [...volume.files.keys()][at];
          damage(volume, path, volume.files.get(path));
          for (const history of [open(), world]) {
            const then = asked(
              () => history.openPin(pin),
              (files) => new Protocol(files),
            );
            const entries = asked(() => history.log("/", 9));
            assert.ok(Array.isArray(entries), path);
            const answers = [
              asked(
                () => history.why("/a.txt"),
                () => "fine",
              ),
              asked(
                () => history.diff({ tag: "at", val: 0n }),
                (found) => {
                  for (const { before, after: next } of found) {
                    assert.ok(RIGHT.has(text(before)) && RIGHT.has(text(next)), path);
                  }
                  return "fine";
                },
              ),
              asked(
                () => history.verify(undefined),
                ({ lost }) => {
                  for (const { isMissing } of lost) assert.equal(isMissing, name === "is gone");
                  losses += lost.length;
                  return "fine";
                },
              ),
              then.read?.("/a.txt") ?? then,
              asked(
                () => history.restore("/", { tag: "named", val: pin }),
                () => "fine",
              ),
              asked(
                () => history.prune(),
                () => "fine",
              ),
              asked(
                () => history.pin(),
                () => "fine",
              ),
            ];
            errors += answers.filter((one) => one.error !== undefined).length;
            assert.ok(RIGHT.has(answers[3].content ?? null), path);
            for (const file of ["/a.txt", "/d/b.txt"]) {
              assert.ok(RIGHT.has(new Protocol(base).read(file).content ?? null), path);
            }
            for (const { error, code } of answers) {
              if (error !== undefined) assert.ok(["unavailable", "conflict"].includes(code), error);
            }
          }
        }
        assert.ok(errors > 0 && losses > 0, `${errors} errors, ${losses} losses`);
      });
    }
  }
});

describe("a volume that fails", () => {
  // What throws leaves a part of the stack behind.
  const other = instance();
  const refuse = () => {
    throw { code: "unavailable", message: "the disk is away" };
  };
  for (const method of ["put", "get", "list", "stat"]) {
    test(`${method} refuses: a change that cannot be noted is not made`, () => {
      const { volume, base, files, world } = told({}, other);
      // Of writes only that of the note.
      volume[method] = function (path, ...rest) {
        const isOther = method === "put" && !path.includes("/log/");
        return isOther ? MapVolume.prototype.put.call(this, path, ...rest) : refuse();
      };
      const answer = files.write("/new.txt", "new");
      const isThere = new Protocol(base).read("/new.txt").content === "new";
      delete volume[method];
      assert.equal(isThere, answer.error === undefined, method);
      if (method === "put") assert.equal(answer.code, "unavailable");
      if (isThere) assert.equal(world.log("/new.txt", 1)[0].operation, "write");
      assert.deepEqual(files.write("/newer.txt", "new"), { path: "/newer.txt" });
    });

    test(`${method} throws: the call ends, and the next ones go on`, () => {
      const { volume, base, files, world } = told({}, other);
      for (let at = 0; at < 12; at++) {
        const was = volume[method];
        let left = at;
        volume[method] = function (...given) {
          if (left-- === 0) throw new Error("boom");
          return was.apply(this, given);
        };
        for (const call of [
          () => files.append("/a.txt", "x"),
          () => world.pin(),
          () => world.log("/", 9),
        ]) {
          try {
            call();
          } catch (thrown) {
            assert.match(String(thrown), /boom/);
          }
        }
        delete volume[method];
      }
      assert.deepEqual(files.write("/b.txt", "b"), { path: "/b.txt" });
      const kept = world.log("/a.txt", 100);
      assert.ok(kept.length > 2);
      const { pin } = world.pin();
      assert.equal(new Protocol(world.openPin(pin)).read("/b.txt").content, "b");
      assert.deepEqual(world.verify(pin).lost, []);
      assert.equal(new Protocol(base).read("/b.txt").content, "b");
    });
  }
});

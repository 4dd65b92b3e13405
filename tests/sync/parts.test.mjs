// Trees of many files that were written long ago: only the parts of what was agreed on are read of which a
// side lists something else, and every change is found, wherever it is.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { roomOf } from "../lib/room.mjs";
import { contents, kitbag, sync } from "./lib.mjs";

const { StateBackend } = kitbag;
const FILES = 3_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 61_000;

const realNow = Date.now;
let ahead = 0;
/** What was written within the last minute is read by each run. */
const passes = () => {
  ahead += MINUTE_MS;
};
let own;
before(async () => {
  own = await roomOf(kitbag);
  Date.now = () => realNow() + ahead;
});
after(() => {
  Date.now = realNow;
});

const pathOf = (file) => `/d${file % 30}/f${file}.txt`;

/** Two trees with the same old files, and a run that is long past. */
async function settled() {
  const at = new Date(Date.now() - HOUR_MS).toISOString();
  const files = {};
  for (let file = 0; file < FILES; file++) {
    files[pathOf(file)] = { content: `text ${file}\n`, created_at: at, modified_at: at };
  }
  const kept = new StateBackend({ files: {} });
  const [a, b] = [new StateBackend({ files }), new StateBackend({ files })];
  const run = async () => {
    const done = await sync(a, b, { keepIn: { backend: kept, path: "/kept" } });
    assert.equal(done.error, undefined);
    assert.deepEqual(done.refused, []);
    return done;
  };
  const parts = async () => {
    const { files: infos, error } = await kept.glob("**/parts/*", own("/kept/.kitbag"));
    assert.equal(error, undefined);
    return infos.map(({ path }) => path);
  };
  assert.equal((await run()).stats.read, 2 * FILES);
  return { a, b, kept, run, parts };
}

test("parts of which nothing was changed are not read, and a lost one costs its own files", async () => {
  const { a, b, kept, run, parts } = await settled();
  const all = await parts();
  assert.ok(all.length > 6, `${all.length}`);
  assert.equal((await run()).stats.read, 0);
  for (const path of all) assert.equal((await kept.delete(own(path))).error, undefined);
  const idle = await run();
  assert.deepEqual([idle.stats.read, idle.changed, idle.risks], [0, [], []]);
  await a.write("/d7/new.txt", "new");
  const done = await run();
  assert.match(done.risks.join(), /lost or damaged/);
  assert.deepEqual(
    done.changed.map(({ side, path, what }) => `${side} ${path} ${what}`),
    ["b /d7/new.txt created"],
  );
  assert.ok(done.stats.read > 100 && done.stats.read < FILES, `${done.stats.read}`);
  assert.deepEqual(await contents(b), await contents(a));
});

test("every change of either side is found, in whichever part", async () => {
  const { a, b, run } = await settled();
  const wanted = new Map(Object.entries(await contents(a)));
  const names = [...wanted.keys()];
  const ends = [names[0], names.at(-1)];
  let state = 7;
  const random = (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let round = 0; round < 12; round++) {
    passes();
    const touched = new Set();
    const pick = () => {
      const all = [...wanted.keys()];
      const free = (path) => wanted.has(path) && !touched.has(path);
      let path = ends.find(free);
      if (round % 3 > 0 || path === undefined) {
        do path = all[random(all.length)];
        while (!free(path));
      }
      touched.add(path);
      return path;
    };
    const moves = [];
    for (let act = 0; act < 12; act++) {
      const side = act % 2 ? a : b;
      const good = ({ error }) => assert.equal(error, undefined);
      if (act < 4) {
        const path = pick();
        const text = `${wanted.get(path).slice(0, 4)}${round}${act}\n`;
        good(await side.edit(path, wanted.get(path), text));
        wanted.set(path, text);
      } else if (act < 6) {
        const path = pick();
        good(await side.delete(path));
        wanted.delete(path);
      } else if (act < 8) {
        const path = `/${"adz"[random(3)]}${random(40)}/new ${round} ${act}.txt`;
        good(await side.write(path, `new ${round} ${act}`));
        wanted.set(path, `new ${round} ${act}`);
        touched.add(path);
      } else if (act < 10) {
        const [from, to] = [pick(), `/${"bdy"[random(3)]}${random(40)}/moved ${round} ${act}.txt`];
        good(await side.move(from, to));
        wanted.set(to, wanted.get(from));
        wanted.delete(from);
        touched.add(to);
        moves.push(to);
      } else {
        // Deleted and created again, with another text of the same size.
        const path = pick();
        const text = wanted.get(path).replace(/^./, (one) => (one === "x" ? "y" : "x"));
        good(await side.delete(path));
        good(await side.write(path, text));
        wanted.set(path, text);
      }
    }
    const done = await run();
    assert.deepEqual(done.conflicts, []);
    assert.equal(done.changed.length, 12, `round ${round}`);
    const moved = done.changed.filter(({ what }) => what === "moved").map(({ path }) => path);
    assert.deepEqual(moved, moves.sort());
    const expected = Object.fromEntries(wanted);
    assert.deepEqual(await contents(a), expected, `round ${round}`);
    assert.deepEqual(await contents(b), expected, `round ${round}`);
    assert.ok(done.stats.read < FILES / 10, `${done.stats.read}`);
    // What was changed within the minute is changed again, with the same size.
    const path = pick();
    const text = wanted.get(path);
    for (const one of ["p", "q"]) {
      const next = `${one}${text.slice(1)}`;
      assert.equal((await a.edit(path, wanted.get(path), next)).error, undefined);
      wanted.set(path, next);
      assert.equal((await run()).changed.length, 1);
      assert.equal((await b.read(path)).content, next);
    }
    assert.deepEqual((await run()).changed, []);
  }
});

// Branches against a naive model: random edits of a tree and of branches of it, merges, rebases and restarts.
// The model knows three-way merges of lists of lines that are all different, and nothing of kitbag.
// KITBAG_SEEDS says how many.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fork, merge, withHistory } from "../../pkg/dist/history.js";
import * as kitbag from "../lib/kitbag.mjs";

const { StateBackend } = kitbag;
const SEEDS = Number(process.env.KITBAG_SEEDS ?? 2000);
const PATHS = ["/a", "/b", "/d/c", "/d/e"];
const STEPS = 14;

function random(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (below) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

// ── The model ────────────────────────────────────────────────────────────────────────────────────

/** Where a list differs from what it was: lines of both are in the same order, and each is there once. */
function pieces(before, after) {
  const found = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      i++;
      j++;
      continue;
    }
    const [from, start] = [i, j];
    while (i < before.length && !after.includes(before[i])) i++;
    while (j < after.length && !before.includes(after[j])) j++;
    found.push({ from, to: i, lines: after.slice(start, j) });
  }
  return found;
}

/** Both changes; undefined if they touch each other. */
function threeWay(before, now, ours) {
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  if (same(ours, now) || same(ours, before)) return { content: now };
  if (same(before, now)) return { content: ours };
  if (before === null || now === null || ours === null) return undefined;
  const [mine, theirs] = [pieces(before, ours), pieces(before, now)];
  const all = [...mine];
  for (const piece of theirs) {
    const near = mine.filter((one) => one.from <= piece.to && piece.from <= one.to);
    if (near.length === 0) all.push(piece);
    else if (near.length > 1 || !same(near[0], piece)) return undefined;
  }
  // One of mine may touch several of theirs.
  for (const piece of mine) {
    if (theirs.filter((one) => one.from <= piece.to && piece.from <= one.to).length > 1)
      return undefined;
  }
  const merged = [];
  let at = 0;
  for (const { from, to, lines } of all.sort((a, b) => a.from - b.from || a.to - b.to)) {
    merged.push(...before.slice(at, from), ...lines);
    at = to;
  }
  return { content: [...merged, ...before.slice(at)] };
}

class ModelBranch {
  /** What it changes: for each path what was there, and what is there. */
  own = new Map();

  constructor(tree, isPinned) {
    this.tree = tree;
    this.isPinned = isPinned;
    this.pin = isPinned ? new Map(tree) : undefined;
  }

  below(path) {
    return (this.pin ?? this.tree).get(path) ?? null;
  }

  get(path) {
    return this.own.has(path) ? this.own.get(path).ours : this.below(path);
  }

  set(path, ours) {
    const before = this.own.has(path) ? this.own.get(path).before : this.below(path);
    this.own.set(path, { before, ours });
  }

  merge(choice) {
    const conflicts = [];
    for (const [path, one] of this.own) {
      const { before, ours } = one;
      if (JSON.stringify(before) === JSON.stringify(ours)) continue;
      const now = this.tree.get(path) ?? null;
      let result = threeWay(before, now, ours);
      if (!result) {
        conflicts.push(path);
        if (choice === "leave") continue;
        const edit = ours ?? now;
        result = {
          content: now === null || ours === null ? edit : choice === "branch" ? ours : now,
        };
      }
      if (result.content === null) this.tree.delete(path);
      else this.tree.set(path, result.content);
      one.before = ours;
    }
    return conflicts.sort();
  }

  rebase() {
    if (this.isPinned) this.pin = new Map(this.tree);
    const conflicts = [];
    for (const [path, one] of [...this.own]) {
      const { before, ours } = one;
      const now = this.below(path);
      const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
      if (same(before, now)) continue;
      const result = threeWay(before, now, ours);
      if (!result) conflicts.push(path);
      else if (same(result.content, now)) this.own.delete(path);
      else this.own.set(path, { before: now, ours: result.content });
    }
    return conflicts.sort();
  }
}

// ── The same with kitbag ─────────────────────────────────────────────────────────────────────────

const bytes = (lines) => new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
const linesOf = (content) => {
  if (!content) return null;
  const text = new TextDecoder().decode(content);
  return text === "" ? [] : text.slice(0, -1).split("\n");
};

async function tree(backend) {
  const found = await backend.downloadFiles(PATHS);
  return found.map(({ content }) => linesOf(content));
}

async function store(backend, path, lines) {
  if (lines === null) {
    assert.equal((await backend.delete(path)).error, undefined);
    return;
  }
  const [{ error }] = await backend.uploadFiles([[path, bytes(lines)]]);
  assert.equal(error ?? null, null);
}

async function run(seed) {
  const next = random(seed);
  let made = 0;
  const line = () => `${seed}.${made++}`;
  const model = new Map();
  const files = new StateBackend({ files: {} });
  for (const path of PATHS.slice(0, 3)) {
    const lines = Array.from({ length: 6 }, line);
    model.set(path, lines);
    await store(files, path, lines);
  }
  const isPinned = seed % 4 === 0;
  const notes = new StateBackend({ files: {} });
  const main = isPinned ? withHistory(files, { keepIn: { backend: notes } }) : files;
  const open = async (name) => {
    const { branch, error } = await fork(main, { name, keepIn: { backend: notes } });
    assert.equal(error, undefined);
    return branch;
  };
  const names = ["x", "y", "z"];
  const branches = [];
  for (const name of names) {
    branches.push({ name, real: await open(name), model: new ModelBranch(model, isPinned) });
  }
  const edited = (lines) => {
    if (lines === null) return Array.from({ length: 1 + next(3) }, line);
    const what = next(8);
    if (what === 0) return null;
    const at = next(lines.length + 1);
    const count = what < 3 ? 0 : Math.min(1 + next(2), lines.length - at);
    const fresh = what < 6 ? Array.from({ length: 1 + next(2) }, line) : [];
    return [...lines.slice(0, at), ...fresh, ...lines.slice(at + count)];
  };
  const log = [];
  for (let step = 0; step < STEPS; step++) {
    const one = branches[next(branches.length)];
    const path = PATHS[next(PATHS.length)];
    const what = next(10);
    if (what < 4) {
      const lines = edited(one.model.get(path));
      log.push(`${one.name} ${path} ${lines}`);
      if (JSON.stringify(lines) !== JSON.stringify(one.model.get(path))) {
        one.model.set(path, lines);
        await store(one.real, path, lines);
      }
    } else if (what < 6) {
      const lines = edited(model.get(path) ?? null);
      log.push(`main ${path} ${lines}`);
      if (lines === null) model.delete(path);
      else model.set(path, lines);
      await store(main, path, lines);
    } else if (what < 8) {
      const onConflict = ["leave", "branch", "into"][next(3)];
      log.push(`merge ${one.name} ${onConflict}`);
      const done = await merge(one.real, { into: main, onConflict });
      assert.equal(done.error, undefined, log.join("\n"));
      const expected = one.model.merge(onConflict);
      assert.deepEqual(
        done.conflicts.map((conflict) => conflict.path).sort(),
        expected,
        log.join("\n"),
      );
    } else if (what < 9) {
      log.push(`rebase ${one.name}`);
      const done = await one.real.rebase();
      assert.equal(done.error, undefined, log.join("\n"));
      const found = done.conflicts.map((conflict) => conflict.path).sort();
      assert.deepEqual(found, one.model.rebase(), log.join("\n"));
    } else {
      log.push(`restart ${one.name}`);
      one.real = await open(one.name);
    }
    const shown = (map) => PATHS.map((at) => map.get(at) ?? null);
    assert.deepEqual(await tree(files), shown(model), log.join("\n"));
    for (const { name, real, model: of } of branches) {
      assert.deepEqual(await tree(real), shown(of), `${name}:\n${log.join("\n")}`);
    }
  }
}

const PARTS = 4;
for (let part = 0; part < PARTS; part++) {
  test(`random histories are those of the model, part ${part + 1} of ${PARTS}`, async () => {
    for (let seed = part + 1; seed <= SEEDS; seed += PARTS) {
      await run(seed).catch((error) => {
        error.message = `seed ${seed}: ${error.message}`;
        throw error;
      });
    }
  });
}

// Ways to sync two trees in memory: kitbag, a loop in which the last writer wins, and a cloud drive's rule of
// copies. A way opens two trees with `read`, `write`, `remove`, `move` and `texts`; `sync` returns how many
// conflicts a person must settle, and how many copies were made.

import assert from "node:assert/strict";
import { kept, kitbag, sync } from "../lib.mjs";

const bytes = (text) => new TextEncoder().encode(text);

/** A tree of kitbag. */
export function ofBackend(backend) {
  const good = ({ error }) => assert.equal(error ?? undefined, undefined);
  const read = async (path) => {
    const [{ content }] = await backend.downloadFiles([path]);
    return content ? Buffer.from(content).toString() : undefined;
  };
  return {
    read,
    write: async (path, text) => good((await backend.uploadFiles([[path, bytes(text)]]))[0]),
    remove: async (path) => good(await backend.delete(path)),
    move: async (from, to) => good(await backend.move(from, to)),
    texts: async () => {
      const { files } = await backend.glob("**", "/");
      return Promise.all(files.map(({ path }) => read(path)));
    },
  };
}

export function ofKitbag(options = {}) {
  const [a, b] = [1, 2].map(() => new kitbag.StateBackend({ files: {} }));
  return {
    trees: [ofBackend(a), ofBackend(b)],
    async sync() {
      const { error, refused, conflicts } = await sync(a, b, { ...kept(a), ...options });
      assert.deepEqual([error, refused], [undefined, []]);
      return { conflicts: conflicts.length, copies: conflicts.filter(({ copy }) => copy).length };
    },
    close() {},
  };
}

/** A tree of files with the times at which they were written, by a clock that is right on both sides. */
function timed(clock) {
  const files = new Map();
  const write = (path, text) => void files.set(path, { text, time: ++clock.now });
  return {
    files,
    read: (path) => files.get(path)?.text,
    write,
    remove: (path) => void files.delete(path),
    move(from, to) {
      const { text } = files.get(from);
      files.delete(from);
      write(to, text);
    },
    texts: () => [...files.values()].map(({ text }) => text),
  };
}

/** Two such trees; `settle` syncs them: it gets the trees and what both had after the last time. */
function inMemory(settle) {
  const clock = { now: 0 };
  const trees = [timed(clock), timed(clock)];
  let agreed = new Map();
  return {
    trees,
    sync() {
      const done = settle(trees[0].files, trees[1].files, agreed);
      assert.deepEqual(trees[0].texts().sort(), trees[1].texts().sort());
      agreed = new Map(trees[1].files);
      return done;
    },
    close() {},
  };
}

const union = (...maps) => new Set(maps.flatMap((map) => [...map.keys()]));

/** The newer file wins. What was there after the last run and is missing on a side was deleted. */
export function ofLastWriter() {
  return inMemory((a, b, agreed) => {
    for (const path of union(a, b)) {
      const [one, other] = [a.get(path), b.get(path)];
      if (one && other) {
        const newer = one.time > other.time ? one : other;
        a.set(path, newer);
        b.set(path, newer);
      } else if (agreed.has(path)) {
        a.delete(path);
        b.delete(path);
      } else {
        a.set(path, one ?? other);
        b.set(path, one ?? other);
      }
    }
    return { conflicts: 0, copies: 0 };
  });
}

/** A name beside a file that no file has. */
function beside(path, ...trees) {
  const dot = path.lastIndexOf(".");
  for (let number = 1; ; number++) {
    const name = `${path.slice(0, dot)} (conflicted copy ${number})${path.slice(dot)}`;
    if (!trees.some((tree) => tree.has(name))) return name;
  }
}

/**
 * Whole files. If both sides changed one, the server's keeps its name, and the device's becomes a copy; a
 * file that one side edited and the other one deleted is there again.
 */
export function ofDrive() {
  return inMemory((device, server, agreed) => {
    let copies = 0;
    for (const path of union(device, server, agreed)) {
      const [mine, theirs, base] = [device, server, agreed].map((tree) => tree.get(path)?.text);
      if (mine === theirs) continue;
      if (mine !== undefined && theirs !== undefined && mine !== base && theirs !== base) {
        const copy = beside(path, device, server);
        for (const tree of [device, server]) tree.set(copy, device.get(path));
        copies++;
      }
      const [from, to] =
        mine === base || (theirs !== undefined && theirs !== base)
          ? [server, device]
          : [device, server];
      if (from.has(path)) to.set(path, from.get(path));
      else to.delete(path);
    }
    return { conflicts: copies, copies };
  });
}

// The same random histories for several ways of syncing: what each loses, and what it leaves to a person.

import { act, history, marksIn } from "./people.mjs";

/** One history: `{ edits, lost, conflicts, copies }`. */
async function lived(seed, open) {
  const way = await open();
  try {
    const sum = { edits: 0, lost: 0, conflicts: 0, copies: 0 };
    const live = new Set();
    const synced = async () => {
      const { conflicts, copies } = await way.sync();
      sum.conflicts += conflicts;
      sum.copies += copies;
    };
    for (const steps of history(seed)) {
      for (const step of steps) await act(way.trees[step.side], step, live);
      await synced();
    }
    await synced();
    const texts = await Promise.all(way.trees.map((tree) => tree.texts()));
    const there = new Set(texts.flat().flatMap(marksIn));
    sum.edits = live.size;
    sum.lost = [...live].filter((mark) => !there.has(mark)).length;
    return sum;
  } finally {
    way.close();
  }
}

/** So many histories in one way, from a seed on. */
export async function sums(open, count, from = 1) {
  const sum = { edits: 0, lost: 0, conflicts: 0, copies: 0 };
  for (let seed = from; seed < from + count; seed++) {
    const one = await lived(seed, open);
    for (const name of Object.keys(sum)) sum[name] += one[name];
  }
  return sum;
}

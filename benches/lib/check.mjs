// What `--check` compares: ratios of one run with the committed ones.

/** A figure may fall to this part of the committed one. */
const KEPT = 0.75;

/** A line for each figure that has lost a quarter of the committed one, or was not measured. */
export function losses(before, now) {
  return Object.entries(before).flatMap(([name, was]) => {
    const is = now?.[name];
    if (is >= was * KEPT) return [];
    return [`${name}: ${is === undefined ? "not measured" : is.toPrecision(3)}, committed ${was}`];
  });
}

/** All that two records have; of what both have, `choose` decides. */
export function merged(one, other, choose) {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const of = (name) => choose(one[name] ?? other[name], other[name] ?? one[name]);
  return Object.fromEntries([...names].map((name) => [name, of(name)]));
}

/** The better one of each figure of two runs: what else the machine does is not what is measured. */
export const better = (one, other) => merged(one, other, Math.max);

/** The worse one of each, to be committed: what other libraries take varies by twice in some rows. */
export const worse = (one, other) => merged(one, other, Math.min);

/** Figures as they are committed. */
export function rounded(figures) {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(3))]),
  );
}

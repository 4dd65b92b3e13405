// Times two contenders alternately in one process, and prints the results as a table.

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

function time(run) {
  const start = performance.now();
  const answer = run();
  if (answer instanceof Promise) return answer.then(() => performance.now() - start);
  return performance.now() - start;
}

/** Medians of `peer` and `ours`, run alternately `rounds` times after warm-up rounds. */
export async function compare(peer, ours, rounds = 9, before = 3) {
  const times = { peer: [], ours: [] };
  for (let round = -before; round < rounds; round++) {
    const peerTime = await time(peer);
    const oursTime = await time(ours);
    if (round < 0) continue;
    times.peer.push(peerTime);
    times.ours.push(oursTime);
  }
  return { peer: median(times.peer), ours: median(times.ours) };
}

const digits = (value) => (value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 4);
const shown = (value) => value.toFixed(digits(value));

/**
 * A table with a ratio and a goal in each row. Where the machine's own time for the same bytes is known
 * (`native`), the share of it is there as well.
 */
export class Table {
  #rows = [];
  #peer;

  constructor(peer) {
    this.#peer = peer;
  }

  add(name, { peer, ours }, goal, native) {
    this.#rows.push({ name, peer, ours, ratio: peer / ours, goal, share: native && native / ours });
  }

  /**
   * The figures that `--check` compares: ratios, by the name without what depends on the corpus. Shares
   * are no such figures: the native program is another process, at another moment.
   */
  figures() {
    const of = ({ name }) => name.replace(/(: \w+)? \(.*\)$/, "").replace(/^ls .*/, "ls");
    return Object.fromEntries(this.#rows.map((row) => [of(row), row.ratio]));
  }

  /** Name, times, goal and share of each row. */
  rows() {
    return this.#rows;
  }

  print(print) {
    print(`| operation | ${this.#peer} ms | kitbag ms | ratio | goal | share of memmem |`);
    print("|---|---:|---:|---:|---:|---:|");
    for (const { name, peer, ours, ratio, goal, share } of this.#rows) {
      const mark = goal === undefined ? "" : ratio >= goal ? `≥ ${goal}` : `≥ ${goal} (under)`;
      const met = share >= 1 ? "≥ 1" : "≥ 1 (under)";
      const part = share === undefined ? "" : `${share.toFixed(2)}, ${met}`;
      print(`| ${name} | ${shown(peer)} | ${shown(ours)} | ${shown(ratio)} | ${mark} | ${part} |`);
    }
  }
}

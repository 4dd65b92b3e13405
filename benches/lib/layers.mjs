// What a rule and a mount add to calls of one storage. It runs in Node and in pages, so it is
// given kitbag and the storage, and imports nothing.

const FILES = 1_000;
const LINES = 100;

/** The files: every line of every one holds "common", twenty of all hold "rareword". */
export function* files() {
  for (let file = 0; file < FILES; file++) {
    let text = "";
    for (let line = 0; line < LINES; line++) {
      const rare = file % 50 === 0 && line === 7 ? "rareword " : "";
      text += `${line} ${rare}some words that are common in ${file}\n`;
    }
    yield [`/d${file % 20}/f${file}.txt`, text];
  }
}

/** Stores the files in a backend. */
export async function fill(backend) {
  const encoder = new TextEncoder();
  const batch = [...files()].map(([path, text]) => [path, encoder.encode(text)]);
  const failed = (await backend.uploadFiles(batch)).find(({ error }) => error !== null);
  if (failed) throw new Error(failed.message);
}

/**
 * The backend alone, the same once more (what that adds is noise), with a rule, behind a mount, and
 * with both: each with where its files are.
 */
function ways({ CompositeBackend, StateBackend, withPolicy }, bare) {
  const permissions = [{ operations: ["read", "write"], paths: ["/never/**"], mode: "deny" }];
  const mount = new CompositeBackend(new StateBackend(), { "/mount/": bare });
  return {
    bare: [bare, ""],
    "the same again": [bare, ""],
    "one rule": [withPolicy(bare, { permissions }), ""],
    "a mount": [mount, "/mount"],
    both: [withPolicy(mount, { permissions }), "/mount"],
  };
}

async function timed(call) {
  const began = performance.now();
  await call();
  return performance.now() - began;
}

/** The value below which this part of the numbers lies. */
function quantile(numbers, part) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * part)];
}

/** The numbers below `count` in random order. */
function shuffled(count) {
  const numbers = [...Array(count).keys()];
  for (let end = count - 1; end > 0; end--) {
    const other = Math.floor(Math.random() * (end + 1));
    [numbers[end], numbers[other]] = [numbers[other], numbers[end]];
  }
  return numbers;
}

/**
 * Runs the calls in turn. Of each: its time, undisturbed as a rule (the lower quartile), and what it
 * took more than the first one in the same round (the median, and `noise`, half of the interval in
 * which the median lies with a confidence of 95 %), which a machine that is slower for a while does
 * not change. All are divided by `per`. With `clean` memory is cleared before each call,
 * where the host has a way to that: what one left behind would be cleared in another's time.
 */
export async function inTurn(calls, rounds, { per = 1, clean = false } = {}) {
  const times = calls.map(() => []);
  for (let round = 0; round < rounds + 2; round++) {
    // In a new order each time, so that each is behind each of the others as often.
    for (const which of shuffled(calls.length)) {
      if (clean) globalThis.gc?.();
      const took = (await timed(calls[which])) / per;
      // The first rounds warm the compilers up.
      if (round >= 2) times[which].push(took);
    }
  }
  // As many of the differences lie beside their median as coins that were thrown beside heads.
  const spread = Math.min(0.98 / Math.sqrt(rounds), 0.49);
  return times.map((all) => {
    const differences = all.map((took, round) => took - times[0][round]);
    return {
      time: quantile(all, 1 / 4),
      added: quantile(differences, 1 / 2),
      noise: (quantile(differences, 1 / 2 + spread) - quantile(differences, 1 / 2 - spread)) / 2,
    };
  });
}

/** Times of a read, and of a grep with 20 and with 100,000 matches, in milliseconds, by way. */
export async function measure(kitbag, bare, { rounds }) {
  const all = ways(kitbag, bare);
  const backends = Object.values(all);
  const reading = backends.map(
    ([backend, at]) =>
      () =>
        backend.read(`${at}/d7/f7.txt`),
  );
  const grepping = (pattern, count) =>
    backends.map(([backend, at]) => async () => {
      const { error, matches } = await backend.grep(pattern, at || "/");
      if (error || matches.length !== count) throw new Error(error ?? `${matches.length} matches`);
    });
  const read = await inTurn(reading, rounds.read);
  const clean = true;
  const few = await inTurn(grepping("rareword", FILES / 50), rounds.few, { clean });
  const many = await inTurn(grepping("common", FILES * LINES), rounds.many, { clean });
  return Object.keys(all).map((way, at) => ({
    way,
    read: read[at],
    few: few[at],
    many: many[at],
  }));
}

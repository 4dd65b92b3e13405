// Random histories of files with a search index, on any host and any store: what a search with the
// index finds is compared with what the same store's scan finds. Files are changed through the index
// and past it, by two writers, and files of the index are lost, cut short and exchanged.

import { roomOf } from "./room.mjs";

const WORDS = [
  ...["retry", "Retry_Budget", "budget", "\u212aelvin", "kelvin", "σοφία", "ΣΟΦΊΑ", "STRASSE"],
  ...["fn main() {", "}", "the end", "İstanbul", "istanbul", "日本語", "ab", "\t", "0123456789"],
];
const NAMES = ["/a.ts", "/b.md", "/src/c.ts", "/src/deep/d.rs", "/src/e.txt"];
/** Pattern and options. */
export const QUERIES = [
  ...["retry", "Retry_Budget", "日本", "ab", "", "nowhere at all"].map((text) => [text, {}]),
  ...["kelvin", "σοφία", "retry_budget", "istanbul"].map((text) => [text, { ignoreCase: true }]),
  ["retry|budget", { regex: true }],
  ["^fn \\w+", { regex: true }],
  ["kelvin", { regex: true, ignoreCase: true }],
  ["[0-9]{5,}|the end", { regex: true, before: 1 }],
];

/** A small generator of whole numbers below a limit, the same for the same seed. */
export function dice(seed) {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

/** One change of the files, or of the index, whose paths `own` makes. */
export async function change(roll, own, plain, writers) {
  const pick = (from) => from[roll(from.length)];
  const through = pick([plain, ...writers]);
  const bytes = (text) => new TextEncoder().encode(text);
  switch (roll(9)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const lines = Array.from({ length: roll(6) }, () => pick(WORDS) + pick(["\n", " ", "\n"]));
      return through.uploadFiles([[pick(NAMES), bytes(lines.join(""))]]);
    }
    case 4:
      return through.edit(pick(NAMES), "budget", "kelvin", true);
    case 5:
      return through.delete(pick(NAMES));
    case 6: {
      const { files } = await plain.ls(own("/.index/.kitbag"));
      if (files.length === 0) return undefined;
      const [victim, other] = [own(pick(files).path), own(pick(files).path)];
      const [{ content }] = await plain.downloadFiles([victim]);
      if (roll(3) === 0) return plain.delete(victim);
      if (roll(2) === 0) {
        return plain.uploadFiles([[victim, content.slice(0, roll(content.length + 1))]]);
      }
      return plain.uploadFiles([[other, content]]);
    }
    case 7:
      return Promise.all([...writers, writers[0]].map((writer) => writer.updateIndex()));
    default:
      return pick(writers).updateIndex();
  }
}

const shown = ({ matches, error }, hide) =>
  JSON.stringify(error ?? matches.filter(({ path }) => !hide || !path.startsWith("/.index/")));

/**
 * Runs `seeds` histories of `steps` changes, each in a store of its own: `make()` resolves to an
 * empty one. Resolves to what differed, and how many searches were made, files excluded and segments
 * merged.
 */
export async function histories(kitbag, make, { seeds, steps = 10, first = 1 }) {
  const { withIndex } = kitbag;
  const own = await roomOf(kitbag);
  const seen = { failures: [], searches: 0, excluded: 0, merged: 0 };
  for (let seed = first; seed < first + seeds; seed++) {
    const roll = dice(seed);
    const plain = await make();
    const open = () => withIndex(plain, { keepIn: { path: "/.index/" } });
    const writers = [open(), open()];
    for (let step = 0; step < steps; step++) {
      await change(roll, own, plain, writers);
      const [pattern, options] = QUERIES[roll(QUERIES.length)];
      const reader = [open(), ...writers][roll(3)];
      const glob = roll(3) === 0 ? "*.ts" : null;
      const found = await reader.grep(pattern, "/", glob, { ...options, stats: true });
      const scan = await plain.grep(pattern, "/", glob, null, options);
      seen.searches += 1;
      seen.excluded += found.stats?.indexed ?? 0;
      if (shown(found) !== shown(scan, true)) {
        seen.failures.push(
          `seed ${seed}, step ${step}, ${pattern}: ${shown(found)} ${shown(scan)}`,
        );
      }
    }
    const { merged = 0, error, code } = await open().updateIndex();
    if (error && code !== "conflict") seen.failures.push(`seed ${seed}, an update: ${error}`);
    seen.merged += merged;
  }
  return seen;
}

// The conformance suite over chunks, on any host. Each run needs a new instance of the package, since
// a chunk stays loaded.

import { CHUNKS, names } from "./subjects.mjs";

/** A test that hangs fails by its name, before the suite's own limit ends all. In milliseconds. */
export const LIMIT = { timeout: 150_000 };

/** Cases of every operation, for the short form. */
export const SHORT = [
  "what is written is read",
  "an edit replaces the only occurrence",
  "grep finds lines by path",
  "a directory is deleted with all beneath it",
  "ls shows one level in byte order",
  "create is refused",
  "glob **/*.ts in /src/deep",
  "every byte comes back",
  "no edit is lost",
];

/** Of turns over a backend, for the short form. */
const TURNS = [
  "a commit makes all changes, and undo takes them back",
  "undo is refused over newer",
];

/** The same for two chunks, one of which starts several processes for each call. */
const SHORTER = [SHORT[0], SHORT[2]];

/**
 * Commands of a sandbox are processes, and the suite `browser-conformance` runs everything over the
 * storages of a browser, so these have the short form unless `options` says otherwise. The options
 * of `grep` that kitbag adds never reach a foreign object.
 */
const LIMITS = {
  foreign: { extras: false },
  idb: { only: SHORT },
  opfs: { only: SHORT },
  sandbox: { only: SHORT },
};

async function conforms({ runConformance }, name, make, options) {
  const asked = { timeoutMs: 60_000, ...LIMITS[name], ...options };
  const { passed, failures, leftOut } = await runConformance(make, asked);
  const least = asked.only?.length ?? 80;
  if (passed < least) failures.push(`only ${passed} cases ran, without ${leftOut}`);
  return { name, passed, failures: failures.map((failure) => `${name}: ${failure}`) };
}

/** One chunk in a new instance; `{ name, passed, failures }`. */
export async function alone(name, kitbag, host, options) {
  const { begin, undo } = kitbag;
  const only = options?.only ?? LIMITS[name]?.only;
  const make = await CHUNKS[name](kitbag, host);
  // Where a command is also a request, a turn over a sandbox takes many seconds.
  if (name === "sandbox" && !host.disk) return conforms(host, name, make, { only });
  // The cases of turns come last: before them, the chunk is alone.
  const turns = { turns: { begin, undo }, ...(only && { only: [...only, ...TURNS] }) };
  return conforms(host, name, make, { ...options, ...turns });
}

/** Two chunks in a new instance, the first one also before the second was loaded. */
export async function pair(one, other, kitbag, host) {
  const cases = one === "sandbox" || other === "sandbox" ? SHORTER : SHORT;
  const short = (name, make, only = cases) => conforms(host, name, make, { only });
  const first = await CHUNKS[one](kitbag, host);
  const before = await short(one, first, SHORT.slice(0, 1));
  const second = await CHUNKS[other](kitbag, host);
  const both = [short(one, first), short(other, second)];
  return [before, ...(await Promise.all(both))];
}

/** All chunks in a new instance: loaded in this order, then all of them at the same time. */
export async function together(kitbag, host, order = names) {
  const makes = [];
  for (const name of order) makes.push([name, await CHUNKS[name](kitbag, host)]);
  return Promise.all(makes.map(([name, make]) => conforms(host, name, make)));
}

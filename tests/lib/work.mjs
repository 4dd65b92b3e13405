// How much work a call is. The time of the processor is measured, because the machine may be busy with
// others; what they take from its caches is measured too, by a loop whose time is known.

/** Seconds that the loop takes on an idle machine. */
const LOOP = 0.015;

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** How many times slower than an idle machine this one is now. */
export function slowness() {
  const table = new Uint32Array(1 << 20);
  const before = cpu();
  let at = 1;
  for (let n = 0; n < 5_000_000; n++) {
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) >>> 0;
    table[at >>> 12] += 1;
  }
  return Math.max(1, (cpu() - before) / LOOP);
}

/** The seconds of work of a call. */
export async function work(call) {
  const times = slowness();
  const before = cpu();
  await call();
  return (cpu() - before) / Math.max(times, slowness());
}

/**
 * What is measured until it is at most `most`, a few times: the first may have collected another's garbage,
 * compiled code, or had a busy moment of the machine. What truly takes longer does so each time.
 */
export async function measured(most, measure, times = 5) {
  const seen = [];
  while (seen.length < times && !(seen.at(-1) <= most)) seen.push(await measure());
  return seen;
}

/** Those of several calls, by name, that are more than `most` seconds of work each time. */
export async function slow(calls, most, of) {
  const found = [];
  for (const [name, call] of Object.entries(calls)) {
    const seen = await measured(most, () => work(call));
    const text = seen.map((seconds) => seconds.toFixed(3)).join(", ");
    if (process.env.KITBAG_SHOW) console.log(`${of}: ${name}: ${text} s`);
    if (!(seen.at(-1) <= most)) found.push(`${name}: ${text} s`);
  }
  return found;
}

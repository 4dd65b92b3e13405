// The longest time in which a call lets nothing else happen.

import { PerformanceObserver } from "node:perf_hooks";
import { slowness } from "./work.mjs";

/** A frame of a page, in milliseconds. */
export const FRAME = 16;

/** Time, and time of processors, in milliseconds. */
function clocks() {
  const { user, system } = process.cpuUsage();
  return [performance.now(), (user + system) / 1000];
}

/**
 * What passed between two looks at the clocks. Of time and time of processors the lesser: the one has what
 * other processes did, the other what other threads of this one did.
 */
const passed = (from, to) => Math.min(to[0] - from[0], to[1] - from[1]);

/** A time as it would be on an idle machine. */
export async function idle(measure) {
  const before = slowness();
  const time = await measure();
  return time / Math.max(before, slowness());
}

/**
 * Runs `call` and returns its answer and the longest time in which nothing else was done, on an idle
 * machine, without what the host took to collect garbage: that depends on its heap.
 */
export async function stretches(call) {
  let answer;
  const longest = await idle(async () => {
    const seen = await looked(call);
    answer = seen.answer;
    return seen.longest;
  });
  return { answer, longest };
}

/** What ends a call before its time. */
export const ENDS = ["a signal", "a time limit"];

/**
 * How long a call goes on after it was ended so many milliseconds after its begin; `undefined` if it was over
 * before.
 */
export async function overrun(call, early, by) {
  const controller = new AbortController();
  const options = by === "a signal" ? { signal: controller.signal } : { timeoutMs: early };
  let ended;
  const answering = call(options);
  // A time limit begins with the call, so this begins behind it.
  const ending = setTimeout(() => {
    ended = clocks();
    controller.abort();
  }, early);
  const answer = await answering;
  clearTimeout(ending);
  if (answer.code !== "timeout") return undefined;
  // Its own timer may have been earlier than the one here.
  return ended === undefined ? 0 : passed(ended, clocks());
}

async function looked(call) {
  const collections = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  const seen = [];
  let done = false;
  let last = clocks();
  const look = () => {
    const now = clocks();
    seen.push([last, now]);
    last = now;
    if (!done) setImmediate(look);
  };
  const answer = call();
  look();
  const settled = await answer;
  // What the last stretch took, too, and what is told of collections.
  await new Promise(setImmediate);
  done = true;
  await new Promise((resolve) => setTimeout(resolve, 5));
  collections.push(...observer.takeRecords());
  observer.disconnect();
  const collecting = ([from], [to]) =>
    collections
      .filter(({ startTime }) => startTime >= from && startTime < to)
      .reduce((sum, { duration }) => sum + duration, 0);
  const times = seen.map(([from, to]) => passed(from, to) - collecting(from, to));
  return { answer: settled, longest: times.reduce((most, time) => Math.max(most, time), 0) };
}

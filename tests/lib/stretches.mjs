// The longest time in which a call lets nothing else happen.

/** A frame of a page, in milliseconds. */
export const FRAME = 16;

/** Time, and time of processors, in milliseconds. */
export function clocks() {
  const { user, system } = process.cpuUsage();
  return [performance.now(), (user + system) / 1000];
}

/**
 * What passed between two looks at the clocks. Of time and time of processors the lesser: the one has what
 * other processes did, the other what other threads of this one did.
 */
export const passed = (from, to) => Math.min(to[0] - from[0], to[1] - from[1]);

/** Runs `call` and returns its answer and the longest time in which nothing else was done. */
export async function stretches(call) {
  let done = false;
  let longest = 0;
  let last = clocks();
  const look = () => {
    const now = clocks();
    longest = Math.max(longest, passed(last, now));
    last = now;
    if (!done) setImmediate(look);
  };
  const answer = call();
  look();
  const settled = await answer;
  // What the last stretch took, too.
  await new Promise(setImmediate);
  done = true;
  return { answer: settled, longest };
}

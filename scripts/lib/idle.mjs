// How busy this machine's processors are, by the system's own count.

import { cpus } from "node:os";

function counted() {
  const sum = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    sum.idle += times.idle;
    sum.all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return sum;
}

/** Returns a function that gives the share of idle time since it was called last, 0 to 1. */
export function idleShare() {
  let last = counted();
  return () => {
    const now = counted();
    const all = now.all - last.all;
    const share = all > 0 ? (now.idle - last.idle) / all : 0;
    last = now;
    return share;
  };
}

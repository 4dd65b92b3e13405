// Mutual exclusion between processes: two test runs that miss the same tool must not both build it.
// A lock is a directory with its owner's process id; if the owner is gone, the lock is removed.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { cache } from "./paths.mjs";

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function take(directory) {
  try {
    mkdirSync(directory);
    writeFileSync(`${directory}/owner`, String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
}

function ownerOf(directory) {
  try {
    return Number(readFileSync(`${directory}/owner`, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

const queues = new Map();

/** Runs `work` while holding the lock `name`, exclusively in this process and all others. */
export function locked(name, work) {
  const before = queues.get(name) ?? Promise.resolve();
  const mine = before.then(() => holding(name, work));
  queues.set(
    name,
    mine.catch(() => {}),
  );
  return mine;
}

async function holding(name, work) {
  mkdirSync(cache("locks"), { recursive: true });
  const directory = cache("locks", name);
  let ownerless = 0;
  while (!take(directory)) {
    const owner = ownerOf(directory);
    // A lock without an owner was just created. After two seconds it counts as abandoned.
    ownerless = owner === undefined ? ownerless + 1 : 0;
    if (owner === undefined ? ownerless > 20 : !alive(owner)) {
      rmSync(directory, { recursive: true, force: true });
    } else await pause(100);
  }
  const release = () => rmSync(directory, { recursive: true, force: true });
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.removeListener("exit", release);
    release();
  }
}

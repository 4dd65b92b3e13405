// Kills the whole browser at random while it writes, and looks at what the next one finds on the
// same profile: a version that was acknowledged, or the one in flight, whole.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { bareChromium } from "../lib/browsers.mjs";
import { damagedLogs } from "../lib/leveldb.mjs";
import { serve } from "../lib/server.mjs";

const CALM = ["indexeddb", "opfs", "opfs-worker"];
const BUSY = ["opfs-exclusive"];
const KINDS = [...CALM, ...BUSY];
/** A kill comes so many milliseconds after every kind has kept a version, at most. */
const WINDOW = 300;
const PATIENCE = 60_000;
/**
 * Chromium appends to the logs of what it knows of databases and of files in two steps. If it is
 * killed between them, the next one goes on behind the half, and the one after that finds the log
 * damaged and drops all that was in it, or what is behind. No way is known to prevent it from a
 * page. So where a log was found damaged after a kill, and then nothing or an older version is there,
 * it is counted by itself, and is a failure only where it comes often.
 */
const OFTEN = 1 / 50;

/** `random` gives numbers from 0 to 1; a seed makes a run that can be had again, roughly. */
export async function torn({ kills, random = Math.random, pkg, log = () => {} }) {
  const failures = [];
  const nothing = () => new Map(KINDS.map((kind) => [kind, { kept: 0, begun: 0, keptNow: 0 }]));
  let state = nothing();
  let found = new Map();
  let moved = () => {};
  const server = await serve({
    pkg,
    told(path, { kind, number, is, strangers, error }) {
      const one = state.get(kind);
      if (path === "/found") found.set(kind, { is, strangers });
      else if (path === "/begun") one.begun = number;
      else if (path === "/kept") {
        one.kept = number;
        one.keptNow++;
      } else failures.push(`${kind}: ${error}`);
      moved();
    },
  });
  const profiles = [];
  const freshProfile = async () => {
    profiles.push(await mkdtemp(join(tmpdir(), "kitbag-torn-")));
    state = nothing();
    damaged = [];
  };
  const until = async (what, is) => {
    const late = AbortSignal.timeout(PATIENCE);
    while (!is()) {
      if (failures.length > 0) return;
      await new Promise((resolve, reject) => {
        moved = resolve;
        late.onabort = () => reject(new Error(`${what} took over ${PATIENCE / 1000} s`));
      });
    }
  };
  let versions = 0;
  let inFlight = 0;
  let losses = 0;
  let judged = 0;
  let damaged = [];
  try {
    await freshProfile();
    for (let round = 0; round <= kills && failures.length === 0; round++) {
      const profile = profiles.at(-1);
      found = new Map();
      for (const one of state.values()) one.keptNow = 0;
      const page = (origin, kinds) => `${origin}/pages/torn.html?round=${round}&kinds=${kinds}`;
      // It writes to IndexedDB as well, and much oftener.
      const other = page(server.otherOrigin, BUSY);
      const url = `${page(server.origin, CALM)}&other=${encodeURIComponent(other)}`;
      const browser = bareChromium({ profile, url });
      try {
        await until("finding the files", () => found.size === KINDS.length);
        const lost = [];
        for (const [kind, { is, strangers }] of found) {
          const { kept, before } = state.get(kind);
          if (!before) continue;
          // The page has not begun a new version of this round when it tells what it found,
          // but may have by now: what counts is what was begun when the last one was killed.
          const right = is === before.kept || is === before.begun;
          const older = typeof is === "number" && damaged.some((path) => isOf(kind, path));
          if (!right && older) {
            lost.push(kind);
            continue;
          }
          judged++;
          if (!right) {
            const was = `kept ${kept}, begun ${before.begun}`;
            failures.push(`${kind}, kill ${round}: found ${is}; ${was}`);
          }
          if (strangers.length > 0) failures.push(`${kind}: leftovers show: ${strangers}`);
          if (is !== before.kept) inFlight++;
        }
        if (lost.length > 0) {
          log(`kill ${round}: Chromium has lost what was in ${lost.join(" and ")}`);
          losses++;
          // What is broken stays so: the others go on in a new one.
          await freshProfile();
          continue;
        }
        if (round === kills) break;
        const all = () => [...state.values()].every((one) => one.keptNow > 0);
        await until("keeping a version", all);
        await wait(random() * WINDOW);
      } finally {
        await browser.kill();
      }
      // Words that were on their way when it died have arrived by now, or never will.
      await wait(20);
      damaged = damagedLogs(profile);
      for (const one of state.values()) {
        one.before = { kept: one.kept, begun: one.begun };
        versions += one.keptNow;
      }
    }
  } catch (error) {
    failures.push(error.message);
  } finally {
    await server.close();
    for (const profile of profiles) {
      await rm(profile, { recursive: true, force: true, maxRetries: 10 });
    }
  }
  log(`${kills} kills, ${versions} versions kept, ${inFlight} found that were in flight`);
  if (losses > Math.ceil(kills * OFTEN)) failures.push(`Chromium lost stores ${losses} times`);
  return { judged, failures };
}

/** Whether a file of the profile belongs to where stores of that kind are kept. */
function isOf(kind, path) {
  return kind === "indexeddb" ? path.includes("IndexedDB") : /File ?System/.test(path);
}

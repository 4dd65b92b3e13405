// Kills the whole browser at random while it writes, and looks at what the next one finds on the
// same profile: a version that was acknowledged, or the one in flight, whole.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { bareChromium } from "../lib/browsers.mjs";
import { tearLogs } from "../lib/leveldb.mjs";
import { serve } from "../lib/server.mjs";

const KINDS = ["indexeddb", "opfs", "opfs-worker"];
/** A kill comes so many milliseconds after every kind has kept a version, at most. */
const WINDOW = 300;
const PATIENCE = 60_000;

/**
 * With `halves`, each kill leaves half a record in the browser's logs. `crashProtection` is the
 * option of the backends.
 */
export async function torn({ kills, halves = false, crashProtection, pkg, log = () => {} }) {
  const failures = [];
  const state = new Map(KINDS.map((kind) => [kind, { kept: 0, begun: 0, keptNow: 0 }]));
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
  const profile = await mkdtemp(join(tmpdir(), "kitbag-torn-"));
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
  let tornLogs = 0;
  let judged = 0;
  try {
    for (let round = 0; round <= kills && failures.length === 0; round++) {
      found = new Map();
      for (const one of state.values()) one.keptNow = 0;
      const options = crashProtection ? "&protected" : "";
      const url = `${server.origin}/pages/torn.html?kinds=${KINDS}${options}`;
      const browser = bareChromium({ profile, url });
      try {
        await until("finding the files", () => found.size === KINDS.length);
        for (const [kind, { is, strangers }] of found) {
          const { kept, before } = state.get(kind);
          if (!before) continue;
          judged++;
          // The page has not begun a new version of this round when it tells what it found,
          // but may have by now: what counts is what was begun when the last one was killed.
          if (is !== before.kept && is !== before.begun) {
            const was = `kept ${kept}, begun ${before.begun}`;
            failures.push(`${kind}, kill ${round}: found ${is}; ${was}`);
          }
          if (strangers.length > 0) failures.push(`${kind}: leftovers show: ${strangers}`);
          if (is !== before.kept) inFlight++;
        }
        if (round === kills) break;
        const all = () => [...state.values()].every((one) => one.keptNow > 0);
        await until("keeping a version", all);
        await wait(Math.random() * WINDOW);
      } finally {
        await browser.kill();
      }
      // Words that were on their way when it died have arrived by now, or never will.
      await wait(20);
      if (halves) tornLogs += tearLogs(profile);
      for (const one of state.values()) {
        one.before = { kept: one.kept, begun: one.begun };
        versions += one.keptNow;
      }
    }
  } catch (error) {
    failures.push(error.message);
  } finally {
    await server.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
  const logs = halves ? `, ${tornLogs} logs torn` : "";
  log(`${kills} kills${logs}, ${versions} versions kept, ${inFlight} found that were in flight`);
  return { judged, failures };
}

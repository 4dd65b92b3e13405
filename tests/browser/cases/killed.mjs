// Kills Chromium as a whole at random in the midst of commits of a hundred files: whoever begins a turn on the
// same profile afterwards sees all of a commit or nothing, and no commit that was acknowledged is lost.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { bareChromium } from "../lib/browsers.mjs";
import { serve } from "../lib/server.mjs";

/**
 * Not of Firefox: killed like this (ESR, a new profile), it mostly finds nothing again of what an origin has
 * stored, also of what was written without kitbag, so there is nothing to judge.
 */
const KINDS = ["indexeddb", "opfs"];
const PATIENCE = 60_000;

/** What is wrong with what was found of one storage after a kill, if anything. */
function judged(one, found, before) {
  const { kept, begun } = before;
  if (found.failed) return `the turn failed: ${found.failed}`;
  if (kept > 0 && !found.witness) {
    return `the browser lost its whole storage, also what kitbag did not write; ${kept} was kept`;
  }
  if (found.found.length !== 1) return `a part of a commit: ${found.found.slice(0, 4)}`;
  const number = Number(found.found[0] ?? 0);
  if (number !== kept && number !== begun) return `found ${number}; kept ${kept}, begun ${begun}`;
  const often = number % 2 === 0 ? null : String(number);
  if (found.often !== often) return `/often is ${found.often} after commit ${number}`;
  if (one.kind === "indexeddb" && found.isPart) return "a part of a transaction shows";
  if (found.journals.length > 0) return `left over: ${found.journals}`;
  if (number !== kept) one.inFlight++;
  return undefined;
}

/**
 * Kills Chromium so many times. Returns what was wrong, and logs for each storage how many kills left a part
 * of a commit or a journal, and how many commits in flight were found made.
 */
export async function killed({ kills, pkg, log = () => {} }) {
  const failures = [];
  const fresh = () => ({ kept: 0, begun: 0, now: 0, ms: 0 });
  const totals = () => ({ judged: 0, commits: 0, parts: 0, journals: 0, inFlight: 0 });
  const state = new Map(KINDS.map((kind) => [kind, { kind, ...fresh(), ...totals() }]));
  let found = new Map();
  let moved = () => {};
  const server = await serve({
    pkg,
    told(path, data) {
      const one = state.get(data.kind);
      if (path === "/found") found.set(data.kind, data);
      else if (path === "/begun") one.begun = data.number;
      else if (path === "/kept") {
        Object.assign(one, { kept: data.number, ms: data.ms });
        one.now++;
      } else failures.push(data.error);
      moved();
    },
  });
  const until = async (what, is) => {
    const late = AbortSignal.timeout(PATIENCE);
    while (!is() && failures.length === 0) {
      await new Promise((resolve, reject) => {
        moved = resolve;
        late.onabort = () => reject(new Error(`${what} took over ${PATIENCE / 1000} s`));
      });
    }
  };
  const all = [...state.values()];
  const profile = await mkdtemp(join(tmpdir(), "kitbag-killed-"));
  try {
    for (let kill = 0; kill <= kills && failures.length === 0; kill++) {
      found = new Map();
      const before = new Map([...state].map(([kind, { kept, begun }]) => [kind, { kept, begun }]));
      for (const one of all) one.now = 0;
      const url = `${server.origin}/pages/killed.html?protected&kinds=${KINDS}`;
      const running = bareChromium({ profile, url });
      try {
        await until("looking at what was left", () => found.size === KINDS.length);
        for (const [kind, seen] of found) {
          const one = state.get(kind);
          if (kill > 0) {
            one.judged++;
            if (seen.isPart) one.parts++;
            if (seen.hadJournal) one.journals++;
          }
          const wrong = judged(one, seen, before.get(kind));
          if (wrong) failures.push(`${kind}, kill ${kill}: ${wrong}`);
        }
        if (kill === kills) break;
        await until("two commits of each", () => all.every(({ now }) => now > 1));
        // At any step of a commit of the slower storage.
        await wait(Math.random() * 1.5 * Math.max(...all.map(({ ms }) => ms)));
      } finally {
        await running.kill();
      }
      // What was said when it died has arrived by now, or never will.
      await wait(20);
      for (const one of all) one.commits += one.now;
    }
  } catch (error) {
    failures.push(error.message);
  } finally {
    await server.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
  for (const [kind, { judged, commits, parts, journals, inFlight, ms }] of state) {
    log(
      `${kind}: ${judged} kills, ${commits} commits; ${parts} kills left a part of a commit, ${journals} a journal, ${inFlight} commits that nobody was told of were made; the last took ${Math.round(ms)} ms`,
    );
  }
  const commits = all.every((one) => one.commits > 0);
  if (!commits && failures.length === 0) failures.push("a storage made no commit");
  return { failures };
}

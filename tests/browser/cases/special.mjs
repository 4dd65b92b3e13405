// What only a browser does to its storages, seen by a caller: refusals that say which API is
// missing, an end to every wait, old content whole when room ends, and words between tabs.

import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { inPages, launch } from "../lib/browsers.mjs";
import { together } from "../lib/together.mjs";
import { deletions, FULL, full } from "./full.mjs";

const MODULE = "/pages/special.mjs";

/** An `unavailable` whose sentence names what it must. */
function unavailable(answer, ...names) {
  strictEqual(answer.code, "unavailable", JSON.stringify(answer));
  for (const name of names) match(answer.error, name);
}

function sound(answer) {
  strictEqual(answer.error, undefined);
  return answer;
}

/** `check(name, run)` counts one test; `kinds` are the storages that this browser has. */
export async function special({ browser: name, kinds, server, check }) {
  const browser = await launch(name);
  const fresh = () => browser.page(`${server.origin}/pages/blank.html`);
  const call = inPages(fresh, MODULE);
  const test = (what, run) => check(`${name}: ${what}`, run);
  // Tests with pages and places of their own run side by side, in the end.
  const waiting = [];
  const later = (what, run) => void waiting.push(() => test(what, run));
  try {
    // One page stays, since a browser may end with its last one.
    const stays = await fresh();
    for (const kind of kinds) {
      await test(`${kind}: by default nothing is written but files`, async () => {
        for (const change of [false, true]) {
          const where = { kind, place: `special-default-${kind}`, change };
          const { databases, longNames, grown } = await call("appended", where);
          deepStrictEqual({ databases, longNames }, { databases: [], longNames: 0 });
          ok(grown < 500_000, `the databases grew by ${grown} bytes`);
        }
      });
    }
    for (const kind of kinds) {
      await test(`${kind}: a page goes on with a turn that a closed page kept`, async () => {
        const where = { kind, place: `special-kept-${kind}` };
        const names = ["task"];
        deepStrictEqual(await call("keptTurn", { ...where, from: "one", to: "1" }), {
          names,
          shown: [["/a.txt", "-one", "+1"]],
        });
        const second = { ...where, from: "1", to: "2", commits: true };
        deepStrictEqual(await call("keptTurn", second), {
          ...{ names, shown: [["/a.txt", "-one", "+2"]] },
          ...{ left: [], now: "2\n" },
        });
      });
    }
    await test("indexeddb: crashProtection renews the log, in one page at a time", async () => {
      const where = { kind: "indexeddb", place: "special-protected", crashProtection: true };
      const renewed = { databases: ["kitbag-log"], longNames: 0, left: 0 };
      for (const change of [false, true]) {
        const { grown: _, ...seen } = await call("appended", { ...where, change });
        deepStrictEqual(seen, renewed);
      }
      const { grown: _, ...first } = await stays.call(MODULE, "appended", where);
      deepStrictEqual(first, renewed);
      // `stays` holds the lock of the log now.
      const other = { ...where, place: "special-other", change: true };
      deepStrictEqual((await call("appended", other)).databases, []);
    });
    if (kinds.includes("opfs")) {
      await test("opfs: crashProtection fills the block of the log, and leaves nothing", async () => {
        const where = { kind: "opfs", place: "special-protected", crashProtection: true };
        const { grown: _, ...seen } = await call("appended", { ...where, change: true });
        deepStrictEqual(seen, { databases: [], longNames: 1, left: 0 });
      });
    }
    later("constructors name the wrong option", async () => {
      const seen = await stays.call(MODULE, "options");
      const words = [
        "database",
        "database",
        "durability",
        "namespace",
        "databse",
        "crashProtection",
        "root",
        "directory",
        "crashProtection",
      ];
      for (const [at, text] of seen.entries()) {
        match(text, new RegExp(`^TypeError: .*"${words[at]}"`));
      }
    });
    later("a missing or blocked IndexedDB is told", async () => {
      for (const answer of await call("missing", { kind: "indexeddb" })) {
        unavailable(answer, /IndexedDB/, /StateBackend/);
      }
      unavailable(await call("opaque", { kind: "indexeddb" }), /IndexedDB/, /StateBackend/);
    });
    later("a blocked open ends, and works when it is free", async () => {
      const { held, ms, free } = await call("blocked");
      unavailable(held, /could not be opened within 300 ms/);
      ok(ms < 5_000, `it took ${ms} ms`);
      sound(free);
    });
    later("a database taken by another tab is told once", async () => {
      const { first, upgraded, again } = await call("takenAway");
      sound(first);
      unavailable(upgraded, /newer version/, /reload/);
      const [afterwards, told, anew, listed] = again;
      sound(afterwards);
      unavailable(told, /deleted by another tab/);
      sound(anew);
      deepStrictEqual(
        listed.files.map(({ path }) => path),
        ["/b.txt"],
      );
    });
    later("somebody else's database is left alone", async () => {
      unavailable(await call("strange"), /another name/);
    });
    later("few transactions, and no bodies for ls and glob", async () => {
      const taken = await call("transactions");
      const { transactions } = taken.upload;
      ok(transactions <= 4, `an upload of 1,000 took ${transactions}`);
      deepStrictEqual(taken.ls, { transactions: 1, bodies: 0 });
      deepStrictEqual(taken.glob, { transactions: 1, bodies: 0 });
      deepStrictEqual(taken.grep, { transactions: 1, bodies: 2 });
      deepStrictEqual(taken.edit, { transactions: 1, bodies: 1 });
      deepStrictEqual(taken.delete, { transactions: 1, bodies: 0 });
    });
    later("a database of the first layout opens with all its files", async () => {
      const { stores, bad, listed, namespaces, edited, times } = await call("firstLayout");
      deepStrictEqual(stores, ["bodies", "sheets"]);
      deepStrictEqual(bad, []);
      strictEqual(listed, 6_000);
      deepStrictEqual(namespaces, { other: ["/mine.txt"], empty: [] });
      strictEqual(edited, "edited 7\n");
      deepStrictEqual(times, {
        created_at: "2024-01-02T03:04:05.000Z",
        modified_at: "2024-01-02T03:04:05.000Z",
      });
    });
    later("a first layout that cannot be carried over stays as it is", async () => {
      const { refused, version, stores } = await call("damagedLayout");
      strictEqual(refused.code, "internal", JSON.stringify(refused));
      strictEqual(version, 1);
      deepStrictEqual(stores, ["bodies", "files"]);
    });
    for (const kind of kinds) {
      const where = { kind, place: `special-${kind}` };
      later(`${kind}: every byte, string and name comes back`, async () => {
        deepStrictEqual(await call("roundTrips", { kind, place: "round" }), []);
      });
      later(`${kind}: another tab's changes are heard until one stops listening`, async () => {
        const [watching, other] = [await fresh(), await fresh()];
        await watching.call(MODULE, "watch", where);
        sound(await other.call(MODULE, "write", { ...where, path: "/heard.txt", text: "1" }));
        const heard = await watching.call(MODULE, "heard", { until: "/heard.txt", stop: true });
        deepStrictEqual(heard, ["/heard.txt"]);
        sound(await other.call(MODULE, "write", { ...where, path: "/unheard.txt", text: "1" }));
        await watching.call(MODULE, "watch", where);
        sound(await other.call(MODULE, "write", { ...where, path: "/later.txt", text: "1" }));
        const later = await watching.call(MODULE, "heard", { until: "/later.txt", stop: true });
        deepStrictEqual(later, ["/later.txt"]);
        await watching.close();
        await other.close();
      });
      later(`${kind}: health and persistence are told or refused`, async () => {
        const { health, persist } = await call("health", where);
        if (health.error === undefined) {
          ok(health.usage >= 0 && health.quota > 0, JSON.stringify(health));
          strictEqual(typeof health.persisted, "boolean");
        } else unavailable(health, /navigator\.storage/);
        if (persist.error === undefined) strictEqual(typeof persist.persisted, "boolean");
        else unavailable(persist, /navigator\.storage/);
      });
      if (name === "chromium") {
        later(`${kind}: a full quota leaves the old file whole`, () => full(server, where));
      }
    }
    later("indexeddb: files come and go as room does", async () => {
      for (const seed of [1, 2]) {
        const argument = { seed, steps: 200 };
        const { bad, left } = await inPages(fresh, FULL)("comesAndGoes", argument);
        deepStrictEqual(bad, [], `seed ${seed}`);
        ok(left > 0);
      }
    });
    if (name === "chromium") {
      later("indexeddb: files are deleted where there is no room", () => deletions(server));
    }
    if (kinds.includes("opfs")) {
      later("a missing or blocked OPFS is told", async () => {
        for (const answer of await call("missing", { kind: "opfs" })) {
          unavailable(answer, /navigator\.storage/, /IndexedDbBackend/);
        }
        unavailable(await call("opaque", { kind: "opfs" }), /IndexedDbBackend/);
      });
      later("a revoked permission is told", async () => {
        for (const answer of await call("revoked")) unavailable(answer, /requestPermission/);
      });
      later("what stands aside is hidden and swept", async () => {
        const seen = await call("leftovers");
        deepStrictEqual(seen.before, ["/outside.txt"]);
        strictEqual(seen.reserved.code, "invalid_path");
        strictEqual(seen.hidden.code, "not_found");
        strictEqual(seen.outside, "from elsewhere");
        sound(seen.emptyDeleted);
        strictEqual(seen.emptyAgain.code, "not_found");
        sound(seen.given);
        strictEqual(seen.same, "given");
        deepStrictEqual(seen.listed, ["/given.txt", "/outside.txt"]);
        deepStrictEqual(seen.aside, []);
      });
    } else {
      later("without OPFS the refusal names what to use", async () => {
        const answer = await call("write", {
          kind: "opfs",
          place: "none",
          path: "/a.txt",
          text: "a",
        });
        unavailable(answer, /navigator\.storage|origin-private/, /IndexedDbBackend/);
      });
    }
    await together(2, waiting);
    if (name === "chromium") {
      // It ends every database of the origin.
      await test("an evicted database is told, not waited for", () =>
        evicted(fresh, server.origin));
    }
  } finally {
    await browser.close();
  }
}

async function evicted(fresh, origin) {
  const page = await fresh();
  const where = { place: "evicted", path: "/a.txt" };
  sound(await page.call(MODULE, "keep", where));
  const protocol = await page.protocol();
  await protocol.send("Storage.clearDataForOrigin", { origin, storageTypes: "indexeddb" });
  const [read, listed] = await page.call(MODULE, "readKept", where);
  unavailable(read, /closed by the browser|deleted/);
  deepStrictEqual(sound(listed).files, []);
  await page.close();
}

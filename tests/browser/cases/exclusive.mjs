// OPFS where only backends of ours write: what is noted beside it tells what stands in it, also
// after tabs that died, and searches look at no file without need.

import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { inPages } from "../lib/browsers.mjs";

const MODULE = "/pages/exclusive.mjs";

/** `fresh()` opens a page of one browser; `test(what, run)` counts one test. */
export async function exclusive({ browser, fresh, test }) {
  const call = inPages(fresh, MODULE);
  await test("a ledger tells what the files tell", async () => {
    // Firefox takes tens of milliseconds for a file.
    const files = browser === "firefox" ? 40 : 700;
    const seen = await call("ledger", { files, place: "ledger" });
    deepStrictEqual(seen.bad, []);
    strictEqual(seen.looks, 0);
    strictEqual(seen.found, files);
    deepStrictEqual(seen.refused, ["already_exists", "invalid_path"]);
  });
  await test("ls looks at no file, however far behind others it stands", async () => {
    const files = browser === "firefox" ? 40 : 400;
    const seen = await call("farBehind", { files, place: "far" });
    deepStrictEqual(seen.bad, []);
    deepStrictEqual(seen.top, [
      ["/.first", 3],
      ["/a/", ""],
      ["/z1", 11],
      ["/z2", 22],
    ]);
    strictEqual(seen.inside, files);
    deepStrictEqual(seen.looks, [0, 0]);
  });
  await test("grep reads copies, and files where there are none", async () => {
    const files = browser === "firefox" ? 40 : 400;
    const seen = await call("copies", { files, place: "copies" });
    deepStrictEqual(seen.bad, []);
    const { looks } = seen;
    // The one that is too large for a copy, twice where a search reads it by itself.
    for (const when of ["whole", "nothing", "edited", "deleted", "copied"]) {
      ok(looks[when] <= 2, `${when}: ${looks[when]} files looked at`);
    }
    for (const when of ["narrowed", "beneath", "one file"]) strictEqual(looks[when], 0, when);
    ok(looks["just written"] >= files, `just written: ${looks["just written"]} files looked at`);
    deepStrictEqual(seen.past, ["past it", 0]);
  });
  await test("what a search reads is copied, also if it pauses in between", async () => {
    const { bad, looks } = await call("pausing", { place: "pausing" });
    deepStrictEqual(bad, []);
    // The eight that are too large for a copy.
    strictEqual(looks, 8);
  });
  await test("a tab that dies leaves nothing wrong in a ledger", async () => {
    const place = "scribbled";
    for (let round = 0; round < 6; round++) {
      const page = await fresh();
      await page.call(MODULE, "scribble", { place });
      await new Promise((resolve) => setTimeout(resolve, 37 * round));
      await page.close();
      const when = `round ${round}`;
      deepStrictEqual(await call("afterScribbling", { place, when }), []);
    }
  });
  await test("without room for copies searches go on", async () => {
    const { bad, looks, refused } = await call("withoutRoom", { place: "no-room", files: 20 });
    deepStrictEqual(bad, []);
    deepStrictEqual(looks, [21, 21]);
    ok(refused > 2, `${refused} refused`);
  });
  await test("a search closes what a dead tab left open", async () => {
    const place = "left";
    strictEqual(await call("write", { place, path: "/there.txt", text: "old" }), null);
    strictEqual(await call("write", { place, path: "/other.txt", text: "old" }), null);
    const dying = await fresh();
    await dying.call(MODULE, "getStuck", { place });
    // What it left is old enough to be closed, but for its lock.
    const same = (seen) => {
      deepStrictEqual(seen.named, ["/other.txt", "/there.txt"]);
      deepStrictEqual(seen.lines, ["grep /other.txt:1 old", "grep /there.txt:1 old"]);
      return [seen.globLooks, seen.grepLooks];
    };
    for (let again = 0; again < 2; again++) {
      deepStrictEqual(same(await call("searchedLater", { place })), [1, 1]);
    }
    await dying.close();
    const looks = [];
    for (let tries = 0; tries < 20 && String(looks.at(-1)) !== "0,0"; tries++) {
      looks.push(same(await call("searchedLater", { place })));
    }
    deepStrictEqual(looks.at(-1), [0, 0], JSON.stringify(looks));
    strictEqual(await call("write", { place, path: "/there.txt", text: "new and old" }), null);
    const after = await call("searchedLater", { place });
    deepStrictEqual(after.lines, ["grep /other.txt:1 old", "grep /there.txt:1 new and old"]);
    deepStrictEqual([after.globLooks, after.grepLooks], [0, 0]);
  });
}

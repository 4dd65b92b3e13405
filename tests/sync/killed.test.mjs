// Processes that are killed while they sync: the next run goes on, both trees are equal then, and every edit
// is there. KITBAG_KILLS says how many of each kind (`npm run soak -- sync`: thirty).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleared, contents, kept, open, put, scratch, sync } from "./lib.mjs";

after(cleared);

const KILLS = Number(process.env.KITBAG_KILLS ?? 2);
const PROGRAM = fileURLToPath(new URL("killed-process.mjs", import.meta.url));
const FILES = 150;

/** Kills a process some time after it began to sync; whether it was faster. */
async function killed(kind, place, wait) {
  const child = spawn(process.execPath, [PROGRAM, kind, place], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let told = "";
  child.stdout.on("data", (data) => {
    told += data;
  });
  await once(child.stdout, "data");
  await new Promise((resolve) => setTimeout(resolve, wait));
  child.kill("SIGKILL");
  await once(child, "close");
  return told.includes("ends");
}

for (const kind of ["two folders", "folder and SQLite"]) {
  test(`${kind}: after a kill the next run goes on`, { timeout: 600_000 }, async (t) => {
    const place = scratch();
    const { a, b } = await open(kind, place);
    let ended = 0;
    for (let round = 0; round < KILLS; round++) {
      const mine = {};
      const theirs = {};
      for (let at = 0; at < FILES; at++) {
        mine[`/a${round}/${at}`] = `of a ${round} ${at}`;
        theirs[`/b${round}/${at}`] = `of b ${round} ${at}`;
      }
      mine["/both"] = `of a ${round}`;
      theirs["/both"] = `of b ${round}`;
      await put(a, mine);
      await put(b, theirs);
      if (await killed(kind, place, 20 + Math.random() * 250)) ended++;
      const done = await sync(a, b, kept(a));
      assert.equal(done.error, undefined);
      assert.deepEqual(done.refused, []);
      const all = await contents(a);
      assert.deepEqual(await contents(b), all);
      assert.equal(Object.keys(all).length, (round + 1) * 2 * FILES + 1 + round + 1);
      const texts = new Set(Object.values(all));
      assert.ok(texts.has(`of a ${round}`) && texts.has(`of b ${round}`));
    }
    t.diagnostic(`${ended} of ${KILLS} had ended before`);
  });
}

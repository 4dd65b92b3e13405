// What comes of changes where the browser gives no more room, in browsers of their own: Chromium
// remembers for half a minute how much room there was.

import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../lib/browsers.mjs";

const MODULE = "/pages/special.mjs";
export const FULL = "/pages/full.mjs";

function sound(answer) {
  strictEqual(answer.error, undefined);
  return answer;
}

async function open(server, options) {
  const browser = await launch("chromium", options);
  const page = await browser.page(`${server.origin}/pages/blank.html`);
  const protocol = await page.protocol();
  const giveRoom = (quotaSize) =>
    protocol.send("Storage.overrideQuotaForOrigin", { origin: server.origin, quotaSize });
  return { browser, page, giveRoom };
}

/** A file that finds no room leaves the old one whole. */
export async function full(server, where) {
  const { browser, page, giveRoom } = await open(server);
  try {
    const path = "/full.txt";
    await giveRoom(3_000_000);
    sound(await page.call(MODULE, "write", { ...where, path, text: "old" }));
    const refuses = async (code, by, size, more) => {
      const refused = await page.call(MODULE, by, { ...where, path, size, ...more });
      strictEqual(refused.code, code, JSON.stringify(refused));
      strictEqual((await page.call(MODULE, "read", { ...where, path })).content, "old");
    };
    await refuses("quota_exceeded", "write", 8_000_000);
    if (where.kind === "opfs") {
      await refuses("quota_exceeded", "writeByBrokenPipe", 8_000_000, { step: "write" });
      await refuses("unavailable", "writeByBrokenPipe", 1_000, { step: "write" });
      await refuses("unavailable", "writeByBrokenPipe", 1_000, { step: "close" });
    }
  } finally {
    await browser.close();
  }
}

/** Files of a database are deleted though nothing can be stored, and others see it so at once. */
export async function deletions(server) {
  const profile = await mkdtemp(join(tmpdir(), "kitbag-full-"));
  const within = async (run, room) => {
    const { browser, page, giveRoom } = await open(server, { profile });
    try {
      if (room) await giveRoom(room);
      const another = () => browser.page(`${server.origin}/pages/blank.html`);
      return await run((name, argument) => page.call(FULL, name, argument), another);
    } finally {
      await browser.close();
    }
  };
  try {
    const left = ["/a/keep.txt", "/a/one.txt", "/b.txt", "/large/2.bin"];
    await within(async (call) => {
      deepStrictEqual(await call("begin"), []);
      deepStrictEqual(await call("gaps"), { marked: true, named: ["two.txt", "x/0.txt"] });
    });
    await within(async (call, another) => {
      const seen = await call("deleteWithoutRoom");
      strictEqual(seen.written.code, "quota_exceeded");
      strictEqual(seen.conflicting.code, "quota_exceeded");
      for (const answer of seen.deleted) sound(answer);
      for (const answer of seen.gone) strictEqual(answer.code, "not_found", JSON.stringify(answer));
      // Its log may have grown meanwhile, by some megabytes.
      ok(seen.freed > 10_000_000, `${seen.freed} bytes were freed`);
      const gaps = { marked: false, named: ["two.txt", "x/0.txt"] };
      deepStrictEqual(await call("gaps"), gaps);
      const other = await another();
      deepStrictEqual(await other.call(FULL, "look"), { bad: [], left });
      deepStrictEqual(await call("look"), { bad: [], left });
    }, 1_000);
    await within(async (call) => {
      deepStrictEqual(await call("look"), { bad: [], left });
      // Room for one of those that were deleted, as a new file.
      deepStrictEqual(await call("refill", "/c"), []);
      deepStrictEqual(await call("gaps"), { marked: true, named: [] });
      const now = [...left, "/c"].sort();
      deepStrictEqual(await call("look"), { bad: [], left: now });
    });
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

// Chromium is killed fifty times while it writes versions of a file, of 5 MB mostly.

import { strictEqual } from "node:assert/strict";
import { checks, sum } from "../../scripts/lib/outputs.mjs";
import { torn } from "../browser/cases/torn.mjs";
import { checksum, isDamaged } from "../browser/lib/leveldb.mjs";

/** One record of a log. */
function record(text) {
  const said = Buffer.from(`\u0001${text}`);
  const header = Buffer.alloc(6);
  header.writeUInt32LE(checksum(said));
  header.writeUInt16LE(text.length, 4);
  return Buffer.concat([header, said]);
}

/** A loss is laid to the browser's own log only if that is damaged: what is taken for damaged. */
async function telling() {
  const { result, check } = checks();
  const whole = [record("one"), record("two"), record("x".repeat(1000))];
  const head = record("never written").subarray(0, 7);
  const is = (what, damaged, parts) =>
    check(what, () => strictEqual(isDamaged(Buffer.concat(parts)), damaged));
  await is("a whole log", false, whole);
  await is("a log that ends in the midst of a record", false, [...whole, head]);
  await is("a log that goes on behind the half", true, [...whole, head, ...whole]);
  return result;
}

async function run(ctx, kills) {
  const { judged, failures } = await torn({ kills, pkg: ctx.at("pkg"), log: ctx.log });
  const passed = Math.max(0, judged - failures.length);
  return sum([await telling(), { passed, failed: failures.length, failures }]);
}

export default {
  about: "50 kills of a browser that writes: whole versions only",
  needs: ["npm", "build", "chromium"],
  minutes: 10,
  soakMinutes: 60,
  run: (ctx) => run(ctx, 50),
  soak: (ctx) => run(ctx, 500),
};

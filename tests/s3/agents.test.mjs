// Two agents that work on one bucket in turns, with commits that take turns by their journal.
// KITBAG_TURNS says how many turns each makes (`npm run soak -- s3`: two hundred).

import assert from "node:assert/strict";
import test from "node:test";
import { twoAgents } from "../lib/two-agents.mjs";
import { backend, kitbag, newBucket, servers } from "./lib.mjs";

const TURNS = Number(process.env.KITBAG_TURNS ?? 4);

test(`Ceph: two agents of ${TURNS} turns lose nothing, and their conflicts are real`, async (t) => {
  const bucket = await newBucket(servers.ceph);
  const make = (what) => backend(servers.ceph, bucket, { prefix: `${what}/` });
  const { failures, ...seen } = await twoAgents(kitbag.begin, make, TURNS);
  assert.deepEqual(failures, []);
  t.diagnostic(`Ceph: ${JSON.stringify(seen)}`);
});

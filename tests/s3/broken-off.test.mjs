// A gateway that stops answering in the midst of commits of a hundred files: whoever comes next sees
// all of a commit or nothing. KITBAG_KILLS says how often (`npm run soak -- s3`: fifty times).

import assert from "node:assert/strict";
import test from "node:test";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { backend, good, kitbag, newBucket, servers } from "./lib.mjs";
import { startRelay } from "./relay.mjs";

const KILLS = Number(process.env.KITBAG_KILLS ?? 2);
/** At once: after a commit that was broken off, its journal is looked at for ten seconds. */
const LANES = 5;
const FILES = Array.from({ length: 100 }, (_, at) => `/f/${at}`);

const texts = async (files) => {
  const answers = await files.downloadFiles(FILES);
  return new Set(answers.map(({ content }) => content && new TextDecoder().decode(content)));
};

/** Commits until the gateway is cut off after some time; returns what was acknowledged last. */
async function brokenOff(bucket, prefix, round, after) {
  const relay = await startRelay(servers.ceph);
  const files = backend(relay.endpoint, bucket, { prefix, retry: false });
  let told = round;
  const cut = new Promise((resolve) => setTimeout(resolve, after)).then(() => relay.stop());
  for (;;) {
    const turn = kitbag.begin(files);
    const body = new TextEncoder().encode(`${told + 1}\n`);
    const put = await turn.uploadFiles(FILES.map((path) => [path, body]));
    if (put.some(({ error }) => error)) break;
    if ((await turn.commit()).error) break;
    told += 1;
  }
  await cut;
  return told;
}

test(`Ceph: cut off ${KILLS} times in the midst of commits, all or nothing`, async (t) => {
  const bucket = await newBucket(servers.ceph);
  let broken = 0;
  const lane = async (number, count) => {
    const prefix = `lane ${number}/`;
    const direct = backend(servers.ceph, bucket, { prefix });
    let round = 0;
    for (let at = 0; at < count; at++) {
      if (round === 0) {
        const first = kitbag.begin(direct);
        await first.uploadFiles(FILES.map((path) => [path, new TextEncoder().encode("0\n")]));
        good(await first.commit());
      }
      const told = await brokenOff(bucket, prefix, round, 200 + Math.random() * 1500);
      if ((await texts(direct)).size > 1) broken += 1;
      await kitbag.begin(direct).read("/f/0");
      const found = [...(await texts(direct))];
      assert.equal(found.length, 1, `${found.slice(0, 4)} after ${told}`);
      round = Number(found[0]);
      assert.ok(round === told || round === told + 1, `${round} after ${told}`);
      assert.deepEqual(await ownFiles(await roomOf(kitbag), direct), []);
    }
  };
  const share = (number) => Math.floor(KILLS / LANES) + (number < KILLS % LANES ? 1 : 0);
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number, share(number))));
  t.diagnostic(`Ceph: ${broken} of ${KILLS} left a part of a commit for the next turn`);
});

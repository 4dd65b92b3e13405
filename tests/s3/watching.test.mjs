// watch on buckets, by lists: what differs from the list before is told, by whomever it was changed.

import assert from "node:assert/strict";
import test from "node:test";
import { listening } from "../lib/listening.mjs";
import { backend, good, kitbag, newBucket, servers } from "./lib.mjs";
import { KEYS } from "./servers.mjs";

for (const [name, endpoint] of Object.entries(servers)) {
  test(`${name}: a bucket that is listed tells of every change, at one request a list`, async () => {
    const bucket = await newBucket(endpoint);
    const others = backend(endpoint, bucket);
    good(await others.write("/d/old.txt", "old"));
    good(await others.write("/gone.txt", "x"));
    const asked = [];
    const s3 = backend(endpoint, bucket, {
      watchEveryMs: 1_000,
      sign: async (request) => {
        asked.push(request.key);
        const where = { endpoint, region: "us-east-1", bucket, credentials: KEYS };
        return kitbag.presignS3(where, request);
      },
    });
    assert.deepEqual([s3.capability.watch, others.capability.watch], [true, undefined]);
    assert.equal(others.watch, undefined);
    const all = listening(s3);
    await all.begun();
    assert.deepEqual(asked, [""]);
    const below = listening(s3, "/d");
    await below.begun();
    good(await s3.write("/new.txt", "x"));
    good(await others.edit("/d/old.txt", "old", "two"));
    good(await others.delete("/gone.txt"));
    await all.has("/new.txt", "/d/old.txt", "/gone.txt");
    await below.has("/d/old.txt");
    assert.deepEqual([...below.seen.paths], ["/d/old.txt"]);
    all.stop();
    s3.dispose();
  });
}

test("ceph: a list that fails is told once, and no change is lost meanwhile", async () => {
  const bucket = await newBucket(servers.ceph);
  const others = backend(servers.ceph, bucket);
  let broken = false;
  let twice = () => {};
  const refusedTwice = new Promise((resolve) => {
    let refused = 0;
    twice = () => {
      refused += 1;
      if (refused === 2) resolve();
    };
  });
  const s3 = backend(servers.ceph, bucket, {
    watchEveryMs: 1_000,
    retry: false,
    sign: async (request) => {
      if (broken) {
        twice();
        throw new Error("no signer");
      }
      const where = { endpoint: servers.ceph, region: "us-east-1", bucket, credentials: KEYS };
      return kitbag.presignS3(where, request);
    },
  });
  const { seen, until, has, begun, stop } = listening(s3);
  await begun();
  broken = true;
  good(await others.write("/meanwhile.txt", "x"));
  await until(() => seen.rescans === 2);
  const alive = setInterval(() => {}, 1_000);
  await refusedTwice;
  clearInterval(alive);
  broken = false;
  await has("/meanwhile.txt");
  assert.equal(seen.rescans, 2);
  stop();
});

/** A binding whose clock counts whole seconds, with one object that others change. */
function coarse() {
  const uploaded = new Date(1_800_000_000_000);
  const object = { key: "a.txt", size: 1, etag: "1", uploaded };
  const binding = {
    lists: 0,
    onList: () => {},
    head: async () => null,
    get: async () => null,
    put: async () => null,
    delete: async () => {},
    list: async () => {
      binding.lists += 1;
      binding.onList(binding.lists);
      return { objects: [object], delimitedPrefixes: [], truncated: false };
    },
  };
  return { binding, object };
}

test("r2: two changes in one second of a coarse clock are not lost, and told no further", async () => {
  const { binding } = coarse();
  const r2 = new kitbag.R2Backend({ bucket: binding, watchEveryMs: 1_000 });
  const told = [];
  const { has, stop } = listening({
    watch: (hear) =>
      r2.watch((changes) => {
        told.push([binding.lists, changes]);
        hear(changes);
      }),
  });
  // The list before may have shown an earlier state of the same second and size.
  await has("/a.txt");
  await new Promise((resolve) => {
    const alive = setInterval(() => {}, 1_000);
    binding.onList = (count) => {
      if (count < 4) return;
      clearInterval(alive);
      resolve();
    };
  });
  assert.deepEqual(told, [
    [1, { paths: [], rescan: true }],
    [2, { paths: ["/a.txt"] }],
  ]);
  stop();
});

test("a bucket is not listed more often than once a second", () => {
  const options = { region: "r", bucket: "b", credentials: KEYS };
  for (const watchEveryMs of [999, 0, "1000"]) {
    assert.throws(() => new kitbag.S3Backend({ ...options, watchEveryMs }), /watchEveryMs/);
  }
});

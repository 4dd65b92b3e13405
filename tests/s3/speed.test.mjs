// What latency costs: a search over 5,000 objects behind 20 ms, cold and again, compared with `fetch`
// alone for the same objects in the same process; and how many lists a glob asks for.

import assert from "node:assert/strict";
import test from "node:test";
import { backend, good, kitbag, newBucket, servers, withIndex } from "./lib.mjs";
import { startQuickThread } from "./quick.mjs";
import { startRelayThread } from "./relay.mjs";
import { KEYS } from "./servers.mjs";
import { name, prose, source } from "./sources.mjs";

const OBJECTS = 5000;
const CONCURRENCY = 16;
const LATENCY = 20;
/** The most that a search may take, in times of `fetch` alone: the first one, and a second one. */
const COLD = 1.5;
const WARM = 0.2;
/** The same where the number of requests at once is found out, in times of the search with 16, on a quick server. */
const FOUND = 0.5;
/** The best of so many: what else the machine does is not what is measured. */
const ATTEMPTS = 3;

/** A bucket full of files. */
async function filled(endpoint, bucket) {
  const files = Array.from({ length: OBJECTS }, (_, at) => [name(at), prose(at)]);
  const uploads = await backend(endpoint, bucket).uploadFiles(files);
  assert.ok(uploads.every(({ error }) => error === null));
}

/**
 * How long the same bodies take by `fetch` alone, as many at once: what this machine can do. The
 * addresses are signed before the clock starts.
 */
async function bare(endpoint, bucket) {
  const location = { endpoint, region: "us-east-1", bucket, credentials: KEYS };
  const urls = Array.from({ length: OBJECTS }, (_, at) => {
    const { url } = kitbag.presignS3(location, { method: "GET", key: name(at).slice(1) });
    return url;
  });
  const one = async () => {
    for (let url = urls.pop(); url; url = urls.pop()) {
      const answer = await fetch(url);
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, one));
  return performance.now() - began;
}

/** The best cold search, and a second one of the same backend. */
async function searches(relay, bucket, ideal, options = { concurrency: CONCURRENCY }) {
  let s3;
  const timed = async () => {
    const began = performance.now();
    const found = good(await s3.grep("needle"));
    const took = performance.now() - began;
    assert.equal(found.matches.length, OBJECTS / 100);
    return took;
  };
  const gets = async () => (await relay.log()).filter((line) => !line.includes("list-type")).length;
  let [cold, warm] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    s3 = backend(relay.endpoint, bucket, options);
    cold = Math.min(cold, await timed());
    assert.equal(await gets(), OBJECTS, "every body once");
    warm = Math.min(warm, await timed());
    assert.equal(await gets(), 0, "a second search moves no bodies");
    if (cold <= ideal * COLD && warm <= ideal * WARM) break;
  }
  return { cold, warm };
}

/** What is counted does not depend on the machine. */
async function counts(relay, bucket) {
  const s3 = backend(relay.endpoint, bucket, { concurrency: CONCURRENCY });
  const lists = async (pattern) => {
    const { files } = good(await s3.glob(pattern));
    const log = await relay.log();
    assert.ok(log.every((line) => line.includes("list-type")));
    return { hits: files.length, lists: log.length };
  };
  // 1,000 objects stand beneath src/, so one page holds them.
  assert.deepEqual(await lists("src/**/*.ts"), { hits: 500, lists: 1 });
  assert.deepEqual(await lists("src/d5/*.md"), { hits: 500, lists: 1 });
  assert.deepEqual(await lists("docs/**"), { hits: 4000, lists: 4 });
  assert.deepEqual(await lists("nothing/**"), { hits: 0, lists: 1 });

  // A search that has enough stops asking.
  const some = good(await s3.grep("hay", "/docs", null, 3));
  assert.equal(some.truncated, true);
  const asked = (await relay.log()).length;
  assert.ok(asked < 200, `${asked} requests for three matches`);
}

/** Searches behind the latency, compared with bare requests. */
async function compared(t, endpoint, bucket, isQuick = false) {
  const relay = await startRelayThread(endpoint, LATENCY);
  t.after(() => relay.stop());
  const ideal = await bare(relay.endpoint, bucket);
  await relay.log();
  const { cold, warm } = await searches(relay, bucket, ideal);
  const times = (ms) => `${Math.round(ms)} ms, ${(ms / ideal).toFixed(2)} times bare fetch`;
  t.diagnostic(`cold ${times(cold)}; warm ${times(warm)}`);
  assert.ok(cold <= ideal * COLD, `cold ${times(cold)}`);
  assert.ok(warm <= ideal * WARM, `warm ${times(warm)}`);
  await relay.log();
  await counts(relay, bucket);
  // As many at once as help.
  const most = cold * FOUND;
  const found = await searches(relay, bucket, most / COLD, {});
  t.diagnostic(`as many at once as help: cold ${Math.round(found.cold)} ms`);
  if (isQuick) assert.ok(found.cold <= most, `${found.cold} of ${cold} ms`);
}

test("a quick server behind 20 ms: 5,000 objects are searched nearly as fast as fetched", async (t) => {
  const quick = await startQuickThread({ objects: OBJECTS });
  t.after(() => quick.stop());
  await compared(t, quick.endpoint, "files", true);
});

for (const [server, endpoint] of Object.entries(servers)) {
  test(`${server} behind 20 ms: 5,000 objects are searched nearly as fast as fetched`, async (t) => {
    const bucket = await newBucket(endpoint);
    await filled(endpoint, bucket);
    await compared(t, endpoint, bucket);
  });
}

/**
 * The most that a search with an index may take, in milliseconds, by the number of objects; as many times
 * more as a request takes more than its latency.
 */
const RARE = { 5000: 300, 50000: 1000 };
/** The most that a search for a common word may take, in times of the scan. */
const COMMON = 1.1;
/** The most that the index may be of the files, and the least that it is built, in bytes a second. */
const SHARE = 0.3;
const RATE = 20e6;

const SIZES = [5000, ...(process.env.KITBAG_INDEXED ? [Number(process.env.KITBAG_INDEXED)] : [])];
for (const objects of SIZES) {
  test(`a search index behind 20 ms: ${objects} objects`, async (t) => {
    // Lines of each file: fewer, where the number of objects is what counts.
    const lines = objects > 5000 ? 12 : 80;
    const server = await startQuickThread({ objects, lines });
    t.after(() => server.stop());
    let bytes = 0;
    for (let at = 0; at < objects; at++) bytes += source(at, lines).length;
    const relay = await startRelayThread(server.endpoint, LATENCY);
    t.after(() => relay.stop());
    const plain = (endpoint) => backend(endpoint, "code", { concurrency: CONCURRENCY });
    const open = (endpoint) => withIndex(plain(endpoint), { keepIn: { path: "/.index/" } });
    const timed = async (run) => {
      const began = performance.now();
      const answer = good(await run());
      return { took: performance.now() - began, answer };
    };

    const built = await timed(() => open(server.endpoint).updateIndex());
    assert.equal(built.answer.files, objects);
    const share = built.answer.bytes / bytes;
    t.diagnostic(`index: ${(share * 100).toFixed(1)} % of ${bytes} bytes`);
    assert.ok(share <= SHARE, `${share}`);

    const cold = async (text, most) => {
      let best;
      for (let attempt = 0; attempt < ATTEMPTS && !(best?.took <= most); attempt++) {
        const files = open(relay.endpoint);
        const found = await timed(() => files.grep(text, "/", null, null, { stats: true }));
        if (best === undefined || found.took < best.took) best = found;
      }
      return best;
    };
    const asked = [];
    for (let at = 0; at < 9; at++) {
      asked.push((await timed(() => plain(relay.endpoint).readRaw(name(at)))).took);
    }
    const slow = Math.max(1, asked.toSorted((a, b) => a - b)[4] / LATENCY);
    const most = RARE[objects] * slow;
    await relay.log();
    const rare = await cold("retry_budget", most);
    assert.equal(rare.answer.matches.length, 1);
    t.diagnostic(`rare: ${Math.round(rare.took)} ms, ${JSON.stringify(rare.answer.stats)}`);
    t.diagnostic(`requests of all searches: ${(await relay.log()).length}`);
    t.diagnostic(`a request: ${slow.toFixed(2)} times ${LATENCY} ms`);
    assert.ok(rare.took <= most, `${rare.took} ms`);
    if (objects > 5000) return;

    const scan = await timed(() => plain(relay.endpoint).grep("await"));
    const common = await cold("await", scan.took * COMMON);
    assert.equal(common.answer.matches.length, scan.answer.matches.length);
    const times = common.took / scan.took;
    t.diagnostic(`common: ${Math.round(common.took)} ms, ${times.toFixed(2)} times the scan`);
    assert.ok(times <= COMMON, `${times}`);

    // What the index adds to a write: nothing. The next search reads the file.
    const [files, bare] = [open(relay.endpoint), plain(relay.endpoint)];
    good(await bare.write("/src/first.ts", "x"));
    await relay.log();
    good(await bare.write("/src/second.ts", "x"));
    const without = (await relay.log()).length;
    good(await files.write("/src/third.ts", "x"));
    const first = (await relay.log()).length;
    good(await files.write("/src/fourth.ts", "x"));
    assert.ok((await relay.log()).length - without <= 2, `${first}`);
  });
}

test("a search index is built at 20 MB a second", async (t) => {
  const bodies = Array.from({ length: 2000 }, (_, at) => [`/f${at}.ts`, source(at)]);
  const bytes = bodies.reduce((sum, [, body]) => sum + body.length, 0);
  const server = await startQuickThread();
  t.after(() => server.stop());
  const s3 = backend(server.endpoint, "code", { concurrency: CONCURRENCY });
  await s3.uploadFiles(bodies);
  // The bodies are in the cache: what is measured is the index and not the server.
  const measure = async (run) => {
    const began = performance.now();
    good(await run());
    return performance.now() - began;
  };
  good(await s3.grep("no such text"));
  const scan = await measure(() => s3.grep("no such text"));
  let rate = 0;
  for (let attempt = 0; attempt < ATTEMPTS && rate < RATE; attempt++) {
    const files = withIndex(s3, { keepIn: { path: `/.index${attempt}/` } });
    const took = await measure(() => files.updateIndex());
    rate = Math.max(rate, (bytes / Math.max(took - scan, 1)) * 1000);
  }
  t.diagnostic(`built at ${(rate / 1e6).toFixed(0)} MB a second`);
  assert.ok(rate >= RATE, `${rate}`);
});

// In a page: what a policy over a router adds to calls of IndexedDB and of S3.

import { crossings, OPERATIONS, permissions, TEXT } from "./counting.mjs";
import { s3Fetch } from "./s3-fetch.mjs";

/** For each storage and operation the crossings of the storage alone, and below both layers. */
export async function run() {
  const { CompositeBackend, IndexedDbBackend, S3Backend, StateBackend, withPolicy } = await import(
    "/pkg/dist/browser.js"
  );
  const endpoint = "https://s3.test";
  globalThis.fetch = s3Fetch(endpoint, globalThis.fetch);
  const db = new IndexedDbBackend({ database: "crossings", writeMode: "overwrite" });
  const s3 = new S3Backend({
    ...{ endpoint, region: "us-east-1", bucket: "bucket", writeMode: "overwrite" },
    ...{ credentials: { accessKeyId: "k", secretAccessKey: "s" } },
    // Every call sends the same requests.
    ...{ conditions: "ignore", cache: false, retry: false },
  });
  // The default backend asks for no running graph.
  const own = new StateBackend({ scope: "instance" });
  const router = new CompositeBackend(own, { "/db/": db, "/s3/": s3 });
  const layered = withPolicy(router, { permissions });
  const seen = [];
  for (const [at, bare] of [
    ["/db", db],
    ["/s3", s3],
  ]) {
    await bare.write("/a.txt", TEXT);
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const alone = await crossings(() => operation(bare, ""));
      const below = await crossings(() => operation(layered, at));
      seen.push({ storage: bare.constructor.name, name, alone, below });
    }
  }
  return seen;
}

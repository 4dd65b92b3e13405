// What the S3 tests share: the package as it ships, and a backend on a server that the suite
// started.

import assert from "node:assert/strict";
import { at } from "../../scripts/lib/paths.mjs";
import { KEYS, makeBucket } from "./servers.mjs";

export const dist = at("pkg/dist");
export const kitbag = await import(`${dist}/node.js`);
export const { withIndex } = await import(`${dist}/indexed.js`);
export const { runConformance } = await import(`${dist}/conformance.js`);
export const root = at();

/** The servers that the suite started, by name. */
export const servers = Object.fromEntries(
  ["ceph", "moto"].flatMap((name) => {
    const endpoint = process.env[`KITBAG_TEST_${name.toUpperCase()}`];
    return endpoint === undefined ? [] : [[name, endpoint]];
  }),
);

let buckets = 0;

/** A new bucket on a server; its name. */
export async function newBucket(endpoint) {
  buckets += 1;
  const bucket = `kitbag-${process.pid}-${buckets}`;
  await makeBucket(endpoint, bucket);
  return bucket;
}

/** Where a new bucket on a server is, with the keys to it. */
export async function location(endpoint) {
  const bucket = await newBucket(endpoint);
  return { endpoint, region: "us-east-1", bucket, credentials: KEYS };
}

/** A backend on a bucket. */
export function backend(endpoint, bucket, options = {}) {
  const access = options.sign ? {} : { credentials: KEYS };
  return new kitbag.S3Backend({ endpoint, region: "us-east-1", bucket, ...access, ...options });
}

/** An answer that must be no refusal. */
export function good(answer) {
  assert.equal(answer.error, undefined, JSON.stringify(answer));
  return answer;
}

// What the S3 tests share: the package in its testing variant, a backend on a server that the
// suite started, and the names of nasty keys.

import assert from "node:assert/strict";
import { at, cache } from "../../scripts/lib/paths.mjs";
import { KEYS, makeBucket } from "./servers.mjs";

export const dist = cache("pkg-testing/dist");
export const kitbag = await import(`${dist}/node.js`);
export const testing = await import(`${dist}/testing.js`);
const { runConformance } = await import(`${dist}/conformance.js`);
export const root = at();

/** The servers that the suite started, by name. */
export const servers = {
  ceph: process.env.KITBAG_TEST_CEPH,
  moto: process.env.KITBAG_TEST_MOTO,
};

let buckets = 0;

/** A new bucket on a server; its name. */
export async function newBucket(endpoint) {
  buckets += 1;
  const bucket = `kitbag-${process.pid}-${buckets}`;
  await makeBucket(endpoint, bucket);
  return bucket;
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

/** The case whose path leaves no byte of a key for a prefix. */
export const LONGEST = "a path of 1,024 bytes is the longest";

/** Runs the conformance suite on a bucket, each case under a prefix of its own. */
export async function sharedSuite(endpoint, options = {}) {
  const bucket = await newBucket(endpoint);
  let turn = 0;
  const make = ({ writeMode }) => {
    turn += 1;
    return backend(endpoint, bucket, { prefix: `case ${turn}/+`, writeMode, ...options });
  };
  const report = await runConformance(make, { except: { [LONGEST]: "has a bucket of its own" } });
  const bare = () => backend(endpoint, bucket, options);
  const longest = await runConformance(bare, { only: [LONGEST] });
  suiteHeld(report, longest);
}

/** What two parts of the suite came to: both held, and nothing was missing. */
export function suiteHeld(report, longest) {
  const cut = (text) => text.slice(0, 600);
  assert.deepEqual([...report.failures, ...longest.failures].map(cut), []);
  assert.ok(report.passed > 100, `${report.passed} cases`);
  assert.equal(longest.passed, 1);
}

export const NASTY = [
  "a b",
  " lead and trail ",
  "a+b",
  "100%",
  "%41%2F",
  "?q=1&r=2",
  "#frag",
  "日本/語 é",
  "e\u0301 decomposed",
  "😀",
  "&<>'\"",
  "~x",
  "a=b&c;d,e",
  "__proto__",
  "constructor/toString",
  "(x)[y]{z}|^`$@!*",
  ".hidden/..x/...",
  "k".repeat(994),
  "é".repeat(497),
];

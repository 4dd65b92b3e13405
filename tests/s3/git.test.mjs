// git in a bucket: the same work as over other backends (`tests/fs/git.test.mjs`), checked by git itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { work } from "../fs/git-work.mjs";
import { backend, newBucket, servers } from "./lib.mjs";

assert.ok(Object.keys(servers).length > 0, "no server of the suite");
for (const [name, endpoint] of Object.entries(servers)) {
  const options = { bucket: {}, "bucket with a prefix": { prefix: "teams/one/" } };
  for (const [where, given] of Object.entries(options)) {
    test(`clone, branch, commit, merge and push in a ${where} of ${name}`, async (t) => {
      await work(t, backend(endpoint, await newBucket(endpoint), given));
    });
  }
}

// Signatures, held to those that AWS published: all of them in the testing variant, and one that
// is made through the package's own door in the package as it ships.

import assert from "node:assert/strict";
import test from "node:test";
import { cache } from "../../scripts/lib/paths.mjs";
import { kitbag } from "./lib.mjs";

const testing = await import(cache("pkg-testing/dist/testing.js"));

test("signatures made in wasm are those that were published", () => {
  const examples = testing.signingExamples();
  assert.equal(examples.length, 11);
  for (const { name, made, published } of examples) assert.equal(made, published, name);
});

test("the shipped package presigns as published", (t) => {
  t.mock.method(Date, "now", () => Date.parse("2013-05-24T00:00:00Z"));
  const { url } = kitbag.presignS3(
    {
      endpoint: "https://s3.amazonaws.com",
      region: "us-east-1",
      bucket: "examplebucket",
      forcePathStyle: false,
      credentials: {
        accessKeyId: "AKIAIOSFODNN7EXAMPLE",
        secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      },
    },
    { method: "GET", key: "test.txt" },
    86_400,
  );
  assert.equal(
    new URL(url).searchParams.get("X-Amz-Signature"),
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c031957d157751f604d404",
  );
});

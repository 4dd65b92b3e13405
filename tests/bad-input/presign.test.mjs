// What a server signs for a page: what a backend's own requests consist of, and nothing else.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { presignS3 } from "../lib/kitbag.mjs";

const location = {
  endpoint: "https://s3.example.com",
  region: "us-east-1",
  bucket: "files",
  credentials: { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "very-secret" },
};
const put = { method: "PUT", key: "a.txt" };
const list = { method: "GET", query: { "list-type": "2" } };

const REFUSED = [
  [
    "a copy of another object",
    { ...put, headers: { "x-amz-copy-source": "/files/secret" } },
    /"x-amz-copy-source"/,
  ],
  [
    "a copy, in capital letters",
    { ...put, headers: { "X-Amz-Copy-Source": "/files/secret" } },
    /"X-Amz-Copy-Source"/,
  ],
  ["an access list", { ...put, headers: { "x-amz-acl": "public-read" } }, /"x-amz-acl"/],
  ["a grant", { ...put, headers: { "x-amz-grant-read": "uri=all" } }, /"x-amz-grant-read"/],
  [
    "a redirect",
    { ...put, headers: { "x-amz-website-redirect-location": "https://x" } },
    /redirect-location/,
  ],
  [
    "another storage class",
    { ...put, headers: { "x-amz-storage-class": "GLACIER" } },
    /storage-class/,
  ],
  ["tags", { ...put, headers: { "x-amz-tagging": "a=b" } }, /"x-amz-tagging"/],
  ["metadata of its own", { ...put, headers: { "x-amz-meta-evil": "1" } }, /"x-amz-meta-evil"/],
  [
    "the owner's bypass",
    { method: "DELETE", key: "a", headers: { "x-amz-bypass-governance-retention": "true" } },
    /bypass/,
  ],
  ["another host", { ...put, headers: { host: "evil.example.com" } }, /"host"/],
  ["a header twice", { ...put, headers: { "If-Match": "a", "if-match": "b" } }, /twice/],
  [
    "a header with a line break",
    { ...put, headers: { "content-type": "a\nx-amz-acl:public-read" } },
    /control character/,
  ],
  ["a header that is no text", { ...put, headers: { "content-type": ["a"] } }, /"content-type"/],
  [
    "a condition on a POST",
    { method: "POST", query: { delete: "" }, headers: { "if-match": "a" } },
    /"if-match"/,
  ],
  ["a second expiry", { ...put, query: { "X-Amz-Expires": "604800" } }, /"X-Amz-Expires"/],
  ["another credential", { ...put, query: { "X-Amz-Credential": "x" } }, /"X-Amz-Credential"/],
  ["a version", { method: "GET", key: "a", query: { versionId: "1" } }, /"versionId"/],
  [
    "a type of the answer",
    { method: "GET", key: "a", query: { "response-content-type": "text/html" } },
    /response-content-type/,
  ],
  ["an object's access list", { method: "GET", key: "a", query: { acl: "" } }, /"acl"/],
  ["the bucket's policy", { method: "GET", query: { ...list.query, policy: "" } }, /"policy"/],
  ["the list of all buckets' uploads", { method: "GET", query: { uploads: "" } }, /"uploads"/],
  ["an older listing", { method: "GET", query: { "list-type": "1" } }, /"list-type"/],
  ["a GET of the bucket without a listing", { method: "GET" }, /"list-type".*missing/],
  ["a POST that is no deletion", { method: "POST" }, /"delete".*missing/],
  ["a POST to a key", { method: "POST", key: "a" }, /"POST"/],
  ["a PUT of the bucket", { method: "PUT" }, /"PUT"/],
  ["a DELETE of the bucket", { method: "DELETE" }, /"DELETE"/],
  ["a method of its own", { method: "OPTIONS", key: "a" }, /"OPTIONS"/],
  ["a method in small letters", { method: "put", key: "a" }, /"put"/],
  ["a method from the prototype", { method: "constructor", key: "a" }, /"constructor"/],
  [
    "a parameter from the prototype",
    { method: "GET", key: "a", query: { constructor: "" } },
    /"constructor"/,
  ],
  ["a key that is no text", { method: "GET", key: { toString: () => "a" } }, /key/],
  ["no request at all", null, /request/],
];

describe("refused by name", () => {
  for (const [name, request, says] of REFUSED) {
    test(name, () => {
      assert.throws(
        () => presignS3(location, request),
        (error) => {
          assert.ok(error instanceof TypeError, error.stack);
          assert.match(error.message, /^presignS3: /);
          assert.match(error.message, says);
          assert.doesNotMatch(error.message, /AKIAEXAMPLE|very-secret/);
          return true;
        },
      );
    });
  }

  for (const seconds of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 604_801, "60", null]) {
    test(`an address that is good for ${JSON.stringify(seconds)} seconds`, () => {
      assert.throws(() => presignS3(location, put, seconds), /expiresInSeconds/);
    });
  }
});

describe("signed", () => {
  const signed = (request, seconds) => new URL(presignS3(location, request, seconds).url);

  test("what a write consists of, each header under the signature", () => {
    const headers = {
      "Content-Type": "text/plain",
      "x-amz-meta-kitbag": "1",
      "if-none-match": "*",
    };
    const { searchParams } = signed({ ...put, headers }, 60);
    assert.equal(
      searchParams.get("X-Amz-SignedHeaders"),
      "content-type;host;if-none-match;x-amz-meta-kitbag",
    );
    assert.equal(searchParams.get("X-Amz-Expires"), "60");
  });

  test("a part of an object, whose range is sent without the signature's cover", () => {
    const headers = { range: "bytes=0-9", "if-none-match": '"e"' };
    const { searchParams } = signed({ method: "GET", key: "a", headers });
    assert.equal(searchParams.get("X-Amz-SignedHeaders"), "host;if-none-match");
  });

  test("each parameter once, whatever was asked", () => {
    const query = { "list-type": "2", prefix: "a/&X-Amz-Expires=9", delimiter: "/" };
    const { searchParams } = signed({ method: "GET", query });
    const names = [...searchParams.keys()];
    assert.equal(new Set(names).size, names.length);
    assert.equal(searchParams.get("prefix"), "a/&X-Amz-Expires=9");
    assert.equal(searchParams.get("X-Amz-Expires"), "300");
  });

  test("every request that a backend makes", () => {
    for (const request of [
      { method: "HEAD", key: "a" },
      { method: "GET", key: "a" },
      { method: "DELETE", key: "a", headers: { "if-match": '"e"' } },
      { method: "PUT", key: "a", headers: { "if-match": '"e"', "content-type": "text/plain" } },
      {
        method: "POST",
        key: "",
        query: { delete: "" },
        headers: { "content-md5": "x", "content-type": "application/xml" },
      },
      { method: "GET", key: "", query: { "list-type": "2", "continuation-token": "t" } },
    ]) {
      assert.match(signed(request).search, /X-Amz-Signature=[0-9a-f]{64}$/);
    }
  });
});

// Addresses with a password and keys that no header can hold: no error shows them.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { inspect } from "node:util";
import { ContextHubBackend, presignS3, S3Backend } from "../lib/kitbag.mjs";

const SECRET = "hunter2-s3cret";
const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "example" };
const place = { region: "us-east-1", bucket: "bucket", credentials };

function hides(shown) {
  const text = inspect(shown, { depth: 20, showHidden: true });
  assert.ok(!text.includes(SECRET), text);
}

function thrownBy(run) {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

const ADDRESSES = [
  `https://user:${SECRET}@host.example`,
  `http://user:${SECRET}@host.example:9000/path`,
  `https://${SECRET}@host.example`,
  `https://:${SECRET}@host.example`,
  `user:${SECRET}@host.example`,
  `//user:${SECRET}@host.example`,
  `ftp://user:${SECRET}@host.example`,
  `https://user:${SECRET}/with/slashes@host.example`,
  `https://us@er:${SECRET}@host.example`,
  `https:user:${SECRET}@host.example`,
  `HTTPS://USER:${SECRET}@HOST.EXAMPLE`,
  `https://user:${SECRET}@host.example:not-a-port`,
  `https://host.example/?token=${SECRET}`,
  `https://host.example/#${SECRET}`,
  `https://user:${SECRET}@`,
];

for (const endpoint of ADDRESSES) {
  test(`the endpoint ${endpoint} is refused without what is secret in it`, async () => {
    const ofBackend = thrownBy(() => new S3Backend({ ...place, endpoint }));
    assert.ok(ofBackend instanceof TypeError, "S3Backend took it");
    hides(ofBackend);
    const ofUrl = thrownBy(() => presignS3({ ...place, endpoint }, { method: "GET", key: "a" }));
    assert.ok(ofUrl instanceof TypeError, "presignS3 took it");
    hides(ofUrl);
    const asRegion = thrownBy(() => new S3Backend({ ...place, region: endpoint }));
    hides(asRegion);
    hides(thrownBy(() => new S3Backend({ ...place, writeMode: endpoint })));
    hides(thrownBy(() => new S3Backend({ ...place, credentials: endpoint })));
  });

  test(`presignS3 does not repeat ${endpoint} from a request`, () => {
    const where = { ...place, endpoint: "https://s3.example" };
    for (const request of [
      { method: endpoint, key: "a" },
      { method: "GET", key: "a", headers: { [endpoint]: "x" } },
      { method: "GET", query: { [endpoint]: "x" } },
    ]) {
      const error = thrownBy(() => presignS3(where, request));
      assert.ok(error instanceof TypeError);
      hides(error);
    }
  });

  test(`the Hub's address ${endpoint} shows nothing secret`, async () => {
    let hub;
    const error = thrownBy(() => {
      hub = new ContextHubBackend("owner/name", { apiKey: "key", baseUrl: endpoint });
    });
    if (error) return hides(error);
    hides(await hub.read("/a.txt", 0, 1, { timeoutMs: 5000 }));
  });
}

const BREAKS = ["\n", "\r", "\r\n", "\0", "\t", "\u00e9", "\u2028", " ", "\x7f", "\n x: "];
for (const between of BREAKS) {
  const apiKey = `${SECRET}${between}${SECRET}`;
  test(`a Hub key with ${JSON.stringify(between)} in it is refused and not shown`, () => {
    const error = thrownBy(() => new ContextHubBackend("owner/name", { apiKey }));
    assert.ok(error instanceof TypeError);
    assert.match(error.message, /apiKey/);
    hides(error);
  });
}

test("a line break at the end of a Hub key, as in a file, is left out", async () => {
  const keys = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["x-api-key"]);
    response.statusCode = 401;
    response.end(`the key ${request.headers["x-api-key"]} is unknown`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  try {
    for (const apiKey of [`${SECRET}\n`, `${SECRET}\r\n`, ` ${SECRET} `]) {
      hides(await new ContextHubBackend("owner/name", { apiKey, baseUrl }).read("/a.txt"));
    }
    assert.deepEqual([...new Set(keys)], [SECRET]);
  } finally {
    server.close();
  }
});

test("an address where nobody listens is not shown by the Hub", async () => {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  const baseUrl = `http://127.0.0.1:${port}/${SECRET}`;
  const hub = new ContextHubBackend("owner/name", { apiKey: "key", baseUrl });
  const answer = await hub.read("/a.txt");
  assert.equal(answer.code, "unavailable");
  hides(answer);
});

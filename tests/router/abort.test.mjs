// Giving a call up through a policy and a router: a request that reads is closed; a change ends with
// the server's answer, and whoever waits for the same file goes on then. The server is S3 as far as
// these calls need it.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import {
  CompositeBackend,
  createFileTools,
  S3Backend,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const LIMIT = { timeout: 30_000 };
const objects = new Map();
/** Requests that came, as "METHOD key". */
let seen = [];
/** The next request of this method is not answered; `held` is told of it. */
let hold;

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://s3");
  const key = decodeURIComponent(pathname).slice("/bucket".length);
  seen.push(`${request.method} ${key}`);
  const chunks = await request.toArray();
  if (hold?.method === request.method) {
    const { held } = hold;
    hold = undefined;
    held(once(response, "close"), (status) => response.writeHead(status).end());
    return;
  }
  if (request.method === "PUT") {
    objects.set(key, Buffer.concat(chunks));
    response.writeHead(200, { etag: `"${objects.size}-${seen.length}"` }).end();
    return;
  }
  // Nothing is below a file that is not there.
  if (searchParams.has("list-type")) {
    const type = { "content-type": "application/xml" };
    response
      .writeHead(200, type)
      .end("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
    return;
  }
  const body = objects.get(key);
  if (body === undefined) response.writeHead(404).end();
  else response.writeHead(200, { etag: '"1"', "content-length": body.length }).end(body);
});

let backend;

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const s3 = new S3Backend({
    endpoint: `http://127.0.0.1:${server.address().port}`,
    region: "us-east-1",
    bucket: "bucket",
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    // Changes of one file take turns here, where the server is not relied on.
    conditions: "ignore",
    cache: false,
    retry: false,
  });
  backend = withPolicy(new CompositeBackend(new StateBackend(), { "/s3/": s3 }), {
    permissions: [{ operations: ["read", "write"], paths: ["/never/**"], mode: "deny" }],
    rateLimit: { operations: 1_000, perMs: 1_000 },
  });
});

after(() => {
  server.close();
  server.closeAllConnections();
});

beforeEach(() => {
  objects.clear();
  objects.set("/a.txt", Buffer.from("one two three"));
  seen = [];
});

/** The next request of a method hangs; resolves when it came, with its end and a way to answer. */
function held(method) {
  return new Promise((resolve) => {
    hold = { method, held: (closed, answer) => resolve({ closed, answer }) };
  });
}

test("an abort of a read closes its request", LIMIT, async () => {
  const controller = new AbortController();
  const request = held("GET");
  const answer = backend.read("/s3/a.txt", 0, 10, { signal: controller.signal });
  const { closed } = await request;
  controller.abort();
  assert.equal((await answer).code, "timeout");
  await closed;
  assert.equal((await backend.read("/s3/a.txt")).content, "one two three");
});

test("a time limit closes the request", LIMIT, async () => {
  const request = held("GET");
  const answer = backend.read("/s3/a.txt", 0, 10, { timeoutMs: 1_000 });
  const { closed } = await request;
  assert.equal((await answer).code, "timeout");
  await closed;
});

test("an abort of a tool closes the request", LIMIT, async () => {
  const controller = new AbortController();
  const request = held("GET");
  const answer = createFileTools(backend).call("read_file", { file_path: "/s3/a.txt" }, controller);
  const { closed } = await request;
  controller.abort();
  assert.equal((await answer).isError, true);
  await closed;
});

test(
  "an abort of an edit lets who waits go on as soon as its request has ended",
  LIMIT,
  async () => {
    const controller = new AbortController();
    const request = held("PUT");
    const first = backend.edit("/s3/a.txt", "one", "1", false, { signal: controller.signal });
    const { closed, answer } = await request;
    let over = false;
    const second = backend.edit("/s3/a.txt", "two", "2").finally(() => {
      over = true;
    });
    controller.abort();
    assert.equal((await first).code, "timeout");
    // The server may still execute it: other requests go through, and the second edit waits.
    for (let turn = 0; turn < 4; turn++) {
      assert.equal((await backend.read("/s3/none.txt")).code, "not_found");
    }
    assert.equal(over, false);
    assert.equal(seen.filter((one) => one === "GET /a.txt").length, 1, "the second edit waits");
    answer(500);
    await closed;
    assert.equal((await second).occurrences, 1);
    const [uploaded] = await backend.uploadFiles([["/s3/a.txt", new Uint8Array([52])]]);
    assert.equal(uploaded.error, null);
    assert.equal(objects.get("/a.txt").toString(), "4");
  },
);

test("an abort of an edit that reads closes its request", LIMIT, async () => {
  const controller = new AbortController();
  const request = held("GET");
  const first = backend.edit("/s3/a.txt", "one", "1", false, { signal: controller.signal });
  const { closed } = await request;
  controller.abort();
  assert.equal((await first).code, "timeout");
  await closed;
  assert.equal((await backend.edit("/s3/a.txt", "two", "2")).occurrences, 1);
});

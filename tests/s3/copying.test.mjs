// Moves and copies by the server. Neither Ceph's gateway 16 nor moto 5 honours a condition of CopyObject:
// that is found out, and content is read and put. Behind a gate that checks them they copy themselves.

import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import test from "node:test";
import { backend, good, newBucket, servers } from "./lib.mjs";
import { KEYS } from "./servers.mjs";
import { signed } from "./sign.mjs";

const SOURCE = "x-amz-copy-source";
const REFUSED = "<Error><Code>PreconditionFailed</Code></Error>";

const bare = (tag) => tag.replaceAll('"', "");

/** A gate before a server: it logs, checks the conditions of copies if it is `strict`, one after the other. */
async function startGate(endpoint, strict) {
  const state = { log: [], bytes: 0, before: () => {} };
  const tag = async (key) => {
    const answer = await signed(KEYS, { method: "HEAD", url: endpoint + key });
    return answer.ok ? bare(answer.headers.get("etag")) : undefined;
  };
  const holds = async ({ url, headers }) => {
    const from = bare(headers["x-amz-copy-source-if-match"]);
    if ((await tag(headers[SOURCE])) !== from) return false;
    const there = await tag(url);
    if (headers["if-none-match"] === "*") return there === undefined;
    return headers["if-match"] === undefined || bare(headers["if-match"]) === there;
  };
  const pass = (incoming, body, outgoing) =>
    new Promise((resolve) => {
      const { method, headers, url } = incoming;
      const onward = request(endpoint + url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.on("data", (chunk) => {
          state.bytes += chunk.length;
        });
        answer.pipe(outgoing).on("finish", resolve);
      });
      onward.end(body);
    });
  let turn = Promise.resolve();
  const server = createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const copies = incoming.headers[SOURCE] !== undefined;
    const probes = incoming.url.includes("kitbag-probe");
    if (!probes) state.log.push(copies ? "COPY" : incoming.method);
    const serve = async () => {
      if (!probes) await state.before(copies ? "COPY" : incoming.method, incoming.url);
      if (strict && copies && !(await holds(incoming))) {
        outgoing.writeHead(412, { "content-length": REFUSED.length }).end(REFUSED);
        return;
      }
      await pass(incoming, Buffer.concat(chunks), outgoing);
    };
    turn = turn.then(serve);
    await turn;
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.endpoint = `http://127.0.0.1:${server.address().port}`;
  state.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return state;
}

const TEXT = "a line of a long text\n".repeat(20_000);

for (const [name, endpoint] of Object.entries(servers)) {
  for (const strict of [false, true]) {
    const who = strict ? `${name} behind a gate that checks conditions` : name;

    test(`${who}: ${strict ? "content stays in the server" : "content is read and put"}`, async (t) => {
      const gate = await startGate(endpoint, strict);
      t.after(() => gate.stop());
      const bucket = await newBucket(endpoint);
      const s3 = backend(gate.endpoint, bucket, { cache: false });
      good(await s3.write("/d/big.txt", TEXT));
      good(await s3.write("/d/e/small ü+.txt", "small"));
      gate.log.length = gate.bytes = 0;
      good(await s3.move("/d", "/new"));
      const count = (what) => gate.log.filter((line) => line === what).length;
      assert.equal(count("COPY"), strict ? 2 : 0, gate.log.join());
      assert.equal(count("PUT"), strict ? 0 : 2, gate.log.join());
      assert.equal(count("DELETE"), 2);
      assert.equal(gate.bytes > TEXT.length, !strict, `${gate.bytes} bytes`);
      const found = good(await s3.glob("**"))
        .files.map((file) => file.path)
        .sort();
      assert.deepEqual(found, ["/new/big.txt", "/new/e/small ü+.txt"]);
      assert.equal(good(await s3.read("/new/big.txt", 19_999)).totalLines, 20_000);
      assert.equal(good(await s3.read("/new/e/small ü+.txt")).content, "small");
      good(await s3.copy("/new/big.txt", "/new/e/small ü+.txt", { overwrite: true }));
      // An object of another tool, whose encoding a HEAD shows.
      const url = `${endpoint}/${bucket}/theirs.md`;
      assert.ok((await signed(KEYS, { method: "PUT", url, body: "theirs" })).ok);
      gate.log.length = 0;
      good(await s3.copy("/theirs.md", "/copied.md"));
      assert.equal(count("COPY"), strict ? 1 : 0);
      assert.equal(good(await s3.read("/copied.md")).content, "theirs");
      good(await s3.edit("/new/e/small ü+.txt", "a line of", "one line of", true));
      assert.equal(good(await s3.read("/new/big.txt", 0, 1)).content, "a line of a long text");
    });

    test(`${who}: what another client writes meanwhile is not lost`, async (t) => {
      const gate = await startGate(endpoint, strict);
      t.after(() => gate.stop());
      const bucket = await newBucket(endpoint);
      const ours = backend(gate.endpoint, bucket);
      const theirs = backend(endpoint, bucket);
      good(await ours.write("/probe.txt", "x"));
      good(await ours.move("/probe.txt", "/probed.txt"));
      const stored = strict ? "COPY" : "PUT";
      const once = (what, act) => {
        gate.before = async (method, url) => {
          if (method !== what || !url.includes("kitbag-")) return;
          gate.before = () => {};
          await act();
        };
      };
      good(await theirs.write("/a.txt", "ours"));
      once(stored, async () => good(await theirs.write("/b.txt", "theirs")));
      assert.equal((await ours.move("/a.txt", "/b.txt")).code, "already_exists");
      assert.equal(good(await theirs.read("/b.txt")).content, "theirs");
      assert.equal(good(await theirs.read("/a.txt")).content, "ours");

      once(stored, async () => good(await theirs.edit("/a.txt", "ours", "edited")));
      const moved = await ours.move("/a.txt", "/c.txt");
      const [a, c] = await Promise.all([theirs.read("/a.txt"), theirs.read("/c.txt")]);
      assert.equal(moved.error ? a.content : c.content, "edited", JSON.stringify([moved, a, c]));
    });
  }
}

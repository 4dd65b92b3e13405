// Requests that go by Node's own client and not by `fetch`: they are answered, decoded, given up and broken off as those
// by `fetch` are. Whoever changed `fetch` or its dispatcher has all requests go there.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSafeServer } from "node:https";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import test, { describe } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { at } from "../../scripts/lib/paths.mjs";
import { HttpBackend, S3Backend, StateBackend, serveFiles } from "./lib.mjs";

const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

/** A server whose requests are looked at; `by` is what sent each. */
async function server(t, given, host = "127.0.0.1") {
  const files = new StateBackend({ files: { "/a.txt": "one\n" }, writeMode: "overwrite" });
  const answer = given ?? serveFiles(() => files).listener;
  const requests = [];
  const sockets = new Set();
  const made = createServer((request, response) => {
    // `fetch` sends this, and Node's client does not.
    const by = request.headers["sec-fetch-mode"] === undefined ? "short" : "fetch";
    requests.push({ by, method: request.method, headers: request.headers });
    sockets.add(request.socket);
    answer(request, response);
  });
  made.listen(0, host);
  await once(made, "listening");
  t.after(() => {
    made.close();
    made.closeAllConnections();
  });
  const by = () => [...new Set(requests.map((one) => one.by))].join(" and ");
  return { port: made.address().port, requests, sockets, by };
}

/** An answer to a read, from a server that is otherwise none. */
function answered(response, value, headers = {}) {
  const body = `${JSON.stringify(value)}\n`;
  response.writeHead(200, {
    ...{ "content-type": "application/vnd.kitbag", "content-length": Buffer.byteLength(body) },
    ...{ "kitbag-ticket": "0123456789abcdef.0", ...headers },
  });
  return response.end(body);
}

/** A bucket of that server. */
const bucketAt = (port) =>
  new S3Backend({
    ...{ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", bucket: "b" },
    ...{ credentials: { accessKeyId: "a", secretAccessKey: "b" }, retry: { baseMs: 1 } },
  });

/** Names of this machine, with the address of each. */
const NAMES = [
  ["127.0.0.1", "127.0.0.1"],
  ["localhost", "localhost"],
  ...(networkInterfaces().lo?.some(({ address }) => address === "::1") ? [["[::1]", "::1"]] : []),
];

describe("a request", () => {
  for (const [name, host] of NAMES) {
    test(`goes past fetch: ${name}`, async (t) => {
      const { port, by, sockets } = await server(t, undefined, host);
      const files = new HttpBackend({ url: `http://${name}:${port}` });
      assert.equal((await files.read("/a.txt")).content, "one\n");
      const large = new Uint8Array(3 << 20).fill(97);
      assert.equal((await files.write("/large.txt", large)).error, undefined);
      const [{ content }] = await files.downloadFiles(["/large.txt"]);
      assert.deepEqual(Buffer.from(content), Buffer.from(large));
      assert.equal((await files.grep("one")).matches.length, 1);
      assert.equal((await files.delete("/large.txt")).error, undefined);
      assert.equal(by(), "short");
      assert.equal(sockets.size, 1, "one connection is used for all");
    });
  }

  test("goes past fetch when fetch was used before", async (t) => {
    const { port, by, requests } = await server(t);
    await (await fetch(`http://127.0.0.1:${port}/a.txt`)).text();
    assert.equal(by(), "fetch");
    requests.length = 0;
    assert.equal(
      (await new HttpBackend({ url: `http://127.0.0.1:${port}` }).ls("/")).error,
      undefined,
    );
    assert.equal(by(), "short");
  });

  test("to another address goes past fetch, and the answer may be packed", async (t) => {
    const { port, by, requests } = await server(t, undefined, "0.0.0.0");
    const files = new HttpBackend({ url: `http://127.0.0.2:${port}` });
    assert.equal((await files.read("/a.txt")).content, "one\n");
    assert.equal(by(), "short");
    const [{ headers }] = requests;
    assert.equal(headers["accept-encoding"], "gzip, deflate, br");
    assert.equal(headers["user-agent"], "node");
  });

  test("by https goes past fetch, and needs a certificate that is trusted", async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "kitbag-test-"));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
    const kind = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
    ];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const made = ["req", "-x509", ...kind, "-keyout", key, "-out", cert, ...names];
    execFileSync("openssl", made, { stdio: "ignore" });
    const files = new StateBackend({ files: { "/a.txt": "one\n" } });
    const { listener } = serveFiles(() => files);
    const seen = [];
    const options = { key: readFileSync(key), cert: readFileSync(cert) };
    const safe = createSafeServer(options, (request, response) => {
      seen.push(request.headers["sec-fetch-mode"]);
      listener(request, response);
    });
    safe.listen(0, "127.0.0.1");
    await once(safe, "listening");
    t.after(() => {
      safe.close();
      safe.closeAllConnections();
    });
    const program = `
      import { HttpBackend } from ${JSON.stringify(at("pkg/dist/node.js"))};
      const files = new HttpBackend({ url: "https://localhost:${safe.address().port}" });
      for (let i = 0; i < 2; i++) console.log(JSON.stringify(await files.read("/a.txt")));
    `;
    const said = async (env) => {
      const args = ["--input-type=module", "-e", program];
      const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
      return String(Buffer.concat(await child.stdout.toArray()));
    };
    assert.match(
      await said({ NODE_EXTRA_CA_CERTS: cert }),
      /^\{"content":"one\\n".*\n\{"content":"one/,
    );
    assert.ok(seen.length > 1 && seen.every((mode) => mode === undefined), String(seen));
    seen.length = 0;
    assert.match(await said({}), /unavailable.*\n.*unavailable/);
    assert.equal(seen.length, 0);
  });

  describe("whose answer is encoded is decoded, as by fetch", () => {
    const text = "one\n".repeat(1_000);
    const packed = {
      gzip: gzipSync(text),
      "X-GZIP": gzipSync(text),
      deflate: deflateSync(text),
      "deflate ": deflateRawSync(text),
      br: brotliCompressSync(text),
      "deflate, gzip": gzipSync(deflateSync(text)),
      identity: Buffer.from(text),
      "": Buffer.from(text),
      "strange, gzip": Buffer.from(text),
    };
    for (const [encoding, body] of Object.entries(packed)) {
      test(encoding || "none", async (t) => {
        const { port, by } = await server(t, (request, response) => {
          if (request.method !== "GET") return response.writeHead(404).end();
          response.writeHead(200, { etag: '"1"', "content-encoding": encoding.trim() });
          return response.end(body);
        });
        const read = () => bucketAt(port).readText("/a.txt");
        assert.equal((await read()).content, text);
        assert.equal(by(), "short");
        const before = globalThis.fetch;
        globalThis.fetch = (...given) => before(...given);
        try {
          assert.equal((await read()).content, text);
        } finally {
          globalThis.fetch = before;
        }
        assert.equal(by(), "short and fetch");
      });
    }

    test("and a broken one is no answer", async (t) => {
      let count = 0;
      const { port } = await server(t, (_request, response) => {
        count += 1;
        response.writeHead(200, { etag: '"1"', "content-encoding": "gzip" });
        response.end(gzipSync(text).subarray(0, count > 1 ? undefined : 30));
      });
      assert.equal((await bucketAt(port).readText("/a.txt")).content, text);
      assert.equal(count, 2);
    });
  });

  test("with a header about the connection goes by fetch", async (t) => {
    const { port, by, requests } = await server(t);
    const url = `http://127.0.0.1:${port}`;
    for (const headers of [{ connection: "close" }, { "Transfer-Encoding": "chunked" }]) {
      await new HttpBackend({ url, headers }).read("/a.txt");
    }
    assert.equal(by(), "fetch");
    assert.ok(requests.every(({ headers }) => headers["transfer-encoding"] === undefined));
  });

  test("with a header that has a line feed is refused", async (t) => {
    const { port, requests } = await server(t);
    const headers = () => ({ "x-a": "b\r\nx-kitbag: 1" });
    const { code } = await new HttpBackend({ url: `http://127.0.0.1:${port}`, headers }).read(
      "/a.txt",
    );
    assert.equal(code, "unavailable");
    assert.equal(requests.length, 0);
  });

  test("takes the headers of the owner", async (t) => {
    const { port, requests, by } = await server(t);
    const headers = async () => ({ Authorization: "Bearer t", "X-Own": "ä".normalize("NFC") });
    const files = new HttpBackend({ url: `http://127.0.0.1:${port}`, headers });
    assert.equal((await files.read("/a.txt")).content, "one\n");
    const [{ headers: got }] = requests;
    assert.equal(got.authorization, "Bearer t");
    assert.equal(got["x-own"], "ä");
    assert.equal(got["accept-encoding"], "identity");
    assert.equal(by(), "short");
  });

  test("that is given up ends the connection", async (t) => {
    let closed;
    const gone = new Promise((resolve) => {
      closed = resolve;
    });
    const controller = new AbortController();
    const { port } = await server(t, (_request, response) => {
      response.on("close", closed);
      controller.abort();
    });
    const files = new HttpBackend({ url: `http://127.0.0.1:${port}` });
    const { error } = await files.read("/a.txt", 0, 10, { signal: controller.signal });
    assert.match(error, /cancelled by its signal/);
    await gone;
  });

  test("that is given up amid the answer ends the connection", async (t) => {
    let closed;
    const gone = new Promise((resolve) => {
      closed = resolve;
    });
    const controller = new AbortController();
    const { port } = await server(t, (_request, response) => {
      response.on("close", closed);
      response.writeHead(200, { "content-type": "application/vnd.kitbag" });
      response.write('{"content":"', () => setTimeout(() => controller.abort(), 50));
    });
    const files = new HttpBackend({ url: `http://127.0.0.1:${port}` });
    const { error } = await files.read("/a.txt", 0, 10, { signal: controller.signal });
    assert.match(error, /cancelled by its signal/);
    await gone;
  });

  test("whose answer breaks off is sent again", async (t) => {
    let count = 0;
    const { port } = await server(t, (request, response) => {
      const { op } = JSON.parse(request.headers["x-kitbag-query"]);
      if (op !== "read") return answered(response, { capability: {}, commit: "none" });
      count += 1;
      if (count > 2) return answered(response, { content: "whole", totalLines: 1 });
      const headers = { "content-type": "application/vnd.kitbag", "content-length": 500 };
      response.writeHead(200, headers).write('{"content":"half');
      setTimeout(() => response.destroy(), 10);
    });
    const files = new HttpBackend({ url: `http://127.0.0.1:${port}` });
    assert.equal((await files.read("/a.txt")).content, "whole");
    assert.equal(count, 3);
  });

  test("that nobody answers says so", async (t) => {
    const { port } = await server(t, (request) => request.socket.destroy());
    const files = new HttpBackend({ url: `http://127.0.0.1:${port}` });
    const reset = await files.read("/a.txt");
    assert.equal(reset.code, "unavailable");
    assert.match(reset.error, /ECONNRESET/);
    const closed = await new HttpBackend({ url: "http://127.0.0.1:1" }).read("/a.txt");
    assert.match(closed.error, /ECONNREFUSED/);
  });

  test("follows no redirect", async (t) => {
    const { port, requests } = await server(t, (_request, response) =>
      response.writeHead(307, { location: "/other" }).end(),
    );
    const { error, code } = await new HttpBackend({ url: `http://127.0.0.1:${port}` }).read(
      "/a.txt",
    );
    assert.equal(code, "unavailable");
    assert.match(error, /redirects/);
    assert.equal(requests.length, 1);
  });

  test("does not keep a process that has nothing else to do", async (t) => {
    const { port } = await server(t);
    const program = `
      import { HttpBackend } from ${JSON.stringify(at("pkg/dist/node.js"))};
      const files = new HttpBackend({ url: "http://127.0.0.1:${port}" });
      console.log((await files.read("/a.txt")).content);
      console.log(process._getActiveHandles().filter((one) => one.hasRef?.() && one.remotePort).length);
    `;
    const args = ["--input-type=module", "-e", program];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const began = performance.now();
    const said = await child.stdout.toArray();
    const [code] = await once(child, "exit");
    assert.equal(code, 0);
    assert.equal(String(Buffer.concat(said)), "one\n\n0\n");
    assert.ok(performance.now() - began < 3_000, "it ends before an idle connection does");
  });
});

describe("who changed how requests are sent", () => {
  test("by another fetch, has it used", async (t) => {
    const { port, by } = await server(t);
    const before = globalThis.fetch;
    t.after(() => {
      globalThis.fetch = before;
    });
    let calls = 0;
    globalThis.fetch = (...given) => {
      calls += 1;
      return before(...given);
    };
    const files = new HttpBackend({ url: `http://127.0.0.1:${port}` });
    assert.equal((await files.read("/a.txt")).content, "one\n");
    assert.equal(by(), "fetch");
    assert.ok(calls > 0);
    globalThis.fetch = before;
    assert.equal((await files.read("/a.txt")).content, "one\n");
    assert.equal(by(), "fetch and short");
  });

  test("by the option fetch, has it used", async (t) => {
    const { port, by } = await server(t);
    const files = new HttpBackend({ url: `http://127.0.0.1:${port}`, fetch });
    assert.equal((await files.read("/a.txt")).content, "one\n");
    assert.equal(by(), "fetch");
  });

  for (const [how, change] of [
    ["another dispatcher", (own) => new (class MyAgent extends own.constructor {})()],
    ["a method of the dispatcher", (own) => new Proxy(own, { get: composed })],
    ["an object of another library", (own) => ({ dispatch: (...given) => own.dispatch(...given) })],
  ]) {
    test(`by ${how}, has fetch used`, async (t) => {
      const { port, by } = await server(t);
      await fetch("http://127.0.0.1:1").catch(() => {});
      const own = globalThis[DISPATCHER];
      t.after(() => {
        globalThis[DISPATCHER] = own;
      });
      globalThis[DISPATCHER] = change(own);
      const files = new HttpBackend({ url: `http://127.0.0.1:${port}` });
      assert.equal((await files.read("/a.txt")).content, "one\n");
      assert.equal(by(), "fetch");
    });
  }
});

/** As interceptors are added to a dispatcher. */
function composed(own, name) {
  const value = own[name];
  if (name === "dispatch") return (...given) => own.dispatch(...given);
  return typeof value === "function" && name !== "constructor" ? value.bind(own) : value;
}

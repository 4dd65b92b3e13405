// A small S3 server in memory that is as quick as Node allows: it knows neither signatures nor the
// conditions of a change. It stands in for a fast service where a test measures the
// client, since Ceph on the same two cores takes as long for a request as the client does; and for
// a server that ignores conditions.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { thread } from "./relay.mjs";
import { name, prose, source } from "./sources.mjs";

const PAGE = 1000;

/** Starts the server, with so many files in it, source code if they have `lines`: `{ endpoint, stop }`. */
export async function startQuick({ objects: count = 0, lines = 0 } = {}) {
  const objects = new Map();
  for (let at = 0; at < count; at++) {
    const body = lines ? source(at, lines) : prose(at);
    store(objects, name(at).slice(1), Buffer.from(body), "text/plain");
  }
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (incoming, outgoing) => {
    const [path, query = ""] = incoming.url.split("?");
    if (incoming.method === "PUT") return put(objects, path, incoming, outgoing);
    if (query.includes("list-type")) return list(objects, new URLSearchParams(query), outgoing);
    if (incoming.method === "DELETE") {
      objects.delete(keyOf(path));
      return void outgoing.writeHead(204).end();
    }
    return get(objects.get(keyOf(path)), incoming, outgoing);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The server in a thread of its own: `{ endpoint, stop }`. */
export function startQuickThread(filled = {}) {
  return thread(
    `
    import { parentPort, workerData } from "node:worker_threads";
    import { startQuick } from ${JSON.stringify(import.meta.url)};
    parentPort.on("message", () => {});
    parentPort.postMessage((await startQuick(workerData)).endpoint);
  `,
    filled,
  );
}

/** `/bucket/key`: the bucket is whatever it is. */
function keyOf(path) {
  return decodeURIComponent(path.slice(path.indexOf("/", 1) + 1));
}

function put(objects, path, incoming, outgoing) {
  const chunks = [];
  incoming.on("data", (chunk) => chunks.push(chunk));
  incoming.on("end", () => {
    const body = Buffer.concat(chunks);
    const { headers } = incoming;
    const type = headers["content-type"];
    const etag = store(objects, keyOf(path), body, type, headers["x-amz-meta-kitbag"]);
    outgoing.writeHead(200, { etag, "content-length": 0 }).end();
  });
}

/** Stores an object; its ETag. */
function store(objects, key, body, type, note) {
  const etag = `"${createHash("md5").update(body).digest("hex")}"`;
  const time = new Date();
  const headers = {
    etag,
    "content-type": type,
    "content-length": body.length,
    "last-modified": time.toUTCString(),
    ...(note === undefined ? {} : { "x-amz-meta-kitbag": note }),
  };
  objects.set(key, { body, etag, time: time.toISOString(), headers });
  return etag;
}

function get(object, incoming, outgoing) {
  if (!object) return void outgoing.writeHead(404, { "content-length": 0 }).end();
  if (incoming.headers["if-none-match"] === object.etag) {
    return void outgoing.writeHead(304, { etag: object.etag }).end();
  }
  const range = /^bytes=(\d+)-(\d+)$/.exec(incoming.headers.range ?? "");
  if (!range) return void outgoing.writeHead(200, object.headers).end(object.body);
  const [from, to] = [Number(range[1]), Number(range[2])];
  const part = object.body.subarray(from, to + 1);
  const headers = {
    ...object.headers,
    "content-length": part.length,
    "content-range": `bytes ${from}-${from + part.length - 1}/${object.body.length}`,
  };
  outgoing.writeHead(206, headers).end(part);
}

/** Keys in order, until one is added or removed. */
const sorted = new WeakMap();

function inOrder(objects) {
  let known = sorted.get(objects);
  if (known?.size !== objects.size) {
    known = { size: objects.size, keys: [...objects.keys()].sort() };
    sorted.set(objects, known);
  }
  return known.keys;
}

/** The index of the first key for which `reached` holds, and so for all behind it. */
function firstWhere(keys, reached) {
  let [from, to] = [0, keys.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (reached(keys[middle])) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The keys of the tests need no escaping. */
function list(objects, query, outgoing) {
  const prefix = query.get("prefix") ?? "";
  const after = query.get("continuation-token") ?? query.get("start-after") ?? "";
  const all = inOrder(objects);
  const from = firstWhere(all, (key) => key > after && key >= prefix);
  const keys = all.slice(from, from + PAGE + 1).filter((key) => key.startsWith(prefix));
  const shown = keys.slice(0, PAGE).map((key) => {
    const { etag, body, time } = objects.get(key);
    return `<Contents><Key>${key}</Key><LastModified>${time}</LastModified><ETag>${etag}</ETag><Size>${body.length}</Size></Contents>`;
  });
  const more = keys.length > PAGE;
  const token = more ? `<NextContinuationToken>${keys[PAGE - 1]}</NextContinuationToken>` : "";
  const text = `<ListBucketResult>${shown.join("")}<IsTruncated>${more}</IsTruncated>${token}</ListBucketResult>`;
  outgoing.writeHead(200, { "content-length": Buffer.byteLength(text) }).end(text);
}

// A small S3 server in memory that is as quick as Node allows: it knows neither signatures, nor
// ranges, nor the conditions of a change. It stands in for a fast service where a test measures the
// client, since Ceph on the same two cores takes as long for a request as the client does; and for
// a server that ignores conditions.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { thread } from "./relay.mjs";

const PAGE = 1000;

/** Starts the server: `{ endpoint, stop }`. */
export async function startQuick() {
  const objects = new Map();
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
export function startQuickThread() {
  return thread(
    `
    import { parentPort } from "node:worker_threads";
    import { startQuick } from ${JSON.stringify(import.meta.url)};
    parentPort.on("message", () => {});
    parentPort.postMessage((await startQuick()).endpoint);
  `,
    {},
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
    const etag = `"${createHash("md5").update(body).digest("hex")}"`;
    const type = incoming.headers["content-type"];
    const note = incoming.headers["x-amz-meta-kitbag"];
    const time = new Date();
    const headers = {
      etag,
      "content-type": type,
      "content-length": body.length,
      "last-modified": time.toUTCString(),
      "x-amz-meta-kitbag": note,
    };
    objects.set(keyOf(path), { body, etag, time: time.toISOString(), headers });
    outgoing.writeHead(200, { etag, "content-length": 0 }).end();
  });
}

function get(object, incoming, outgoing) {
  if (!object) return void outgoing.writeHead(404, { "content-length": 0 }).end();
  if (incoming.headers["if-none-match"] === object.etag) {
    return void outgoing.writeHead(304, { etag: object.etag }).end();
  }
  outgoing.writeHead(200, object.headers).end(object.body);
}

/** The keys of the tests need no escaping. */
function list(objects, query, outgoing) {
  const prefix = query.get("prefix") ?? "";
  const after = query.get("continuation-token") ?? "";
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const shown = keys.slice(0, PAGE).map((key) => {
    const { etag, body, time } = objects.get(key);
    return `<Contents><Key>${key}</Key><LastModified>${time}</LastModified><ETag>${etag}</ETag><Size>${body.length}</Size></Contents>`;
  });
  const more = keys.length > PAGE;
  const token = more ? `<NextContinuationToken>${keys[PAGE - 1]}</NextContinuationToken>` : "";
  const text = `<ListBucketResult>${shown.join("")}<IsTruncated>${more}</IsTruncated>${token}</ListBucketResult>`;
  outgoing.writeHead(200, { "content-length": Buffer.byteLength(text) }).end(text);
}

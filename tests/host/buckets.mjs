// Buckets whose changes wait at a gate: a server of the S3 API, and the R2 binding of a Worker. A
// change that arrives is executed when the test lets it, whether or not its client still waits.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { bytes } from "./gate.mjs";
import { kitbag } from "./lib.mjs";

const { R2Backend, S3Backend } = kitbag;
const RETRY = { attempts: 2, baseMs: 1, maxMs: 2, timeoutMs: 600_000 };
const MODE = { writeMode: "overwrite", cache: false, retry: RETRY };

/** Objects by key; a put or delete is refused, with `false`, if its condition does not hold. */
class Objects {
  all = new Map();

  holds(key, { ifMatch, ifNoneMatch }) {
    const etag = this.all.get(key)?.etag;
    if (ifNoneMatch === "*" && etag !== undefined) return false;
    return ifMatch === undefined || (etag !== undefined && ifMatch.replaceAll('"', "") === etag);
  }

  put(key, body, note, condition = {}) {
    if (!this.holds(key, condition)) return false;
    const etag = createHash("md5").update(body).digest("hex");
    this.all.set(key, { key, body: Buffer.from(body), note, etag });
    return this.all.get(key);
  }

  delete(key, condition = {}) {
    return this.holds(key, condition) && (this.all.delete(key) || true);
  }

  within(prefix) {
    return [...this.all.values()].filter(({ key }) => key.startsWith(prefix));
  }
}

async function serve(gate, objects, honours) {
  const closed = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://s3");
    const key = decodeURIComponent(url.pathname).replace(/^\/bucket\/?/, "");
    const body = Buffer.concat(await request.toArray());
    const condition = !honours
      ? {}
      : {
          ifMatch: request.headers["if-match"],
          ifNoneMatch: request.method === "PUT" ? request.headers["if-none-match"] : undefined,
        };
    // The server can stop as soon as it has answered.
    response.setHeader("connection", "close");
    const reply = (status, headers = {}, text = "") =>
      response
        .writeHead(status, { "content-length": Buffer.byteLength(text), ...headers })
        .end(text);
    response.once("close", () => closed.push(`${request.method} ${key}`));
    if (request.method === "PUT") {
      const note = request.headers["x-amz-meta-kitbag"];
      const stored = await gate.pass(() => objects.put(key, body, note, condition));
      return stored === false ? reply(412) : reply(200, { etag: `"${stored.etag}"` });
    }
    if (request.method === "DELETE") {
      return reply((await gate.pass(() => objects.delete(key, condition))) ? 204 : 412);
    }
    if (request.method === "POST") {
      const keys = [...body.toString().matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key);
      await gate.pass(() => keys.map((key) => objects.delete(key)));
      const gone = keys.map((key) => `<Deleted><Key>${key}</Key></Deleted>`).join("");
      return reply(200, {}, `<DeleteResult>${gone}</DeleteResult>`);
    }
    if (url.searchParams.has("list-type")) {
      const rows = objects
        .within(url.searchParams.get("prefix") ?? "")
        .map(
          ({ key, body, etag }) =>
            `<Contents><Key>${key}</Key><Size>${body.length}</Size><ETag>"${etag}"</ETag><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`,
        );
      const text = `<ListBucketResult><IsTruncated>false</IsTruncated>${rows.join("")}</ListBucketResult>`;
      return reply(200, {}, text);
    }
    const found = objects.all.get(key);
    if (!found) return reply(404);
    const note = found.note === undefined ? {} : { "x-amz-meta-kitbag": found.note };
    const headers = { etag: `"${found.etag}"`, "content-length": found.body.length, ...note };
    response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : found.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, closed };
}

async function s3(gate, conditions, more) {
  const objects = new Objects();
  const { server, closed } = await serve(gate, objects, conditions === "trust");
  const backend = new S3Backend({
    endpoint: `http://127.0.0.1:${server.address().port}`,
    region: "us-east-1",
    bucket: "bucket",
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    conditions,
    ...MODE,
    ...more,
  });
  const stop = () => new Promise((resolve) => server.close(resolve));
  return { backend, objects, closed, stop };
}

function r2(gate, more) {
  const objects = new Objects();
  const shown = (object) =>
    object && {
      ...object,
      size: object.body.length,
      uploaded: new Date(0),
      customMetadata: { kitbag: object.note },
      httpMetadata: {},
    };
  const binding = {
    head: async (key) => shown(objects.all.get(key)) ?? null,
    get: async (key) => {
      const object = objects.all.get(key);
      const arrayBuffer = async () => new Uint8Array(object.body).buffer;
      return object ? { ...shown(object), body: {}, arrayBuffer } : null;
    },
    put: async (key, body, { onlyIf, customMetadata } = {}) => {
      const condition = {
        ifMatch: onlyIf?.get("if-match") ?? undefined,
        ifNoneMatch: onlyIf?.get("if-none-match") ?? undefined,
      };
      const copy = body.slice();
      const store = () => objects.put(key, copy, customMetadata.kitbag, condition);
      return shown((await gate.pass(store)) || undefined) ?? null;
    },
    delete: (keys) => Promise.resolve(gate.pass(() => [keys].flat().map((k) => objects.delete(k)))),
    list: async ({ prefix = "" }) => ({
      objects: objects.within(prefix).map(shown),
      delimitedPrefixes: [],
      truncated: false,
    }),
  };
  const backend = new R2Backend({ bucket: binding, ...MODE, ...more });
  return { backend, objects, closed: [], stop: async () => {} };
}

/** Each kind of bucket, and whether puts have conditions that it checks. */
export const BUCKETS = {
  "S3 that ignores conditions": {
    conditional: false,
    http: true,
    make: (gate, more) => s3(gate, "ignore", more),
  },
  S3: { conditional: true, http: true, make: (gate, more) => s3(gate, "trust", more) },
  R2: { conditional: true, http: false, make: async (gate, more) => r2(gate, more) },
};

/** A bucket with some files, at which changes wait from now on. */
export async function begin(gate, { make }, { empty = false, more = {} } = {}) {
  gate.open = true;
  const bucket = await make(gate, more);
  const names = empty ? ["other.txt"] : ["d/a.txt", "d/b.txt", "other.txt"];
  for (const name of names) bucket.objects.put(name, bytes("old"));
  gate.open = false;
  return bucket;
}

// Serves a folder of static files under a path of its own, as any host would, with gzip; counts what
// is sent.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** `also` is a folder whose files come first. `sent` has the name and the compressed size of every answer. */
export async function serveFolder(folder, { base = "/play/ground/", also } = {}) {
  const sent = [];
  const packed = new Map();
  const fileIn = (root, path) => {
    const file = normalize(join(root, path.endsWith("/") ? `${path}index.html` : path));
    if (!file.startsWith(normalize(root) + sep)) return undefined;
    if (!packed.has(file)) {
      try {
        packed.set(file, gzipSync(readFileSync(file)));
      } catch {
        return undefined;
      }
    }
    return { type: TYPES[extname(file)] ?? "application/octet-stream", body: packed.get(file) };
  };
  const fileOf = (path) => (also && fileIn(also, path)) ?? fileIn(folder, path);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const found = path.startsWith(base) ? fileOf(path.slice(base.length - 1)) : undefined;
    if (!found) return void response.writeHead(404).end();
    // What the service worker stores for later is no part of the first load.
    const worker = /sw\.js$/.test(request.headers.referer ?? "") || path.endsWith("/sw.js");
    sent.push({ path: path.slice(base.length), bytes: found.body.length, worker });
    response
      .writeHead(200, { "content-type": found.type, "content-encoding": "gzip" })
      .end(found.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://localhost:${server.address().port}${base}`,
    sent,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

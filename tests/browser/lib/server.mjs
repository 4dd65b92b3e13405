// Serves the built package and the pages of these tests on a free port of this machine only.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(dirname(here));

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** With these a page is isolated from other origins, and its clock is finer: 5 µs instead of 100. */
const ISOLATED = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

/**
 * `mounts` adds folders: `{ "/name/": "/absolute/folder" }`; `told(path, data)` is called with
 * the JSON that a page posts; `isolated` pages have a fine clock.
 */
export async function serve({ pkg = join(root, "pkg"), mounts = {}, told, isolated = false } = {}) {
  const own = { "/pkg/": pkg, "/pages/": join(here, "pages"), "/lib/": join(root, "tests/lib") };
  const folders = { ...own, ...mounts };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    if (request.method === "POST" && told) {
      const parts = [];
      request.on("data", (part) => parts.push(part));
      request.on("end", () => {
        told(path, JSON.parse(Buffer.concat(parts).toString()));
        response.writeHead(204).end();
      });
      return;
    }
    const mount = Object.keys(folders).find((prefix) => path.startsWith(prefix));
    const file = mount && normalize(join(folders[mount], path.slice(mount.length)));
    let found = false;
    try {
      found = file?.startsWith(normalize(folders[mount]) + sep) && statSync(file).isFile();
    } catch {}
    if (!found) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[/\.[a-z]+$/.exec(file)?.[0]] ?? "application/octet-stream";
    response.writeHead(200, {
      "content-type": type,
      "cache-control": "no-store",
      "access-control-allow-origin": "*",
      ...(isolated && ISOLATED),
    });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    // A name that every browser takes for a secure context.
    origin: `http://localhost:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

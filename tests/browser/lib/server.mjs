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

/**
 * `mounts` adds folders: `{ "/name/": "/absolute/folder" }`; `told(path, data)` is called with
 * the JSON that a page posts.
 */
export async function serve({ pkg = join(root, "pkg"), mounts = {}, told } = {}) {
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
    /** The same under another name, which has storages of its own. */
    otherOrigin: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

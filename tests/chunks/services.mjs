// What the tests give to every host: a database, commands and folders of this machine. Hosts other
// than Node reach them over HTTP (`remote.mjs`).

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { at } from "../../scripts/lib/paths.mjs";
import { decoded, encoded } from "./remote.mjs";

const { Database } = createRequire(at("tests/deps/durable/package.json"))("node-sqlite3-wasm");

/** `{ query, execute, folder, stop }`. */
export function services() {
  const base = mkdtempSync(join(tmpdir(), "kitbag-chunks-"));
  const database = new Database(":memory:");
  return {
    query: (sql, params) => database.all(sql, params),
    execute,
    folder: () => mkdtempSync(join(base, "f")),
    stop() {
      database.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function execute(command) {
  return new Promise((resolve) => {
    const child = spawn("busybox", ["sh", "-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part) => {
        output += part;
      });
    }
    child.once("close", (exitCode) => resolve({ output, exitCode, truncated: false }));
  });
}

/** Serves them over HTTP, to pages of any origin. */
export async function serve(offered) {
  const server = createServer(async (request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    try {
      const { pathname } = new URL(request.url, "http://localhost");
      const given = decoded(await text(request));
      response.end(encoded(await offered[pathname.slice(1)](...given)));
    } catch (error) {
      response.writeHead(500).end(String(error?.stack ?? error));
    }
  });
  // A client may find a connection closed that it is about to use again.
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

// A git repository behind smart HTTP on loopback: `git http-backend`, as a web server runs it.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { folder } from "./lib.mjs";

/** Runs git without the settings of the user and the machine. */
export function git(cwd, ...args) {
  const env = {
    ...{ PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" },
    ...{ GIT_AUTHOR_NAME: "Ann", GIT_AUTHOR_EMAIL: "ann@example.org" },
    ...{ GIT_COMMITTER_NAME: "Ann", GIT_COMMITTER_EMAIL: "ann@example.org" },
  };
  return execFileSync("git", args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** The head of a CGI program's output, and where the body begins; undefined if it is not complete. */
function headOf(bytes) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const lines = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers = lines.map((line) => line.split(/: */, 2));
  const status = Number(headers.find(([name]) => name.toLowerCase() === "status")?.[1].slice(0, 3));
  return { status: status || 200, headers, body: bytes.subarray(end + 4) };
}

function answer(root, request, response) {
  const { pathname, search } = new URL(request.url, "http://localhost");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      REMOTE_USER: "ann",
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  backend.stdin.on("error", () => {});
  request.pipe(backend.stdin);
  const parts = [];
  backend.stdout.on("data", (part) => parts.push(part));
  backend.on("close", () => {
    const head = headOf(Buffer.concat(parts));
    if (!head) return response.writeHead(500).end();
    response.statusCode = head.status;
    for (const [name, value] of head.headers) {
      if (name.toLowerCase() !== "status") response.setHeader(name, value);
    }
    response.end(head.body);
  });
}

/**
 * Serves the repositories below a folder until the test is done, and the pages of a record of path to
 * `[type, body]`; returns the address.
 */
export async function serve(t, root, pages = {}) {
  const server = createServer((request, response) => {
    const page = pages[request.url];
    if (page) response.writeHead(200, { "content-type": page[0] }).end(page[1]);
    else answer(root, request, response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** A repository with two commits: its folder, and its address beside that of the pages. */
export async function repository(t, pages) {
  const root = folder(t);
  git(root, "init", "-q", "--bare", "-b", "main", "origin.git");
  git(root, "-C", "origin.git", "config", "http.receivepack", "true");
  git(root, "clone", "-q", "origin.git", "first");
  const work = join(root, "first");
  mkdirSync(join(work, "src/deep"), { recursive: true });
  writeFileSync(join(work, "README.md"), "# One\n");
  writeFileSync(join(work, "src/deep/ünï.txt"), "text\r\n");
  writeFileSync(join(work, "picture.png"), Uint8Array.of(0x89, 0x50, 0, 255));
  git(work, "add", ".");
  git(work, "commit", "-qm", "First");
  for (let at = 0; at < 30; at++)
    writeFileSync(join(work, `src/file-${at}.ts`), `export {}; // ${at}\n`);
  git(work, "add", ".");
  git(work, "commit", "-qm", "Second");
  git(work, "push", "-q", "origin", "HEAD:main");
  return { root, url: `${await serve(t, root, pages)}/origin.git` };
}

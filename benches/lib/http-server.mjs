// The server of `bench -- http`, a process of its own: files by `serveFiles`, and the same bytes by a plain
// server of Node. It answers the questions of its parent.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { FilesystemBackend, StateBackend } from "../../pkg/dist/node.js";
import { serveFiles } from "../../pkg/dist/serve_files.js";
import { listen } from "../../tests/reach/lib.mjs";
import { corpus } from "./corpus.mjs";

const [, , rootDir] = process.argv;
const disk = new FilesystemBackend({ rootDir });
const memory = new StateBackend({ files: corpus(10_000, Number.POSITIVE_INFINITY).files });
const [onDisk, inMemory] = await Promise.all(
  [disk, memory].map((backend) => listen(serveFiles(() => backend))),
);
let answer = Buffer.alloc(0);
const plain = createServer(async (request, response) => {
  const body = request.url === "/answer" ? answer : await readFile(join(rootDir, request.url));
  response.writeHead(200, { "content-length": body.length }).end(body);
});
await new Promise((resolve) => plain.listen(0, "127.0.0.1", resolve));

let peak = 0;
let watching;
const ASKED = {
  addresses: () => ({
    disk: onDisk.url,
    memory: inMemory.url,
    plain: `http://127.0.0.1:${plain.address().port}`,
  }),
  grep: (text) => {
    const began = performance.now();
    const { matches } = memory.grep(text);
    const ms = performance.now() - began;
    answer = Buffer.from(matches.map((match) => `${JSON.stringify(match)}\n`).join(""));
    return { ms, matches: matches.length, bytes: answer.length };
  },
  watchMemory: () => {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    peak = 0;
    watching = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss - before);
    }, 5);
    return before;
  },
  memory: () => {
    clearInterval(watching);
    return peak;
  },
};
process.on("message", ({ name, argument }) => process.send(ASKED[name](argument)));
process.on("disconnect", () => process.exit());
process.send("ready");

// A server of `bench -- http`, a process of its own: a search of files in memory by `serveFiles`, the same by
// a server that is nothing but this search, and files of a folder, or the answer of the last search, by a plain
// server of Node. It answers the questions of its parent.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { StateBackend } from "../../pkg/dist/node.js";
import { serveFiles } from "../../pkg/dist/serve_files.js";
import { corpus } from "./corpus.mjs";

const [, , rootDir] = process.argv;
const memory = new StateBackend({ files: corpus(10_000, Number.POSITIVE_INFINITY).files });
const inMemory = createServer(serveFiles(() => memory).listener);
await new Promise((resolve) => inMemory.listen(0, "127.0.0.1", resolve));
const linesOf = (matches) => Buffer.from(matches.map((one) => `${JSON.stringify(one)}\n`).join(""));
const byHand = createServer((request, response) => {
  const { matches } = memory.grep(decodeURIComponent(request.url.slice(1)));
  const body = linesOf(matches);
  response.writeHead(200, { "content-length": body.length }).end(body);
});
await new Promise((resolve) => byHand.listen(0, "127.0.0.1", resolve));
let answer = Buffer.alloc(0);
const plain = createServer(async (request, response) => {
  const body = request.url === "/answer" ? answer : await readFile(join(rootDir, request.url));
  response.writeHead(200, { "content-length": body.length }).end(body);
});
await new Promise((resolve) => plain.listen(0, "127.0.0.1", resolve));

const ASKED = {
  addresses: () => ({
    byHand: `http://127.0.0.1:${byHand.address().port}`,
    memory: `http://127.0.0.1:${inMemory.address().port}`,
    plain: `http://127.0.0.1:${plain.address().port}`,
  }),
  grep: (text) => {
    const began = performance.now();
    const { matches } = memory.grep(text);
    const ms = performance.now() - began;
    answer = linesOf(matches);
    return { ms, matches: matches.length };
  },
};
process.on("message", ({ name, argument }) => process.send(ASKED[name](argument)));
process.on("disconnect", () => process.exit());
process.send("ready");

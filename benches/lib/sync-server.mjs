// A server of `bench -- sync`, a process of its own: a folder over HTTP, each request after a latency.

import { createServer } from "node:http";
import { FilesystemBackend } from "../../pkg/dist/node.js";
import { serveFiles } from "../../pkg/dist/serve_files.js";

const [, , rootDir, latencyMs] = process.argv;
const folder = new FilesystemBackend({ rootDir });
const { listener } = serveFiles(() => folder);
const server = createServer((request, response) => {
  setTimeout(() => listener(request, response), Number(latencyMs));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
process.on("disconnect", () => process.exit());
process.send(`http://127.0.0.1:${server.address().port}`);

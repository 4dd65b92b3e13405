// Serves the example `edge` under jco on a free port of loopback, until its input ends: `edge-server.mjs DIRECTORY`. A
// process of its own, because an instance waits for a request without letting anything else run.

import { edge } from "./edge.mjs";
import { ofSuite } from "./glue.mjs";

const { WASIShim } = await ofSuite("@bytecodealliance/preview2-shim/instantiation");
const { HTTPServer } = await ofSuite("@bytecodealliance/preview2-shim/http");
const make = await edge();
const shim = new WASIShim({
  sandbox: { preopens: { "/data": process.argv[2] }, env: {}, enableNetwork: false },
});
const server = new HTTPServer({
  // The engine answers one request an instance; wasmtime makes one for each, too.
  handle: (request, out) => make(shim.getImportObject()).incomingHandler.handle(request, out),
});
server.listen(0, "127.0.0.1");
console.log(`http://127.0.0.1:${server.address().port}`);
process.stdin.resume().once("end", () => process.exit());

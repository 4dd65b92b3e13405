// In a thread of its own: `kitbag/fs` in a host that has neither Buffer nor streams. Modules look for them
// when they are loaded.

import assert from "node:assert/strict";

const stream = await import("node:stream");
globalThis.Buffer = undefined;
process.getBuiltinModule = undefined;
const { createFs } = await import("../../pkg/dist/fs.js");
const { StateBackend } = await import("../../pkg/dist/node.js");

const fs = createFs(new StateBackend({ files: {} }));
for (const encoding of ["utf8", "latin1", "base64", "hex", "utf16le"]) {
  const given = { base64: "AP8=", hex: "00ff" }[encoding] ?? "grüße";
  fs.writeFileSync("/a", given, encoding);
  assert.equal(fs.readFileSync("/a", encoding), given);
}
const bytes = await fs.promises.readFile("/a");
assert.equal(bytes.constructor, Uint8Array);
assert.throws(() => fs.createReadStream("/a"), /option "stream"/);
const streaming = createFs(new StateBackend({ files: { "/a": "text" } }), { stream });
let all = "";
for await (const part of streaming.createReadStream("/a", "utf8")) all += part;
assert.equal(all, "text");

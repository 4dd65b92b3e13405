// read_file over MCP as the reference server's read_media_file: images and audio come back as blocks of these
// kinds, which the SDK's client checks, and what is too large as a sentence.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StateBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";

const LIMIT = 10 * 1024 * 1024;

/** Bytes that are no text. */
const bytes = (length) => {
  const all = new Uint8Array(length).fill(200);
  all[0] = 0;
  return all;
};

const KINDS = [
  ["png", "image", "image/png"],
  ["jpg", "image", "image/jpeg"],
  ["gif", "image", "image/gif"],
  ["webp", "image", "image/webp"],
  ["mp3", "audio", "audio/mpeg"],
  ["wav", "audio", "audio/wav"],
  ["ogg", "audio", "audio/ogg"],
  ["mp4", "resource", "video/mp4"],
  ["pdf", "resource", "application/pdf"],
];

async function connected(t, files, options) {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, new StateBackend({ scope: "instance", files }), options);
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  t.after(() => client.close());
  return (file_path) => client.callTool({ name: "read_file", arguments: { file_path } });
}

for (const structured of [false, true]) {
  test(`media are blocks of their kind, structured ${structured}`, async (t) => {
    const body = bytes(3_000);
    const files = Object.fromEntries(KINDS.map(([end]) => [`/m.${end}`, body]));
    const read = await connected(t, files, { structured });
    const data = Buffer.from(body).toString("base64");
    for (const [end, kind, mimeType] of KINDS) {
      const { content, isError } = await read(`/m.${end}`);
      assert.equal(isError, false, end);
      assert.equal(content.length, 2, end);
      const [{ type, text }, block] = content;
      assert.equal(type, "text");
      assert.match(text, new RegExp(`^/m\\.${end} \\(${mimeType}, `));
      const wanted =
        kind === "resource"
          ? { type: kind, resource: { uri: "kitbag:///result", mimeType, blob: data } }
          : { type: kind, data, mimeType };
      assert.deepEqual(block, wanted, end);
    }
  });
}

test("up to 10 MB they are shown, and a byte more is an error that names the limit", async (t) => {
  const files = { "/just.png": bytes(LIMIT), "/just.mp3": bytes(LIMIT) };
  const over = { "/over.png": bytes(LIMIT + 1), "/over.mp3": bytes(LIMIT + 1) };
  const read = await connected(t, { ...files, ...over });
  for (const [path, kind] of [
    ["/just.png", "image"],
    ["/just.mp3", "audio"],
  ]) {
    const { content, isError } = await read(path);
    assert.equal(isError, false);
    assert.equal(content[1].type, kind);
    assert.equal(Buffer.from(content[1].data, "base64").length, LIMIT);
  }
  for (const path of Object.keys(over)) {
    const { content, isError } = await read(path);
    assert.equal(isError, true);
    assert.equal(content.length, 1);
    assert.match(content[0].text, /too large to show: the limit is 10(\.0)? MB/);
  }
});

test("other bytes are a sentence, an empty picture too", async (t) => {
  const read = await connected(t, { "/a.bin": bytes(10), "/empty.png": new Uint8Array() });
  for (const [path, why] of [
    ["/a.bin", /binary file .*cannot be shown/],
    ["/empty.png", /exists but is empty/],
  ]) {
    const { content } = await read(path);
    assert.deepEqual(
      content.map(({ type }) => type),
      ["text"],
    );
    assert.match(content[0].text, why);
  }
});

// `fields.json` has the fields of every message and reply. Here each operation is called in all its
// forms, and what either side packed and read is held against that.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";

const testing = await import(pathToFileURL(at(".cache/pkg-testing/dist/testing.js")).href);
const kitbag = await import(pathToFileURL(at(".cache/pkg-testing/dist/node.js")).href);
const described = JSON.parse(readFileSync(at("tests/wasm/fields.json"), "utf8"));

/** A description as an expression over names that each have a space behind them. */
function expression(text) {
  const word = (name) => (name in described ? expression(described[name]) : `${name} `);
  return text
    .match(/\w+|[()?*|]/g)
    .map((token) => {
      if (token === "(") return "(?:";
      return /\w/.test(token) ? `(?:${word(token)})` : token;
    })
    .join("");
}

const joined = (words) => words.map((word) => `${word} `).join("");

function agree(words, text, what) {
  const form = new RegExp(`^(?:${expression(text)})$`);
  assert.match(joined(words), form, `${what}, described as ${text}`);
}

const FILES = { "/a.txt": "one\ntwo\n", "/dir/b.md": "# b\n", "/crlf.txt": "x\r\ny\r\n" };
const LONG = "long ".repeat(2_000);
const bytes = (text) => new TextEncoder().encode(text);
const state = (options) => new kitbag.StateBackend({ files: FILES, ...options });
const shell = () =>
  new kitbag.SandboxBackend({
    id: "s",
    execute: async () => ({ output: "said", exitCode: 0, truncated: false }),
  });

/** For each operation its calls: on which backend, and whether an error is expected. */
const CALLS = {
  ls: [() => state().ls("/"), () => state().ls("/none")],
  read: [
    () => state().read("/a.txt"),
    () => state().read("/a.txt", 1, 1),
    async () => {
      const files = state();
      files.uploadFiles([["/b.bin", Uint8Array.of(0, 255)]]);
      return files.read("/b.bin");
    },
  ],
  readRaw: [
    () => state().readRaw("/a.txt"),
    () => state({ fileFormat: "v1" }).readRaw("/a.txt"),
    () => state().readRaw("/a.txt", { start: 1, end: 3 }),
    () => state().readRaw("/a.txt", { start: 2 }),
  ],
  grep: [
    () => state().grep("o"),
    () => state().grep(LONG),
    () => state().grep("o", "/", "*.txt", 1),
    () =>
      state().grep("o.", "/", null, null, { regex: true, ignoreCase: true, before: 1, after: 1 }),
  ],
  glob: [() => state().glob("**"), () => state().glob("*.md", "/dir")],
  write: [
    () => state().write("/new.txt", "new"),
    () => state().write("new//other.txt", LONG),
    () => state().write("/new.bin", bytes("raw")),
    () => state().write("/new.bin", bytes("raw"), { ifAbsent: true }),
  ],
  edit: [
    () => state().edit("/a.txt", "one", "1"),
    () => state().edit("/crlf.txt", "x\ny", LONG, true),
    () => state().edit("/a.txt", bytes("one\ntwo\n"), bytes("whole")),
  ],
  delete: [
    () => state().delete("/dir"),
    () => state().delete("/a.txt", { unchanged: bytes("one\ntwo\n") }),
  ],
  uploadFiles: [
    () => state().uploadFiles([["/u.txt", bytes("u")]]),
    () =>
      state().uploadFiles([
        ["/u.txt", bytes(LONG)],
        ["../out", bytes("u")],
        ["/v", bytes("")],
      ]),
  ],
  downloadFiles: [() => state().downloadFiles(["/a.txt", "/missing", "/dir/b.md"])],
  move: [() => state().move("/a.txt", "/b.txt", { overwrite: true })],
  copy: [() => state().copy("dir", "copy//of/it")],
  append: [() => state().append("/a.txt", LONG), () => state().append("/a.txt", bytes("raw"))],
  execute: [() => shell().execute("true"), () => shell().execute(LONG, { timeoutMs: 5_000 })],
};

/** What each operation answers with an error. */
const REFUSED = {
  ls: () => state().ls("../out"),
  read: () => state().read("/missing"),
  readRaw: () => state().readRaw("/missing"),
  grep: () => state().grep("(", "/", null, null, { regex: true }),
  glob: () => state().glob("[a"),
  write: () => state().write("/a.txt", "again"),
  edit: () => state().edit("/missing", "a", "b"),
  delete: () => state().delete("/missing"),
  move: () => state().move("/missing", "/b.txt"),
  copy: () => state().copy("/missing", "/b.txt"),
  append: () => state().append("/missing", "x"),
};

test("every operation is described, and called here", () => {
  const names = Object.keys(described.operations);
  assert.deepEqual(Object.keys(CALLS).sort(), names.sort());
});

for (const [name, calls] of Object.entries(CALLS)) {
  describe(name, () => {
    const [message, reply] = described.operations[name];
    for (const [which, call] of calls.entries()) {
      test(`call ${which + 1} of ${calls.length}`, async () => {
        const seen = await testing.messagesOf(call);
        agree(seen.packed, message, "the message as packed");
        assert.deepEqual(seen.read, seen.packed, "the message as read");
        agree(seen.replied, `u8 ${reply}`, "the reply as packed");
        assert.deepEqual(seen.unpacked.slice(-seen.replied.length), seen.replied, "as read");
      });
    }
    const refused = REFUSED[name];
    if (!refused) return;
    test("an error", async () => {
      const seen = await testing.messagesOf(refused);
      agree(seen.replied, "u8 error", "the reply as packed");
      assert.deepEqual(seen.unpacked.slice(-seen.replied.length), seen.replied, "as read");
    });
  });
}

test("changes for a state that the caller owns", async () => {
  const file = { content: "new", mimeType: "text/plain", created_at: "", modified_at: "" };
  const none = async () => ({ error: "not here" });
  const owned = {
    ...{ ls: none, read: none, grep: none, glob: none, edit: none },
    write: async (path) => ({ path, filesUpdate: { [path]: file, "/gone.txt": null } }),
  };
  const tree = new kitbag.CompositeBackend(owned, {});
  const seen = await testing.messagesOf(() => tree.write("/new.txt", "new"));
  agree(seen.replied, `u8 ${described.operations.write[1]}`, "the reply as packed");
  assert.deepEqual(seen.unpacked, seen.replied, "the reply as read");
  assert.ok(seen.replied.length > 6, `it has the changes: ${seen.replied}`);
});

// write: creates a file and never replaces one, unless the backend was created to overwrite.

import { type Case, extras, holds, keepsBytes, same, writable } from "./subject.js";

export const writing: Case[] = [
  {
    name: "create is refused where the file exists, and changes nothing",
    needs: writable,
    async run(it) {
      await it.write("/w.txt", "first");
      const said = await it.refused(
        "write",
        it.backend.write("/w.txt", "second"),
        "already_exists",
      );
      const start = "Cannot write to /w.txt because it already exists.";
      holds(`the sentence begins ${start}`, said.startsWith(start), said);
      same("content", await it.text("/w.txt"), "first");
    },
  },
  {
    name: "create is refused for the same content too",
    needs: writable,
    async run(it) {
      await it.write("/w.txt", "same");
      await it.refused("write", it.backend.write("/w.txt", "same"), "already_exists");
    },
  },
  {
    name: "an existing empty file is not created again",
    needs: writable,
    async run(it) {
      await it.write("/w.txt", "");
      await it.refused("write", it.backend.write("/w.txt", "x"), "already_exists");
      same("content", await it.text("/w.txt"), "");
    },
  },
  {
    name: "a write tells the path",
    needs: writable,
    async run(it) {
      same("path", (await it.write("/d/w.txt", "x")).path, "/d/w.txt");
    },
  },
  {
    name: "filesUpdate is left out where no state was given",
    needs: extras,
    async run(it) {
      const written = await it.write("/w.txt", "x");
      const edited = await it.edit("/w.txt", "x", "y");
      holds("write has none", written.filesUpdate === undefined, written);
      holds("edit has none", edited.filesUpdate === undefined, edited);
    },
  },
  {
    name: "overwrite replaces the whole file",
    needs: writable,
    writeMode: "overwrite",
    async run(it) {
      await it.write("/w.txt", "a long first text");
      await it.write("/w.txt", "short");
      same("content", await it.text("/w.txt"), "short");
      same("grep", await it.grep("long"), []);
    },
  },
  {
    name: "overwrite keeps the time of creation",
    needs: (promised) => writable(promised) && promised.keepsCreated,
    writeMode: "overwrite",
    async run(it) {
      await it.write("/w.txt", "one");
      const before = await it.raw("/w.txt");
      await it.write("/w.txt", "two");
      const after = await it.raw("/w.txt");
      same("created_at", after.created_at, before.created_at);
      holds("modified_at is no earlier", after.modified_at >= before.modified_at);
    },
  },
  {
    name: "binary content is given as base64 and kept as bytes",
    needs: keepsBytes,
    async run(it) {
      const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
      await it.write("/i.png", "iVBORw0KGgo=");
      same("read", (await it.read("/i.png")).content, png);
      same("download", await it.bytes("/i.png"), png);
    },
  },
  {
    name: "a data URL is base64 too",
    needs: (promised) => keepsBytes(promised) && promised.extras,
    async run(it) {
      await it.write("/i.png", "data:image/png;base64,iVBORw0KGgo=");
      same("bytes", (await it.bytes("/i.png")).length, 8);
    },
  },
  {
    name: "bad base64 is refused and leaves nothing",
    needs: (promised) => keepsBytes(promised) && promised.extras,
    async run(it) {
      await it.refused("write", it.backend.write("/i.png", "not base64!"), "invalid_argument");
      same("what is there", await it.glob("**"), []);
    },
  },
  {
    name: "a lone surrogate becomes U+FFFD",
    needs: extras,
    async run(it) {
      await it.write("/s.txt", "a\ud800b\udc00");
      same("content", await it.text("/s.txt"), "a\ufffdb\ufffd");
    },
  },
  {
    name: "a large text is kept whole",
    needs: writable,
    async run(it) {
      const line = "a line of text, with ünïcödé in it\n";
      const text = line.repeat(30_000);
      await it.write("/large.txt", text);
      holds("content", (await it.text("/large.txt")) === text);
      same("a page", (await it.read("/large.txt", 20_000, 1)).content, line.slice(0, -1));
      const found = await it.grepped("ünïcödé", "/", null, 10);
      same("grep", [found.matches.length, found.truncated], [10, true]);
    },
  },
];

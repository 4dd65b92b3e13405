// move, copy, append: kitbag's additions to the protocol. Nothing is lost, nothing is replaced that
// was not asked for, and directories go as a whole.

import { type Case, keepsBytes, moves, type Promised, same } from "./subject.js";

const bytes = (promised: Promised) => keepsBytes(promised) && moves(promised);

const TREE = { "/d/a.txt": "a", "/d/e/f.txt": "f", "/d2/g.txt": "g", "/h.txt": "h" };

export const moving: Case[] = [
  {
    name: "a file is moved with its content",
    needs: moves,
    async run(it) {
      await it.fill({ "/a.txt": "one\ntwo\n", "/a.txt2": "other" });
      same("path", (await it.move("/a.txt", "/new/b.txt")).path, "/new/b.txt");
      same("files", await it.glob("**"), ["/a.txt2", "/new/b.txt"]);
      same("content", await it.text("/new/b.txt"), "one\ntwo\n");
      same("grep", await it.grep("two"), ["/new/b.txt:2:two"]);
      await it.refused("read", it.backend.read("/a.txt"), "not_found");
      await it.write("/a.txt", "again");
    },
  },
  {
    name: "a file is copied, and the two are independent",
    needs: moves,
    async run(it) {
      await it.write("/a.txt", "one");
      same("path", (await it.copy("/a.txt", "/b.txt")).path, "/b.txt");
      await it.edit("/b.txt", "one", "two");
      await it.append("/a.txt", "!");
      same("source", await it.text("/a.txt"), "one!");
      same("copy", await it.text("/b.txt"), "two");
    },
  },
  {
    name: "a move or copy onto an existing file is refused, and changes nothing",
    needs: moves,
    async run(it) {
      await it.fill({ "/a.txt": "a", "/b.txt": "b" });
      const said = await it.refused("move", it.tryMove("/a.txt", "/b.txt"), "already_exists");
      same(
        "sentence",
        said,
        "Cannot move to '/b.txt' because it already exists. Choose another path, or set overwrite.",
      );
      await it.refused("copy", it.tryCopy("/a.txt", "/b.txt"), "already_exists");
      same("source", await it.text("/a.txt"), "a");
      same("target", await it.text("/b.txt"), "b");
    },
  },
  {
    name: "with overwrite a file replaces a file",
    needs: moves,
    async run(it) {
      await it.fill({ "/a.txt": "a", "/b.txt": "a longer text", "/c.txt": "c" });
      await it.copy("/a.txt", "/b.txt", { overwrite: true });
      same("copied", await it.text("/b.txt"), "a");
      await it.move("/a.txt", "/c.txt", { overwrite: true });
      same("moved", await it.text("/c.txt"), "a");
      same("files", await it.glob("**"), ["/b.txt", "/c.txt"]);
    },
  },
  {
    name: "what is missing is neither moved nor copied",
    needs: moves,
    async run(it) {
      await it.write("/b.txt", "b");
      await it.refused("move", it.tryMove("/no.txt", "/c.txt"), "not_found");
      await it.refused("copy", it.tryCopy("/no.txt", "/c.txt"), "not_found");
      await it.refused(
        "with overwrite",
        it.tryMove("/no.txt", "/b.txt", { overwrite: true }),
        "not_found",
      );
      same("target", await it.text("/b.txt"), "b");
      same("files", await it.glob("**"), ["/b.txt"]);
    },
  },
  {
    name: "a directory is moved with all beneath it",
    needs: moves,
    async run(it) {
      await it.fill(TREE);
      await it.move("/d", "/new/place");
      same("files", await it.glob("**"), [
        "/d2/g.txt",
        "/h.txt",
        "/new/place/a.txt",
        "/new/place/e/f.txt",
      ]);
      same("root", await it.ls("/"), ["/d2/", "/h.txt", "/new/"]);
      same("content", await it.text("/new/place/e/f.txt"), "f");
    },
  },
  {
    name: "a directory is copied with all beneath it",
    needs: moves,
    async run(it) {
      await it.fill(TREE);
      await it.copy("/d", "/copy");
      same("files", await it.glob("**"), [
        "/copy/a.txt",
        "/copy/e/f.txt",
        "/d/a.txt",
        "/d/e/f.txt",
        "/d2/g.txt",
        "/h.txt",
      ]);
    },
  },
  {
    name: "nothing is moved or copied onto a directory, also with overwrite",
    needs: moves,
    async run(it) {
      await it.fill(TREE);
      const overwrite = { overwrite: true };
      await it.refused("a file", it.tryMove("/h.txt", "/d"), "is_directory");
      await it.refused("a directory", it.tryMove("/d2", "/d"), "is_directory");
      await it.refused("a copy", it.tryCopy("/h.txt", "/d", overwrite), "is_directory");
      await it.refused("over it", it.tryMove("/d2", "/d", overwrite), "is_directory");
      await it.refused("over a file", it.tryMove("/d2", "/h.txt", overwrite), "already_exists");
      same("files", await it.glob("**"), Object.keys(TREE));
    },
  },
  {
    name: "nothing is moved or copied onto or beneath itself",
    needs: moves,
    async run(it) {
      await it.fill(TREE);
      const overwrite = { overwrite: true };
      await it.refused("a file", it.tryMove("/h.txt", "/h.txt", overwrite), "invalid_argument");
      await it.refused("a copy", it.tryCopy("/h.txt", "//h.txt", overwrite), "invalid_argument");
      await it.refused("beneath", it.tryMove("/d", "/d/e/x"), "invalid_argument");
      await it.refused("a copy beneath", it.tryCopy("/d", "/d/x"), "invalid_argument");
      await it.refused("its parent", it.tryMove("/d/e", "/d"), "is_directory");
      same("files", await it.glob("**"), Object.keys(TREE));
    },
  },
  {
    name: "invalid paths are neither moved nor copied",
    needs: moves,
    async run(it) {
      await it.write("/a.txt", "a");
      await it.refused("out", it.tryMove("/a.txt", "/../b.txt"), "invalid_path");
      await it.refused("from outside", it.tryCopy("/../a.txt", "/b.txt"), "invalid_path");
      await it.refused("the root", it.tryMove("/", "/b"), "invalid_path");
      await it.refused("to the root", it.tryCopy("/a.txt", "/"), "invalid_path");
      same("files", await it.glob("**"), ["/a.txt"]);
    },
  },
  {
    name: "a moved file has the type of its new name",
    needs: bytes,
    async run(it) {
      const data = Uint8Array.of(0x68, 0x69, 0x0a);
      await it.upload({ "/a.png": data, "/b.bin": Uint8Array.of(0, 255, 7) });
      await it.move("/a.png", "/a.txt");
      same("text", await it.text("/a.txt"), "hi\n");
      await it.copy("/b.bin", "/c/d.bin");
      same("bytes", await it.bytes("/c/d.bin"), Uint8Array.of(0, 255, 7));
    },
  },
  {
    name: "an append adds to the end",
    needs: moves,
    async run(it) {
      await it.write("/log.txt", "one\n");
      same("path", (await it.append("/log.txt", "two\n")).path, "/log.txt");
      await it.append("/log.txt", "");
      await it.append("/log.txt", "ünï");
      same("content", await it.text("/log.txt"), "one\ntwo\nünï");
      same("grep", await it.grep("two"), ["/log.txt:2:two"]);
    },
  },
  {
    name: "an append to an empty file writes it",
    needs: moves,
    async run(it) {
      await it.write("/log.txt", "");
      await it.append("/log.txt", "$& one");
      same("content", await it.text("/log.txt"), "$& one");
    },
  },
  {
    name: "an append creates no file",
    needs: moves,
    async run(it) {
      const said = await it.refused("append", it.tryAppend("/no.txt", "x"), "not_found");
      same("sentence", said, "Error: File '/no.txt' not found");
      same("files", await it.glob("**"), []);
    },
  },
  {
    name: "an append of bytes keeps every byte",
    needs: bytes,
    async run(it) {
      await it.upload({ "/b.bin": Uint8Array.of(0, 255) });
      await it.append("/b.bin", Uint8Array.of(128, 0));
      same("bytes", await it.bytes("/b.bin"), Uint8Array.of(0, 255, 128, 0));
    },
  },
  {
    name: "concurrent appends are all kept",
    needs: (promised) => moves(promised) && promised.update !== "never",
    async run(it) {
      await it.write("/log.txt", "");
      const lines = Array.from({ length: 8 }, (_, at) => `line ${at}\n`);
      await Promise.all(lines.map((line) => it.append("/log.txt", line)));
      const kept = (await it.text("/log.txt")).split("\n").filter((line) => line !== "");
      same("lines", kept.sort(), lines.map((line) => line.trim()).sort());
    },
  },
];

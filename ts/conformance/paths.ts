// Paths: several spellings of one name, invalid names, and unusual valid names.

import { type Case, extras, holds, same, sorted, writable } from "./subject.js";

/** Valid names that look unusual. */
export const ODD_NAMES = [
  "/__proto__",
  "/constructor",
  "/toString",
  "/hasOwnProperty",
  "/~backup",
  "/a..b",
  "/...",
  "/with space",
  "/ leading",
  "/trailing ",
  "/100%",
  "/%2e%2e",
  "/ü/ñ.txt",
  "/plus+and&",
  "/quote'\"",
  "/[x]{y}*?",
  "/🙂",
  "/日本/語.txt",
  "/semi;colon",
  "/#hash",
  "/$HOME",
  "/-dash",
  "/.hidden",
  "/name:with:colons",
  "/a|b<c>d",
  "/`tick`",
  "/trailing.dot.",
];

const BAD_PATHS = [
  "/../etc/passwd",
  "/a/../b",
  "..",
  "/a/..",
  "~/secret",
  "/~/secret",
  "/nul\0byte",
  "/line\nfeed",
  "/tab\there",
  "/esc\u001b[0m",
  "\\windows",
  "/a\\b",
  "C:/x",
  "C:\\x",
  `/${"x".repeat(1025)}`,
  `/${"é".repeat(520)}`,
];

export const paths: Case[] = [
  {
    name: "spellings of one path name one file",
    needs: extras,
    async run(it) {
      await it.write("notes.txt", "n");
      await it.write("//a/./b//c.txt", "c");
      for (const path of [
        "/notes.txt",
        "notes.txt",
        "./notes.txt",
        "//notes.txt",
        "/./notes.txt",
      ]) {
        same(path, await it.text(path), "n");
      }
      for (const path of ["/a/b/c.txt", "a/b/c.txt", "/a//b/./c.txt", "/a/b/c.txt/"]) {
        same(path, await it.text(path), "c");
      }
      same("ls", await it.ls("//a/./b/"), ["/a/b/c.txt"]);
      const again = it.backend.write("/./notes.txt", "x");
      await it.refused("another spelling", again, "already_exists");
    },
  },
  {
    name: "results carry the canonical path",
    needs: extras,
    async run(it) {
      same("write", (await it.write("a//b.txt", "x")).path, "/a/b.txt");
      same("edit", (await it.edit("/a/./b.txt", "x", "y")).path, "/a/b.txt");
      same("grep", await it.grep("y", "a/"), ["/a/b.txt:1:y"]);
      same("glob", await it.glob("*.txt", "a/."), ["/a/b.txt"]);
    },
  },
  {
    name: "a path that is none is refused by every method",
    needs: extras,
    async run(it) {
      await it.write("/ok.txt", "ok");
      for (const path of BAD_PATHS) {
        const named = `${JSON.stringify(path.slice(0, 20))}`;
        const code = "invalid_path";
        const { backend } = it;
        await it.refused(`ls ${named}`, backend.ls(path), code);
        await it.refused(`read ${named}`, backend.read(path), code);
        await it.refused(`readRaw ${named}`, backend.readRaw(path), code);
        await it.refused(`write ${named}`, backend.write(path, "x"), code);
        await it.refused(`edit ${named}`, backend.edit(path, "a", "b"), code);
        await it.refused(`grep ${named}`, backend.grep("x", path), code);
        await it.refused(`glob ${named}`, backend.glob("*", path), code);
        if (it.promised.deletes) await it.refused(`delete ${named}`, it.tryDelete(path), code);
      }
      same("what is there", await it.glob("**"), ["/ok.txt"]);
    },
  },
  {
    name: "a file path is never empty or the root",
    needs: extras,
    async run(it) {
      for (const path of ["", "/", "//", "/.", "."]) {
        const code = ["invalid_path", "is_directory"];
        await it.refused(`read "${path}"`, it.backend.read(path), code);
        await it.refused(`write "${path}"`, it.backend.write(path, "x"), code);
        await it.refused(`edit "${path}"`, it.backend.edit(path, "a", "b"), code);
        if (it.promised.deletes) await it.refused(`delete "${path}"`, it.tryDelete(path), code);
      }
    },
  },
  {
    name: "a path of 1,024 bytes is the longest",
    needs: (promised) => extras(promised) && promised.directories === "implied",
    async run(it) {
      const long = `/${"d".repeat(200)}/${"é".repeat(100)}/${"x".repeat(1024 - 403)}`;
      same("bytes", new TextEncoder().encode(long).length, 1024);
      await it.write(long, "long");
      same("read", await it.text(long), "long");
      await it.refused("one more", it.backend.write(`${long}x`, "x"), "invalid_path");
    },
  },
  {
    name: "odd names are ordinary names",
    needs: writable,
    async run(it) {
      for (const path of ODD_NAMES) await it.write(path, `in ${path}`);
      for (const path of ODD_NAMES) same(path, await it.text(path), `in ${path}`);
      same("glob", await it.glob("**"), sorted(ODD_NAMES));
      const found = await it.grep("in /");
      same("grep", found.length, ODD_NAMES.length);
    },
  },
  {
    name: "names that differ only in case are two files, or the second is refused",
    needs: writable,
    async run(it) {
      await it.write("/Case.txt", "upper");
      const second = await it.backend.write("/case.txt", "lower");
      same("the first", await it.text("/Case.txt"), "upper");
      if (second.error === undefined) same("the second", await it.text("/case.txt"), "lower");
    },
  },
  {
    name: "two normal forms of one accent are kept apart",
    needs: writable,
    async run(it) {
      await it.write("/caf\u00e9", "one");
      const second = await it.backend.write("/cafe\u0301", "two");
      same("composed", await it.text("/caf\u00e9"), "one");
      if (second.error === undefined) same("decomposed", await it.text("/cafe\u0301"), "two");
    },
  },
  {
    name: "a deep path is an ordinary path",
    needs: writable,
    async run(it) {
      const deep = `${"/d".repeat(60)}/file.txt`;
      await it.write(deep, "deep");
      same("read", await it.text(deep), "deep");
      same("glob", await it.glob("**/file.txt"), [deep]);
      same("ls", await it.ls("/d/d/d"), ["/d/d/d/d/"]);
      holds("grep", (await it.grep("deep")).length === 1);
    },
  },
];

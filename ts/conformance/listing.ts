// ls: one level, in byte order, with directories marked.

import { type Case, deletes, holds, same, utf8, writable } from "./subject.js";

export const listing: Case[] = [
  {
    name: "an empty backend lists nothing",
    async run(it) {
      same("ls", await it.ls("/"), []);
      same("glob", await it.glob("**"), []);
      same("grep", await it.grep("x"), []);
    },
  },
  {
    name: "a missing directory lists nothing",
    async run(it) {
      same("ls", await it.ls("/nowhere"), []);
      same("ls deeper", await it.ls("/no/where/"), []);
    },
  },
  {
    name: "ls of a file's path lists nothing",
    needs: writable,
    async run(it) {
      await it.write("/a.txt", "x");
      same("ls", await it.ls("/a.txt"), []);
    },
  },
  {
    name: "ls shows one level in byte order",
    needs: writable,
    async run(it) {
      for (const path of ["/b.txt", "/a/x.md", "/a/y/z.md", "/a.txt", "/a-b/c.txt", "/Z.txt"]) {
        await it.write(path, "12345");
      }
      same("the root", await it.ls("/"), ["/Z.txt", "/a-b/", "/a.txt", "/a/", "/b.txt"]);
      same("a directory", await it.ls("/a"), ["/a/x.md", "/a/y/"]);
      same("the same with a slash", await it.ls("/a/"), ["/a/x.md", "/a/y/"]);
    },
  },
  {
    name: "byte order is that of UTF-8 and not of UTF-16",
    needs: writable,
    async run(it) {
      // U+FF5E is above the surrogates of U+1F600 in UTF-16, but its UTF-8 bytes are below.
      await it.fill({ "/\u{1f600}": "x", "/\uff5e": "x" });
      same("ls", await it.ls("/"), ["/\uff5e", "/\u{1f600}"]);
    },
  },
  {
    name: "a directory has no size and no time",
    needs: writable,
    async run(it) {
      await it.write("/d/a.txt", "x");
      const [directory] = await it.infos("/");
      same("directory", directory, { path: "/d/", is_dir: true, size: 0, modified_at: "" });
    },
  },
  {
    name: "a file has its size in bytes and a time",
    needs: writable,
    async run(it) {
      const before = Date.now();
      await it.write("/é.txt", "naïve 🙂");
      const [file] = await it.infos("/");
      same("path", file?.path, "/é.txt");
      same("size", file?.size, utf8("naïve 🙂").length);
      holds("is_dir is not true", !file?.is_dir, file);
      const time = Date.parse(file?.modified_at ?? "");
      holds("modified_at is a time", Number.isFinite(time), file);
      // A storage's clock may differ slightly.
      holds("modified_at is about now", Math.abs(time - before) < 600_000, file);
    },
  },
  {
    name: "a prefix of a name is not its directory",
    needs: writable,
    async run(it) {
      await it.fill({ "/ab/x.txt": "1", "/a/y.txt": "2", "/abc": "3" });
      same("a", await it.ls("/a"), ["/a/y.txt"]);
      same("ab", await it.ls("/ab"), ["/ab/x.txt"]);
    },
  },
  {
    name: "a directory ends with its last file",
    needs: (promised) => deletes(promised) && promised.directories === "implied",
    async run(it) {
      await it.fill({ "/d/e/f.txt": "1", "/g.txt": "2" });
      await it.delete("/d/e/f.txt");
      same("root", await it.ls("/"), ["/g.txt"]);
      same("gone", await it.ls("/d"), []);
    },
  },
  {
    name: "many entries are all listed",
    needs: writable,
    async run(it) {
      const count = 300;
      const names = Array.from({ length: count }, (_, n) => `/many/${String(n).padStart(4, "0")}`);
      if (it.promised.batches) {
        await it.upload(Object.fromEntries(names.map((name) => [name, utf8("x")])));
      } else for (const name of names) await it.write(name, "x");
      same("ls", await it.ls("/many"), names);
      same("glob", await it.glob("many/*"), names);
      same("grep", (await it.grep("x")).length, count);
    },
  },
];

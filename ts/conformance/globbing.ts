// glob: patterns relative to a directory, only files, the newest first.

import { type Case, extras, holds, same, sorted, writable } from "./subject.js";

const TREE = [
  "/a.ts",
  "/b.md",
  "/src/b.ts",
  "/src/deep/c.ts",
  "/src/deep/er/d.ts",
  "/src/.d.ts",
  "/src/e.js",
  "/src/f1.txt",
  "/src/f2.txt",
  "/src/f10.txt",
  "/src2/g.ts",
  "/odd/[x].ts",
  "/odd/日.ts",
];

const FILES = Object.fromEntries(TREE.map((path) => [path, "x"]));

/** Pattern, directory, expected paths. */
const TABLE: Array<[string, string, string[]]> = [
  ["*.ts", "/", ["/a.ts"]],
  ["*.ts", "/src", ["/src/.d.ts", "/src/b.ts"]],
  ["*", "/", ["/a.ts", "/b.md"]],
  ["**/*.md", "/", ["/b.md"]],
  ["**/deep/*.ts", "/", ["/src/deep/c.ts"]],
  ["src/**/*.ts", "/", ["/src/.d.ts", "/src/b.ts", "/src/deep/c.ts", "/src/deep/er/d.ts"]],
  ["**/*.ts", "/src/deep", ["/src/deep/c.ts", "/src/deep/er/d.ts"]],
  ["/src/*.js", "/odd", ["/src/e.js"]],
  ["/src/**", "/src2", TREE.filter((path) => path.startsWith("/src/"))],
  ["f?.txt", "/src", ["/src/f1.txt", "/src/f2.txt"]],
  ["f[12].txt", "/src", ["/src/f1.txt", "/src/f2.txt"]],
  ["f[!1].txt", "/src", ["/src/f2.txt"]],
  ["f[^1].txt", "/src", ["/src/f2.txt"]],
  ["[a-c].ts", "/src", ["/src/b.ts"]],
  ["*.{js,txt}", "/src", ["/src/e.js", "/src/f1.txt", "/src/f10.txt", "/src/f2.txt"]],
  ["{a,src/b}.ts", "/", ["/a.ts", "/src/b.ts"]],
  ["\\[x\\].ts", "/odd", ["/odd/[x].ts"]],
  ["?.ts", "/odd", ["/odd/日.ts"]],
  ["日.ts", "/odd", ["/odd/日.ts"]],
  ["src", "/", []],
  ["nothing*", "/", []],
  ["*.ts", "/missing", []],
];

export const globbing: Case[] = [
  ...TABLE.map(
    ([pattern, directory, wanted]): Case => ({
      name: `glob ${pattern} in ${directory}`,
      needs: writable,
      files: FILES,
      async run(it) {
        same("paths", await it.glob(pattern, directory), sorted(wanted));
      },
    }),
  ),
  {
    name: "glob looks from the root unless told",
    needs: writable,
    files: FILES,
    async run(it) {
      same("paths", await it.glob("**/*.ts"), sorted(TREE.filter((path) => path.endsWith(".ts"))));
    },
  },
  {
    name: "glob tells size and time",
    needs: writable,
    async run(it) {
      await it.write("/a.txt", "é");
      const { files } = await it.globbed("*");
      same("size", files[0]?.size, 2);
      holds("a time", Number.isFinite(Date.parse(files[0]?.modified_at ?? "")), files[0]);
    },
  },
  {
    name: "glob shows the newest first, then by path",
    needs: extras,
    async run(it) {
      for (const path of ["/c", "/a", "/b", "/d"]) await it.write(path, "x");
      const { files } = await it.globbed("*");
      for (const [at, file] of files.entries()) {
        const next = files[at + 1];
        if (!next) continue;
        const [mine, other] = [
          Date.parse(file.modified_at ?? ""),
          Date.parse(next.modified_at ?? ""),
        ];
        holds("newest first", mine >= other, files);
      }
      same("all", sorted(files.map((file) => file.path)), ["/a", "/b", "/c", "/d"]);
    },
  },
  {
    name: "a pattern that is none is refused",
    needs: extras,
    async run(it) {
      await it.write("/a.txt", "x");
      for (const pattern of ["[", "{a", "[a-"]) {
        await it.refused(pattern, it.backend.glob(pattern), "invalid_pattern");
      }
    },
  },
  {
    name: "a pattern with too many alternatives or bytes is refused, quickly",
    needs: extras,
    quick: true,
    async run(it) {
      await it.write("/a.txt", "x");
      const many = "{a,b,c,d,e,f,g,h,i,j}".repeat(4);
      for (const pattern of [many, `{${"a,".repeat(1001)}a}`, "x".repeat(4097)]) {
        await it.refused(pattern.slice(0, 30), it.backend.glob(pattern), "invalid_pattern");
      }
    },
  },
  {
    name: "a pattern made to be slow is not",
    needs: extras,
    quick: true,
    async run(it) {
      await it.write(`/${"a".repeat(200)}`, "x");
      same("none", await it.glob(`${"*a".repeat(60)}*b`), []);
      same("none across segments", await it.glob(`${"**/".repeat(60)}b`), []);
    },
  },
];

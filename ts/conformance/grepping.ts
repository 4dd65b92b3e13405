// grep: literal lines in order; regular expressions and context with kitbag's own backends.

import { type Case, extras, holds, keepsBytes, same, utf8, writable } from "./subject.js";

const FILES = {
  "/b.txt": "needle\nhay\nneedle 2",
  "/a/x.md": "a needle\r\n",
  "/a/none.md": "nothing",
  "/a/deep/y.ts": "const needle = 1;\n// needle\n",
};

const ALL = [
  "/a/deep/y.ts:1:const needle = 1;",
  "/a/deep/y.ts:2:// needle",
  "/a/x.md:1:a needle\r",
  "/b.txt:1:needle",
  "/b.txt:3:needle 2",
];

export const grepping: Case[] = [
  {
    name: "grep finds lines by path, then by line",
    needs: writable,
    files: FILES,
    async run(it) {
      same("from the root", await it.grep("needle", "/"), ALL);
      same("without a path", await it.grep("needle"), ALL);
      same("null is the root", await it.grep("needle", null, null, null), ALL);
    },
  },
  {
    name: "grep looks below a directory or into one file",
    needs: writable,
    files: FILES,
    async run(it) {
      same("directory", await it.grep("needle", "/a"), ALL.slice(0, 3));
      same("with a slash", await it.grep("needle", "/a/"), ALL.slice(0, 3));
      same("file", await it.grep("needle", "/b.txt"), ALL.slice(3));
      same("missing", await it.grep("needle", "/missing"), []);
    },
  },
  {
    name: "a glob without a slash is matched against names",
    needs: writable,
    files: FILES,
    async run(it) {
      same("by extension", await it.grep("needle", "/", "*.md"), [ALL[2]]);
      same("alternatives", await it.grep("needle", "/", "*.{md,ts}"), ALL.slice(0, 3));
      same("none", await it.grep("needle", "/", "*.rs"), []);
    },
  },
  {
    name: "a glob with a slash is matched against the path below",
    needs: extras,
    files: FILES,
    async run(it) {
      same("from the root", await it.grep("needle", "/", "a/*.md"), [ALL[2]]);
      same("from a directory", await it.grep("needle", "/a", "deep/*"), ALL.slice(0, 2));
      same("any depth", await it.grep("needle", "/", "**/*.ts"), ALL.slice(0, 2));
    },
  },
  {
    name: "grep takes its pattern literally and minds case",
    needs: writable,
    async run(it) {
      await it.write("/g.txt", "a.c\nabc\nA.C\n[x](y)\n$1 \\d+\n");
      same("dot", await it.grep("a.c"), ["/g.txt:1:a.c"]);
      same("brackets", await it.grep("[x]("), ["/g.txt:4:[x](y)"]);
      same("backslash", await it.grep("\\d+"), ["/g.txt:5:$1 \\d+"]);
    },
  },
  {
    name: "a line that matches twice is one match",
    needs: writable,
    async run(it) {
      await it.write("/g.txt", "aa aa aa\n");
      same("matches", await it.grep("aa"), ["/g.txt:1:aa aa aa"]);
    },
  },
  {
    name: "a pattern with a line feed matches nothing",
    needs: writable,
    async run(it) {
      await it.write("/g.txt", "a\nb\n");
      same("matches", await it.grep("a\nb"), []);
    },
  },
  {
    name: "the empty pattern matches every line",
    needs: extras,
    async run(it) {
      await it.write("/g.txt", "a\n\nb");
      same("matches", await it.grep(""), ["/g.txt:1:a", "/g.txt:2:", "/g.txt:3:b"]);
    },
  },
  {
    name: "grep knows text that is not ASCII",
    needs: writable,
    async run(it) {
      await it.write("/g.txt", "日本語\nnaïve 🙂\nplain\n");
      same("kanji", await it.grep("本"), ["/g.txt:1:日本語"]);
      same("emoji", await it.grep("🙂"), ["/g.txt:2:naïve 🙂"]);
      same("accent", await it.grep("ïv"), ["/g.txt:2:naïve 🙂"]);
    },
  },
  {
    name: "grep stops at maxCount and says so",
    needs: extras,
    async run(it) {
      await it.fill({ "/c1.txt": "m\nm\nm\n", "/c2.txt": "m\n" });
      const two = await it.grepped("m", "/", null, 2);
      same("two", [two.matches.length, two.truncated], [2, true]);
      const four = await it.grepped("m", "/", null, 4);
      same("all", four.matches.length, 4);
      holds("exactly all is not truncated", !four.truncated, four.truncated);
    },
  },
  {
    name: "grep passes over binary files",
    needs: keepsBytes,
    async run(it) {
      await it.upload({
        "/x.png": utf8("needle"),
        "/y": utf8("needle\0"),
        "/z": utf8("needle"),
      });
      same("matches", await it.grep("needle"), ["/z:1:needle"]);
    },
  },
  {
    name: "grep sees a change at once",
    needs: writable,
    async run(it) {
      await it.write("/a.txt", "old");
      same("before", await it.grep("new"), []);
      await it.edit("/a.txt", "old", "new");
      same("after", await it.grep("new"), ["/a.txt:1:new"]);
      same("gone", await it.grep("old"), []);
    },
  },
  {
    name: "grep reads expressions on request",
    needs: extras,
    async run(it) {
      await it.write("/r.txt", "one\nTwo 22\nthree\nfour 44\n");
      const found = await it.grep("^\\w+ \\d+$", "/", null, null, { regex: true });
      same("matches", found, ["/r.txt:2:Two 22", "/r.txt:4:four 44"]);
    },
  },
  {
    name: "a bad expression is refused",
    needs: extras,
    async run(it) {
      const grep = it.backend.grep as (...args: unknown[]) => unknown;
      const answer = grep.call(it.backend, "(", "/", null, null, { regex: true });
      const said = await it.refused("grep", answer, "invalid_pattern");
      holds("the sentence", said.startsWith("Invalid regex pattern: "), said);
    },
  },
  {
    name: "an expression never leaves its line",
    needs: extras,
    async run(it) {
      await it.write("/r.txt", "a\nb\nc\n");
      same("any", await it.grep("a[^x]*c", "/", null, null, { regex: true }), []);
      same("space", await it.grep("a\\sb", "/", null, null, { regex: true }), []);
    },
  },
  {
    name: "case can be ignored",
    needs: extras,
    async run(it) {
      await it.write("/r.txt", "Needle\nNEEDLE\nÄrger\n");
      same("ascii", (await it.grep("needle", "/", null, null, { ignoreCase: true })).length, 2);
      same("umlaut", (await it.grep("ä", "/", null, null, { ignoreCase: true })).length, 1);
    },
  },
  {
    name: "context is shown on request",
    needs: extras,
    async run(it) {
      await it.write("/r.txt", "1\n2\n3 x\n4\n5\n");
      const { matches } = await it.grepped("x", "/", null, null, { before: 1, after: 2 });
      same("matches", matches, [
        { path: "/r.txt", line: 3, text: "3 x", before: ["2"], after: ["4", "5"] },
      ]);
    },
  },
  {
    name: "maxPerFile bounds each file",
    needs: extras,
    async run(it) {
      await it.fill({ "/c1.txt": "m\nm\nm\n", "/c2.txt": "m\nm\n" });
      const found = await it.grep("m", "/", null, null, { maxPerFile: 1 });
      same("matches", found, ["/c1.txt:1:m", "/c2.txt:1:m"]);
    },
  },
  {
    name: "an expression made to be slow is not",
    needs: extras,
    quick: true,
    async run(it) {
      await it.write("/r.txt", `${"a".repeat(20_000)}\n`);
      same("none", await it.grep("(a+)+$b", "/", null, null, { regex: true }), []);
      same("none", await it.grep("(a|aa)*c", "/", null, null, { regex: true }), []);
    },
  },
];

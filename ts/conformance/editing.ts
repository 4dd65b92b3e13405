// edit: literal text, all or nothing, with the messages that models know from deepagents.

import { type Case, extras, holds, keepsBytes, same, writable } from "./subject.js";

export const editing: Case[] = [
  {
    name: "an edit replaces the only occurrence",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "one two three");
      const edited = await it.edit("/e.txt", "two", "2");
      same("occurrences", edited.occurrences, 1);
      same("path", edited.path, "/e.txt");
      same("content", await it.text("/e.txt"), "one 2 three");
    },
  },
  {
    name: "a replacement is literal",
    needs: writable,
    async run(it) {
      const odd = ["$&", "$1", "$$", "$`", "$'", "\\1", "\\n", "%s", "{}"];
      for (const [at, text] of odd.entries()) {
        await it.write(`/${at}.txt`, "a X b");
        await it.edit(`/${at}.txt`, "X", text);
        same(text, await it.text(`/${at}.txt`), `a ${text} b`);
      }
    },
  },
  {
    name: "what is looked for is literal",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "abc a.c a*c (a) [b] $1");
      await it.edit("/e.txt", "a.c", "dot");
      await it.edit("/e.txt", "a*c", "star");
      await it.edit("/e.txt", "(a) [b] $1", "odd");
      same("content", await it.text("/e.txt"), "abc dot star odd");
    },
  },
  {
    name: "an ambiguous edit changes nothing and says how often",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "x y x");
      const said = await it.refused("edit", it.backend.edit("/e.txt", "x", "z"), "ambiguous_edit");
      const start = "Error: String 'x' has multiple occurrences (appears 2 times) in file.";
      holds(`the sentence begins ${start}`, said.startsWith(start), said);
      same("content", await it.text("/e.txt"), "x y x");
    },
  },
  {
    name: "replaceAll replaces every occurrence",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "x y x\nx");
      same("occurrences", (await it.edit("/e.txt", "x", "zz", true)).occurrences, 3);
      same("content", await it.text("/e.txt"), "zz y zz\nzz");
    },
  },
  {
    name: "occurrences do not overlap and go from left to right",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "aaaaa");
      same("occurrences", (await it.edit("/e.txt", "aa", "b", true)).occurrences, 2);
      same("content", await it.text("/e.txt"), "bba");
    },
  },
  {
    name: "an edit without a match changes nothing",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "abc");
      const said = await it.refused("edit", it.backend.edit("/e.txt", "x", "y"), "no_match");
      same("sentence", said, "Error: String not found in file: 'x'");
      same("content", await it.text("/e.txt"), "abc");
    },
  },
  {
    name: "a missing file cannot be edited",
    async run(it) {
      if (!it.promised.writable) return;
      const said = await it.refused("edit", it.backend.edit("/no.txt", "a", "b"), "not_found");
      same("sentence", said, "Error: File '/no.txt' not found");
      same("nothing was made", await it.ls("/"), []);
    },
  },
  {
    name: "an empty search is refused where the file has content",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "abc");
      const said = await it.refused("edit", it.backend.edit("/e.txt", "", "x"));
      same("sentence", said, "Error: oldString cannot be empty when file has content");
      same("content", await it.text("/e.txt"), "abc");
    },
  },
  {
    name: "an empty search fills an empty file",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "");
      await it.edit("/e.txt", "", "filled");
      same("content", await it.text("/e.txt"), "filled");
    },
  },
  {
    name: "an edit may reach over lines and may delete",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "a\nb\nc\nd\n");
      await it.edit("/e.txt", "b\nc\n", "");
      same("content", await it.text("/e.txt"), "a\nd\n");
      await it.edit("/e.txt", "a\nd\n", "");
      same("empty", await it.text("/e.txt"), "");
    },
  },
  {
    name: "an edit reads text by characters and not by bytes",
    needs: writable,
    async run(it) {
      await it.write("/e.txt", "日本語 🙂 é");
      await it.edit("/e.txt", "🙂", "🙃");
      await it.edit("/e.txt", "本", "月");
      same("content", await it.text("/e.txt"), "日月語 🙃 é");
    },
  },
  {
    name: "line endings alone may differ",
    needs: extras,
    async run(it) {
      await it.write("/crlf.txt", "a\r\nb\r\nc\r\n");
      const edited = await it.edit("/crlf.txt", "a\nb", "x\ny\nz");
      same("content", await it.text("/crlf.txt"), "x\r\ny\r\nz\r\nc\r\n");
      same("metadata", edited.metadata?.lineEndings, "crlf");
    },
  },
  {
    name: "a line feed that is there is taken as it is",
    needs: extras,
    async run(it) {
      await it.write("/mixed.txt", "a\nb\r\nc");
      const edited = await it.edit("/mixed.txt", "a\nb", "x\ny");
      same("content", await it.text("/mixed.txt"), "x\ny\r\nc");
      same("metadata", edited.metadata?.lineEndings, undefined);
    },
  },
  {
    name: "a binary file cannot be edited",
    needs: keepsBytes,
    async run(it) {
      const bytes = Uint8Array.of(0x89, 0x50, 0, 1);
      await it.upload({ "/i.png": bytes });
      await it.refused("edit", it.backend.edit("/i.png", "P", "Q"), "invalid_argument");
      same("bytes", await it.bytes("/i.png"), bytes);
    },
  },
  {
    name: "an edit keeps the time of creation",
    needs: (promised) => writable(promised) && promised.keepsCreated,
    async run(it) {
      await it.write("/t.txt", "a");
      const before = await it.raw("/t.txt");
      await it.edit("/t.txt", "a", "b");
      const after = await it.raw("/t.txt");
      same("created_at", after.created_at, before.created_at);
      holds("modified_at is no earlier", after.modified_at >= before.modified_at);
    },
  },
  {
    name: "lines are counted anew after an edit",
    needs: extras,
    async run(it) {
      await it.write("/e.txt", "line\n".repeat(1000));
      same("before", (await it.read("/e.txt", 900, 1)).totalLines, 1000);
      await it.edit("/e.txt", "line\n", "", true);
      await it.edit("/e.txt", "", "one\ntwo\n");
      same("after", (await it.read("/e.txt")).totalLines, 2);
      same("page", (await it.read("/e.txt", 1, 1)).content, "two");
    },
  },
];

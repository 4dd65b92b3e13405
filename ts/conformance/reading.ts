// read and readRaw: pages of lines, and data as it is stored.

import type { FileDataV2 } from "../types.js";
import { type Case, extras, holds, keepsBytes, same, utf8, writable } from "./subject.js";

export const reading: Case[] = [
  {
    name: "a missing file is not found",
    async run(it) {
      const said = await it.refused("read", it.backend.read("/no.txt"), "not_found");
      same("sentence", said, "File '/no.txt' not found");
      await it.refused("readRaw", it.backend.readRaw("/no.txt"), "not_found");
    },
  },
  {
    name: "what is written is read",
    needs: writable,
    async run(it) {
      const texts = [
        "one line",
        "two\nlines\n",
        "日本語 🙂\r\nnaïve\n",
        "\ufeffbom",
        "tab\tand \u0001",
      ];
      for (const [at, text] of texts.entries()) {
        await it.write(`/t/${at}.txt`, text);
        same(`text ${at}`, await it.text(`/t/${at}.txt`), text);
      }
    },
  },
  {
    name: "an empty file is empty text without a position",
    needs: writable,
    async run(it) {
      await it.write("/empty.txt", "");
      const { content, totalLines, startLine, endLine, nextOffset } = await it.read("/empty.txt");
      same("content", content, "");
      same("position", [totalLines, startLine, endLine, nextOffset], [...Array(4)]);
    },
  },
  {
    name: "a page is lines and says where it stands",
    needs: extras,
    async run(it) {
      await it.write("/p.txt", "a\nb\nc\nd\n");
      const page = await it.read("/p.txt", 1, 2);
      same("content", page.content, "b\nc");
      same("totalLines", page.totalLines, 4);
      same("startLine", page.startLine, 2);
      same("endLine", page.endLine, 3);
      same("nextOffset", page.nextOffset, 3);
    },
  },
  {
    name: "the last page has no next offset",
    needs: extras,
    async run(it) {
      await it.write("/p.txt", "a\nb\nc\n");
      const page = await it.read("/p.txt", 1, 500);
      same("endLine", page.endLine, 3);
      same("nextOffset", page.nextOffset, undefined);
    },
  },
  {
    name: "500 lines are a page unless said otherwise",
    needs: extras,
    async run(it) {
      await it.write("/long.txt", Array.from({ length: 600 }, (_, n) => `line ${n}`).join("\n"));
      const page = await it.read("/long.txt");
      same("endLine", page.endLine, 500);
      same("nextOffset", page.nextOffset, 500);
      same("totalLines", page.totalLines, 600);
    },
  },
  {
    name: "an offset past the end has no position",
    needs: extras,
    async run(it) {
      await it.write("/p.txt", "a\nb\n");
      const page = await it.backend.read("/p.txt", 99, 1);
      holds("no totalLines", page.totalLines === undefined, page);
      holds("no nextOffset", page.nextOffset === undefined, page);
    },
  },
  {
    name: "a carriage return stays in its line",
    needs: writable,
    async run(it) {
      await it.write("/crlf.txt", "a\r\nb\r\nc\r\n");
      same("whole", await it.text("/crlf.txt"), "a\r\nb\r\nc\r\n");
      same("page", (await it.read("/crlf.txt", 1, 1)).content, "b\r");
    },
  },
  {
    name: "odd numbers are read as the default, zero or a whole number",
    needs: extras,
    async run(it) {
      await it.write("/p.txt", "a\nb\nc\nd\n");
      const whole = await it.read("/p.txt");
      same("not a number", await it.read("/p.txt", Number.NaN, Number.NaN), whole);
      same("infinite", await it.read("/p.txt", 0, Number.POSITIVE_INFINITY), whole);
      same("below zero", await it.read("/p.txt", -5), whole);
      same("fractions", await it.read("/p.txt", 1.9, 2.9), await it.read("/p.txt", 1, 2));
    },
  },
  {
    name: "a very large page is the whole file",
    needs: writable,
    async run(it) {
      await it.write("/p.txt", "a\nb\n");
      same("content", (await it.read("/p.txt", 0, Number.MAX_SAFE_INTEGER)).content, "a\nb\n");
    },
  },
  {
    name: "pages together are the file",
    needs: extras,
    async run(it) {
      const lines = Array.from({ length: 1003 }, (_, n) => `${n} ${"ä".repeat(n % 7)}`);
      await it.write("/all.txt", lines.join("\n"));
      const seen: string[] = [];
      let offset: number | undefined = 0;
      while (offset !== undefined) {
        const page: { content?: unknown; nextOffset?: number } = await it.read(
          "/all.txt",
          offset,
          97,
        );
        seen.push(String(page.content));
        offset = page.nextOffset;
      }
      same("text", seen.join("\n"), lines.join("\n"));
    },
  },
  {
    name: "text knows its type",
    needs: writable,
    async run(it) {
      const types: Record<string, string> = {
        "/a.md": "text/markdown",
        "/a.json": "application/json",
        "/a.txt": "text/plain",
      };
      for (const [path, type] of Object.entries(types)) {
        await it.write(path, "{}");
        same(path, (await it.read(path)).mimeType, type);
      }
    },
  },
  {
    name: "readRaw gives content, type and times",
    needs: (promised) => writable(promised) && promised.keepsFormat,
    async run(it) {
      await it.write("/r.md", "# hi\n");
      const data = (await it.raw("/r.md")) as FileDataV2;
      same("content", data.content, "# hi\n");
      same("type", data.mimeType, "text/markdown");
      for (const time of [data.created_at, data.modified_at]) {
        holds("a time in ISO 8601", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(time ?? ""), time);
      }
    },
  },
  {
    name: "readRaw gives parts of a file, as bytes",
    needs: (promised) => keepsBytes(promised) && extras(promised),
    async run(it) {
      const bytes = utf8("zwölf Äpfel\n");
      await it.upload({ "/part.txt": bytes, "/empty.txt": utf8("") });
      const { length } = bytes;
      for (const [path, start, end, from, to] of [
        ["/part.txt", 0, 3, 0, 3],
        ["/part.txt", 3, undefined, 3, length],
        ["/part.txt", undefined, 3, 0, 3],
        ["/part.txt", 2, 3, 2, 3],
        ["/part.txt", 0, 1000, 0, length],
        ["/part.txt", 5, 5, 5, 5],
        ["/part.txt", 9, 2, 2, 2],
        ["/part.txt", 0, 0, 0, 0],
        ["/part.txt", length, undefined, length, length],
        ["/part.txt", 1000, 2000, length, length],
        ["/empty.txt", 0, 10, 0, 0],
      ] as const) {
        const what = `${path} from ${start} to ${end}`;
        const { data, part } = await it.part(path, { start, end });
        const whole = path === "/empty.txt" ? utf8("") : bytes;
        same(what, data.content, whole.slice(from, to));
        same(`${what}: its place`, [part?.start, part?.size], [from, whole.length]);
      }
      const missing = it.readPart("/no.txt", { start: 0, end: 1 });
      await it.refused("readRaw of a part", missing, "not_found");
      const wrong = it.readPart("/part.txt", { start: -1 });
      await it.refused("readRaw from -1", wrong, "invalid_argument");
    },
  },
  {
    name: "a binary file is read whole, whatever the page",
    needs: keepsBytes,
    async run(it) {
      const bytes = utf8("\u0000PNG\nline\nline\n");
      await it.upload({ "/i.png": bytes });
      const page = await it.read("/i.png", 2, 1);
      same("content", page.content, bytes);
      same("type", page.mimeType, "image/png");
    },
  },
  {
    name: "a result that was handed out does not change",
    needs: writable,
    async run(it) {
      await it.write("/a.txt", "before");
      const page = await it.read("/a.txt");
      const found = await it.grepped("before");
      await it.edit("/a.txt", "before", "after");
      same("read", page.content, "before");
      same("grep", found.matches[0]?.text, "before");
    },
  },
];

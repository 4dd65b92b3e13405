// uploadFiles and downloadFiles: one result per input, in order, and unchanged bytes.

import { type Case, extras, isBytes, keepsBytes, same, uploads, utf8 } from "./subject.js";

export const batches: Case[] = [
  {
    name: "every byte comes back",
    needs: keepsBytes,
    async run(it) {
      const all = Uint8Array.from({ length: 256 }, (_, n) => n);
      const odd = Uint8Array.of(0xff, 0xfe, 0x20, 0x74);
      await it.upload({ "/all.bin": all, "/odd.txt": odd, "/empty": new Uint8Array(0) });
      same("all", await it.bytes("/all.bin"), all);
      same("text that is no UTF-8", await it.bytes("/odd.txt"), odd);
      same("empty", await it.bytes("/empty"), new Uint8Array(0));
    },
  },
  {
    name: "uploaded text is text",
    needs: uploads,
    async run(it) {
      await it.upload({ "/t.txt": utf8("ünï\n"), "/noext": utf8("plain\n") });
      same("read", await it.text("/t.txt"), "ünï\n");
      same("without extension", await it.text("/noext"), "plain\n");
      same("grep", await it.grep("plain"), ["/noext:1:plain"]);
    },
  },
  {
    name: "written text is downloaded as its bytes",
    needs: uploads,
    async run(it) {
      await it.write("/t.txt", "naïve 🙂\r\n");
      same("bytes", await it.bytes("/t.txt"), utf8("naïve 🙂\r\n"));
    },
  },
  {
    name: "uploads overwrite",
    needs: uploads,
    async run(it) {
      await it.write("/u.txt", "old and longer");
      await it.upload({ "/u.txt": utf8("new") });
      same("content", await it.text("/u.txt"), "new");
      same("grep", await it.grep("old"), []);
    },
  },
  {
    name: "a download answers in order, and a missing file alone fails",
    needs: uploads,
    async run(it) {
      await it.upload({ "/a": utf8("A"), "/b": utf8("B") });
      const answers = await it.backend.downloadFiles?.(["/b", "/missing", "/a", "/b"]);
      const seen = answers?.map((one) => [one.path, one.error ?? null, one.content ?? null]);
      same("answers", seen, [
        ["/b", null, utf8("B")],
        ["/missing", "file_not_found", null],
        ["/a", null, utf8("A")],
        ["/b", null, utf8("B")],
      ]);
    },
  },
  {
    name: "a bad path fails alone",
    needs: (promised) => uploads(promised) && promised.extras,
    async run(it) {
      const answers = await it.backend.uploadFiles?.([
        ["/good.txt", utf8("good")],
        ["/../bad.txt", utf8("bad")],
        ["/also.txt", utf8("also")],
      ]);
      same(
        "errors",
        answers?.map((one) => one.error),
        [null, "invalid_path", null],
      );
      same("stored", await it.glob("**"), ["/also.txt", "/good.txt"]);
      const fetched = await it.backend.downloadFiles?.(["/good.txt", "/a/../b"]);
      same(
        "download",
        fetched?.map((one) => one.error),
        [null, "invalid_path"],
      );
    },
  },
  {
    name: "empty batches have empty answers",
    needs: uploads,
    async run(it) {
      same("upload", await it.backend.uploadFiles?.([]), []);
      same("download", await it.backend.downloadFiles?.([]), []);
    },
  },
  {
    name: "later entries for one path win",
    needs: uploads,
    async run(it) {
      await it.backend.uploadFiles?.([
        ["/same.txt", utf8("first")],
        ["/same.txt", utf8("second")],
      ]);
      same("content", await it.text("/same.txt"), "second");
    },
  },
  {
    name: "bytes handed in may be changed afterwards",
    needs: keepsBytes,
    async run(it) {
      const bytes = Uint8Array.of(1, 2, 0);
      await it.upload({ "/x.bin": bytes });
      bytes.fill(9);
      const seen = await it.bytes("/x.bin");
      same("bytes", seen, Uint8Array.of(1, 2, 0));
      seen.fill(7);
      same("again", await it.bytes("/x.bin"), Uint8Array.of(1, 2, 0));
    },
  },
  {
    name: "a view of a larger buffer is only what it shows",
    needs: keepsBytes,
    async run(it) {
      const whole = Uint8Array.of(0, 1, 2, 3, 4, 5);
      await it.upload({ "/x.bin": whole.subarray(2, 4) });
      same("bytes", await it.bytes("/x.bin"), Uint8Array.of(2, 3));
    },
  },
  {
    name: "a megabyte of noise comes back",
    needs: keepsBytes,
    async run(it) {
      let seed = 12345;
      const noise = Uint8Array.from({ length: 1 << 20 }, () => {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        return seed >>> 16;
      });
      await it.upload({ "/noise.bin": noise });
      same("bytes", await it.bytes("/noise.bin"), noise);
      same("size", (await it.infos("/"))[0]?.size, noise.length);
    },
  },
  {
    name: "known types are told apart by their extension",
    needs: (promised) => extras(promised) && keepsBytes(promised) && promised.keepsMime,
    async run(it) {
      const types: Record<string, [string, boolean]> = {
        "/f.png": ["image/png", true],
        "/f.pdf": ["application/pdf", true],
        "/f.ts": ["text/plain", false],
        "/f.html": ["text/html", false],
      };
      for (const [path, [, binary]] of Object.entries(types)) {
        await it.upload({ [path]: utf8("hi") });
        const read = await it.read(path);
        same(`${path} is binary`, isBytes(read.content), binary);
      }
      same("png", (await it.read("/f.png")).mimeType, "image/png");
    },
  },
];

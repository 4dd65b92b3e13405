// Types of files, the protocol in both versions, and machines: M, R and X.

import assert from "node:assert/strict";
import { differs, example, kitbag, page, shellOver, shownBy } from "./lib.mjs";

const { StateBackend, adaptBackendProtocol, toV1 } = kitbag;

const files = (entries, options) => new StateBackend({ files: entries, ...options });

const TYPES = {
  image: {
    png: "image/png",
    jpg: "image/jpeg",
    jpeg: "image/jpeg",
    gif: "image/gif",
    webp: "image/webp",
    heic: "image/heic",
    heif: "image/heif",
  },
  audio: {
    mp3: "audio/mpeg",
    wav: "audio/wav",
    aiff: "audio/aiff",
    aac: "audio/aac",
    ogg: "audio/ogg",
    flac: "audio/flac",
  },
  video: {
    mp4: "video/mp4",
    webm: "video/webm",
    mpeg: "video/mpeg",
    mpg: "video/mpeg",
    mov: "video/quicktime",
    avi: "video/x-msvideo",
    flv: "video/x-flv",
    wmv: "video/x-ms-wmv",
    "3gpp": "video/3gpp",
  },
  documents: {
    pdf: "application/pdf",
    ppt: "application/vnd.ms-powerpoint",
    pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  },
};
const TEXTS = {
  txt: "text/plain",
  html: "text/html",
  json: "application/json",
  js: "application/javascript",
  ts: "text/plain",
  py: "text/plain",
};

/** A backend of the first version that answers as little as that allows. */
const first = () => ({
  lsInfo: () => [{ path: "/a.txt" }],
  read: (_path, offset = 0, limit = 2000) =>
    ["one", "two", "three"]
      .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
      .slice(offset, offset + limit)
      .join("\n"),
  grepRaw: (pattern) => [{ path: "/a.txt", line: 1, text: `has ${pattern}` }],
  globInfo: () => [{ path: "/a.txt" }],
  write: (path) => ({ path }),
  edit: (path) => ({ path, occurrences: 1 }),
});

export default {
  M1: [
    "types by extension: pictures, audio, video, documents, text",
    () => {
      for (const [ending, mime] of Object.entries(Object.assign({}, ...Object.values(TYPES)))) {
        const { content, mimeType } = files({ [`/f.${ending}`]: new Uint8Array([1]) }).read(
          `/f.${ending}`,
        );
        assert.equal(mimeType, mime, ending);
        assert.ok(content instanceof Uint8Array, ending);
      }
      for (const [ending, mime] of Object.entries(TEXTS)) {
        const { content, mimeType } = files({ [`/f.${ending}`]: "text" }).read(`/f.${ending}`);
        assert.deepEqual([content, mimeType], ["text", mime], ending);
      }
    },
  ],
  M2: [
    "`.svg` is a picture in bytes",
    differs(
      "it has the type `image/svg+xml`, but is text, which can be searched and edited",
      page("migrate", "From deepagents' backends"),
      () => {
        const { content, mimeType } = files({ "/a.svg": "<svg/>" }).read("/a.svg");
        assert.deepEqual([content, mimeType], ["<svg/>", "image/svg+xml"]);
      },
    ),
  ],
  M3: ["a program that tells text from bytes", example("001 read a binary file")],
  M4: [
    "FileData in its three forms",
    shownBy("tests/state/state.test.mjs", "take text, bytes and FileData in its three forms"),
  ],
  M5: [
    "new files have the second form",
    () => {
      const backend = files({});
      backend.write("/a.txt", "one\ntwo");
      const { data } = backend.readRaw("/a.txt");
      assert.deepEqual(Object.keys(data).sort(), [
        "content",
        "created_at",
        "mimeType",
        "modified_at",
      ]);
      assert.equal(data.content, "one\ntwo");
      assert.match(data.created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    },
  ],

  R1: [
    "`ls`: one level, directories with `/`, sorted",
    () => {
      const { files: found } = files({ "/b": "x", "/a/c": "x", "/a/d/e": "x" }).ls("/");
      assert.deepEqual(
        found.map(({ path, is_dir }) => [path, is_dir === true]),
        [
          ["/a/", true],
          ["/b", false],
        ],
      );
      assert.equal(found[1].size, 1);
      assert.ok(found[1].modified_at);
    },
  ],
  R2: [
    "`read`: lines by offset and limit, 500 by default",
    () => {
      const text = Array.from({ length: 600 }, (_, at) => `l${at}`).join("\n");
      const backend = files({ "/a": text });
      assert.equal(backend.read("/a").content.split("\n").length, 500);
      assert.equal(backend.read("/a", 598).content, "l598\nl599");
      assert.match(backend.read("/none").error, /File '\/none' not found/);
    },
  ],
  R3: [
    "`readRaw`: a file as it is stored, with its times",
    () => {
      const { data } = files({ "/a": "x" }).readRaw("/a");
      assert.equal(data.content, "x");
      assert.ok(data.created_at && data.modified_at);
    },
  ],
  R4: [
    "`grep`: literal text, bytes passed over",
    () => {
      const backend = files({ "/a.txt": "f(x)\n", "/b.png": new Uint8Array([102, 40, 120, 41]) });
      assert.deepEqual(backend.grep("f(x)").matches, [{ path: "/a.txt", line: 1, text: "f(x)" }]);
    },
  ],
  R5: [
    "`glob`: the files that match",
    () => {
      const { files: found } = files({ "/a.ts": "x", "/b/c.ts": "x" }).glob("**/*.ts");
      assert.deepEqual(found.map(({ path }) => path).sort(), ["/a.ts", "/b/c.ts"]);
      assert.deepEqual(files({}).glob("**").files, []);
    },
  ],
  R6: [
    "`write` only creates",
    () => {
      const backend = files({ "/a": "x" });
      assert.equal(backend.write("/a", "y").code, "already_exists");
      assert.equal(backend.write("/b", "y").path, "/b");
    },
  ],
  R7: [
    "`edit`: a text that occurs once, or all with `replaceAll`",
    () => {
      const backend = files({ "/a": "x x y" });
      assert.equal(backend.edit("/a", "x", "z").code, "ambiguous_edit");
      assert.equal(backend.edit("/a", "none", "z").code, "no_match");
      assert.equal(backend.edit("/a", "x", "z", true).occurrences, 2);
      assert.equal(backend.edit("/a", "y", "w").occurrences, 1);
    },
  ],
  R8: [
    "`uploadFiles`: a result for each",
    () => {
      const answers = files({}).uploadFiles([
        ["/a", new Uint8Array(1)],
        ["/../b", new Uint8Array(1)],
      ]);
      assert.deepEqual(
        answers.map(({ error }) => error),
        [null, "invalid_path"],
      );
    },
  ],
  R9: [
    "`downloadFiles`: bytes for each",
    () => {
      const [a, none] = files({ "/a": "x" }).downloadFiles(["/a", "/none"]);
      assert.deepEqual([...a.content], [120]);
      assert.deepEqual([none.content, none.error], [null, "file_not_found"]);
    },
  ],
  R10: [
    "results have their field, or an error; nothing is thrown",
    () => {
      const backend = files({ "/a": "x" });
      const good = [
        [backend.ls("/"), "files"],
        [backend.read("/a"), "content"],
        [backend.readRaw("/a"), "data"],
        [backend.grep("x"), "matches"],
        [backend.glob("*"), "files"],
        [backend.write("/b", "x"), "path"],
        [backend.edit("/a", "x", "y"), "occurrences"],
      ];
      for (const [answer, field] of good) {
        assert.ok(field in answer && answer.error === undefined, field);
      }
      const bad = [
        backend.ls("/.."),
        backend.read("~"),
        backend.readRaw(""),
        backend.grep("x", "/.."),
        backend.glob("*", "/.."),
        backend.write("/..", "x"),
        backend.edit("/..", "x", "y"),
      ];
      for (const answer of bad) assert.equal(typeof answer.error, "string");
    },
  ],
  R11: [
    "the fields of `FileInfo` and `GrepMatch`",
    () => {
      const backend = files({ "/a": "one\ntwo\n" });
      const [info] = backend.ls("/").files;
      assert.deepEqual(Object.keys(info).sort(), ["is_dir", "modified_at", "path", "size"]);
      assert.deepEqual(backend.grep("two").matches, [{ path: "/a", line: 2, text: "two" }]);
    },
  ],
  R12: [
    "a sandbox has `id` and `execute`",
    shownBy(
      "tests/host/agents.test.mjs",
      "what runs commands is recognised as a sandbox, what does not is not",
    ),
  ],
  R13: [
    "the methods of the first version",
    async () => {
      const view = toV1(files({ "/a.txt": "text\n" }));
      assert.equal((await view.lsInfo("/"))[0].path, "/a.txt");
      assert.equal(await view.read("/a.txt"), "     1\ttext");
      assert.equal((await view.grepRaw("text"))[0].line, 1);
      assert.equal((await view.globInfo("*.txt"))[0].path, "/a.txt");
      assert.equal((await view.write("/b", "x")).path, "/b");
      assert.equal((await view.edit("/b", "x", "y")).occurrences, 1);
      assert.equal((await view.readRaw("/b")).content, "y");
    },
  ],
  R14: [
    "its errors are texts that begin with `Error:`",
    async () => assert.match(await toV1(files({})).read("/x"), /^Error: File '\/x' not found/),
  ],
  R15: [
    "its `grepRaw` takes regular expressions, with Unicode; a wrong one is a text",
    async () => {
      const view = toV1(files({ "/a": "naïve café\n" }));
      assert.equal((await view.grepRaw("\\bcaf\\w\\b")).length, 1);
      assert.equal((await view.grepRaw("^\\w+\\s")).length, 1);
      assert.match(await view.grepRaw("("), /^Invalid regex pattern: /);
    },
  ],
  R16: [
    "its `read` gives 2,000 rows by default",
    async () => {
      const view = toV1(files({ "/a": "x\n".repeat(2_500) }));
      assert.equal((await view.read("/a")).split("\n").length, 2_000);
    },
  ],
  R17: ["tables of what is called otherwise", page("migrate", "From version 1 to version 2")],
  R18: [
    "a backend of the first version, or of Python, without `readRaw`",
    async () => {
      const adapted = adaptBackendProtocol(first());
      assert.equal((await adapted.read("/a.txt")).content, "one\ntwo\nthree");
      assert.equal((await adapted.read("/a.txt", 1, 1)).content, "two");
      assert.equal((await adapted.readRaw("/a.txt")).code, "unsupported");
      const { call } = kitbag.createFileTools(first());
      const { text } = await call("read_file", { file_path: "/a.txt", offset: 1 });
      assert.equal(text, "     2\ttwo\n     3\tthree");
    },
  ],

  X1: ["a sandbox: files and commands in one", example("001 quickstart: sandbox")],
  X2: [
    "machines of Modal, Daytona and Deno",
    differs(
      "their own packages are backends, which kitbag takes as they are; any other machine is reached through `SandboxBackend`",
      page("migrate", "From deepagents' backends"),
      async () => {
        const machine = shellOver((command) => ({ output: command, exitCode: 0 }), { "/a": "x" });
        const { call } = kitbag.createFileTools(machine);
        assert.match((await call("execute", { command: "ls" })).text, /^ls/);
        assert.match((await call("read_file", { file_path: "/a" })).text, /\tx$/);
      },
    ),
  ],
  X3: [
    "a shell over the files of any backend",
    shownBy("tests/tools/adapters/bash.test.mjs", "thirty commands over StateBackend"),
  ],
};

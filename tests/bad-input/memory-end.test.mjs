// Where memory ends, just below 4 GiB: each operation of each kind of backend and of the tools
// answers, or returns `too_large`; nothing is thrown, and all of it works once memory is free again.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  CompositeBackend,
  CustomBackend,
  createFileTools,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const MIB = 2 ** 20;
const bytes = (text) => new TextEncoder().encode(text);

/** A storage of the caller's, outside of WebAssembly. */
function storage(files) {
  return {
    get: (path) => (files.has(path) ? { content: files.get(path) } : null),
    list: (prefix) =>
      [...files]
        .filter(([path]) => path.startsWith(prefix))
        .map(([path, { length }]) => ({ path, size: length })),
    put: (path, { content }) => void files.set(path, content),
    delete: (path) => files.delete(path),
  };
}

const LINES = "a line of text\n".repeat(70_000);
const FILES = { "/a.txt": LINES, "/d/b.txt": "small\n" };

const SUBJECTS = {
  StateBackend: () => new StateBackend({ files: FILES, writeMode: "overwrite" }),
  CustomBackend: () =>
    new CustomBackend(
      storage(new Map(Object.entries(FILES).map(([path, text]) => [path, bytes(text)]))),
      { writeMode: "overwrite" },
    ),
  "a router": () =>
    new CompositeBackend(new StateBackend({ files: FILES, writeMode: "overwrite" }), {
      "/m/": new StateBackend({ files: FILES }),
    }),
  "a policy": () =>
    withPolicy(new StateBackend({ files: FILES, writeMode: "overwrite" }), {
      quota: { maxBytes: 2 ** 31 },
      readOnlyPrefixes: ["/secret/"],
    }),
};

const large = "x".repeat(3 * MIB);
const CALLS = {
  ls: (b) => b.ls("/"),
  read: (b) => b.read("/a.txt", 0, 1e9),
  readRaw: (b) => b.readRaw("/a.txt"),
  "grep of every line": (b) => b.grep("line"),
  "grep of nothing": (b) => b.grep(""),
  "grep with context": (b) => b.grep("line", "/", null, null, { before: 50, after: 50 }),
  "grep by an expression": (b) => b.grep("l[a-i]ne", "/", null, null, { regex: true }),
  "grep in any case": (b) => b.grep("LINE É", "/", null, null, { ignoreCase: true }),
  "grep with maxCount": (b) => b.grep("line", "/", "*.txt", 5),
  glob: (b) => b.glob("**/*"),
  "write of a large text": (b) => b.write("/new.txt", large),
  "write of bytes": (b) => b.write("/new.bin", new Uint8Array(4 * MIB)),
  "edit that doubles": (b) => b.edit("/a.txt", "line", "line line line", true),
  "edit of whole bytes": (b) => b.edit("/a.txt", bytes(LINES), bytes(LINES)),
  uploadFiles: (b) => b.uploadFiles([["/up.bin", new Uint8Array(4 * MIB)]]),
  downloadFiles: (b) => b.downloadFiles(["/a.txt", "/none"]),
  delete: (b) => b.delete("/d/b.txt"),
};

/** Data, or an error with a code; in a batch each. */
function answers(answer, what) {
  for (const one of [answer].flat()) {
    assert.equal(typeof one, "object", what);
    if (one.error === undefined || one.error === null) continue;
    assert.ok(typeof one.error === "string", what);
    assert.notEqual(one.code, "internal", `${what}: ${one.error}`);
  }
}

describe("just below 4 GiB", () => {
  const hog = new StateBackend({ writeMode: "overwrite" });
  const made = new Map();
  let filled = 0;

  /** Takes all memory but about `left` bytes. */
  function fill(left) {
    for (let size = 512 * MIB; size >= left; size = Math.floor(size / 2)) {
      for (;;) {
        const [{ error }] = hog.uploadFiles([[`/${filled}`, new Uint8Array(size)]]);
        if (error) break;
        filled += 1;
      }
    }
  }

  before(() => {
    for (const [name, make] of Object.entries(SUBJECTS)) made.set(name, make());
    fill(MIB);
  });

  after(() => hog.restore({}));

  for (const name of Object.keys(SUBJECTS)) {
    for (const [what, call] of Object.entries(CALLS)) {
      test(`${name}: ${what} answers`, async () => {
        answers(await call(made.get(name)), what);
      });
    }
    test(`${name}: each tool answers`, async () => {
      const { tools } = createFileTools(made.get(name));
      const inputs = {
        ls: { path: "/" },
        read_file: { file_path: "/a.txt" },
        grep: { pattern: "line", output_mode: "content", before: 90, after: 90 },
        glob: { pattern: "**" },
        write_file: { file_path: "/tool.txt", content: large },
        edit_file: { file_path: "/a.txt", old_string: "text", new_string: "t", replace_all: true },
      };
      for (const tool of tools.filter(({ name }) => inputs[name])) {
        const said = await tool.execute(inputs[tool.name]).catch((error) => error);
        assert.doesNotMatch(String(said), /defect|unreachable|borrowed/, tool.name);
      }
    });
  }

  test("with less than 64 KiB left, a call answers or is refused as a whole", async () => {
    fill(4096);
    for (const name of Object.keys(SUBJECTS)) {
      for (const [what, call] of Object.entries(CALLS)) answers(await call(made.get(name)), what);
    }
  });

  test("everything works again when memory is free, and it is the same memory", async () => {
    hog.restore({});
    for (const make of Object.values(SUBJECTS)) {
      const backend = make();
      assert.equal((await backend.grep("line")).error, undefined);
      assert.equal((await backend.write("/new.txt", large)).error, undefined);
      assert.equal((await backend.edit("/new.txt", large, "y")).occurrences, 1);
      assert.equal((await backend.read("/new.txt")).content, "y");
    }
    const [{ error }] = hog.uploadFiles([["/again", new Uint8Array(1024 * MIB)]]);
    assert.equal(error, null);
  });
});

describe("larger than a host's strings and buffers can be", () => {
  test("a line of 600 MB: a page of it is too_large, its bytes are there", () => {
    const backend = new StateBackend();
    backend.uploadFiles([["/long.txt", new Uint8Array(600 * MIB).fill(97)]]);
    for (const answer of [backend.read("/long.txt"), backend.readRaw("/long.txt")]) {
      assert.equal(answer.code, "too_large");
      assert.match(answer.error, /a string or a buffer/);
    }
    const found = backend.grep("aaa");
    assert.deepEqual([found.matches, found.truncated], [[], true]);
    assert.equal(backend.downloadFiles(["/long.txt"])[0].content.length, 600 * MIB);
    assert.equal(backend.write("/b.txt", "b").error, undefined);
  });

  test("an argument of 4 GiB is refused, not cut", () => {
    const backend = new StateBackend();
    const [{ error, message }] = backend.uploadFiles([["/a.bin", new Uint8Array(2 ** 32)]]);
    assert.ok(error);
    assert.match(message, /memory/);
    assert.equal(backend.read("/a.bin").code, "not_found");
  });
});

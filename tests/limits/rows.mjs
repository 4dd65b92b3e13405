// One test for each row of docs/limits.md, by its name. Each returns after it has met the bound; what
// it throws is the failure.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CompositeBackend,
  CustomBackend,
  createFileTools,
  FilesystemBackend,
  presignS3,
  S3Backend,
  SandboxBackend,
  SqlBackend,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const MIB = 2 ** 20;
const filled = (length, letter = "a") => new Uint8Array(length).fill(letter.charCodeAt(0));
const state = (files = { "/a.txt": "one\ntwo\n" }) =>
  new StateBackend({ files, writeMode: "overwrite" });
const glob = (pattern) => state().glob(pattern);
const regex = (pattern, backend = state()) =>
  backend.grep(pattern, "/", null, null, { regex: true });

function refused(answer, code, text) {
  assert.equal(answer.code, code, JSON.stringify(answer).slice(0, 300));
  assert.match(answer.error, text);
}

const tool = (backend, name, options) =>
  createFileTools(backend, options).tools.find((one) => one.name === name);

/** A storage whose conditional puts always meet another writer. */
function contended() {
  let version = 0;
  let puts = 0;
  return {
    capability: { create: "storage", update: "storage" },
    puts: () => puts,
    get: () => ({ content: "a", version: ++version }),
    list: () => ["/a.txt"],
    put: () => {
      puts += 1;
      return false;
    },
    delete: () => true,
  };
}

const place = {
  ...{ endpoint: "https://s3.example", region: "us-east-1", bucket: "bucket" },
  credentials: { accessKeyId: "a", secretAccessKey: "s" },
};

/** By the name of the row; `value` is the number in the table. */
export const ROWS = {
  "length of a path": (value) => {
    const fits = `/${"a".repeat(value - 1)}`;
    assert.equal(state().write(fits, "x").error, undefined);
    refused(state().write(`${fits}a`, "x"), "invalid_path", /1024 bytes/);
    refused(state().write(`/${"é".repeat(value / 2)}`, "x"), "invalid_path", /1024 bytes/);
  },
  "length of a glob pattern": (value) => {
    assert.equal(glob("a".repeat(value)).error, undefined);
    refused(glob("a".repeat(value + 1)), "invalid_pattern", /4096/);
    refused(glob("*".repeat(MIB)), "invalid_pattern", /4096/);
  },
  "alternatives of a glob pattern": () => {
    assert.equal(glob(`{${Array.from({ length: 999 }, (_, n) => n).join(",")}}`).error, undefined);
    refused(glob("{a,b,c,d,e,f,g,h,i,j}".repeat(4)), "invalid_pattern", /alternatives|1000/);
  },
  "nested braces of a glob pattern": (value) => {
    assert.equal(glob(`${"{a,".repeat(value - 1)}b${"}".repeat(value - 1)}`).error, undefined);
    refused(glob(`${"{a,".repeat(value + 1)}b${"}".repeat(value + 1)}`), "invalid_pattern", /./);
  },
  "size of a glob pattern written out": () => {
    refused(glob(`{${"a,".repeat(90)}b}${"c".repeat(3_000)}`), "invalid_pattern", /./);
  },
  "length of an expression": (value) => {
    assert.equal(regex("a".repeat(value)).error, undefined);
    refused(regex("a".repeat(value + 1)), "invalid_pattern", /8192/);
    refused(regex("(a|b)*".repeat(170_000)), "invalid_pattern", /8192/);
  },
  "parts of an expression": (value) => {
    assert.equal(regex(`[ab]{${value - 100}}`).error, undefined);
    refused(regex(`[ab]{${value + 1}}`), "invalid_pattern", /at most 4000/);
  },
  "nested groups of an expression": (value) => {
    const nested = (depth) => `${"(".repeat(depth)}a${")".repeat(depth)}`;
    assert.equal(regex(nested(value - 10)).error, undefined);
    refused(regex(nested(value + 10)), "invalid_pattern", /./);
  },
  "ranges in the classes of an expression": () => {
    // Equal classes count once.
    const classes = Array.from({ length: 90 }, (_, n) => {
      return `[\\p{L}${String.fromCharCode(0x2500 + n)}]`;
    });
    const answer = regex(classes.join(""));
    refused(answer, "invalid_pattern", /./);
  },
  "bytes of a search result": (value) => {
    const line = "x".repeat(9 * MIB);
    const backend = state({ "/a.txt": Array.from({ length: 20 }, () => line).join("\n") });
    const found = backend.grep("x");
    assert.equal(found.truncated, true);
    const bytes = found.matches.reduce((sum, { text }) => sum + text.length, 0);
    assert.ok(bytes >= value && bytes < value + 10 * MIB, `${bytes}`);
  },
  "a line in a search result": (value) => {
    const backend = new StateBackend();
    backend.uploadFiles([["/a.txt", filled(value + 1)]]);
    assert.deepEqual(backend.grep("aaa"), { matches: [], truncated: true });
    backend.uploadFiles([["/b.txt", filled(100 * MIB, "b")]]);
    assert.equal(backend.grep("bbb").matches[0].text.length, 100 * MIB);
  },
  "time of a search without timeoutMs": async () => {
    // The clock of this process runs faster, so that ten seconds pass soon.
    const { now } = Date;
    const start = now();
    Date.now = () => start + (now() - start) * 200;
    try {
      let seed = 7;
      // So many bytes that all of the ten seconds are allowed, however fast they are searched.
      const noise = Uint8Array.from({ length: 32 * MIB }, () => {
        seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
        return 97 + (seed >>> 31);
      });
      const backend = new StateBackend();
      backend.uploadFiles([["/a.txt", noise]]);
      refused(regex("(?:[ab]*a[ab]{490}){8}c", backend), "timeout", /10 s/);
    } finally {
      Date.now = now;
    }
  },
  "size of an edited file": () => {
    const backend = new StateBackend({ maxBytes: 2 ** 31 });
    backend.uploadFiles([["/a.txt", filled(4 * MIB)]]);
    refused(backend.edit("/a.txt", "a", "b".repeat(1_000), true), "too_large", /too large/);
    assert.equal(backend.edit("/a.txt", "a".repeat(4 * MIB), "b").occurrences, 1);
  },
  "bytes of a StateBackend": (value) => {
    const backend = new StateBackend();
    const [{ message, error }] = backend.uploadFiles([["/a.bin", filled(value + 1)]]);
    assert.ok(error, message);
    assert.equal(backend.uploadFiles([["/a.bin", filled(MIB)]])[0].error, null);
  },
  "maxBytes of a StateBackend": (value) => {
    assert.throws(() => new StateBackend({ maxBytes: value + 1 }), /maxBytes/);
    new StateBackend({ maxBytes: value });
  },
  "attempts of an edit beside other writers": async (value) => {
    const storage = contended();
    const backend = new CustomBackend(storage);
    refused(await backend.edit("/a.txt", "a", "b"), "conflict", /another writer/);
    assert.ok(storage.puts() <= value + 1 && storage.puts() > 1, `${storage.puts()}`);
  },
  "attempts of an inspected edit": async (value) => {
    let looks = 0;
    const storage = contended();
    const backend = withPolicy(new CustomBackend(storage), {
      inspect: () => {
        looks += 1;
      },
    });
    refused(await backend.edit("/a.txt", "a", "b"), "conflict", /another writer/);
    assert.ok(looks <= value, `${looks}`);
  },
  "pages of a CustomBackend's listing": async (value) => {
    let pages = 0;
    const backend = new CustomBackend({
      get: () => null,
      list: () => {
        pages += 1;
        return { entries: [], next: `${pages}` };
      },
      put: () => undefined,
      delete: () => true,
    });
    const answer = await backend.ls("/");
    assert.ok(answer.error !== undefined || pages <= value, `${pages}`);
    assert.ok(pages <= value + 1, `${pages}`);
  },
  "size of a file on disk": async (value) => {
    const rootDir = mkdtempSync(join(tmpdir(), "kitbag-"));
    try {
      writeFileSync(join(rootDir, "a.txt"), filled(value + 1));
      const backend = new FilesystemBackend({ rootDir });
      refused(await backend.read("/a.txt"), "too_large", /./);
      assert.deepEqual((await backend.grep("a")).matches, []);
    } finally {
      rmSync(rootDir, { recursive: true });
    }
  },
  "output of a sandbox's own scripts": async (value) => {
    let most = 0;
    const backend = new SandboxBackend({
      id: "box",
      execute: (_, { maxOutputBytes }) => {
        most = Math.max(most, maxOutputBytes);
        return { output: "", exitCode: 1 };
      },
    });
    await backend.read("/a.txt");
    assert.equal(most, value);
  },
  "validity of a presigned request": (value) => {
    const request = { method: "GET", key: "a" };
    presignS3(place, request, value);
    assert.throws(() => presignS3(place, request, value + 1), TypeError);
  },
  "length of an S3 key": async (value) => {
    const backend = new S3Backend({ ...place, prefix: `${"p".repeat(value - 2)}/` });
    const answer = await backend.read("/longer.txt");
    refused(answer, "invalid_path", /./);
  },
  "size of a file in S3": (value) => {
    assert.equal(new S3Backend(place).capability.maxFileBytes, value);
  },
  "nested elements of an answer of S3": async (value) => {
    const listing = (depth) =>
      `<ListBucketResult><IsTruncated>false</IsTruncated>${"<a>".repeat(depth)}${"</a>".repeat(depth)}</ListBucketResult>`;
    const { fetch } = globalThis;
    try {
      const ls = (depth) => {
        globalThis.fetch = async () => new Response(listing(depth));
        return new S3Backend({ ...place, retry: false }).ls("/");
      };
      assert.deepEqual((await ls(value - 1)).files, []);
      for (const depth of [value, value * 1_000]) refused(await ls(depth), "unavailable", /answer/);
    } finally {
      globalThis.fetch = fetch;
    }
  },
  "bytes that a search in a sandbox fetches": async (value) => {
    const rootDir = mkdtempSync(join(tmpdir(), "kitbag-"));
    try {
      const run = (command, { maxOutputBytes }) => {
        const { stdout, status } = spawnSync("sh", ["-c", command], { maxBuffer: 2 ** 30 });
        const truncated = stdout.length > maxOutputBytes;
        return { output: `${stdout.subarray(0, maxOutputBytes)}`, exitCode: status, truncated };
      };
      const backend = new SandboxBackend({ id: "box", execute: run, rootDir });
      // Files with holes take no room.
      const size = 9 * MIB;
      for (let at = 0; at * size <= value; at++) {
        writeFileSync(join(rootDir, `${at}.txt`), "");
        truncateSync(join(rootDir, `${at}.txt`), size);
      }
      refused(await regex("[a-z]+", backend), "too_large", /256 MiB/);
      assert.deepEqual((await backend.grep("no such text")).matches, []);
    } finally {
      rmSync(rootDir, { recursive: true });
    }
  },
  "counts of a quota beside other writers": async (value) => {
    let counts = 0;
    let inside = false;
    const guarded = withPolicy(
      new CustomBackend({
        get: () => ({ content: "a" }),
        list: async () => {
          if (inside) return ["/a.txt"];
          // Each count meets a change of another call.
          counts += 1;
          inside = true;
          assert.equal((await guarded.delete("/a.txt")).error, undefined);
          inside = false;
          return ["/a.txt"];
        },
        put: () => undefined,
        delete: () => true,
      }),
      { quota: { maxBytes: 1_000 } },
    );
    refused(await guarded.write("/b.txt", "b"), "unavailable", /faster than they can be counted/);
    assert.equal(counts, value);
  },
  "namespace of a SQL table": (value) => {
    const make = (namespace) => new SqlBackend({ query: () => [], dialect: "sqlite", namespace });
    make("n".repeat(value - 16));
    assert.throws(() => make("n".repeat(value + 1)), /namespace/);
  },
  "longest timer": async (value) => {
    const backend = new CompositeBackend(state(), {});
    for (const timeoutMs of [value, value + 1, 1e300, Number.POSITIVE_INFINITY]) {
      assert.equal((await backend.grep("one", "/", null, null, { timeoutMs })).matches.length, 1);
    }
  },
  "matches that the tool grep shows": async (value) => {
    const grep = tool(state({ "/a.txt": "x\n".repeat(value * 2) }), "grep");
    const text = String(await grep.execute({ pattern: "x", output_mode: "content" }));
    assert.match(text, /there are more|not shown/);
    assert.ok(text.split("\n").length <= value + 10);
  },
  "length of a line that the tool grep shows": async (value) => {
    const grep = tool(state({ "/a.txt": "x".repeat(value * 50) }), "grep");
    const text = String(await grep.execute({ pattern: "x", output_mode: "content" }));
    assert.ok(text.length < value + 500, `${text.length}`);
  },
  "context lines of the tool grep": async (value) => {
    const lines = Array.from({ length: value * 5 }, (_, n) => (n === value * 2 ? "hit" : "x"));
    const grep = tool(state({ "/a.txt": lines.join("\n") }), "grep");
    const input = { pattern: "hit", output_mode: "content", before: 1e9, after: 1e9 };
    const text = String(await grep.execute(input));
    assert.ok(text.split("\n").length <= 2 * value + 10, text.slice(-200));
  },
  "lines that the tool read_file shows": async (value) => {
    const read = tool(state({ "/a.txt": "x\n".repeat(value * 3) }), "read_file");
    const text = String(await read.execute({ file_path: "/a.txt" }));
    assert.equal(text.match(/x$/gm).length, value);
    assert.match(text, new RegExp(`offset|${value}`));
  },
  "length of a line that the tool read_file shows whole": async (value) => {
    const read = tool(state({ "/a.txt": `${"x".repeat(value * 3)}\nend` }), "read_file");
    const text = String(await read.execute({ file_path: "/a.txt" }));
    assert.ok(text.split("\n").every((line) => line.length <= value + 50));
  },
  "media that the tool read_file shows": async (value) => {
    const backend = state({});
    backend.uploadFiles([["/a.png", filled(value + 1)]]);
    const said = await tool(backend, "read_file").execute({ file_path: "/a.png" });
    assert.match(JSON.stringify(said).slice(0, 500), /too large|larger|10/);
  },
  "entries that the tool ls shows": async (value) => {
    const files = Object.fromEntries(
      Array.from({ length: value + 50 }, (_, n) => [`/${n}.txt`, ""]),
    );
    const text = String(await tool(state(files), "ls").execute({ path: "/" }));
    assert.ok(text.split("\n").length <= value + 5);
    assert.match(text, /more|not shown/);
  },
  "result of a tool that is shown": async (value) => {
    const { offload } = createFileTools(state({}));
    const most = "a".repeat(value * 4);
    assert.equal(await offload(most, { callId: "most" }), most);
    assert.match(await offload(`${most}a`, { callId: "more" }), /large_tool_results\/more/);
  },
  "message of a user that is shown": async (value) => {
    const { offloadMessage } = createFileTools(state({}));
    const most = "a".repeat(value * 4);
    assert.equal(await offloadMessage(most), most);
    assert.ok((await offloadMessage(`${most}a`)).length < most.length / 2);
  },
  "text of a tool's own answer": async (value) => {
    const files = {};
    for (let n = 0; n < 900; n++) files[`/${"d".repeat(200)}${n}/${"f".repeat(200)}.txt`] = "x";
    for (const name of ["glob", "grep"]) {
      const text = String(await tool(state(files), name).execute({ pattern: "**", path: "/" }));
      assert.ok(text.length <= value * 1.1, `${name}: ${text.length}`);
    }
  },
};

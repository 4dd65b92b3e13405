// StateBackend beyond the protocol: initial files, snapshots, a caller's state, channels, bounds.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StateBackend, withPolicy } from "../lib/kitbag.mjs";

const utf8 = (text) => new TextEncoder().encode(text);
const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);

/** A channel over a record, counting how often each entry's content is looked at. */
function channelOf(files = {}) {
  const channel = {
    files,
    sent: [],
    read: () => channel.files,
    send(update) {
      channel.sent.push(update);
      channel.files = { ...channel.files };
      for (const [path, file] of Object.entries(update)) {
        if (file === null) delete channel.files[path];
        else channel.files[path] = file;
      }
    },
  };
  return channel;
}

function fileOf(content, extra = {}) {
  const time = "2024-05-06T07:08:09.123Z";
  return { content, mimeType: "text/plain", created_at: time, modified_at: time, ...extra };
}

/** A file that counts how often its content is read. */
function counted(content) {
  const file = fileOf("");
  let reads = 0;
  Object.defineProperty(file, "content", {
    enumerable: true,
    get() {
      reads += 1;
      return content;
    },
  });
  return { file, reads: () => reads };
}

describe("initial files", () => {
  test("take text, bytes and FileData in its three forms", () => {
    const backend = new StateBackend({
      files: {
        "/text.txt": "text",
        "/bytes.bin": bytes,
        "/v2.txt": fileOf("two\nlines"),
        "/v1.txt": { content: ["two", "lines"], created_at: "", modified_at: "" },
        "/python.txt": { content: "plain", encoding: "utf-8" },
        "/python.bin": { content: "AAEC/w==", encoding: "base64" },
      },
    });
    assert.equal(backend.read("/text.txt").content, "text");
    assert.deepEqual(backend.read("/bytes.bin").content, bytes);
    assert.equal(backend.read("/v2.txt").content, "two\nlines");
    assert.equal(backend.read("/v1.txt").content, "two\nlines");
    assert.equal(backend.read("/python.txt").content, "plain");
    assert.deepEqual(backend.read("/python.bin").content, Uint8Array.of(0, 1, 2, 255));
  });

  test("keep the times they are given with", () => {
    const backend = new StateBackend({ files: { "/a.txt": fileOf("a") } });
    const { data } = backend.readRaw("/a.txt");
    assert.equal(data.created_at, "2024-05-06T07:08:09.123Z");
    assert.equal(data.modified_at, "2024-05-06T07:08:09.123Z");
  });

  test("a file that is none is refused by name", () => {
    for (const bad of [42, null, true, { content: 7 }, { content: [1] }, {}, () => {}]) {
      assert.throws(() => new StateBackend({ files: { "/bad.txt": bad } }), {
        name: "TypeError",
        message: /\/bad\.txt/,
      });
    }
    assert.throws(() => new StateBackend({ files: { "/../x": "x" } }), { name: "TypeError" });
  });
});

describe("snapshot and restore", () => {
  const original = () => {
    const backend = new StateBackend({ fileFormat: "v2" });
    backend.write("/a.txt", "naïve 🙂\r\n");
    backend.write("/empty.txt", "");
    backend.write("/__proto__", "not a prototype");
    backend.uploadFiles([
      ["/all.bin", bytes],
      ["/odd.txt", Uint8Array.of(0xff, 0xfe, 0x41)],
      ["/d/noext", utf8("plain")],
    ]);
    return backend;
  };

  test("round-trip every byte and time", () => {
    const backend = original();
    const record = backend.snapshot();
    const other = new StateBackend();
    other.restore(record);
    assert.deepEqual(other.snapshot(), record);
    const paths = Object.keys(record);
    assert.equal(paths.length, 6);
    for (const [at, answer] of backend.downloadFiles(paths).entries()) {
      assert.deepEqual(other.downloadFiles(paths)[at], answer);
      assert.deepEqual(other.readRaw(paths[at]), backend.readRaw(paths[at]));
    }
  });

  test("survive JSON where all files are text", () => {
    const backend = new StateBackend();
    backend.write("/a.txt", "ü\n");
    const other = new StateBackend();
    other.restore(JSON.parse(JSON.stringify(backend.snapshot())));
    assert.deepEqual(other.readRaw("/a.txt"), backend.readRaw("/a.txt"));
  });

  test("restore makes the files exactly those of the record", () => {
    const backend = original();
    backend.restore({ "/only.txt": "only" });
    assert.deepEqual(Object.keys(backend.snapshot()), ["/only.txt"]);
    assert.deepEqual(backend.grep("naïve").matches, []);
  });

  test("a record that cannot be restored changes nothing", () => {
    const backend = original();
    const before = backend.snapshot();
    assert.throws(() => backend.restore({ "/ok.txt": "ok", "/../bad": "x" }), {
      name: "TypeError",
    });
    assert.deepEqual(backend.snapshot(), before);
    for (const bad of [null, 1, "x", undefined]) {
      assert.throws(() => backend.restore(bad), { name: "TypeError" });
    }
    assert.deepEqual(backend.snapshot(), before);
  });

  test("a snapshot is not changed by what comes after", () => {
    const backend = original();
    const record = backend.snapshot();
    backend.edit("/a.txt", "naïve", "wise");
    record["/all.bin"].content.fill(0);
    assert.equal(record["/a.txt"].content, "naïve 🙂\r\n");
    assert.deepEqual(backend.read("/all.bin").content, bytes);
  });

  test("line arrays come back as line arrays", () => {
    const backend = new StateBackend({ fileFormat: "v1" });
    backend.write("/a.txt", "one\ntwo");
    const record = backend.snapshot();
    assert.deepEqual(record["/a.txt"].content, ["one", "two"]);
    const other = new StateBackend();
    other.restore(record);
    assert.deepEqual(other.readRaw("/a.txt").data.content, ["one", "two"]);
  });
});

describe("a caller's state (`new StateBackend(runtime)`)", () => {
  /** Applies what a graph's reducer would. */
  const apply = (runtime, { filesUpdate }) => {
    const files = { ...runtime.state.files };
    for (const [path, file] of Object.entries(filesUpdate)) {
      if (file === null) delete files[path];
      else files[path] = file;
    }
    runtime.state = { ...runtime.state, files };
  };

  test("is read through on every call", () => {
    const runtime = { state: { files: { "/a.txt": fileOf("one") } } };
    const backend = new StateBackend(runtime);
    assert.equal(backend.read("/a.txt").content, "one");
    runtime.state = { files: { "/a.txt": fileOf("two"), "/b.txt": fileOf("b") } };
    assert.equal(backend.read("/a.txt").content, "two");
    assert.equal(backend.ls("/").files.length, 2);
    runtime.state = { files: {} };
    assert.match(backend.read("/a.txt").error, /not found/);
  });

  test("gets changes as filesUpdate and is not changed itself", () => {
    const runtime = { state: { files: { "/a.txt": fileOf("one") } } };
    const before = runtime.state.files;
    const backend = new StateBackend(runtime);
    const written = backend.write("/b.txt", "b");
    assert.equal(written.filesUpdate["/b.txt"].content, "b");
    assert.deepEqual(Object.keys(before), ["/a.txt"]);
    const edited = backend.edit("/a.txt", "one", "1");
    assert.equal(edited.filesUpdate["/a.txt"].content, "1");
    assert.equal(edited.filesUpdate["/a.txt"].created_at, "2024-05-06T07:08:09.123Z");
    apply(runtime, edited);
    assert.equal(backend.read("/a.txt").content, "1");
  });

  test("an update that is never applied is forgotten", () => {
    const runtime = { state: { files: {} } };
    const backend = new StateBackend(runtime);
    backend.write("/a.txt", "a");
    assert.match(backend.read("/a.txt").error, /not found/);
    assert.equal(backend.write("/a.txt", "again").error, undefined);
  });

  test("a deletion is handed back as null", () => {
    const runtime = { state: { files: { "/d/a.txt": fileOf("a"), "/d/b.txt": fileOf("b") } } };
    const backend = new StateBackend(runtime);
    const gone = backend.delete("/d");
    assert.deepEqual(gone.filesUpdate, { "/d/a.txt": null, "/d/b.txt": null });
    apply(runtime, gone);
    assert.deepEqual(backend.ls("/").files, []);
  });

  test("a state without files is empty", () => {
    for (const state of [{}, null, undefined, { files: null }]) {
      const backend = new StateBackend({ state });
      assert.deepEqual(backend.ls("/").files, []);
      assert.equal(backend.write("/a.txt", "a").error, undefined);
    }
  });

  test("a refusal hands nothing back", () => {
    const runtime = { state: { files: { "/a.txt": fileOf("one") } } };
    const backend = new StateBackend(runtime);
    for (const answer of [backend.write("/a.txt", "x"), backend.edit("/a.txt", "zzz", "x")]) {
      assert.equal(typeof answer.error, "string");
      assert.equal(answer.filesUpdate, undefined);
    }
  });

  test("a state that throws is an answer, not an exception", () => {
    const runtime = {
      get state() {
        throw new Error("no state today");
      },
    };
    const backend = new StateBackend(runtime);
    assert.match(backend.read("/a.txt").error, /no state today/);
    assert.equal(backend.read("/a.txt").code, "unavailable");
  });
});

describe("a channel", () => {
  test("is read, and is sent changes; results carry no filesUpdate", () => {
    const channel = channelOf({ "/a.txt": fileOf("one") });
    const backend = new StateBackend({ channel });
    assert.equal(backend.read("/a.txt").content, "one");
    const written = backend.write("/b.txt", "b");
    assert.equal(written.filesUpdate, undefined);
    assert.equal(channel.files["/b.txt"].content, "b");
    backend.edit("/a.txt", "one", "1");
    assert.equal(channel.files["/a.txt"].content, "1");
    backend.delete("/b.txt");
    assert.deepEqual(channel.sent.at(-1), { "/b.txt": null });
    assert.deepEqual(Object.keys(channel.files), ["/a.txt"]);
  });

  test("what is gone makes room for what came", () => {
    const channel = channelOf({ "/old.txt": fileOf("x".repeat(60)) });
    const backend = new StateBackend({ channel, maxBytes: 100 });
    assert.equal(backend.ls("/").files.length, 1);
    channel.files = { "/new.txt": fileOf("y".repeat(60)) };
    assert.deepEqual(
      backend.ls("/").files.map(({ path }) => path),
      ["/new.txt"],
    );
  });

  test("only entries of changed identity are taken over again", () => {
    const [a, b] = [counted("a"), counted("b")];
    const channel = channelOf({ "/a.txt": a.file, "/b.txt": b.file });
    const backend = new StateBackend({ channel });
    backend.ls("/");
    const [first, second] = [a.reads(), b.reads()];
    assert.ok(first > 0 && second > 0);
    for (let n = 0; n < 10; n++) backend.grep("a");
    backend.write("/c.txt", "c");
    backend.read("/c.txt");
    assert.deepEqual([a.reads(), b.reads()], [first, second]);
    const fresh = counted("fresh");
    channel.files = { ...channel.files, "/a.txt": fresh.file };
    assert.equal(backend.read("/a.txt").content, "fresh");
    assert.equal(b.reads(), second);
  });

  test("a send that throws is a refusal, and the old content stands", () => {
    const channel = channelOf({ "/a.txt": fileOf("one") });
    channel.send = () => {
      throw new Error("full");
    };
    const backend = new StateBackend({ channel });
    const answer = backend.edit("/a.txt", "one", "two");
    assert.match(answer.error, /full/);
    assert.equal(answer.code, "unavailable");
    assert.equal(backend.read("/a.txt").content, "one");
    assert.match(backend.write("/b.txt", "b").error, /full/);
    assert.match(backend.read("/b.txt").error, /not found/);
  });

  test("what the channel makes of an update is what counts", () => {
    const channel = channelOf();
    const send = channel.send.bind(channel);
    channel.send = (update) => {
      const shouting = {};
      for (const [path, file] of Object.entries(update)) {
        shouting[path] = file && { ...file, content: file.content.toUpperCase() };
      }
      send(shouting);
    };
    const backend = new StateBackend({ channel });
    backend.write("/a.txt", "quiet");
    assert.equal(backend.read("/a.txt").content, "QUIET");
  });

  test("needs read() and send()", () => {
    for (const channel of [{}, { read() {} }, { read: 1, send: 2 }]) {
      assert.throws(() => new StateBackend({ channel }), { name: "TypeError", message: /channel/ });
    }
  });
});

describe("maxBytes", () => {
  test("over it, changes are refused and nothing is changed", () => {
    const backend = new StateBackend({ maxBytes: 100 });
    assert.equal(backend.write("/a.txt", "x".repeat(60)).error, undefined);
    const over = backend.write("/b.txt", "x".repeat(60));
    assert.equal(over.code, "quota_exceeded");
    assert.match(backend.read("/b.txt").error, /not found/);
    const edited = backend.edit("/a.txt", "x".repeat(60), "y".repeat(120));
    assert.equal(edited.code, "quota_exceeded");
    assert.equal(backend.read("/a.txt").content, "x".repeat(60));
    const [upload] = backend.uploadFiles([["/a.txt", new Uint8Array(101)]]);
    assert.notEqual(upload.error, null);
    assert.equal(backend.read("/a.txt").content, "x".repeat(60));
  });

  test("room that is given back can be used again", () => {
    const backend = new StateBackend({ maxBytes: 100 });
    for (let n = 0; n < 50; n++) {
      assert.equal(backend.write("/a.txt", "x".repeat(90)).error, undefined);
      assert.equal(backend.delete("/a.txt").error, undefined);
    }
  });

  test("hundreds of megabytes fit up to the bound, and it holds", () => {
    const backend = new StateBackend({ maxBytes: 400 * 1024 * 1024 });
    const chunk = new Uint8Array(50 * 1024 * 1024);
    for (let n = 0; n < 8; n++) {
      assert.equal(backend.uploadFiles([[`/${n}.bin`, chunk]])[0].error, null);
    }
    const [over] = backend.uploadFiles([["/9.bin", chunk]]);
    assert.equal(over.code, "quota_exceeded");
    assert.equal(backend.downloadFiles(["/7.bin"])[0].content.length, chunk.length);
  });
});

describe("options", () => {
  test("wrong ones throw a TypeError that names them", () => {
    const wrong = {
      files: [1, "x", true],
      writeMode: ["append", 1, {}],
      fileFormat: ["v3", 2, []],
      maxBytes: [-1, 1.5, Number.NaN, "10", Number.POSITIVE_INFINITY, 2 ** 40],
      channel: [1, "x", {}],
    };
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        assert.throws(() => new StateBackend({ [name]: value }), {
          name: "TypeError",
          message: new RegExp(name),
        });
      }
    }
  });

  test("options that are no object, or that nobody knows, are refused", () => {
    for (const value of [null, 1, "x", true]) {
      assert.throws(() => new StateBackend(value), { name: "TypeError" });
    }
    assert.throws(() => new StateBackend({ writemode: "create" }), {
      name: "TypeError",
      message: /writemode/,
    });
  });

  test("methods answer at once, without promises", () => {
    const backend = new StateBackend();
    backend.write("/a.txt", "a");
    for (const answer of [
      backend.ls("/"),
      backend.read("/a.txt"),
      backend.readRaw("/a.txt"),
      backend.grep("a"),
      backend.glob("*"),
      backend.edit("/a.txt", "a", "b"),
      backend.uploadFiles([]),
      backend.downloadFiles([]),
      backend.delete("/a.txt"),
    ]) {
      assert.notEqual(typeof answer?.then, "function");
    }
  });

  test("execute and id do not exist", () => {
    const backend = new StateBackend();
    assert.ok(!("execute" in backend));
    assert.ok(!("id" in backend));
  });

  test("backends do not share files", () => {
    const [one, other] = [new StateBackend(), new StateBackend()];
    one.write("/a.txt", "a");
    assert.deepEqual(other.ls("/").files, []);
  });
});

test("files that are given together are equally old, and listed in the order of their paths", () => {
  const given = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, i) => [`/${String(i).padStart(4, "0")}.txt`, "text"]),
  );
  const state = new StateBackend({ scope: "instance", files: given });
  const inOrder = () => {
    const { files } = state.glob("*");
    assert.equal(new Set(files.map((file) => file.modified_at)).size, 1);
    assert.deepEqual(
      files.map((file) => file.path),
      Object.keys(given),
    );
  };
  inOrder();
  state.restore(given);
  inOrder();
});

test("readText gives a whole text of whatever length, and refuses what is none", async () => {
  const long = "line\n".repeat(2_000);
  const at = "2026-01-01T00:00:00.000Z";
  const files = {
    "/long.txt": long,
    "/old.txt": { content: ["a", "b"], created_at: at, modified_at: at },
    "/bytes.png": new Uint8Array([1, 2]),
  };
  const state = new StateBackend({ files });
  const hidden = [{ operations: ["read"], paths: ["/old.txt"], mode: "deny" }];
  for (const backend of [state, withPolicy(state, {})]) {
    assert.deepEqual(await backend.readText("/long.txt"), { content: long });
    assert.deepEqual(await backend.readText("/old.txt"), { content: "a\nb" });
    const { error, code } = await backend.readText("/bytes.png");
    assert.equal(code, "unsupported");
    assert.match(error, /'\/bytes.png' is a binary file \(image\/png\).*downloadFiles/);
    assert.equal((await backend.readText("/none")).code, "not_found");
    assert.equal((await backend.readText(7)).code, "invalid_argument");
  }
  const guarded = withPolicy(state, { permissions: hidden });
  assert.equal((await guarded.readText("/old.txt")).code, "permission_denied");
});

test("lines of a search are as a decoder of each has them, whatever bytes they end and begin with", () => {
  const decoder = new TextDecoder();
  const pieces = ["", "a", "é", "日本", "😀", "\ud83d\ude00é", "x".repeat(20_000)].map(utf8);
  // Characters that are cut, alone, too long, too large, or surrogates.
  const broken = ["c3", "a9", "e697", "a5", "f09f98", "80", "c0af", "f4908080", "eda080", "ff"];
  for (const hex of broken) pieces.push(Uint8Array.from(Buffer.from(hex, "hex")));
  const lines = [];
  for (const before of pieces) {
    for (const after of pieces) lines.push(Buffer.concat([before, utf8("#"), after]));
  }
  const backend = new StateBackend();
  const whole = Buffer.concat(lines.flatMap((line) => [line, utf8("\n")]));
  assert.equal(backend.uploadFiles([["/lines.txt", whole]])[0].error, null);
  const { matches } = backend.grep("#");
  assert.equal(matches.length, lines.length);
  for (const [at, line] of lines.entries()) assert.equal(matches[at].text, decoder.decode(line));
});

// Forms of arguments and results that random programs do not have: each case runs on `node:fs` in a folder
// and on a backend, and gives the same. Below are what only a backend has.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import nodeFs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import {
  BACKENDS,
  CompositeBackend,
  createFs,
  FilesystemBackend,
  failure,
  folder,
  StateBackend,
} from "./lib.mjs";

const text = (bytes) => Buffer.from(bytes).toString("latin1");
const handled = async (fs, path, flags, use) => {
  const file = await fs.promises.open(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
};
const called = (run) =>
  new Promise((done) => run((error, ...values) => done(error ? error.code : values)));
async function* pieces() {
  yield "one ";
  yield Buffer.from("two");
}

/** Cases by what they show; `at` makes a path. */
const CASES = {
  "encodings of text": async (fs, at) => {
    const read = [];
    for (const encoding of ["utf8", "latin1", "ascii", "base64", "base64url", "hex", "utf16le"]) {
      await fs.promises.writeFile(
        at("e"),
        Buffer.from("grüße 日本\u00ff").toString(encoding),
        encoding,
      );
      read.push(
        await fs.promises.readFile(at("e"), encoding),
        await fs.promises.readFile(at("e"), "hex"),
      );
    }
    return read;
  },
  "bytes of every kind of view": async (fs, at) => {
    const buffer = Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7).buffer;
    const read = [];
    for (const view of [
      new Uint16Array(buffer, 2, 2),
      new DataView(buffer, 1, 3),
      new Float32Array(buffer),
    ]) {
      await fs.promises.writeFile(at("v"), view);
      read.push(text(await fs.promises.readFile(at("v"))));
    }
    return read;
  },
  "content in pieces": async (fs, at) => {
    await fs.promises.writeFile(at("p"), pieces());
    await handled(fs, at("q"), "w", (file) => file.writeFile(["a", "b"]));
    return [
      await fs.promises.readFile(at("p"), "utf8"),
      await fs.promises.readFile(at("q"), "utf8"),
    ];
  },
  "a handle reads in all its forms": async (fs, at) => {
    await fs.promises.writeFile(at("h"), "0123456789");
    return handled(fs, at("h"), "r", async (file) => {
      const three = Buffer.alloc(3);
      const seen = [];
      for (const args of [
        [three],
        [three, 1, 2, 0],
        [three, { offset: 1, position: 5 }],
        [{ buffer: three, length: 2 }],
        [three, 0, 3, null],
        [three, 0, 3, 100],
        [{ buffer: Buffer.alloc(20), position: 4 }],
        [three, undefined, undefined, 7],
      ]) {
        const { bytesRead, buffer } = await file.read(...args);
        seen.push([bytesRead, text(buffer.subarray(0, 3))]);
      }
      return [seen, text(await file.readFile())];
    });
  },
  "a handle writes in all its forms": async (fs, at) => {
    const counts = await handled(fs, at("w"), "w+", async (file) => {
      const all = [];
      for (const args of [
        ["text"],
        ["ü", 2, "latin1"],
        [Buffer.from("abcdef"), 1, 2],
        [Buffer.from("xyz"), 0, 3, 10],
        [Buffer.from("pq"), { offset: 1 }],
        ["end", null],
      ]) {
        all.push((await file.write(...args)).bytesWritten);
      }
      const { bytesWritten } = await file.writev([Buffer.from("1"), Buffer.from("22")], 20);
      const buffers = [Buffer.alloc(2), Buffer.alloc(3)];
      const { bytesRead } = await file.readv(buffers, 0);
      return [all, bytesWritten, bytesRead, buffers.map(text)];
    });
    return [counts, text(await fs.promises.readFile(at("w")))];
  },
  "out of range": async (fs, at) => {
    await fs.promises.writeFile(at("r"), "0123");
    return handled(fs, at("r"), "r+", async (file) => [
      (await failure(file.read(Buffer.alloc(2), 3))).code,
      (await failure(file.read(Buffer.alloc(2), 0, 5))).code,
      (await failure(file.read(Buffer.alloc(2), -1))).code,
      (await failure(file.read("text"))).code,
      (await failure(file.write({}))).code,
      (await failure(fs.promises.truncate(at("r"), 1.5))).code,
      (await failure(fs.promises.readFile(at("r"), "no"))).code,
      (await failure(fs.promises.writeFile(at("r"), {}))).code,
      (await failure(fs.promises.open(at("r"), "z"))).code,
    ]);
  },
  "a file that is open goes on when it is renamed or deleted": async (fs, at) => {
    await fs.promises.writeFile(at("o"), "open");
    return handled(fs, at("o"), "r+", async (file) => {
      await fs.promises.rename(at("o"), at("n"));
      await file.write("O", 0);
      const renamed = await fs.promises.readFile(at("n"), "utf8");
      await fs.promises.unlink(at("n"));
      await file.write("!", 4);
      await fs.promises.writeFile(at("n"), "other");
      const buffer = Buffer.alloc(9);
      const { bytesRead } = await file.read(buffer, 0, 9, 0);
      return [renamed, text(buffer.subarray(0, bytesRead)), (await file.stat()).size];
    });
  },
  "two handles of one file see each other's writes": async (fs, at) => {
    await fs.promises.writeFile(at("t"), "....");
    return handled(fs, at("t"), "r+", (one) =>
      handled(fs, at("t"), "r+", async (other) => {
        await one.write("a", 0);
        await other.write("b", 1);
        await fs.promises.appendFile(at("t"), "c");
        return [text(await one.readFile()), text(await other.readFile())];
      }),
    );
  },
  "descriptors with callbacks": async (fs, at) => {
    const [fd] = await called((done) => fs.open(at("d"), "w+", done));
    const seen = [];
    seen.push(await called((done) => fs.write(fd, "hello", done)));
    seen.push((await called((done) => fs.write(fd, Buffer.from("XY"), 0, 2, 1, done)))[0]);
    const [count, into] = await called((done) => fs.read(fd, Buffer.alloc(9), 0, 9, 0, done));
    seen.push(count, text(into.subarray(0, count)));
    seen.push((await called((done) => fs.read(fd, { position: 2 }, done)))[0]);
    seen.push((await called((done) => fs.fstat(fd, done)))[0].size);
    seen.push(await called((done) => fs.ftruncate(fd, 2, done)));
    seen.push(await called((done) => fs.fsync(fd, done)));
    seen.push(await called((done) => fs.futimes(fd, 1, 1, done)));
    seen.push((await called((done) => fs.readv(fd, [Buffer.alloc(1)], 0, done)))[0]);
    seen.push((await called((done) => fs.writev(fd, [Buffer.from("zz")], 2, done)))[0]);
    seen.push(await called((done) => fs.close(fd, done)));
    seen.push(await called((done) => fs.readFile(at("d"), "utf8", done)));
    return seen;
  },
  "a wrong argument is thrown, also with a callback": async (fs, at) => {
    const seen = [];
    for (const run of [
      () => fs.readFile(1.5, () => {}),
      () => fs.readFile(at("a")),
      () => fs.mkdir({}, () => {}),
      () => fs.open(at("a"), "zz", () => {}),
      () => fs.close("x", () => {}),
    ]) {
      try {
        run();
        seen.push("nothing");
      } catch (error) {
        seen.push([error.name, error.code]);
      }
    }
    return seen;
  },
  "streams: parts, encodings, positions, events": async (fs, at) => {
    const events = [];
    await new Promise((done, fail) => {
      const stream = fs.createWriteStream(at("s"));
      for (const name of ["open", "ready", "finish", "close"]) {
        stream.on(name, () => events.push(name));
      }
      stream.on("error", fail).on("close", done);
      stream.write("grüße ");
      stream.write(Buffer.from("zwei "));
      stream.end("646974", "hex");
    });
    const read = async (options) => {
      let all = "";
      for await (const part of fs.createReadStream(at("s"), options)) {
        all += typeof part === "string" ? part : text(part);
      }
      return all;
    };
    const missing = await new Promise((done) =>
      fs.createReadStream(at("none")).on("error", ({ code, syscall }) => done([code, syscall])),
    );
    return [
      events,
      await read(),
      await read("utf8"),
      await read({ start: 2, end: 6 }),
      await read({ start: 100 }),
      await read({ highWaterMark: 2, encoding: "utf8" }),
      missing,
    ];
  },
  "wrong arguments of streams are thrown at once": async (fs, at) => {
    await fs.promises.writeFile(at("s"), "0123456789");
    const tried = (run) => {
      try {
        run()
          .on("error", () => {})
          .destroy();
        return "nothing";
      } catch ({ name, code, message }) {
        return [name, code, message];
      }
    };
    const seen = [];
    for (const value of ["1", 1.5, -1, Number.NaN, null, 1n, {}, Number.POSITIVE_INFINITY, 0]) {
      seen.push(
        tried(() => fs.createReadStream(at("s"), { start: value })),
        tried(() => fs.createReadStream(at("s"), { end: value })),
        tried(() => fs.createWriteStream(at("w"), { start: value })),
      );
    }
    seen.push(tried(() => fs.createReadStream(at("s"), { start: 5, end: 2 })));
    for (const path of [5, {}, undefined, null, "a\0b"]) {
      seen.push(tried(() => fs.createReadStream(path)));
      seen.push(tried(() => fs.createWriteStream(path)));
    }
    return seen;
  },
  "a read without a buffer makes one": async (fs, at) => {
    await fs.promises.writeFile(at("n"), "0123");
    const [fd] = await called((done) => fs.open(at("n"), "r", done));
    const seen = [];
    for (const args of [[], [{ position: 1 }], [{ buffer: undefined, length: 2, position: 0 }]]) {
      const [count, buffer] = await called((done) => fs.read(fd, ...args, done));
      seen.push([count, Buffer.isBuffer(buffer), buffer.length]);
    }
    await called((done) => fs.close(fd, done));
    const { bytesRead, buffer } = await handled(fs, at("n"), "r", (file) => file.read());
    return [...seen, bytesRead, buffer.toString("utf8", 0, bytesRead)];
  },
  "streams of a handle": async (fs, at) => {
    await fs.promises.writeFile(at("f"), "0123456789");
    const file = await fs.promises.open(at("f"), "r");
    let all = "";
    for await (const part of file.createReadStream({ start: 3, encoding: "utf8" })) all += part;
    const web = await handled(fs, at("f"), "r", async (file) =>
      new Response(file.readableWebStream({ type: "bytes" })).text(),
    );
    return [all, web, file.fd];
  },
  "options that are none of their kind are refused": async (fs, at) => {
    await fs.promises.writeFile(at("o"), "o");
    const seen = [];
    for (const run of [
      (end) => fs.rm(at("none"), { recursive: "no" }, end),
      (end) => fs.rm(at("none"), { recursive: null }, end),
      (end) => fs.rm(at("none"), { force: 1 }, end),
      (end) => fs.rm(at("none"), { force: true, maxRetries: -1 }, end),
      (end) => fs.rm(at("none"), { force: true, maxRetries: 1.5 }, end),
      (end) => fs.rm(at("none"), { force: true, maxRetries: "1" }, end),
      (end) => fs.rm(at("none"), { force: true, retryDelay: -1 }, end),
      (end) => fs.rm(at("none"), { force: true, maxRetries: 3, retryDelay: 10 }, end),
      (end) => fs.mkdir(at("m/n"), { recursive: "yes" }, end),
      (end) => fs.mkdir(at("m"), { recursive: undefined }, end),
      (end) => fs.cp(at("o"), at("p"), { recursive: "yes" }, end),
      (end) => fs.cp(at("o"), at("p"), { force: 1 }, end),
      ...[99, 8, -1, "1", 1n, 1.5, null, 0].flatMap((mode) => [
        (end) => fs.copyFile(at("o"), at(`q${mode}`), mode, end),
        (end) => fs.access(at("o"), mode === 1.5 ? 0 : mode, end),
      ]),
    ]) {
      try {
        seen.push(await called(run));
      } catch ({ name, code, message }) {
        seen.push([name, code, message]);
      }
    }
    return [seen, (await failure(fs.promises.rm(at("o"), { force: 1 }))).code];
  },
  "what is opened to be read is emptied, if that is wanted": async (fs, at) => {
    const { O_RDONLY, O_TRUNC } = fs.constants;
    for (const name of ["a", "b"]) await fs.promises.writeFile(at(name), "0123");
    await fs.promises.mkdir(at("d"));
    const file = await fs.promises.open(at("a"), O_RDONLY | O_TRUNC);
    const failed = (await failure(file.write("x"))).code;
    await file.close();
    const read = await fs.promises.readFile(at("b"), { flag: O_TRUNC, encoding: "utf8" });
    const dir = (await failure(fs.promises.open(at("d"), O_TRUNC))).code;
    return [(await fs.promises.stat(at("a"))).size, failed, read, dir];
  },
  "the time of the last access is one of its own": async (fs, at) => {
    await fs.promises.writeFile(at("t"), "t");
    await fs.promises.utimes(at("t"), 5, new Date(9000));
    await fs.promises.rename(at("t"), at("u"));
    const { atimeMs, mtimeMs, atime } = await fs.promises.stat(at("u"));
    const { atimeNs, mtimeNs } = await fs.promises.stat(at("u"), { bigint: true });
    // On a disk the copy is a reading, which is an access.
    await fs.promises.cp(at("u"), at("v"), { preserveTimestamps: true });
    const copy = await fs.promises.stat(at("v"));
    return [atimeMs, mtimeMs, atime.getTime(), atimeNs, mtimeNs, copy.mtimeMs];
  },
  "stat with bigint, and without an error": async (fs, at) => {
    await fs.promises.writeFile(at("b"), "12345");
    await fs.promises.utimes(at("b"), 1, new Date(1_700_000_000_000));
    const big = await fs.promises.stat(at("b"), { bigint: true });
    return [
      ...[typeof big.size, big.size, big.mtimeMs, big.mtimeNs, big.mtime.toISOString()],
      ...[big.isFile(), (await fs.promises.stat(at("b"))).mtimeMs],
      (await failure(fs.promises.utimes(at("b"), "x", 1)))?.name,
    ];
  },
  "names as bytes, and entries one by one": async (fs, at) => {
    await fs.promises.mkdir(at("ü/deep"), { recursive: true });
    await fs.promises.writeFile(at("ü/ä"), "");
    const names = await fs.promises.readdir(at("ü"), "buffer");
    const dir = await fs.promises.opendir(at("ü"));
    const first = await dir.read();
    await dir.read();
    const end = await dir.read();
    await dir.close();
    const after = (await failure((async () => dir.read())()))?.code;
    return [names.map((name) => name.toString("hex")).sort(), typeof first.name, end, after];
  },
  "a signal ends a call": async (fs, at) => {
    const signal = AbortSignal.abort();
    const { name, code } = await failure(fs.promises.writeFile(at("g"), "x", { signal }));
    const read = await failure(fs.promises.readFile(at("g"), { signal }));
    return [name, code, read.name];
  },
  "what is opened to append goes to the end, whatever the position": async (fs, at) => {
    await fs.promises.writeFile(at("l"), "0123456789");
    const seen = await handled(fs, at("l"), "a+", (one) =>
      handled(fs, at("l"), "a", async (other) => {
        await one.truncate(2);
        await other.write(Buffer.from("A"), 0, 1, 0);
        await one.writev([Buffer.from("B"), Buffer.from("C")], 0);
        await fs.promises.appendFile(at("l"), "D");
        await other.writeFile("E");
        await one.appendFile("F");
        const start = (await one.read(Buffer.alloc(3), 0, 3, 0)).buffer.toString();
        const { bytesRead } = await one.read(Buffer.alloc(3), 0, 3, null);
        return [start, bytesRead, (await other.stat()).size];
      }),
    );
    await new Promise((done, fail) => {
      const stream = fs.createWriteStream(at("l"), { flags: "a", start: 0 });
      stream.on("error", fail).on("close", done).end("G");
    });
    return [seen, await fs.promises.readFile(at("l"), "utf8")];
  },
  "many files are created at once in one directory": async (fs, at) => {
    await fs.promises.mkdir(at("many"));
    const names = Array.from({ length: 40 }, (_, number) => `file-${number}`);
    await Promise.all(names.map((name) => fs.promises.writeFile(at(`many/${name}`), name)));
    await Promise.all(names.map((name) => fs.promises.mkdir(at(`many/d-${name}`))));
    const files = await fs.promises.readdir(at("many"));
    const exclusive = await Promise.all(
      names.map(() =>
        fs.promises.writeFile(at("one"), "x", { flag: "wx" }).then(
          () => 1,
          () => 0,
        ),
      ),
    );
    return [files.sort(), exclusive.reduce((sum, one) => sum + one)];
  },
  "util.promisify": async (fs, at) => {
    await fs.promises.writeFile(at("u"), "0123");
    const fd = await promisify(fs.open)(at("u"), "r+");
    const { bytesRead, buffer } = await promisify(fs.read)(fd, Buffer.alloc(2), 0, 2, 1);
    const { bytesWritten } = await promisify(fs.write)(fd, "xyz", 3);
    await promisify(fs.close)(fd);
    return [
      ...[bytesRead, buffer.toString(), bytesWritten, await promisify(fs.exists)(at("u"))],
      await promisify(fs.readFile)(at("u"), "utf8"),
    ];
  },
  "cp takes and leaves what it is told": async (fs, at) => {
    await fs.promises.mkdir(at("c/in"), { recursive: true });
    for (const name of ["a", "b", "in/c"]) await fs.promises.writeFile(at(`c/${name}`), name);
    const filter = (source) => !source.endsWith("b");
    await fs.promises.cp(at("c"), at("c2"), { recursive: true, filter });
    await fs.promises.writeFile(at("c/a"), "new");
    await fs.promises.cp(at("c"), at("c2"), { recursive: true, force: false });
    return [
      (await fs.promises.readdir(at("c2"), { recursive: true })).sort(),
      await fs.promises.readFile(at("c2/a"), "utf8"),
      (await failure(fs.promises.cp(at("c"), at("c3")))).code,
      (await failure(fs.promises.cp(at("c"), at("c/x"), { recursive: true }))).code,
      (await failure(fs.promises.cp(at("c"), at("c2/a"), { recursive: true }))).code,
      (await failure(fs.promises.cp(at("c/a"), at("c2")))).code,
      (await failure(fs.promises.cp(at("c/a"), at("c/a")))).code,
    ];
  },
};

for (const [name, run] of Object.entries(CASES)) {
  test(`as in Node: ${name}`, async (t) => {
    const root = folder(t);
    const wanted = await run(nodeFs, (path) => join(root, path));
    for (const [over, make] of Object.entries(BACKENDS)) {
      assert.deepEqual(await run(createFs(await make(t)), (path) => `/${path}`), wanted, over);
    }
  });
}

test("an empty directory exists until a file is in it, for every fs object of the backend", async () => {
  const backend = new StateBackend({ files: {} });
  const [one, other] = [createFs(backend), createFs(backend)];
  one.mkdirSync("/a/b", { recursive: true });
  assert.deepEqual(other.readdirSync("/", { recursive: true }), ["a", "a/b"]);
  assert.deepEqual(backend.ls("/").files, []);
  backend.write("/a/b/c", "x");
  other.unlinkSync("/a/b/c");
  assert.deepEqual(one.readdirSync("/a"), ["b"]);
  one.rmdirSync("/a/b");
  assert.deepEqual(other.readdirSync("/a"), []);
});

test("in a folder an empty directory is one of the disk", async (t) => {
  const root = folder(t);
  const { promises } = createFs(new FilesystemBackend({ rootDir: root }));
  await promises.mkdir("/a/b", { recursive: true });
  assert.deepEqual(nodeFs.readdirSync(root, { recursive: true }), ["a", "a/b"]);
  await promises.rename("/a", "/c");
  assert.deepEqual(nodeFs.readdirSync(root, { recursive: true }), ["c", "c/b"]);
  nodeFs.mkdirSync(join(root, "made"));
  assert.deepEqual(await promises.readdir("/"), ["c", "made"]);
  await promises.rmdir("/made");
  assert.deepEqual(nodeFs.readdirSync(root), ["c"]);
});

test("a folder that is mounted: what is removed through fs is removed there", async (t) => {
  const root = folder(t);
  const tree = new CompositeBackend(new StateBackend({ files: {} }), {
    "/m/": new FilesystemBackend({ rootDir: root }),
  });
  const { promises } = createFs(tree);
  assert.deepEqual(await promises.readdir("/"), ["m"]);
  await promises.writeFile("/m/x", "1");
  nodeFs.mkdirSync(join(root, "d"));
  nodeFs.writeFileSync(join(root, "d/y"), "2");
  await promises.rename("/m/d/y", "/m/z");
  assert.deepEqual(await promises.readdir("/m/d"), []);
  await promises.rmdir("/m/d");
  assert.deepEqual(nodeFs.readdirSync(root).sort(), ["x", "z"]);
});

test("a file whose path is also that of a directory is deleted alone", async () => {
  const backend = new StateBackend({ files: { "/a": "file", "/a/b": "below" } });
  createFs(backend).unlinkSync("/a");
  assert.deepEqual(Object.keys(backend.snapshot()), ["/a/b"]);
});

/** An object of another library: the protocol, and nothing of kitbag's. */
function stranger() {
  const inner = new StateBackend({ files: {} });
  const names = ["ls", "read", "readRaw", "grep", "glob", "write", "delete"];
  const object = {};
  for (const name of names) object[name] = async (...args) => inner[name](...args.slice(0, 2));
  object.edit = async (path, old, fresh, all) => inner.edit(path, old, fresh, all);
  object.uploadFiles = async (files) => inner.uploadFiles(files);
  object.downloadFiles = async (paths) => inner.downloadFiles(paths);
  return object;
}

test("an object of another library: everything works, with what the protocol has", async () => {
  const { promises } = createFs(stranger());
  await promises.mkdir("/a/b", { recursive: true });
  await promises.writeFile("/a/b/x.txt", "one");
  await promises.appendFile("/a/b/x.txt", " two");
  await promises.writeFile("/a/y.txt", "y", { flag: "wx" });
  assert.equal((await failure(promises.writeFile("/a/y.txt", "", { flag: "wx" }))).code, "EEXIST");
  const file = await promises.open("/a/b/x.txt", "r+");
  await file.write("O", 0);
  await file.close();
  await promises.copyFile("/a/b/x.txt", "/a/copy.txt");
  await promises.rename("/a/b", "/c");
  assert.equal(await promises.readFile("/c/x.txt", "utf8"), "One two");
  assert.equal(await promises.readFile("/a/copy.txt", "utf8"), "One two");
  assert.equal((await failure(promises.readFile("/a/b/x.txt"))).code, "ENOENT");
  assert.equal((await failure(promises.stat("/none"))).code, "ENOENT");
  await promises.rm("/a", { recursive: true });
  assert.deepEqual(await promises.readdir("/"), ["c"]);
});

test("watch tells of changes, through the callback and the iterator", async (t) => {
  const root = folder(t);
  for (const backend of [
    new StateBackend({ files: {} }),
    new FilesystemBackend({ rootDir: root }),
  ]) {
    const fs = createFs(backend);
    await fs.promises.mkdir("/d");
    await fs.promises.writeFile("/d/a", "1");
    const stop = new AbortController();
    const iterator = fs.promises.watch("/d", { signal: stop.signal });
    const next = iterator.next();
    const heard = new Promise((done) => {
      const watcher = fs.watch("/d", (type, name) => {
        watcher.close();
        done([type, name]);
      });
    });
    // A folder's watch begins with its first event.
    const writing = setInterval(() => fs.promises.appendFile("/d/a", "2").catch(() => {}), 50);
    assert.deepEqual(await heard, ["change", "a"]);
    const { value } = await next;
    assert.deepEqual(value, { eventType: "change", filename: "a" });
    clearInterval(writing);
    stop.abort();
    assert.equal((await failure(drained(iterator))).name, "AbortError");
  }
});

async function drained(iterator) {
  for await (const _ of iterator);
}

test("a host without Buffer and streams", async () => {
  const thread = new Worker(new URL("bare.mjs", import.meta.url));
  const [code] = await once(thread, "exit");
  assert.equal(code, 0);
});

test("relative paths begin at cwd", () => {
  const fs = createFs(new StateBackend({ files: { "/project/a": "x" } }), { cwd: "/project" });
  assert.equal(fs.readFileSync("a", "utf8"), "x");
  assert.equal(fs.existsSync("../project/a"), true);
  assert.throws(() => fs.readFileSync("b"), /^Error: ENOENT: .*, open 'b'$/);
});

test("there are no links, and owners are refused", async () => {
  const { promises } = createFs(new StateBackend({ files: { "/a": "x" } }));
  const codes = [];
  for (const run of [
    promises.symlink("/a", "/b"),
    promises.link("/a", "/b"),
    promises.readlink("/a"),
    promises.chown("/a", 5, 5),
    promises.symlink("/a", "/a"),
    promises.link("/none", "/b"),
  ]) {
    codes.push((await failure(run)).code);
  }
  assert.deepEqual(codes, ["EPERM", "EPERM", "EINVAL", "EPERM", "EEXIST", "ENOENT"]);
  await promises.chown("/a", 0, 0);
});

/** Runs as a task of a graph's thread does, as far as a backend sees: the state is read and written. */
function inThread(thread, work) {
  const key = Symbol.for("ls:tracing_async_local_storage");
  globalThis[key] ??= new AsyncLocalStorage();
  const configurable = {
    thread_id: thread.name,
    __pregel_task_id: thread.name,
    __pregel_read: () => thread.files,
    __pregel_send: ([[, update]]) => {
      thread.files = { ...thread.files, ...update };
    },
  };
  const extra = { [Symbol.for("lc:child_config")]: { configurable } };
  return globalThis[key].run({ extra }, work);
}

test("threads of a graph see nothing of each other through one fs object", async () => {
  const fs = createFs(new StateBackend());
  assert.equal(new StateBackend().capability.perCaller, true);
  const [ann, bob] = ["ann", "bob"].map((name) => ({ name, files: {} }));
  const opened = await inThread(ann, async () => {
    await fs.promises.mkdir("/private");
    await fs.promises.writeFile("/same", "of ann");
    await fs.promises.chmod("/same", 0o600);
    const file = await fs.promises.open("/same", "r");
    assert.equal(text(await file.readFile()), "of ann");
    return file;
  });
  await inThread(bob, async () => {
    assert.deepEqual(await fs.promises.readdir("/"), []);
    assert.equal((await failure(opened.read(Buffer.alloc(9), 0, 9, 0))).code, "ENOENT");
    await fs.promises.writeFile("/same", "of bob");
    assert.equal((await fs.promises.stat("/same")).mode, 0o100644);
    const file = await fs.promises.open("/same", "r");
    assert.equal(text(await file.readFile()), "of bob");
    await file.close();
  });
  await inThread(ann, async () => {
    const { bytesRead, buffer } = await opened.read(Buffer.alloc(9), 0, 9, 0);
    assert.equal(text(buffer.subarray(0, bytesRead)), "of ann");
    assert.deepEqual(await fs.promises.readdir("/"), ["private", "same"]);
    await opened.close();
  });
});

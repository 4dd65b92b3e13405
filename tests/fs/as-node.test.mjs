// What the own tests of @zenfs/core found: behaviours of Node that programs rely on, over each backend.

import assert from "node:assert/strict";
import { once } from "node:events";
import node from "node:fs";
import { test } from "node:test";
import { BACKENDS, createFs, failure, StateBackend } from "./lib.mjs";

const quiet = () => {};

function thrown(call) {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

for (const [name, make] of Object.entries(BACKENDS)) {
  const prepared = async (t) => {
    const fs = createFs(await make(t));
    await fs.promises.writeFile("/x.txt", "xyz\n");
    await fs.promises.mkdir("/d");
    return fs;
  };

  test(`${name}: throwIfNoEntry covers a file in the way, as since Node 22`, async (t) => {
    const fs = await prepared(t);
    const none = { throwIfNoEntry: false };
    for (const path of ["/x.txt/none", "/x.txt/a/b", "/none", "/d/none", "/none/none"]) {
      assert.equal(await fs.promises.stat(path, none), undefined, path);
    }
    // Node's `lstat` fails here.
    assert.equal((await failure(fs.promises.lstat("/x.txt/none", none))).code, "ENOTDIR");
    assert.equal((await failure(fs.promises.stat("/x.txt/none"))).code, "ENOTDIR");
    assert.equal((await fs.promises.stat("/x.txt", none)).size, 4);
  });

  test(`${name}: flags that cannot be are refused as Node refuses them`, async (t) => {
    const fs = await prepared(t);
    for (const flags of [
      {},
      [],
      true,
      "zz",
      "toString",
      1.5,
      Number.NaN,
      2 ** 31,
      1n,
      Symbol("x"),
    ]) {
      const wanted = thrown(() => node.openSync("none", flags));
      assert.equal((await failure(fs.promises.open("/x.txt", flags))).code, wanted.code);
      assert.match(wanted.code, /^ERR_/);
    }
  });

  test(`${name}: a closed handle makes no streams`, async (t) => {
    const fs = await prepared(t);
    const handle = await fs.promises.open("/x.txt", "r+");
    await handle.close();
    for (const method of ["createReadStream", "createWriteStream"]) {
      assert.throws(() => handle[method](), { name: "RangeError", code: "ERR_OUT_OF_RANGE" });
    }
    assert.equal(await fs.promises.readFile("/x.txt", "utf8"), "xyz\n");
  });

  test(`${name}: close needs no callback, other functions do`, async (t) => {
    const fs = await prepared(t);
    const handle = await fs.promises.open("/x.txt");
    const { fd } = handle;
    assert.throws(() => fs.fstat(fd), { code: "ERR_INVALID_ARG_TYPE" });
    assert.throws(() => fs.close(fd, "none"), { code: "ERR_INVALID_ARG_TYPE" });
    assert.equal(handle.fd, fd);
    fs.close(fd);
    await new Promise((done) => setImmediate(done));
    assert.equal(handle.fd, -1);
  });

  test(`${name}: permissions as octal text, and wrong ones before anything changes`, async (t) => {
    const { promises } = await prepared(t);
    const shown = async (path) => ((await promises.stat(path)).mode & 0o777).toString(8);
    await promises.writeFile("/m1", "", { mode: "600" });
    await (await promises.open("/m2", "w", "640")).close();
    await promises.mkdir("/m3", { mode: "700" });
    await promises.chmod("/x.txt", "0400");
    assert.deepEqual(await Promise.all(["/m1", "/m2", "/m3", "/x.txt"].map(shown)), [
      ...["600", "640", "700", "400"],
    ]);
    for (const [mode, code] of [
      ["bad", "ERR_INVALID_ARG_VALUE"],
      ["8", "ERR_INVALID_ARG_VALUE"],
      ["", "ERR_INVALID_ARG_VALUE"],
      [{}, "ERR_INVALID_ARG_TYPE"],
      [true, "ERR_INVALID_ARG_TYPE"],
      [-1, "ERR_OUT_OF_RANGE"],
      [1.5, "ERR_OUT_OF_RANGE"],
    ]) {
      for (const call of [
        () => promises.open("/new", "w", mode),
        () => promises.writeFile("/new", "x", { mode }),
        () => promises.mkdir("/new", { mode }),
        () => promises.chmod("/x.txt", mode),
      ]) {
        assert.equal((await failure(call()))?.code, code, `${String(mode)} ${call}`);
      }
    }
    assert.deepEqual((await promises.readdir("/")).sort(), ["d", "m1", "m2", "m3", "x.txt"]);
  });

  test(`${name}: a handle gives one web stream, and none once it is closed`, async (t) => {
    const { promises } = await prepared(t);
    const handle = await promises.open("/x.txt");
    const stream = handle.readableWebStream();
    assert.throws(() => handle.readableWebStream(), { code: "ERR_INVALID_STATE" });
    assert.equal(await new Response(stream).text(), "xyz\n");
    await handle.close();
    const closed = await promises.open("/x.txt");
    await closed.close();
    assert.throws(() => closed.readableWebStream(), { code: "ERR_INVALID_STATE" });
  });

  test(`${name}: a directory closes itself, more than once`, async (t) => {
    const { promises } = await prepared(t);
    for (const how of ["asyncDispose", "dispose"]) {
      const end = Symbol[how] ?? Symbol.for(`Symbol.${how}`);
      const dir = await promises.opendir("/");
      await dir[end]();
      await dir[end]();
      assert.equal((await failure(dir.read())).code, "ERR_DIR_CLOSED");
    }
  });

  test(`${name}: a directory does nothing at once while it reads for a promise`, async (t) => {
    const { promises } = await prepared(t);
    const dir = await promises.opendir("/");
    const read = dir.read();
    const busy = { code: "ERR_DIR_CONCURRENT_OPERATION" };
    assert.throws(() => dir.readSync(), busy);
    assert.throws(() => dir.closeSync(), busy);
    assert.ok((await read).name);
    await new Promise((resolve, reject) => {
      dir.read((error) => {
        if (error) reject(error);
        // It has ended by then.
        dir.closeSync();
        resolve();
      });
    });
    assert.equal((await failure(dir.close())).code, "ERR_DIR_CLOSED");
  });

  test(`${name}: a copy that must share its content is refused`, async (t) => {
    const { promises } = await prepared(t);
    const { COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = promises.constants;
    const error = await failure(promises.copyFile("/x.txt", "/y.txt", COPYFILE_FICLONE_FORCE));
    assert.equal(error.code, "ENOSYS");
    assert.deepEqual((await promises.readdir("/")).sort(), ["d", "x.txt"]);
    await promises.copyFile("/x.txt", "/y.txt", COPYFILE_FICLONE);
  });

  test(`${name}: a watch that was ended before says so, not what is missing`, async (t) => {
    const { promises } = await prepared(t);
    for (const path of ["/none", "/d", "/x.txt/none"]) {
      const watched = promises.watch(path, { signal: AbortSignal.abort() });
      assert.equal((await failure(watched.next())).name, "AbortError", path);
    }
  });

  test(`${name}: close ends a stream that reads`, async (t) => {
    const fs = await prepared(t);
    const closed = (stream) => new Promise((done) => stream.close(done));
    const early = fs.createReadStream("/x.txt");
    assert.equal((await closed(early)).code, "ERR_STREAM_PREMATURE_CLOSE");
    assert.equal((await closed(early)).code, "ERR_STREAM_PREMATURE_CLOSE");
    const whole = fs.createReadStream("/x.txt");
    whole.resume();
    await once(whole, "end");
    assert.equal(await closed(whole), undefined);
    const missing = fs.createReadStream("/none").on("error", quiet);
    await new Promise((done) => missing.on("close", done));
    assert.equal((await closed(missing)).code, "ENOENT");
    const silent = fs.createReadStream("/x.txt");
    silent.close();
    await once(silent, "close");
  });

  test(`${name}: close stores what a stream took`, async (t) => {
    const fs = await prepared(t);
    const closed = (stream) => new Promise((done) => stream.close(done));
    const stream = fs.createWriteStream("/d/w.txt");
    stream.write("one ");
    stream.write("two");
    assert.equal(await closed(stream), undefined);
    assert.equal(await fs.promises.readFile("/d/w.txt", "utf8"), "one two");
    assert.equal(await closed(stream), undefined);
    const kept = fs.createWriteStream("/d/v.txt", { autoClose: false });
    kept.write("three");
    assert.equal(await closed(kept), undefined);
    assert.equal(await fs.promises.readFile("/d/v.txt", "utf8"), "three");
    const failing = fs.createWriteStream("/none/w.txt").on("error", quiet);
    assert.equal((await closed(failing)).code, "ENOENT");
  });

  test(`${name}: what stat and readdir return is of the classes Stats and Dirent`, async (t) => {
    const fs = await prepared(t);
    for (const path of ["/", "/d", "/x.txt"]) {
      assert.ok((await fs.promises.stat(path)) instanceof fs.Stats, path);
      assert.ok((await fs.promises.lstat(path, { bigint: true })) instanceof fs.Stats, path);
    }
    const [entry] = await fs.promises.readdir("/", { withFileTypes: true });
    assert.ok(entry instanceof fs.Dirent);
    const dir = await fs.promises.opendir("/");
    assert.ok((await dir.read()) instanceof fs.Dirent);
    assert.ok(!({} instanceof fs.Stats) && !(entry instanceof fs.Stats));
    assert.equal(createFs(new StateBackend()).Stats, fs.Stats);
  });

  test(`${name}: of calls at once that make one directory, one says so`, async (t) => {
    const { promises } = await prepared(t);
    const reported = async (...paths) => {
      const made = await Promise.all(paths.map((one) => promises.mkdir(one, { recursive: true })));
      return made.filter((one) => one !== undefined).sort();
    };
    assert.deepEqual(await reported("/a/b", "/a/b", "/a/b", "/a/b"), ["/a"]);
    assert.deepEqual(await reported("/a/b", "/a", "/", "/"), []);
    // Which of the three says it depends on the backend.
    const three = await reported("/c/1", "/c/2", "/c/3");
    assert.deepEqual([three.length, three.filter((one) => one === "/c").length], [3, 1]);
    for (const nested of [
      ["/e", "/e/f", "/e/f/g"],
      ["/h/f/g", "/h/f", "/h"],
    ]) {
      const made = await reported(...nested);
      assert.equal(made.filter((one) => one === nested.at(0).slice(0, 2)).length, 1, String(made));
      assert.equal(new Set(made).size, made.length);
    }
    await promises.rm("/a", { recursive: true });
    assert.deepEqual(await reported("/a/b"), ["/a"]);
    assert.equal((await failure(promises.mkdir("/x.txt/y", { recursive: true }))).code, "ENOTDIR");
    assert.equal((await failure(promises.mkdir("/x.txt", { recursive: true }))).code, "EEXIST");
    await promises.rm("/x.txt");
    assert.deepEqual(await reported("/x.txt/y"), ["/x.txt"]);
  });

  test(`${name}: a watcher hears of a new directory by its name alone`, async (t) => {
    const { promises } = await prepared(t);
    const stop = new AbortController();
    const watched = promises.watch("/", { recursive: true, signal: stop.signal });
    const names = [];
    const heard = (async () => {
      for await (const { filename } of watched) {
        names.push(filename);
        if (filename === "end") return;
      }
    })();
    // A folder's watch begins with its first event.
    let at = 0;
    const working = setInterval(() => {
      at += 1;
      promises.mkdir(`/d/new-${at}`).catch(quiet);
      if (at > 3) promises.writeFile("/end", String(at)).catch(quiet);
    }, 50);
    await heard;
    clearInterval(working);
    stop.abort();
    assert.ok(
      names.some((one) => one?.startsWith("d/new-")),
      String(names),
    );
    assert.deepEqual(
      names.filter((one) => one?.includes(".making-")),
      [],
    );
  });
}

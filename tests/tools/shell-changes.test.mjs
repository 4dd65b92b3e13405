// A shell over files that others change as well: an append adds to what is there by then, a move
// takes along what the file has become, and neither loses what another writer was told is stored.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bashExecute, bashFileSystem } from "kitbag/just-bash";
import { BACKENDS, contentsOf } from "./meddling.mjs";

const about = (path) => (first) => [first].flat(2)[0] === path;
const upload = (backend, path, text) =>
  backend.uploadFiles([[path, new TextEncoder().encode(text)]]);

for (const [kind, open] of BACKENDS) {
  const run = async (backend, command) => {
    const { output, exitCode } = await bashExecute(backend)(command);
    return [output, exitCode];
  };
  /** Before the first change of the file, by whatever method. */
  const once = (before, path, change) => {
    let met = false;
    for (const method of ["edit", "write", "uploadFiles"]) {
      before(
        method,
        (inner) => {
          if (met) return;
          met = true;
          const answer = [change(inner)].flat()[0];
          assert.equal(answer.error ?? null, null);
        },
        { about: about(path) },
      );
    }
  };

  const APPENDS = [
    ["edits a line", { "/f": "a\n" }, (it) => it.edit("/f", "a", "A"), "A\nnew\n"],
    ["appends a line", { "/f": "a\n" }, (it) => it.edit("/f", "a\n", "a\nb\n"), "a\nb\nnew\n"],
    ["puts a line before it", { "/f": "a\n" }, (it) => it.edit("/f", "a", "0\na"), "0\na\nnew\n"],
    ["fills the file anew", { "/f": "a\n" }, (it) => upload(it, "/f", "other\n"), "other\nnew\n"],
    ["doubles the file", { "/f": "a\n" }, (it) => upload(it, "/f", "a\na\n"), "a\na\nnew\n"],
    ["empties the file", { "/f": "a\n" }, (it) => upload(it, "/f", ""), "new\n"],
    ["fills an empty file", { "/f": "" }, (it) => it.edit("/f", "", "theirs\n"), "theirs\nnew\n"],
    ["makes the file", {}, (it) => it.write("/f", "theirs\n"), "theirs\nnew\n"],
    ["deletes the file", { "/f": "a\n" }, (it) => it.delete("/f"), "new\n"],
  ];
  for (const [what, files, change, after] of APPENDS) {
    test(`>> adds to the file after another writer ${what}, over ${kind}`, async () => {
      const { inner, backend, before } = open(files);
      once(before, "/f", change);
      assert.deepEqual(await run(backend, "echo new >> /f"), ["", 0]);
      const found = contentsOf(inner)["/f"];
      // By text, what another writer put behind stays behind.
      const beside = after.replace("b\nnew\n", "new\nb\n");
      assert.ok(found === after || found === beside, JSON.stringify(found));
    });
  }

  for (const [what, first] of [
    ["text", "a\n"],
    ["nothing", ""],
  ]) {
    test(`twenty appends at once to a file of ${what} all land, over ${kind}`, async () => {
      const { inner, backend } = open({ "/f": first });
      const words = Array.from({ length: 20 }, (_, at) => `line ${at}`);
      const fs = bashFileSystem(backend);
      await Promise.all(words.map((word) => fs.appendFile("/f", `${word}\n`)));
      const lines = contentsOf(inner)["/f"].trimEnd().split("\n").sort();
      assert.deepEqual(lines, [...words, ...(first ? ["a"] : [])].sort());
    });
  }

  test(`twenty appends at once to no file at all all land, over ${kind}`, async () => {
    const { inner, backend } = open({});
    const words = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const shells = words.map(() => bashExecute(backend));
    await Promise.all(shells.map((shell, at) => shell(`echo line ${at} >> /new/f`)));
    assert.deepEqual(contentsOf(inner)["/new/f"].trimEnd().split("\n").sort(), words.sort());
  });

  test(`twenty appends of bytes that are not text all land, over ${kind}`, async () => {
    const { inner, backend } = open({});
    await inner.uploadFiles([["/f.bin", Uint8Array.of(255, 0)]]);
    const fs = bashFileSystem(backend);
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => fs.appendFile("/f.bin", Uint8Array.of(254, at))),
    );
    const bytes = [...inner.downloadFiles(["/f.bin"])[0].content];
    assert.deepEqual(bytes.slice(0, 2), [255, 0]);
    const added = Array.from({ length: 20 }, (_, at) => bytes[3 + 2 * at]);
    assert.deepEqual(
      added.sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, at) => at),
    );
  });

  test(`>> onto a directory is refused, over ${kind}`, async () => {
    const { inner, backend } = open({ "/d/f": "a\n" });
    const fs = bashFileSystem(backend);
    await assert.rejects(fs.appendFile("/d", "x"), /EISDIR/);
    assert.deepEqual(contentsOf(inner), { "/d/f": "a\n" });
  });

  test(`>> fails with EBUSY where others never stop, over ${kind}`, async () => {
    const { inner, backend, before } = open({ "/f": "0\n" });
    let at = 0;
    for (const method of ["edit", "uploadFiles"]) {
      for (let nth = 1; nth <= 70; nth++)
        before(method, (it) => upload(it, "/f", `${++at}\n`), { nth });
    }
    await assert.rejects(
      bashFileSystem(backend).appendFile("/f", "mine\n"),
      /EBUSY.*nothing was appended/,
    );
    assert.deepEqual(contentsOf(inner), { "/f": `${at}\n` });
  });

  const MOVES = [
    ["edits it before it is deleted", "delete", "/a", (it) => it.edit("/a", "one", "newer")],
    ["edits it before it is changed", "edit", "/a", (it) => it.edit("/a", "one", "newer")],
    [
      "appends to it before it is changed",
      "edit",
      "/a",
      (it) => it.edit("/a", "one\n", "one\nnewer\n"),
    ],
    ["edits it before the copy is made", "write", "/b", (it) => it.edit("/a", "one", "newer")],
    ["fills it anew before the copy is made", "write", "/b", (it) => upload(it, "/a", "newer\n")],
    [
      "edits it before the copy is looked at",
      "downloadFiles",
      "/b",
      (it) => it.edit("/a", "one", "newer"),
    ],
    ["fills it anew before it is changed", "edit", "/a", (it) => upload(it, "/a", "newer\n")],
  ];
  for (const [onto, files] of [
    ["a new name", {}],
    ["a file that is there", { "/b": "old\n" }],
  ]) {
    for (const [what, method, path, change] of MOVES) {
      test(`mv onto ${onto} loses nothing where another writer ${what}, over ${kind}`, async () => {
        const { inner, backend, before } = open({ "/a": "one\n", ...files });
        let stored = false;
        before(
          method,
          (it) => {
            stored = ([change(it)].flat()[0].error ?? null) === null;
          },
          { about: about(path) },
        );
        await bashFileSystem(backend).mv("/a", "/b");
        const left = contentsOf(inner);
        assert.deepEqual(Object.keys(left), ["/b"]);
        assert.match(left["/b"], stored ? /newer/ : /one/);
      });
    }
  }

  const REFUSED = [
    ["a directory into itself", "mv /d /d/x"],
    ["a directory deep into itself", "mv /d /d/deep/x/y"],
    ["a file beneath itself", "mv /a /a/x"],
    ["a directory onto a file", "mv -T /d /a"],
    ["what is not there", "mv /none /x"],
    ["a file onto itself", "mv /a /a"],
    ["a directory onto itself", "mv /d /d"],
  ];
  const TREE = { "/a": "a\n", "/d/deep/two": "2\n", "/d/one": "1\n", "/e/d/three": "3\n" };
  for (const [what, command] of REFUSED) {
    test(`mv of ${what} changes nothing, over ${kind}`, async () => {
      const { inner, backend } = open(TREE);
      await run(backend, command);
      assert.deepEqual(contentsOf(inner), TREE);
    });
  }

  for (const [what, from, to, code] of [
    ["a directory onto one that holds files", "/d", "/e/d", "ENOTEMPTY"],
    ["a directory onto the one above it", "/e/d", "/e", "ENOTEMPTY"],
    ["a directory onto a file", "/d", "/a", "ENOTDIR"],
    ["a file onto a directory", "/a", "/d", "EISDIR"],
    ["a file onto its own directory", "/d/one", "/d", "EISDIR"],
    ["all there is", "/", "/x", "EINVAL"],
  ]) {
    test(`the file system refuses to move ${what} with ${code}, over ${kind}`, async () => {
      const { inner, backend } = open(TREE);
      await assert.rejects(bashFileSystem(backend).mv(from, to), new RegExp(`^Error: ${code}:`));
      assert.deepEqual(contentsOf(inner), TREE);
    });
  }

  test(`mv takes a directory with its files and its empty directories, over ${kind}`, async () => {
    const { inner, backend } = open(TREE);
    const [output, code] = await run(
      backend,
      "mkdir -p /d/hollow/inner && mv /d /f && ls /f /f/hollow && ls /d",
    );
    assert.match(output, /^\/f:\ndeep\nhollow\none\n\n\/f\/hollow:\ninner\n/);
    assert.notEqual(code, 0, "/d is gone");
    assert.deepEqual(contentsOf(inner), {
      "/a": "a\n",
      "/e/d/three": "3\n",
      "/f/deep/two": "2\n",
      "/f/one": "1\n",
    });
  });

  test(`mv of an empty directory, over ${kind}`, async () => {
    const { inner, backend } = open(TREE);
    assert.deepEqual(await run(backend, "mkdir /h && mv /h /i && ls -d /i"), ["/i\n", 0]);
    assert.deepEqual(contentsOf(inner), TREE);
  });

  test(`mv keeps bytes that are not text, over ${kind}`, async () => {
    const { inner, backend } = open({});
    await inner.uploadFiles([["/p", Uint8Array.of(0, 255, 254)]]);
    assert.deepEqual(await run(backend, "mv /p /q"), ["", 0]);
    assert.deepEqual(contentsOf(inner), { "/q": "00fffe" });
  });

  test(`mv takes a file along that appears in the directory meanwhile, over ${kind}`, async () => {
    const { inner, backend, before } = open(TREE);
    before("delete", (it) => it.write("/d/late", "late"));
    assert.deepEqual(await run(backend, "mv /d /f"), ["", 0]);
    const left = contentsOf(inner);
    assert.equal(left["/f/late"], "late");
    assert.equal(left["/d/late"], undefined);
  });

  test(`mv of a file that may not be deleted leaves it and says so, over ${kind}`, async () => {
    const { inner, backend } = open({ "/a": "a\n" });
    const stubborn = new Proxy(backend, {
      get: (target, key) =>
        key === "delete"
          ? async () => ({ error: "permission denied", code: "permission_denied" })
          : Reflect.get(target, key),
    });
    await assert.rejects(bashFileSystem(stubborn).mv("/a", "/b"), /EACCES: .*Both stand/);
    assert.deepEqual(contentsOf(inner), { "/a": "a\n", "/b": "a\n" });
  });
}

// kitbag-wasi over a directory of this machine: what it stores, and that nothing leads out of the directory. What runs
// here is its WebAssembly; WASI is jco's, in Node.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { interfacesOf, WASI } from "../../scripts/lib/component.mjs";
import { over, wasi } from "./folder.mjs";
import { ofSuite } from "./glue.mjs";
import { errorOf, Protocol } from "./protocol.mjs";
import { volumeOptions } from "./volume.mjs";

const top = fs.mkdtempSync(join(tmpdir(), "kitbag-wasi-"));
after(() => fs.rmSync(top, { recursive: true, force: true }));

let root;
let host;
let volume;
beforeEach(() => {
  const place = fs.mkdtempSync(join(top, "t-"));
  root = join(place, "inside");
  fs.mkdirSync(root);
  fs.mkdirSync(join(place, "outside"));
  fs.writeFileSync(join(place, "outside/secret.txt"), "secret");
  host = wasi({ "/data": root });
  volume = host.folders.open("/data", undefined);
});

const { types } = await ofSuite("@bytecodealliance/preview2-shim/filesystem");
const descriptor = types.Descriptor.prototype;
const methods = Object.getOwnPropertyDescriptors(descriptor);
afterEach(() => Object.defineProperties(descriptor, methods));

/** Lets WASI have another method of a descriptor until the test ends. */
function replaced(name, method) {
  const { value } = methods[name];
  descriptor[name] = function (...args) {
    return method(() => value.apply(this, args), args, this);
  };
}

const outside = (...names) => join(root, "../outside", ...names);
const inside = (...names) => join(root, ...names);
const fileOf = (text) => ({
  body: new TextEncoder().encode(text),
  created: 0n,
  modified: 0n,
  mimeType: "text/plain",
  format: "v2",
});
const CREATE = { tag: "create" };
const OVERWRITE = { tag: "overwrite" };
const put = (path, text, condition = OVERWRITE) => volume.put(path, fileOf(text), condition);
const textOf = (path) => {
  const found = volume.get(path);
  return found && new TextDecoder().decode(found.body);
};
const codeOf = (call) => errorOf(call)?.code;
const listed = (prefix = "/", from) => volume.list(prefix, from).entries.map(({ path }) => path);
/** Names on the disk that no listing shows. */
const scratch = () =>
  fs.readdirSync(root, { recursive: true }).filter((name) => name.includes(".~kitbag-"));

test("it imports WASI alone", async () => {
  const { imports } = await interfacesOf(fs.readFileSync(WASI));
  assert.deepEqual(imports, [
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:random/random@0.2.12",
    "wasi:filesystem/types@0.2.12",
    "wasi:filesystem/preopens@0.2.12",
  ]);
});

describe("clock, random numbers, and what there is not", () => {
  test("the clock is that of WASI, in microseconds", () => {
    const before = BigInt(Date.now()) * 1000n;
    const now = host.clock.now();
    assert.ok(now >= before - 1000n && now <= BigInt(Date.now() + 1) * 1000n, `${now}`);
  });

  test("no two of 1,000 random numbers are the same", () => {
    assert.equal(new Set(Array.from({ length: 1000 }, () => host.random.bits())).size, 1000);
  });

  test("commands, questions, inspections and records are refused", () => {
    const question = { operation: "write", path: "/a", preview: "", labels: [], reads: [] };
    const inspected = { operation: "write", path: "/a", body: new Uint8Array(), isText: true };
    const done = { at: 0n, operation: "ls", paths: [], bytes: 0n, code: "ok", durationUs: 0n };
    assert.equal(
      codeOf(() => host.shell.execute("box", "ls", undefined)),
      "unsupported",
    );
    assert.equal(host.rules.decide("mine", question), false);
    assert.equal(
      codeOf(() => host.rules.inspect("mine", inspected)),
      "unsupported",
    );
    assert.equal(
      codeOf(() => host.rules.audit("mine", done)),
      "unsupported",
    );
  });
});

describe("which directory is opened", () => {
  const open = (path, most) => host.folders.open(path, most);

  test("the one with the longest name that fits, and what is missing below it is created", () => {
    fs.mkdirSync(inside("deep"));
    host = wasi({ "/data": outside(), "/data/deep": inside("deep"), ".": inside() });
    open("/data/deep/a/b").put("/x.txt", fileOf("x"), CREATE);
    assert.equal(fs.readFileSync(inside("deep/a/b/x.txt"), "utf8"), "x");
    assert.deepEqual(
      open("/data/")
        .list("/", undefined)
        .entries.map(({ path }) => path),
      ["/secret.txt"],
    );
    open("./sub//dir").put("/y.txt", fileOf("y"), CREATE);
    assert.equal(fs.readFileSync(inside("sub/dir/y.txt"), "utf8"), "y");
  });

  for (const [path, code] of [
    ["/", "not-found"],
    ["/dat", "not-found"],
    ["/data2", "not-found"],
    ["data", "not-found"],
    ["", "not-found"],
    ["/data/..", "invalid-path"],
    ["/data/../outside", "invalid-path"],
    ["/data/a/../../outside", "invalid-path"],
    ["/data/..\\outside", "invalid-path"],
    ["/data/a\0b", "invalid-path"],
    ["/data/.~kitbag-0", "invalid-path"],
  ]) {
    test(`not ${JSON.stringify(path)}`, () =>
      assert.equal(
        codeOf(() => open(path)),
        code,
      ));
  }

  test("not a link below it, and not a file", () => {
    fs.symlinkSync(outside(), inside("link"));
    fs.writeFileSync(inside("file"), "");
    assert.equal(
      codeOf(() => open("/data/link")),
      "permission-denied",
    );
    assert.equal(
      codeOf(() => open("/data/link/more")),
      "permission-denied",
    );
    assert.equal(
      codeOf(() => open("/data/file")),
      "invalid-path",
    );
    assert.deepEqual(fs.readdirSync(outside()), ["secret.txt"]);
  });

  test("files have as many bytes as were asked for, and no more", () => {
    volume = open("/data", 5n);
    assert.equal(volume.capability().maxFileBytes, 5n);
    put("/five", "12345");
    assert.equal(
      codeOf(() => put("/six", "123456")),
      "too-large",
    );
    fs.writeFileSync(inside("six"), "123456");
    assert.equal(
      codeOf(() => volume.get("/six")),
      "too-large",
    );
    assert.equal(textOf("/five"), "12345");
    assert.equal(open("/data").capability().maxFileBytes, 10n << 20n);
    assert.equal(
      codeOf(() => open("/data", (1n << 30n) + 1n)),
      "invalid-argument",
    );
  });

  test("a directory that is used when it is gone answers with an error", () => {
    fs.rmSync(root, { recursive: true });
    for (const call of [() => put("/a", "x"), () => volume.list("/", undefined)]) {
      assert.match(codeOf(call) ?? "none", /^(not-found|unavailable|internal)$/);
    }
    assert.equal(textOf("/a"), undefined);
  });
});

describe("files as a whole", () => {
  test("a create, a replacement and an update under its version; nothing else stays behind", () => {
    const first = put("/dir/a.txt", "one", CREATE);
    assert.equal(
      codeOf(() => put("/dir/a.txt", "two", CREATE)),
      "already-exists",
    );
    assert.equal(textOf("/dir/a.txt"), "one");
    const second = put("/dir/a.txt", "three");
    assert.notEqual(second, first);
    const update = (val) => put("/dir/a.txt", "four!!", { tag: "update", val });
    assert.equal(
      codeOf(() => update(first)),
      "conflict",
    );
    assert.equal(
      codeOf(() => put("/none", "x", { tag: "update", val: second })),
      "conflict",
    );
    const third = update(second);
    assert.equal(fs.readFileSync(inside("dir/a.txt"), "utf8"), "four!!");
    for (const told of [volume.stat("/dir/a.txt"), volume.get("/dir/a.txt").metadata]) {
      assert.deepEqual([told.version, told.size], [third, 6n]);
    }
    assert.equal(volume.list("/", undefined).entries[0].metadata.version, third);
    assert.equal(
      codeOf(() => volume.delete("/dir/a.txt", second)),
      "conflict",
    );
    assert.equal(volume.delete("/dir/a.txt", third), true);
    assert.equal(volume.delete("/dir/a.txt", undefined), false);
    assert.deepEqual([textOf("/dir/a.txt"), scratch()], [undefined, []]);
  });

  test("a change by another program is another version", () => {
    const version = put("/a.txt", "one");
    fs.writeFileSync(inside("a.txt"), "two!");
    assert.notEqual(volume.stat("/a.txt").version, version);
    const update = () => put("/a.txt", "x", { tag: "update", val: version });
    assert.equal(codeOf(update), "conflict");
    assert.equal(textOf("/a.txt"), "two!");
  });

  test("bytes and sizes up to some megabytes come back as they were", () => {
    for (const size of [0, 1, 65_536, (3 << 20) + 1]) {
      const body = Uint8Array.from({ length: size }, (_, at) => (at * 31) % 251);
      volume.put("/b.bin", { ...fileOf(""), body }, OVERWRITE);
      assert.ok(Buffer.from(volume.get("/b.bin").body).equals(body), `${size}`);
      assert.ok(fs.readFileSync(inside("b.bin")).equals(body), `${size}`);
    }
  });

  test("where a directory is, or a file on the way", () => {
    put("/dir/a.txt", "x");
    for (const condition of [CREATE, OVERWRITE, { tag: "update", val: "v" }]) {
      assert.equal(
        codeOf(() => put("/dir", "x", condition)),
        "is-directory",
      );
      assert.equal(
        codeOf(() => put("/dir/a.txt/b", "x", condition)),
        "invalid-path",
      );
    }
    assert.deepEqual([textOf("/dir"), textOf("/dir/a.txt/b")], [undefined, undefined]);
    assert.equal(volume.stat("/dir"), undefined);
    assert.equal(volume.delete("/dir", undefined), false);
  });

  test("a pipe or a socket is not read, not replaced and not listed", () => {
    execFileSync("mkfifo", [inside("pipe")]);
    assert.equal(textOf("/pipe"), undefined);
    assert.equal(volume.stat("/pipe"), undefined);
    assert.equal(volume.delete("/pipe", undefined), false);
    assert.equal(
      codeOf(() => put("/pipe", "x")),
      "permission-denied",
    );
    assert.deepEqual(listed(), []);
  });

  test("a host without links between files creates all the same, and never replaces one", () => {
    replaced("linkAt", () => {
      throw "unsupported";
    });
    put("/a.txt", "one", CREATE);
    assert.equal(
      codeOf(() => put("/a.txt", "two", CREATE)),
      "already-exists",
    );
    assert.deepEqual([textOf("/a.txt"), scratch()], ["one", []]);
  });

  for (const links of ["with", "without"]) {
    test(`a file that another program creates meanwhile stays as it is, ${links} links between files`, () => {
      replaced("write", (usual) => {
        fs.writeFileSync(inside("a.txt"), "theirs");
        return usual();
      });
      if (links === "without") {
        replaced("linkAt", () => {
          throw "not-permitted";
        });
      }
      assert.equal(
        codeOf(() => put("/a.txt", "ours", CREATE)),
        "already-exists",
      );
      assert.deepEqual([textOf("/a.txt"), scratch()], ["theirs", []]);
    });
  }

  test("what the disk refuses has a code, and nothing of the file stays", () => {
    for (const [refused, code] of [
      ["insufficient-space", "quota-exceeded"],
      ["quota", "quota-exceeded"],
      ["io", "unavailable"],
      ["access", "permission-denied"],
      ["read-only", "permission-denied"],
      ["file-too-large", "too-large"],
    ]) {
      replaced("write", () => {
        throw refused;
      });
      assert.equal(
        codeOf(() => put("/a.txt", "one", CREATE)),
        code,
        refused,
      );
      assert.equal(
        codeOf(() => put("/a.txt", "one")),
        code,
        refused,
      );
      assert.deepEqual(fs.readdirSync(root), []);
    }
  });
});

describe("nothing leads out of the directory", () => {
  const LINKS = {
    "a file outside": () => outside("secret.txt"),
    "/etc/passwd": () => "/etc/passwd",
    "a directory outside": () => outside(),
    "a relative way out": () => "../outside/secret.txt",
    "the root": () => "/",
    "a file inside": () => "real.txt",
    nothing: () => "missing",
    itself: () => "link",
  };
  const kept = () =>
    assert.deepEqual(
      [fs.readdirSync(outside()), fs.readFileSync(outside("secret.txt"), "utf8")],
      [["secret.txt"], "secret"],
    );
  for (const [name, target] of Object.entries(LINKS)) {
    test(`a link to ${name} is not read, written, deleted, followed or listed`, () => {
      fs.writeFileSync(inside("real.txt"), "real");
      fs.symlinkSync(target(), inside("link"));
      assert.equal(
        codeOf(() => volume.get("/link")),
        "permission-denied",
      );
      assert.equal(volume.stat("/link"), undefined);
      for (const condition of [CREATE, OVERWRITE, { tag: "update", val: "" }]) {
        assert.equal(
          codeOf(() => put("/link", "x", condition)),
          "permission-denied",
        );
        for (const below of ["/link/x.txt", "/link/secret.txt", "/link/a/b/c"]) {
          assert.equal(
            codeOf(() => put(below, "x", condition)),
            "permission-denied",
          );
        }
      }
      assert.equal(volume.delete("/link", undefined), false);
      for (const below of ["/link/secret.txt", "/link/outside/secret.txt"]) {
        for (const call of ["get", "stat", "delete"]) {
          assert.equal(
            codeOf(() => volume[call](below, undefined)),
            "permission-denied",
            call,
          );
        }
      }
      assert.equal(
        codeOf(() => volume.list("/link/", undefined)),
        "permission-denied",
      );
      assert.deepEqual([listed(), listed("/li")], [["/real.txt"], []]);
      assert.equal(fs.readlinkSync(inside("link")), target());
      kept();
    });
  }

  test("the same by way of a backend", () => {
    fs.symlinkSync(outside(), inside("link"));
    fs.symlinkSync(outside("secret.txt"), inside("file.txt"));
    fs.writeFileSync(inside("mine.txt"), "no secrets");
    const { Backend } = over(host);
    const backend = new Protocol(Backend.lent(volume, volumeOptions({ writeMode: "overwrite" })));
    assert.deepEqual(
      backend.grep("secret").matches.map(({ path }) => path),
      ["/mine.txt"],
    );
    for (const answer of [
      backend.read("/file.txt"),
      backend.read("/link/secret.txt"),
      backend.write("/file.txt", "x"),
      backend.write("/link/new.txt", "x"),
      backend.edit("/link/secret.txt", "secret", "x"),
      backend.copy("/mine.txt", "/link/copy.txt"),
      backend.ls("/link"),
    ]) {
      assert.equal(answer.code, "permission_denied", JSON.stringify(answer));
    }
    kept();
  });

  for (const path of [
    ...["", "/", "a", "//a", "/a//b", "/a/", "/.", "/..", "/../outside/secret.txt", "/a/../b"],
    ...["/./a", "/..\\outside\\secret.txt", "\\a", "/a\\b", "/C:\\a", "/a\0", "/a\0/b"],
    ...["/.~kitbag-0123", "/.~kitbag-0/a"],
  ]) {
    test(`the path ${JSON.stringify(path)} is refused`, () => {
      for (const call of [
        () => volume.stat(path),
        () => volume.get(path),
        () => put(path, "x"),
        () => put(path, "x", CREATE),
        () => volume.delete(path, undefined),
      ]) {
        assert.equal(codeOf(call), "invalid-path");
      }
      assert.deepEqual(fs.readdirSync(root), []);
      kept();
    });
  }

  test("prefixes that are none list nothing", () => {
    put("/a/b.txt", "x");
    const wrong = ["", "a", "/../", "/../outside/", "/a/../", "//", "/a//", "/a\\", "/a\0/"];
    for (const prefix of wrong) assert.deepEqual(listed(prefix), [], JSON.stringify(prefix));
  });
});

describe("listings", () => {
  test("all files below a prefix, whatever it ends with", () => {
    for (const path of ["/a.txt", "/ab/c.txt", "/ab/d/e.txt", "/b.txt"]) put(path, "x");
    fs.mkdirSync(inside("empty"));
    assert.deepEqual(listed("/"), ["/a.txt", "/ab/c.txt", "/ab/d/e.txt", "/b.txt"]);
    assert.deepEqual(listed("/a"), ["/a.txt", "/ab/c.txt", "/ab/d/e.txt"]);
    assert.deepEqual(listed("/ab/"), ["/ab/c.txt", "/ab/d/e.txt"]);
    assert.deepEqual(listed("/ab/d"), ["/ab/d/e.txt"]);
    for (const none of ["/none/", "/empty/", "/a.txt/", "/x"]) assert.deepEqual(listed(none), []);
  });

  test("pages have every file once, also if the file at their border is gone", () => {
    const wanted = [];
    for (const [directory, count] of [
      ["a", 3],
      ["b/c", 4990],
      ["b/d/e", 20],
      ["z", 2],
    ]) {
      fs.mkdirSync(inside(directory), { recursive: true });
      for (let number = 0; number < count; number += 1) {
        const name = `${directory}/${String(number).padStart(5, "0")}`;
        fs.writeFileSync(inside(name), "");
        wanted.push(`/${name}`);
      }
    }
    const first = volume.list("/", undefined);
    assert.equal(first.next, "/b/d/e/00006");
    const rest = volume.list("/", first.next);
    assert.equal(rest.next, undefined);
    const all = [...first.entries, ...rest.entries].map(({ path }) => path);
    assert.deepEqual(all, wanted);
    const below = volume.list("/b/", "/b/d/e/00006").entries.map(({ path }) => path);
    assert.deepEqual(below, rest.entries.map(({ path }) => path).slice(0, -2));
    fs.rmSync(inside("b/d/e/00006"));
    assert.deepEqual(volume.list("/", first.next).entries, rest.entries);
    fs.rmSync(inside("b/d"), { recursive: true });
    assert.deepEqual(listed("/", first.next), ["/z/00000", "/z/00001"]);
    for (const from of ["", "x", "/..", "/b/c/../../..", "/a/00000/x"]) {
      assert.ok(listed("/", from).length <= wanted.length, from);
    }
  });

  test("names that are no texts, or no paths, are left out; the others are there", () => {
    const names = ["not-\xff-text", "back\\slash", "..\\..\\outside\\secret.txt"];
    for (const name of names) {
      fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, "latin1")]), "x");
    }
    fs.mkdirSync(Buffer.concat([Buffer.from(`${root}/d`), Buffer.from([0xff])]));
    fs.writeFileSync(inside("line\nbreak \u202e.txt"), "odd");
    assert.deepEqual(listed(), ["/line\nbreak \u202e.txt"]);
    assert.equal(textOf("/line\nbreak \u202e.txt"), "odd");
    assert.equal(fs.readdirSync(root).length, 5);
  });

  test("temporary files are in none, and old ones are removed", () => {
    fs.writeFileSync(inside(".~kitbag-new"), "");
    fs.writeFileSync(inside(".~kitbag-old"), "");
    fs.mkdirSync(inside(".~kitbag-directory"));
    fs.writeFileSync(inside(".~kitbag-directory/file"), "");
    const long = new Date(Date.now() - 700_000);
    fs.utimesSync(inside(".~kitbag-old"), long, long);
    fs.utimesSync(inside(".~kitbag-directory"), long, long);
    assert.deepEqual(listed(), []);
    assert.deepEqual(fs.readdirSync(root).sort(), [".~kitbag-directory", ".~kitbag-new"]);
  });

  test("what may not be read is left out", () => {
    put("/a.txt", "x");
    put("/closed/b.txt", "x");
    replaced("openAt", (usual, [, path]) => {
      if (path === "closed") throw "access";
      return usual();
    });
    assert.deepEqual(listed(), ["/a.txt"]);
    assert.equal(
      codeOf(() => volume.get("/closed/b.txt")),
      "permission-denied",
    );
  });
});

describe("a file system that does not tell cases apart", () => {
  /** As macOS and Windows would: a name is that of the file whose name differs in case alone. */
  const folding = () => {
    for (const method of ["statAt", "metadataHashAt"]) {
      replaced(method, (_, [flags, path], self) => {
        const same = fs.readdirSync(root).find((name) => name.toLowerCase() === path.toLowerCase());
        return methods[method].value.call(self, flags, same ?? path);
      });
    }
  };
  const folds = () => {
    const { promises } = host.folders.open("/data", undefined).capability();
    assert.equal(promises.foldsCase, promises.foldsComposition);
    return promises.foldsCase;
  };

  for (const [name, make] of [
    ["an empty directory", () => {}],
    ["one with files", () => fs.writeFileSync(inside("Name.txt"), "")],
    ["one with names that have no case", () => fs.writeFileSync(inside("123"), "")],
  ]) {
    test(`${name}: is noticed, and the opposite too`, () => {
      make();
      const before = fs.readdirSync(root);
      assert.equal(folds(), false);
      folding();
      assert.equal(folds(), true);
      assert.deepEqual(fs.readdirSync(root), before);
    });
  }

  test("two names that differ in case alone show that it does", () => {
    fs.writeFileSync(inside("name"), "");
    fs.writeFileSync(inside("NAME"), "");
    assert.equal(folds(), false);
  });
});

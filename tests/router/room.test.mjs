// The library's own files: whatever a layer keeps in `.kitbag`, no call reads, finds, changes or plants
// it, over every kind of backend, at every depth, in every spelling.

import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  promises,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { MapBucket, MapStorage } from "../chunks/doubles.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { stranger } from "../lib/stranger.mjs";

const { StateBackend, withPolicy } = kitbag;
const own = await roomOf(kitbag);
const SECRET = "kept by the library";
const encode = (text) => new TextEncoder().encode(text);

const folders = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function planted(backend, at = "/.kitbag/turns/journal") {
  const [answer] = await backend.uploadFiles([[own(at), encode(SECRET)]]);
  assert.equal(answer.error, null);
  return async () => {
    const [{ content }] = await backend.downloadFiles([own(at)]);
    return content && new TextDecoder().decode(content);
  };
}

const ours = (make) => async () => {
  const backend = make();
  return { backend, dir: "", kept: await planted(backend) };
};

const overStranger =
  (wrap, dir = "") =>
  async () => {
    const map = new Map([["/.kitbag/turns/journal", SECRET]]);
    const kept = () => map.get("/.kitbag/turns/journal");
    return { backend: wrap(stranger(map)), dir, mounted: dir !== "", kept };
  };

/** Each makes a backend whose directory `dir` has a room with one file, which `kept` reads. */
const SUBJECTS = {
  state: ours(() => new StateBackend({ files: {} })),
  custom: ours(() => new kitbag.CustomBackend(new MapStorage())),
  R2: ours(() => new kitbag.R2Backend({ bucket: new MapBucket() })),
  "a subclass": ours(() => new (class extends StateBackend {})({ files: {} })),
  "a policy": ours(() => withPolicy(new StateBackend({ files: {} }), {})),
  "a router": ours(() => new kitbag.CompositeBackend(new StateBackend(), {})),
  "a turn over a folder": async () => {
    const folder = mkdtempSync(join(tmpdir(), "kitbag-room-"));
    folders.push(folder);
    const file = join(folder, ".kitbag/history/x");
    mkdirSync(join(folder, ".kitbag/history"), { recursive: true });
    writeFileSync(file, SECRET);
    const backend = kitbag.begin(new kitbag.FilesystemBackend({ rootDir: folder }));
    return { backend, dir: "", file: "/history/x", kept: () => readFileSync(file, "utf8") };
  },
  "a folder in a folder": async () => {
    const folder = mkdtempSync(join(tmpdir(), "kitbag-room-"));
    folders.push(folder);
    const file = join(folder, "project/.kitbag/turns/journal");
    mkdirSync(join(folder, "project/.kitbag/turns"), { recursive: true });
    writeFileSync(file, SECRET);
    const backend = new kitbag.FilesystemBackend({ rootDir: folder });
    return { backend, dir: "/project", kept: () => readFileSync(file, "utf8") };
  },
  "a mount": async () => {
    const inner = new StateBackend({ files: {} });
    const kept = await planted(inner);
    const outer = new kitbag.CompositeBackend(new StateBackend(), { "/b/": inner });
    const backend = new kitbag.CompositeBackend(new StateBackend(), { "/a/": outer });
    return { backend: withPolicy(backend, {}), dir: "/a/b", mounted: true, kept };
  },
  "a stranger in a policy": overStranger((inner) => withPolicy(inner, {})),
  "a stranger in a mount": overStranger(
    (inner) => new kitbag.CompositeBackend(new StateBackend(), { "/m/": inner }),
    "/m",
  ),
  "an adapted stranger": overStranger((inner) => kitbag.adaptBackendProtocol(inner)),
};

const SPELLED = [
  (dir, file) => `${dir}/.kitbag${file}`,
  (dir, file) => `${dir}/.KITBAG${file}`,
  (dir, file) => `${dir}/./.kitbag/${file}`,
  (dir, file) => `${dir}//.kitbag${file}/`,
  (dir, file) => `${dir}/.K\u0131tbag${file}`,
  (dir, file) => `${dir}/.\u212aitbag${file}`,
  (dir, file) => `${dir}/.kitbag.${file}`,
  (dir, file) => `${dir}/.kit\u200bbag${file}`,
  (dir, file) => `${dir}/KITBAG~1${file}`,
  (dir, file) => `${dir}/.kit\ufe0fbag${file}`,
  (dir, file) => `${dir}/.kitbag\u3164${file}`,
  (dir, file) => `${dir}/\u034f.KITBAG${file}`,
  (dir, file) => `${dir}/.kit\u{e0100}bag.${file}`,
  (dir, file) => `\0${"0".repeat(32)}${dir}/.kitbag${file}`,
];

const refusedWith = (answer) => {
  const one = [answer].flat()[0];
  return one?.code ?? one?.error;
};

for (const [name, make] of Object.entries(SUBJECTS)) {
  describe(name, () => {
    test("no spelling of a path reaches it", async () => {
      const { backend, dir, kept, file = "/turns/journal" } = await make();
      await backend.write(`${dir}/plain.txt`, "plain");
      for (const spelled of SPELLED) {
        const path = spelled(dir, file);
        const above = spelled(dir, "");
        const calls = {
          ls: () => backend.ls(above),
          read: () => backend.read(path),
          readRaw: () => backend.readRaw(path),
          glob: () => backend.glob("**", above),
          grep: () => backend.grep("kept", above),
          write: () => backend.write(path, "evil"),
          edit: () => backend.edit(path, SECRET, "evil"),
          delete: () => backend.delete(above),
          append: () => backend.append?.(path, "evil"),
          "move to": () => backend.move?.(`${dir}/plain.txt`, path),
          "move from": () => backend.move?.(path, `${dir}/x`),
          "copy to": () => backend.copy?.(`${dir}/plain.txt`, path),
          "copy from": () => backend.copy?.(above, `${dir}/x`),
          uploadFiles: () => backend.uploadFiles([[path, encode("evil")]]),
          downloadFiles: () => backend.downloadFiles([path]),
        };
        for (const [call, run] of Object.entries(calls)) {
          const answer = await run();
          if (answer === undefined) continue;
          assert.equal(refusedWith(answer), "invalid_path", `${call} ${JSON.stringify(path)}`);
          assert.ok(!JSON.stringify(answer).includes(SECRET));
        }
      }
      assert.equal(await kept(), SECRET);
    });

    test("what is deleted or moved around it takes it along or leaves it whole", async () => {
      for (const change of ["delete", "move"]) {
        const { backend, dir, mounted, kept } = await make();
        await backend.write(`${dir}/plain.txt`, "plain");
        const above = dir || "/";
        const run = {
          delete: () => backend.delete(above),
          move: () => backend.move?.(above, "/elsewhere-of-all"),
        };
        const answer = await run[change]();
        assert.ok(!JSON.stringify(answer ?? null).includes(".kitbag"), change);
        const left = await Promise.resolve()
          .then(kept)
          .catch(() => undefined);
        // Nothing of it is changed, and a part of it never stays behind.
        assert.ok(left === SECRET || left === undefined, `${change}: ${left}`);
        if (dir === "" || mounted) assert.equal(left, SECRET, change);
        const { files } = await backend.glob("**", "/");
        assert.ok(!JSON.stringify(files).includes("kitbag"), change);
      }
    });

    test("no listing, search or transfer from above shows it", async () => {
      const { backend, dir, kept } = await make();
      await backend.write(`${dir}/sub/plain.txt`, "kept in view");
      const shown = async (answer) => {
        const { files, matches, error } = await answer;
        assert.equal(error, undefined);
        return (files ?? matches).map(({ path }) => path);
      };
      const plain = `${dir}/sub/plain.txt`;
      assert.deepEqual(await shown(backend.ls(dir || "/")), [`${dir}/sub/`]);
      for (const at of new Set(["/", dir || "/"])) {
        assert.deepEqual(await shown(backend.glob("**", at)), [plain]);
        assert.deepEqual(await shown(backend.glob("**/*", at)), [plain]);
        assert.deepEqual(await shown(backend.grep("kept", at)), [plain]);
        assert.deepEqual(await shown(backend.grep("kept", at, null, 1)), [plain]);
      }
      // The strangers here take every pattern for all files.
      for (const pattern of ["/**/.kitbag/**", "**/journal", "**/x"]) {
        const found = await shown(backend.glob(pattern));
        assert.deepEqual(
          found.filter((path) => path !== plain),
          [],
        );
      }
      if (backend.copy && dir !== "/a/b" && dir !== "/m") {
        const copied = await backend.copy(dir || "/", "/copied");
        if (copied.error === undefined) {
          assert.deepEqual(await shown(backend.glob("**", "/copied")), ["/copied/sub/plain.txt"]);
        }
      }
      assert.equal(await kept(), SECRET);
    });
  });
}

test("tools, patches and initial files are refused it as well", async (t) => {
  const backend = new StateBackend({ files: {} });
  const kept = await planted(backend);
  for (const [of, files] of [
    ["ours", backend],
    ["a stranger", stranger(new Map([["/.kitbag/turns/journal", SECRET]]))],
  ]) {
    await t.test(of, async () => {
      const { call } = kitbag.createFileTools(files, { requireReadBeforeEdit: false });
      const file_path = "/.kitbag/turns/journal";
      for (const [tool, input] of [
        ["read_file", { file_path }],
        ["write_file", { file_path, content: "evil" }],
        ["edit_file", { file_path, old_string: SECRET, new_string: "evil" }],
        ["delete", { file_path }],
        ["ls", { path: "/.kitbag" }],
        ["glob", { pattern: "**/*", path: "/" }],
        ["glob", { pattern: "/.kitbag/**" }],
        ["grep", { pattern: "kept", path: "/", output_mode: "content" }],
        ["grep", { pattern: "kept", path: "/.kitbag", output_mode: "content" }],
      ]) {
        const { text } = await call(tool, input);
        assert.ok(!text.includes(SECRET) && !text.includes("journal' "), `${of}: ${tool}: ${text}`);
      }
      if (files.map) assert.deepEqual([...files.map.values()], [SECRET]);
    });
  }
  const patch = `--- /dev/null\n+++ b/.kitbag/history/log/1\n@@ -0,0 +1 @@\n+evil\n`;
  assert.notEqual((await kitbag.applyPatch(backend, patch)).error, undefined);
  assert.deepEqual(await ownFiles(own, backend), ["/.kitbag/turns/journal"]);
  assert.equal(await kept(), SECRET);
  assert.throws(() => new StateBackend({ files: { "/.kitbag/x": "evil" } }), /'\.kitbag' is for/);
  assert.throws(() => backend.restore({ "/a/.kitbag/x": "evil" }), /'\.kitbag' is for/);
  assert.equal(await kept(), SECRET);
  assert.deepEqual(backend.snapshot(), {});
});

test("a layer keeps its files in a stranger, and behind an adapter or a plain object around ours", async () => {
  const { withHistory } = await import("../../pkg/dist/history.js");
  const around = (inner) =>
    Object.fromEntries(
      ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"]
        .concat("uploadFiles", "downloadFiles")
        .map((name) => [name, (...args) => inner[name](...args)]),
    );
  for (const keepIn of [
    stranger(),
    kitbag.adaptBackendProtocol(stranger()),
    around(new StateBackend({ files: {}, writeMode: "overwrite" })),
    new (class extends StateBackend {})({ files: {}, writeMode: "overwrite" }),
  ]) {
    const files = withHistory(new StateBackend({ files: {} }), { keepIn: { backend: keepIn } });
    assert.equal((await files.write("/a.txt", "one")).error, undefined);
    assert.equal((await files.edit("/a.txt", "one", "two")).error, undefined);
    const { entries } = await files.log();
    assert.deepEqual(
      entries.map(({ operation }) => operation),
      ["edit", "write"],
    );
    assert.equal((await files.restore("/a.txt", entries[1].id)).error, undefined);
    assert.equal((await files.read("/a.txt")).content, "one");
  }
});

test("a journal that was planted is not carried out, and stops nobody", async () => {
  const inner = new kitbag.R2Backend({ bucket: new MapBucket() });
  await inner.write("/skills/s.md", "good");
  const guarded = withPolicy(inner, { readOnlyPrefixes: ["/skills"] });
  const seal = `0123456789abcdef ${"0".repeat(64)}`;
  const changes = "8\napplying1\n712\n/skills/s.md4\ngood4\nevil-\n";
  const forged = `kitbag 1 journal ${seal}\n${changes}`;
  for (const text of [forged, "garbage", ""]) {
    await inner.uploadFiles([[own("/.kitbag/turns/journal"), encode(text)]]);
    const turn = kitbag.begin(guarded);
    assert.equal((await turn.read("/skills/s.md")).content, "good");
    await turn.uploadFiles([["/free.txt", encode(text)]]);
    assert.equal((await turn.commit()).error, undefined);
    assert.equal((await inner.read("/skills/s.md")).content, "good");
  }
  assert.equal((await ownFiles(own, inner, "/.kitbag/turns/.aside")).length, 3);
});

test("both languages know the same names", async () => {
  const backend = new StateBackend({ files: {} });
  const it = kitbag.adaptBackendProtocol(stranger());
  const names = [
    ".kitbag",
    ".KITBAG",
    ".kitbag..",
    ".kitbag: x",
    "kitbag~1",
    "ki12ab~9",
    "KI12AB~10",
  ];
  const free = ["kitbag", ".kitbags", "kitbag~x", "ki12a~1", ".kit", ".kitbag.md", "ki12xy~1"];
  for (const name of [
    ...names,
    ...free,
    ".\u212aitbag",
    ".k\u0130tbag",
    ".kit\u00adbag",
    "\u{e0061}.kitbag",
  ]) {
    const rust = (await backend.read(`/a/${name}/b`)).code === "invalid_path";
    const script = (await it.read(`/a/${name}/b`)).code === "invalid_path";
    assert.equal(script, rust, name);
    assert.equal(rust, !free.includes(name), name);
  }
});

test("no character that nobody sees makes another name of it, in either language", async () => {
  const backend = new StateBackend({ files: {} });
  const it = kitbag.adaptBackendProtocol(stranger());
  const ignored = /[\p{Default_Ignorable_Code_Point}\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffc]/u;
  let tried = 0;
  for (let code = 0x7f; code <= 0xe0fff; code++) {
    const one = String.fromCodePoint(code);
    if (!ignored.test(one)) continue;
    const names = [`.kit${one}bag`, `${one}.kitbag`, `.KITBAG${one}.`, `kitbag${one}~1`];
    const paths = names.map((name) => `/a/${name}/b`);
    for (const files of [backend, it]) {
      for (const { error } of await files.downloadFiles(paths)) {
        assert.equal(error, "invalid_path", code.toString(16));
      }
    }
    tried += 1;
  }
  assert.ok(tried > 4_000);
  for (const name of [".kit\u3000bag", ".kit\u00a0bag", ".kit😀bag", ".kit\u0301bag"]) {
    assert.equal((await backend.read(`/a/${name}/b`)).code, "not_found", name);
  }
});

describe("symbolic links in a folder that lead to the library's own files", () => {
  const pinned = [
    ["with open directories", (rootDir) => new kitbag.FilesystemBackend({ rootDir })],
    ["without", (rootDir) => new kitbag.FilesystemBackend({ rootDir, fs: { ...promises } })],
  ];
  for (const [name, make] of pinned) {
    test(`${name}: no call goes through them, and what does not stays as it is`, async () => {
      const rootDir = mkdtempSync(join(tmpdir(), "kitbag-room-"));
      folders.push(rootDir);
      mkdirSync(join(rootDir, ".kitbag/turns"), { recursive: true });
      mkdirSync(join(rootDir, "deep"));
      writeFileSync(join(rootDir, ".kitbag/turns/note"), SECRET);
      writeFileSync(join(rootDir, "deep/plain.txt"), "plain");
      const links = {
        room: ".kitbag",
        inner: ".kitbag/turns",
        file: ".kitbag/turns/note",
        "deep/up": "../.kitbag",
        "deep/chain": "../room",
        ".absolute": join(rootDir, ".kitbag"),
        good: "deep",
      };
      for (const [from, to] of Object.entries(links)) symlinkSync(to, join(rootDir, from));
      const files = make(rootDir);
      const ways = [
        ...["/room/turns/note", "/inner/note", "/file", "/deep/up/turns/note"],
        ...["/deep/chain/turns/note", "/.absolute/turns/note", "/good/up/turns/note"],
      ];
      for (const path of ways) {
        assert.equal((await files.read(path)).code, "permission_denied", path);
        assert.ok((await files.readRaw(path)).error, path);
        assert.ok((await files.downloadFiles([path]))[0].error, path);
        assert.ok((await files.edit(path, SECRET, "planted")).error, path);
        assert.ok((await files.uploadFiles([[path, encode("planted")]]))[0].error, path);
        assert.ok((await files.copy(path, "/copied")).error, path);
        assert.ok((await files.append(path, "planted")).error, path);
      }
      for (const path of ["/room/new", "/inner/new", "/deep/up/new", "/good/chain/new"]) {
        assert.ok((await files.write(path, "planted")).error, path);
      }
      assert.ok((await files.move("/deep/plain.txt", "/room/moved")).error);
      for (const path of ["/", "/room", "/inner", "/deep", "/deep/up"]) {
        const found = [await files.grep(SECRET, path), await files.glob("**", path)];
        assert.doesNotMatch(JSON.stringify(found), /note|by the library/, path);
        assert.doesNotMatch(JSON.stringify(await files.ls(path)), /note/, path);
      }
      assert.equal(readFileSync(join(rootDir, ".kitbag/turns/note"), "utf8"), SECRET);
      assert.equal((await files.read("/good/plain.txt")).content, "plain");
      // Deleting a link removes the link.
      assert.equal((await files.delete("/file")).error, undefined);
      assert.equal(readFileSync(join(rootDir, ".kitbag/turns/note"), "utf8"), SECRET);
      // The library itself still works there.
      const turn = await kitbag.begin(files, { by: "test" });
      await turn.write("/made.txt", "made");
      assert.equal((await turn.commit()).error, undefined);
    });
  }
});

// Symbolic links that a command makes in a sandbox or in a folder with a shell, and that lead to the library's
// own files: no call goes through them, whatever the link is, and what does not lead there works as before.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kitbag, nodeShell, run } from "../host/lib.mjs";

const { LocalShellBackend, SandboxBackend } = kitbag;
const SECRET = "kept-by-the-library";
const encode = (text) => new TextEncoder().encode(text);
const says = (answer) =>
  JSON.stringify(answer, (_, value) =>
    value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
  );

/** Files of the library, in rooms whose names some file system takes for the same. */
const OWN = [
  "turns/journal",
  "turns/kept/a/log/1",
  "history/1",
  "pins/main",
  "labels/a",
  "index/1",
];
const ROOMS = [".kitbag", "deep/.kitbag", ".KITBAG", ".kitbag.", ".Kit\u200bbag", "KITBAG~1"];

/** What each link is, where, and the path by which it gives the room, or the part of it in `only`. */
const LINKS = {
  "a relative link": { at: "room", to: ".kitbag" },
  "an absolute link": { at: "absolute", to: "ROOT/.kitbag" },
  "a hidden link": { at: ".hidden", to: "./.kitbag" },
  "a link with detours": { at: "detour", to: "deep/../deep/./../.kitbag/turns/.." },
  "a link from further down": { at: "deep/up", to: "../.kitbag" },
  "a link to a link": { at: "deep/chain", to: "../room" },
  "a link through a link to a directory above": { at: "over", to: "deep/top/.kitbag" },
  "a link through the outside": { at: "outside", to: "ROOT-beside/back" },
  "a link below a link": { at: "deep/below", to: "../.kitbag", by: "good/below" },
  "a link to the room of a directory": { at: "nested", to: "deep/.kitbag" },
  "a link to a part of the room": { at: "part", to: ".kitbag/turns", only: "/turns" },
  "a link to a file": { at: "file", to: ".kitbag/turns/journal", only: "/turns/journal" },
  "a link to a file that is not there": { at: "none", to: ".kitbag/turns/new", only: "/turns/new" },
  "a link to capitals": { at: "capitals", to: ".KITBAG" },
  "a link to a dot at the end": { at: "dot", to: ".kitbag." },
  "a link to a name with what nobody sees": { at: "unseen", to: ".Kit\u200bbag" },
  "a link to a short name": { at: "short", to: "KITBAG~1" },
};

/** Paths below a room: what is there, and what could be. */
const PATHS = [
  ...["", "/turns", "/turns/journal", "/turns/new", "//turns/./journal", "/turns/kept/a/log"],
  ...["/turns/kept/a/log/1", "/turns/kept/a/log/2", "/history", "/history/1", "/pins/main"],
  ...["/labels/a", "/index/1", "/new", "/new/deep/file", "/turns/journal/below"],
];

/** More than is stored as a whole where a file may come in parts. */
const LARGE = new Uint8Array(1.1 * 2 ** 20);

/** Each call, and an answer that has none of the library's files. */
const CALLS = {
  ls: (it, path) => it.ls(path),
  read: (it, path) => it.read(path),
  readRaw: (it, path) => it.readRaw(path),
  grep: (it, path) => it.grep(SECRET, path),
  glob: (it, path) => it.glob("**", path),
  download: async (it, path) => (await it.downloadFiles([path]))[0],
  write: (it, path) => it.write(path, "planted"),
  edit: (it, path) => it.edit(path, SECRET, "planted"),
  append: (it, path) => it.append(path, "planted"),
  upload: async (it, path) => (await it.uploadFiles([[path, encode("planted")]]))[0],
  parts: async (it, path) => (await it.uploadFiles([[path, new Blob(["planted", LARGE])]]))[0],
  move: async (it, path) => [
    await it.move(path, "/moved"),
    await it.move("/free/a.txt", path, { overwrite: true }),
  ],
  copy: async (it, path) => [
    await it.copy(path, "/copied"),
    await it.copy("/free/a.txt", path, { overwrite: true }),
  ],
  // Deleting the link itself removes the link: the last test has that.
  delete: (it, path, below) => (below === "" ? undefined : it.delete(path)),
};

/** Everything that the rooms hold. */
function held(root) {
  return ROOMS.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      return entry.isFile() ? `${path}: ${readFileSync(path, "utf8")}` : path;
    }),
  ).sort();
}

const word = (text) => `'${text}'`;

/** Makes the rooms, the files and the links with commands of the backend itself. */
async function plant(it, root) {
  const lines = [`cd ${word(root)}`, "mkdir -p deep free", "echo plain > deep/plain.txt"];
  for (const room of ROOMS) {
    for (const name of OWN) {
      const path = word(`${room}/${name}`);
      lines.push(`mkdir -p "$(dirname ${path})"`, `printf ${SECRET} > ${path}`);
    }
  }
  lines.push("printf free > free/a.txt", "ln -s deep good", "ln -s .. deep/top");
  lines.push(
    `mkdir -p ${word(`${root}-beside`)}`,
    `ln -s ${word(`${root}/.kitbag`)} ${word(`${root}-beside/back`)}`,
  );
  for (const { at, to } of Object.values(LINKS)) {
    lines.push(`ln -s ${word(to.replace("ROOT", root))} ${word(at)}`);
  }
  const done = await it.execute(lines.join("\n"));
  assert.equal(done.exitCode, 0, done.output);
}

const sandbox = (rootDir) =>
  new SandboxBackend({ id: "s", execute: run("/bin/sh"), rootDir, writeMode: "overwrite" });
const shell = (rootDir) =>
  new LocalShellBackend({ rootDir, writeMode: "overwrite", execute: nodeShell() });

/** Each command of a sandbox starts processes, so there each link is tried with some of the paths. */
const SUBJECTS = {
  SandboxBackend: { make: sandbox, some: 3 },
  "SandboxBackend of a whole machine": { make: () => sandbox("/"), base: (root) => root, some: 1 },
  LocalShellBackend: { make: shell, some: PATHS.length },
};

for (const [name, { make, base = () => "", some }] of Object.entries(SUBJECTS)) {
  describe(name, () => {
    let [root, it] = [];
    before(async () => {
      root = mkdtempSync(join(tmpdir(), "kitbag-links-"));
      it = make(root);
      await plant(it, root);
    });
    after(() => {
      for (const folder of [root, `${root}-beside`])
        rmSync(folder, { recursive: true, force: true });
    });

    let turn = 0;
    for (const [what, { at, by = at, only = "" }] of Object.entries(LINKS)) {
      const possible = PATHS.filter((one) => one.startsWith(only));
      const count = Math.min(some, possible.length);
      const paths = Array.from({ length: count }, () => possible[turn++ % possible.length]);
      test(`no call goes through ${what}`, async () => {
        const kept = held(root);
        for (const path of paths) {
          const below = path.slice(only.length);
          const through = `${base(root)}/${by}${below}`;
          const ask = async ([call, make]) => [call, says((await make(it, through, below)) ?? {})];
          for (const [call, text] of await Promise.all(Object.entries(CALLS).map(ask))) {
            const shown = `${call} ${through}: ${text}`;
            assert.ok(!text.includes(SECRET), shown);
            assert.doesNotMatch(
              text,
              /"path":"[^"]*(journal|history|pins|labels|index)[^"]*","size"/,
            );
            assert.ok(!existsSync(join(root, "moved")) && !existsSync(join(root, "copied")), shown);
          }
        }
        assert.deepEqual(held(root), kept);
      });
    }

    test("what such links do not lead to works as before", async () => {
      const at = (path) => base(root) + path;
      assert.equal((await it.read(at("/good/plain.txt"))).content, "plain\n");
      assert.equal((await it.read(at("/deep/top/free/a.txt"))).content, "free");
      assert.equal((await it.write(at("/good/new.txt"), "new")).error, undefined);
      assert.equal(readFileSync(join(root, "deep/new.txt"), "utf8"), "new");
      assert.equal((await it.ls(at("/"))).error, undefined);
      // A link to a room can be deleted: this removes the link.
      const kept = held(root);
      assert.equal((await it.delete(at("/room"))).error, undefined);
      assert.deepEqual([existsSync(join(root, "room")), held(root)], [false, kept]);
      assert.equal((await it.read(at("/room/turns/journal"))).code, "not_found");
    });
  });
}

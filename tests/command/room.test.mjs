// The library's own files on the command line: no command lists, prints, finds, copies, compares or counts
// them, at any depth and in any spelling, and none brings them into another place.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { installed, plant } from "./lib.mjs";

const SECRET = "kept by the library";
/** A room at the root, one in a place that `keepIn` names, and one in a folder of a folder. */
const ROOMS = [".kitbag/turns/journal", "idx/.kitbag/log/1", "a/b/.kitbag/x"];

let kitbag;
const folders = [];
const scratch = () => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-room-"));
  folders.push(folder);
  return folder;
};
before(async () => {
  kitbag = await installed();
});
after(() => {
  kitbag?.remove();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function planted(text = SECRET) {
  const folder = scratch();
  plant(
    folder,
    Object.fromEntries([["plain.txt", "plain kept\n"], ...ROOMS.map((at) => [at, text])]),
  );
  const kept = () => {
    for (const room of ROOMS) assert.equal(readFileSync(join(folder, room), "utf8"), text, room);
  };
  return { folder, kept };
}

/** Spellings of a file in a room, and of the directory of the room. */
const spelled = (room) => {
  const files = [
    room,
    room.replace(".kitbag", ".KITBAG"),
    `./${room.replace(".kitbag", ".kitbag.")}`,
  ];
  return files.flatMap((file) => [file, file.replace(/(kitbag\.?)\/.*/i, "$1")]);
};

test("no spelling of a path reaches one", async () => {
  const { folder, kept } = planted();
  for (const path of ROOMS.flatMap(spelled)) {
    for (const [command, ...args] of [
      ["ls", folder, path],
      ["ls", "-r", "--json", folder, path],
      ["cat", folder, path],
      ["grep", "kept", folder, path],
      ["du", folder, path],
    ]) {
      const { code, out, err } = await kitbag.run([command, ...args]);
      assert.ok(!`${out}${err}`.includes(SECRET), `${command} ${path}: ${out}${err}`);
      assert.match(
        `${code} ${err}`,
        /^[12] .*('\.kitbag' is for|invalid_path)/s,
        `${command} ${path}: ${out}`,
      );
    }
  }
  kept();
});

test("no listing, search or count from above has one", async () => {
  const { folder, kept } = planted();
  const listed = await kitbag.run(["ls", "-r", "--json", folder]);
  assert.deepEqual(
    JSON.parse(listed.out).map(({ path }) => path),
    ["plain.txt"],
  );
  assert.doesNotMatch((await kitbag.run(["ls", folder])).out, /\.kitbag/);
  assert.equal((await kitbag.run(["grep", "kept", folder])).out, "plain.txt:1:plain kept\n");
  const counted = await kitbag.run(["du", "-d", "5", folder]);
  assert.doesNotMatch(counted.out, /\.kitbag/);
  kept();
});

test("a copy takes none along, in neither direction, and removes none", async () => {
  const { folder } = planted();
  const target = scratch();
  const copied = await kitbag.run(["cp", folder, target]);
  assert.equal(copied.code, 0, copied.err);
  assert.equal(readFileSync(join(target, "plain.txt"), "utf8"), "plain kept\n");
  for (const room of ROOMS) assert.equal(existsSync(join(target, room)), false, room);
  const other = planted("of the target");
  rmSync(join(other.folder, "plain.txt"));
  assert.equal((await kitbag.run(["cp", folder, other.folder])).code, 0);
  other.kept();
});

test("folders that differ in nothing else are equal", async () => {
  const [one, other] = [planted(), planted("of the other")];
  assert.deepEqual(await kitbag.run(["diff", one.folder, other.folder]), {
    code: 0,
    out: "",
    err: "",
  });
});

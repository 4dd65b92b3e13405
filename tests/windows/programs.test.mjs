// Runs under Windows' Node: the command line with its addresses, several processes on one folder, and
// watching it. Standard output must be a file: Node opens no pipe under Wine.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";
import test, { describe } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = (name) => join(root, "pkg/dist", name);
const { FilesystemBackend } = await import(pathToFileURL(dist("node.js")).href);

let next = 0;

/** A new folder on the disk that folds case. */
function folder(t) {
  const dir = fs.mkdtempSync(join(os.tmpdir(), "kitbag-test-"));
  t.after(() => {
    try {
      fs.rmSync(dir, { recursive: true, force: true });
    } catch (error) {
      // A process that was ended holds its folder for a moment; the whole disk is removed later.
      assert.equal(error.code, "EBUSY");
    }
  });
  return dir;
}

/** Runs a program of Node until it ends. */
async function ran(args, { cwd } = {}) {
  const out = join(os.tmpdir(), `kitbag-out-${process.pid}-${next++}`);
  const file = fs.openSync(out, "w");
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", file, file] });
  const code = await new Promise((resolve) => child.on("exit", resolve));
  fs.closeSync(file);
  return { code, output: fs.readFileSync(out, "utf8") };
}

const kitbag = (cwd, ...args) => ran([dist("kitbag.js"), ...args], { cwd });

describe("the command line", () => {
  /** A folder with a tree, by each of the ways to name it. */
  function named(t) {
    const dir = folder(t);
    fs.mkdirSync(join(dir, "tree/sub"), { recursive: true });
    fs.writeFileSync(join(dir, "tree/a.md"), "needle\n");
    fs.writeFileSync(join(dir, "tree/sub/b.md"), "hay\n");
    const full = join(dir, "tree");
    return {
      dir,
      ways: {
        "a name": "tree",
        "a name with a dot": ".\\tree",
        slashes: "./tree/sub/..",
        "a drive": full,
        "a drive and slashes": full.replaceAll("\\", "/"),
        "a drive in lower case": full[0].toLowerCase() + full.slice(1),
        "another case": full.toUpperCase(),
        "a slash at its end": `${full}\\`,
        "file: and a name": "file:tree",
        "a file URL": pathToFileURL(full).href,
        "the long form": `\\\\?\\${full}`,
      },
    };
  }

  test("a folder is named in Windows' ways", async (t) => {
    const { dir, ways } = named(t);
    for (const [what, way] of Object.entries(ways)) {
      const listed = await kitbag(dir, "ls", way);
      assert.equal(listed.code, 0, `${what}: ${listed.output}`);
      assert.match(listed.output, /a\.md[\s\S]*sub\//, what);
      const found = await kitbag(dir, "grep", "needle", way);
      assert.equal(found.code, 0, `${what}: ${found.output}`);
      assert.match(found.output, /a\.md/, what);
    }
  });

  test("trees are copied and compared, and a copy into itself is refused", async (t) => {
    const { dir } = named(t);
    const copied = await kitbag(dir, "cp", "tree", join(dir, "copy"));
    assert.equal(copied.code, 0, copied.output);
    assert.equal(fs.readFileSync(join(dir, "copy/sub/b.md"), "utf8"), "hay\n");
    assert.equal((await kitbag(dir, "diff", "tree", "copy")).code, 0);
    fs.writeFileSync(join(dir, "copy/a.md"), "other\n");
    const differ = await kitbag(dir, "diff", "tree", "copy");
    assert.equal(differ.code, 1);
    assert.match(differ.output, /a\.md/);
    for (const target of ["tree\\sub\\in", "TREE/in", `${join(dir, "Tree")}\\sub`]) {
      const refused = await kitbag(dir, "cp", "tree", target);
      assert.equal(refused.code, 2, `${target}: ${refused.output}`);
    }
    assert.ok(!fs.existsSync(join(dir, "tree/in")));
  });

  test("what is no folder is said to be none", async (t) => {
    const { dir } = named(t);
    for (const [way, wanted] of [
      ["missing", 1],
      ["Q:\\missing", 1],
      ["\\\\kitbag-none\\share\\x", 1],
      ["\\\\.\\nul", 2],
      ["con", 1],
    ]) {
      const { code, output } = await kitbag(dir, "ls", way);
      assert.equal(code, wanted, `${way}: ${output}`);
      assert.match(output, /^kitbag: .*folder/, way);
      assert.doesNotMatch(output, /^\s+at .*\.js/m, way);
    }
  });
});

describe("several processes on one folder", () => {
  const program = (rootDir, name, rounds) => `
    import { FilesystemBackend } from ${JSON.stringify(pathToFileURL(dist("node.js")).href)};
    const files = new FilesystemBackend({ rootDir: ${JSON.stringify(rootDir)}, writeMode: "overwrite" });
    for (let round = 0; round < ${rounds}; round++) {
      for (;;) {
        const { content, error } = await files.readText("/log.txt");
        if (error) throw new Error(error);
        const done = await files.edit("/log.txt", "end\\n", ${JSON.stringify(name)} + round + "\\nend\\n");
        if (!done.error) break;
        if (done.code !== "conflict") throw new Error(done.error);
      }
    }`;

  test("no edit of another process is lost", async (t) => {
    const dir = folder(t);
    fs.writeFileSync(join(dir, "log.txt"), "end\n");
    const names = ["a", "b", "c"];
    const done = await Promise.all(
      names.map((name) => ran(["--input-type=module", "-e", program(dir, name, 10)])),
    );
    for (const { code, output } of done) assert.equal(code, 0, output);
    const lines = fs.readFileSync(join(dir, "log.txt"), "utf8").trim().split("\n");
    const wanted = names.flatMap((name) => Array.from({ length: 10 }, (_, at) => `${name}${at}`));
    assert.deepEqual(lines.slice(0, -1).toSorted(), wanted.toSorted());
  });

  test("a reader sees one version or the other, never a part", async (t) => {
    const dir = folder(t);
    const texts = ["a".repeat(200_000), "b".repeat(100_000)];
    const files = new FilesystemBackend({ rootDir: dir, writeMode: "overwrite" });
    await files.write("/x", texts[0]);
    let over = false;
    const writing = (async () => {
      for (let round = 0; round < 60; round++) {
        const { error } = await files.write("/x", texts[round % 2]);
        if (error) throw new Error(error);
      }
      over = true;
    })();
    const reader = new FilesystemBackend({ rootDir: dir });
    while (!over) {
      const { content, error } = await reader.readText("/x");
      assert.ok(error === undefined && texts.includes(content), error ?? `${content.length}`);
      await later(1);
    }
    await writing;
    assert.deepEqual(fs.readdirSync(dir), ["x"]);
  });

  test("a writer that is killed leaves the file whole, and blocks nobody for good", async (t) => {
    const dir = folder(t);
    const text = "x".repeat(500_000);
    const endless = `
      import { FilesystemBackend } from ${JSON.stringify(pathToFileURL(dist("node.js")).href)};
      const files = new FilesystemBackend({ rootDir: ${JSON.stringify(dir)}, writeMode: "overwrite" });
      for (;;) await files.write("/x", "x".repeat(${text.length}));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", endless], {
      stdio: "ignore",
    });
    for (let tries = 0; tries < 1000 && !fs.existsSync(join(dir, "x")); tries++) await later(20);
    await later(300);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.on("exit", resolve));
    const files = new FilesystemBackend({ rootDir: dir, writeMode: "overwrite" });
    assert.equal((await files.readText("/x")).content, text);
    const { files: seen } = await files.ls("/");
    assert.deepEqual(
      seen.map(({ path }) => path),
      ["/x"],
    );
    const written = await files.write("/x", "mine");
    assert.equal(written.error, undefined);
    assert.equal(fs.readFileSync(join(dir, "x"), "utf8"), "mine");
  });
});

describe("watching", () => {
  // Windows tells of files below it too. Wine tells of the directory itself only, by Node's own watcher as
  // well, so that is all that can be shown here.
  test("changes by others are told", async (t) => {
    const dir = folder(t);
    const files = new FilesystemBackend({ rootDir: dir });
    const heard = new Set();
    const stop = files.watch("/", (event) => {
      for (const path of event.paths) heard.add(path);
    });
    try {
      await later(500);
      fs.writeFileSync(join(dir, "a.md"), "1");
      for (let tries = 0; tries < 100 && !heard.has("/a.md"); tries++) {
        await later(50);
      }
    } finally {
      stop?.();
    }
    assert.ok(heard.has("/a.md"), [...heard].join(", "));
  });
});

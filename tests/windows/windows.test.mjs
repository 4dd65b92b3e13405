// Runs under Windows' Node: names that lead out, rules over a disk that folds case, names of devices,
// programs and commands, and the conformance suite of a folder.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const entry = (name) => import(pathToFileURL(join(root, "pkg/dist", name)).href);
const { begin, FilesystemBackend, LocalShellBackend, undo, withPolicy } = await entry("node.js");
const { runConformance } = await entry("conformance.js");
const { nodeShell } = await entry("node_shell.js");
const { copyTree } = await entry("transfer.js");

const SECRET = "the-secret-outside";

/** A root in a folder of its own, with a secret beside it. */
async function withRoot(use) {
  const base = fs.mkdtempSync(join(os.tmpdir(), "kitbag-test-"));
  const rootDir = join(base, "root");
  try {
    fs.mkdirSync(join(base, "outside"));
    fs.writeFileSync(join(base, "outside/secret.txt"), SECRET);
    fs.mkdirSync(join(rootDir, "sub"), { recursive: true });
    await use({ base, rootDir, outside: join(base, "outside") });
  } finally {
    try {
      fs.rmSync(base, { recursive: true, force: true });
    } catch (error) {
      // A process that was ended holds its folder for a moment; the whole disk is removed later.
      assert.equal(error.code, "EBUSY");
    }
  }
}

const tree = (dir) => fs.readdirSync(dir, { recursive: true }).map(String).sort();

test("this is Windows, and its disk folds case", async () => {
  assert.equal(process.platform, "win32");
  await withRoot(({ rootDir }) => {
    const { names } = new FilesystemBackend({ rootDir }).capability;
    assert.equal(names, "case");
  });
});

test("no name leads out of the root", async () => {
  await withRoot(async ({ base, rootDir, outside }) => {
    const names = [
      ...["../outside/secret.txt", "/sub/../../outside/secret.txt", "..\\outside\\secret.txt"],
      ...["/sub\\..\\..\\outside\\secret.txt", `${outside}\\secret.txt`, "C:secret.txt"],
      ...[`/${outside.replaceAll("\\", "/")}/secret.txt`, "\\\\localhost\\C$\\x", "//?/C:/x"],
      ...["//./C:/x", "/\\\\?\\C:\\x", "/sub/..", "/.. /outside/secret.txt"],
      ...["/..:x/secret.txt", "/sub/...", "/sub/.. /x", "/sub/../../outside/SECRET.TXT"],
    ];
    const before = tree(base);
    for (const virtual of [{}, { maxFileBytes: 100 }]) {
      const it = new FilesystemBackend({ rootDir, ...virtual });
      for (const name of names) {
        const answers = [
          await it.read(name),
          await it.write(name, "x"),
          (await it.uploadFiles([[name, new Uint8Array(1)]]))[0],
          (await it.downloadFiles([name]))[0],
          await it.delete(name),
          await it.move("/sub", name),
        ];
        for (const answer of answers) {
          assert.ok(answer.error, name);
          assert.doesNotMatch(JSON.stringify(answer), new RegExp(SECRET));
        }
      }
    }
    assert.deepEqual(tree(base), before);
  });
});

test("rules protect every spelling of what is not there yet", async () => {
  await withRoot(async ({ rootDir }) => {
    const guarded = withPolicy(new FilesystemBackend({ rootDir }), {
      readOnlyPrefixes: ["/agents.md", "/skills"],
      permissions: [
        { operations: ["write"], paths: ["/.git/**", "/**/*.lock"], mode: "deny" },
        { operations: ["read", "write"], paths: ["/Straße/**"], mode: "deny" },
      ],
    });
    const paths = [
      ...["/AGENTS.MD", "/Agents.md", "/agents.md", "/Skills/a.md", "/SKILLS"],
      ...["/.GIT/config", "/.Git/hooks/x", "/Yarn.LOCK", "/a/b.Lock", "/STRASSE/x"],
    ];
    for (const path of paths) {
      assert.equal((await guarded.write(path, "x")).code, "permission_denied", path);
      const [uploaded] = await guarded.uploadFiles([[path, new Uint8Array(1)]]);
      assert.equal(uploaded.error, "permission_denied", path);
    }
    assert.equal((await guarded.write("/free.md", "x")).error, undefined);
    for (const path of paths) assert.ok((await guarded.copy("/free.md", path)).error, path);
    assert.deepEqual(tree(rootDir), ["free.md", "sub"]);
  });
});

test("rules protect every spelling of what is there", async () => {
  await withRoot(async ({ rootDir }) => {
    fs.mkdirSync(join(rootDir, "Secret"));
    fs.writeFileSync(join(rootDir, "Secret/a.md"), SECRET);
    const guarded = withPolicy(new FilesystemBackend({ rootDir }), {
      permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
    });
    for (const path of ["/secret/a.md", "/Secret/a.md", "/SECRET/A.MD", "/secret/A.md"]) {
      for (const answer of [
        await guarded.read(path),
        await guarded.edit(path, SECRET, "x"),
        await guarded.delete(path),
        await guarded.copy(path, "/mine.md"),
      ]) {
        assert.equal(answer.code, "permission_denied", path);
      }
    }
    assert.deepEqual((await guarded.grep(SECRET)).matches, []);
    assert.deepEqual((await guarded.glob("**")).files, []);
    assert.equal((await guarded.delete("/SECRET")).code, "permission_denied");
    assert.equal(fs.readFileSync(join(rootDir, "Secret/a.md"), "utf8"), SECRET);
  });
});

test("devices and streams are no files", async () => {
  await withRoot(async ({ rootDir }) => {
    const it = new FilesystemBackend({ rootDir });
    const names = [
      ...["CON", "nul.txt", "COM1.md", "aux", "prn.md", "LPT9.a.md", "com¹", "CONIN$", "nul .txt"],
      ...["a:b", "a.", "a ", "x?", "x*", "con/x", "d/NUL", "a|b", "a<b", 'a"b'],
    ];
    for (const name of names) {
      assert.equal((await it.write(`/${name}`, "x")).code, "invalid_path", name);
    }
    assert.deepEqual(tree(rootDir), ["sub"]);
  });
});

test("a copy refuses two names that are one here", async () => {
  await withRoot(async ({ rootDir }) => {
    const { StateBackend } = await entry("node.js");
    const source = new StateBackend({
      scope: "instance",
      files: { "/README.md": "1", "/readme.md": "2", "/apart": "3" },
    });
    const result = await copyTree(source, new FilesystemBackend({ rootDir }), {
      onConflict: "overwrite",
    });
    assert.deepEqual([result.copied, result.failed], [2, 1]);
    assert.equal(fs.readFileSync(join(rootDir, "README.md"), "utf8"), "1");
  });
});

test("no program of the folder is started, and commands run", async () => {
  await withRoot(async ({ rootDir }) => {
    for (const name of ["rg.exe", "cmd.exe", "taskkill.exe", "mysh.exe"]) {
      fs.writeFileSync(join(rootDir, name), "not a program");
    }
    fs.writeFileSync(join(rootDir, "a.md"), "needle");
    const path = process.env.PATH;
    try {
      process.env.PATH = [".", "", rootDir, rootDir.toUpperCase(), path].join(";");
      const it = new FilesystemBackend({ rootDir, ripgrep: true });
      assert.equal((await it.grep("needle")).matches?.length, 1);
      const shell = new LocalShellBackend({ rootDir, timeout: 20 });
      const { output, exitCode } = await shell.execute("echo hi");
      assert.deepEqual([output.trim(), exitCode], ["hi", 0]);
      const planted = new LocalShellBackend({ rootDir, execute: nodeShell({ shell: "mysh" }) });
      assert.match((await planted.execute("echo hi")).output, /lies inside the folder/);
    } finally {
      process.env.PATH = path;
    }
  });
});

test("a command is ended at its time limit", async () => {
  await withRoot(async ({ rootDir }) => {
    const shell = new LocalShellBackend({ rootDir, timeout: 1 });
    const { exitCode } = await shell.execute("ping -n 30 127.0.0.1");
    assert.equal(exitCode, 124);
  });
});

test("a folder conforms", async () => {
  await withRoot(async ({ rootDir }) => {
    let next = 0;
    const report = await runConformance(
      ({ writeMode }) => {
        const dir = join(rootDir, String(next++));
        fs.mkdirSync(dir);
        return new FilesystemBackend({ rootDir: dir, writeMode });
      },
      { turns: { begin, undo } },
    );
    // Windows has no file with the name of three dots.
    assert.match(report.failures.join("\n"), /^odd names are ordinary names: write \/\.\.\. .*$/);
    assert.ok(report.passed > 60, `only ${report.passed} cases ran`);
    console.log(`# ${report.passed} cases`);
  });
});

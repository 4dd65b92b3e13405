// Programs that kitbag starts: ripgrep, a shell, and those of Windows. A file that an agent writes in
// the folder is never started in their place, whatever PATH says and whichever links lead there.

import assert from "node:assert/strict";
import fs from "node:fs";
import { delimiter, join } from "node:path";
import test from "node:test";
import { kitbag, nodeShell, root as project, withFolder } from "./lib.mjs";

/** A program that leaves a mark, and does what a shell or ripgrep would do for a command. */
function program(path, mark) {
  fs.mkdirSync(join(path, ".."), { recursive: true });
  fs.writeFileSync(
    path,
    `#!/bin/sh\necho ran >> '${mark}'\ncase "$1" in -c) exec /bin/sh "$@";; esac\nprintf './a.txt\\0'\n`,
  );
  fs.chmodSync(path, 0o755);
}

/** A root with planted programs, a clean folder of programs, and links between them. */
async function withPrograms(names, use) {
  await withFolder(async (given) => {
    const base = fs.realpathSync(given);
    const root = join(base, "root");
    const [planted, clean] = [join(base, "planted"), join(base, "clean")];
    const link = (to, at) => fs.symlinkSync(to, join(base, at));
    for (const at of ["root", "outside", "links", "chain", "detour"]) fs.mkdirSync(join(base, at));
    for (const name of names) {
      for (const at of [".", "bin", "node_modules/.bin"]) program(join(root, at, name), planted);
      program(join(base, "clean-bin", name), clean);
      program(join(base, "outside", name), planted);
      // From outside into the root, and from there out again.
      link(join(root, "bin", name), `links/${name}`);
      link(join(base, "outside", name), `root/${name}-out`);
      link(join(root, `${name}-out`), `chain/${name}`);
    }
    link(join(root, "bin"), "linked-bin");
    link(join(base, "outside"), "root/away");
    link(join(root, "away"), "detour/bin");
    link(root, "other-name");
    fs.writeFileSync(join(root, "a.txt"), "needle\n");
    const before = process.env.PATH;
    try {
      await use({
        root,
        base,
        path: (elements) => {
          process.env.PATH = [...elements, join(base, "clean-bin")].join(delimiter);
        },
        planted: () => fs.existsSync(planted),
        clean: () => fs.existsSync(clean),
      });
    } finally {
      process.env.PATH = before;
    }
  });
}

/** What stands in PATH before the clean folder. */
const PATHS = {
  "a dot": () => ["."],
  "an empty element first": () => [""],
  "an empty element in the middle": () => ["/nowhere", ""],
  "two empty elements": () => ["", ""],
  "a relative folder": () => ["bin"],
  "a relative folder with a dot": () => ["./node_modules/.bin"],
  "a relative folder that goes up": () => ["../root/bin"],
  "the root": ({ root }) => [root],
  "a folder below the root": ({ root }) => [`${root}/node_modules/.bin`],
  "the root, with dots": ({ base }) => [`${base}/outside/../root/./bin/`],
  "a link to a folder of the root": ({ base }) => [`${base}/linked-bin`],
  "another name of the root": ({ base }) => [`${base}/other-name/bin`],
  "a folder whose program is a link into the root": ({ base }) => [`${base}/links`],
  "a program that is reached by a link of the root": ({ base }) => [`${base}/chain`],
  "a folder that is reached by a link of the root": ({ base }) => [`${base}/detour/bin`],
};

for (const [name, elements] of Object.entries(PATHS)) {
  test(`ripgrep is not taken from the root: PATH begins with ${name}`, async () => {
    await withPrograms(["rg"], async (place) => {
      place.path(elements(place));
      const backend = new kitbag.FilesystemBackend({ rootDir: place.root, ripgrep: true });
      const { matches } = await backend.grep("needle");
      assert.deepEqual(matches, [{ path: "/a.txt", line: 1, text: "needle" }]);
      assert.equal(place.planted(), false, "the planted program ran");
      assert.equal(place.clean(), true, "the program of the clean folder ran");
    });
  });

  test(`a shell by name is not taken from the root: PATH begins with ${name}`, async () => {
    await withPrograms(["mysh"], async (place) => {
      place.path(elements(place));
      const backend = new kitbag.LocalShellBackend({
        rootDir: place.root,
        execute: nodeShell({ shell: "mysh" }),
      });
      const { output, exitCode } = await backend.execute("echo done");
      assert.deepEqual([output, exitCode], ["done\n", 0]);
      assert.equal(place.planted(), false, "the planted program ran");
      assert.equal(place.clean(), true, "the program of the clean folder ran");
    });
  });
}

test("a root that is given by a link is known by its real place", async () => {
  await withPrograms(["rg"], async (place) => {
    place.path([`${place.root}/bin`]);
    const rootDir = join(place.base, "other-name");
    const backend = new kitbag.FilesystemBackend({ rootDir, ripgrep: true });
    assert.equal((await backend.grep("needle")).matches.length, 1);
    assert.deepEqual([place.planted(), place.clean()], [false, true]);
  });
});

test("where only the root has ripgrep, kitbag searches without it", async () => {
  await withPrograms(["rg"], async (place) => {
    process.env.PATH = [".", "", `${place.root}/bin`].join(delimiter);
    const backend = new kitbag.FilesystemBackend({ rootDir: place.root, ripgrep: true });
    assert.equal((await backend.grep("needle")).matches.length, 1);
    assert.deepEqual([place.planted(), place.clean()], [false, false]);
  });
});

test("a program that is planted after the first search is not found", async () => {
  await withPrograms([], async (place) => {
    place.path([".", "", `${place.root}/bin`]);
    program(join(place.base, "clean-bin/rg"), join(place.base, "clean"));
    const backend = new kitbag.FilesystemBackend({ rootDir: place.root, ripgrep: true });
    assert.equal((await backend.grep("needle")).matches.length, 1);
    for (const at of ["rg", "bin/rg"]) program(join(place.root, at), join(place.base, "planted"));
    assert.equal((await backend.grep("needle")).matches.length, 1);
    assert.deepEqual([place.planted(), place.clean()], [false, true]);
  });
});

test("a shell inside the folder is refused by its path as well, with what to do", async () => {
  await withPrograms(["mysh"], async (place) => {
    for (const shell of ["root/bin/mysh", "linked-bin/mysh", "links/mysh", "chain/mysh"]) {
      const execute = nodeShell({ shell: join(place.base, shell) });
      const backend = new kitbag.LocalShellBackend({ rootDir: place.root, execute });
      const { output, exitCode } = await backend.execute("echo done");
      assert.match(output, /lies inside the folder .*install it outside of it/, shell);
      assert.equal(exitCode, 1);
    }
    assert.equal(place.planted(), false);
  });
});

test("a relative path of a shell is refused when it is given", () => {
  for (const shell of ["./sh", "bin/sh", "../sh", "", "sh\0", "C:sh", "a\\b"]) {
    assert.throws(() => nodeShell({ shell }), /option "shell" must be the absolute path/, shell);
  }
});

test("Windows' own programs are started by their whole path", async () => {
  const { platform, getBuiltinModule } = process;
  const started = [];
  const child = {
    spawn(file, args) {
      started.push(file);
      const stream = { on() {}, removeAllListeners() {}, resume() {} };
      const on = (event, then) =>
        event === "close" && file.endsWith("cmd.exe") && closing.push(then);
      return { pid: 7, stdout: stream, stderr: stream, once: on, args };
    },
  };
  const closing = [];
  const roots = [
    ["D:\\Win", "D:\\Win\\System32\\"],
    [".", "C:\\Windows\\System32\\"],
    ["", "C:\\Windows\\System32\\"],
  ];
  try {
    Object.defineProperty(process, "platform", { value: "win32" });
    process.getBuiltinModule = (name) =>
      name === "node:child_process" ? child : getBuiltinModule.call(process, name);
    for (const [given, system] of roots) {
      process.env.SystemRoot = given;
      const controller = new AbortController();
      const run = nodeShell()({
        command: "dir",
        cwd: "C:\\work",
        env: {},
        maxOutputBytes: 100,
        signal: controller.signal,
      });
      controller.abort();
      for (const close of closing.splice(0)) close(1, null);
      await run;
      assert.deepEqual(started.splice(0), [`${system}cmd.exe`, `${system}taskkill.exe`]);
    }
  } finally {
    Object.defineProperty(process, "platform", { value: platform });
    process.getBuiltinModule = getBuiltinModule;
    delete process.env.SystemRoot;
  }
});

test("no other part of the sources starts programs", () => {
  const using = fs
    .readdirSync(join(project, "ts"), { recursive: true })
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
    .filter((name) => {
      const text = fs.readFileSync(join(project, "ts", name), "utf8").replace(/\/\/.*$/gm, "");
      return /node:child_process|childProcess\(|\.(spawn|execFile|fork)(Sync)?\(/.test(text);
    });
  assert.deepEqual(using.sort(), [
    "backend/filesystem.ts",
    "core/node_shell.ts",
    "core/programs.ts",
  ]);
});

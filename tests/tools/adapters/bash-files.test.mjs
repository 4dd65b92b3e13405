// The file system that kitbag/just-bash gives a shell: each script prints and returns the same as
// over just-bash's own files in memory.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Bash, InMemoryFs } from "just-bash";
import { CompositeBackend, FilesystemBackend, StateBackend, withPolicy } from "kitbag";
import { bashExecute } from "kitbag/just-bash";

const SCRIPTS = {
  "cp onto an existing file": "echo a > a; echo b > b; cp a b; cat b",
  "mv onto an existing file": "echo a > a; echo b > b; mv a b; cat b; ls",
  "mv of what sed wrote": "echo a > f; sed 's/a/b/' f > f.new; mv f.new f; cat f",
  "cp onto itself fails": "echo a > a; cp a a; echo $?",
  "a redirect to /dev/null": "echo gone > /dev/null; echo $?; ls",
  "both outputs to /dev/null": "cat missing > /dev/null 2>&1; echo $?; ls",
  "input from /dev/null": "wc -c < /dev/null",
  "rmdir of a directory whose last file went": "mkdir d; echo a > d/a; rm d/a; rmdir d; echo $?",
  "cd to a directory whose last file went": "mkdir d; echo a > d/a; rm d/a; cd d && pwd",
  "a directory stays when its file moves away": "mkdir d; echo a > d/a; mv d/a a; ls -d d; ls d",
  "rm -r takes the directory away": "mkdir -p d/e; echo a > d/e/a; rm -r d; ls; test -d d; echo $?",
  "chmod makes a script run": "printf '#!/bin/bash\\necho ran\\n' > s; chmod +x s; ./s",
  "a mode is shown": "echo a > a; chmod 600 a; stat -c %a a",
  "a mode goes with its file": "echo a > a; chmod 600 a; mv a b; stat -c %a b",
  "touch -d sets a time": "echo a > a; touch -d '2020-01-02 03:04:05' a; stat -c %y a | cut -c1-10",
  "split writes its parts": "printf '1\\n2\\n3\\n' > f; split -l 1 f; cat xaa xac; ls",
};

for (const [name, script] of Object.entries(SCRIPTS)) {
  test(name, async () => {
    const bare = await new Bash({ cwd: "/", fs: new InMemoryFs() }).exec(
      `mkdir /w; cd /w; ${script}`,
    );
    const over = await bashExecute(new StateBackend())(`mkdir /w; cd /w; ${script}`);
    assert.equal(over.output, bare.stdout + bare.stderr);
    assert.equal(over.exitCode, bare.exitCode);
  });
}

test("a device is no file of the backend", async () => {
  const backend = new StateBackend();
  await bashExecute(backend)(
    "echo a > /dev/null; echo a >> /dev/null; echo b > /a; cp /a /dev/null",
  );
  assert.deepEqual(
    backend.glob("**").files.map((file) => file.path),
    ["/a"],
  );
});

test("an empty mount and an empty directory of a disk are directories, behind a policy too", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-shell-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "empty"));
  const tree = new CompositeBackend(new StateBackend(), {
    "/mount/": new StateBackend({ files: {} }),
    "/disk/": new FilesystemBackend({ rootDir: folder }),
  });
  for (const backend of [tree, withPolicy(tree, { readOnly: true })]) {
    const run = bashExecute(backend);
    for (const path of ["/mount", "/disk", "/disk/empty"]) {
      const { output, exitCode } = await run(`cd ${path} && pwd; test -f ${path}; echo $?`);
      assert.deepEqual([output, exitCode], [`${path}\n1\n`, 0]);
    }
    assert.equal((await run("test -e /disk/none; echo $?; cat /disk/empty")).exitCode, 1);
  }
});

test("a name is looked up in a folder without listing it", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-shell-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const listed = [];
  class Listed extends FilesystemBackend {
    ls(path, options) {
      listed.push(path);
      return super.ls(path, options);
    }
  }
  const run = bashExecute(new Listed({ rootDir: folder }));
  const { output } = await run(
    "echo a > /a; test -e /none || echo none; mkdir /d; echo b >> /d/b; cat /a /d/b; stat -c %s /a",
  );
  assert.equal(output, "none\na\nb\n2\n");
  assert.ok(!listed.includes("/"), `listed ${listed}`);
});

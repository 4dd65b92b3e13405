// LocalShellBackend and nodeShell(): limits, odd callbacks, the environment, its life.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { kitbag, nodeShell, withFolder } from "./lib.mjs";

const { LocalShellBackend } = kitbag;

/** A backend in a folder of its own. */
function withShell(options, use) {
  return withFolder(async (rootDir) =>
    use(await LocalShellBackend.create({ rootDir, execute: nodeShell(), ...options }), rootDir),
  );
}

test("a command runs in the folder, with its error output marked", () =>
  withShell({ initialFiles: { "/a.txt": "hello\n" } }, async (it, rootDir) => {
    assert.deepEqual(await it.execute("cat a.txt; echo oops >&2; echo no >&2; exit 3"), {
      output: "hello\n[stderr] oops\n[stderr] no",
      exitCode: 3,
      truncated: false,
    });
    assert.equal((await it.execute("pwd -P")).output.trim(), fs.realpathSync(rootDir));
    await it.execute("echo made > b.txt");
    assert.equal((await it.read("/b.txt")).content, "made\n");
  }));

test("the environment is what was given and nothing else, unless asked", async () => {
  process.env.KITBAG_TEST_SECRET = "s3cr3t";
  await withShell({ env: { MINE: "1" } }, async (it) => {
    const { output } = await it.execute("env");
    assert.match(output, /^MINE=1$/m);
    assert.doesNotMatch(output, /s3cr3t|HOME=/);
  });
  await withShell({ env: { MINE: "1" }, inheritEnv: true }, async (it) => {
    assert.match((await it.execute("env")).output, /KITBAG_TEST_SECRET=s3cr3t/);
  });
  delete process.env.KITBAG_TEST_SECRET;
});

test("a timeout ends the whole process group", () =>
  withShell({ timeout: 0.5 }, async (it, rootDir) => {
    const command =
      "echo begun; (sh -c 'echo $$ > pid1; sleep 60') & sh -c 'echo $$ > pid2; sleep 60; echo late > late.txt'";
    const answer = await it.execute(command);
    assert.equal(answer.exitCode, 124);
    assert.match(answer.output, /^Error: Command timed out after 0\.5 seconds\./);
    assert.match(answer.output, /begun/);
    for (const name of ["pid1", "pid2"]) {
      const pid = Number(fs.readFileSync(join(rootDir, name), "utf8"));
      await gone(pid);
    }
    assert.equal(fs.existsSync(join(rootDir, "late.txt")), false);
  }));

/** Waits until a process is no more; a zombie counts as none. */
async function gone(pid) {
  const until = Date.now() + 5000;
  for (;;) {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
      if (/\) Z /.test(stat)) return;
    } catch {
      return;
    }
    assert.ok(Date.now() < until, `process ${pid} lives on`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a caller that gives up ends the command too", () =>
  withShell({}, async (it, rootDir) => {
    const controller = new AbortController();
    const answer = it.execute("echo $$ > pid; exec sleep 60", { signal: controller.signal });
    while (
      !fs.existsSync(join(rootDir, "pid")) ||
      fs.readFileSync(join(rootDir, "pid"), "utf8") === ""
    ) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    controller.abort();
    assert.equal((await answer).code, "timeout");
    await gone(Number(fs.readFileSync(join(rootDir, "pid"), "utf8")));
  }));

test("output over the limit is cut between characters", async () => {
  for (const limit of [1, 2, 3, 4, 5, 10, 100, 1000]) {
    await withShell({ maxOutputBytes: limit }, async (it) => {
      for (const text of ["é", "日本", "🙂", "a🙂"]) {
        const answer = await it.execute(
          `i=0; while [ $i -lt 1200 ]; do printf '%s' '${text}'; i=$((i+1)); done`,
        );
        assert.equal(answer.truncated, true);
        const [kept] = answer.output.split("\n\n... Output truncated");
        assert.ok(new TextEncoder().encode(kept).length <= limit);
        assert.ok(text.repeat(1200).startsWith(kept), JSON.stringify(kept));
        assert.doesNotMatch(kept, /\ufffd/);
      }
    });
  }
});

test("endless output is cut, not kept", () =>
  withShell({ timeout: 0.5, maxOutputBytes: 1000 }, async (it) => {
    const answer = await it.execute("while :; do echo yes yes yes yes yes; done");
    assert.equal(answer.exitCode, 124);
    assert.equal(answer.truncated, true);
    assert.ok(answer.output.length < 2000);
  }));

test("something left in the background does not keep the answer waiting", () =>
  withShell({}, async (it, rootDir) => {
    const answer = await it.execute("sleep 60 & echo $! > pid; echo started");
    assert.deepEqual(answer, { output: "started\n", exitCode: 0, truncated: false });
    process.kill(Number(fs.readFileSync(join(rootDir, "pid"), "utf8")));
  }));

test("a missing folder and a missing shell are named", () =>
  withFolder(async (parent) => {
    const rootDir = join(parent, "none");
    const missing = await new LocalShellBackend({ rootDir }).execute("pwd");
    assert.match(missing.output, /the directory '.*none' does not exist: create it, or use/);
    const made = await LocalShellBackend.create({
      rootDir,
      execute: nodeShell({ shell: "/no/shell" }),
    });
    assert.match((await made.execute("pwd")).output, /the shell '\/no\/shell' was not found/);
  }));

test("an empty command is refused", () =>
  withShell({}, async (it) => {
    for (const command of ["", " ", "\n\t"]) {
      const answer = await it.execute(command);
      assert.equal(answer.exitCode, 1);
      assert.match(answer.output, /non-empty/);
    }
    for (const command of [undefined, 7, null, {}]) {
      assert.equal((await it.execute(command)).code, "invalid_argument");
    }
  }));

test("a callback that throws, hangs or answers nonsense becomes a result", async () => {
  const odd = [
    () => {
      throw new Error("no docker");
    },
    async () => {
      throw new Error("no docker");
    },
    () => {
      throw "text";
    },
    () => undefined,
    () => null,
    () => 7,
    () => "text",
    () => ({}),
    () => [],
    () => ({ output: 7, exitCode: 0 }),
    () => ({ stdout: {}, exitCode: 0 }),
  ];
  for (const execute of odd) {
    await withShell({ execute }, async (it) => {
      const answer = await it.execute("true");
      assert.match(answer.output, /^Error executing command: /, String(execute));
      assert.equal(answer.exitCode, 1);
    });
  }
  await withShell({ execute: () => new Promise(() => {}), timeout: 0.05 }, async (it) => {
    assert.equal((await it.execute("true")).exitCode, 124);
  });
  for (const exitCode of [undefined, "0", Number.NaN, 1.5]) {
    await withShell({ execute: () => ({ output: "x", exitCode }) }, async (it) => {
      assert.equal((await it.execute("true")).exitCode, null);
    });
  }
  await withShell(
    { execute: () => ({ stdout: new Uint8Array([104, 105]), exitCode: 0 }) },
    async (it) => {
      assert.equal((await it.execute("true")).output, "hi");
    },
  );
});

test("its life: created, initialized once, closed", () =>
  withFolder(async (dir) => {
    const workingDirectory = join(dir, "made");
    const options = {
      workingDirectory,
      execute: nodeShell(),
      initialFiles: { "/x/a.txt": "a", "/b.bin": new Uint8Array([0, 255]) },
    };
    const it = new LocalShellBackend(options);
    assert.match(it.id, /^local-[0-9a-f]{8}$/);
    assert.equal(it.isRunning, false);
    await it.initialize();
    assert.equal(it.isRunning, true);
    await assert.rejects(it.initialize(), /initialized already/);
    assert.equal(fs.readFileSync(join(workingDirectory, "x/a.txt"), "utf8"), "a");
    assert.deepEqual([...fs.readFileSync(join(workingDirectory, "b.bin"))], [0, 255]);
    await it.close();
    assert.equal(it.isRunning, false);
    assert.notEqual(new LocalShellBackend(options).id, it.id);
  }));

test("a wrong option is a TypeError that names it", () => {
  const good = { rootDir: "/tmp", execute: () => ({ output: "", exitCode: 0 }) };
  for (const [wrong, named] of [
    [{ execute: "sh" }, /execute/],
    [{ rootDir: "" }, /rootDir/],
    [{ timeout: -1 }, /timeout/],
    [{ timeout: "1" }, /timeout/],
    [{ maxOutputBytes: -1 }, /maxOutputBytes/],
    [{ env: { A: 1 } }, /env\.A/],
    [{ inheritEnv: "yes" }, /inheritEnv/],
    [{ initialFiles: { "/a": 7 } }, /initialFiles/],
    [{ cwd: "/" }, /cwd/],
  ]) {
    assert.throws(
      () => new LocalShellBackend({ ...good, ...wrong }),
      (error) => error instanceof TypeError && named.test(error.message),
      String(named),
    );
  }
});

// kitbag/just-bash: a script of thirty commands over our files, read back through the protocol.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend } from "kitbag";
import { bashExecute, withBash } from "kitbag/just-bash";
import { checkTask, idOf, LARGE, SHELL_STEP, STEPS } from "./task.mjs";

export const SCRIPT = [
  ["mkdir -p /w/src /w/docs", ""],
  ["echo 'alpha beta' > /w/src/a.txt", ""],
  ["echo gamma >> /w/src/a.txt", ""],
  ["cat /w/src/a.txt", "alpha beta\ngamma\n"],
  ["printf 'x=1\\ny=2\\n' > /w/src/b.ini", ""],
  ["sed -i 's/x=1/x=10/' /w/src/b.ini", ""],
  ["cat /w/src/b.ini", "x=10\ny=2\n"],
  ["grep -r beta /w", "/w/src/a.txt:alpha beta\n"],
  ["grep -rl 'y=' /w | sort", "/w/src/b.ini\n"],
  ["find /w -type f | sort", "/w/src/a.txt\n/w/src/b.ini\n"],
  ["find /w -name '*.ini'", "/w/src/b.ini\n"],
  ["cp /w/src/a.txt /w/docs/copy.txt", ""],
  ["mv /w/docs/copy.txt /w/docs/moved.txt", ""],
  ["ls /w/docs", "moved.txt\n"],
  ["wc -l < /w/docs/moved.txt | tr -d ' '", "2\n"],
  ["cat /w/src/*.txt | sort -r | head -n 1", "gamma\n"],
  ["for i in 1 2 3; do echo line $i >> /w/docs/loop.log; done", ""],
  ["tail -n 1 /w/docs/loop.log", "line 3\n"],
  ["awk '{ s += $2 } END { print s }' /w/docs/loop.log", "6\n"],
  ["cut -d= -f2 /w/src/b.ini | paste -sd+ -", "10+2\n"],
  ["echo '{\"a\": 1}' > /w/docs/d.json", ""],
  ["test -f /w/docs/d.json && echo yes", "yes\n"],
  ["test -d /w/none || echo no", "no\n"],
  ["cat /w/docs/none 2> /w/docs/err.txt; echo $?", "1\n"],
  ["grep -c 'No such file' /w/docs/err.txt", "1\n"],
  ["head -c 5 /w/src/a.txt", "alpha"],
  ["mkdir /w/empty && rmdir /w/empty && ls /w", "docs\nsrc\n"],
  ["rm /w/docs/err.txt", ""],
  ["rm -r /w/docs/loop.log", ""],
  ["echo 'ünï 日本' | tee /w/src/u.txt", "ünï 日本\n"],
];

export async function checkScript(backend) {
  const execute = bashExecute(backend);
  assert.equal(SCRIPT.length, 30);
  for (const [command, output] of SCRIPT) {
    const ran = await execute(command);
    assert.equal(ran.output, output, command);
  }
  const { files } = await backend.glob("**", "/");
  const paths = files
    .map((file) => file.path)
    .filter((path) => path.startsWith("/w/"))
    .sort();
  assert.deepEqual(paths, [
    "/w/docs/d.json",
    "/w/docs/moved.txt",
    "/w/src/a.txt",
    "/w/src/b.ini",
    "/w/src/u.txt",
  ]);
  for (const [path, content] of [
    ["/w/src/b.ini", "x=10\ny=2\n"],
    ["/w/src/u.txt", "ünï 日本\n"],
    ["/w/docs/moved.txt", "alpha beta\ngamma\n"],
  ]) {
    assert.equal((await backend.readRaw(path)).data.content, content);
  }
}

test("thirty commands over StateBackend", () => checkScript(new StateBackend()));

test("the task with execute, in one tree that tools and shell share", async () => {
  const backend = new StateBackend();
  const files = createFileTools(withBash(backend));
  assert.ok(files.tools.some((tool) => tool.name === "execute"));
  const said = [];
  const steps = [...STEPS, SHELL_STEP];
  for (const [at, [name, input]] of steps.entries()) {
    const callId = idOf(at);
    const run = async () => (await files.call(name, input, { callId })).text;
    said.push(
      name === "large_report"
        ? await files.offload(LARGE, { callId, toolName: name })
        : await run(),
    );
  }
  await checkTask(said, backend, steps);
});

test("a shell's change makes the next edit ask for a fresh read; large output is moved", async () => {
  const files = createFileTools(withBash(new StateBackend({ files: { "/a": "one\n" } })));
  const call = async (name, input) => files.call(name, input, { callId: "big" });
  await call("read_file", { file_path: "/a" });
  await call("execute", { command: "echo two >> /a" });
  const stale = await call("edit_file", { file_path: "/a", old_string: "one", new_string: "1" });
  assert.match(stale.text, /has changed since it was read/);
  const large = await call("execute", { command: "seq 1 20000" });
  assert.match(large.text, /\/large_tool_results\/big\n/);
  const failed = await call("execute", { command: "exit 3" });
  assert.equal(failed.isError, true);
  assert.match(failed.text, /\[exit code 3\]/);
  const long = await call("execute", { command: "true", timeout: 5_000 });
  assert.match(long.text, /over the limit of 3600/);
});

// kitbag/just-bash beside the task: thirty commands over memory, and what a shell's changes and
// large output mean to the tools.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend } from "kitbag";
import { bashExecute, withBash } from "kitbag/just-bash";
import { scriptFaults } from "../bash-script.mjs";

test("thirty commands over StateBackend", async () => {
  const backend = new StateBackend();
  assert.deepEqual(await scriptFaults(backend, bashExecute(backend)), []);
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

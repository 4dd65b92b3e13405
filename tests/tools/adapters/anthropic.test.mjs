// kitbag/anthropic: the memory tool and the text editor tool that Claude knows by itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend } from "kitbag";
import { memoryTool } from "kitbag/anthropic";
import { claudesOwn } from "../drivers/anthropic-own.mjs";

test("every command of the memory tool and the text editor, and none that leaves the directory", async () => {
  const backend = new StateBackend();
  assert.deepEqual((await claudesOwn(() => backend)).faults, []);
});

test("what is no input at all is answered too", async () => {
  for (const input of [null, undefined, 7, "view", []]) {
    const { text, isError } = await memoryTool(new StateBackend()).run(input);
    assert.equal(isError, true);
    assert.match(text, /"command" must be one of/);
  }
});

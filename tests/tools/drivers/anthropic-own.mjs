// kitbag/anthropic: the memory and text editor tools that Claude knows by itself, over a backend.

import { memoryTool, textEditorTool } from "kitbag/anthropic";
import { CLAUDE_LEFT, CLAUDE_TASK } from "../cases/claude.mjs";
import { Script } from "../cases/script.mjs";
import { differences, filesOf } from "../cases/tree.mjs";
import { converse, resultOf } from "./anthropic.mjs";

/** Does Claude's task over an empty backend. */
export async function claudesOwn(open) {
  const backend = open();
  await backend.write("/other", "x");
  const handlers = [memoryTool(backend), textEditorTool(backend)];
  const script = new Script(CLAUDE_TASK);
  const answer = await converse(script, {
    tools: handlers.map(({ definition }) => definition),
    run: async ({ content: [{ id, name, input }] }) => {
      const handler = handlers.find(({ definition }) => definition.name === name);
      return [resultOf(id, await handler.run(input))];
    },
  });
  script.finished(answer);
  return { faults: [...script.faults, ...differences(await filesOf(open()), CLAUDE_LEFT)] };
}

// Names with characters that show nothing or look like a space: Claude's own tools show them by their codes,
// and take them so; errors about archives and the library's own files have them by their codes too.

import assert from "node:assert/strict";
import { test } from "node:test";
import { adaptBackendProtocol, StateBackend, visibleName, withPolicy } from "kitbag";
import { agentToolset, memoryTool, textEditorTool } from "kitbag/anthropic";

const NAMES = {
  "/memories/a\u200bb.md": "/memories/a\\u{200b}b.md",
  "/memories/shot 9.41\u202fAM.md": "/memories/shot 9.41\\u{202f}AM.md",
  "/memories/日本\u3000語.md": "/memories/日本\\u{3000}語.md",
  "/memories/100\u00a0km": "/memories/100\\u{a0}km",
  "/memories/x\u202ey": "/memories/x\\u{202e}y",
  "/memories/plan\ufe0f.md": "/memories/plan\\u{fe0f}.md",
  "/memories/\u3164.md": "/memories/\\u{3164}.md",
  "/memories/v\u{e0100}": "/memories/v\\u{e0100}",
  "/memories/❤\ufe0f.md": "/memories/❤\ufe0f.md",
  "/memories/👩\u200d💻.md": "/memories/👩\u200d💻.md",
  "/memories/می\u200cخواهم": "/memories/می\u200cخواهم",
};

async function files() {
  const inner = new StateBackend({ files: {} });
  const lenient = withPolicy(inner, { hiddenCharacters: "allow" });
  for (const name of Object.keys(NAMES)) await lenient.write(name, "one\n");
  return inner;
}

const builtIn = (tool) => ({
  list: async () => (await tool.run({ command: "view", path: "/memories" })).text,
  read: async (path) => (await tool.run({ command: "view", path })).text,
  edit: async (path) =>
    (await tool.run({ command: "str_replace", path, old_str: "one", new_str: "two" })).isError,
});

const SEATS = {
  memory: (backend) => builtIn(memoryTool(backend)),
  "memory elsewhere": (backend) => builtIn(memoryTool(backend, { directory: "/memories" })),
  "text editor": (backend) => builtIn(textEditorTool(backend)),
  toolset: (backend) => {
    const tools = new Map(agentToolset(backend).map((tool) => [tool.name, tool]));
    const run = (name, input) => tools.get(name).run(input);
    return {
      list: async () =>
        `${await run("glob", { pattern: "**" })}\n${await run("grep", { pattern: "one" })}`,
      read: (file_path) => run("read", { file_path }),
      edit: async (file_path) =>
        !/edited/.test(await run("edit", { file_path, old_string: "one", new_string: "two" })),
    };
  },
};

for (const [seat, make] of Object.entries(SEATS)) {
  test(`${seat}: names are shown by their codes, and taken so`, async () => {
    const backend = await files();
    const { list, read, edit } = make(backend);
    const listed = String(await list());
    for (const [name, shown] of Object.entries(NAMES)) {
      assert.ok(listed.includes(shown), `${shown}: ${listed}`);
      assert.ok(name === shown || !listed.includes(name), name);
      assert.match(String(await read(shown)), /one/);
      assert.equal(await edit(shown), false, shown);
      assert.equal(backend.read(name).content, "two\n");
    }
  });

  test(`${seat}: a code of another character is no name`, async () => {
    const backend = await files();
    const { read } = make(backend);
    for (const path of ["/memories\\u{2f}a", "/memories/\\u{61}", "/memories/.kit\\u{200b}bag/x"]) {
      const said = await Promise.resolve(read(path)).catch((error) => `Error: ${error.message}`);
      assert.match(String(said), /error|not|invalid/i, path);
    }
  });
}

test("an error about the library's own files has no such character", async () => {
  const strange = { read: async () => ({ content: "" }), write: async () => ({}) };
  for (const backend of [new StateBackend(), adaptBackendProtocol(strange)]) {
    for (const one of ["\u200b", "\ufe0f", "\u3164", "\u{e0100}", "\u00ad", "\u202e"]) {
      const { error } = await backend.read(`/.kit${one}bag/x`);
      assert.ok(!error.includes(one), error);
      assert.ok(error.includes(visibleName(`/.kit${one}bag/x`)), error);
    }
  }
});

// deepagents 1.14.1 tells sandboxes by `id` and `execute`, and runs commands through them.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { documentedStorage, kitbag, nodeShell, root, run, withFolder } from "./lib.mjs";

const deps = join(root, "tests/deps/latest");
const require = createRequire(join(deps, "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { isSandboxBackend, createFilesystemMiddleware } = await load("deepagents");

function backends(rootDir) {
  const MapStorage = documentedStorage();
  const custom = new kitbag.CustomBackend(new MapStorage());
  const local = new kitbag.LocalShellBackend({ rootDir, execute: nodeShell() });
  const sandbox = new kitbag.SandboxBackend({ id: "box", execute: run("/bin/sh"), rootDir });
  return { custom, local, sandbox, disk: new kitbag.FilesystemBackend({ rootDir }) };
}

test("what runs commands is recognised as a sandbox, what does not is not", () =>
  withFolder(async (rootDir) => {
    const { custom, local, sandbox, disk } = backends(rootDir);
    const over = (backend) => new kitbag.CompositeBackend(backend, { "/memories/": custom });
    for (const yes of [local, sandbox, over(local), over(sandbox)]) {
      assert.equal(isSandboxBackend(yes), true);
      assert.ok("execute" in yes && "id" in yes);
    }
    for (const no of [custom, disk, over(disk), over(custom), new kitbag.StateBackend()]) {
      assert.equal(isSandboxBackend(no), false);
      assert.ok(!("execute" in no) && !("id" in no));
    }
  }));

test("the execute tool of deepagents works through them", () =>
  withFolder(async (rootDir) => {
    const { custom, local, sandbox } = backends(rootDir);
    for (const backend of [
      local,
      sandbox,
      new kitbag.CompositeBackend(local, { "/memories/": custom }),
    ]) {
      const { tools } = createFilesystemMiddleware({ backend });
      const execute = tools.find((tool) => tool.name === "execute");
      const said = await execute.invoke(
        { command: "echo $((6 * 7)); exit 3" },
        { configurable: {} },
      );
      const text = typeof said === "string" ? said : said.content;
      assert.match(text, /42/);
      assert.match(text, /failed with exit code 3/);
    }
  }));

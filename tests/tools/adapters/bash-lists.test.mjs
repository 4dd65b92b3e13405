// A directory that a command lists and may not, or cannot, look into: the command goes on with the others, and no
// rejection is left that nobody handles, since it would end the process.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FilesystemBackend, StateBackend, withPolicy } from "kitbag";
import { bashExecute, bashFileSystem } from "kitbag/just-bash";

const FILES = ["/ask/b.txt", "/open/a/b.txt", "/open/c/d/e.txt", "/web/x.txt", "/zoo/y/z.txt"];
const both = ["read", "write"];
const roots = [];
after(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

const BACKENDS = {
  "a memory": async () =>
    new StateBackend({ files: Object.fromEntries(FILES.map((path) => [path, "text\n"])) }),
  "a folder": async () => {
    const root = mkdtempSync(join(tmpdir(), "kitbag-lists-"));
    roots.push(root);
    const backend = new FilesystemBackend({ rootDir: root });
    for (const path of FILES) await backend.write(path, "text\n");
    return backend;
  },
};

const failing = (code) => (inner) =>
  new Proxy(inner, {
    get(target, name) {
      if (name !== "ls") return target[name]?.bind?.(target) ?? target[name];
      return async (path, ...rest) =>
        path === "/ask" ? { error: `no answer: ${code}`, code } : target.ls(path, ...rest);
    },
  });

/** What makes of `/ask` a directory that is listed above and cannot be looked into. */
const RULES = {
  "a question that nobody allows": (inner) =>
    withPolicy(inner, {
      permissions: [{ operations: both, paths: ["/ask/**"], mode: "ask" }],
      onAsk: () => false,
    }),
  "a hook that refuses": (inner) =>
    withPolicy(inner, {
      hooks: {
        before: ({ operation, path }) =>
          operation === "ls" && path === "/ask" ? { deny: "no" } : undefined,
      },
    }),
  "a failure": failing("unavailable"),
  "a time limit": failing("timeout"),
  "a rate": failing("rate_limited"),
};

const COMMANDS = {
  "find / -type f": /\/open\/a\/b\.txt.*\/open\/c\/d\/e\.txt.*\/web\/x\.txt.*\/zoo\/y\/z\.txt/s,
  "find / -type f -exec cat {} ';'": /(text\n){4}/,
  "find / -name '*.txt' | wc -l": /[45]/,
  "find / ; find /zoo": /\/zoo\/y\/z\.txt.*\/zoo\/y\/z\.txt/s,
};

for (const [over, make] of Object.entries(BACKENDS)) {
  for (const [rule, around] of Object.entries(RULES)) {
    test(`${over}, ${rule}: find goes on`, async () => {
      const lost = [];
      const note = (error) => lost.push(error);
      process.on("unhandledRejection", note);
      try {
        for (const [command, expected] of Object.entries(COMMANDS)) {
          const { output } = await bashExecute(around(await make()))(command);
          assert.match(output, expected, command);
          // What is left of a command goes on for a while.
          for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
        }
        assert.deepEqual(lost, []);
      } finally {
        process.off("unhandledRejection", note);
      }
    });
  }
}

test("a failure of the backend is told, and is the exit code", async () => {
  const files = failing("unavailable")(await BACKENDS["a memory"]());
  const { output, exitCode } = await bashExecute(files)("find / -type f");
  assert.match(output, /zoo.*bash: EIO: no answer: unavailable/s);
  assert.equal(exitCode, 1);
});

test("the file system of a shell of one's own still says that a directory is not there", async () => {
  const fs = bashFileSystem(await BACKENDS["a memory"]());
  await assert.rejects(fs.readdir("/none"), /ENOENT/);
  await assert.rejects(fs.stat("/none"), /ENOENT/);
});

// Renames, moves and appends that are cancelled midway, before each of their calls in turn: nothing
// more is begun, so that nothing lands over what others write afterwards, and no text is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryTool, textEditorTool } from "kitbag/anthropic";
import { bashExecute } from "kitbag/just-bash";
import { BACKENDS, contentsOf } from "./meddling.mjs";

const CHANGES = new Set(["write", "edit", "delete", "uploadFiles"]);
const FILES = {
  "/memories/a.md": "text of a\n",
  "/memories/b.md": "text of b\n",
  "/memories/d/one.md": "text of one\n",
  "/memories/d/deep/two.md": "text of two\n",
};

const shell = (command) => (backend, signal) => bashExecute(backend)(command, { signal });
const memory = (input) => (backend, signal) => memoryTool(backend).run(input, { signal });
const editor = (input) => (backend, signal) => textEditorTool(backend).run(input, { signal });

const WORK = {
  "mv of a file": shell("mv /memories/a.md /memories/z.md"),
  "mv of a file over another": shell("mv /memories/a.md /memories/b.md"),
  "mv of a directory": shell("mv /memories/d /memories/e"),
  "mv of several files": shell("mv /memories/a.md /memories/b.md /memories/d"),
  "cp -r of a directory": shell("cp -r /memories/d /memories/e"),
  "an append": shell("echo more >> /memories/a.md"),
  "an append that makes the file": shell("echo more >> /memories/new.md"),
  "a loop that writes": shell("for n in 1 2 3; do echo $n > /memories/$n.md; done"),
  "a rename of a file": memory({
    command: "rename",
    old_path: "/memories/a.md",
    new_path: "/memories/z.md",
  }),
  "a rename of a directory": memory({
    command: "rename",
    old_path: "/memories/d",
    new_path: "/memories/e",
  }),
  "an insert": memory({
    command: "insert",
    path: "/memories/a.md",
    insert_line: 0,
    insert_text: "more",
  }),
  "a replacement": editor({
    command: "str_replace",
    path: "/memories/a.md",
    old_str: "text",
    new_str: "words",
  }),
  "a deletion": memory({ command: "delete", path: "/memories/a.md" }),
  "a creation": memory({ command: "create", path: "/memories/c.md", file_text: "text of c\n" }),
};

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Aborts before call number `at`; counts the changes that begin afterwards. */
function aborting(backend, at) {
  const abort = new AbortController();
  const seen = { calls: 0, after: [] };
  const watched = new Proxy(backend, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return async (...given) => {
        seen.calls += 1;
        if (seen.calls > at && CHANGES.has(key)) seen.after.push([key, ...given]);
        if (seen.calls === at) abort.abort();
        return value.apply(target, given);
      };
    },
  });
  return { watched, signal: abort.signal, seen };
}

for (const [kind, open] of BACKENDS) {
  for (const [what, work] of Object.entries(WORK)) {
    test(`${what}, cancelled before each of its calls, over ${kind}`, async () => {
      for (let at = 1; ; at++) {
        const { inner, backend } = open(FILES);
        const { watched, signal, seen } = aborting(backend, at);
        await work(watched, signal);
        await turns();
        if (seen.calls < at) {
          assert.ok(at > 1, "it made calls");
          break;
        }
        const found = contentsOf(inner);
        const texts = Object.values(found);
        const destroys = /deletion|over another/.test(what);
        for (const text of Object.values(FILES)) {
          const words = what === "a replacement" ? text.replace("text", "words") : text;
          const kept = texts.some((one) => one.includes(text) || one.includes(words));
          assert.ok(kept || destroys, `${what}, call ${at}: lost ${JSON.stringify(text)}`);
        }
        assert.ok(!texts.some((text) => text.includes("is being moved")), JSON.stringify(found));
        // A backend that can only replace text moves in two steps; the second one is finished or
        // taken back, and nothing else is begun.
        const most = kind === "kitbag's own backend" ? 0 : 2;
        assert.ok(seen.after.length <= most, `call ${at}: ${JSON.stringify(seen.after)}`);
      }
    });
  }
}

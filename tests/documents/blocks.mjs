// What is done with each block of the documents: which of its names are exported, and how they are
// used. `load` runs the block, beside `kitbag` as it imports that; an agent takes its calls from the first message (`documented.ts`).

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { provideGraphContext } from "../../pkg/dist/graph.js";
import { answersOf } from "../lib/model.mjs";
import { inFolder } from "./features/lib.mjs";

const write = (path, content = "hello\n") => ["write_file", { file_path: path, content }];
const read = (path) => ["read_file", { file_path: path }];

/** A user asks for some calls; returns what the tools answered, and the files in the state. */
async function asked(agent, calls, { context, ...configurable } = {}) {
  const state = await agent.invoke(
    { messages: [{ role: "user", content: JSON.stringify(calls) }] },
    { context, configurable: { thread_id: "one", ...configurable } },
  );
  return { answers: answersOf(state), files: Object.keys(state.files ?? {}) };
}

/** Runs a block, and what is done with it, in a folder of its own. */
const inside = (work) => (load) =>
  inFolder(async (folder) => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      await work(await load(), folder);
    } finally {
      process.chdir(before);
    }
  });

/** Agents of deepagents that keep files in the state. */
async function inState(agent) {
  const { answers, files } = await asked(agent, [[write("/a.txt")], [read("/a.txt")]]);
  assert.match(answers[1], /hello/);
  assert.deepEqual(files, ["/a.txt"]);
}

/** An agent keeps a file in a store; returns nothing, and looks there. */
async function inStore(agent, store, namespace, config) {
  const { answers } = await asked(agent, [[write("/a.txt")], [read("/a.txt")]], config);
  assert.match(answers[1], /hello/);
  assert.deepEqual(
    (await store.search(namespace)).map(({ key }) => key),
    ["/a.txt"],
  );
}

const ann = { langgraph_auth_user: { identity: "ann" } };

/** A store as LangGraph has one, in memory. */
function memoryStore() {
  const items = new Map();
  const at = (namespace, key) => JSON.stringify([namespace, key]);
  return {
    get: async (namespace, key) => items.get(at(namespace, key)) ?? null,
    put: async (namespace, key, value) =>
      void items.set(at(namespace, key), { namespace, key, value }),
    delete: async (namespace, key) => void items.delete(at(namespace, key)),
    search: async (prefix) =>
      [...items.values()].filter(({ namespace }) =>
        prefix.every((part, i) => namespace[i] === part),
      ),
    namespaces: () => [...items.values()].map(({ namespace }) => namespace),
  };
}

/** A backend in a graph whose run has all that a namespace can be made of. */
async function namespaceOf(backend) {
  const store = memoryStore();
  provideGraphContext(() => ({
    store,
    runtime: {
      context: { userId: "context-ann" },
      serverInfo: { assistantId: "assistant", user: { identity: "ann" } },
      executionInfo: { threadId: "thread-1" },
    },
  }));
  try {
    assert.equal((await backend.write("/a.txt", "hello\n")).error, undefined);
  } finally {
    provideGraphContext(() => undefined);
  }
  return store.namespaces();
}

/** The state of one thread, and memories that another thread reads. */
async function memories(agent, config) {
  const first = await asked(agent, [[write("/draft.md"), write("/memories/a.md")]], config);
  assert.deepEqual(first.files, ["/draft.md"]);
  const calls = [[["ls", { path: "/" }], read("/memories/a.md"), ["glob", { pattern: "**/*.md" }]]];
  const { answers } = await asked(agent, calls, { ...config, thread_id: "two" });
  assert.ok(answers[0].includes("/memories/") && !answers[0].includes("draft"), answers[0]);
  assert.match(answers[1], /hello/);
  assert.match(answers[2], /\/memories\/a\.md/);
}

/** A route to a folder that is not on this machine; the rest is in the state. */
async function routed(agent) {
  const calls = [
    [write("/workspace/plan.md"), read("/memories/agent.md")],
    [["ls", { path: "/" }]],
  ];
  const { answers, files } = await asked(agent, calls);
  assert.deepEqual(files, ["/workspace/plan.md"]);
  assert.match(answers[1], /not found/);
  assert.match(answers[2], /\/memories\//);
  assert.match(answers[2], /\/workspace\//);
}

/** Refuses changes at or below `/policies`, and nothing else. */
async function refusesPolicies(backend) {
  const refused = await backend.write("/policies/new.txt", "x");
  assert.deepEqual(refused, { error: "Writes are not allowed under /policies/new.txt" });
  const edited = await backend.edit("/policies/a.txt", "kept", "lost");
  assert.deepEqual(edited, { error: "Edits are not allowed under /policies/a.txt" });
  assert.equal((await backend.read("/policies/a.txt")).content, "kept\n");
  assert.equal((await backend.write("/other.txt", "x")).path, "/other.txt");
  assert.equal((await backend.edit("/other.txt", "x", "y")).occurrences, 1);
}

/** What names of a block stand for while `work` runs. */
async function withNames(names, work) {
  Object.assign(globalThis, names);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(names)) delete globalThis[name];
  }
}

/** A StoreBackend that a block makes without a name for it. */
async function madeStore(load, kitbag) {
  const made = [];
  class Noted extends kitbag.StoreBackend {
    constructor(...args) {
      super(...args);
      made.push(this);
    }
  }
  await withNames({ StoreBackend: Noted }, load);
  return made[0];
}

/** Text of the console while `work` runs. */
async function printed(work) {
  const lines = [];
  const { log, error } = console;
  console.log = (line) => lines.push(line);
  console.error = (line) => lines.push(`error: ${line}`);
  try {
    await work();
  } finally {
    Object.assign(console, { log, error });
  }
  return lines;
}

const METHODS = ["ls", "read", "readRaw", "grep", "glob", "write", "edit"];

export const uses = {
  "001 state": {
    makes: ["agent", "agent2"],
    async use(load) {
      const { agent, agent2 } = await load();
      await inState(agent);
      await inState(agent2);
    },
  },
  "001 filesystem": {
    makes: ["agent"],
    use: inside(async ({ agent }, folder) => {
      await asked(agent, [[write("/a.txt")]]);
      assert.equal(readFileSync(join(folder, "a.txt"), "utf8"), "hello\n");
    }),
  },
  "001 local shell": {
    makes: ["agent", "backend"],
    use: inside(async ({ agent, backend }, folder) => {
      writeFileSync(join(folder, "there.txt"), "there\n");
      const { answers } = await asked(agent, [[["execute", { command: "cat there.txt" }]]]);
      assert.match(answers[0], /there/);
      assert.equal((await backend.execute("pwd")).exitCode, 0);
    }),
  },
  "001 store": {
    makes: ["agent", "store"],
    async use(load, { withToolsOfKitbag }) {
      const { agent, store } = await load();
      const config = { context: { userId: "ann" } };
      await inStore(withToolsOfKitbag(agent), store, ["ann"], config);
      // LangGraph before 1.7 tells a tool of deepagents nothing of the context (docs/migrate.md).
      const { answers } = await asked(agent, [[read("/a.txt")]], config);
      assert.match(answers[0], /hello|namespace\(\) threw: .*userId/);
    },
  },
  "001 namespace of a user": {
    makes: ["backend"],
    use: async (load) => assert.deepEqual(await namespaceOf((await load()).backend), [["ann"]]),
  },
  "001 namespace of an assistant": {
    makes: ["backend"],
    use: async (load) =>
      assert.deepEqual(await namespaceOf((await load()).backend), [["assistant"]]),
  },
  "001 namespace of a thread": {
    makes: ["backend"],
    use: async (load) =>
      assert.deepEqual(await namespaceOf((await load()).backend), [["thread-1"]]),
  },
  "001 composite": {
    makes: ["agent", "store"],
    use: async (load) => memories((await load()).agent),
  },
  "001 route": { makes: ["agent"], use: async (load) => routed((await load()).agent) },
  "001 outline of S3": {
    makes: ["S3Backend"],
    async use(load, kitbag) {
      const { S3Backend } = await load();
      // A method that the document leaves out throws: what uses it gets an error result.
      const outline = new S3Backend("bucket", "/prefix/");
      for (const name of METHODS) assert.equal(typeof outline[name], "function");
      const router = new kitbag.CompositeBackend(outline, { "/m/": new kitbag.StateBackend() });
      assert.match((await router.write("/a.txt", "x")).error, /left out/);
      assert.equal((await router.write("/m/a.txt", "x")).path, "/m/a.txt");
    },
  },
  "001 subclass": {
    makes: ["GuardedBackend"],
    use: inside(async ({ GuardedBackend }, folder) => {
      mkdirSync(join(folder, "policies"));
      writeFileSync(join(folder, "policies/a.txt"), "kept\n");
      const guarded = new GuardedBackend({ denyPrefixes: ["/policies"], rootDir: folder });
      await refusesPolicies(guarded);
      assert.equal(existsSync(join(folder, "policies/new.txt")), false);
      assert.equal(readFileSync(join(folder, "other.txt"), "utf8"), "y");
    }),
  },
  "001 wrapper": {
    makes: ["PolicyWrapper"],
    async use(load, kitbag) {
      const { PolicyWrapper } = await load();
      const inner = () => new kitbag.StateBackend({ files: { "/policies/a.txt": "kept\n" } });
      for (const Wrapper of [PolicyWrapper, kitbag.PolicyWrapper]) {
        const wrapped = new Wrapper(inner(), ["/policies"]);
        await refusesPolicies(
          Wrapper === PolicyWrapper ? wrapped : { ...bound(wrapped), ...bare(wrapped) },
        );
        // The list may be left out: then nothing is refused.
        const open = new Wrapper(inner());
        assert.equal((await open.write("/policies/new.txt", "x")).path, "/policies/new.txt");
        assert.equal((await open.edit("/policies/a.txt", "kept", "lost")).occurrences, 1);
      }
    },
  },
  "001 read a binary file": {
    async use(load, kitbag) {
      const path = "/workspace/screenshot.png";
      const files = { [path]: Uint8Array.of(137, 80, 78, 71) };
      const backend = new kitbag.StateBackend({ files });
      assert.deepEqual(await printed(() => withNames({ backend }, load)), [
        "Binary file: image/png",
      ]);
    },
  },
  "001 FileData": {
    also: `
import type { FileData as Ours } from "kitbag";
export const theirs = (file: Ours): FileData => file;
export const ours = (file: FileData): Ours => file;
`,
    async use(load, kitbag) {
      const { theirs, ours } = await load();
      const at = "2026-01-01T00:00:00.000Z";
      const file = { content: ["one", "two"], created_at: at, modified_at: at };
      const backend = new kitbag.StateBackend({ files: { "/a": theirs(ours(file)) } });
      assert.equal(backend.read("/a").content, "one\ntwo");
    },
  },
  "001 factory, before": {
    makes: ["agent"],
    use: async (load) => memories((await load()).agent, ann),
  },
  "001 factory, after": {
    makes: ["agent"],
    use: async (load) => memories((await load()).agent, ann),
  },
  "001 BackendContext, before": {
    use: async (load, kitbag) =>
      assert.deepEqual(await namespaceOf(await madeStore(load, kitbag)), [["context-ann"]]),
  },
  "001 BackendContext, after": {
    use: async (load, kitbag) =>
      assert.deepEqual(await namespaceOf(await madeStore(load, kitbag)), [["ann"]]),
  },
  "001 adapt": {
    makes: ["v2Backend", "v2Sandbox"],
    async use(load, kitbag) {
      const first = () =>
        kitbag.toV1(new kitbag.StateBackend({ files: { "/a.py": "import os\n" } }));
      const v1Backend = first();
      const v1Sandbox = Object.assign(first(), {
        id: "machine",
        execute: (command) => ({ output: command, exitCode: 0, truncated: false }),
      });
      const { v2Backend, v2Sandbox } = await withNames({ v1Backend, v1Sandbox }, load);
      assert.equal((await v2Backend.read("/a.py")).content, "import os\n");
      assert.equal((await v2Backend.ls("/")).files.length, 1);
      assert.equal("execute" in v2Backend, false);
      assert.equal(v2Sandbox.id, "machine");
      assert.equal((await v2Sandbox.execute("ls")).output, "ls");
    },
  },
  "003 route": {
    makes: ["agent"],
    // `strict` wants a type for every parameter, and no declaration of a package can give this one.
    error: "TS7006: Parameter 'rt' implicitly has an 'any' type.",
    use: async (load) => routed((await load()).agent),
  },
};

/** The methods of a backend, by name. */
const bound = (backend) =>
  Object.fromEntries(METHODS.map((name) => [name, (...args) => backend[name](...args)]));

/** Changes whose refusals are the texts alone, without the code that is kitbag's. */
const bare = (backend) =>
  Object.fromEntries(
    ["write", "edit"].map((name) => [
      name,
      async (...args) => {
        const { code, ...rest } = await backend[name](...args);
        assert.ok(rest.error === undefined || code === "permission_denied", code);
        return rest;
      },
    ]),
  );

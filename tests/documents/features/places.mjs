// State, folders, commands, stores and the Hub: S, F, L, B and H.

import assert from "node:assert/strict";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  agentOf,
  asked,
  deepagents,
  differs,
  example,
  hub,
  inFolder,
  kitbag,
  page,
  shownBy,
  warnings,
} from "./lib.mjs";

const { ContextHubBackend, FilesystemBackend, LocalShellBackend, StateBackend, StoreBackend } =
  kitbag;
const { InMemoryStore, MemorySaver } = deepagents;

const write = (path, content = "x") => ["write_file", { file_path: path, content }];
const threads = (thread_id) => ({ configurable: { thread_id } });

/** Commands of a shell that only says what it is asked. */
function noted(options) {
  const asked = [];
  const execute = (request) => {
    asked.push(request);
    return { output: "", exitCode: 0 };
  };
  return { backend: new LocalShellBackend({ execute, ...options }), asked };
}

export default {
  S1: [
    "`new StateBackend()` is the state of the running graph",
    async () => {
      const { state } = await asked(agentOf(new StateBackend(), [[write("/a.txt")]]));
      assert.deepEqual(Object.keys(state.files), ["/a.txt"]);
    },
  ],
  S2: [
    "its files are not those of another thread",
    async () => {
      const turns = (text) => (text === "write" ? [[write("/a.txt")]] : [[["ls", { path: "/" }]]]);
      const agent = agentOf(new StateBackend(), turns, { checkpointer: new MemorySaver() });
      await asked(agent, threads("one"), "write");
      const { answers, state } = await asked(agent, threads("two"), "look");
      assert.doesNotMatch(answers[0], /a\.txt/);
      assert.deepEqual(state.files ?? {}, {});
    },
  ],
  S3: [
    "its files are in the checkpoints, and there at the next message",
    async () => {
      const turns = () => [
        [write("/a.txt", "kept\n")],
        undefined,
        [["read_file", { file_path: "/a.txt" }]],
      ];
      const agent = agentOf(new StateBackend(), turns, { checkpointer: new MemorySaver() });
      await asked(agent, threads("one"));
      const { values } = await (agent.graph ?? agent).getState(threads("one"));
      assert.equal(values.files["/a.txt"].content, "kept\n");
      const { answers } = await asked(agent, threads("one"));
      assert.match(answers.at(-1), /kept/);
    },
  ],
  S4: [
    "a subagent writes to the same state",
    shownBy("tests/agents/threads.test.mjs", "a subagent's, ${place}"),
  ],
  S5: [
    "`new StateBackend(runtime)` reads the runtime's state",
    () => {
      const backend = new StateBackend({ state: { files: { "/a": "text" } } });
      assert.equal(backend.read("/a").content, "text");
    },
  ],
  S6: [
    "and returns its changes as `filesUpdate`",
    () => {
      const backend = new StateBackend({ state: { files: { "/a": "text" } } });
      assert.equal(backend.write("/b", "new").filesUpdate["/b"].content, "new");
      assert.equal(backend.edit("/a", "text", "t").filesUpdate["/a"].content, "t");
    },
  ],
  S7: [
    '`fileFormat: "v1"` keeps lines as an array',
    () => {
      const backend = new StateBackend({ fileFormat: "v1" });
      backend.write("/a", "one\ntwo");
      assert.deepEqual(backend.readRaw("/a").data.content, ["one", "two"]);
    },
  ],
  S8: [
    "the constructor with a runtime warns",
    shownBy(
      "tests/state/deprecated.test.mjs",
      "new StateBackend(runtime) works and says once what to do instead",
    ),
  ],

  F1: [
    "an absolute `rootDir`",
    () =>
      inFolder(async (rootDir) => {
        await new FilesystemBackend({ rootDir }).write("/a.txt", "x");
        assert.equal(readFileSync(join(rootDir, "a.txt"), "utf8"), "x");
      }),
  ],
  F2: ['`rootDir: "."`', example("001 FilesystemBackend")],
  F3: [
    "no `rootDir`: the current directory",
    shownBy(
      "tests/host/defaults.test.mjs",
      "${Type.name} with ${name} works in the current directory",
    ),
  ],
  F4: [
    "`virtualMode: true` takes paths as below the root",
    () =>
      inFolder(async (rootDir) => {
        const backend = new FilesystemBackend({ rootDir, virtualMode: true });
        assert.equal((await backend.write("/etc/a.txt", "x")).path, "/etc/a.txt");
        assert.equal(readFileSync(join(rootDir, "etc/a.txt"), "utf8"), "x");
      }),
  ],
  F5: [
    "`virtualMode` is off by default",
    differs(
      "it is on by default, because a folder should contain what is done in it",
      page("real-files", "What contains an agent"),
      () =>
        inFolder(async (rootDir) => {
          const backend = new FilesystemBackend({ rootDir });
          assert.equal((await backend.read("/etc/hostname")).code, "not_found");
        }),
    ),
  ],
  F6: [
    "with `virtualMode: false` a relative path is one below `rootDir`",
    shownBy(
      "tests/host/defaults.test.mjs",
      "without virtualMode a relative path is one below rootDir, in every operation",
    ),
  ],
  F7: [
    "`..` is refused",
    () =>
      inFolder(async (rootDir) => {
        const backend = new FilesystemBackend({ rootDir });
        for (const path of ["/../a", "/b/../../a", "../a"]) {
          assert.equal((await backend.write(path, "x")).code, "invalid_path", path);
        }
      }),
  ],
  F8: [
    "`~` is refused",
    () =>
      inFolder(async (rootDir) => {
        const backend = new FilesystemBackend({ rootDir });
        for (const path of ["~/a", "/~/a"]) {
          assert.equal((await backend.read(path)).code, "invalid_path", path);
        }
      }),
  ],
  F9: [
    "a symbolic link that leads outside is refused",
    () =>
      inFolder((outside) =>
        inFolder(async (rootDir) => {
          writeFileSync(join(outside, "secret.txt"), "secret");
          symlinkSync(outside, join(rootDir, "link"));
          const backend = new FilesystemBackend({ rootDir });
          const { error, content } = await backend.read("/link/secret.txt");
          assert.equal(content, undefined);
          assert.ok(error);
          assert.deepEqual((await backend.grep("secret")).matches, []);
        }),
      ),
  ],
  F10: [
    "searches can use ripgrep",
    shownBy("tests/host/conformance.test.mjs", "FilesystemBackend with ripgrep"),
  ],
  F11: ["what is risky about real files", page("real-files", "What can go wrong")],
  F12: [
    "advice to mount a folder in a composite",
    page("real-files", "Keep the agent's own files apart"),
  ],

  L1: [
    "`execute` runs a command",
    () =>
      inFolder(async (rootDir) => {
        const answer = await new LocalShellBackend({ rootDir }).execute("echo hello; exit 2");
        assert.deepEqual([answer.output.trim(), answer.exitCode], ["hello", 2]);
      }),
  ],
  L2: [
    "in `rootDir`",
    () =>
      inFolder(async (rootDir) => {
        const backend = new LocalShellBackend({ rootDir });
        await backend.execute("echo x > made.txt");
        assert.equal((await backend.read("/made.txt")).content, "x\n");
      }),
  ],
  L3: [
    "for 120 seconds at most, by default",
    () =>
      inFolder(async (rootDir) => {
        const { backend, asked } = noted({ rootDir });
        await backend.execute("x");
        assert.equal(asked[0].timeoutMs, 120_000);
      }),
  ],
  L4: [
    "with 100,000 bytes of output at most, by default",
    () =>
      inFolder(async (rootDir) => {
        const { backend, asked } = noted({ rootDir });
        await backend.execute("x");
        assert.equal(asked[0].maxOutputBytes, 100_000);
        const real = await new LocalShellBackend({ rootDir }).execute("head -c 150000 /dev/zero");
        assert.equal(real.truncated, true);
      }),
  ],
  L5: [
    "`env` is the environment of commands",
    () =>
      inFolder(async (rootDir) => {
        const env = { PATH: "/usr/bin:/bin", NAME: "ann" };
        const { output } = await new LocalShellBackend({ rootDir, env }).execute("echo $NAME");
        assert.equal(output.trim(), "ann");
      }),
  ],
  L6: [
    "`inheritEnv` adds that of the process",
    () =>
      inFolder(async (rootDir) => {
        process.env.KITBAG_FEATURE_L6 = "inherited";
        const run = async (options) => {
          const backend = new LocalShellBackend({ rootDir, ...options });
          return (await backend.execute("echo [$KITBAG_FEATURE_L6]")).output.trim();
        };
        assert.equal(await run({}), "[]");
        assert.equal(await run({ inheritEnv: true }), "[inherited]");
        delete process.env.KITBAG_FEATURE_L6;
      }),
  ],
  L7: ['`workingDirectory: "."`', example("001 LocalShellBackend")],
  L8: [
    "without a callback the host's shell is used",
    shownBy("tests/host/defaults.test.mjs", "without a callback, commands run by the host's shell"),
  ],
  L9: [
    "it extends FilesystemBackend",
    () =>
      inFolder((rootDir) =>
        assert.ok(new LocalShellBackend({ rootDir }) instanceof FilesystemBackend),
      ),
  ],
  L10: ["what is risky about commands", page("real-files", "Commands")],
  L11: [
    "`new LocalShellBackend()` without arguments",
    async () => {
      const { output } = await new LocalShellBackend().execute("pwd");
      assert.equal(output.trim(), process.cwd());
    },
  ],

  B1: [
    "files are in a BaseStore",
    async () => {
      const store = new InMemoryStore();
      await new StoreBackend({ store, namespace: ["n"] }).write("/a.txt", "x");
      assert.equal((await store.get(["n"], "/a.txt")).value.content, "x");
    },
  ],
  B2: [
    "in the store of the running graph, with nothing imported but kitbag",
    async () => {
      const store = new InMemoryStore();
      await asked(agentOf(new StoreBackend({ namespace: ["n"] }), [[write("/a.txt")]], { store }));
      assert.equal((await store.get(["n"], "/a.txt")).value.content, "x");
    },
  ],
  B3: [
    "a namespace function gets `context`, in nodes and in kitbag's tools",
    shownBy(
      "tests/agents/graphs.test.mjs",
      "a namespace function gets the context and what LangGraph knows of server and task",
    ),
  ],
  B4: ["it gets `serverInfo`", example("001 namespace patterns")],
  B5: ["it gets `executionInfo`", example("001 namespace patterns")],
  B6: [
    "parts of a namespace have a fixed set of characters, without wildcards",
    async () => {
      const kept = [];
      const store = {
        get: () => null,
        put: (namespace) => kept.push(namespace),
        delete() {},
        search: () => [],
      };
      await new StoreBackend({ store, namespace: ["aZ9-_.@+:~"] }).write("/a", "x");
      assert.deepEqual(kept, [["aZ9-_.@+:~"]]);
      for (const part of ["*", "a?", "", "a b", "a/b"]) {
        assert.throws(() => new StoreBackend({ store, namespace: [part] }), /namespace\[0\]/);
        const byFunction = new StoreBackend({ store, namespace: () => [part] });
        assert.equal((await byFunction.write("/a", "x")).code, "invalid_argument");
      }
    },
  ],
  B7: [
    "without a namespace the assistant's files are shared, with a warning",
    () => {
      const { said, warned } = warnings(`
        await new StoreBackend({ store, assistantId: "asst", state: {} }).write("/a", "x");
        await new StoreBackend({ store }).write("/a", "x");`);
      assert.equal(said, "asst/filesystem filesystem");
      assert.equal(warned.filter((text) => /share the same files/.test(text)).length, 1);
    },
  ],
  B8: ['`fileFormat: "v1"` for older readers', example("001 FileData: older readers")],
  B9: [
    "`new StoreBackend(stateAndStore, options)`",
    async () => {
      const store = new InMemoryStore();
      await new StoreBackend({ state: {}, store }, { namespace: ["n"] }).write("/a.txt", "x");
      assert.equal((await store.get(["n"], "/a.txt")).value.content, "x");
    },
  ],
  B10: [
    "the older constructor warns",
    shownBy(
      "tests/state/deprecated.test.mjs",
      "new StoreBackend(runtime) works and says once what to do instead",
    ),
  ],
  B11: [
    "`.runtime` of a namespace function's argument works, with a warning",
    async () => {
      const { said, warned } = warnings(`
        const given = { state: {}, store, context: { userId: "ann" } };
        const namespace = (ctx) => [ctx.runtime.context.userId];
        await new StoreBackend(given, { namespace }).write("/a", "x");`);
      assert.equal(said, "ann");
      assert.equal(warned.filter((text) => /namespace function/.test(text)).length, 1);
    },
  ],
  B12: [
    "so does `.state`",
    () => {
      const { said, warned } = warnings(`
        const namespace = (ctx) => [ctx.state.org];
        await new StoreBackend({ state: { org: "acme" }, store }, { namespace }).write("/a", "x");`);
      assert.equal(said, "acme");
      assert.equal(warned.filter((text) => /namespace function/.test(text)).length, 1);
    },
  ],

  H1: [
    '`new ContextHubBackend("my-agent")` and `"owner/name"`',
    async () => {
      const repo = { commit: "c0000000", files: { "a.md": { type: "file", content: "text" } } };
      const { client } = hub({ "-/my-agent": repo, "my-agent": repo, "acme/my-agent": repo });
      for (const name of ["my-agent", "acme/my-agent"]) {
        const backend = new ContextHubBackend(name, { client });
        assert.equal((await backend.read("/a.md")).content, "text", name);
      }
    },
  ],
  H2: [
    "the key comes from `LANGSMITH_API_KEY`",
    shownBy(
      "tests/host/defaults.test.mjs",
      "ContextHubBackend takes the key of the environment, and says so when there is none",
    ),
  ],
  H3: [
    "a repository is pulled at the first use, then reads are answered from memory",
    async () => {
      const { client, seen } = hub({
        "me/r": { commit: "c0000000", files: { "a.md": { type: "file", content: "text" } } },
      });
      const backend = new ContextHubBackend("me/r", { client });
      assert.equal(seen.pulls, 0);
      for (let at = 0; at < 3; at++) await backend.read("/a.md");
      await backend.ls("/");
      assert.equal(seen.pulls, 1);
    },
  ],
  H4: [
    "writes and edits are commits, and seen at once",
    async () => {
      const { client, seen } = hub({ "me/r": { commit: "c0000000", files: {} } });
      const backend = new ContextHubBackend("me/r", { client });
      await backend.write("/a.md", "one");
      await backend.edit("/a.md", "one", "two");
      assert.equal(seen.pushes.length, 2);
      assert.equal((await backend.read("/a.md")).content, "two");
      assert.equal(seen.pulls, 1);
    },
  ],
  H5: [
    "each commit names the newest known one as its parent",
    async () => {
      const { client, seen, repos } = hub({ "me/r": { commit: "c0000000", files: {} } });
      const backend = new ContextHubBackend("me/r", { client });
      await backend.write("/a.md", "one");
      const second = repos["me/r"].commit;
      await backend.write("/b.md", "two");
      assert.deepEqual(
        seen.pushes.map(({ parentCommit }) => parentCommit),
        ["c0000000", second],
      );
    },
  ],
  H6: [
    "a repository that does not exist is empty; the first write creates it",
    async () => {
      const { client, repos } = hub();
      const backend = new ContextHubBackend("me/new", { client });
      assert.deepEqual((await backend.ls("/")).files, []);
      assert.equal((await backend.write("/a.md", "one")).error, undefined);
      assert.deepEqual(Object.keys(repos["me/new"].files), ["a.md"]);
    },
  ],
  H7: [
    "a stale parent is found",
    differs(
      "kitbag pulls again and repeats the change by itself; only after several attempts is it a `conflict`",
      page("migrate", "From deepagents' backends"),
      async () => {
        const { client, seen, repos } = hub({ "me/r": { commit: "c0000000", files: {} } });
        const backend = new ContextHubBackend("me/r", { client });
        await backend.ls("/");
        repos["me/r"] = { commit: "other000", files: { "o.md": { type: "file", content: "o" } } };
        assert.equal((await backend.write("/a.md", "one")).error, undefined);
        assert.equal(seen.stale, 1);
        assert.deepEqual(Object.keys(repos["me/r"].files).sort(), ["a.md", "o.md"]);
      },
    ),
  ],
  H8: [
    "bytes that are not UTF-8 are `invalid_path`, each file by itself",
    async () => {
      const { client } = hub({ "me/r": { commit: "c0000000", files: {} } });
      const backend = new ContextHubBackend("me/r", { client });
      const answers = await backend.uploadFiles([
        ["/bad.txt", new Uint8Array([0xff, 0xfe])],
        ["/good.txt", new TextEncoder().encode("text")],
      ]);
      assert.deepEqual(
        answers.map(({ error }) => error),
        ["invalid_path", null],
      );
    },
  ],
};

// Composites, how a backend is given, storages of one's own, and rules: C, P, V and Q.

import assert from "node:assert/strict";
import {
  agentOf,
  asked,
  differs,
  example,
  kitbag,
  page,
  shellOver,
  shownBy,
  toolsOver,
} from "./lib.mjs";

const { CompositeBackend, PolicyWrapper, StateBackend, createFileTools, toV1, withPolicy } = kitbag;

const files = (entries) => new StateBackend({ files: entries });
const paths = (list) => list.map(({ path }) => path).sort();

const tree = () =>
  new CompositeBackend(files({ "/plan.md": "plan word\n" }), {
    "/memories/": files({ "/agent.md": "memory word\n" }),
    "/memories/projects/": files({ "/p.md": "project word\n" }),
  });

export default {
  C1: [
    "`new CompositeBackend(default, routes)`",
    async () => assert.equal((await tree().read("/plan.md")).content, "plan word\n"),
  ],
  C2: [
    "results keep the prefixes of their mounts",
    async () => {
      const { files } = await tree().ls("/memories");
      assert.deepEqual(paths(files), ["/memories/agent.md", "/memories/projects/"]);
      assert.equal((await tree().write("/memories/new.md", "x")).path, "/memories/new.md");
    },
  ],
  C3: [
    "the longer prefix wins",
    async () => {
      const backend = tree();
      assert.equal((await backend.read("/memories/projects/p.md")).content, "project word\n");
      assert.equal((await backend.read("/memories/agent.md")).content, "memory word\n");
    },
  ],
  C4: [
    "`ls`, `glob` and `grep` put the results of all together",
    async () => {
      const all = ["/memories/agent.md", "/memories/projects/p.md", "/plan.md"];
      assert.deepEqual(paths((await tree().glob("**/*.md")).files), all);
      assert.deepEqual(paths((await tree().grep("word")).matches), all);
      assert.deepEqual(paths((await tree().ls("/")).files), ["/memories/", "/plan.md"]);
    },
  ],
  C5: [
    "what agents keep for themselves goes to the default",
    async () => {
      const main = files({});
      const mount = files({});
      const backend = new CompositeBackend(main, { "/memories/": mount });
      const { set } = toolsOver({}, { toolTokenLimitBeforeEvict: 10 }, backend);
      await set.offload("x".repeat(99), { callId: "c" });
      assert.deepEqual(paths(main.glob("**").files), ["/large_tool_results/c"]);
      assert.deepEqual(mount.glob("**").files, []);
    },
  ],
  C6: [
    "`execute` is that of the default",
    async () => {
      const shell = shellOver((command) => ({ output: command, exitCode: 0, truncated: false }));
      const backend = new CompositeBackend(shell, { "/m/": files({}) });
      assert.equal((await backend.execute("ls")).output, "ls");
      assert.equal(new CompositeBackend(files({}), { "/m/": shell }).execute, undefined);
    },
  ],

  P1: ["a backend is given as an instance", example("001 StateBackend")],
  P2: ["or as a factory", example("000 specify: an instance, or a factory")],
  P3: [
    "a factory where an instance serves warns",
    shownBy(
      "tests/state/deprecated.test.mjs",
      "a factory of deprecated parts warns for each of them once, however often it is called",
    ),
  ],
  P4: [
    "a backend of the first version is adapted by itself",
    async () => {
      const first = () => toV1(files({ "/a.txt": "text\n" }));
      const { call } = createFileTools(first());
      assert.match((await call("read_file", { file_path: "/a.txt" })).text, /\ttext$/);
      const routed = new CompositeBackend(files({}), { "/m/": first() });
      assert.equal((await routed.read("/m/a.txt")).content, "text\n");
      assert.equal((await withPolicy(first(), {}).read("/a.txt")).content, "text\n");
    },
  ],
  P5: ["`adaptBackendProtocol`", example("001 adapt the first version")],
  P6: ["`adaptSandboxProtocol`", example("001 adapt the first version")],
  P7: [
    "the names of the types",
    shownBy(
      "tests/types/types.test.mjs",
      "kitbag's types stand in for those of deepagents (${version})",
    ),
  ],

  V1: ["a class of one's own over a bucket", example("001 virtual filesystem: S3")],
  V2: [
    "object storage is built in",
    shownBy(
      "tests/s3/node.test.mjs",
      "${name}: pages of a large text move the parts that they need",
    ),
  ],
  V3: [
    "a table of path, content and two times",
    differs(
      "kitbag's table has more columns: tenants, versions, types and bytes",
      page("migrate", "From deepagents' backends"),
    ),
  ],
  V4: [
    "`ls`, `glob` and `grep` become conditions of the database",
    shownBy("tests/durable/sql.mjs", "EXPLAIN shows an index range"),
  ],
  V5: [
    "`grep` skips rows that are not text",
    shownBy("ts/conformance/grepping.ts", "grep passes over binary files"),
  ],
  V6: [
    "a row keeps its type",
    shownBy("ts/conformance/batches.ts", "known types are told apart by their extension"),
  ],

  Q1: [
    "`permissions` for reading and writing, before the backend is called",
    async () => {
      let called = 0;
      const inner = files({ "/policies/a.md": "rule\n" });
      inner.write = () => {
        called += 1;
        return { path: "/x" };
      };
      const permissions = [{ operations: ["write"], paths: ["/policies/**"], mode: "deny" }];
      const backend = withPolicy(inner, { permissions });
      assert.equal((await backend.write("/policies/b.md", "x")).code, "permission_denied");
      assert.equal(called, 0);
      assert.equal((await backend.read("/policies/a.md")).content, "rule\n");
      const { set } = toolsOver({ "/policies/a.md": "rule\n" }, { permissions });
      const { text } = await set.call("write_file", { file_path: "/policies/b", content: "x" });
      assert.match(text, /permission denied for write/);
    },
  ],
  Q2: [
    "the first rule that fits decides",
    async () => {
      const backend = withPolicy(files({ "/a/open.txt": "1", "/a/closed.txt": "2" }), {
        permissions: [
          { operations: ["read"], paths: ["/a/open.txt"], mode: "allow" },
          { operations: ["read"], paths: ["/a/**"], mode: "deny" },
        ],
      });
      assert.equal((await backend.read("/a/open.txt")).content, "1");
      assert.equal((await backend.read("/a/closed.txt")).code, "permission_denied");
    },
  ],
  Q3: [
    "permissions of deepagents, also of its subagents, hold over kitbag's backends",
    async () => {
      const write = ["write_file", { file_path: "/no/a.txt", content: "x" }];
      const turns = (text) =>
        text.startsWith("sub")
          ? [[write]]
          : [[["task", { description: "sub", subagent_type: "general-purpose" }]], [write]];
      const permissions = [{ operations: ["write"], paths: ["/no/**"], mode: "deny" }];
      const agent = agentOf(new StateBackend(), turns, { permissions });
      const { state, answers } = await asked(agent);
      assert.deepEqual(state.files ?? {}, {});
      assert.match(answers.at(-1), /denied/);
    },
  ],
  Q4: ["a subclass that refuses changes, also in TypeScript", example("001 policy: subclass")],
  Q5: ["a wrapper around any backend", example("001 policy: wrapper")],
  Q6: [
    "`new PolicyWrapper(inner, prefixes)` is exported",
    async () => {
      const backend = new PolicyWrapper(files({}), ["/policies", "/other/"]);
      assert.equal((await backend.write("/policies/a", "x")).code, "permission_denied");
      assert.equal((await backend.write("/other/a", "x")).code, "permission_denied");
      assert.equal((await backend.write("/policiesx", "x")).error, undefined);
    },
  ],
  Q7: [
    "what a refused change says",
    async () => {
      const backend = new PolicyWrapper(files({ "/p/a": "x" }), ["/p"]);
      assert.equal((await backend.write("/p/b", "x")).error, "Writes are not allowed under /p/b");
      const edit = await backend.edit("/p/a", "x", "y");
      assert.equal(edit.error, "Edits are not allowed under /p/a");
      const deleted = await backend.delete("/p/a");
      assert.equal(deleted.error, "Deletes are not allowed under /p/a");
      const [upload] = await backend.uploadFiles([["/p/c", new Uint8Array(1)]]);
      assert.equal(upload.message, "Uploads are not allowed under /p/c");
    },
  ],
  Q8: [
    "rate limits, an audit log, and a look at contents",
    async () => {
      const audit = kitbag.ringAudit(10);
      const backend = withPolicy(files({}), {
        rateLimit: { write: { operations: 1, perMs: 60_000 } },
        inspect: ({ content }) => !new TextDecoder().decode(content).includes("secret"),
        audit,
      });
      const answers = [await backend.write("/a", "secret"), await backend.write("/b", "fine")];
      assert.equal(answers[0].code, "permission_denied");
      assert.equal(answers[1].code, "rate_limited");
      assert.equal(audit.records.length, 2);
    },
  ],
};

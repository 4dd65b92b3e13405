// One task, led by one script: deepagents' createDeepAgent with our backend, and createAgent with
// our middleware, over memory and SQL in one tree under a policy. What they say differs; the
// files they leave must not.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { createDeepAgent } from "deepagents";
import { CompositeBackend, SqlBackend, StateBackend, withPolicy } from "kitbag";
import { kitbagMiddleware } from "kitbag/langchain";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { answersOf } from "../lib/model.mjs";
import { ScriptedModel } from "./model.mjs";

const durable = createRequire(new URL("../deps/durable/package.json", import.meta.url));
const { Database } = durable("node-sqlite3-wasm");

const LINES = Array.from({ length: 250 }, (_, at) => `line ${at + 1}`).join("\n");
const LARGE = Array.from({ length: 4_000 }, (_, at) => `row ${at} ${"x".repeat(30)}`).join("\n");

/** Memory, with `/notes/` in a table of SQLite, all of it under a policy. */
function tree() {
  const database = new Database(":memory:");
  const notes = new SqlBackend({
    dialect: "sqlite",
    query: (sql, params) => database.all(sql, params),
    migrate: true,
  });
  // Files of its own: they are looked at outside of the graphs that change them.
  const own = new StateBackend({ files: {} });
  const backend = withPolicy(new CompositeBackend(own, { "/notes/": notes }), {
    readOnlyPrefixes: ["/protected"],
    quota: { maxBytes: 10_000_000 },
  });
  return { backend, database };
}

const edit = (old_string, new_string) => [
  "edit_file",
  { file_path: "/notes/b.md", old_string, new_string },
];

/** Calls, and what each answer must match: from our tools, and from deepagents' own. */
const steps = (saved) => [
  ["write_file", { file_path: "/notes/a.txt", content: LINES }, /^Wrote /, /^Successfully wrote/],
  [
    "write_file",
    { file_path: "/notes/b.md", content: "x = 1\ny = 2\nx = 1\n" },
    /^Wrote /,
    /^Successfully wrote/,
  ],
  ["write_file", { file_path: "/draft.md", content: "ünï\n" }, /^Wrote /, /^Successfully wrote/],
  ["ls", { path: "/" }, /\/draft\.md[\s\S]*\/notes\//, /\/draft\.md[\s\S]*\/notes\//],
  [
    "read_file",
    { file_path: "/notes/a.txt", offset: 200, limit: 50 },
    /^ {3}201\tline 201\n[\s\S]* {3}250\tline 250$/,
    /line 201\n[\s\S]*line 250$/,
  ],
  ["read_file", { file_path: "/notes/b.md" }, / {5}2\ty = 2/, /\ny = 2\n/],
  [...edit("x = 1", "x = 3"), /occurs 2 times \(lines 1, 3\)/, /2 times|multiple/],
  [...edit("y = 2\nx = 1", "y = 2\nx = 3"), /replaced 1 occurrence/, /replaced 1 /],
  [...edit("y  = 2;", ""), /nearest lines/, /not found/],
  [
    "grep",
    { pattern: "x = ", output_mode: "content" },
    /\/notes\/b\.md:\n1: x = 1\n3: x = 3/,
    /\/notes\/b\.md:[\s\S]*1: x = 1\n[\s\S]*3: x = 3/,
  ],
  ["large_report", {}, /too large to show/, /too large/],
  [
    "read_file",
    { file_path: saved, offset: 2_000, limit: 3 },
    /2001\trow 2000 x+\n[\s\S]*2003\trow 2002/,
    /row 2000 x+\n[\s\S]*row 2002/,
  ],
  ["glob", { pattern: "**/*.md", path: "/" }, /\/notes\/b\.md/, /\/notes\/b\.md/],
  [
    "write_file",
    { file_path: "/protected/x", content: "no" },
    /Writes are not allowed under \/protected\/x/,
    /Writes are not allowed under \/protected\/x/,
  ],
  ["delete", { file_path: "/notes/a.txt" }, /^Deleted /, /\/notes\/a\.txt/],
  ["write_file", { file_path: "/notes/end.txt", content: "done" }, /^Wrote /, /^Successfully/],
];

const report = tool(() => LARGE, {
  name: "large_report",
  description: "A report",
  schema: z.object({}),
});

/** All files of a tree, by path; the one that a large result was saved to under its plain name. */
async function files(backend) {
  const { files: found } = await backend.glob("**", "/");
  const paths = found.map(({ path }) => path).sort();
  const contents = await backend.downloadFiles(paths);
  return new Map(
    contents.map(({ path, content, error }) => {
      assert.equal(error, null, path);
      return [path.replace(/(\/large_tool_results\/.*)\.txt$/, "$1"), content];
    }),
  );
}

async function play(make, which, saved) {
  const { backend, database } = tree();
  const script = steps(saved);
  const model = new ScriptedModel(() => script.map(([name, input]) => [[name, input]]));
  const agent = make(backend, { model, tools: [report] });
  const go = { messages: [{ role: "user", content: "go" }] };
  const said = answersOf(await agent.invoke(go, { recursionLimit: 200 }));
  assert.equal(said.length, script.length);
  for (const [at, step] of script.entries()) {
    assert.match(said[at], step[2 + which], `step ${at}: ${step[0]}`);
  }
  const rows = database.all("SELECT path FROM files ORDER BY path").map(({ path }) => path);
  assert.deepEqual(rows, ["/b.md", "/end.txt"]);
  return files(backend);
}

test("sixteen steps by createAgent and by createDeepAgent leave the same files", async () => {
  const ours = await play(
    (backend, options) => createAgent({ middleware: [kitbagMiddleware(backend)], ...options }),
    0,
    "/large_tool_results/call_10_0",
  );
  const theirs = await play(
    (backend, options) => createDeepAgent({ backend, ...options }),
    1,
    "/large_tool_results/call_10_0.txt",
  );
  const paths = ["/draft.md", "/large_tool_results/call_10_0", "/notes/b.md", "/notes/end.txt"];
  assert.deepEqual([...ours.keys()], paths);
  assert.deepEqual([...theirs.keys()], paths);
  for (const path of paths) assert.deepEqual(theirs.get(path), ours.get(path), path);
  const text = new TextDecoder().decode(ours.get("/notes/b.md"));
  assert.equal(text, "x = 1\ny = 2\nx = 3\n");
  assert.equal(new TextDecoder().decode(ours.get("/large_tool_results/call_10_0")), LARGE);
});

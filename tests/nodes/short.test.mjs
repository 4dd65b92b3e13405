// What may differ between versions of Node: how the package is found, files, processes, `node:sqlite`,
// the web's own objects. The suite `nodes` runs it on each version.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { Tally } from "../durable/lib.mjs";
import { ofNode } from "../durable/sql.mjs";
import { packedProject } from "../lib/packed.mjs";

let project;
before(async () => {
  project = await packedProject({ set: "latest" });
});
after(() => project?.remove());

/** Runs a program in the project; what it prints on stderr is a failure, warnings too. */
function said(args) {
  const done = spawnSync(process.execPath, args, { cwd: project.root, encoding: "utf8" });
  equal(done.stderr, "");
  equal(done.status, 0);
  return done.stdout.trim();
}

const PROGRAM = `const files = new StateBackend({ files: { "/a.txt": "one\\ntwo\\n" } });
const index = withIndex(new StateBackend({ files: { "/b": "two" } }), { keepIn: { path: "/.index/" } });
Promise.resolve(index.grep("two")).then(({ matches }) =>
  console.log(files.edit("/a.txt", "two", "2").occurrences, files.grep("\\\\p{L}", "/", null, null, { regex: true }).matches.length, matches.length));`;

test("this is the version that is meant", () => {
  equal(process.versions.node, process.env.KITBAG_NODE_VERSION);
});

test("by import", () => {
  const head = 'import { StateBackend } from "kitbag"; import { withIndex } from "kitbag/indexed";';
  equal(said(["--input-type=module", "-e", head + PROGRAM]), "1 1 1");
});

test("by require", () => {
  const head =
    'const { StateBackend } = require("kitbag"); const { withIndex } = require("kitbag/indexed");';
  equal(said(["--input-type=commonjs", "-e", head + PROGRAM]), "1 1 1");
});

test("every entry without other packages loads, without a warning", () => {
  const names = ["slim", "regex", "guided", "history", "ignore", "provenance", "sync", "node"];
  const more = [
    "anthropic",
    "openai",
    "transfer",
    "unchanged",
    "graph",
    "conformance",
    "langchain",
  ];
  const lines = [...names, ...more].map((name) => `await import("kitbag/${name}");`);
  equal(said(["--input-type=module", "-e", `${lines.join("\n")} console.log("all");`]), "all");
});

const load = (file) => import(pathToFileURL(at("pkg/dist", file)).href);

test("FilesystemBackend passes the conformance suite", async () => {
  const { FilesystemBackend, begin, undo } = await load("node.js");
  const { runConformance } = await load("conformance.js");
  let next = 0;
  const make = ({ writeMode }) => {
    const rootDir = join(project.root, `folder-${next++}`);
    mkdirSync(rootDir);
    return new FilesystemBackend({ rootDir, writeMode });
  };
  const report = await runConformance(make, { turns: { begin, undo } });
  deepEqual(report.failures, []);
  ok(report.passed > 60, `only ${report.passed} cases ran`);
});

test("LocalShellBackend runs a command in its folder, and ends one that takes too long", async () => {
  const { LocalShellBackend } = await load("node.js");
  const shell = new LocalShellBackend({ rootDir: project.root, timeout: 1 });
  const { output, exitCode } = await shell.execute("ls package.json && exit 3");
  deepEqual([output.trim(), exitCode], ["package.json", 3]);
  const late = await shell.execute("sleep 30");
  equal(late.exitCode, 124, late.output);
});

test("SqlBackend on node:sqlite passes it too, and loses no edit", async () => {
  const tally = new Tally();
  await ofNode(tally);
  deepEqual(tally.failures, []);
  ok(tally.passed > 60, `only ${tally.passed} cases ran`);
});

test("the command copies a folder into a file of SQLite and finds it there", () => {
  const home = join(project.root, "notes");
  mkdirSync(join(home, "deep"), { recursive: true });
  writeFileSync(join(home, "deep/a.txt"), "needle\n");
  const program = join(project.home, "dist/kitbag.js");
  match(said([program, "cp", "notes", "sqlite:notes.db"]), /1 file/);
  match(said([program, "grep", "needle", "sqlite:notes.db"]), /deep\/a\.txt/);
  equal(said([program, "cat", "sqlite:notes.db#/deep/a.txt"]), "needle");
});

test("an agent of deepagents works on the files of its thread", () => {
  const done = said([
    "--input-type=module",
    "-e",
    `import { AIMessage } from "@langchain/core/messages";
     import { fakeModel } from "@langchain/core/testing";
     import { createDeepAgent } from "deepagents";
     import { StateBackend } from "kitbag";
     const args = { file_path: "/plan.md", content: "# Plan" };
     const model = fakeModel()
       .respondWithTools([{ name: "write_file", args, id: "1" }])
       .respond(new AIMessage("done"));
     const agent = createDeepAgent({ model, backend: new StateBackend() });
     const { files } = await agent.invoke({ messages: [{ role: "user", content: "Plan." }] });
     console.log(Object.keys(files).join());`,
  ]);
  equal(done, "/plan.md");
});

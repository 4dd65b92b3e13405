// What the program exports, in Node and in workerd: the spans and their parents, and the metrics.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { workerModules } from "../lib/bundle.mjs";
import { startWorker } from "../lib/workerd.mjs";
import { workersBuiltins } from "../tools/hosts/builtins.mjs";

const root = process.env.KITBAG_TEST_PROJECT;
const WORKER = `
  import { program } from "./program.mjs";
  export default {
    fetch: async () => {
      try { return Response.json(await program()); }
      catch (error) { return new Response(error.stack, { status: 500 }); }
    },
  };`;

async function inNode() {
  const { program } = await import(pathToFileURL(join(root, "program.mjs")).href);
  return program();
}

async function inWorkerd() {
  const modules = await workerModules(WORKER, root, { plugins: [workersBuiltins] });
  const worker = await startWorker(modules, { compatibilityFlags: ["nodejs_compat"] });
  try {
    const { status, text } = await worker.fetch();
    assert.equal(status, 200, text);
    return JSON.parse(text);
  } finally {
    await worker.stop();
  }
}

for (const [host, run] of [
  ["Node", inNode],
  ["workerd", inWorkerd],
]) {
  describe(`in ${host}`, () => {
    let told;
    const named = (parent, name) =>
      told.spans.filter((span) => span.parent === parent && span.name === name);
    before(async () => {
      told = await run();
    });

    test("each operation is a span of its own below the span that was active", () => {
      const names = told.spans.filter(({ parent }) => parent === "agent").map(({ name }) => name);
      assert.deepEqual(names.sort(), [
        "kitbag grep",
        "kitbag read",
        "kitbag uploadFiles",
        "kitbag write",
        "kitbag write",
        "kitbag write",
      ]);
    });

    test("a span has backend, operation, path, bytes and outcome", () => {
      const [first] = named("agent", "kitbag write");
      assert.deepEqual(first.attributes, {
        "kitbag.backend": "slow",
        "kitbag.operation": "write",
        "kitbag.code": "ok",
        "file.path": "/a.txt",
        "kitbag.bytes": 4,
      });
      assert.equal(first.status, 0);
      assert.ok(first.ms >= 0 && first.ms < 60_000 && first.age >= 0 && first.age < 60_000);
    });

    test("a failed and a refused operation is an error with its code", () => {
      const [missing] = named("agent", "kitbag read");
      assert.deepEqual([missing.attributes["error.type"], missing.status], ["not_found", 2]);
      const refused = named("agent", "kitbag write").slice(1);
      const about = ["kitbag.code", "file.path", "kitbag.rule"];
      assert.deepEqual(
        refused.map(({ attributes }) => about.map((name) => attributes[name])),
        [
          ["permission_denied", "/config/x", "readOnlyPrefixes"],
          ["invalid_path", undefined, undefined],
        ],
      );
    });

    test("a batch names 32 paths at most and counts all", () => {
      const [{ attributes }] = named("agent", "kitbag uploadFiles");
      assert.equal(attributes["kitbag.files"], 40);
      assert.equal(attributes["kitbag.paths"].length, 32);
      assert.equal(attributes["kitbag.bytes"], 40);
    });

    test("the parent is kept across asynchronous work of parallel calls", () => {
      for (let at = 0; at < 8; at++) {
        const own = told.spans.filter(({ parent }) => parent === `parallel ${at}`);
        assert.deepEqual(
          own.map(({ name, attributes }) => `${name} ${attributes["file.path"]}`),
          [`kitbag write /p/${at}.txt`, `kitbag read /p/${at}.txt`],
        );
      }
    });

    test("paths are hashed or left out if asked, and no pattern or content is recorded", () => {
      const [hashed] = named("hashed", "kitbag write");
      const digest = createHash("sha256").update("/private/name.txt").digest("hex");
      assert.equal(hashed.attributes["kitbag.path.hash"], digest);
      const [silent] = named("silent", "kitbag write");
      assert.deepEqual(Object.keys(silent.attributes).sort(), [
        "kitbag.bytes",
        "kitbag.code",
        "kitbag.operation",
      ]);
      assert.doesNotMatch(JSON.stringify(told), /private|secret pattern|refused"/);
    });

    test("a tool call is an active span by the conventions, above its operations", () => {
      const [ls] = named("turn", "execute_tool ls");
      assert.deepEqual(ls.attributes, {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "ls",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1",
      });
      assert.equal(named("execute_tool ls", "kitbag ls").length, 1);
      const [failed] = named("turn", "execute_tool read_file");
      assert.deepEqual([failed.attributes["error.type"], failed.status], ["tool_error", 2]);
      assert.equal(named("execute_tool grep", "kitbag grep").length, 1);
    });

    test("a span tells the requests to the store and how many were repeated, of parallel calls too", () => {
      const about = ["file.path", "kitbag.requests", "kitbag.retries"];
      const rows = told.spans
        .filter(({ parent }) => parent === "requests")
        .map(({ attributes }) => about.map((name) => attributes[name]));
      assert.deepEqual(rows.sort(), [
        ["/a.txt", 2, 1],
        ["/b.txt", 4, 2],
        ["/db/a.txt", 1, undefined],
        ["/none.txt", 2, 1],
      ]);
    });

    test("durations and bytes are counted by operation and outcome", () => {
      const metric = (name) => told.metrics.find((one) => one.name === name);
      const counts = (name) =>
        Object.fromEntries(
          metric(name).points.map(({ attributes, count }) => [
            Object.values(attributes).join(" "),
            count,
          ]),
        );
      const operations = counts("kitbag.operation.duration");
      assert.equal(operations["slow write"], 9);
      assert.equal(operations["slow write permission_denied readOnlyPrefixes"], 1);
      assert.equal(metric("kitbag.operation.duration").unit, "s");
      assert.equal(counts("kitbag.operation.io")["slow write"], 4 + 28);
      const tools = metric("gen_ai.execute_tool.duration");
      assert.deepEqual(
        tools.points.map(({ attributes }) => attributes["gen_ai.tool.name"]).sort(),
        ["grep", "ls", "read_file"],
      );
      for (const { points } of told.metrics) {
        for (const { attributes } of points) assert.ok(!("file.path" in attributes));
      }
    });
  });
}

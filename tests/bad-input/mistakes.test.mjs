// Likely mistakes in options: each is refused by a TypeError that says what was given and what is
// meant, instead of being taken for something else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { keptTurns, withHistory } from "../../pkg/dist/history.js";
import { withIndex } from "../../pkg/dist/indexed.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import {
  begin,
  CompositeBackend,
  createFileTools,
  PolicyWrapper,
  StateBackend,
  undo,
  withPolicy,
} from "../lib/kitbag.mjs";

// Both need no package of their makers.
const { fileTools: openaiTools } = await import("../../pkg/dist/openai.js");
const { fileTools: anthropicTools } = await import("../../pkg/dist/anthropic.js");

const state = () => new StateBackend();
const MISTAKES = [
  [
    "files as an array of paths",
    () => new StateBackend({ files: ["/a.txt"] }),
    /"files".*not an array/,
  ],
  [
    "files as an array of objects",
    () => new StateBackend({ files: [{ path: "/a" }] }),
    /not an array/,
  ],
  ["files as a Map", () => new StateBackend({ files: new Map([["/a", "b"]]) }), /not a Map/],
  ["files as a Set", () => new StateBackend({ files: new Set(["/a"]) }), /such as \{ "\/a\.txt"/],
  ["files as a text", () => new StateBackend({ files: "/a.txt" }), /"files".*such as/],
  ["restore of an array", () => state().restore(["/a.txt"]), /restore\(\).*not an array/],
  ["restore of a Map", () => state().restore(new Map()), /restore\(\).*not a Map/],
  ["routes as an array", () => new CompositeBackend(state(), ["/m/"]), /routes must be an object/],
  [
    "routes as a Map",
    () => new CompositeBackend(state(), new Map([["/m/", state()]])),
    /routes must be/,
  ],
  [
    "a tool without its underscore",
    () => createFileTools(state(), { tools: ["readfile"] }),
    /is "read_file" meant/,
  ],
  [
    "a tool in camel case",
    () => createFileTools(state(), { tools: ["writeFile"] }),
    /is "write_file" meant/,
  ],
  [
    "an unknown tool",
    () => createFileTools(state(), { tools: ["fetch"] }),
    /"fetch".*the tools are ls/,
  ],
  ["a tool that is a number", () => createFileTools(state(), { tools: [1] }), /a number/],
  [
    "tools as a text",
    () => createFileTools(state(), { tools: "ls" }),
    /must be "all" or an array of ls, read_file.*not "ls"/,
  ],
  [
    "a description of an unknown tool",
    () => createFileTools(state(), { customToolDescriptions: { Read_File: "x" } }),
    /is "read_file" meant/,
  ],
  [
    "descriptions as a Map",
    () => createFileTools(state(), { customToolDescriptions: new Map() }),
    /"customToolDescriptions" must be an object such as/,
  ],
];

for (const [name, make, message] of MISTAKES) {
  test(`${name} is refused and named`, () => {
    assert.throws(make, (error) => {
      assert.ok(error instanceof TypeError, String(error));
      assert.match(error.message, message);
      return true;
    });
  });
}

test("a refused restore keeps the files", () => {
  const files = new StateBackend({ files: { "/a.txt": "kept" } });
  assert.throws(() => files.restore(["/b.txt"]), TypeError);
  assert.equal(files.read("/a.txt").content, "kept");
});

// `new PolicyWrapper(backend)` has no rule; a policy that is missing by mistake is refused.
for (const [name, make] of [
  ["withPolicy without a policy", () => withPolicy(state())],
  ["withPolicy with undefined", () => withPolicy(state(), undefined)],
  ["withPolicy with null", () => withPolicy(state(), null)],
  ["withPolicy with a text", () => withPolicy(state(), "/policies")],
  ["PolicyWrapper with null", () => new PolicyWrapper(state(), null)],
  ["PolicyWrapper with a text", () => new PolicyWrapper(state(), "/policies")],
  ["PolicyWrapper with a policy", () => new PolicyWrapper(state(), { readOnly: true })],
]) {
  test(`${name} is refused`, () => {
    assert.throws(make, {
      name: "TypeError",
      message: /(a policy must be an object|must be an array of directories), not /,
    });
  });
}

test("PolicyWrapper without a list refuses nothing", async () => {
  const open = new PolicyWrapper(state());
  assert.equal((await open.write("/a.txt", "x")).path, "/a.txt");
  assert.equal((await open.delete("/a.txt")).error, undefined);
});

const CALLS = {
  "diff of a turn": (it, options) => it.turn.diff(options),
  "commit of a turn": (it, options) => it.turn.commit(options),
  "rebase of a turn": (it, options) => it.turn.rebase(options),
  "discard of a turn": (it, options) => it.turn.discard(["/x"], options),
  "accept of a turn": (it, options) => it.turn.accept([], options),
  undo: (it, options) => undo(it.files, { id: "x", by: "", at: "", files: [] }, options),
  "log of a history": (it, options) => it.history.log("/", options),
  "diff of a history": (it, options) => it.history.diff("x", undefined, options),
  "restore of a history": (it, options) => it.history.restore("/a.txt", "x", options),
  "why of a history": (it, options) => it.history.why("/a.txt", options),
  "prune of a history": (it, options) => it.history.prune(options),
  "pin of a history": (it, options) => it.history.pin(options),
  "pins of a history": (it, options) => it.history.pins(options),
  "verify of a history": (it, options) => it.history.verify(undefined, options),
  "trust of labels": (it, options) => it.labelled.trust("/a.txt", options),
  "the labels of a file": (it, options) => it.labelled.labels("/a.txt", options),
  keptTurns: (it, options) => keptTurns({ backend: it.files }, options),
  updateIndex: (it, options) => it.index.updateIndex(options),
  readText: (it, options) => it.index.readText("/a.txt", options),
};

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} refuses a misspelled option, and names the right one`, async () => {
    const files = new StateBackend({ scope: "instance", files: { "/a.txt": "a" } });
    const keepIn = { backend: new StateBackend({ scope: "instance", files: {} }) };
    const it = {
      files,
      turn: begin(files),
      history: withHistory(files, { keepIn }),
      index: withIndex(files, {}),
      labelled: withProvenance(files, { labels: [{ paths: ["/web/**"], as: "u" }], flows: [] }),
    };
    const { error, code } = await call(it, { timeout: 5 });
    assert.equal(code, "invalid_argument");
    assert.match(error, /There is no option "timeout" here; is "timeoutMs" meant\?/);
    const wrong = await call(it, { timeoutMs: "5" });
    assert.match(wrong.error, /options.timeoutMs must be a number/);
    const right = await call(it, { timeoutMs: 60_000 });
    assert.doesNotMatch(right.error ?? "", /option/);
  });
}

test("options of one call only are no options of another", async () => {
  const files = new StateBackend({ scope: "instance", files: {} });
  const turn = begin(files);
  assert.match((await turn.diff({ keep: [] })).error, /no option "keep"/);
  assert.equal((await turn.rebase({ keep: [] })).error, undefined);
  assert.match((await turn.rebase({ keeps: [] })).error, /is "keep" meant/);
});

for (const [name, options, message] of [
  ["a policy", { policy: { readOnlyy: true } }, /^NAME: policy: there is no option "readOnlyy"/],
  ["permissions", { permissions: [{ paths: ["/x"] }] }, /^NAME: permissions\[0\]: /],
  ["the tools", { tools: ["readfile"] }, /^NAME: option "tools" names "readfile"/],
  ["a limit", { maxExecuteTimeout: -1 }, /^NAME: option "maxExecuteTimeout" must be/],
]) {
  test(`errors about ${name} begin with the function that was called`, () => {
    for (const [called, make] of Object.entries({
      createFileTools: () => createFileTools(state(), options),
      fileTools: () => openaiTools(state(), options),
      "fileTools ": () => anthropicTools(state(), options),
    })) {
      const wanted = new RegExp(message.source.replace("NAME", called.trim()));
      assert.throws(make, (error) => error instanceof TypeError && wanted.test(error.message));
    }
  });
}

// Likely mistakes in options: each is refused by a TypeError that says what was given and what is
// meant, instead of being taken for something else.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CompositeBackend,
  createFileTools,
  PolicyWrapper,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

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

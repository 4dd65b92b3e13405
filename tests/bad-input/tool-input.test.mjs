// The input of a tool call, as models and frameworks pass it: an object, JSON text, JSON text in
// JSON text, nothing, and what is none of these.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend } from "../lib/kitbag.mjs";

const tools = () => createFileTools(new StateBackend({ files: { "/a.txt": "needle\n" } }));
const read = (input) => tools().call("read_file", input);

const UNDERSTOOD = {
  "an object": { file_path: "/a.txt" },
  "another name": { path: "/a.txt" },
  "null beside a value": { file_path: null, path: "/a.txt" },
  "undefined beside a value": { file_path: undefined, path: "/a.txt" },
  "JSON text": '{"file_path":"/a.txt"}',
  "JSON text with space around": ' \n{"file_path":"/a.txt"}\t',
  "JSON text in JSON text": JSON.stringify('{"file_path":"/a.txt"}'),
  "a name that stands twice": '{"file_path":"/b.txt","file_path":"/a.txt"}',
  escapes: '{"file_path":"\\u002fa.txt"}',
  "a number as text": { file_path: "/a.txt", limit: "10" },
  "a number that is none": { file_path: "/a.txt", limit: Number.NaN, offset: -1 },
  "a large number": { file_path: "/a.txt", limit: Number.POSITIVE_INFINITY },
  "a big integer": { file_path: "/a.txt", limit: 10n },
  "an object without prototype": Object.assign(Object.create(null), { file_path: "/a.txt" }),
  "names that objects have": JSON.parse(
    '{"__proto__":{"x":1},"constructor":1,"file_path":"/a.txt"}',
  ),
};
for (const [what, input] of Object.entries(UNDERSTOOD)) {
  test(`${what} is understood`, async () => {
    const answer = await read(input);
    assert.equal(answer.isError, false, answer.text);
    assert.match(answer.text, /needle/);
  });
}

const MISSING = [undefined, null, "", "  ", "null", '""', '" "', {}, "{}"];
for (const input of MISSING) {
  test(`${JSON.stringify(input)} has no arguments`, async () => {
    const answer = await read(input);
    assert.equal(answer.isError, true);
    assert.match(answer.text, /'file_path' is missing/);
    assert.match(answer.text, /read_file takes: file_path \(string\), \[offset \(integer\)\]/);
  });
}

const NOT_JSON = [
  "{oops",
  "{",
  "[1",
  "'a'",
  '{"a":}',
  "\u0000",
  '{"a":1}}',
  "NaN",
  "undefined",
  "01",
];
for (const input of NOT_JSON) {
  test(`${JSON.stringify(input)} is answered as no JSON, with what the tool takes`, async () => {
    const answer = await read(input);
    assert.equal(answer.isError, true);
    assert.match(answer.text, /not valid JSON/);
    assert.match(answer.text, /read_file takes: file_path/);
  });
}

for (const input of [7, true, [], "[]", "7", '"x"', [{ file_path: "/a.txt" }], Symbol("x"), 1n]) {
  test(`${String(input)} (${typeof input}) is answered as no object`, async () => {
    const answer = await read(input);
    assert.equal(answer.isError, true);
    assert.match(answer.text, /must be a JSON object|not valid JSON/);
  });
}

test("values of a wrong type are answered with what was expected", async () => {
  for (const [input, says] of [
    [{ file_path: 7 }, /'file_path' must be a string, not a number/],
    [{ file_path: ["/a.txt"] }, /'file_path' must be a string, not an array/],
    [{ file_path: {} }, /'file_path' must be a string, not an object/],
    [{ file_path: true }, /'file_path' must be a string, not a boolean/],
    [{ file_path: "/a.txt", limit: [] }, /'limit' must be a whole number/],
    [{ file_path: "/a.txt", limit: "many" }, /not "many"/],
  ]) {
    const answer = await read(input);
    assert.equal(answer.isError, true);
    assert.match(answer.text, says);
  }
});

test("deep and large inputs are answered", async () => {
  const deep = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`;
  const answer = await read(deep);
  assert.equal(answer.isError, true);
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`n${n}`, n]));
  assert.equal((await read({ ...many, file_path: "/a.txt" })).isError, false);
  const long = "x".repeat(5_000_000);
  const written = await tools().call("write_file", { file_path: "/long.txt", content: long });
  assert.equal(written.isError, false, written.text);
});

test("each schema is the JSON of its parameters", () => {
  for (const { name, inputSchema } of tools().tools) {
    assert.equal(inputSchema.type, "object", name);
    for (const property of Object.values(inputSchema.properties)) {
      assert.match(property.type, /^(string|integer|boolean)$/);
    }
    for (const required of inputSchema.required ?? []) {
      assert.ok(required in inputSchema.properties, `${name}: ${required}`);
    }
  }
});

// The worst input of a megabyte for engines of the adapters: differences of OpenAI's models, the JSON of a
// tool's call and of a server's answer, and the lines that are most like a text which was not found.

import assert from "node:assert/strict";
import { patchEditor } from "../../pkg/dist/openai.js";
import { createFileTools, HttpBackend, StateBackend } from "../lib/kitbag.mjs";

const MIB = 2 ** 20;
const inMemory = (files) => new StateBackend({ files, writeMode: "overwrite" });
const lines = (count, line) => Array.from({ length: count }, (_, at) => `${line(at)}\n`).join("");

/** Files and differences; together a megabyte. */
const V4A = {
  "lines that fit nowhere": ["a\n".repeat(5e5), `@@\n${" a\n".repeat(2.5e5)}-b\n+c`],
  "lines that fit but for the last": [
    `${"a\n".repeat(3e5)}b\n`,
    `@@\n${" a\n".repeat(1e5)}-b\n-a\n+c`,
  ],
  "lines that fit at the end": [`${"a\n".repeat(3e5)}b\n`, `@@\n${" a\n".repeat(1e5)}-b\n+c`],
  "lines of a period": [`${"a\nb\n".repeat(1e5)}b\n`, `@@\n${" a\n b\n".repeat(5e4)}-b\n+c`],
  "lines that fit without white space": [
    `${"a \n".repeat(2e5)}\tb\n`,
    `@@\n${" a\n".repeat(1e5)}-b\n+c`,
  ],
  "anchors that fit nowhere": ["a\n".repeat(2e5), `${"@@ text\n".repeat(1e5)} a\n+b`],
  anchors: ["a\n".repeat(4e5), `${"@@ a\n".repeat(1e5)} a\n+b`],
  "anchors of different lines": [lines(8e4, (at) => at), `${lines(8e4, (at) => `@@ ${at}`)}+b`],
  "sections of one line": ["a\n".repeat(2e5), "@@\n-a\n+b\n".repeat(6e4)],
  "sections far from one another": [
    `${"a\n".repeat(2e5)}${"b \n".repeat(5e4)}`,
    "@@\n-b\n+c\n".repeat(4e4),
  ],
  "sections that are found late, each behind the whole file": [
    `${"b \nc \nc \n".repeat(2e4)}${"b\nc\nb\n".repeat(8e4)}`,
    "@@\n-b\n-c\n-c\n+d\n".repeat(2e4),
  ],
  "the end of the file": ["a\n".repeat(2e5), `@@\n${" a\n".repeat(1e5)}+b\n*** End of File`],
  "200,000 lines, changed at the end": [
    lines(120_000, (at) => at),
    `@@ 119997\n 119998\n-119999\n${"+a\n".repeat(5e4)}`,
  ],
  "every line added": ["a\n", `@@\n a\n${"+b\n".repeat(3e5)}`],
  "every line removed": ["a\n".repeat(2e5), `@@\n${"-a\n".repeat(2e5)}`],
  "changes of every second line": ["a\nb\n".repeat(7e4), `@@\n${"-a\n+c\n b\n".repeat(7e4)}`],
  "Windows' line endings": ["a\r\n".repeat(2e5), `@@\r\n${" a\r\n".repeat(1e5)}+b\r\n`],
  "carriage returns": [`${"\r".repeat(MIB / 2)}\n`, `@@\n-${"\r".repeat(MIB / 2)}\n`],
  "white space": [`${" ".repeat(MIB / 2)}a\n`, `@@\n-${" ".repeat(MIB / 2 - 1)}a \n+b`],
  "one line": ["a".repeat(MIB / 2), `-${"a".repeat(MIB / 2)}\n+b`],
};

const failed = /Use fewer sections|These lines are not|not in the file|section/;

/** Differences of OpenAI's models. */
export const v4a = (state = inMemory) => {
  const changes = Object.entries(V4A).map(([name, [content, diff]]) => [
    name,
    async () => {
      const editor = patchEditor(state({ "/a": content }));
      const { status, output } = await editor.updateFile({ type: "update_file", path: "a", diff });
      assert.ok(status === "completed" || failed.test(output), output);
      return { status };
    },
  ]);
  const created = async () => {
    const editor = patchEditor(state({}));
    const diff = "+a\n".repeat(MIB / 3);
    const { status } = await editor.createFile({ type: "create_file", path: "a", diff });
    assert.equal(status, "completed");
  };
  return { ...Object.fromEntries(changes), "a new file": created };
};

/** Texts that are JSON, or nearly. */
const JSONS = {
  "many arguments": `{${Array.from({ length: MIB / 10 }, (_, at) => `"${at}":0`).join(",")}}`,
  "one argument, many times": `{${'"path":0,'.repeat(MIB / 9)}"path":"/"}`,
  "nested arrays": `${"[".repeat(MIB / 2)}${"]".repeat(MIB / 2)}`,
  "nested objects": '{"a":'.repeat(MIB / 5),
  "an array of numbers": `{"path":[${"0,".repeat(MIB / 2)}0]}`,
  "escaped letters": `{"path":"${"\\u00e9".repeat(MIB / 6)}"}`,
  "halves of letters": `{"path":"${"\\ud83d".repeat(MIB / 6)}"}`,
  backslashes: `{"path":"${"\\\\".repeat(MIB / 2)}"}`,
  "a long number": `{"path":${"1".repeat(MIB)}}`,
  "a number of many digits": `{"path":0.${"1".repeat(MIB)}e-5}`,
  "white space": `{"path":${" ".repeat(MIB)}0}`,
  "JSON in JSON": JSON.stringify(JSON.stringify({ path: '"'.repeat(MIB / 4) })),
  "a text that does not end": `{"path":"${"a".repeat(MIB)}`,
};

/** JSON of a tool's call, and of the answers of a server. */
export const json = () => {
  const tools = createFileTools(inMemory({ "/a": "1" }));
  const calls = Object.entries(JSONS).flatMap(([name, text]) => {
    const fetch = async () => {
      const headers = { "content-type": "application/json" };
      return new Response(text, { headers });
    };
    const files = new HttpBackend({ url: "http://files.example", fetch });
    const rows = new HttpBackend({
      url: "http://files.example",
      fetch: async () => new Response(`${text}\n`.repeat(2)),
    });
    return [
      [
        `${name}, as the input of a tool`,
        async () => assert.ok((await tools.call("ls", text)).text),
      ],
      [`${name}, from a server`, async () => assert.ok(await files.ls("/"))],
      [`${name}, as rows of a search`, async () => assert.ok(await rows.grep("a"))],
    ];
  });
  return Object.fromEntries(calls);
};

/** Contents, and a text that none of them has. */
const FAR = {
  "short lines": ["ab\n".repeat(MIB / 3), "abc"],
  "lines of 300 bytes": [lines(MIB / 300, () => "ab".repeat(150)), "ab".repeat(200)],
  "lines of 52 bytes": [lines(20_000, (at) => `${at}`.padEnd(51, "ab")), `${"ab".repeat(150)}x`],
  "one line": ["ab".repeat(MIB / 2), `${"ab".repeat(MIB / 4)}x`],
  "no line feeds, and white space": [`a${" ".repeat(MIB)}b`, "a b c"],
  "a text of many lines": ["ab\n".repeat(MIB / 8), "abx\n".repeat(MIB / 8)],
  "a text of long lines": ["ab\n", lines(MIB / 500, (at) => `${"ab".repeat(250)}${at}`)],
  "carriage returns": ["\r".repeat(MIB), "\rx"],
  "a text that occurs very often": ["a\n".repeat(MIB / 2), "a"],
  "a text that occurs in itself": ["a".repeat(MIB), "aa"],
};

/** The lines that are most like a text which an edit did not find. */
export const nearest = () =>
  Object.fromEntries(
    Object.entries(FAR).map(([name, [content, old]]) => [
      name,
      async () => {
        const files = inMemory({ "/a": content });
        const tools = createFileTools(files, { requireReadBeforeEdit: false });
        const input = { file_path: "/a", old_string: old, new_string: "new" };
        const { text } = await tools.call("edit_file", input);
        assert.match(text, /old_string (does not occur|occurs)/);
      },
    ]),
  );

// Documents that `read_file` shows: PDF and PowerPoint, and what each framework makes of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend } from "kitbag";
import { fileTools as aiTools } from "kitbag/ai";
import { toAnthropicBlocks } from "kitbag/anthropic";
import { fileTools as langchainTools } from "kitbag/langchain";
import { fileTools as openaiTools } from "kitbag/openai";

const BYTES = Uint8Array.of(0, 1, 2, 255);
const DATA = "AAEC/w==";
const TYPES = {
  "/a.pdf": "application/pdf",
  "/A.PDF": "application/pdf",
  "/a.ppt": "application/vnd.ms-powerpoint",
  "/a.pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "/deep/b.PPTX": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};
const OTHERS = ["/a.docx", "/a.xlsx", "/a.doc", "/a.odp", "/a.zip", "/a.key", "/a.pptm"];
const paths = [...Object.keys(TYPES), ...OTHERS];
const backend = () => new StateBackend({ files: Object.fromEntries(paths.map((p) => [p, BYTES])) });
const read = (tools, file_path) => tools.call("read_file", { file_path });

for (const [path, mimeType] of Object.entries(TYPES)) {
  const ending = path.split(".").at(-1).toLowerCase();

  test(`${path} is a block of kind file`, async () => {
    const { content, isError } = await read(createFileTools(backend()), path);
    assert.equal(isError, false);
    assert.deepEqual(content[1], { type: "file", mimeType, data: DATA });
  });

  test(`${path} has the ending of its type for the API of OpenAI`, async () => {
    const asked = { name: "read_file", arguments: JSON.stringify({ file_path: path }) };
    const file_data = `data:${mimeType};base64,${DATA}`;
    const chat = await openaiTools(backend(), { api: "chat" }).run({
      tool_calls: [{ id: "c", type: "function", function: asked }],
    });
    const file = { filename: `file.${ending}`, file_data };
    assert.deepEqual(chat.at(-1).content, [{ type: "file", file }]);
    const output = [{ type: "function_call", call_id: "c", ...asked }];
    const [item] = await openaiTools(backend()).run({ output });
    assert.deepEqual(item.output[1], { type: "input_file", ...file });
  });

  test(`${path} is shown by the others as far as they take it`, async () => {
    const { content } = await read(createFileTools(backend()), path);
    const [, block] = toAnthropicBlocks(content);
    if (ending === "pdf") assert.equal(block.type, "document");
    else assert.match(block.text, /Messages API cannot show this type/);
    const ai = aiTools(backend()).tools.read_file;
    const result = await ai.execute({ file_path: path }, { toolCallId: "c", messages: [] });
    const { value } = await ai.toModelOutput({ output: result, toolCallId: "c", input: {} });
    assert.deepEqual(value[1], { type: "media", data: DATA, mediaType: mimeType });
    const tool = langchainTools(backend()).tools.find(({ name }) => name === "read_file");
    const blocks = await tool.invoke({ file_path: path });
    assert.deepEqual(blocks[1], { type: "file", mimeType, data: DATA });
  });
}

for (const path of OTHERS) {
  test(`${path} cannot be shown, and the text says so`, async () => {
    const { text, isError } = await read(createFileTools(backend()), path);
    assert.equal(isError, false);
    assert.match(text, /is a binary file \(.*, 4 bytes\) that cannot be shown/);
  });
}

test("an empty presentation and one that is too large are said to be so", async () => {
  const large = new Uint8Array((10 << 20) + 1);
  const files = { "/empty.pptx": new Uint8Array(), "/large.pptx": large };
  const tools = createFileTools(new StateBackend({ files }));
  assert.match((await read(tools, "/empty.pptx")).text, /exists but is empty/);
  assert.match((await read(tools, "/large.pptx")).text, /too large to show: the limit is 10/);
});

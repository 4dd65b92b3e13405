// Read before edit: a text that somebody put in the place of another one that was read is not taken for it,
// even if it was made to have the same FNV-1a hash of 64 bits, as such a pair can be found in a second.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend } from "kitbag";

const parts = (...all) => all.join("");
const READ = parts(
  "cymhgqupivozizexflamyqvvarjirgzrjptztvdyylcmmhlsialboaahcxam",
  "fpiemvxxugyqvvarjirgzrjptztvdywaxyajbeztlboaahcxamfpiemvxxug",
  "crjeqoebxprvksrnmzmswaxyajbeztlboaahcxamfpiemvxxugyqvvarjirg",
);
const PLANTED = parts(
  "uktkeeipuxfpiemvxxugyqvvarjirgzrjptztvdywaxyajbeztlboaahcxam",
  "fpiemvxxugcrjeqoebxprvksrnmzmswaxyajbeztjwclglrsggozizexflam",
  "yqvvarjirgzrjptztvdyylcmmhlsialboaahcxamozizexflamyqvvarjirg",
);

const hashed = (text) => {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash;
};

/** What makes a file of the two texts: what follows both keeps their hashes equal. */
const FORMS = {
  "the text alone": "",
  "a line": "\n",
  "more lines": "\none\ntwo\n",
  "a long text": "x".repeat(5_000),
  "letters beyond ASCII": "é 日本 😀",
  "carriage returns": "\r\n",
  "a zero byte": "\0",
  spaces: "   ",
};

/** Each changes the file through the tools. */
const CHANGES = {
  edit_file: (tools, old_string) =>
    tools.call("edit_file", { file_path: "/plan.md", old_string, new_string: "mine" }),
  write_file: (tools) => tools.call("write_file", { file_path: "/plan.md", content: "mine" }),
};

for (const [form, end] of Object.entries(FORMS)) {
  for (const [name, change] of Object.entries(CHANGES)) {
    test(`${name} of ${form} that was exchanged is refused until it is read`, async () => {
      const [read, planted] = [READ + end, PLANTED + end];
      assert.notEqual(read, planted);
      assert.equal(hashed(read), hashed(planted));
      const files = new StateBackend({ files: { "/plan.md": read }, writeMode: "overwrite" });
      const tools = createFileTools(files);
      await tools.call("read_file", { file_path: "/plan.md" });
      files.write("/plan.md", planted);
      const refused = await change(tools, PLANTED);
      assert.deepEqual(
        [refused.isError, /changed|read/.test(refused.text)],
        [true, true],
        refused.text,
      );
      assert.equal(files.read("/plan.md").content, planted);
      await tools.call("read_file", { file_path: "/plan.md" });
      const { isError, text } = await change(tools, PLANTED);
      assert.equal(isError, false, text);
    });
  }
}

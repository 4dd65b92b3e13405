// Names with characters that show nothing or reorder others: what a person or a model is shown has the codes
// of these characters, so that no name looks like another one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changeTools, reviewOf } from "../../pkg/dist/history.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import * as kitbag from "../lib/kitbag.mjs";

const { applyPatch, begin, createFileTools, StateBackend, toPatch, withPolicy } = kitbag;

/** Such names may be created, so that there is something to show. */
const LENIENT = { hiddenCharacters: "allow" };

/** A character of each kind. */
const UNSEEN = {
  "zero width space": 0x200b,
  "zero width joiner": 0x200d,
  "right-to-left mark": 0x200f,
  "right-to-left override": 0x202e,
  "left-to-right embedding": 0x202a,
  isolate: 0x2068,
  "byte order mark": 0xfeff,
  "soft hyphen": 0xad,
  tag: 0xe0041,
  "C1 control": 0x9b,
  DEL: 0x7f,
};
const SHOWN =
  /[\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

for (const [name, code] of Object.entries(UNSEEN)) {
  const one = String.fromCodePoint(code);
  const path = `/no${one}tes.md`;
  const escaped = `/no\\u{${code.toString(16)}}tes.md`;
  const memory = (files = { [path]: "one\ntwo\n" }) =>
    new StateBackend({ scope: "instance", files });
  const clear = (text, wanted = escaped) => {
    assert.doesNotMatch(text, SHOWN);
    assert.ok(text.includes(wanted), text);
  };

  test(`${name}: the question of a policy, and its audit`, async () => {
    const [asked, records] = [[], []];
    const files = withPolicy(memory(), {
      hiddenCharacters: "allow",
      permissions: [{ operations: ["write"], paths: ["/**"], mode: "ask" }],
      onAsk: (question) => {
        asked.push(question);
        return true;
      },
      audit: (record) => records.push(record),
    });
    await files.edit(path, "one", "1");
    await files.move(path, `/b${one}.md`);
    await files.uploadFiles([[path, new Uint8Array(1)]]);
    for (const question of asked) clear(JSON.stringify(question).replaceAll("\\\\", "\\"), "\\u{");
    for (const record of records) clear(JSON.stringify(record).replaceAll("\\\\", "\\"), "\\u{");
    assert.deepEqual([asked.length >= 3, records.length], [true, 3]);
    assert.equal(asked[0].path, escaped);
  });

  test(`${name}: the question of a flow`, async () => {
    const asked = [];
    const files = withProvenance(withPolicy(memory(), LENIENT), {
      labels: [{ paths: ["/no*"], as: "untrusted" }],
      flows: [{ from: "untrusted", to: ["/m/**"], then: "ask" }],
      onAsk: (question) => void asked.push(question),
    });
    await files.read(path);
    const { error } = await files.copy(path, `/m/b${one}.md`);
    clear(error);
    clear(JSON.stringify(asked).replaceAll("\\\\", "\\"));
  });

  test(`${name}: errors`, async () => {
    const files = memory();
    for (const { error } of [
      files.write(path, "x"),
      files.read(`${path}x`),
      files.edit(path, "no such text", "x"),
      files.delete(`/x${path}`),
      await withPolicy(files, { readOnly: true }).write(path, "x"),
      await withPolicy(files, { readOnlyPrefixes: [path] }).edit(path, "one", "1"),
    ]) {
      assert.doesNotMatch(error, SHOWN);
    }
    clear(files.write(path, "x").error);
  });

  test(`${name}: every tool`, async () => {
    const tools = createFileTools(memory({ [path]: "one\ntwo\n", [`/d${one}/e.bin`]: "x\n" }), {
      tools: "all",
      policy: LENIENT,
    });
    const told = async (tool, input) => (await tools.call(tool, input)).text;
    clear(await told("ls", { path: "/" }));
    clear(await told("ls", { path: "/" }), `/d\\u{${code.toString(16)}}/`);
    clear(await told("glob", { pattern: "**/*.md" }));
    for (const output_mode of ["content", "count", "files_with_matches"]) {
      clear(await told("grep", { pattern: "one", output_mode }));
    }
    clear(await told("edit_file", { file_path: path, old_string: "a", new_string: "b" }));
    await told("read_file", { file_path: path });
    clear(await told("edit_file", { file_path: path, old_string: "zzz", new_string: "b" }));
    clear(await told("edit_file", { file_path: path, old_string: "one", new_string: "1" }));
    clear(await told("append_file", { file_path: path, content: "three\n" }));
    clear(await told("copy_file", { from: path, to: "/copy.md" }));
    clear(await told("move_file", { from: "/copy.md", to: `/e${path}` }));
    clear(await told("write_file", { file_path: `/f${path}`, content: "x" }));
    clear(await told("read_file", { file_path: path, offset: 99 }));
    clear(await told("delete", { file_path: path }));
  });

  test(`${name}: a content is shown as it is`, async () => {
    const text = `a${one}b\n`;
    const tools = createFileTools(memory({ "/a.txt": text }));
    const { text: shown } = await tools.call("read_file", { file_path: "/a.txt" });
    assert.ok(shown.includes(`a${one}b`));
  });

  test(`${name}: patches, reviews and the tool diff; git's quotes are read back`, async () => {
    const inner = memory();
    const turn = begin(withPolicy(inner, LENIENT));
    await turn.edit(path, "one", "1");
    await turn.uploadFiles([[`/b${one}.bin`, new Uint8Array([0, 255])]]);
    const { changes } = await turn.diff();
    const { patch } = toPatch(changes.filter((change) => change.path === path));
    assert.doesNotMatch(patch, SHOWN);
    const utf8 = [...new TextEncoder().encode(one)].map((byte) => `\\${byte.toString(8)}`);
    assert.ok(patch.includes(`"a/no${utf8.join("")}tes.md"`), patch);
    const other = memory();
    const done = await applyPatch(other, patch);
    assert.equal(done.error, undefined);
    assert.equal(other.read(path).content, "1\ntwo\n");
    assert.doesNotMatch((await reviewOf(turn)).patch, SHOWN);
    const tools = createFileTools(turn, {
      changes: changeTools({ commit: () => ({ type: "accept" }) }),
    });
    assert.doesNotMatch((await tools.call("diff", {})).text, SHOWN);
    clear((await tools.call("commit", {})).text);
  });
}

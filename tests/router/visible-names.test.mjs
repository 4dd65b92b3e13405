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
  "combining grapheme joiner": 0x34f,
  "Hangul filler": 0x3164,
  "halfwidth Hangul filler": 0xffa0,
  "Khmer inherent vowel": 0x17b4,
  "Mongolian variation selector": 0x180b,
  "line separator": 0x2028,
  "invisible times": 0x2062,
  "braille blank": 0x2800,
  "emoji presentation": 0xfe0f,
  "interlinear annotation": 0xfff9,
  "begin beam": 0x1d173,
  "variation selector 17": 0xe0100,
  "no-break space": 0xa0,
  "Ogham space": 0x1680,
  "em space": 0x2003,
  "narrow no-break space": 0x202f,
  "ideographic space": 0x3000,
};
const SHOWN =
  /[\p{Default_Ignorable_Code_Point}\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000\ufff9-\ufffc]/u;

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

test("what spelling needs is shown as it is, and stays so in a patch", async () => {
  const names = ["/❤\ufe0f.md", "/👩\u200d💻", "/1\ufe0f\u20e3", "/می\u200cخواهم", "/क्\u200dष"];
  const files = new StateBackend({ files: Object.fromEntries(names.map((name) => [name, "x\n"])) });
  const tools = createFileTools(files, { tools: "all" });
  const { text } = await tools.call("ls", { path: "/" });
  for (const name of names) assert.ok(text.includes(name), text);
  const turn = begin(files);
  for (const name of names) await turn.edit(name, "x", "y");
  const { patch } = toPatch((await turn.diff()).changes);
  for (const name of names) assert.ok(patch.includes(`+++ b${name}\n`), patch);
});

test("a tool takes a name as another one has shown it", async () => {
  for (const [name, shown] of [
    ["/shot 9.41\u202fAM.md", "/shot 9.41\\u{202f}AM.md"],
    ["/日本\u3000語", "/日本\\u{3000}語"],
    ["/a\u00a0b", "/a\\u{a0}b"],
    ["/pla\u200bn.md", "/pla\\u{200b}n.md"],
    ["/x\ufe0f/y\u{e0100}", "/x\\u{fe0f}/y\\u{e0100}"],
  ]) {
    const files = new StateBackend({ files: {} });
    const lenient = withPolicy(files, LENIENT);
    await lenient.write(name, "one\n");
    const tools = createFileTools(files, { tools: "all" });
    const run = async (tool, input) => {
      const { text, isError } = await tools.call(tool, input);
      assert.equal(isError, false, text);
      return text;
    };
    assert.ok((await run("glob", { pattern: "**" })).includes(shown));
    assert.match(await run("read_file", { file_path: shown }), /one/);
    await run("edit_file", { file_path: shown, old_string: "one", new_string: "two" });
    assert.match(await run("grep", { pattern: "two", path: shown, output_mode: "content" }), /two/);
    await run("move_file", { source_path: shown, destination_path: "/good.md" });
    assert.equal(files.read("/good.md").content, "two\n");
  }
  // Nothing else is read so, and nothing is created or reached by it.
  const files = new StateBackend({ files: { "/a/b": "x" } });
  const { call } = createFileTools(files, { tools: "all" });
  for (const file_path of [
    "/a\\u{2f}b",
    "/\\u{61}/b",
    "/a\\b",
    "/a\\u{200b",
    "/.kit\\u{200b}bag/x",
  ]) {
    assert.equal((await call("read_file", { file_path })).isError, true, file_path);
    assert.equal((await call("write_file", { file_path, content: "x" })).isError, true, file_path);
  }
  assert.equal(
    (await call("write_file", { file_path: "/a\\u{200b}", content: "x" })).isError,
    true,
  );
  assert.deepEqual(Object.keys(files.snapshot()), ["/a/b"]);
});

test("each character is shown in the same way by both languages", async () => {
  const records = [];
  const files = withPolicy(new StateBackend({ files: {} }), {
    readOnly: true,
    audit: ({ path }) => records.push(path),
  });
  const text = (code) => `/no${String.fromCodePoint(code)}tes.md`;
  for (let code = 0x20; code <= 0x1_ffff; code++) {
    if (code === 0x2f || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) continue;
    const [path, at] = [text(code), records.length];
    // A patch has the bytes of what an audit has the code of.
    const { patch } = toPatch([
      { path, kind: "created", before: null, after: new Uint8Array(), hunks: [] },
    ]);
    await files.write(path, "x");
    const isCoded = records[at] !== path;
    assert.equal(
      isCoded,
      SHOWN.test(path) || /[\u{13430}-\u{1343f}\u{16fe4}\u{1d159}]/u.test(path),
      path,
    );
    assert.equal(patch.includes(path), code === 0x22 ? false : !isCoded, code.toString(16));
  }
});

// Names with characters that show nothing or reorder others: no call creates a file with one, over any
// backend, unless a policy allows it. Files that have such a name already can be read, listed, changed,
// deleted and moved to a good name.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { withHistory } from "../../pkg/dist/history.js";
import { MapBucket, MapStorage } from "../chunks/doubles.mjs";
import * as kitbag from "../lib/kitbag.mjs";

const { begin, createFileTools, StateBackend, withPolicy } = kitbag;
const encode = (text) => new TextEncoder().encode(text);
const memory = (files = {}) => new StateBackend({ scope: "instance", files });
const LENIENT = { hiddenCharacters: "allow" };

/** A character of each kind, with its name in a refusal. */
const HIDDEN = {
  DEL: [0x7f, "U+007F"],
  "C1 control": [0x9b, "U+009B"],
  "soft hyphen": [0xad, "U+00AD"],
  "Arabic letter mark": [0x61c, "U+061C"],
  "zero width space": [0x200b, "U+200B"],
  "zero width non-joiner": [0x200c, "U+200C"],
  "zero width joiner": [0x200d, "U+200D"],
  "right-to-left mark": [0x200f, "U+200F"],
  "right-to-left override": [0x202e, "U+202E"],
  "word joiner": [0x2060, "U+2060"],
  isolate: [0x2068, "U+2068"],
  "byte order mark": [0xfeff, "U+FEFF"],
  tag: [0xe0041, "U+E0041"],
  "combining grapheme joiner": [0x34f, "U+034F"],
  "Hangul choseong filler": [0x115f, "U+115F"],
  "Hangul jungseong filler": [0x1160, "U+1160"],
  "Khmer inherent vowel": [0x17b4, "U+17B4"],
  "another Khmer inherent vowel": [0x17b5, "U+17B5"],
  "Mongolian variation selector": [0x180b, "U+180B"],
  "Mongolian vowel separator": [0x180e, "U+180E"],
  "the fourth Mongolian variation selector": [0x180f, "U+180F"],
  "line separator": [0x2028, "U+2028"],
  "paragraph separator": [0x2029, "U+2029"],
  "invisible separator": [0x2063, "U+2063"],
  unassigned: [0x2065, "U+2065"],
  "symmetric swapping": [0x206a, "U+206A"],
  "nominal digit shapes": [0x206f, "U+206F"],
  "braille blank": [0x2800, "U+2800"],
  "Hangul filler": [0x3164, "U+3164"],
  "first variation selector": [0xfe00, "U+FE00"],
  "text presentation": [0xfe0e, "U+FE0E"],
  "emoji presentation": [0xfe0f, "U+FE0F"],
  "halfwidth Hangul filler": [0xffa0, "U+FFA0"],
  "reserved special": [0xfff0, "U+FFF0"],
  "interlinear annotation": [0xfff9, "U+FFF9"],
  "object replacement": [0xfffc, "U+FFFC"],
  "hieroglyph joiner": [0x13430, "U+13430"],
  "Khitan filler": [0x16fe4, "U+16FE4"],
  "shorthand overlap": [0x1bca0, "U+1BCA0"],
  "null notehead": [0x1d159, "U+1D159"],
  "begin beam": [0x1d173, "U+1D173"],
  "end phrase": [0x1d17a, "U+1D17A"],
  "variation selector 17": [0xe0100, "U+E0100"],
  "variation selector 256": [0xe01ef, "U+E01EF"],
  "reserved tag": [0xe0fff, "U+E0FFF"],
};

/** Names that need their joiners and selectors, or have a space of their script. */
const GOOD = [
  "/می\u200cخواهم.md",
  "/کتاب\u200cها.txt",
  "/1403ه\u200d.ش",
  "/क्\u200dष.txt",
  "/क्\u200cष.txt",
  "/ক্\u200cষ",
  "/র\u200d্যাব",
  "/அக்\u200cஷய",
  "/ಸಾಫ್ಟ್\u200cವೇರ್",
  "/അവന്\u200d.md",
  "/ශ්\u200dරී",
  "/ស\u200c៊ី",
  "/ᠬᠠᠷ\u180eᠠ",
  "/ᠠ\u180bᠡ",
  "/⠓⠑\u2800⠺⠕",
  "/👩\u200d🔬.md",
  "/👩\u200d💻.md",
  "/👩🏽\u200d🚀",
  "/👨\u200d👩\u200d👧\u200d👦",
  "/👁\ufe0f\u200d🗨\ufe0f",
  "/🏳\ufe0f\u200d🌈",
  "/🏴\u200d☠\ufe0f",
  "/🐈\u200d⬛",
  "/🏃\u200d♀\ufe0f\u200d➡\ufe0f",
  "/❤\ufe0f health.md",
  "/❤\ufe0f\u200d🔥.md",
  "/1\ufe0f\u20e3 first.md",
  "/#\ufe0f\u20e3",
  "/☎\ufe0e",
  "/☀\ufe0f/a.md",
  "/Screenshot 9.41\u202fAM.txt",
  "/日本\u3000語.md",
  "/100\u00a0km",
  "/Übersicht 日本語.md",
];

/** Names with a joiner or selector that changes nothing in its place: each looks like the name without it. */
const USELESS = [
  "/ก\u200cข.md",
  "/ก\u200dข.md",
  "/ກ\u200cຂ",
  "/ཀ\u200dཁ",
  "/က\u200cခ",
  "/ა\u200dბ",
  "/क\u200cष",
  "/क\u200dष",
  "/क्\u200c",
  "/می\u200dخواهم",
  "/می\u200c",
  "/۱\u200c۲",
  "/ក\u200cក",
  "/→\u200d→",
  "/┌\u200d┐",
  "/⣿\u200d⣿",
  "/★\u200d★",
  "/🍎\u200d🍏",
  "/👩\u200d🍏",
  "/👩\u200d\ufe0f🔬",
  "/\ufe0f",
  "/plan\ufe0f.md",
  "/日\ufe0f本",
  "/葛\u{e0100}飾",
  "/😀\ufe0f",
  "/→\ufe0f",
  "/❤\ufe0f\ufe0f",
  "/❤\ufe0e\ufe0f",
  "/1\ufe0f",
  "/1\ufe0fa",
  "/a\u180bb",
  "/ᠠ\u180b\u180b",
  "/ᠠ\u180ea",
  "/⠓\u2800",
  "/한\u3164글",
];

const folders = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** An object of another library around a memory, which knows nothing of kitbag. */
function stranger(files = {}) {
  const inner = new StateBackend({ scope: "instance", files, writeMode: "overwrite" });
  const lenient = withPolicy(inner, LENIENT);
  const names = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
  return Object.fromEntries(
    [...names, "uploadFiles", "downloadFiles"].map((name) => [
      name,
      async (a, b, c, d) => lenient[name](a, b, c, d),
    ]),
  );
}

/** Each makes a backend with these files. */
const SUBJECTS = {
  state: memory,
  R2: (files) => filled(new kitbag.R2Backend({ bucket: new MapBucket() }), files),
  custom: (files) => filled(new kitbag.CustomBackend(new MapStorage()), files),
  "a folder": (files) => {
    const rootDir = mkdtempSync(join(tmpdir(), "kitbag-names-"));
    folders.push(rootDir);
    return filled(new kitbag.FilesystemBackend({ rootDir }), files);
  },
  "a subclass": (files) => new (class extends StateBackend {})({ scope: "instance", files }),
  "a policy": (files) => withPolicy(memory(files), { quota: { maxFiles: 99 } }),
  "a turn": (files) => begin(memory(files)),
  "a history": (files) => withHistory(memory(files), { keepIn: { backend: memory() } }),
  "a router": (files) => new kitbag.CompositeBackend(memory(files), { "/m/": memory() }),
  "a router with a lenient mount": (files) =>
    new kitbag.CompositeBackend(memory(files), { "/m/": withPolicy(memory(), LENIENT) }),
  "a policy over a stranger": (files) => withPolicy(stranger(files), {}),
  "an adapted stranger": (files) => kitbag.adaptBackendProtocol(stranger(files)),
};

async function filled(backend, files) {
  const lenient = withPolicy(backend, LENIENT);
  const stored = await lenient.uploadFiles(
    Object.entries(files).map(([path, text]) => [path, encode(text)]),
  );
  for (const one of stored) assert.equal(one.error, null);
  return backend;
}

const paths = async (backend) => (await backend.glob("**")).files.map(({ path }) => path).sort();

for (const [name, make] of Object.entries(SUBJECTS)) {
  describe(name, () => {
    for (const [kind, [code, shown]] of Object.entries(HIDDEN)) {
      const bad = `/pla${String.fromCodePoint(code)}n.md`;
      test(`${kind}: no call creates it`, async () => {
        const backend = await make({ "/a.md": "a" });
        const calls = {
          write: () => backend.write(bad, "x"),
          "write below": () => backend.write(`/d${bad}/x.md`, "x"),
          move: () => backend.move?.("/a.md", bad),
          copy: () => backend.copy?.("/a.md", bad),
        };
        for (const [call, run] of Object.entries(calls)) {
          const answer = await run();
          if (answer === undefined) continue;
          assert.equal(answer.code, "invalid_path", call);
          assert.ok(answer.error.includes(shown), answer.error);
          assert.match(answer.error, /character \d+ is U\+.*leave it out.*hiddenCharacters/);
        }
        const stored = await backend.uploadFiles([
          [bad, encode("x")],
          ["/good.md", encode("x")],
        ]);
        assert.deepEqual(
          stored.map(({ error }) => error),
          ["invalid_path", null],
        );
        assert.notEqual((await backend.append?.(bad, "x"))?.error ?? "no append", undefined);
        assert.notEqual((await backend.edit(bad, "", "x")).error, undefined);
        assert.deepEqual(await paths(backend), ["/a.md", "/good.md"]);
      });
    }

    test("what is there can be read, changed, moved to a good name and deleted", async () => {
      const bad = "/pla\u200bn.md";
      const dir = "/d\u202eir";
      const backend = await make({ [bad]: "one", [`${dir}/a.md`]: "a" });
      assert.ok((await backend.ls("/")).files.some(({ path }) => path === bad));
      assert.equal((await backend.read(bad)).content, "one");
      assert.equal((await backend.grep("one")).matches[0].path, bad);
      assert.equal((await backend.edit(bad, "one", "two")).error, undefined);
      if (backend.move) {
        assert.equal((await backend.append(bad, "!")).error, undefined);
        assert.equal((await backend.move(bad, "/plan.md")).error, undefined);
        assert.equal((await backend.read("/plan.md")).content, "two!");
        assert.equal((await backend.move(dir, "/dir")).error, undefined);
        assert.deepEqual(await paths(backend), ["/dir/a.md", "/plan.md"]);
      } else {
        assert.equal((await backend.delete(bad)).error, undefined);
        assert.equal((await backend.delete(`${dir}/a.md`)).error, undefined);
        assert.deepEqual(await paths(backend), []);
      }
    });

    test("a name may have the joiners that it needs", async () => {
      const backend = await make({});
      for (const path of GOOD) assert.equal((await backend.write(path, "x")).error, undefined);
      assert.deepEqual(await paths(backend), [...GOOD].sort());
    });

    test("no joiner or selector is accepted where it changes nothing", async () => {
      const backend = await make({});
      for (const path of USELESS) {
        const answer = await backend.write(path, "x");
        assert.equal(answer.code, "invalid_path", JSON.stringify(path));
      }
      assert.deepEqual(await paths(backend), []);
    });

    test("a policy allows it", async () => {
      const backend = withPolicy(await make({ "/a.md": "a" }), LENIENT);
      for (const [code] of Object.values(HIDDEN)) {
        const bad = `/pla${String.fromCodePoint(code)}n.md`;
        assert.equal((await backend.write(bad, "x")).error, undefined);
        assert.equal((await backend.copy("/a.md", `/c${bad}`)).error, undefined);
        assert.equal((await backend.delete(bad)).error, undefined);
        assert.equal((await backend.uploadFiles([[bad, encode("x")]]))[0].error, null);
        assert.equal((await backend.delete(`/c${bad}`)).error, undefined);
        assert.equal((await backend.delete(bad)).error, undefined);
      }
    });
  });
}

/** Other ways to create a file. */
const WAYS = {
  "the tool write_file": (files, bad) =>
    tool(files, "write_file", { file_path: bad, content: "x" }),
  "the tool move_file": (files, bad) => tool(files, "move_file", { from: "/a.md", to: bad }),
  "the tool copy_file": (files, bad) => tool(files, "copy_file", { from: "/a.md", to: bad }),
  "a patch": async (files, bad) =>
    (await kitbag.applyPatch(files, `--- /dev/null\n+++ b${bad}\n@@ -0,0 +1 @@\n+x\n`)).error,
};

async function tool(files, name, input) {
  const tools = createFileTools(files, { tools: "all" });
  const { text, isError } = await tools.call(name, input);
  return isError ? text : undefined;
}

for (const [way, run] of Object.entries(WAYS)) {
  for (const [of, make] of [
    ["a memory", () => memory({ "/a.md": "a" })],
    ["a stranger", () => stranger({ "/a.md": "a" })],
  ]) {
    test(`${way} creates none in ${of}`, async () => {
      for (const [code] of Object.values(HIDDEN)) {
        const files = make();
        const bad = `/pla${String.fromCodePoint(code)}n.md`;
        const error = await run(files, bad);
        assert.ok(error, `${code.toString(16)}`);
        assert.deepEqual(await paths(files), ["/a.md"]);
      }
    });
  }
}

test("tools say what is wrong, and what the policy of a tool set allows", async () => {
  const input = { file_path: "/pla\u200bn.md", content: "x" };
  const strict = await createFileTools(memory()).call("write_file", input);
  assert.equal(strict.isError, true);
  assert.match(strict.text, /^Error: .*character 5 is U\+200B/);
  assert.doesNotMatch(strict.text, /\u200b/);
  const lenient = createFileTools(memory(), { policy: LENIENT });
  assert.equal((await lenient.call("write_file", input)).isError, false);
});

test("a deletion and a commit of such a name can be undone", async () => {
  const bad = "/pla\u200bn.md";
  const files = withHistory(memory({ [bad]: "one" }), { keepIn: { backend: memory() } });
  await files.edit(bad, "one", "two");
  const { entries } = await files.log();
  await files.delete(bad);
  assert.equal((await files.restore(bad, entries[0].id)).error, undefined);
  assert.equal((await files.read(bad)).content, "two");
  const inner = memory({ [bad]: "one" });
  const turn = begin(inner);
  await turn.delete(bad);
  const { receipt } = await turn.commit();
  assert.equal((await kitbag.undo(inner, receipt)).error, undefined);
  assert.equal(inner.read(bad).content, "one");
});

test("an audit has the refusal", async () => {
  const records = [];
  const files = withPolicy(memory(), { audit: (record) => records.push(record) });
  await files.write("/a\u202eb", "x");
  assert.deepEqual([records.length, records[0].code], [1, "invalid_path"]);
});

test("an option with another value is refused", () => {
  assert.throws(
    () => withPolicy(memory(), { hiddenCharacters: true }),
    /hiddenCharacters" must be "refuse" or "allow"/,
  );
});

test("the character that is named is the one that deceives, and no joiner before it", async () => {
  const name = "/\u{1f469}\u200d\u{1f52c}\u200dx";
  const strange = { write: async () => ({}), read: async () => ({ content: "" }) };
  for (const backend of [new StateBackend(), kitbag.adaptBackendProtocol(strange)]) {
    assert.match((await backend.write(name, "x")).error, /character 5 is U\+200D/);
  }
});

/** All characters but those that no path has, and the two halves of a pair. */
function* everyCharacter() {
  for (let code = 0x20; code <= 0x10ffff; code++) {
    if (code === 0x2f || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) continue;
    yield code;
  }
}

test("in both languages the same characters are refused, and Unicode's are among them", async () => {
  // As Unicode has them, but for the spaces that are accepted.
  const wanted = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}\ufff9-\ufffb]/u;
  const more = /[\u2800\ufffc\u{13430}-\u{1343f}\u{16fe4}\u{1d159}]/u;
  const empty = () => ({
    uploadFiles: async (files) => files.map(([path]) => ({ path, error: null })),
  });
  const adapted = kitbag.adaptBackendProtocol({ ...stranger(), ...empty() });
  const codes = [...everyCharacter()];
  const body = new Uint8Array();
  for (let at = 0; at < codes.length; at += 50_000) {
    const some = codes.slice(at, at + 50_000);
    const files = some.map((code) => [`/no${String.fromCodePoint(code)}tes.md`, body]);
    const ours = await memory().uploadFiles(files);
    const theirs = await adapted.uploadFiles(files);
    for (const [index, code] of some.entries()) {
      const one = String.fromCodePoint(code);
      const refused = ours[index].error !== null;
      assert.equal(theirs[index].error !== null, refused, code.toString(16));
      assert.equal(refused, wanted.test(one) || more.test(one), code.toString(16));
    }
  }
});

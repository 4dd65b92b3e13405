// The memory tool: a rename that cannot be made changes nothing, one that is met by another writer
// loses nothing, and what is shown of a file is what the file holds.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FilesystemBackend, StateBackend } from "kitbag";
import { memoryTool, textEditorTool } from "kitbag/anthropic";
import { BACKENDS, contentsOf } from "./meddling.mjs";

const rename = (backend, old_path, new_path) =>
  memoryTool(backend).run({ command: "rename", old_path, new_path });

const FILES = {
  "/memories/a.md": "a\n",
  "/memories/b.md": "b\n",
  "/memories/d/one.md": "1\n",
  "/memories/d/deep/two.md": "2\n",
  "/memories/e/three.md": "3\n",
  "/other": "x",
};

const itself = (path) => `Error: ${path} cannot be renamed to itself.`;
const into = (path) => `Error: ${path} cannot be moved into itself.`;
const taken = (path) => `Error: ${path} already exists.`;
const beneath = (path) => `Error: ${path} is a file: nothing can stand beneath it.`;
const root = "Error: /memories itself can only be viewed.";

const REFUSED = [
  ["a directory onto itself", "/memories/d", "/memories/d", itself("/memories/d")],
  [
    "a directory onto itself, spelled otherwise",
    "/memories/d/",
    "/memories//./d",
    itself("/memories/d"),
  ],
  ["a directory into itself", "/memories/d", "/memories/d/x", into("/memories/d")],
  ["a directory deep into itself", "/memories/d", "/memories/d/deep/x/y", into("/memories/d")],
  ["a directory onto what it holds", "/memories/d", "/memories/d/one.md", into("/memories/d")],
  ["a file onto itself", "/memories/a.md", "/memories/a.md", itself("/memories/a.md")],
  ["a file beneath itself", "/memories/a.md", "/memories/a.md/x", into("/memories/a.md")],
  ["a file deep beneath itself", "/memories/a.md", "/memories/a.md/x/y", into("/memories/a.md")],
  ["a file beneath another file", "/memories/a.md", "/memories/b.md/x", beneath("/memories/b.md")],
  ["a directory beneath a file", "/memories/d", "/memories/b.md/d", beneath("/memories/b.md")],
  ["a file onto a file", "/memories/a.md", "/memories/b.md", taken("/memories/b.md")],
  ["a file onto a directory", "/memories/a.md", "/memories/d", taken("/memories/d")],
  ["a file onto its own directory", "/memories/d/one.md", "/memories/d", taken("/memories/d")],
  ["a directory onto a file", "/memories/d", "/memories/a.md", taken("/memories/a.md")],
  ["a directory onto a directory", "/memories/d", "/memories/e", taken("/memories/e")],
  ["a directory onto the one above it", "/memories/d/deep", "/memories/d", taken("/memories/d")],
  ["all of it", "/memories", "/memories/x", root],
  ["something onto all of it", "/memories/d", "/memories", root],
  ["nothing", "/memories/no", "/memories/x", "Error: The path /memories/no does not exist."],
];

for (const [kind, open] of BACKENDS) {
  for (const [what, from, to, says] of REFUSED) {
    test(`rename of ${what} is refused and changes nothing, over ${kind}`, async () => {
      const { inner, backend } = open(FILES);
      assert.deepEqual(await rename(backend, from, to), { text: says, isError: true });
      assert.deepEqual(contentsOf(inner), FILES);
    });
  }

  test(`rename moves a file, over ${kind}`, async () => {
    const { inner, backend } = open(FILES);
    const answer = await rename(backend, "/memories/a.md", "/memories/new/a.md");
    assert.deepEqual(answer, {
      text: "Renamed /memories/a.md to /memories/new/a.md.",
      isError: false,
    });
    const { "/memories/a.md": moved, ...rest } = FILES;
    assert.deepEqual(contentsOf(inner), { ...rest, "/memories/new/a.md": moved });
  });

  test(`rename moves a directory with all beneath it and nothing beside, over ${kind}`, async () => {
    const { inner, backend } = open({ ...FILES, "/memories/dd/x": "stays" });
    await rename(backend, "/memories/d", "/memories/f/g");
    assert.deepEqual(contentsOf(inner), {
      "/memories/a.md": "a\n",
      "/memories/b.md": "b\n",
      "/memories/dd/x": "stays",
      "/memories/e/three.md": "3\n",
      "/memories/f/g/deep/two.md": "2\n",
      "/memories/f/g/one.md": "1\n",
      "/other": "x",
    });
  });

  for (const [what, bytes] of [
    ["bytes that are not text", [0, 255, 254, 10]],
    ["nothing at all", []],
    ["a picture's name and a text", [104, 105]],
    ["lines that end in different ways", [97, 13, 10, 98, 10]],
    ["a byte order mark", [0xef, 0xbb, 0xbf, 97]],
  ]) {
    test(`rename keeps a file of ${what} byte for byte, over ${kind}`, async () => {
      const { inner, backend } = open({});
      await inner.uploadFiles([["/memories/p.png", Uint8Array.from(bytes)]]);
      const { text, isError } = await rename(backend, "/memories/p.png", "/memories/q.png");
      assert.equal(isError, false, text);
      const [gone, kept] = inner.downloadFiles(["/memories/p.png", "/memories/q.png"]);
      assert.equal(gone.content, null);
      assert.deepEqual([...kept.content], bytes);
    });
  }

  // Whoever has no `ifAbsent` looks at the target before it is made as well.
  const looks = kind === "kitbag's own backend" ? 1 : 2;
  const A = "/memories/a.md";
  const Z = "/memories/z.md";
  const about = (path) => (first) => [first].flat(2)[0] === path;
  /** The change of another writer, and whether the writer was told that it is stored. */
  const writer = (change) => {
    const told = { stored: false };
    return [
      told,
      (inner) => {
        const answer = [change(inner)].flat()[0];
        told.stored = (answer.error ?? null) === null;
      },
    ];
  };
  const MET = [
    ["edited before it is deleted", "delete", A, (it) => it.edit(A, "a", "newer")],
    ["edited before the copy is looked at", "downloadFiles", Z, (it) => it.edit(A, "a", "newer")],
    ["edited before the target is made", "write", Z, (it) => it.edit(A, "a", "newer")],
    ["edited before it is changed", "edit", A, (it) => it.edit(A, "a", "newer")],
    ["appended to before it is changed", "edit", A, (it) => it.edit(A, "a\n", "a\nnewer\n")],
    ["filled anew before it is changed", "edit", A, (it) => upload(it, A, "newer")],
    ["filled anew before the target is made", "write", Z, (it) => upload(it, A, "newer")],
    [
      "filled anew before the copy is looked at",
      "downloadFiles",
      Z,
      (it) => upload(it, A, "newer"),
    ],
  ];
  for (const [what, method, path, change] of MET) {
    test(`a file ${what} by another writer is renamed as it is then, over ${kind}`, async () => {
      const { inner, backend, before } = open({ [A]: "a\n" });
      const [told, meddle] = writer(change);
      before(method, meddle, { about: about(path) });
      const { text, isError } = await rename(backend, A, Z);
      const files = contentsOf(inner);
      assert.equal(isError, false, text);
      assert.deepEqual(Object.keys(files), [Z], text);
      if (told.stored) assert.match(files[Z], /newer/);
    });
  }

  test(`a target that another writer makes meanwhile stays theirs, over ${kind}`, async () => {
    const { inner, backend, before } = open({ [A]: "a\n" });
    before("write", (it) => it.write(Z, "theirs"), { about: about(Z) });
    const { text, isError } = await rename(backend, A, Z);
    assert.deepEqual([text, isError], [taken(Z), true]);
    assert.deepEqual(contentsOf(inner), { [A]: "a\n", [Z]: "theirs" });
  });

  test(`a copy that another writer edits stops the rename; both files stand, over ${kind}`, async () => {
    const { inner, backend, before } = open({ [A]: "a\n" });
    before("downloadFiles", (it) => it.edit(Z, "a", "theirs"), { about: about(Z), nth: looks });
    const { text, isError } = await rename(backend, A, Z);
    assert.equal(isError, true);
    assert.match(text, /\/memories\/a\.md was not moved: .*Nothing was lost/);
    assert.deepEqual(contentsOf(inner), { [A]: "a\n", [Z]: "theirs\n" });
  });

  test(`a source that another writer deletes meanwhile is told of, over ${kind}`, async () => {
    const { inner, backend, before } = open({ [A]: "a\n" });
    before("downloadFiles", (it) => it.delete(A), { about: about(Z), nth: looks });
    const { text, isError } = await rename(backend, A, Z);
    assert.equal(isError, true);
    assert.match(text, /deleted by another writer .* stands at \/memories\/z\.md\./);
    assert.deepEqual(contentsOf(inner), { [Z]: "a\n" });
  });

  test(`a source that may not be deleted stands with its copy, over ${kind}`, async () => {
    const { inner, backend } = open({ [A]: "a\n" });
    const stubborn = new Proxy(backend, {
      get: (target, key) =>
        key === "delete"
          ? async () => ({ error: "permission denied", code: "permission_denied" })
          : Reflect.get(target, key),
    });
    const { text, isError } = await rename(stubborn, A, Z);
    assert.equal(isError, true);
    assert.equal(
      text,
      `Error: ${A} was copied to ${Z}, but could not be deleted: permission denied Both stand.`,
    );
    assert.deepEqual(contentsOf(inner), { [A]: "a\n", [Z]: "a\n" });
  });

  test(`a file that appears in a directory while it is renamed comes along, over ${kind}`, async () => {
    const { inner, backend, before } = open(FILES);
    before("delete", (it) => it.write("/memories/d/late.md", "late"));
    const { isError } = await rename(backend, "/memories/d", "/memories/f");
    assert.equal(isError, false);
    const files = contentsOf(inner);
    assert.equal(files["/memories/f/late.md"], "late");
    assert.deepEqual(
      Object.keys(files).filter((path) => path.startsWith("/memories/d/")),
      [],
    );
  });

  test(`a rename of a directory that breaks off says what was moved, over ${kind}`, async () => {
    const { inner, backend, before } = open(FILES);
    before("write", (it) => it.write("/memories/f/one.md", "theirs"), {
      about: about("/memories/f/one.md"),
    });
    const { text, isError } = await rename(backend, "/memories/d", "/memories/f");
    assert.equal(isError, true);
    assert.equal(
      text,
      "Error: /memories/f/one.md already exists. Moved: /memories/d/deep/two.md. Everything else still stands at /memories/d.",
    );
    const { "/memories/d/deep/two.md": two, ...rest } = FILES;
    assert.deepEqual(contentsOf(inner), {
      ...rest,
      "/memories/f/deep/two.md": two,
      "/memories/f/one.md": "theirs",
    });
  });

  const insert = (tool, path, insert_line, insert_text) =>
    tool.run({ command: "insert", path, insert_line, insert_text });
  const BOTH = "one\ntwo\n";
  const INSERTS = [
    ["puts a line at the top", (it) => it.edit(A, "one", "zero\none"), "zero\nnew\none\ntwo\n"],
    ["puts a line at the end", (it) => it.edit(A, "two\n", "two\nend\n"), "one\nnew\ntwo\nend\n"],
    ["changes a line", (it) => it.edit(A, "two", "2"), "one\nnew\n2\n"],
    ["fills the file anew", (it) => upload(it, A, "other\nlines\n"), "other\nnew\nlines\n"],
    ["doubles the file", (it) => upload(it, A, BOTH + BOTH), `one\nnew\ntwo\n${BOTH}`],
    ["takes the last line end", (it) => upload(it, A, "one\ntwo"), "one\nnew\ntwo"],
    ["takes \\r\\n for its lines", (it) => upload(it, A, "one\r\ntwo\r\n"), "one\r\nnew\ntwo\r\n"],
  ];
  for (const [what, change, after] of INSERTS) {
    test(`insert keeps what another writer ${what} meanwhile, over ${kind}`, async () => {
      const { inner, backend, before } = open({ [A]: BOTH });
      const meddle = change;
      let met = false;
      for (const method of ["edit", "uploadFiles"]) {
        before(method, (it) => {
          if (!met) meddle(it);
          met = true;
        });
      }
      const { text, isError } = await insert(memoryTool(backend), A, 1, "new");
      assert.equal(isError, false, text);
      const found = contentsOf(inner)[A];
      // By text, a change beside the old text may leave the line where it was put.
      const moved = after.replace("zero\nnew\none\n", "zero\none\nnew\n");
      // And `edit` keeps the line ends that the file has by now.
      const ended = after.replace("\nnew\n", "\nnew\r\n");
      assert.ok([after, moved, ended].includes(found), JSON.stringify(found));
    });
  }

  test(`insert says so where another writer has made the lines fewer, over ${kind}`, async () => {
    const { inner, backend, before } = open({ [A]: BOTH });
    for (const method of ["edit", "uploadFiles"]) before(method, (it) => upload(it, A, "one"));
    const { text, isError } = await insert(memoryTool(backend), A, 2, "new");
    assert.deepEqual(
      [text, isError],
      ['Error: "insert_line" must be a whole number from 0 to 1.', true],
    );
    assert.deepEqual(contentsOf(inner), { [A]: "one" });
  });

  test(`insert into a file that is deleted meanwhile does not bring it back, over ${kind}`, async () => {
    const { inner, backend, before } = open({ [A]: BOTH });
    for (const method of ["edit", "uploadFiles"]) before(method, (it) => it.delete(A));
    const { isError } = await insert(memoryTool(backend), A, 1, "new");
    assert.equal(isError, true);
    assert.deepEqual(contentsOf(inner), {});
  });

  test(`insert gives up with an error where others never stop, over ${kind}`, async () => {
    const { inner, backend, before } = open({ [A]: "0\n" });
    let at = 0;
    for (const method of ["edit", "uploadFiles"]) {
      for (let nth = 1; nth <= 70; nth++) {
        before(method, (it) => upload(it, A, `${++at}\n`), { nth });
      }
    }
    const { text, isError } = await insert(memoryTool(backend), A, 1, "new");
    assert.equal(isError, true);
    assert.match(text, /is being changed by other writers\. Nothing was inserted; try again\./);
    assert.deepEqual(contentsOf(inner), { [A]: `${at}\n` });
  });

  for (const [tool, of] of [
    ["the memory tool", memoryTool],
    ["the text editor", textEditorTool],
  ]) {
    test(`twenty inserts of ${tool} at once all land, over ${kind}`, async () => {
      const { inner, backend } = open({ [A]: "" });
      const words = Array.from({ length: 20 }, (_, at) => `line ${at}`);
      const answers = await Promise.all(
        words.map((word) => insert(of(backend), A, 0, `${word}\n`)),
      );
      assert.deepEqual(
        answers.filter(({ isError }) => isError),
        [],
      );
      assert.deepEqual(contentsOf(inner)[A].split("\n").sort(), words.sort());
    });
  }
}

function upload(backend, path, text) {
  return backend.uploadFiles([[path, new TextEncoder().encode(text)]]);
}

const DIRECTORIES = ["/agents/7", "/agents/7/", "agents/7", "/", "/memories/7", "/a.b+c"];
const TEXTS = [
  "see /agents/7/plan.md\n",
  "/agents/7/\n",
  "/agents/7\n",
  "/memories/7/x and /memories/x\n",
  "https://example.org/agents/7/x\n",
  "path: //agents/7//x\n",
  "/ alone, and a/b/c\n",
  "/a.b+c/x and /axbbc/x\n",
  "$& $1 $$\n",
  "Error: /agents/7/x not found\n",
];

for (const directory of DIRECTORIES) {
  const base = `/${directory.split("/").filter(Boolean).join("/")}`.replace(/^\/$/, "");
  const open = (text) => {
    const backend = new StateBackend({ files: { [`${base}/d/x.md`]: text } });
    return { backend, tool: memoryTool(backend, { directory }) };
  };
  for (const text of TEXTS) {
    test(`with directory ${directory} a view shows ${JSON.stringify(text)} as it is`, async () => {
      const { tool } = open(text);
      const answer = await tool.run({ command: "view", path: "/memories/d/x.md" });
      assert.deepEqual(answer, { text: `     1\t${text.trimEnd()}`, isError: false });
    });
  }
  test(`with directory ${directory} every answer names paths below /memories`, async () => {
    const { tool, backend } = open("text\n");
    const run = async (input) => (await tool.run(input)).text;
    assert.equal(
      await run({ command: "view", path: "/memories" }),
      "Files and directories in /memories:\n/memories/d/\n/memories/d/x.md (5 bytes)",
    );
    assert.equal(
      await run({ command: "create", path: "/memories/n", file_text: "1" }),
      "File created successfully at: /memories/n",
    );
    assert.equal(
      await run({ command: "insert", path: "/memories/n", insert_line: 0, insert_text: "0" }),
      "The file /memories/n has been edited.",
    );
    assert.equal(
      await run({ command: "rename", old_path: "/memories/n", new_path: "/memories/m" }),
      "Renamed /memories/n to /memories/m.",
    );
    assert.equal(
      await run({ command: "view", path: "/memories/no" }),
      "Error: The path /memories/no does not exist.",
    );
    assert.equal(
      await run({ command: "delete", path: "/memories/no" }),
      "Error: File '/memories/no' not found",
    );
    assert.equal(await run({ command: "delete", path: "/memories/m" }), "Deleted /memories/m.");
    assert.deepEqual(contentsOf(backend), { [`${base}/d/x.md`]: "text\n" });
  });
}

test("an empty memory is shown as empty, in whatever directory", async (t) => {
  for (const directory of DIRECTORIES) {
    await t.test(String(directory), async () => {
      const answer = await memoryTool(new StateBackend(), { directory }).run({
        command: "view",
        path: "/memories",
      });
      assert.deepEqual(answer, {
        text: "Files and directories in /memories:\n(empty)",
        isError: false,
      });
    });
  }
});

test("a rename ends when other writers keep changing the file, and loses nothing", async (t) => {
  for (const [name, make] of BACKENDS) {
    await t.test(name, async () => {
      const { inner, backend, before } = make({ "/memories/a.md": "0\n" });
      const about = (path) => path === "/memories/a.md";
      let changes = 0;
      const change = (files) => {
        changes += 1;
        const [old] = files.downloadFiles(["/memories/a.md"]);
        const body = new TextDecoder().decode(old.content);
        assert.equal(files.edit("/memories/a.md", body, `${changes}\n`).error, undefined);
      };
      const compares = name.startsWith("kitbag") ? "delete" : "edit";
      for (let nth = 1; nth <= 200; nth++) before(compares, change, { about, nth });
      const answer = await rename(backend, "/memories/a.md", "/memories/b.md");
      assert.equal(answer.isError, true, name);
      assert.match(answer.text, /other writers keep changing it/, name);
      assert.equal(changes, 64, name);
      const files = contentsOf(inner);
      assert.equal(files["/memories/a.md"], `${changes}\n`, name);
      assert.ok(files["/memories/b.md"] !== undefined, name);
    });
  }
});

test("a directory of a disk is viewed as a directory, and is no file to change", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-memory-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "memories/d/empty"), { recursive: true });
  writeFileSync(join(folder, "memories/d/a.md"), "a\n");
  const { run } = memoryTool(new FilesystemBackend({ rootDir: folder }));
  const viewed = await run({ command: "view", path: "/memories/d" });
  assert.match(viewed.text, /a\.md/);
  assert.equal(viewed.isError, false);
  const path = "/memories/d";
  for (const call of [
    { command: "str_replace", path, old_str: "a", new_str: "b" },
    { command: "insert", path, insert_line: 0, insert_text: "b" },
    { command: "create", path, file_text: "b" },
  ]) {
    assert.equal((await run(call)).isError, true, call.command);
  }
  assert.equal(readFileSync(join(folder, "memories/d/a.md"), "utf8"), "a\n");
});

// Every tool with every option over three backends that give the least the documents allow. Whole
// answers: what a model is told must be true of the file, and the same for all three.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools } from "kitbag";
import { pythonShaped, versionOne, versionTwo } from "./minimal.mjs";

const BACKENDS = [
  ["version 1 in JavaScript", versionOne],
  ["version 2 in JavaScript", versionTwo],
  ["version 2 in Python's shape", pythonShaped],
];

const rows = (from, to, name = "line") =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}`.padStart(6))
    .map((number) => `${number}\t${name} ${number.trim()}`)
    .join("\n");
const lines = (count, name = "line") =>
  Array.from({ length: count }, (_, at) => `${name} ${at + 1}\n`).join("");

const LONG = "x".repeat(12_000);
const SEEDS = {
  "/a.txt": "one\ntwo\nthree\n",
  "/open.txt": "one\ntwo\nthree",
  "/blank.txt": "\n\nthird\n\nfifth\n",
  "/empty.txt": "",
  "/single.txt": "only",
  "/same.txt": "x\nx\nx\nx\n",
  "/big.txt": lines(250),
  "/hundred.txt": lines(100),
  "/long.txt": `${LONG}\nmore\n`,
  "/numbers.txt": "     1\tone\n     2\ttwo\n",
  "/crlf.txt": "one\r\ntwo\r\n",
  "/d/one.md": "alpha beta\n",
  "/d/deep/two.md": "beta [x]\ngamma\n",
};

const left = (count, total, next) =>
  `\n[${count} line${count === 1 ? " is" : "s are"} left of ${total}. Read on with offset=${next}]`;
const more = (next) => `\n[More lines follow. Read on with offset=${next}]`;

/** Asked of `read_file`; what must come. Where a backend tells no total, only that more follows. */
const READS = [
  ["a file", { file_path: "/a.txt" }, "     1\tone\n     2\ttwo\n     3\tthree"],
  [
    "a file without a final line end",
    { file_path: "/open.txt" },
    "     1\tone\n     2\ttwo\n     3\tthree",
  ],
  ["a file of one line", { file_path: "/single.txt" }, "     1\tonly"],
  ["an empty file", { file_path: "/empty.txt" }, "[/empty.txt exists but is empty]"],
  ["the first line", { file_path: "/a.txt", limit: 1 }, "     1\tone", [2, 3, 1]],
  ["a line in the middle", { file_path: "/a.txt", offset: 1, limit: 1 }, "     2\ttwo", [1, 3, 2]],
  ["the last line", { file_path: "/a.txt", offset: 2, limit: 1 }, "     3\tthree"],
  ["from the second line on", { file_path: "/a.txt", offset: 1 }, "     2\ttwo\n     3\tthree"],
  [
    "as many lines as there are",
    { file_path: "/a.txt", limit: 3 },
    "     1\tone\n     2\ttwo\n     3\tthree",
  ],
  ["a blank first line", { file_path: "/blank.txt", limit: 1 }, "     1\t", [4, 5, 1]],
  ["a blank line alone", { file_path: "/blank.txt", offset: 3, limit: 1 }, "     4\t", [1, 5, 4]],
  [
    "blank lines among others",
    { file_path: "/blank.txt" },
    "     1\t\n     2\t\n     3\tthird\n     4\t\n     5\tfifth",
  ],
  [
    "pages of lines that are the same",
    { file_path: "/same.txt", offset: 2, limit: 1 },
    "     3\tx",
    [1, 4, 3],
  ],
  [
    "the rest of lines that are the same",
    { file_path: "/same.txt", offset: 2 },
    "     3\tx\n     4\tx",
  ],
  ["a large file's first page", { file_path: "/big.txt" }, rows(1, 100), [150, 250, 100]],
  [
    "a large file's second page",
    { file_path: "/big.txt", offset: 100 },
    rows(101, 200),
    [50, 250, 200],
  ],
  ["a large file's last page", { file_path: "/big.txt", offset: 200 }, rows(201, 250)],
  ["a file of exactly one page", { file_path: "/hundred.txt" }, rows(1, 100)],
  [
    "a page by text numbers",
    { file_path: "/a.txt", start: "1", limit: "1" },
    "     2\ttwo",
    [1, 3, 2],
  ],
  [
    "a file that looks numbered",
    { file_path: "/numbers.txt" },
    "     1\t     1\tone\n     2\t     2\ttwo",
  ],
  ["lines that end with \\r\\n", { file_path: "/crlf.txt" }, "     1\tone\r\n     2\ttwo\r"],
];

for (const [kind, open] of BACKENDS) {
  for (const requireReadBeforeEdit of [true, false]) {
    const how = requireReadBeforeEdit ? "" : ", without reading before edits";
    const set = () => {
      const { backend, files } = open(SEEDS);
      const tools = createFileTools(backend, { requireReadBeforeEdit });
      const call = async (name, input) => {
        const { text, isError } = await tools.call(name, input, { callId: "c" });
        return isError ? { failed: text } : text;
      };
      return { tools, call, files };
    };
    /** Whether the whole file is at hand, so that its lines are counted. */
    const counts = requireReadBeforeEdit && open === versionTwo;

    for (const [what, input, shown, rest] of READS) {
      test(`${kind}${how}: read_file shows ${what}`, async () => {
        const tail = rest === undefined ? "" : counts ? left(...rest) : more(rest[2]);
        assert.equal(await set().call("read_file", input), shown + tail);
      });
    }

    test(`${kind}${how}: read_file past the end says so`, async () => {
      for (const [file_path, total] of [
        ["/a.txt", 3],
        ["/open.txt", 3],
        ["/single.txt", 1],
        ["/hundred.txt", 100],
      ]) {
        for (const input of [
          { file_path, offset: total },
          { file_path, offset: total, limit: 1 },
          { file_path, offset: total + 50 },
        ]) {
          const has =
            counts || total === 1 ? `${total} line${total === 1 ? "" : "s"}` : "fewer lines";
          const said =
            open === versionOne
              ? `Error: Line offset ${input.offset} exceeds file length (${total} lines)`
              : `${file_path} has ${has}; offset=${input.offset} is past the end.`;
          assert.deepEqual(await set().call("read_file", input), { failed: said });
        }
      }
    });

    test(`${kind}${how}: read_file shows a long line whole, and reads on within it`, async () => {
      const { call } = set();
      const first = await call("read_file", { file_path: "/long.txt" });
      const xs = (text) => text.match(/x/g)?.length ?? 0;
      assert.equal(xs(first), 12_000);
      assert.match(first, /\n {5}2\tmore$/);
      const later = await call("read_file", { file_path: "/long.txt", column: 10_000 });
      assert.equal(xs(later), 2_000);
      const one = await call("read_file", { file_path: "/long.txt", offset: 1 });
      assert.equal(one, "     2\tmore");
    });

    test(`${kind}${how}: all pages of a large file, read on as told, are the file`, async () => {
      const { call } = set();
      for (const limit of [1, 7, 50, 100, 249, 250, 251]) {
        const seen = [];
        for (let offset = 0; offset !== undefined; ) {
          const text = await call("read_file", { file_path: "/big.txt", offset, limit });
          const note = /\n\[.*offset=(\d+)\]$/.exec(text);
          seen.push(note ? text.slice(0, note.index) : text);
          offset = note ? Number(note[1]) : undefined;
        }
        assert.equal(seen.join("\n"), rows(1, 250));
      }
    });

    test(`${kind}${how}: a file that is not there`, async () => {
      const { call } = set();
      const { failed } = await call("read_file", { file_path: "/none" });
      assert.match(failed, /^Error: File '\/none' not found$/);
      const edit = { file_path: "/none", old_string: "a", new_string: "b" };
      assert.match((await call("edit_file", edit)).failed, /^Error: File '\/none' not found$/);
    });

    test(`${kind}${how}: ls shows files and directories, and no size that is not known`, async () => {
      const { call } = set();
      assert.equal(await call("ls", { path: "/d" }), "/d/deep/\n/d/one.md");
      assert.equal(await call("ls", { path: "/d/deep/" }), "/d/deep/two.md");
      assert.equal(await call("ls", { path: "/no" }), "/no has no files, or does not exist.");
      const names = (await call("ls", {})).split("\n");
      assert.deepEqual(
        names,
        [
          ...Object.keys(SEEDS).filter((path) => path < "/d/" && !path.startsWith("/d/")),
          "/d/",
          ...Object.keys(SEEDS).filter((path) => path > "/d0"),
        ].sort(),
      );
    });

    test(`${kind}${how}: glob with and without a path`, async () => {
      const { call } = set();
      assert.equal(await call("glob", { pattern: "**/*.md" }), "/d/deep/two.md\n/d/one.md");
      assert.equal(await call("glob", { pattern: "*.md", path: "/d" }), "/d/one.md");
      assert.equal(
        await call("glob", { pattern: "*.none" }),
        "No file matches '*.none' in /. A pattern without '/' looks only directly in that directory; begin it with '**/' to search deeper.",
      );
    });

    test(`${kind}${how}: grep in each of its modes, by path and by glob`, async () => {
      const { call } = set();
      const grep = (input) => call("grep", { pattern: "beta", ...input });
      const content = await grep({ output_mode: "content" });
      assert.match(
        content,
        /\/d\/deep\/two\.md[\s\S]*1[\s\S]*beta \[x\][\s\S]*\/d\/one\.md[\s\S]*alpha beta/,
      );
      assert.equal(await grep({ output_mode: "files_with_matches" }), "/d/deep/two.md\n/d/one.md");
      assert.match(
        await grep({ output_mode: "count" }),
        /\/d\/deep\/two\.md\D*1[\s\S]*\/d\/one\.md\D*1/,
      );
      const narrow = [{ path: "/d/deep" }, { glob: "two*" }, { path: "/d/deep/two.md" }];
      for (const input of narrow) {
        assert.equal(await grep({ ...input, output_mode: "files_with_matches" }), "/d/deep/two.md");
      }
      assert.equal(
        await call("grep", { pattern: "[x]", output_mode: "files_with_matches" }),
        "/d/deep/two.md",
      );
      assert.match(await call("grep", { pattern: "nowhere" }), /nowhere/);
      assert.match(await grep({ max_count: 1, output_mode: "content" }), /two\.md/);
      assert.doesNotMatch(await grep({ max_count: 1, output_mode: "content" }), /one\.md/);
    });

    for (const option of [{ regex: true }, { ignore_case: true }, { before: 1 }, { after: 1 }]) {
      test(`${kind}${how}: grep with ${JSON.stringify(option)} is refused by name, not ignored`, async () => {
        const { failed } = await set().call("grep", {
          pattern: "beta",
          output_mode: "content",
          ...option,
        });
        assert.equal(
          failed,
          "Error: grep with regex, ignoreCase, before, after or maxPerFile is not supported by this backend",
        );
      });
    }

    test(`${kind}${how}: write_file makes a file and never overwrites one`, async () => {
      const { call, files } = set();
      const made = await call("write_file", { file_path: "/new/n.txt", content: "a\nb\n" });
      assert.equal(made, "Wrote /new/n.txt (2 lines, 4 bytes).");
      assert.equal(files.get("/new/n.txt"), "a\nb\n");
      assert.equal(await call("read_file", { file_path: "/new/n.txt" }), "     1\ta\n     2\tb");
      const again = await call("write_file", { file_path: "/a.txt", content: "x" });
      assert.match(again.failed, /already exists/);
      assert.equal(files.get("/a.txt"), SEEDS["/a.txt"]);
      assert.match(await call("write_file", { file_path: "/none.txt", content: "" }), /^Wrote/);
      assert.equal(
        await call("read_file", { file_path: "/none.txt" }),
        "[/none.txt exists but is empty]",
      );
    });

    test(`${kind}${how}: edit_file edits once, everywhere, or says why not`, async () => {
      const { call, files } = set();
      const edit = async (file_path, old_string, new_string, rest = {}) => {
        await call("read_file", { file_path });
        return call("edit_file", { file_path, old_string, new_string, ...rest });
      };
      assert.equal(
        await edit("/a.txt", "two", "2 $& two"),
        "Edited /a.txt: replaced 1 occurrence.",
      );
      assert.equal(files.get("/a.txt"), "one\n2 $& two\nthree\n");
      const twice = await edit("/same.txt", "x", "y");
      assert.match(twice.failed, /^Error: old_string occurs (4 times|more than once)/);
      assert.equal(files.get("/same.txt"), SEEDS["/same.txt"]);
      assert.equal(
        await edit("/same.txt", "x", "y", { replace_all: true }),
        "Edited /same.txt: replaced 4 occurrences.",
      );
      assert.equal(files.get("/same.txt"), "y\ny\ny\ny\n");
      const none = await edit("/a.txt", "nowhere at all", "y");
      assert.match(
        none.failed,
        /^Error: old_string does not occur in \/a\.txt\. Nothing was changed\./,
      );
      assert.match(
        (await call("edit_file", { file_path: "/a.txt", old_string: "a", new_string: "a" })).failed,
        /the same; nothing was changed/,
      );
    });

    test(`${kind}${how}: delete and execute, which it does not have, are refused in words`, async () => {
      const { call, files } = set();
      assert.deepEqual(await call("delete", { file_path: "/a.txt" }), {
        failed: "Error: The object behind this backend has no method delete()",
      });
      assert.equal(files.get("/a.txt"), SEEDS["/a.txt"]);
      const { failed } = await call("execute", { command: "ls" });
      assert.match(
        failed,
        /^The tool 'execute' is not available here: these files have no shell\./,
      );
    });

    test(`${kind}${how}: a large result is moved to a file that is read page by page`, async () => {
      const { tools, call, files } = set();
      const text = lines(20_000, "a rather long line");
      const short = await tools.offload(text, { callId: "big", toolName: "other" });
      assert.match(short, /\/large_tool_results\/big\n/);
      assert.equal(files.get("/large_tool_results/big"), text);
      assert.match(
        await call("read_file", { file_path: "/large_tool_results/big", offset: 19_999 }),
        /^ *20000\ta rather long line 20000$/,
      );
    });
  }
}

test("a backend whose read gives the whole file, whatever was asked, is read by pages", async () => {
  const { backend } = pythonShaped(SEEDS);
  const at = "2026-01-01T00:00:00+00:00";
  const whole = {
    ...backend,
    read: async (path) => ({
      error: null,
      file_data: { content: SEEDS[path], encoding: "utf-8", created_at: at, modified_at: at },
    }),
  };
  const read = async (input) => (await createFileTools(whole).call("read_file", input)).text;
  assert.equal(await read({ file_path: "/a.txt", offset: 1 }), "     2\ttwo\n     3\tthree");
  assert.equal(
    await read({ file_path: "/a.txt", offset: 1, limit: 1 }),
    `     2\ttwo${left(1, 3, 2)}`,
  );
  assert.equal(
    await read({ file_path: "/big.txt", offset: 100, limit: 100 }),
    rows(101, 200) + left(50, 250, 200),
  );
  assert.equal(await read({ file_path: "/empty.txt" }), "[/empty.txt exists but is empty]");
  assert.match(await read({ file_path: "/a.txt", offset: 3 }), /past the end/);
});

test("Python's base64 is bytes, which a model is shown", async () => {
  const { backend } = pythonShaped({});
  const image = {
    ...backend,
    read: async () => ({ file_data: { content: "iVBORw0KGgo=", encoding: "base64" } }),
  };
  const { content } = await createFileTools(image).call("read_file", { file_path: "/p.png" });
  assert.deepEqual(content, [
    { type: "text", text: "/p.png (image/png, 8 bytes)" },
    { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
  ]);
});

test("Python's older names are found too", async () => {
  const { backend } = versionOne(SEEDS);
  const { lsInfo, globInfo, grepRaw, read, write, edit } = backend;
  const older = { ls_info: lsInfo, glob_info: globInfo, grep_raw: grepRaw, read, write, edit };
  const { call } = createFileTools(older);
  assert.equal((await call("ls", { path: "/d" })).text, "/d/deep/\n/d/one.md");
  assert.equal((await call("glob", { pattern: "**/*.md" })).text, "/d/deep/two.md\n/d/one.md");
  const grep = await call("grep", { pattern: "gamma", output_mode: "files_with_matches" });
  assert.equal(grep.text, "/d/deep/two.md");
  assert.equal((await call("read_file", { file_path: "/single.txt" })).text, "     1\tonly");
});

test("an answer with neither content nor error is a failure, not an empty file", async (t) => {
  for (const answer of [{}, { mimeType: "text/plain" }, { content: null }, { file_data: null }]) {
    await t.test(JSON.stringify(answer), async () => {
      const { backend } = versionTwo({});
      const { isError, text } = await createFileTools(
        { ...backend, readRaw: undefined, read: async () => answer },
        { requireReadBeforeEdit: false },
      ).call("read_file", { file_path: "/a" });
      assert.equal(isError, true);
      assert.match(text, /answered neither 'content' nor 'error'/);
    });
  }
});

// The tools of a model: T1 to T36.

import assert from "node:assert/strict";
import { differs, example, inFolder, kitbag, page, shellOver, shownBy, toolsOver } from "./lib.mjs";

const lines = (count, name = "line") =>
  Array.from({ length: count }, (_, at) => `${name} ${at + 1}\n`).join("");

const TREE = {
  "/notes.txt": "notes\n",
  "/a.py": "import os\n# TODO: more\n",
  "/src/deep/b.py": "def __init__(self):\n    pass\n",
  "/subdir/x/y.md": "# y error\n",
  "/other/z.md": "# z\n",
  "/data_01.csv": "1,2\n",
  "/data_A1.csv": "3,4\n",
  "/data_100.csv": "5,6\n",
  "/list.txt": "uses data_*.csv here\n",
};

async function media(endings, kind) {
  for (const ending of endings) {
    const path = `/file.${ending}`;
    const { set } = toolsOver({ [path]: new Uint8Array([0, 1, 2, 255]) });
    const { content } = await set.call("read_file", { file_path: path });
    const block = content.find((one) => one.type !== "text");
    assert.equal(block?.type, kind, ending);
    assert.match(block.mimeType, /^(image|audio|video|application)\//);
    assert.equal(block.data, "AAEC/w==");
  }
}

export default {
  T1: [
    "`ls` lists a directory",
    async () => {
      const { call } = toolsOver(TREE);
      assert.equal(await call("ls", { path: "/subdir" }), "/subdir/x/");
    },
  ],
  T2: [
    "`read_file` reads a file",
    async () => {
      const { call } = toolsOver(TREE);
      assert.match(await call("read_file", { file_path: "/notes.txt" }), /notes$/);
    },
  ],
  T3: [
    "`write_file` makes a file",
    async () => {
      const { call, backend } = toolsOver({});
      await call("write_file", { file_path: "/new/a.txt", content: "x" });
      assert.equal(backend.read("/new/a.txt").content, "x");
    },
  ],
  T4: [
    "`edit_file` replaces exact text",
    async () => {
      const { call, backend } = toolsOver(TREE);
      await call("read_file", { file_path: "/notes.txt" });
      await call("edit_file", { file_path: "/notes.txt", old_string: "no", new_string: "vo" });
      assert.equal(backend.read("/notes.txt").content, "votes\n");
    },
  ],
  T5: [
    "`glob` with the four patterns that a model is shown",
    async () => {
      const { call } = toolsOver(TREE);
      const found = async (pattern) => (await call("glob", { pattern })).split("\n").sort();
      assert.deepEqual(await found("**/*.py"), ["/a.py", "/src/deep/b.py"]);
      assert.deepEqual(await found("*.txt"), ["/list.txt", "/notes.txt"]);
      assert.deepEqual(await found("/subdir/**/*.md"), ["/subdir/x/y.md"]);
      assert.deepEqual(await found("data_??.csv"), ["/data_01.csv", "/data_A1.csv"]);
    },
  ],
  T6: [
    "`grep` with the five calls that a model is shown, by output mode",
    async () => {
      const { call } = toolsOver(TREE);
      assert.equal(await call("grep", { pattern: "TODO" }), "/a.py");
      assert.equal(await call("grep", { pattern: "import", glob: "*.py" }), "/a.py");
      const content = await call("grep", { pattern: "error", output_mode: "content" });
      assert.match(content, /\/subdir\/x\/y\.md:\n1: # y error/);
      assert.equal(await call("grep", { pattern: "def __init__(self):" }), "/src/deep/b.py");
      const both = { pattern: "data_*.csv", glob: "list.*" };
      assert.equal(await call("grep", both), "/list.txt");
      assert.match(await call("grep", { ...both, glob: "data_*.csv" }), /^No/);
      const count = await call("grep", { pattern: "TODO", output_mode: "count" });
      assert.equal(count, "/a.py: 1");
    },
  ],
  T7: [
    "`execute` runs a command where the backend can",
    async () => {
      const backend = shellOver((command) => ({ output: `ran ${command}\n`, exitCode: 0 }));
      const { call, set } = toolsOver({}, {}, backend);
      assert.ok(set.tools.some(({ name }) => name === "execute"));
      assert.match(await call("execute", { command: "ls" }), /ran ls/);
    },
  ],
  T8: [
    "`execute` over any other backend is answered with a message",
    async () => {
      const { call } = toolsOver({});
      assert.match(await call("execute", { command: "ls" }), /'execute' is not available here/);
    },
  ],
  T9: [
    "a page has 100 lines by default",
    async () => {
      const { call } = toolsOver({ "/a": lines(150) });
      const text = await call("read_file", { file_path: "/a" });
      assert.match(text, /\tline 100\n\[50 lines are left of 150\. Read on with offset=100\]$/);
    },
  ],
  T10: [
    "lines are numbered from 1, as by `cat -n`",
    async () => {
      const { call } = toolsOver({ "/a": "x\ny\n" });
      assert.equal(await call("read_file", { file_path: "/a" }), "     1\tx\n     2\ty");
    },
  ],
  T11: [
    "a line over 5,000 characters goes on in rows such as 1.1, which count",
    async () => {
      const { call } = toolsOver({ "/a": `${"x".repeat(12_000)}\nend\n` });
      const rows = (await call("read_file", { file_path: "/a" })).split("\n");
      const numbers = rows.map((row) => row.split("\t")[0].trim());
      assert.deepEqual(numbers, ["1", "1.1", "1.2", "2"]);
      assert.equal(rows[0].split("\t")[1].length, 5_000);
      const two = await call("read_file", { file_path: "/a", limit: 2 });
      assert.match(two, /1\.1\tx+\n\[Line 1 of 2 goes on/);
    },
  ],
  T12: [
    "an empty file is said to be empty",
    async () => {
      const { call } = toolsOver({ "/a": "" });
      assert.equal(await call("read_file", { file_path: "/a" }), "[/a exists but is empty]");
    },
  ],
  T13: [
    "a file that is missing is an error",
    async () => {
      const { call } = toolsOver({});
      assert.match(await call("read_file", { file_path: "/a" }), /^Error: File '\/a' not found/);
    },
  ],
  T14: [
    "pictures are shown as blocks",
    () => media(["png", "jpg", "jpeg", "gif", "webp", "PNG"], "image"),
  ],
  T15: [
    "PDF, presentations, audio and video are shown as blocks",
    async () => {
      await media(["pdf", "ppt", "pptx"], "file");
      await media(["mp3", "wav", "flac"], "audio");
      await media(["mp4", "webm", "mov"], "video");
    },
  ],
  T16: [
    "an edit of a file that was not read is refused",
    async () => {
      const { call, backend } = toolsOver({ "/a": "x" });
      const text = await call("edit_file", { file_path: "/a", old_string: "x", new_string: "y" });
      assert.match(text, /not been read/);
      assert.equal(backend.read("/a").content, "x");
    },
  ],
  T17: [
    "`offset` and `limit` choose a page",
    async () => {
      const { call } = toolsOver({ "/a": lines(400) });
      const text = await call("read_file", { file_path: "/a", offset: 100, limit: 200 });
      assert.match(text, /^ {3}101\tline 101\n[\s\S]*\tline 300\n\[/);
    },
  ],
  T18: [
    "`grep` takes its pattern literally",
    async () => {
      const { call } = toolsOver({ "/a": "f(x)[0]|*\n", "/b": "fx0\n" });
      for (const pattern of ["f(x)", "[0]", "|*"]) {
        assert.equal(await call("grep", { pattern }), "/a");
      }
    },
  ],
  T19: [
    "`execute` answers output and exit code",
    async () => {
      const backend = shellOver(() => ({ output: "bad\n", exitCode: 3 }));
      const { call } = toolsOver({}, {}, backend);
      assert.equal(await call("execute", { command: "x" }), "bad\n[exit code 3]");
    },
  ],
  T20: [
    "`execute` takes a time limit for one command",
    () =>
      inFolder(async (rootDir) => {
        let limit;
        const execute = ({ timeoutMs }) => {
          limit = timeoutMs;
          return { output: "", exitCode: 0 };
        };
        const backend = new kitbag.LocalShellBackend({ rootDir, execute });
        await toolsOver({}, {}, backend).call("execute", { command: "make", timeout: 300 });
        assert.equal(limit, 300_000);
      }),
  ],
  T21: [
    "a time limit of 0 is none, where the host allows it",
    shownBy(
      "tests/host/defaults.test.mjs",
      "a time limit of 0 is none, as an option and for one command",
    ),
  ],
  T22: [
    "a time limit over `maxExecuteTimeout` (3,600 s) is refused",
    async () => {
      const backend = shellOver(() => ({ output: "", exitCode: 0 }));
      const over = (limit, options) =>
        toolsOver({}, options, backend).call("execute", { command: "x", timeout: limit });
      assert.match(await over(3_601), /over the limit of 3600/);
      assert.doesNotMatch(await over(3_600), /limit/);
      assert.match(await over(11, { maxExecuteTimeout: 10 }), /over the limit of 10/);
    },
  ],
  T23: [
    "full descriptions of the tools, in words of our own",
    shownBy(
      "tests/tools/adapters/prompts.test.mjs",
      "guided has for each tool when to use it, and examples where a call has several forms",
    ),
  ],
  T24: [
    "a full system prompt with conventions, in words of our own",
    async () => {
      const { set } = toolsOver({}, { prompts: "guided" });
      for (const part of [/### Conventions/, /### How to work/, /### Large results/]) {
        assert.match(set.systemPrompt, part);
      }
      assert.doesNotMatch(set.systemPrompt, /### Commands/);
      const shell = toolsOver({}, { prompts: "guided" }, shellOver());
      assert.match(shell.set.systemPrompt, /### Commands/);
    },
  ],
  T25: [
    "descriptions can be replaced one by one",
    () => {
      const { set } = toolsOver({}, { customToolDescriptions: { ls: "Shows a directory." } });
      assert.equal(set.tools.find(({ name }) => name === "ls").description, "Shows a directory.");
    },
  ],
  T26: [
    "the system prompt can be replaced",
    () => assert.equal(toolsOver({}, { systemPrompt: "Brief." }).set.systemPrompt, "Brief."),
  ],
  T27: [
    "a result over 20,000 tokens is moved to a file",
    async () => {
      const { set, backend } = toolsOver({});
      const note = await set.offload("x".repeat(80_001), { callId: "call_7", toolName: "web" });
      assert.match(note, /too large/);
      assert.equal(backend.read("/large_tool_results/call_7").content.length, 80_001);
    },
  ],
  T28: [
    "four characters count as one token",
    async () => {
      const { set } = toolsOver({}, { toolTokenLimitBeforeEvict: 10 });
      assert.equal(await set.offload("x".repeat(40), { callId: "c" }), "x".repeat(40));
      assert.match(await set.offload("x".repeat(41), { callId: "c" }), /too large/);
    },
  ],
  T29: [
    "what stands in its place names the file by the id of the call",
    async () => {
      const { set } = toolsOver({}, { toolTokenLimitBeforeEvict: 10 });
      const note = await set.offload("y".repeat(99), { callId: "call_1" });
      assert.match(note, /\/large_tool_results\/call_1\n/);
    },
  ],
  T30: [
    "a middleware wraps the model's call (prompt) and every tool's call (large results)",
    shownBy(
      "tests/tools/adapters/task.test.mjs",
      "${name}: every message of the task, and the files it leaves",
    ),
  ],
  T31: ["the state has a channel `files`", example("004 the middleware and its options")],
  T32: [
    "a user's message that is too large goes to `/conversation_history/`",
    async () => {
      const { set, backend } = toolsOver({}, { humanMessageTokenLimitBeforeEvict: 10 });
      const note = await set.offloadMessage("m".repeat(99), { messageId: "m1" });
      assert.match(note, /\/conversation_history\/m1\.md/);
      assert.equal(backend.read("/conversation_history/m1.md").content.length, 99);
    },
  ],
  T33: [
    "without a backend the files are in the state",
    example("004 the middleware and its options"),
  ],
  T34: ["the program that works in a folder with a shell", example("004 the demonstration")],
  T35: [
    "seven tools by default",
    differs(
      "`delete` is offered, too; `tools` leaves it out",
      page("prompts", "Which tools a model gets"),
      () => {
        const names = (options) => toolsOver({}, options, shellOver()).set.tools.map((t) => t.name);
        const seven = ["ls", "read_file", "write_file", "edit_file", "glob", "grep", "execute"];
        assert.deepEqual(
          names({}).filter((name) => name !== "delete"),
          seven,
        );
        assert.deepEqual(names({ tools: seven }), seven);
      },
    ),
  ],
  T36: [
    "`read_file` over a backend that answers only content and type",
    async () => {
      const object = shellOver(() => ({ output: "", exitCode: 0 }));
      object.read = (_path, offset = 0, limit = 500) => ({
        content: lines(150)
          .split("\n")
          .slice(offset, offset + limit)
          .join("\n"),
        mimeType: "text/plain",
      });
      object.readRaw = undefined;
      const { call } = toolsOver({}, {}, object);
      const first = await call("read_file", { file_path: "/a" });
      assert.match(first, /^ {5}1\tline 1\n/);
      assert.match(first, /Read on with offset=100\]$/);
      const last = await call("read_file", { file_path: "/a", offset: 140 });
      assert.match(last, /^ {3}141\tline 141\n[\s\S]*\tline 150$/);
      const past = await call("read_file", { file_path: "/a", offset: 500 });
      assert.match(past, /past the end/);
    },
  ],
};

// The option `changes`: `diff` and `undo` in the tools of every adapter, over a turn and over a history.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { begin, createFileTools, StateBackend, withPolicy } from "kitbag";
import { fileTools as aiTools } from "kitbag/ai";
import { fileTools as anthropicTools } from "kitbag/anthropic";
import { beginKept, changeTools, withHistory } from "kitbag/history";
import { kitbagMiddleware, fileTools as langchainTools } from "kitbag/langchain";
import { registerFileTools } from "kitbag/mcp";
import { fileTools as openaiTools } from "kitbag/openai";

const FILES = { "/plan.md": "1. Measure\n2. Build\n", "/notes/a.md": "a\n", "/notes/b.md": "b\n" };
const memory = (files = {}) => new StateBackend({ scope: "instance", files });

/** What the tools can be over. */
const BASES = {
  "a turn": (backend) => begin(backend, { by: "agent-7" }),
  "a kept turn": (backend) => beginKept(backend, { keepIn: { backend: memory() } }),
  "a history": (backend) => withHistory(backend, { keepIn: { backend: memory() }, by: "agent-7" }),
};

/** The id that an answer names. */
const changeIn = (text) => {
  const found = /\[change (\S+)\]$/.exec(text);
  assert.ok(found, `no change is named: ${text}`);
  return found[1];
};

/** Tools over a base, called one after the other. */
function toolsOver(base, options = {}) {
  const files = createFileTools(base, { changes: changeTools(), ...options });
  let last = 0;
  const call = (name, input) => files.call(name, input, { callId: `call_${last++}` });
  const good = async (name, input) => {
    const { text, isError } = await call(name, input);
    assert.equal(isError, false, text);
    return text;
  };
  const bad = async (name, input) => {
    const { text, isError } = await call(name, input);
    assert.equal(isError, true, text);
    return text;
  };
  return { files, call, good, bad };
}

const textOf = async (backend, path) => (await backend.read(path)).content;

for (const [name, over] of Object.entries(BASES)) {
  test(`${name}: an edit is shown and taken back by the id in its answer`, async () => {
    const base = over(memory(FILES));
    const { good } = toolsOver(base);
    assert.equal(await good("diff", {}), "Nothing has changed.");
    await good("read_file", { file_path: "/plan.md" });
    const edit = { file_path: "/plan.md", old_string: "Measure", new_string: "Look" };
    const id = changeIn(await good("edit_file", edit));
    const patch = await good("diff", {});
    assert.match(patch, /^diff --git a\/plan\.md b\/plan\.md\n/);
    assert.match(patch, /\n-1\. Measure\n\+1\. Look\n/);
    const undone = await good("undo", { change: id });
    assert.match(undone, /^Took back \/plan\.md\./);
    assert.equal(await textOf(base, "/plan.md"), FILES["/plan.md"]);
    // An undo is a change, too.
    await good("undo", { change: changeIn(undone) });
    assert.match(await textOf(base, "/plan.md"), /1\. Look/);
  });

  test(`${name}: creating, deleting, moving and appending are taken back exactly`, async () => {
    const base = over(memory(FILES));
    const { good } = toolsOver(base, { tools: "all" });
    const all = async () => {
      const { files } = await base.glob("**");
      const paths = files.map(({ path }) => path).sort();
      return Promise.all(paths.map(async (path) => [path, await textOf(base, path)]));
    };
    const before = await all();
    for (const [tool, input] of [
      ["write_file", { file_path: "/new.md", content: "new\n" }],
      ["append_file", { file_path: "/plan.md", content: "3. Rest\n" }],
      ["move_file", { from: "/notes", to: "/kept" }],
      ["copy_file", { from: "/plan.md", to: "/copy.md" }],
      ["delete", { file_path: "/notes" }],
    ]) {
      const id = changeIn(await good(tool, input));
      assert.notDeepEqual(await all(), before, tool);
      await good("undo", { change: id });
      assert.deepEqual(await all(), before, tool);
    }
  });

  test(`${name}: an undo over newer work is refused, and so is an unknown id`, async () => {
    const base = over(memory(FILES));
    const { good, bad } = toolsOver(base);
    await good("read_file", { file_path: "/plan.md" });
    const edit = (from, to) =>
      good("edit_file", { file_path: "/plan.md", old_string: from, new_string: to });
    const first = changeIn(await edit("Measure", "Look"));
    const second = changeIn(await edit("Build", "Make"));
    assert.match(await bad("undo", { change: first }), /\/plan\.md was changed since; nothing was/);
    await good("undo", { change: second });
    await good("undo", { change: first });
    assert.equal(await textOf(base, "/plan.md"), FILES["/plan.md"]);
    assert.match(await bad("undo", { change: "none" }), /no change none/);
    assert.match(await bad("undo", {}), /change is missing/);
    assert.match(await bad("diff", { path: 7 }), /path must be a string/);
  });

  test(`${name}: a diff can be narrowed to a path, is capped, and names binary files`, async () => {
    const base = over(memory(FILES));
    const { good } = toolsOver(base);
    await good("write_file", { file_path: "/notes/c.md", content: "c\n" });
    await good("write_file", { file_path: "/long.md", content: "word ".repeat(6_000) });
    await base.uploadFiles([["/i.png", new Uint8Array([0, 255, 0])]]);
    const narrow = await good("diff", { path: "./notes//" });
    assert.match(narrow, /^diff --git a\/notes\/c\.md b\/notes\/c\.md\n/);
    assert.doesNotMatch(narrow, /long|png/);
    const whole = await good("diff", {});
    assert.ok(whole.length < 21_000, `${whole.length}`);
    assert.match(whole, /Binary file \/i\.png was created\./);
    assert.match(whole, /\[Too long to show; name a path to see one: \/long\.md \(created\)\]/);
  });

  test(`${name}: a call that fails and one that only reads name no change`, async () => {
    const { good, bad } = toolsOver(over(memory(FILES)));
    for (const text of [
      await good("read_file", { file_path: "/plan.md" }),
      await good("grep", { pattern: "Build" }),
      await bad("edit_file", { file_path: "/plan.md", old_string: "none", new_string: "x" }),
      await bad("write_file", { file_path: "/plan.md", content: "x" }),
      await bad("no_tool", {}),
    ]) {
      assert.doesNotMatch(text, /\[change/);
    }
  });

  test(`${name}: several calls at once are all made, each with its own id`, async () => {
    const base = over(memory(FILES));
    const { good } = toolsOver(base);
    await good("read_file", { file_path: "/plan.md" });
    const answers = await Promise.all([
      good("edit_file", { file_path: "/plan.md", old_string: "Measure", new_string: "Look" }),
      good("edit_file", { file_path: "/plan.md", old_string: "Build", new_string: "Make" }),
      good("write_file", { file_path: "/x.md", content: "x" }),
    ]);
    assert.equal(await textOf(base, "/plan.md"), "1. Look\n2. Make\n");
    const ids = answers.map(changeIn);
    assert.equal(new Set(ids).size, 3);
    await good("undo", { change: ids[2] });
    assert.equal((await base.read("/x.md")).code, "not_found");
  });

  test(`${name}: rules hold for changes and for undo`, async () => {
    const base = over(memory(FILES));
    const audit = [];
    const options = {
      policy: { readOnlyPrefixes: ["/notes"], audit: (record) => audit.push(record.operation) },
    };
    const { good, bad } = toolsOver(base, options);
    assert.doesNotMatch(await bad("delete", { file_path: "/notes" }), /\[change/);
    assert.equal((await base.glob("**", "/notes")).files.length, 2);
    const id = changeIn(await good("write_file", { file_path: "/ok.md", content: "x" }));
    await good("undo", { change: id });
    assert.ok(audit.includes("write"));
  });
}

test("a history knows changes of an earlier process by their ids", async () => {
  const backend = memory(FILES);
  const keepIn = memory();
  const first = toolsOver(withHistory(backend, { keepIn: { backend: keepIn } }));
  const id = changeIn(await first.good("delete", { file_path: "/notes" }));
  const second = toolsOver(withHistory(backend, { keepIn: { backend: keepIn } }));
  await second.good("undo", { change: id });
  assert.equal(backend.read("/notes/b.md").content, "b\n");
});

test("undo knows the last 256 changes of a turn", async () => {
  const { good, bad } = toolsOver(begin(memory()));
  const ids = [];
  for (let at = 0; at < 257; at++) {
    ids.push(changeIn(await good("write_file", { file_path: `/${at}.md`, content: "x" })));
  }
  assert.match(await bad("undo", { change: ids[0] }), /no change .* older than the last 256/);
  await good("undo", { change: ids[1] });
});

test("undo looks among the newest 1,000 entries of a history", async () => {
  const base = withHistory(memory(), { keepIn: { backend: memory() } });
  const { good, bad } = toolsOver(base);
  const id = changeIn(await good("write_file", { file_path: "/x.md", content: "x" }));
  const files = Array.from({ length: 999 }, (_, at) => [`/${at}`, new Uint8Array([1])]);
  for (const file of files) await base.uploadFiles([file]);
  await good("undo", { change: id });
  await base.write("/last.md", "x");
  assert.match(await bad("undo", { change: id }), /no change .* older than the last 1000/);
});

test("a turn with such tools is committed and undone as every turn", async () => {
  const backend = memory(FILES);
  const turn = begin(backend);
  const { good } = toolsOver(turn);
  await good("write_file", { file_path: "/x.md", content: "x" });
  assert.equal(backend.read("/x.md").code, "not_found");
  assert.ok((await turn.commit()).receipt);
  assert.equal(backend.read("/x.md").content, "x");
});

test("only a turn or a history will do, and the error says so", async () => {
  const changes = changeTools();
  assert.throws(
    () => createFileTools(memory(), { changes }),
    /option "changes" needs a turn \(begin, beginKept\) or a history as the backend, not StateBackend/,
  );
  assert.throws(
    () => createFileTools(withPolicy(begin(memory()), {}), { changes }),
    /not PolicyBackend; give rules and ignore files as options of the tools/,
  );
  assert.throws(() => createFileTools(memory(), { changes: {} }), /changeTools\(\)/);
  const late = createFileTools((_runtime) => memory(), { changes });
  const { text, isError } = await late.call("diff", {});
  assert.equal(isError, true);
  assert.match(text, /needs a turn/);
});

test("a function gives each call its turn", async () => {
  const turns = { one: begin(memory(FILES)), two: begin(memory(FILES)) };
  const files = createFileTools((runtime) => turns[runtime], { changes: changeTools() });
  const call = (runtime, name, input) => files.call(name, input, { runtime });
  const { text } = await call("one", "write_file", { file_path: "/x.md", content: "x" });
  assert.equal((await call("two", "diff", {})).text, "Nothing has changed.");
  assert.match((await call("one", "diff", {})).text, /x\.md/);
  assert.equal((await call("two", "undo", { change: changeIn(text) })).isError, true);
  assert.equal((await call("one", "undo", { change: changeIn(text) })).isError, false);
});

/** How each adapter runs a tool; the text that the model gets. */
const ADAPTERS = {
  createFileTools: (files, options) => {
    const tools = createFileTools(files, options);
    return async (name, input) => (await tools.call(name, input)).text;
  },
  langchainTools: (files, options) => {
    const { tools } = langchainTools(files, options);
    return (name, input) => tools.find((one) => one.name === name).invoke(input);
  },
  kitbagMiddleware: (files, options) => {
    const { tools } = kitbagMiddleware(files, options);
    return (name, input) => tools.find((one) => one.name === name).invoke(input);
  },
  aiTools: (files, options) => {
    const { tools } = aiTools(files, options);
    return (name, input) =>
      tools[name].execute(input, { toolCallId: crypto.randomUUID(), messages: [] });
  },
  anthropicTools: (files, options) => {
    const tools = anthropicTools(files, options);
    assert.ok(tools.definitions.some(({ name }) => name === "undo"));
    return async (name, input) => {
      const use = { type: "tool_use", id: crypto.randomUUID(), name, input };
      return (await tools.run({ content: [use] }))[0].content[0].text;
    };
  },
  openaiTools: (files, options) => {
    const tools = openaiTools(files, { ...options, api: "chat" });
    const responses = openaiTools(files, options);
    assert.ok(tools.handles("diff") && tools.definitions.length === responses.definitions.length);
    return async (name, input) => {
      const called = { name, arguments: JSON.stringify(input) };
      const tool_calls = [{ id: crypto.randomUUID(), type: "function", function: called }];
      return (await tools.run({ tool_calls }))[0].content;
    };
  },
  registerFileTools: async (files, options) => {
    const server = new McpServer({ name: "files", version: "1.0.0" });
    registerFileTools(server, files, options);
    const client = new Client({ name: "test", version: "1.0.0" });
    const [here, there] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(here), client.connect(there)]);
    const { tools } = await client.listTools();
    const hints = (name) => tools.find((tool) => tool.name === name).annotations.readOnlyHint;
    assert.deepEqual([hints("diff"), hints("undo")], [true, false]);
    return async (name, input) =>
      (await client.callTool({ name, arguments: input })).content
        .map(({ text }) => text)
        .join("\n");
  },
};

for (const [name, adapter] of Object.entries(ADAPTERS)) {
  test(`${name}: diff and undo`, async () => {
    const turn = begin(memory(FILES));
    const text = async (tool, input) => {
      const given = await (await ran)(tool, input);
      return typeof given === "string" ? given : given.map((block) => block.text).join("\n");
    };
    const ran = adapter(turn, { changes: changeTools() });
    const id = changeIn(await text("write_file", { file_path: "/x.md", content: "x\n" }));
    assert.match(await text("diff", { path: "/x.md" }), /^\+x$/m);
    assert.match(await text("undo", { change: id }), /^Took back \/x\.md\./);
    assert.equal(await text("diff", {}), "Nothing has changed.");
    // Without the option there are no such tools.
    assert.ok(createFileTools(turn).tools.every((tool) => !["diff", "undo"].includes(tool.name)));
  });
}

test("the words about both tools cost at most 120 tokens, an answer 8 more", async () => {
  const turn = begin(memory());
  const both = createFileTools(turn, { changes: changeTools() });
  const said = both.tools
    .filter(({ name }) => name === "diff" || name === "undo")
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  assert.equal(said.length, 2);
  const tokens = JSON.stringify(said).length / 4;
  assert.ok(tokens <= 120, `${tokens}`);
  const { text } = await both.call("write_file", { file_path: "/x", content: "x" });
  assert.ok(/\n\[change \S+\]$/.exec(text)[0].length / 4 <= 8, text);
});

/** A history, and sets of tools of sessions over it. */
function sessions(files, keep) {
  const inner = memory(files);
  const keepIn = { backend: memory() };
  const history = () => withHistory(inner, { keepIn, ...(keep && { keep }) });
  const open = () =>
    createFileTools(history(), {
      changes: changeTools(),
      tools: "all",
      requireReadBeforeEdit: false,
    });
  return { inner, open };
}

test("an undo leaves what another session did in a call of the same name", async () => {
  const { inner, open } = sessions({ "/a": "0\n", "/b": "0\n" });
  const edit = (set, file_path, new_string) =>
    set.call("edit_file", { file_path, old_string: "0", new_string }, { callId: "call_1" });
  await edit(open(), "/a", "first");
  await new Promise((resolve) => setTimeout(resolve, 2));
  const second = open();
  const change = changeIn((await edit(second, "/b", "second")).text);
  for (const set of [second, open()]) {
    const { text } = await set.call("undo", { change });
    if (set === second) assert.match(text, /^Took back \/b\.\n/);
    assert.equal(await textOf(inner, "/a"), "first\n");
    assert.equal(await textOf(inner, "/b"), "0\n");
  }
});

test("a call that changed many files is taken back whole, also by another session", async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`/d/${at}`, `${at}\n`]));
  const { inner, open } = sessions(many);
  const { text } = await open().call("move_file", { from: "/d", to: "/e" });
  const undone = await open().call("undo", { change: changeIn(text) });
  assert.equal(undone.isError, false, undone.text);
  assert.deepEqual(Object.keys(inner.snapshot()).sort(), Object.keys(many).sort());
});

test("a call with more entries than are searched is taken back whole or not at all", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 1_100 }, (_, at) => [`/d/${at}`, `${at}\n`]),
  );
  const { inner, open } = sessions(many);
  const { text } = await open().call("copy_file", { from: "/d", to: "/e" });
  const change = changeIn(text);
  const before = Object.keys(inner.snapshot()).length;
  const undone = await open().call("undo", { change });
  const after = Object.keys(inner.snapshot()).length;
  assert.deepEqual([before, after], undone.isError ? [2_200, 2_200] : [2_200, 1_100], undone.text);
});

test("the oldest change that is searched is taken back to what was right before it", async (t) => {
  const { inner, open } = sessions({ "/f": "one\n" });
  const set = open();
  const edit = (old_string, new_string, callId) =>
    set.call("edit_file", { file_path: "/f", old_string, new_string }, { callId });
  const { now } = Date;
  t.after(() => {
    Date.now = now;
  });
  const moment = now();
  // Both in one millisecond.
  Date.now = () => moment;
  await edit("one", "two", "a");
  const change = changeIn((await edit("two", "three", "b")).text);
  Date.now = now;
  for (let at = 0; at < 999; at++) {
    await set.call("append_file", { file_path: "/other", content: "x" }, { callId: `c${at}` });
    if (at === 0) await set.call("write_file", { file_path: "/other", content: "x" });
  }
  const undone = await set.call("undo", { change });
  assert.equal(undone.isError, false, undone.text);
  assert.equal(await textOf(inner, "/f"), "two\n");
});

test("each of many calls at once names its change", async () => {
  const { open } = sessions({});
  const set = open();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      set.call("write_file", { file_path: `/f${at}`, content: `${at}` }, { callId: `c${at}` }),
    ),
  );
  assert.equal(new Set(answers.map(({ text }) => changeIn(text))).size, 40);
});

test("the only change is shown however long it is, and its end says what is missing", async () => {
  const { good } = toolsOver(begin(memory()));
  const content = Array.from({ length: 3_000 }, (_, at) => `line ${at}\n`).join("");
  await good("write_file", { file_path: "/big.md", content });
  for (const input of [{}, { path: "/big.md" }]) {
    const text = await good("diff", input);
    assert.match(text, /\n\+line 9\n/);
    assert.match(text, /\n\[The patch goes on; \d+ characters are not shown\]\n$/);
    assert.ok(text.length < 20_100);
  }
});

test("an undo of many files names some of them", async () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`/d/${at}`, "x"]));
  const { good } = toolsOver(begin(memory(many)));
  const undone = await good("undo", {
    change: changeIn(await good("delete", { file_path: "/d" })),
  });
  assert.match(undone, /^Took back .* and 200 more\./);
});

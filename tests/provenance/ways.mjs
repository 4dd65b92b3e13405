// How an agent can read the planted text, and how it can write a text. Each way is one tool, adapter
// or wrapper over the files that it is given.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  adaptBackendProtocol,
  applyPatch,
  begin,
  CompositeBackend,
  createFileTools,
  toPatch,
  toV1,
  withPolicy,
} from "kitbag";
import { fileTools as aiTools } from "kitbag/ai";
import { memoryTool, textEditorTool } from "kitbag/anthropic";
import { withIgnore } from "kitbag/ignore";
import { withIndex } from "kitbag/indexed";
import { bashFileSystem, withBash } from "kitbag/just-bash";
import { fileTools as langchainTools } from "kitbag/langchain";
import { registerFileTools } from "kitbag/mcp";
import { fileTools as openaiTools } from "kitbag/openai";
import { fromTar, toTar } from "kitbag/tar";
import { copyTree } from "kitbag/transfer";
import { fromZip, toZip } from "kitbag/zip";
import { memory, must, PAGE, PLANT, SCRATCH } from "./lib.mjs";

const encoder = new TextEncoder();
const all = { tools: "all" };
const tool = async (files, name, input) =>
  must(await createFileTools(files, all).call(name, input)).text;
const shell = async (files, command) => must(await withBash(files).execute(command)).output;

/** Calls the server of the Model Context Protocol over these files. */
async function mcp(files, call) {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, files, all);
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  try {
    return must(await call(client));
  } finally {
    await client.close();
  }
}

const openai = async (files, name, input) => {
  const call = { id: "1", type: "function", function: { name, arguments: JSON.stringify(input) } };
  return openaiTools(files, { ...all, api: "chat" }).run({ role: "assistant", tool_calls: [call] });
};

/** Reads the planted text in some way and returns what it was told. */
export const READS = {
  read: (files) => files.read(PAGE),
  "read of one line": (files) => files.read(PAGE, 1, 1),
  "read of the page's rest": (files) => files.read(PAGE, 1),
  readRaw: (files) => files.readRaw(PAGE),
  "readRaw of a part": (files) => files.readRaw(PAGE, { start: 1 }),
  downloadFiles: (files) => files.downloadFiles(["/work/todo.md", PAGE]),
  grep: (files) => files.grep("obey"),
  "grep of one file": (files) => files.grep("obey", PAGE),
  "grep that shows the lines around": (files) =>
    files.grep("Title", "/", null, null, { after: 1, regex: true }),
  "the tool read_file": (files) => tool(files, "read_file", { file_path: PAGE }),
  "the tool grep": (files) => tool(files, "grep", { pattern: "obey", output_mode: "content" }),
  "a failed edit that shows the nearest lines": async (files) =>
    (
      await createFileTools(files, { requireReadBeforeEdit: false }).call("edit_file", {
        file_path: PAGE,
        old_string: `${PLANT.slice(0, -1)}: always obeys`,
        new_string: "x",
      })
    ).text,
  "the text editor's view": (files) => textEditorTool(files).run({ command: "view", path: PAGE }),
  "a shell's cat": (files) => shell(files, `cat ${PAGE}`),
  "a shell's grep -r": (files) => shell(files, "grep -rh obey /web"),
  "a shell's file system": (files) => bashFileSystem(files).readFile(PAGE),
  "a tool of the Model Context Protocol": (files) =>
    mcp(files, (client) => client.callTool({ name: "read_file", arguments: { file_path: PAGE } })),
  "a resource of the Model Context Protocol": (files) =>
    mcp(files, (client) => client.readResource({ uri: `kitbag://${PAGE}` })),
  "a tool of the AI SDK": (files) =>
    aiTools(files).tools.read_file.execute({ file_path: PAGE }, {}),
  "a tool of LangChain": (files) =>
    langchainTools(files)
      .tools.find(({ name }) => name === "read_file")
      .invoke({ file_path: PAGE }),
  "a function call of OpenAI": (files) => openai(files, "read_file", { file_path: PAGE }),
  "a turn": (files) => begin(files).read(PAGE),
  "a policy": (files) => withPolicy(files, { quota: { maxFiles: 1_000 } }).read(PAGE),
  "a composite": (files) => new CompositeBackend(files, { "/other/": memory({}) }).read(PAGE),
  "a mount of it": (files) =>
    new CompositeBackend(memory({}), { "/mnt/": files }).read(`/mnt${PAGE}`),
  "ignore files": (files) => withIgnore(files).grep("obey"),
  "a search index": async (files) => {
    const searched = withIndex(files, { keepIn: { path: "/.index/" } });
    await searched.updateIndex();
    return searched.grep("obey");
  },
  "the first protocol": (files) => toV1(files).read(PAGE),
  "an adapted object": (files) =>
    adaptBackendProtocol({
      ...Object.fromEntries(
        ["ls", "grep", "glob", "write", "edit", "readRaw"].map((name) => [name, () => ({})]),
      ),
      read: (...args) => files.read(...args),
    }).read(PAGE),
  "a copy, and a read of that": async (files) => {
    must(await files.copy(PAGE, "/work/copied.md"));
    return files.read("/work/copied.md");
  },
  "a move, and a grep of that": async (files) => {
    must(await files.move("/web", "/work/moved"));
    return files.grep("obey", "/work");
  },
  "an archive": async (files) => new Uint8Array(await new Response(toTar(files)).arrayBuffer()),
};

const SCRATCH_DIR = "/work/out";

/** Stores `text` at `to`; with `over` it replaces `kept` in a file that is there. */
export const WRITES = {
  write: async (files, to, text) => must(await files.write(to, text)),
  "write of a relative path": async (files, to, text) => must(await files.write(to.slice(1), text)),
  "write of another spelling": async (files, to, text) =>
    must(await files.write(`/${to.replaceAll("/", "/./")}`, text)),
  uploadFiles: async (files, to, text) =>
    must(
      await files.uploadFiles([
        ["/work/ok.md", encoder.encode("ok")],
        [to, encoder.encode(text)],
      ]),
    ),
  "write, then move": async (files, to, text) => {
    must(await files.write(SCRATCH, text));
    must(await files.move(SCRATCH, to));
  },
  "write, then copy": async (files, to, text) => {
    must(await files.write(SCRATCH, text));
    must(await files.copy(SCRATCH, to));
  },
  "append to a scratch file, then copy": async (files, to, text) => {
    must(await files.append("/work/todo.md", text));
    must(await files.copy("/work/todo.md", to));
  },
  "edit of a scratch file, then copy": async (files, to, text) => {
    must(await files.edit("/work/todo.md", "milk", text));
    must(await files.copy("/work/todo.md", to));
  },
  "the tool write_file": (files, to, text) =>
    tool(files, "write_file", { file_path: to, content: text }),
  "the tools write_file and move_file": async (files, to, text) => {
    await tool(files, "write_file", { file_path: SCRATCH, content: text });
    await tool(files, "move_file", { from: SCRATCH, to });
  },
  "the tools write_file and copy_file": async (files, to, text) => {
    await tool(files, "write_file", { file_path: SCRATCH, content: text });
    await tool(files, "copy_file", { from: SCRATCH, to });
  },
  "the text editor's create": async (files, to, text) =>
    must(await textEditorTool(files).run({ command: "create", path: to, file_text: text })),
  "a shell's redirect": (files, to, text) =>
    shell(files, `mkdir -p ${to.replace(/\/[^/]*$/, "/")}; cat > ${to} <<'END'\n${text}\nEND\n`),
  "a shell's tee -a": (files, to, text) =>
    shell(files, `mkdir -p ${to.replace(/\/[^/]*$/, "/")}; tee -a ${to} <<'END'\n${text}\nEND\n`),
  "a shell's mv": (files, to, text) =>
    shell(
      files,
      `mkdir -p ${to.replace(/\/[^/]*$/, "/")}; cat > ${SCRATCH} <<'END'\n${text}\nEND\nmv ${SCRATCH} ${to}`,
    ),
  "a shell's file system": (files, to, text) => bashFileSystem(files).writeFile(to, text),
  "a tool of the Model Context Protocol": (files, to, text) =>
    mcp(files, (client) =>
      client.callTool({ name: "write_file", arguments: { file_path: to, content: text } }),
    ),
  "a tool of the AI SDK": (files, to, text) =>
    aiTools(files).tools.write_file.execute({ file_path: to, content: text }, {}),
  "a tool of LangChain": (files, to, text) =>
    langchainTools(files)
      .tools.find(({ name }) => name === "write_file")
      .invoke({ file_path: to, content: text }),
  "a function call of OpenAI": (files, to, text) =>
    openai(files, "write_file", { file_path: to, content: text }),
  "a turn": async (files, to, text) => {
    const turn = begin(files);
    must(await turn.write(to, text));
    must(await turn.commit());
  },
  "a patch": async (files, to, text) => {
    const turn = begin(memory({}));
    must(await turn.write(to, `${text}\n`));
    must(await applyPatch(files, toPatch((await turn.diff()).changes).patch));
  },
  "a policy": async (files, to, text) =>
    must(await withPolicy(files, { inspect: () => undefined }).write(to, text)),
  "a policy that asks, and is answered": async (files, to, text) =>
    must(
      await withPolicy(files, {
        permissions: [{ operations: ["write"], paths: ["/**"], mode: "ask" }],
        onAsk: () => true,
      }).write(to, text),
    ),
  "a composite": async (files, to, text) =>
    must(await new CompositeBackend(files, { "/other/": memory({}) }).write(to, text)),
  "a move between mounts": async (files, to, text) => {
    const both = new CompositeBackend(memory({}), { "/mnt/": files });
    must(await both.write("/page.md", text));
    must(await both.move("/page.md", `/mnt${to}`));
  },
  "the first protocol": async (files, to, text) => must(await toV1(files).write(to, text)),
  "a tree of another backend": async (files, to, text) =>
    must(await copyTree(memory({ [to]: text }), files)),
  "a tar archive": async (files, to, text) =>
    must(await fromTar(toTar(memory({ [to]: text })), files)),
  "a zip archive": async (files, to, text) =>
    must(await fromZip(toZip(memory({ [to]: text })), files)),
  "a directory's move": async (files, to, text) => {
    must(await files.write(`${SCRATCH_DIR}/${to.split("/").at(-1)}`, text));
    must(await files.move(SCRATCH_DIR, to.replace(/\/[^/]*$/, "/moved")));
  },
};

/** Puts `text` into a file that is there and has the line `kept`. */
export const CHANGES = {
  edit: async (files, to, text) => must(await files.edit(to, "kept", text)),
  "edit of all occurrences": async (files, to, text) =>
    must(await files.edit(to, "kept", text, true)),
  append: async (files, to, text) => must(await files.append(to, text)),
  uploadFiles: async (files, to, text) =>
    must(await files.uploadFiles([[to, encoder.encode(text)]])),
  "delete, then write": async (files, to, text) => {
    must(await files.delete(to));
    must(await files.write(to, text));
  },
  "the tool edit_file": async (files, to, text) => {
    const tools = createFileTools(files);
    must(await tools.call("read_file", { file_path: to }));
    const input = { file_path: to, old_string: "kept", new_string: text };
    must(await tools.call("edit_file", input));
  },
  "the tool append_file": (files, to, text) =>
    tool(files, "append_file", { file_path: to, content: text }),
  "the text editor's str_replace": async (files, to, text) =>
    must(
      await textEditorTool(files).run({
        ...{ command: "str_replace", path: to },
        ...{ old_str: "kept", new_str: text },
      }),
    ),
  "the text editor's insert": async (files, to, text) =>
    must(
      await textEditorTool(files).run({
        ...{ command: "insert", path: to },
        ...{ insert_line: 0, insert_text: `${text}\n` },
      }),
    ),
  "a shell's append": (files, to, text) => shell(files, `cat >> ${to} <<'END'\n${text}\nEND\n`),
  "a shell's mv over it": (files, to, text) =>
    shell(files, `cat > ${SCRATCH} <<'END'\n${text}\nEND\nmv -f ${SCRATCH} ${to}`),
  "a move over it": async (files, to, text) => {
    must(await files.write(SCRATCH, text));
    must(await files.move(SCRATCH, to, { overwrite: true }));
  },
  "a copy over it": async (files, to, text) => {
    must(await files.write(SCRATCH, text));
    must(await files.copy(SCRATCH, to, { overwrite: true }));
  },
  "a tree over it": async (files, to, text) =>
    must(await copyTree(memory({ [to]: text }), files, { onConflict: "overwrite" })),
  "a zip archive over it": async (files, to, text) =>
    must(await fromZip(toZip(memory({ [to]: text })), files, { onConflict: "overwrite" })),
  "an edit in a turn": async (files, to, text) => {
    const turn = begin(files);
    must(await turn.edit(to, "kept", text));
    must(await turn.commit());
  },
  "a policy that changes what is written": async (files, to, text) =>
    must(
      await withPolicy(files, { inspect: () => ({ content: text }) }).edit(to, "kept", "harmless"),
    ),
};

/** The memory tool, which sees nothing but `/memories`. */
export const MEMORY = {
  create: (path, text) => ({ command: "create", path, file_text: text }),
  str_replace: (_, text) => ({
    ...{ command: "str_replace", path: "/memories/notes.md" },
    ...{ old_str: "kept", new_str: text },
  }),
  insert: (_, text) => ({
    ...{ command: "insert", path: "/memories/notes.md" },
    ...{ insert_line: 0, insert_text: `${text}\n` },
  }),
};

export const remember = async (files, input) => must(await memoryTool(files).run(input));

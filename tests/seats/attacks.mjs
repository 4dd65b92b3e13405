// The seats that are asked to make the attempts of `attempts.mjs`, as verbs over a backend.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createBashTool } from "bash-tool";
import { Bash } from "just-bash";
import { fileTools as aiTools, sandboxSession } from "kitbag/ai";
import {
  agentToolset,
  fileTools as anthropicTools,
  memoryTool,
  textEditorTool,
} from "kitbag/anthropic";
import { createFs } from "kitbag/fs";
import { bashExecute, bashFileSystem, withBash } from "kitbag/just-bash";
import { fileTools as langchainTools } from "kitbag/langchain";
import { workspaceFilesystem } from "kitbag/mastra";
import { registerFileTools } from "kitbag/mcp";
import { commandShell, fileTools as openaiTools, patchEditor } from "kitbag/openai";
import { fileSystemProvider } from "kitbag/vscode";
import { vscode } from "./editor.mjs";
import { eveSession } from "./eve.mjs";

/** Commands of a shell, as verbs. */
const byCommands = (run) => ({
  read: (path) => run(`cat '${path}'`),
  tail: (path) => run(`tail -n 1 '${path}'`),
  write: (path) => run(`echo x > '${path}'`),
  append: (path) => run(`echo x >> '${path}'`),
  edit: (path, old) => run(`sed -i 's/${old}/x/' '${path}'`),
  remove: (path) => run(`rm -r '${path}'`),
  move: (from, to) => run(`mv '${from}' '${to}'`),
  copy: (from, to) => run(`cp -r '${from}' '${to}'`),
  list: (path) => run(`ls '${path}'`),
  search: (text, path) => run(`grep -r '${text}' '${path}'`),
  command: run,
});

/** Tools by name, as verbs: `call` returns what the model sees, and `isError` if it is told. */
const byTools = (call) => ({
  read: (file_path) => call("read_file", { file_path }),
  tail: (file_path) => call("read_file", { file_path, tail: 1 }),
  write: (file_path) => call("write_file", { file_path, content: "x" }),
  append: (file_path) => call("append_file", { file_path, content: "x" }),
  edit: (file_path, old_string) => call("edit_file", { file_path, old_string, new_string: "x" }),
  remove: (file_path) => call("delete", { file_path }),
  move: (source_path, destination_path) =>
    call("move_file", { source_path, destination_path, overwrite: true }),
  copy: (source_path, destination_path) =>
    call("copy_file", { source_path, destination_path, overwrite: true }),
  list: (path) => call("ls", { path }),
  search: (pattern, path) => call("grep", { pattern, path, output_mode: "content" }),
});

const OPTIONS = { tools: "all", requireReadBeforeEdit: false };

const bytesOf = async (run) => {
  const { exitCode, ...said } = await run;
  if (exitCode !== 0) throw new Error(JSON.stringify(said));
  return said;
};

/** What Claude's own tools can do; paths are below `root` for the model. */
const builtIn = (tool, root) => {
  const at = (path) => root + path.replace(/^\/*/, "/");
  const run = async (input) => {
    const { text, isError } = await tool.run(input);
    if (isError) throw new Error(text);
    return text;
  };
  const can = {
    read: (path) => run({ command: "view", path: at(path) }),
    write: (path) => run({ command: "create", path: at(path), file_text: "x" }),
    edit: (path, old_str) => run({ command: "str_replace", path: at(path), old_str, new_str: "x" }),
    append: (path) => run({ command: "insert", path: at(path), insert_line: 0, insert_text: "x" }),
    list: (path) => run({ command: "view", path: at(path) }),
  };
  if (tool.definition.name !== "memory") return can;
  return {
    ...can,
    remove: (path) => run({ command: "delete", path: at(path) }),
    move: (from, to) => run({ command: "rename", old_path: at(from), new_path: at(to) }),
  };
};

/** What VS Code asks of a provider, with paths as they are. */
function editor(backend) {
  const provider = fileSystemProvider(backend, vscode);
  const at = (path) => ({ path, toString: () => path, with: (change) => at(change.path) });
  const bytes = (text) => new TextEncoder().encode(text);
  const all = { create: true, overwrite: true };
  const text = async (path) => new TextDecoder().decode(await provider.readFile(at(path)));
  /** Looks, reads, looks and writes, as an editor that saves; again if somebody was faster. */
  const save = async (path, change) => {
    for (;;) {
      const { size, mtime } = await provider.stat(at(path));
      const fresh = change(await text(path));
      const now = await provider.stat(at(path));
      if (now.size !== size || now.mtime !== mtime) continue;
      try {
        return await provider.writeFile(at(path), bytes(fresh), all);
      } catch (error) {
        if (error.code !== "Unavailable") throw error;
      }
    }
  };
  return {
    read: text,
    write: (path) => provider.writeFile(at(path), bytes("x"), all),
    append: (path) => save(path, (old) => `${old}x`),
    edit: (path, old) => save(path, (whole) => whole.replace(old, "x")),
    remove: (path) => provider.delete(at(path), { recursive: true }),
    move: (from, to) => provider.rename(at(from), at(to), { overwrite: true }),
    copy: (from, to) => provider.copy(at(from), at(to), { overwrite: true }),
    list: (path) => provider.readDirectory(at(path)),
    search: async (pattern, path) => {
      const found = [];
      const folderOptions = [{ folder: at(path), includes: [], excludes: [] }];
      const token = { isCancellationRequested: false, onCancellationRequested() {} };
      const how = { folderOptions, maxResults: 100, surroundingContext: 1 };
      await provider.provideTextSearchResults(
        { pattern },
        how,
        { report: ({ uri, previewText }) => found.push([uri.path, previewText]) },
        token,
      );
      const named = await provider.provideFileSearchResults("", how, token);
      return [...found, ...named.filter(({ path: one }) => one.includes("key")).map(String)];
    },
  };
}

/** The verbs of each seat over a backend. */
export const SEATS = {
  "VS Code": editor,
  fs: (backend) => {
    const p = createFs(backend).promises;
    return {
      read: (path) => p.readFile(path, "utf8"),
      write: (path) => p.writeFile(path, "x"),
      append: (path) => p.appendFile(path, "x"),
      edit: (path) => p.truncate(path, 1),
      remove: (path) => p.rm(path, { recursive: true, force: true }),
      move: (from, to) => p.rename(from, to),
      copy: (from, to) => p.cp(from, to, { recursive: true }),
      list: (path) => p.readdir(path),
    };
  },
  mastra: (backend) => {
    const files = workspaceFilesystem(backend);
    const pattern = (text, path) => ({
      pattern: text,
      path,
      caseSensitive: true,
      includeHidden: true,
    });
    return {
      read: (path) => files.readFile(path, { encoding: "utf8" }),
      write: (path) => files.writeFile(path, "x"),
      append: (path) => files.appendFile(path, "x"),
      edit: (path) => files.writeFile(path, "x", { expectedMtime: new Date(0) }),
      remove: async (path) => {
        const { type } = await files.stat(path);
        await files[type === "file" ? "deleteFile" : "rmdir"](path, {
          recursive: true,
          force: true,
        });
      },
      move: (from, to) => files.moveFile(from, to),
      copy: (from, to) => files.copyFile(from, to, { recursive: true }),
      list: (path) => files.readdir(path, { recursive: true }),
      search: (text, path) => files.grep(pattern(text, path)),
    };
  },
  "AI SDK, tools": (backend) => {
    const { tools } = aiTools(backend, OPTIONS);
    return byTools((name, input) => tools[name].execute(input, { toolCallId: "c", messages: [] }));
  },
  "AI SDK, sandbox": (backend) => {
    const session = sandboxSession(withBash(backend));
    return {
      read: (path) => session.readTextFile({ path }),
      write: (path) => session.writeTextFile({ path, content: "x" }),
      append: (path) => session.writeBinaryFile({ path, content: new Uint8Array(1) }),
      add: (path) => bytesOf(session.run({ command: `printf x >> ${path}` })),
      remove: async (path) =>
        (await session.deleteFile({ path })) || Promise.reject(new Error("none")),
      list: (path) => session.listDirectory({ path }),
      command: (command) => bytesOf(session.run({ command })),
    };
  },
  "OpenAI, tools": (backend) => {
    const files = openaiTools(backend, OPTIONS);
    return byTools(async (name, input) => {
      const call = { type: "function_call", call_id: "c", name, arguments: JSON.stringify(input) };
      return (await files.run({ output: [call] }))[0].output;
    });
  },
  "OpenAI Agents, editor and shell": (backend) => {
    const editor = patchEditor(backend);
    const shell = commandShell(withBash(backend));
    const done = async (change) => {
      const { status, output } = await change;
      if (status === "failed") throw new Error(output);
      return output;
    };
    const update = (path, diff, moveTo) =>
      done(editor.updateFile({ type: "update_file", path, diff, moveTo }));
    return {
      read: (path) => update(path, "-nothing\n+x"),
      write: (path) => done(editor.createFile({ type: "create_file", path, diff: "+x" })),
      edit: (path) => update(path, "@@\n+x"),
      remove: (path) => done(editor.deleteFile({ type: "delete_file", path })),
      move: (from, to) => update(from, "", to),
      command: async (command) => {
        const { output } = await shell.run({ commands: [command] });
        const [{ stdout, stderr, outcome }] = output;
        return bytesOf({ exitCode: outcome.exitCode, stdout, stderr });
      },
    };
  },
  "Anthropic, tools": (backend) => {
    const files = anthropicTools(backend, OPTIONS);
    return byTools(async (name, input) => {
      const content = [{ type: "tool_use", id: "c", name, input }];
      const [result] = await files.run({ content });
      if (result.is_error) throw new Error(JSON.stringify(result.content));
      return result.content;
    });
  },
  "Anthropic, memory": (backend) => builtIn(memoryTool(backend, { directory: "/" }), "/memories"),
  "Anthropic, text editor": (backend) => builtIn(textEditorTool(backend), ""),
  "Anthropic, toolset": (backend) => {
    const tools = new Map(agentToolset(withBash(backend)).map((tool) => [tool.name, tool]));
    const call = (name, input) => tools.get(name).run(input);
    return {
      read: (file_path) => call("read", { file_path }),
      write: (file_path) => call("write", { file_path, content: "x" }),
      edit: (file_path, old_string) => call("edit", { file_path, old_string, new_string: "x" }),
      list: (path) => call("glob", { pattern: "**", path }),
      search: (pattern, path) => call("grep", { pattern, path }),
      command: (command) => call("bash", { command }),
      add: (path) => call("bash", { command: `printf x >> ${path}` }),
    };
  },
  MCP: async (backend, t) => {
    const server = new McpServer({ name: "kitbag", version: "1" });
    registerFileTools(server, backend, OPTIONS);
    const client = new Client({ name: "test", version: "1" });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    t.after(() => client.close());
    const call = async (name, input) => {
      const { content, isError } = await client.callTool({ name, arguments: input });
      if (isError) throw new Error(JSON.stringify(content));
      return content;
    };
    const trial = { new_string: "x", dryRun: true };
    return {
      ...byTools(call),
      tryEdit: (file_path, old_string) => call("edit_file", { file_path, old_string, ...trial }),
    };
  },
  LangChain: (backend) => {
    const tools = new Map(langchainTools(backend, OPTIONS).tools.map((tool) => [tool.name, tool]));
    return byTools((name, input) => tools.get(name).invoke(input));
  },
  "bash-tool": async (backend) => {
    const sandbox = new Bash({ fs: bashFileSystem(backend), cwd: "/" });
    const { tools } = await createBashTool({ sandbox, destination: "/" });
    const call = (name, input) => tools[name].execute(input, { toolCallId: "c", messages: [] });
    const run = (command) => bytesOf(call("bash", { command }));
    return {
      ...byCommands(run),
      read: (path) => call("readFile", { path }),
      write: (path) => call("writeFile", { path, content: "x" }),
    };
  },
  "just-bash": (backend) => {
    const execute = bashExecute(backend);
    const run = (command) => bytesOf(execute(command));
    return byCommands(run);
  },
  eve: async (backend, t) => {
    const session = await eveSession(backend, t);
    // The backend is at `/workspace`, where paths that are not absolute begin.
    const at = (path) => path.replace(/^\//, "/workspace/");
    const inside = (command) => command.replaceAll(/(?<=[\s'])\//g, "/workspace/");
    const run = (command) => bytesOf(session.run({ command: inside(command) }));
    return {
      ...byCommands(run),
      read: (path) => session.readTextFile({ path: at(path) }),
      write: (path) => session.writeTextFile({ path: at(path), content: "x" }),
      remove: (path) => session.removePath({ path: at(path), recursive: true }),
    };
  },
};

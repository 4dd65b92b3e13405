// The agent toolset of Anthropic (`bash`, `read`, `write`, `edit`, `glob`, `grep`), over a backend, as the tool
// runners of Anthropic's package take it. No package of Anthropic is needed: a tool is a plain object.

import {
  type AnyBackend,
  adaptBackendProtocol,
  Backend,
  type BackendProtocolV2,
  StateBackend,
  visibleName,
} from "kitbag";
import { canonical, namesIn } from "../../core/paths.js";
import { type Shell, shellOf } from "../framework/commands.js";
import { meant } from "../framework/names.js";
import { store } from "./editing.js";
import { type Place, Refusal, text } from "./reading.js";

/** One tool of `agentToolset`. */
type AgentTool = {
  /** Name of the tool. */
  name: string;
  /** Description for the model. */
  description: string;
  /** JSON Schema of the arguments. */
  input_schema: {
    /** The arguments are an object. */
    type: "object";
    /** The arguments. */
    properties: Record<string, unknown>;
    /** Those that must be there. */
    required: string[];
  };
  /** Returns the arguments as they are; `run` checks them. */
  parse(input: unknown): unknown;
  /** Runs the tool. What failed is thrown, with a message for the model. */
  run(
    input: unknown,
    context?: {
      /** Ends a command. */
      signal?: AbortSignal | null;
    },
  ): Promise<string>;
};

/** Limits, as those of the toolset in Anthropic's package. */
const MAX_READ_BYTES = 256 * 1024;
const MAX_OUTPUT = 100 * 1024;
const MAX_PATHS = 200;
const COMMAND_MS = 120_000;
/** Matches to ask for: more have no room in the output. */
const MAX_MATCHES = 5_000;

const IGNORED = new Set([".git", "node_modules"]);

type Input = Record<string, unknown>;
type Run = (input: Input, signal: AbortSignal | undefined) => Promise<string>;

const words = { type: "string" };

function failed(tool: string, said: string | null | undefined): Refusal {
  const why = (said ?? "the backend gave no answer").replace(/^Error: /, "");
  return new Refusal(`${tool}: ${why}`);
}

/** An argument that is a text with something in it. */
function needed(tool: string, input: Input, name: string): string {
  const value = input[name];
  if (typeof value === "string" && value !== "") return value;
  throw new Refusal(`${tool}: ${name} is required`);
}

const pathOf = (tool: string, input: Input) => canonical(meant(needed(tool, input, "file_path")));

/** First and last line of `view_range`; nothing means the whole file. */
function rangeOf(given: unknown): [number, number] {
  if (given === undefined || given === null) return [1, Number.MAX_SAFE_INTEGER];
  const range = given as unknown[];
  if (!Array.isArray(range) || range.length !== 2 || !range.every(Number.isInteger)) {
    throw new Refusal("read: view_range must be [start_line, end_line]");
  }
  const [first, last] = range as [number, number];
  return [Math.max(1, first), last > 0 ? last : Number.MAX_SAFE_INTEGER];
}

function cut(output: string): string {
  if (output.length <= MAX_OUTPUT) return output;
  return `${output.slice(0, MAX_OUTPUT)}\n[output truncated at ${MAX_OUTPUT} characters]`;
}

function reading(files: BackendProtocolV2): Run {
  return async (input) => {
    const path = pathOf("read", input);
    const [first, last] = rangeOf(input.view_range);
    if (last < first) return "";
    const page = await files.read(path, first - 1, Math.min(last - first + 1, 2 ** 31));
    if (page.error !== undefined) throw failed("read", page.error);
    if (typeof page.content !== "string")
      throw failed("read", `${visibleName(path)} is not a text`);
    const { length } = new TextEncoder().encode(page.content);
    if (length <= MAX_READ_BYTES) return page.content;
    throw failed(
      "read",
      `${length} bytes of ${visibleName(path)}, at most ${MAX_READ_BYTES}; use view_range`,
    );
  };
}

function writing(place: Place): Run {
  return async (input) => {
    const path = pathOf("write", input);
    const content = text("content", input.content);
    try {
      await store(place, path, content);
    } catch (error) {
      throw failed("write", (error as Error).message);
    }
    return `wrote ${new TextEncoder().encode(content).length} bytes to ${visibleName(String(input.file_path))}`;
  };
}

function editing(files: BackendProtocolV2): Run {
  return async (input) => {
    const path = pathOf("edit", input);
    const old = needed("edit", input, "old_string");
    const fresh = text("new_string", input.new_string);
    const answer = await files.edit(path, old, fresh, input.replace_all === true);
    if (answer.error !== undefined) throw failed("edit", answer.error);
    return `edited ${visibleName(String(input.file_path))} (${answer.occurrences ?? 1} replacement(s))`;
  };
}

const directoryOf = (input: Input) =>
  typeof input.path === "string" && input.path !== "" ? canonical(meant(input.path)) : "/";

function finding(files: BackendProtocolV2): Run {
  return async (input) => {
    const pattern = needed("glob", input, "pattern");
    if (pattern.startsWith("/") || pattern.split(/[\\/{},]/).includes("..")) {
      throw failed("glob", "the pattern must be relative, without ..; name the directory in path");
    }
    const found = await files.glob(pattern, directoryOf(input));
    if (found.error !== undefined) throw failed("glob", found.error);
    const paths = (found.files ?? [])
      .map(({ path }) => path)
      .filter((path) => !namesIn(path).some((name) => IGNORED.has(name)));
    const shown = paths.slice(0, MAX_PATHS).map(visibleName).join("\n") || "no matches";
    const more = paths.length > MAX_PATHS || found.truncated === true;
    return more ? `${shown}\n[only ${MAX_PATHS} of more paths; narrow the pattern]` : shown;
  };
}

type Grep = (
  pattern: string,
  path: string,
  glob: null,
  options: object,
) => ReturnType<BackendProtocolV2["grep"]>;

function searching(files: BackendProtocolV2, own: boolean): Run {
  return async (input, signal) => {
    const pattern = needed("grep", input, "pattern");
    if (!own && /[\\^$.|?*+()[\]{}]/.test(pattern)) {
      throw failed(
        "grep",
        "these files can be searched for plain text only, without \\^$.|?*+()[]{}",
      );
    }
    const grep = files.grep.bind(files) as unknown as Grep;
    const how = { regex: true, maxCount: MAX_MATCHES, ...(signal && { signal }) };
    const found = await grep(pattern, directoryOf(input), null, how);
    if (found.error !== undefined) throw failed("grep", found.error);
    const lines = (found.matches ?? []).map(
      (one) => `${visibleName(one.path)}:${one.line}:${one.text}`,
    );
    if (lines.length === 0) return "no matches";
    if (found.truncated) lines.push(`[only ${MAX_MATCHES} of more matches; narrow the pattern]`);
    return cut(lines.join("\n"));
  };
}

function running(shell: Shell): Run {
  return async (input, signal) => {
    // Each command has a shell of its own, so there is none to end.
    if (input.restart === true && !input.command) return "bash session restarted";
    const command = needed("bash", input, "command");
    const { timeout_ms: given } = input;
    const timeoutMs = typeof given === "number" && given > 0 ? given : COMMAND_MS;
    const answer = await shell.execute(command, { timeoutMs, ...(signal && { signal }) });
    if (answer.error !== undefined) throw failed("bash", answer.error);
    const output = cut(answer.output);
    if (answer.exitCode === 0) return output;
    throw new Refusal(output || `bash: exit ${answer.exitCode}`);
  };
}

function toolOf(
  name: string,
  description: string,
  properties: Record<string, unknown>,
  required: string[],
  run: Run,
): AgentTool {
  return {
    name,
    description,
    input_schema: { type: "object", properties, required },
    parse: (input) => input,
    run: async (input, context) => {
      const given = typeof input === "object" && input !== null ? (input as Input) : {};
      const signal = context?.signal ?? undefined;
      signal?.throwIfAborted();
      return run(given, signal);
    },
  };
}

/**
 * The agent toolset of Anthropic over a backend: `read`, `write`, `edit`, `glob`, `grep`, and `bash` if the backend
 * can run commands. For the tool runners of `@anthropic-ai/sdk`.
 *
 * @example
 * const tools = agentToolset(new StateBackend());
 * await client.beta.messages.toolRunner({ model, max_tokens: 1024, messages, tools });
 */
export function agentToolset(backend: AnyBackend): AgentTool[] {
  if (typeof backend !== "object" || backend === null) {
    throw new TypeError("agentToolset: the first argument must be a backend");
  }
  // Which also keeps the library's own files from a model.
  const files = adaptBackendProtocol(backend);
  const place: Place = { files, name: visibleName, signal: undefined };
  const lines = { type: "array", items: { type: "integer" } };
  const file = { file_path: { ...words, description: "Path from the root, /" } };
  const edit = { ...file, old_string: words, new_string: words, replace_all: { type: "boolean" } };
  const where = { pattern: words, path: { ...words, description: "Where to search. Default: /" } };
  const range = { ...lines, description: "[start_line, end_line], from 1, both included" };
  const tools = [
    toolOf(
      "read",
      "Read a text file.",
      { ...file, view_range: range },
      ["file_path"],
      reading(files),
    ),
    toolOf(
      "write",
      "Write a text file; directories are made, and a file that exists is replaced.",
      { ...file, content: words },
      ["file_path", "content"],
      writing(place),
    ),
    toolOf(
      "edit",
      "Replace old_string by new_string in a file. It must occur once, unless replace_all.",
      edit,
      ["file_path", "old_string", "new_string"],
      editing(files),
    ),
    toolOf("glob", "Find files by a pattern, newest first.", where, ["pattern"], finding(files)),
    toolOf(
      "grep",
      "Search the contents of files for a regular expression.",
      where,
      ["pattern"],
      searching(files, backend instanceof Backend || backend instanceof StateBackend),
    ),
  ];
  if (typeof (backend as Partial<Shell>).execute !== "function") return tools;
  const command = {
    command: { ...words, description: "The command to run" },
    restart: { type: "boolean" },
    timeout_ms: { type: "integer", description: "Time limit in milliseconds" },
  };
  const about = "Run a command. Each has a shell of its own: directory and variables do not stay.";
  return [toolOf("bash", about, command, [], running(shellOf("agentToolset", backend))), ...tools];
}

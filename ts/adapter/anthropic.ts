// Anthropic's Messages API: definitions and a runner for the file tools, and handlers for the
// memory and text editor tools that are built into Claude, over any backend. No package of
// Anthropic is needed: definitions and results are plain objects.

import {
  adaptBackendProtocol,
  type BackendOrFactory,
  type BackendProtocolV2,
  type ContentBlock,
  type FileTool,
  type FileTools,
  type FileToolsOptions,
  resolveBackend,
  type ToolCall,
} from "kitbag";
import { onlyKnown } from "../core/nearest.js";
import { canonical, namesIn } from "../core/paths.js";
import {
  type Body,
  bodyOf,
  checkMove,
  filesBelow,
  kindOf,
  type Moving,
  moveBelow,
  moveFile,
  readBody,
  stillWanted,
  swap,
  TRIES,
  Trouble,
} from "./changes.js";
import { toolsFor } from "./framework/options.js";

/** A block of a tool result. */
type AnthropicBlock =
  | {
      /** A text. */
      type: "text";
      /** The text; never empty, because the API refuses that. */
      text: string;
    }
  | {
      /** An image. */
      type: "image";
      /** The image itself. */
      source: {
        /** How `data` is encoded. */
        type: "base64";
        /** MIME type of the image. */
        media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
        /** The image in base64. */
        data: string;
      };
    }
  | {
      /** A PDF. */
      type: "document";
      /** The PDF itself. */
      source: {
        /** How `data` is encoded. */
        type: "base64";
        /** MIME type of a PDF. */
        media_type: "application/pdf";
        /** The PDF in base64. */
        data: string;
      };
    };

/** The result of one tool use, for the next message to the model. */
type AnthropicToolResult = {
  /** The kind of block. */
  type: "tool_result";
  /** The `id` of the tool use. */
  tool_use_id: string;
  /** The result. */
  content: AnthropicBlock[];
  /** Whether the result reports a failure. */
  is_error: boolean;
};

/** A tool use in a message of the model. */
type AnthropicToolUse = {
  /** The kind of block. */
  type: "tool_use";
  /** Identifies the tool use; the result repeats it. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** The arguments, as an object. */
  input: unknown;
};

/** Definition of a tool for the Messages API. */
type AnthropicToolDefinition = {
  /** Name of the tool. */
  name: string;
  /** Description for the model. */
  description: string;
  /** JSON Schema of the arguments. */
  input_schema: FileTool["inputSchema"];
};

/** Information about the run of a message's tool uses. */
type AnthropicCall = ToolCall & {
  /**
   * The messages that the request had, for the option `unchanged`: pages in them are not sent again.
   * Default: every page is sent.
   */
  messages?: readonly unknown[];
};

/** The result of `fileTools`: that of `createFileTools`, and what the Messages API takes and gives. */
export interface AnthropicTools extends FileTools {
  /** Definitions for `tools` of the Messages API. */
  definitions: AnthropicToolDefinition[];
  /** Whether this is the name of one of these tools. */
  handles(name: string): boolean;
  /**
   * Runs every tool use of a message, one after the other; returns the content of the next message
   * of the user. Never rejects: a failure is a result. A use of an unknown tool gets an error as its
   * result; `handles` tells which are known.
   */
  run(
    message: {
      /** The blocks of the model's message, as the API returned them. */
      content: readonly unknown[];
    },
    call?: AnthropicCall,
  ): Promise<AnthropicToolResult[]>;
}

const PICTURES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Converts blocks to those of the Messages API; an unsupported type becomes a text about it. */
export function toAnthropicBlocks(content: ContentBlock[]): AnthropicBlock[] {
  return content.map((block): AnthropicBlock => {
    if (block.type === "text") return { type: "text", text: block.text || "[empty]" };
    const source = { type: "base64" as const, data: block.data };
    if (PICTURES.includes(block.mimeType)) {
      return { type: "image", source: { ...source, media_type: block.mimeType as "image/png" } };
    }
    if (block.mimeType === "application/pdf") {
      return { type: "document", source: { ...source, media_type: "application/pdf" } };
    }
    return { type: "text", text: `[${block.mimeType}: the Messages API cannot show this type]` };
  });
}

/** The text of an earlier result in the messages of a request, behind their last compaction. */
function textOf(messages: readonly unknown[], id: string): string | undefined {
  let text: string | undefined;
  for (const message of messages) {
    const { content } = message as { content?: unknown };
    for (const block of (Array.isArray(content) ? content : []) as Array<Record<string, unknown>>) {
      if (block.type === "compaction") text = undefined;
      if (block.type !== "tool_result" || block.tool_use_id !== id) continue;
      const parts = block.content as AnthropicBlock[];
      text = parts.length === 1 && parts[0]?.type === "text" ? parts[0].text : undefined;
    }
  }
  return text;
}

/** Whether the API itself has left out something of the request before the model saw it. */
function edited(message: object): boolean {
  const { context_management: edits } = message as {
    context_management?: { applied_edits?: readonly unknown[] } | null;
  };
  return (edits?.applied_edits?.length ?? 0) > 0;
}

/**
 * The file tools for Anthropic's Messages API: definitions for `tools`, a prompt for `system`, and
 * runners for the model's tool uses. It needs no package of Anthropic.
 *
 * @param backend The backend, or a function that is called at each tool call and returns one.
 * @param options Which tools, and rules; the same as of `createFileTools`.
 * @example
 * const files = fileTools(new StateBackend());
 * const message = await client.messages.create({
 *   model, max_tokens: 1024, messages, system: files.systemPrompt, tools: files.definitions,
 * });
 * const content = await files.run(message);
 */
export function fileTools(backend: BackendOrFactory, options?: FileToolsOptions): AnthropicTools {
  const files = toolsFor("fileTools", backend, options);
  const names = new Set<string>(files.tools.map((tool) => tool.name));
  const one = async (
    use: AnthropicToolUse,
    given?: AnthropicCall,
  ): Promise<AnthropicToolResult> => {
    const { messages, ...call } = given ?? {};
    const shown = messages && ((id: string) => textOf(messages, id));
    const about = { ...(shown && { shown }), ...call, callId: use.id };
    const result = await files.call(use.name, use.input, about);
    return {
      type: "tool_result",
      tool_use_id: use.id,
      content: toAnthropicBlocks(result.content),
      is_error: result.isError,
    };
  };
  return {
    ...files,
    definitions: files.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    handles: (name: string) => names.has(name),
    run: async (message, call) => {
      const results: AnthropicToolResult[] = [];
      const { messages, ...rest } = call ?? {};
      const about = messages && !edited(message) ? { ...rest, messages } : rest;
      for (const block of message.content as Array<{ type?: unknown }>) {
        if (block?.type === "tool_use") results.push(await one(block as AnthropicToolUse, about));
      }
      return results;
    },
  };
}

interface EditorInput {
  command?: unknown;
  path?: unknown;
  old_path?: unknown;
  new_path?: unknown;
  view_range?: unknown;
  file_text?: unknown;
  old_str?: unknown;
  new_str?: unknown;
  insert_line?: unknown;
  insert_text?: unknown;
}

/** An error whose message is for the model. */
class Refusal extends Error {}

/** Result of a handler. */
type HandlerResult = {
  /** What the model is told; on failure, what was wrong and what to do about it. */
  text: string;
  /** Whether the result reports a failure, for `is_error` of the tool result. */
  isError: boolean;
};

/** A tool that is built into Claude, over a backend. */
type BuiltInTool<Type extends string, Name extends string> = {
  /** The definition for `tools` of the Messages API. */
  definition: {
    /** The version of the tool. */
    type: Type;
    /** Name of the tool; a tool use with this name is for `run`. */
    name: Name;
  };
  /**
   * Runs one tool use. Never rejects: a failure is a result.
   *
   * @param input The `input` of the tool use.
   * @param runtime Passed to the function, if the backend is one.
   */
  run(input: unknown, runtime?: unknown): Promise<HandlerResult>;
};

/** Options of `memoryTool`. */
export interface MemoryToolOptions {
  /**
   * The directory of the backend that the model sees as `/memories`. Nothing outside of it can be
   * read or changed. Default `/memories`.
   */
  directory?: string;
}

const text = (name: string, value: unknown): string => {
  if (typeof value !== "string") throw new Refusal(`Error: "${name}" must be a string.`);
  return value;
};

/** A backend, and how its paths are named in messages to the model. */
interface Place {
  files: BackendProtocolV2;
  name(path: string): string;
  /** Aborts when the caller gives up. */
  signal: AbortSignal | undefined;
}

const UNCHANGED = "nothing was changed.";

/** A failure of the backend as a `Refusal`. */
function refused(said: string | undefined): Refusal {
  const text = said ?? "there was no answer";
  return new Refusal(text.startsWith("Error") ? text : `Error: ${text}`);
}

/** Wraps a backend so that its error messages contain the model's paths. */
function speaking(
  files: BackendProtocolV2,
  tell: (said: string, path: string) => string,
): BackendProtocolV2 {
  const told = (answer: unknown, path: string): unknown => {
    if (Array.isArray(answer)) return answer.map((one) => told(one, path));
    if (typeof answer !== "object" || answer === null) return answer;
    const shown: Record<string, unknown> = { ...answer };
    for (const field of ["error", "message"]) {
      const said = shown[field];
      if (typeof said === "string") shown[field] = tell(said, path);
    }
    return shown;
  };
  return new Proxy(files, {
    get(target, key) {
      const value = Reflect.get(target, key, target) as unknown;
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        const [first] = given.flat(2);
        return told(await value.apply(target, given), String(first));
      };
    },
  });
}

async function load(place: Place, path: string): Promise<string | undefined> {
  const { files, name } = place;
  const raw = await files.readRaw(path);
  if (raw.code === "unsupported") {
    const body = await readBody(files, path);
    if (body === undefined || body.text !== undefined) return body?.text;
    throw new Refusal(`Error: ${name(path)} is a binary file.`);
  }
  if (raw.data === undefined) {
    const missing =
      raw.code === "not_found" ||
      raw.code === "is_directory" ||
      (raw.code === undefined && /not found/.test(raw.error ?? ""));
    if (missing) return undefined;
    throw refused(raw.error);
  }
  const { content } = raw.data;
  if (Array.isArray(content)) return content.join("\n");
  if (typeof content === "string") return content;
  throw new Refusal(`Error: ${name(path)} is a binary file.`);
}

const absent = ({ name }: Place, path: string) =>
  new Refusal(`Error: The path ${name(path)} does not exist.`);

async function loaded(place: Place, path: string): Promise<string> {
  const body = await load(place, path);
  if (body === undefined) throw absent(place, path);
  return body;
}

async function store(place: Place, path: string, body: string): Promise<void> {
  const { files } = place;
  if (files.uploadFiles) {
    const [answer] = await files.uploadFiles([[path, new TextEncoder().encode(body)]]);
    if (answer?.error) throw refused(answer.message ?? answer.error);
    return;
  }
  const answer = await files.write(path, body);
  if (answer.error !== undefined) throw refused(answer.error);
}

async function listing(place: Place, path: string): Promise<string | undefined> {
  const { files, name } = place;
  const rows: string[] = [];
  const walk = async (dir: string, depth: number) => {
    const answer = await files.ls(dir);
    if (answer.error !== undefined) throw refused(answer.error);
    for (const info of answer.files ?? []) {
      const shown = name(info.path);
      const size = info.is_dir || info.size === undefined ? "" : ` (${info.size} bytes)`;
      rows.push(shown + size);
      if (info.is_dir && depth < 2) await walk(info.path, depth + 1);
    }
  };
  await walk(path, 1);
  return rows.length === 0 ? undefined : rows.join("\n");
}

function rows(body: string, range: unknown): string {
  const lines = body.endsWith("\n") ? body.slice(0, -1).split("\n") : body.split("\n");
  let [from, to] = [1, lines.length];
  if (range !== undefined && range !== null) {
    const given = range as unknown[];
    const whole = Array.isArray(range) && given.length === 2 && given.every(Number.isInteger);
    if (!whole) throw new Refusal('Error: "view_range" must be two whole numbers, [first, last].');
    from = given[0] as number;
    to = given[1] === -1 ? lines.length : Math.min(given[1] as number, lines.length);
    if (from < 1 || from > lines.length || to < from) {
      throw new Refusal(`Error: "view_range" must lie within 1 and ${lines.length}.`);
    }
  }
  const numbered = (line: string, at: number) => `${String(from + at).padStart(6)}\t${line}`;
  return lines
    .slice(from - 1, to)
    .map(numbered)
    .join("\n");
}

/** A file with line numbers, or a listing. An empty directory is shown only if it is the root. */
async function view(place: Place, path: string, range: unknown, root: boolean): Promise<string> {
  const body = path === "/" ? undefined : await load(place, path);
  if (body !== undefined) return rows(body, range);
  const list = (await listing(place, path)) ?? (root ? "(empty)" : undefined);
  if (list === undefined) throw absent(place, path);
  return `Files and directories in ${place.name(path)}:\n${list}`;
}

async function replace(place: Place, path: string, input: EditorInput): Promise<string> {
  const shown = place.name(path);
  await loaded(place, path);
  const old = text("old_str", input.old_str);
  const fresh = input.new_str === undefined ? "" : text("new_str", input.new_str);
  stillWanted(place.signal, UNCHANGED);
  const answer = await place.files.edit(path, old, fresh, false);
  if (answer.error === undefined) return `The file ${shown} has been edited.`;
  const said = answer.code === undefined ? answer.error : "";
  if (answer.code === "no_match" || /string not found/i.test(said)) {
    throw new Refusal(`Error: No replacement was performed: old_str does not appear in ${shown}.`);
  }
  if (answer.code === "ambiguous_edit" || /appears|occurrences/i.test(said)) {
    throw new Refusal(
      `Error: No replacement was performed: old_str appears more than once in ${shown}. Make it unique.`,
    );
  }
  throw refused(answer.error);
}

/** Inserts lines after line `at`. */
function inserted(body: string, at: unknown, added: string): string {
  const lines = body === "" ? [] : body.split("\n");
  const last = body.endsWith("\n") ? lines.length - 1 : lines.length;
  if (!Number.isInteger(at) || (at as number) < 0 || (at as number) > last) {
    throw new Refusal(`Error: "insert_line" must be a whole number from 0 to ${last}.`);
  }
  const ended = added.endsWith("\n") ? added.slice(0, -1) : added;
  lines.splice(at as number, 0, ...ended.split("\n"));
  return lines.join("\n");
}

async function insert(place: Place, path: string, input: EditorInput): Promise<string> {
  for (let tried = 0; tried < TRIES; tried++) {
    const body = await loaded(place, path);
    const added = text("insert_text", input.insert_text ?? input.new_str);
    const fresh = inserted(body, input.insert_line, added);
    const old: Body = bodyOf(body);
    stillWanted(place.signal, UNCHANGED);
    try {
      if (await swap(place.files, path, old, bodyOf(fresh))) {
        return `The file ${place.name(path)} has been edited.`;
      }
    } catch (error) {
      throw refused(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Refusal(
    `Error: ${place.name(path)} is being changed by other writers. Nothing was inserted; try again.`,
  );
}

async function remove(place: Place, path: string): Promise<string> {
  const { files, name } = place;
  if (!files.delete) throw new Refusal("Error: These files cannot be deleted.");
  const answer = await files.delete(path);
  if (answer.error !== undefined) throw refused(answer.error);
  return `Deleted ${name(path)}.`;
}

async function rename(place: Place, from: string, to: string): Promise<string> {
  const { files, name, signal } = place;
  const how: Moving = { name, signal };
  try {
    await checkMove(files, from, to, name);
    const target = await kindOf(files, to);
    if (target.file || target.dir) throw new Trouble(`${name(to)} already exists.`);
    const source = await kindOf(files, from);
    const below = source.file && !source.dir ? [] : await filesBelow(files, from);
    if (!source.file && below.length === 0) {
      if (source.dir) throw new Trouble(`${name(from)} is empty: there is nothing to rename.`);
      throw new Trouble(`The path ${name(from)} does not exist.`);
    }
    if (below.length > 0) await moveBelow(files, from, to, how);
    if (source.file) await moveFile(files, from, to, how);
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    throw refused(error.message);
  }
  return `Renamed ${name(from)} to ${name(to)}.`;
}

async function handled(run: () => Promise<string>): Promise<HandlerResult> {
  try {
    return { text: await run(), isError: false };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { text: said.startsWith("Error") ? said : `Error: ${said}`, isError: true };
  }
}

/** The commands and paths that a tool may use. */
interface Bounds {
  known: readonly string[];
  /** Converts a path of the model to one of the backend. */
  inside(path: string): string;
  name(path: string): string;
  /** The directory that can be viewed but not changed. */
  root?: string;
  /** Converts an error message about a path to one for the model. */
  tell?(said: string, path: string): string;
}

async function filesOf(
  backend: BackendOrFactory,
  { tell }: Bounds,
  runtime: unknown,
): Promise<BackendProtocolV2> {
  const found = await resolveBackend(backend, runtime);
  // Which also keeps the library's own files from a model.
  const files = adaptBackendProtocol(found);
  return tell ? speaking(files, tell) : files;
}

async function command(
  backend: BackendOrFactory,
  input: unknown,
  bounds: Bounds,
  runtime?: unknown,
): Promise<string> {
  const { known, inside, name, root } = bounds;
  const given = (typeof input === "object" && input !== null ? input : {}) as EditorInput;
  const asked = given.command as string;
  if (!known.includes(asked)) {
    throw new Refusal(`Error: "command" must be one of ${known.join(", ")}.`);
  }
  const changed = (field: "path" | "old_path" | "new_path") => {
    const path = inside(text(field, given[field]));
    if (path === root) throw new Refusal(`Error: ${name(path)} itself can only be viewed.`);
    return path;
  };
  const signal = signalOf(runtime);
  const at = async (): Promise<Place> => {
    const files = await filesOf(backend, bounds, runtime);
    if (signal?.aborted) throw new Refusal("Error: The call was cancelled before it began.");
    return { files, name, signal };
  };
  switch (asked) {
    case "rename": {
      const [from, to] = [changed("old_path"), changed("new_path")];
      return rename(await at(), from, to);
    }
    case "view": {
      const path = inside(text("path", given.path));
      return view(await at(), path, given.view_range, path === root);
    }
    case "create": {
      const path = changed("path");
      await store(await at(), path, text("file_text", given.file_text));
      return `File created successfully at: ${name(path)}`;
    }
    case "str_replace":
      return replace(await at(), changed("path"), given);
    case "insert":
      return insert(await at(), changed("path"), given);
    default:
      return remove(await at(), changed("path"));
  }
}

/** The signal of a run of LangGraph, or of options. */
function signalOf(runtime: unknown): AbortSignal | undefined {
  const signal = (runtime as { signal?: unknown } | null | undefined)?.signal;
  return signal instanceof AbortSignal ? signal : undefined;
}

const as = (path: string) => path;

/**
 * The text editor tool that is built into Claude (`str_replace_based_edit_tool`, of 2025-07-28), over
 * a backend. Limit the paths with `withPolicy`.
 *
 * @param backend The backend, or a function that is called at each tool use and returns one.
 */
export function textEditorTool(
  backend: BackendOrFactory,
): BuiltInTool<"text_editor_20250728", "str_replace_based_edit_tool"> {
  const known = ["view", "create", "str_replace", "insert"];
  return {
    definition: {
      type: "text_editor_20250728" as const,
      name: "str_replace_based_edit_tool" as const,
    },
    run: (input: unknown, runtime?: unknown) =>
      handled(() => command(backend, input, { known, inside: as, name: as }, runtime)),
  };
}

/**
 * The memory tool that is built into Claude (of 2025-08-18), over a backend.
 *
 * @param backend The backend, or a function that is called at each tool use and returns one.
 */
export function memoryTool(
  backend: BackendOrFactory,
  options?: MemoryToolOptions,
): BuiltInTool<"memory_20250818", "memory"> {
  onlyKnown("memoryTool", options, ["directory"]);
  if (options?.directory !== undefined && typeof options.directory !== "string") {
    throw new TypeError('memoryTool: option "directory" must be a string, such as "/memories"');
  }
  const directory = canonical(options?.directory ?? "/memories").replace(/^\/$/, "");
  // A match must begin at the start of a path and end at the end of a name: `/a/b`, not `/a/bc`.
  const start = "(?<![\\w/.-])";
  const literal = (path: string) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const within = new RegExp(`${start}${literal(directory)}(?![\\w-])`, "g");
  const bounds: Bounds = {
    known: ["view", "create", "str_replace", "insert", "delete", "rename"],
    root: directory || "/",
    inside(path) {
      const segments = namesIn(path);
      if (segments[0] !== "memories" || segments.includes("..") || /[\\%]/.test(path)) {
        throw new Refusal(`Error: ${path} is not below /memories.`);
      }
      const below = segments.slice(1).map((one) => `/${one}`);
      return directory + below.join("") || "/";
    },
    name: (path) => `/memories${path === "/" ? "" : path.slice(directory.length)}`,
  };
  if (directory === "") {
    bounds.tell = (said, path) =>
      path === "/"
        ? said
        : said.replace(new RegExp(`${start}${literal(path)}(?![\\w-])`, "g"), () =>
            bounds.name(path),
          );
  } else if (directory !== "/memories") {
    bounds.tell = (said) => said.replace(within, "/memories");
  }
  return {
    definition: { type: "memory_20250818" as const, name: "memory" as const },
    run: (input: unknown, runtime?: unknown) =>
      handled(() => command(backend, input, bounds, runtime)),
  };
}

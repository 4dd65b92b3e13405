// Anthropic's Messages API: definitions and a runner for the file tools, and handlers for the
// memory and text editor tools that Claude knows by itself, over any backend. No package of
// Anthropic's is needed: definitions and results are plain objects.

import {
  type BackendOrFactory,
  type BackendProtocolV2,
  type ContentBlock,
  createFileTools,
  type FileToolsOptions,
  resolveBackend,
  type ToolCall,
} from "kitbag";

/** A block of a tool's result. */
export type AnthropicBlock =
  | { type: "text"; text: string }
  | {
      type: "image";
      source: {
        type: "base64";
        media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
        data: string;
      };
    }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } };

/** What goes back to the model for one use of a tool. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: AnthropicBlock[];
  is_error: boolean;
}

/** A use of a tool, as a message of the model has it. */
export interface AnthropicToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
}

const PICTURES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Blocks as the Messages API takes them; what it does not take is told as text. */
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

/** Definitions for `tools`, a prompt for `system`, and a runner for what the model answers. */
export function anthropicTools(backend: BackendOrFactory, options?: FileToolsOptions) {
  const files = createFileTools(backend, options);
  const names = new Set<string>(files.tools.map((tool) => tool.name));
  const one = async (use: AnthropicToolUse, call?: ToolCall): Promise<AnthropicToolResult> => {
    const result = await files.call(use.name, use.input, { ...call, callId: use.id });
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
    /** Whether a use of a tool is one of these. */
    handles: (name: string) => names.has(name),
    runTool: one,
    /** Runs every use in a message, in order; the results are the content of the next message. */
    run: async (message: { content: readonly unknown[] }, call?: ToolCall) => {
      const results: AnthropicToolResult[] = [];
      for (const block of message.content as Array<{ type?: unknown }>) {
        if (block?.type === "tool_use") results.push(await one(block as AnthropicToolUse, call));
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

/** A refusal in the words of the tool. */
class Refusal extends Error {}

/** What a handler answers: text for the model, and whether it tells of a failure. */
export interface HandlerResult {
  text: string;
  isError: boolean;
}

const text = (name: string, value: unknown): string => {
  if (typeof value !== "string") throw new Refusal(`Error: "${name}" must be a string.`);
  return value;
};

type Files = Required<Pick<BackendProtocolV2, "ls" | "readRaw" | "write" | "edit">> &
  BackendProtocolV2;

async function load(files: Files, path: string): Promise<string | undefined> {
  const raw = await files.readRaw(path);
  if (raw.data === undefined) {
    const missing =
      raw.code === "not_found" || (raw.code === undefined && /not found/.test(raw.error ?? ""));
    if (missing) return undefined;
    throw new Refusal(`Error: ${raw.error}`);
  }
  const { content } = raw.data;
  if (Array.isArray(content)) return content.join("\n");
  if (typeof content === "string") return content;
  throw new Refusal(`Error: ${path} is a binary file.`);
}

async function loaded(files: Files, path: string): Promise<string> {
  const body = await load(files, path);
  if (body === undefined) throw new Refusal(`Error: The path ${path} does not exist.`);
  return body;
}

async function store(files: Files, path: string, body: string): Promise<void> {
  if (files.uploadFiles) {
    const [answer] = await files.uploadFiles([[path, new TextEncoder().encode(body)]]);
    if (answer?.error) throw new Refusal(`Error: ${answer.message ?? answer.error}`);
    return;
  }
  const answer = await files.write(path, body);
  if (answer.error !== undefined) throw new Refusal(`Error: ${answer.error}`);
}

async function listing(files: Files, path: string): Promise<string | undefined> {
  const rows: string[] = [];
  const walk = async (dir: string, depth: number) => {
    const answer = await files.ls(dir);
    if (answer.error !== undefined) throw new Refusal(`Error: ${answer.error}`);
    for (const info of answer.files ?? []) {
      rows.push(info.is_dir ? info.path : `${info.path} (${info.size ?? 0} bytes)`);
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

async function view(files: Files, path: string, range: unknown): Promise<string> {
  const body = path === "/" ? undefined : await load(files, path);
  if (body !== undefined) return rows(body, range);
  const list = await listing(files, path);
  if (list === undefined) throw new Refusal(`Error: The path ${path} does not exist.`);
  return `Files and directories in ${path}:\n${list}`;
}

async function replace(files: Files, path: string, input: EditorInput): Promise<string> {
  await loaded(files, path);
  const old = text("old_str", input.old_str);
  const fresh = input.new_str === undefined ? "" : text("new_str", input.new_str);
  const answer = await files.edit(path, old, fresh, false);
  if (answer.error === undefined) return `The file ${path} has been edited.`;
  if (answer.code === "no_match") {
    throw new Refusal(`Error: No replacement was performed: old_str does not appear in ${path}.`);
  }
  if (answer.code === "ambiguous_edit") {
    throw new Refusal(
      `Error: No replacement was performed: old_str appears more than once in ${path}. Make it unique.`,
    );
  }
  throw new Refusal(`Error: ${answer.error}`);
}

async function insert(files: Files, path: string, input: EditorInput): Promise<string> {
  const body = await loaded(files, path);
  const added = text("insert_text", input.insert_text ?? input.new_str);
  const lines = body === "" ? [] : body.split("\n");
  const last = body.endsWith("\n") ? lines.length - 1 : lines.length;
  const at = input.insert_line;
  if (!Number.isInteger(at) || (at as number) < 0 || (at as number) > last) {
    throw new Refusal(`Error: "insert_line" must be a whole number from 0 to ${last}.`);
  }
  const ended = added.endsWith("\n") ? added.slice(0, -1) : added;
  lines.splice(at as number, 0, ...ended.split("\n"));
  await store(files, path, lines.join("\n"));
  return `The file ${path} has been edited.`;
}

async function remove(files: Files, path: string): Promise<string> {
  if (!files.delete) throw new Refusal("Error: These files cannot be deleted.");
  const answer = await files.delete(path);
  if (answer.error !== undefined)
    throw new Refusal(answer.error.startsWith("Error") ? answer.error : `Error: ${answer.error}`);
  return `Deleted ${path}.`;
}

async function rename(files: Files, from: string, to: string): Promise<string> {
  if ((await load(files, to)) !== undefined) throw new Refusal(`Error: ${to} already exists.`);
  const body = await load(files, from);
  const moves: Array<[string, string]> = [];
  if (body !== undefined) moves.push([from, to]);
  else {
    const below = await files.glob("**", from);
    for (const { path } of below.files ?? []) moves.push([path, `${to}${path.slice(from.length)}`]);
  }
  if (moves.length === 0) throw new Refusal(`Error: The path ${from} does not exist.`);
  if (!files.downloadFiles || !files.uploadFiles)
    throw new Refusal("Error: These files cannot be moved.");
  const bodies = await files.downloadFiles(moves.map(([path]) => path));
  const uploads = bodies.map((one, at): [string, Uint8Array] => {
    if (one.content === null) throw new Refusal(`Error: ${one.message ?? one.error}`);
    return [(moves[at] as [string, string])[1], one.content];
  });
  for (const answer of await files.uploadFiles(uploads)) {
    if (answer.error) throw new Refusal(`Error: ${answer.message ?? answer.error}`);
  }
  await remove(files, from);
  return `Renamed ${from} to ${to}.`;
}

async function handled(run: () => Promise<string>): Promise<HandlerResult> {
  try {
    return { text: await run(), isError: false };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { text: said.startsWith("Error") ? said : `Error: ${said}`, isError: true };
  }
}

async function command(
  backend: BackendOrFactory,
  input: unknown,
  known: readonly string[],
  inside: (path: string) => string,
  runtime?: unknown,
): Promise<string> {
  const given = (typeof input === "object" && input !== null ? input : {}) as EditorInput;
  const files = (await resolveBackend(backend, runtime)) as Files;
  const name = given.command as string;
  if (!known.includes(name)) {
    throw new Refusal(`Error: "command" must be one of ${known.join(", ")}.`);
  }
  if (name === "rename") {
    return rename(
      files,
      inside(text("old_path", given.old_path)),
      inside(text("new_path", given.new_path)),
    );
  }
  const path = inside(text("path", given.path));
  switch (name) {
    case "view":
      return view(files, path, given.view_range);
    case "create":
      await store(files, path, text("file_text", given.file_text));
      return `File created successfully at: ${path}`;
    case "str_replace":
      return replace(files, path, given);
    case "insert":
      return insert(files, path, given);
    default:
      return remove(files, path);
  }
}

/** The text editor tool (`str_replace_based_edit_tool`) over a backend. */
export function textEditorTool(backend: BackendOrFactory) {
  return {
    definition: {
      type: "text_editor_20250728" as const,
      name: "str_replace_based_edit_tool" as const,
    },
    run: (input: unknown, runtime?: unknown) =>
      handled(() =>
        command(
          backend,
          input,
          ["view", "create", "str_replace", "insert"],
          (path) => path,
          runtime,
        ),
      ),
  };
}

/** The memory tool over a backend; what Claude calls `/memories` is this directory of it. */
export function memoryTool(backend: BackendOrFactory, options?: { directory?: string }) {
  const directory = (options?.directory ?? "/memories").replace(/\/+$/, "");
  const inside = (path: string) => {
    const segments = path.split("/").filter((one) => one !== "" && one !== ".");
    if (segments[0] !== "memories" || segments.includes("..") || /[\\%]/.test(path)) {
      throw new Refusal(`Error: ${path} is not below /memories.`);
    }
    return `${directory}/${segments.slice(1).join("/")}`.replace(/\/$/, "") || "/";
  };
  const known = ["view", "create", "str_replace", "insert", "delete", "rename"];
  return {
    definition: { type: "memory_20250818" as const, name: "memory" as const },
    run: (input: unknown, runtime?: unknown) =>
      handled(async () => {
        const at = (input as EditorInput | null)?.path;
        const root = typeof at === "string" && inside(at) === (directory || "/");
        const asked = (input as EditorInput | null)?.command;
        if (
          root &&
          asked === "view" &&
          (await listing((await resolveBackend(backend, runtime)) as Files, directory || "/")) ===
            undefined
        ) {
          return "Files and directories in /memories:\n(empty)";
        }
        if (root && asked !== "view")
          throw new Refusal("Error: /memories itself can only be viewed.");
        const said = await command(backend, input, known, inside, runtime);
        return directory === "/memories" ? said : said.replaceAll(`${directory}/`, "/memories/");
      }),
  };
}

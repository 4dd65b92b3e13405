// The Model Context Protocol: registers the file tools on a server, and the files as resources.

import {
  adaptBackendProtocol,
  type BackendOrFactory,
  type ContentBlock,
  type FileTool,
  type FileTools,
  type FileToolsOptions,
  type ToolResult,
} from "kitbag";
import { onlyKnown } from "../core/nearest.js";
import { TOOL_OPTIONS, toolsFor } from "./framework/options.js";
import { DRY_RUN, dryRun, dryRunOf } from "./mcp/dry-run.js";
import { type Current, canWatch, registerResources, watchResources } from "./mcp/resources.js";
import { withinRoots } from "./mcp/roots.js";
import { beginRound, questionOf } from "./mcp/rounds.js";
import { announce, askedBy, type Extra, type McpServer, onRequest } from "./mcp/sdk.js";
import {
  conditional,
  contentBefore,
  inputOf,
  outputOf,
  structuredOf,
  wrong,
} from "./mcp/structured.js";

export { elicitReview } from "./mcp/review.js";

type McpBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: { uri: string; mimeType: string; blob: string } };

function shown(block: ContentBlock): McpBlock {
  if (block.type === "text") return block;
  const { mimeType, data } = block;
  if (block.type === "image" || block.type === "audio") return { type: block.type, data, mimeType };
  return { type: "resource", resource: { uri: "kitbag:///result", mimeType, blob: data } };
}

/** What a client may assume about a tool. No tool but `execute` reaches anything but the files. */
const annotations = ({ name, title, effect }: FileTool) => ({
  title,
  readOnlyHint: effect === "reads",
  destructiveHint: effect === "destroys" || effect === "runs",
  idempotentHint: effect === "reads" || name === "delete",
  openWorldHint: effect === "runs",
});

/** The schema of a tool's input, with what it takes over MCP beyond the other frameworks. */
function schemaOf({ name, inputSchema }: FileTool, structured: boolean): FileTool["inputSchema"] {
  const schema = structured ? inputOf(name, inputSchema) : inputSchema;
  if (name !== "edit_file") return schema;
  return { ...schema, properties: { ...schema.properties, dryRun: DRY_RUN } };
}

/** Options of `registerFileTools`. */
export interface McpToolsOptions extends Omit<FileToolsOptions, "unchanged"> {
  /**
   * Give results a structured part with a schema: paths, listings, and the version of a file, which
   * `ifMatch` of the tools that change files takes. It repeats the text, so it costs tokens where a
   * client shows a model both. Default false.
   */
  structured?: boolean;
  /**
   * Honour the client's roots: a function from the URI of a root to the directory of the tree that it
   * is, or the directories, or undefined if it is none. Tools and resources see only what is below these directories. A
   * client that has roots sees nothing before it has told them, and nothing if none of them is in the
   * tree; before 2026-07-28 nothing can be known without sessions, so all calls fail. Default: roots
   * have no effect.
   */
  roots?: (uri: string) => string | readonly string[] | undefined;
}

/** The names of all options, so that a misspelled one is refused with the one that is meant. */
const { unchanged: _, ...COMMON } = TOOL_OPTIONS;
const OPTIONS = { ...COMMON, structured: true, roots: true } satisfies Record<
  keyof McpToolsOptions,
  true
>;

const shownAs = ({ content, isError }: ToolResult) => ({ content: content.map(shown), isError });

/**
 * Registers the file tools, and the files as resources (`kitbag:///path`), on an MCP server. A
 * failed call is a result with `isError`.
 *
 * @param server An `McpServer` of `@modelcontextprotocol/server` 2, or of `@modelcontextprotocol/sdk`.
 * @param backend The backend, or a function that is called at each tool call and returns one.
 * @param options Which tools, and rules; the rules also cover the resources.
 * @example
 * registerFileTools(server, new FilesystemBackend({ rootDir: "./docs" }), {
 *   policy: { readOnly: true },
 * });
 */
export function registerFileTools(
  server: McpServer,
  backend: BackendOrFactory,
  options?: McpToolsOptions,
): FileTools {
  onlyKnown("registerFileTools", options, Object.keys(OPTIONS));
  const { structured = false, roots, ...rest } = options ?? {};
  let own: FileToolsOptions = rest;
  if (typeof structured !== "boolean") {
    throw new TypeError('registerFileTools: option "structured" must be true or false');
  }
  if (roots !== undefined && typeof roots !== "function") {
    throw new TypeError('registerFileTools: option "roots" must be a function');
  }
  const rooted = roots === undefined ? undefined : withinRoots(server, backend, roots);
  const source = rooted === undefined ? backend : rooted.source;
  if (rooted && own.changes) own = { ...own, changes: rooted.changes(own.changes) };
  const files = toolsFor("registerFileTools", source, options === undefined ? undefined : own);
  // Roots only narrow what a backend offers, so its own tools tell what a call can do.
  const known =
    rooted === undefined || typeof backend === "function"
      ? files.tools
      : toolsFor("registerFileTools", backend, own).tools;
  const effectOf = (name: string) => known.find((tool) => tool.name === name)?.effect;
  // Without a session nothing remembers which files were read, so that is not required there.
  let forgetful: FileTools | undefined;
  const of = (extra: unknown) => {
    if (!askedBy(extra).stateless || own.requireReadBeforeEdit !== undefined) return files;
    forgetful ??= toolsFor("registerFileTools", source, { ...own, requireReadBeforeEdit: false });
    return forgetful;
  };
  // The low-level handlers, because schemas are JSON Schema here and the high-level API takes zod.
  announce(server, { tools: {} });
  onRequest(server, "tools/list", () => ({
    tools: files.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: schemaOf(tool, structured),
      ...(structured && { outputSchema: outputOf(tool.name) }),
      annotations: annotations({ ...tool, effect: effectOf(tool.name) ?? tool.effect }),
    })),
  }));
  // The same backend as that of the tools, so that one policy covers both.
  const guarded = (extra: unknown) => of(extra).backend({ runtime: extra as object });
  const current: Current = async (extra) => adaptBackendProtocol(await guarded(extra));
  const run = async (name: string, input: Record<string, unknown>, extra: Extra) => {
    const { id, signal } = askedBy(extra);
    const call = () =>
      of(extra).call(name, input, {
        callId: `mcp_${String(id)}_${crypto.randomUUID()}`,
        runtime: extra,
        ...(signal && { signal }),
      });
    const offered = files.tools.some((tool) => tool.name === name);
    const dry = offered && dryRunOf(name, input);
    const tried = async () =>
      typeof dry === "string" ? wrong(dry) : dryRun(await current(extra), input);
    if (!structured) return shownAs(await (dry ? tried() : call()));
    const target = await current(extra);
    const { ifMatch, ...rest } = input;
    if (dry) {
      const result = await tried();
      const more = await structuredOf(target, name, rest, result, undefined);
      return { ...shownAs(result), structuredContent: more };
    }
    const before = ifMatch === undefined ? await contentBefore(target, name, rest) : undefined;
    const result =
      ifMatch === undefined || !offered ? await call() : await conditional(target, name, input);
    const more = await structuredOf(target, name, rest, result, before);
    return { ...shownAs(result), structuredContent: more };
  };
  const watched =
    typeof backend !== "function" && canWatch(backend)
      ? watchResources(server, current, guarded)
      : undefined;
  if (rooted && watched) rooted.onchange = watched.again;
  const changed = watched?.changed;
  const unknown = (extra: unknown) => rooted?.question(extra);
  registerResources(server, current, (extra, path) => watched?.used(extra, path), unknown);
  onRequest(server, "tools/call", async (params, extra) => {
    const name = String(params.name);
    const input = (params.arguments ?? {}) as Record<string, unknown>;
    const needed = unknown(extra);
    if (needed) return needed;
    beginRound(extra, name, input, rooted !== undefined);
    const result = await run(name, input, extra);
    const question = questionOf(extra);
    if (question !== undefined) return question;
    // A backend does not notify of changes that were made through itself.
    const tool = files.tools.find((one) => one.name === name);
    if (changed && !result.isError && tool?.effect !== "reads" && !dryRunOf(name, input)) {
      const paths: unknown[] = [input.file_path ?? input.path, input.from, input.to];
      changed(
        paths.filter((path) => typeof path === "string"),
        extra,
      );
    }
    return result;
  });
  return files;
}

// The Model Context Protocol: registers the file tools on a server, and the files as resources.

import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  adaptBackendProtocol,
  type BackendOrFactory,
  type ContentBlock,
  createFileTools,
  type FileTools,
  type FileToolsOptions,
} from "kitbag";

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

const titles: Record<string, string> = {
  ls: "List directory",
  read_file: "Read file",
  write_file: "Write file",
  edit_file: "Edit file",
  delete: "Delete",
  glob: "Find files",
  grep: "Search in files",
  execute: "Run command",
};

/** What a client may assume about a tool. No tool but `execute` reaches anything but the files. */
function hints(name: string) {
  const reads = ["ls", "read_file", "glob", "grep"].includes(name);
  return {
    readOnlyHint: reads,
    destructiveHint: !reads && !["write_file", "append_file"].includes(name),
    idempotentHint: reads || name === "delete",
    openWorldHint: name === "execute",
  };
}

/** Most resources in the result of `resources/list`. */
const LISTED = 1_000;

const uriOf = (path: string) => `kitbag://${path.split("/").map(encodeURIComponent).join("/")}`;

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(binary);
}

/**
 * Registers the file tools, and the files as resources (`kitbag:///path`), on an MCP server. A
 * failed call is a result with `isError`.
 *
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
  options?: FileToolsOptions,
): FileTools {
  const files = createFileTools(backend, options);
  // The low-level handlers, because schemas are JSON Schema here and the high-level API takes zod.
  server.server.registerCapabilities({ tools: {} });
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: files.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: inputSchema as never,
      annotations: { title: titles[name] ?? name, ...hints(name) },
    })),
  }));
  server.server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const result = await files.call(params.name, params.arguments ?? {}, {
      callId: `mcp_${String(extra.requestId)}_${crypto.randomUUID()}`,
      runtime: extra,
      signal: extra.signal,
    });
    return { content: result.content.map(shown), isError: result.isError };
  });
  // The same backend as that of the tools, so that one policy covers both.
  const current = async (extra: unknown) =>
    adaptBackendProtocol(await files.backend({ runtime: extra }));
  const template = new ResourceTemplate("kitbag:///{+path}", {
    list: async (extra) => {
      const found = await (await current(extra)).glob("**", "/");
      return {
        resources: (found.files ?? [])
          .slice(0, LISTED)
          .map(({ path }) => ({ uri: uriOf(path), name: path })),
      };
    },
  });
  server.registerResource(
    "files",
    template,
    { description: "The files" },
    async (uri, _, extra) => {
      const path = decodeURIComponent(uri.pathname);
      const { data, error } = await (await current(extra)).readRaw(path);
      if (data === undefined) throw new Error(error);
      const mimeType = "mimeType" in data ? data.mimeType : "text/plain";
      const content = Array.isArray(data.content) ? data.content.join("\n") : data.content;
      const body = typeof content === "string" ? { text: content } : { blob: base64(content) };
      return { contents: [{ uri: uri.href, mimeType, ...body }] };
    },
  );
  return files;
}

// Structured results of the tools: their schemas, versions of files, and changes under the condition
// that a file still has the version that a client saw (`ifMatch`).

import {
  type BackendProtocolV2,
  createFileTools,
  type FileTool,
  StateBackend,
  type ToolResult,
  visibleName,
} from "kitbag";
import { canonical } from "../../core/paths.js";
import { extended } from "../extended.js";
import { meant } from "../framework/names.js";
import { same } from "../transfer/tree.js";

/** A version that a tool call may depend on. */
const IF_MATCH = {
  type: "string",
  description: "Only if the file still has this version, from an earlier result",
} as const;

const CHANGES = ["write_file", "edit_file", "delete"];
const LISTS = ["ls", "glob"];

type Schema = FileTool["inputSchema"];

/** The input of a tool, with `ifMatch` where the tool changes a file. */
export function inputOf(name: string, schema: Schema): Schema {
  if (!CHANGES.includes(name)) return schema;
  return { ...schema, properties: { ...schema.properties, ifMatch: IF_MATCH } };
}

const FILE = {
  type: "object",
  properties: {
    path: { type: "string" },
    size: { type: "number" },
    directory: { type: "boolean" },
    modified: { type: "string" },
  },
  required: ["path"],
};

/** The schema of a tool's structured result. Every result has the text that a model reads. */
export function outputOf(name: string): Record<string, unknown> {
  const text = { type: "string", description: "What a model reads" };
  const path = { type: "string", description: "Canonical path" };
  const version = { type: "string", description: "Version of the whole file, for ifMatch" };
  const properties: Record<string, unknown> = { text };
  if (LISTS.includes(name)) properties.files = { type: "array", items: FILE };
  if (name === "read_file" || CHANGES.includes(name)) properties.path = path;
  if (name === "read_file" || name === "write_file" || name === "edit_file") {
    properties.version = version;
  }
  return { type: "object", properties, required: ["text"] };
}

/** The version of some bytes: it is the same for the same content, on every backend. */
export async function versionOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as BufferSource);
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return `sha256-${hex.join("").slice(0, 32)}`;
}

export type Input = Record<string, unknown>;

/** The file that an input names, under the names that the tools accept. */
export function pathIn(input: Input): string | undefined {
  const found = input.file_path ?? input.path;
  return typeof found === "string" ? canonical(meant(found)) : undefined;
}

export async function bytesOf(
  backend: BackendProtocolV2,
  path: string,
): Promise<Uint8Array | undefined> {
  const [answer] = (await backend.downloadFiles?.([path])) ?? [];
  return answer?.content ?? undefined;
}

export const told = (text: string, isError = false): ToolResult => ({
  content: [{ type: "text", text }],
  text,
  isError,
});

/** An error of a tool; some of backends begin with the word already. */
export const wrong = (text: string) =>
  told(text.startsWith("Error: ") ? text : `Error: ${text}`, true);

/** Why a change under a condition was not made. */
export const changedSince = (path: string) =>
  `${visibleName(path)} was changed since it was read; nothing was done. Read it again.`;

/**
 * Runs a change if the file has the version that the client names. The check and the change are one
 * step for the storage: it replaces or deletes exactly the bytes that were checked.
 */
export async function conditional(
  backend: BackendProtocolV2,
  name: string,
  input: Input,
): Promise<ToolResult & { version?: string }> {
  const { ifMatch } = input;
  const path = pathIn(input);
  if (typeof ifMatch !== "string" || !CHANGES.includes(name)) {
    return wrong("ifMatch must be a version, and belongs to a change of a file");
  }
  if (path === undefined) return wrong("file_path is missing");
  const shown = visibleName(path);
  const before = await bytesOf(backend, path);
  if (before === undefined) {
    const { error } = await backend.readRaw(path);
    return wrong(error ?? `${shown} could not be read`);
  }
  const conflict = changedSince(path);
  if ((await versionOf(before)) !== ifMatch) return wrong(conflict);
  const target = extended(backend);
  if (name === "delete") {
    const answer = await target.delete(path, { unchanged: before });
    if (answer.code === "conflict") return wrong(conflict);
    return answer.error === undefined ? told(`Deleted ${shown}.`) : wrong(answer.error);
  }
  const after = await changed(name, path, input, before);
  if (typeof after === "string") return wrong(after);
  const answer = await target.edit(path, before, after);
  if (answer.code === "conflict") return wrong(conflict);
  if (answer.error !== undefined) return wrong(answer.error);
  const done = told(`${name === "write_file" ? "Wrote" : "Edited"} ${shown}.`);
  return { ...done, version: await versionOf(after) };
}

/**
 * The bytes that a tool makes of a file, or what it says against its arguments. The tool itself runs, over a copy in
 * memory.
 */
export async function changed(
  name: string,
  path: string,
  input: Input,
  before: Uint8Array,
): Promise<Uint8Array | string> {
  const files = new StateBackend({
    scope: "instance",
    writeMode: "overwrite",
    files: { [path]: before },
  });
  const { ifMatch, dryRun, dry_run, ...rest } = input;
  const { call } = createFileTools(files, { requireReadBeforeEdit: false });
  const made = await call(name, rest);
  const [after] = files.downloadFiles([path]);
  files.dispose();
  if (made.isError) return made.text;
  return after?.content ?? after?.message ?? "The change failed";
}

/** The content of a file before a tool runs, where the version of the result depends on it. */
export async function contentBefore(
  backend: BackendProtocolV2,
  name: string,
  input: Input,
): Promise<Uint8Array | undefined> {
  const path = pathIn(input);
  if (path === undefined || (name !== "read_file" && name !== "edit_file")) return undefined;
  return bytesOf(backend, path);
}

/** The structured part of a result. */
export async function structuredOf(
  backend: BackendProtocolV2,
  name: string,
  input: Input,
  result: ToolResult & { version?: string },
  before: Uint8Array | undefined,
): Promise<Record<string, unknown>> {
  const out: Record<string, unknown> = { text: result.text };
  const path = pathIn(input);
  if (LISTS.includes(name)) {
    const where = typeof input.path === "string" ? meant(input.path) : "/";
    const { files } =
      name === "ls"
        ? await backend.ls(where)
        : await backend.glob(String(input.pattern ?? ""), where);
    if (files === undefined) return out;
    out.files = files.slice(0, STRUCTURED_FILES).map((file) => ({
      path: visibleName(file.path),
      ...(file.size !== undefined && !file.is_dir && { size: file.size }),
      ...(file.is_dir && { directory: true }),
      ...(file.modified_at && { modified: file.modified_at }),
    }));
    return out;
  }
  if (path === undefined || !(name === "read_file" || CHANGES.includes(name))) return out;
  out.path = visibleName(path);
  if (result.isError || name === "delete") return out;
  if (result.version !== undefined) out.version = result.version;
  // The content before the call: if it was changed since, the version is out of date, and `ifMatch`
  // refuses it.
  else if (name === "read_file") out.version = before && (await versionOf(before));
  else {
    // Only of a file that is as this call left it: another writer's was not seen.
    const expected = await changed(name, path, input, before ?? new Uint8Array());
    const bytes = typeof expected === "string" ? undefined : await bytesOf(backend, path);
    if (bytes && same(bytes, expected as Uint8Array)) out.version = await versionOf(bytes);
  }
  if (out.version === undefined) delete out.version;
  return out;
}

/** Most files of a structured listing. */
const STRUCTURED_FILES = 1_000;

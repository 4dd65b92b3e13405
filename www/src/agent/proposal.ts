// What a call would do to a file if somebody allowed it: its text before and after. The call is tried
// on a copy of the file, with the backend's own meaning of an edit.

import { type Policy, StateBackend } from "kitbag";

type AskedOperation = Parameters<NonNullable<Policy["onAsk"]>>[0];

export interface Texts {
  before: string;
  after: string;
}

function edited(path: string, before: string, input: Record<string, unknown>) {
  const copy = new StateBackend({ scope: "instance", files: { [path]: before } });
  const { old_string: old, new_string: fresh, replace_all: all } = input;
  const { error } = copy.edit(path, String(old), String(fresh), all === true);
  if (error) return undefined;
  const { data } = copy.readRaw(path);
  return typeof data?.content === "string" ? data.content : undefined;
}

/** Undefined where the question is about a read, another file, or a call that would fail anyway. */
export function proposalOf(
  tool: string,
  input: Record<string, unknown>,
  { path, preview }: Pick<AskedOperation, "path" | "preview">,
  before: string,
): Texts | undefined {
  if (preview === "" && tool !== "delete") return undefined;
  if (input.file_path !== path) return undefined;
  if (tool === "delete") return { before, after: "" };
  const after = tool === "write_file" ? String(input.content) : edited(path, before, input);
  return after === undefined ? undefined : { before, after };
}

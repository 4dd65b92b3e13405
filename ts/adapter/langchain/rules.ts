// What the rules of an agent's tools show of files that a middleware names by itself.

import { adaptBackendProtocol, type BackendProtocolV2, type FileTools, visibleName } from "kitbag";

/** The tools over a backend, or over a function that returns one; not kept alive. */
const sets = new WeakMap<object, WeakRef<FileTools>[]>();

const living = (source: object) =>
  (sets.get(source) ?? []).filter((set) => set.deref() !== undefined);

/** Notes tools that were made over a backend, or over a function that returns one. */
export function noteTools(source: object, files: FileTools): void {
  sets.set(source, [...living(source), new WeakRef(files)]);
}

/** Whether a tool could read the file, or would say that there is none. */
async function isShown(rules: BackendProtocolV2, path: string): Promise<boolean> {
  const [answer] = (await rules.downloadFiles?.([path])) ?? [];
  const error = answer?.error;
  return error === null || error === "file_not_found" || error === "is_directory";
}

/**
 * The names of those files that all tools over the backend show, as a model may see them. It is empty if it
 * is not known which tools there are.
 */
export async function namesFor(
  source: object,
  runtime: unknown,
  paths: readonly string[],
): Promise<string> {
  const known = living(source).flatMap((set) => set.deref() ?? []);
  if (known.length === 0) return "";
  const rules = await Promise.all(
    known.map(async (files) => adaptBackendProtocol(await files.backend({ runtime }))),
  );
  const shown: string[] = [];
  for (const path of new Set(paths)) {
    const each = await Promise.all(rules.map((one) => isShown(one, path)));
    if (each.every((one) => one)) shown.push(visibleName(path));
  }
  return shown.join(", ");
}

// What the rules of a tool set let it say of changes. A diff comes from a turn or a history, below the
// rules, so each path is asked for through them before it is named.

import type { Backend } from "../backend/backend.js";
import { comparedFiles, type Receipt, type TurnChange } from "../backend/turn.js";
import type { AnyBackend } from "../foreign/adapt.js";

/** The rules of a tool set around a backend; the backend itself if there are none. */
export type Around = (base: AnyBackend) => Promise<AnyBackend>;

/** The files of changes; a moved one is there with both paths. */
export function filesOf(changes: readonly TurnChange[]): Receipt["files"][number][] {
  return changes.flatMap(({ path, kind, from, before, after }) =>
    kind === "moved" && from !== undefined
      ? [
          { path: from, before, after: null },
          { path, before: null, after },
        ]
      : [{ path, before, after }],
  );
}

/**
 * Which of these paths the rules let the tools read, whether there is a file or not. A rule that cannot
 * decide now, such as a limit of calls, is an error: an answer without the file would look complete.
 */
export async function shownPaths(
  base: AnyBackend,
  paths: readonly string[],
  around: Around,
): Promise<ReadonlySet<string>> {
  const rules = await around(base);
  if (rules === base) return new Set(paths);
  // "/" is no file, and no secret.
  const asked = [...new Set(paths)].filter((path) => path !== "/");
  if (asked.length === 0) return new Set(paths);
  let answers = await (rules as Backend).downloadFiles(asked);
  if (asked.length > 1 && answers.every(({ code }) => code === "permission_denied")) {
    // A hook refuses a whole batch because of one of its files.
    const one = (path: string) => (rules as Backend).downloadFiles([path]);
    answers = (await Promise.all(asked.map(one))).flat();
  }
  const shown = new Set(["/"]);
  for (const [at, path] of asked.entries()) {
    const code = answers[at]?.code;
    if (answers[at]?.error === null || code === "not_found" || code === "is_directory") {
      shown.add(path);
    } else if (code !== "permission_denied") {
      throw new Error("the rules of these tools could not decide what they show; try again later");
    }
  }
  return shown;
}

/** The changes of files that the rules let the tools read. */
export async function shownChanges(
  base: AnyBackend,
  changes: readonly TurnChange[],
  around: Around,
): Promise<readonly TurnChange[]> {
  const files = filesOf(changes);
  const paths = files.map(({ path }) => path);
  const shown = await shownPaths(base, paths, around);
  const some = files.filter(({ path }) => shown.has(path));
  // A move of which only one side may be seen is a file that is new, or gone.
  if (some.length === files.length) return changes;
  return (await comparedFiles(some)).changes ?? [];
}

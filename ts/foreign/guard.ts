// Objects of other authors without the library's own files, which layers may keep in them: no call
// names those, and no answer shows them. Nor does a call create a file there whose name deceives.

import { enter, glue } from "../core/instance.js";
import { CLOSED, isOwn } from "../core/own.js";
import { namesIn } from "../core/paths.js";
import { deception, visible } from "../core/visible.js";
import type { BackendProtocolV2 } from "../types.js";

// biome-ignore lint/suspicious/noExplicitAny: methods of the protocol, each with its own arguments
type Loose = Record<string, any>;

/** How many of a method's first arguments are paths, and where its only one is otherwise. */
const PATHS: Record<string, readonly number[]> = {
  ...{ ls: [0], read: [0], readRaw: [0], write: [0], edit: [0], delete: [0], append: [0] },
  ...{ grep: [1], glob: [1], move: [0, 1], copy: [0, 1] },
};

/** Which of a method's arguments is the path of a file that it may create. */
const CREATED: Record<string, number> = { write: 0, move: 1, copy: 1 };

const refusal = (path: unknown) => ({
  error: `Invalid path ${visible(JSON.stringify(path))}: ${CLOSED}`,
  code: "invalid_path",
});

/** The refusal of a deletion of all files: the library's own, which are at the root, would go with them. */
const ROOT = {
  error: "Invalid path '/': a file path is needed, not the root or an empty text",
  code: "invalid_path",
};

const isRoot = (path: unknown) => typeof path === "string" && namesIn(path).length === 0;

/** The refusal of a file whose name has a character that deceives. */
function hiddenIn(path: unknown) {
  const error = typeof path === "string" ? deception(path) : undefined;
  return error === undefined ? undefined : { error, code: "invalid_path" };
}

/** Whether a path may come with a pass: one of the library itself, or one whose name was allowed. */
const mayPass = (path: unknown): path is string =>
  typeof path === "string" && path.startsWith("\0");

/**
 * A path as an object gets it; undefined if it is refused. A path of the library itself comes with a pass,
 * which only an object of the library (`isOurs`) understands.
 */
function opened(path: unknown, isOurs: boolean): unknown {
  const known = mayPass(path) ? enter(() => glue.foreign_opened(path)) : undefined;
  if (known === undefined) return isOwn(path) ? undefined : path;
  return isOurs ? path : known;
}

/** Removes the library's own files from an answer about other ones. */
function shown<T>(answer: T): T {
  if (typeof answer !== "object" || answer === null) return answer;
  const cleaned: Loose = { ...answer };
  let found = false;
  for (const name of ["files", "matches"]) {
    const rows = cleaned[name];
    if (!Array.isArray(rows) || !rows.some((row) => isOwn(row?.path))) continue;
    cleaned[name] = rows.filter((row) => !isOwn(row?.path));
    found = true;
  }
  return found ? (cleaned as T) : answer;
}

/** Answers for the files of a batch that may be asked for, and refusals for the others. */
async function batched(
  batch: readonly unknown[],
  isOurs: boolean,
  ask: (rest: unknown[]) => Promise<unknown[]>,
): Promise<unknown[]> {
  const asked: unknown[] = [];
  const refused = batch.map((one) => {
    const path = Array.isArray(one) ? one[0] : one;
    const known = opened(path, isOurs);
    const isHidden = Array.isArray(one) && !isOurs && known === path && hiddenIn(path);
    if (known === undefined || isHidden) {
      const { error: message, code } = isHidden || refusal(path);
      return { path, content: null, error: "invalid_path", code, message };
    }
    asked.push(Array.isArray(one) ? [known, ...one.slice(1)] : known);
    return undefined;
  });
  const answers = asked.length > 0 ? [...(await ask(asked))] : [];
  // Taking the first out of a large array moves all others each time.
  let next = 0;
  return refused.map((one) => one ?? answers[next++]);
}

/** Puts the guard in front of the methods of an adapted object. */
export function guarded<T extends BackendProtocolV2>(adapted: T, isOurs: boolean): T {
  const it = adapted as Loose;
  const put = (name: string, method: (...args: never[]) => unknown) => {
    // Who passes options on asks how many arguments a method has.
    Object.defineProperty(method, "length", { value: it[name].length });
    it[name] = method;
  };
  for (const [name, places] of Object.entries(PATHS)) {
    const method = it[name];
    if (typeof method !== "function") continue;
    put(name, async (...args: unknown[]) => {
      if (name === "delete" && !isOurs && isRoot(args[0])) return ROOT;
      const given = [...args];
      let ours = false;
      for (const place of places) {
        given[place] = opened(args[place], isOurs);
        if (!isOwn(args[place])) continue;
        if (given[place] === undefined) return refusal(args[place]);
        ours = true;
      }
      const created = CREATED[name];
      const isNew = !isOurs && !ours && created !== undefined;
      const hidden = isNew && given[created] === args[created] && hiddenIn(args[created]);
      if (hidden) return hidden;
      const answer = await method(...given);
      return ours ? answer : shown(answer);
    });
  }
  for (const name of ["uploadFiles", "downloadFiles"]) {
    const method = it[name];
    if (typeof method !== "function") continue;
    put(name, async (batch: unknown, ...rest: unknown[]) =>
      Array.isArray(batch)
        ? batched(batch, isOurs, (asked) => method(asked, ...rest))
        : method(batch, ...rest),
    );
  }
  return adapted;
}

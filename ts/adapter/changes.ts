// Read-modify-write changes: inserting a line, appending, renaming. Each is a compare-and-swap, so
// that no acknowledged write of another writer is lost. kitbag's own backends compare bytes (`edit`
// with bytes, `write` with `ifAbsent`, `delete` with `unchanged`). Other backends have only the
// protocol: there `edit` compares the text of the whole file. Adapters turn the results into
// messages.

import type { BackendProtocolV2, CallOptions } from "kitbag";
import { type Extended, extended } from "./extended.js";

/** Attempts of a change on fresh content before it fails. */
export const TRIES = 64;

/** A change failed, perhaps after a part of it; the message says where the content is now. */
export class Trouble extends Error {
  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

/** The content of a file; `text` is undefined if the bytes are not UTF-8. */
export interface Body {
  bytes: Uint8Array;
  text: string | undefined;
}

interface Said {
  error?: string | null | undefined;
  message?: string | undefined;
  code?: string | undefined;
}

/** With kitbag's additions, if they are known to be there. */
const own = (files: BackendProtocolV2): Extended | undefined =>
  "capability" in files ? extended(files) : undefined;

const trouble = (said: Said | undefined, path: string) =>
  new Trouble(said?.message ?? said?.error ?? `there was no answer for ${path}`, said?.code);

/** Whether a result says that there is no such file. */
export function isMissing(said: Said | undefined): boolean {
  const word = said?.code ?? said?.error ?? "";
  return /not.found|no such file|does not exist|is_directory/i.test(word);
}

const exists = (said: Said) =>
  said.code === "already_exists" || (!said.code && /already exists/i.test(said.error ?? ""));

/** Names of files whose content the protocol takes as base64. */
const BINARY = /\.(png|jpe?g|gif|webp|bmp|ico|pdf|zip|gz|mp3|mp4|wav|ogg|webm|woff2?|wasm|bin)$/i;

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function bodyOf(content: Uint8Array | string): Body {
  return typeof content === "string"
    ? { bytes: new TextEncoder().encode(content), text: content }
    : { bytes: content, text: decoded(content) };
}

const same = (a: Uint8Array, b: Uint8Array) =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

/** The content of a file; undefined if it does not exist. */
export async function readBody(files: BackendProtocolV2, path: string): Promise<Body | undefined> {
  if (files.downloadFiles) {
    const [one] = await files.downloadFiles([path]);
    if (one?.content) return bodyOf(one.content);
    if (isMissing(one as Said | undefined)) return undefined;
    throw trouble(one as Said | undefined, path);
  }
  const raw = await files.readRaw(path);
  if (raw.data !== undefined) {
    const { content } = raw.data;
    return bodyOf(Array.isArray(content) ? content.join("\n") : content);
  }
  if (raw.code !== "unsupported") {
    if (isMissing(raw)) return undefined;
    throw trouble(raw, path);
  }
  const read = await files.read(path, 0, Number.MAX_SAFE_INTEGER);
  if (read.content !== undefined) return bodyOf(read.content);
  if (isMissing(read)) return undefined;
  throw trouble(read, path);
}

/** Replaces `old` by `fresh`. False: the file has other content by now and is unchanged. */
export async function swap(
  files: BackendProtocolV2,
  path: string,
  old: Body,
  fresh: Body,
): Promise<boolean> {
  const answer = await own(files)?.edit(path, old.bytes, fresh.bytes);
  if (answer !== undefined) {
    if (answer.error === undefined) return true;
    if (answer.code === "conflict" || answer.code === "not_found") return false;
    if (answer.code !== "unsupported") throw trouble(answer, path);
  }
  const unchanged = async () => {
    const now = await readBody(files, path);
    return now !== undefined && same(now.bytes, old.bytes);
  };
  if (same(old.bytes, fresh.bytes)) return unchanged();
  if (old.text !== undefined && fresh.text !== undefined) {
    const edited = await files.edit(path, old.text, fresh.text, false);
    if (edited.error === undefined) return true;
    if (!(await unchanged())) return false;
    const cannot = old.text === "" || /binary/i.test(edited.error);
    if (!cannot || edited.code === "permission_denied") throw trouble(edited, path);
  }
  // The protocol's `edit` changes no binary files, and on some backends no empty ones. Then the
  // file is compared directly before the upload, and other changes made here wait for that.
  return alone(path, async () => {
    if (!files.uploadFiles) {
      throw new Trouble(`${path} is empty or not text, which this backend cannot change`);
    }
    if (!(await unchanged())) return false;
    const [stored] = await files.uploadFiles([[path, fresh.bytes]]);
    if (stored?.error) throw trouble(stored as Said, path);
    return true;
  });
}

const turns = new Map<string, Promise<unknown>>();

/** Runs `work` after all earlier work on the same path, for any backend. */
async function alone<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(path);
  const turn = (async () => {
    await before?.catch(() => undefined);
    return work();
  })();
  turns.set(path, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(path) === turn) turns.delete(path);
  }
}

/** Creates a file. False: one exists already and is unchanged. */
export async function create(files: BackendProtocolV2, path: string, body: Body): Promise<boolean> {
  const answer = await own(files)?.write(path, body.bytes, { ifAbsent: true });
  if (answer !== undefined) {
    if (answer.error === undefined) return true;
    if (exists(answer)) return false;
    if (answer.code !== "unsupported") throw trouble(answer, path);
  }
  if ((await readBody(files, path)) !== undefined) return false;
  if (body.text !== undefined && !BINARY.test(path)) {
    const written = await files.write(path, body.text);
    if (written.error === undefined) return true;
    if (exists(written)) return false;
    throw trouble(written, path);
  }
  if (!files.uploadFiles) throw new Trouble(`${path} is not text, which this backend cannot store`);
  const [stored] = await files.uploadFiles([[path, body.bytes]]);
  if (stored?.error) throw trouble(stored as Said, path);
  return true;
}

/** Deletes a file if it is still `body`. False: it has other content by now and is unchanged. */
async function remove(
  files: BackendProtocolV2,
  path: string,
  body: Body,
  mark: string,
): Promise<boolean> {
  const answer = await own(files)?.delete(path, { unchanged: body.bytes });
  if (answer !== undefined) {
    if (answer.error === undefined) return true;
    if (answer.code === "conflict" || answer.code === "not_found") return false;
    if (answer.code !== "unsupported") throw trouble(answer, path);
  }
  // The protocol's `delete` has no condition, but `edit` has one: the file is first replaced by a
  // marker, so that a concurrent change is refused or detected.
  const marked = body.text ? !BINARY.test(path) : false;
  const claim = marked ? bodyOf(mark) : body;
  if (marked && !(await swap(files, path, body, claim))) return false;
  const now = await readBody(files, path);
  if (now === undefined) return false;
  if (!same(now.bytes, claim.bytes)) {
    if (marked) await files.edit(path, mark, body.text ?? "", false);
    return false;
  }
  const deleted = await files.delete?.(path);
  if (deleted !== undefined && deleted.error === undefined) return true;
  if (marked) await swap(files, path, claim, body);
  throw trouble(deleted, path);
}

const cancelling = (signal: AbortSignal | undefined): CallOptions => (signal ? { signal } : {});

/**
 * Moves or copies in the backend, where the content can stay. False: the backend has no way of its
 * own, and nothing was changed.
 */
export async function transferred(
  files: BackendProtocolV2,
  operation: "move" | "copy",
  from: string,
  to: string,
  how: Moving,
  isFile = true,
): Promise<boolean> {
  const kitbag = own(files);
  if (!kitbag?.[operation]) return false;
  stillWanted(how.signal, `nothing was ${operation === "move" ? "moved" : "copied"}.`);
  const options = { overwrite: how.replace === true, ...cancelling(how.signal) };
  const answer = await kitbag[operation](from, to, options);
  if (answer.error === undefined) return true;
  if (answer.code === "unsupported") return false;
  const [source, target] = [how.name(from), how.name(to)];
  if (isFile && answer.code === "already_exists") {
    throw new Trouble(`${target} already exists.`, answer.code);
  }
  if (isFile && answer.code === "not_found") {
    throw new Trouble(`The path ${source} does not exist.`, answer.code);
  }
  // The backend's paths, as the caller knows them.
  const said = answer.error.replaceAll(`'${from}'`, source).replaceAll(`'${to}'`, target);
  throw new Trouble(said, answer.code);
}

/** Appends in the backend. False: there is no file, or the backend has no way of its own. */
export async function appended(
  files: BackendProtocolV2,
  path: string,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const answer = await own(files)?.append?.(path, bytes, cancelling(signal));
  if (answer === undefined) return false;
  if (answer.error === undefined) return true;
  if (answer.code === "unsupported" || isMissing(answer)) return false;
  throw trouble(answer, path);
}

/** Options of a move. */
export interface Moving {
  /** Whether to replace an existing target. Default: the move fails. */
  replace?: boolean;
  /** How to name a path in messages. */
  name(path: string): string;
  /** Aborts when the caller gives up. No further change is begun then. */
  signal?: AbortSignal | undefined;
}

/** Throws if the caller has given up. Called before each step that can be left out. */
export function stillWanted(signal: AbortSignal | undefined, state: string): void {
  if (signal?.aborted) throw new Trouble(`The call was cancelled: ${state}`, "timeout");
}

/** Stores a body at the target of a move; an existing file is replaced, or the move fails. */
async function place(files: BackendProtocolV2, path: string, body: Body, how: Moving) {
  for (let tried = 0; tried < TRIES; tried++) {
    stillWanted(how.signal, "nothing was moved.");
    if (await create(files, path, body)) return;
    if (!how.replace) throw new Trouble(`${how.name(path)} already exists.`, "already_exists");
    const there = await readBody(files, path);
    stillWanted(how.signal, "nothing was moved.");
    if (there !== undefined && (await swap(files, path, there, body))) return;
  }
  throw new Trouble(`${how.name(path)} is being changed by other writers.`, "conflict");
}

/**
 * Moves one file, in the backend if it can. Otherwise copies it, checks the copy, and deletes the source if it still has the copied
 * content. Newer content of the source is copied again. After a failure both files exist.
 */
export async function moveFile(
  files: BackendProtocolV2,
  from: string,
  to: string,
  how: Moving,
): Promise<void> {
  if (await transferred(files, "move", from, to, how)) return;
  const [source, target] = [how.name(from), how.name(to)];
  const both = (why: string) =>
    new Trouble(
      `${source} was not moved: ${why} Nothing was lost: ${source} stands as it was last written, and a copy of it stands at ${target}.`,
      "conflict",
    );
  let body = await readBody(files, from);
  if (body === undefined) throw new Trouble(`The path ${source} does not exist.`, "not_found");
  if (!files.delete) throw new Trouble("These files cannot be moved: they cannot be deleted.");
  // The line is repeated, so that an edit of another writer never matches exactly once in it.
  const mark = `[This file is being moved to ${target}: ${crypto.randomUUID()}]\n`.repeat(3);
  await place(files, to, body, how);
  for (let tried = 0; tried < TRIES; tried++) {
    const copy = await readBody(files, to);
    if (copy === undefined || !same(copy.bytes, body.bytes)) {
      throw both(`${target} was changed by another writer, or was not stored as it was given.`);
    }
    stillWanted(how.signal, `${source} was copied to ${target} and not deleted. Both stand.`);
    let gone: boolean;
    try {
      gone = await remove(files, from, body, mark);
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      throw new Trouble(
        `${source} was copied to ${target}, but could not be deleted: ${said} Both stand.`,
        error instanceof Trouble ? error.code : undefined,
      );
    }
    if (gone) return;
    const newer = await readBody(files, from);
    if (newer === undefined) {
      throw new Trouble(
        `${source} was deleted by another writer while it was moved. What it held stands at ${target}.`,
        "conflict",
      );
    }
    if (!(await swap(files, to, body, newer))) {
      throw both(`it was changed meanwhile, and so was ${target}.`);
    }
    body = newer;
  }
  throw both("other writers keep changing it.");
}

/** What exists at a path. Both are possible if directories follow from the paths of files. */
export async function kindOf(
  files: BackendProtocolV2,
  path: string,
): Promise<{ file: boolean; dir: boolean }> {
  if (path === "/") return { file: false, dir: true };
  const parent = path.slice(0, path.lastIndexOf("/")) || "/";
  const { files: rows = [], error, code } = await files.ls(parent);
  if (error !== undefined && !isMissing({ error, code })) throw trouble({ error, code }, path);
  const isDir = (row: { path: string; is_dir?: boolean }) =>
    row.is_dir === true || row.path.endsWith("/");
  return {
    file: rows.some((row) => row.path === path && !isDir(row)),
    dir: rows.some((row) => row.path.replace(/\/$/, "") === path && isDir(row)),
  };
}

/** The files below a directory. */
export async function filesBelow(files: BackendProtocolV2, dir: string): Promise<string[]> {
  const found = await files.glob("**", dir);
  if (found.error !== undefined) {
    if (isMissing(found)) return [];
    throw trouble(found, dir);
  }
  if (found.truncated) throw new Trouble(`${dir} holds too many files to be moved.`);
  const prefix = `${dir}/`;
  return (found.files ?? [])
    .filter((one) => one.is_dir !== true)
    .map(({ path }) => (path.startsWith("/") ? path : prefix + path))
    .filter((path) => path.startsWith(prefix))
    .sort();
}

/** Refuses an impossible move: onto or into itself, or below a file. */
export async function checkMove(
  files: BackendProtocolV2,
  from: string,
  to: string,
  name: (path: string) => string,
): Promise<void> {
  if (from === to) throw new Trouble(`${name(from)} cannot be renamed to itself.`, "same");
  if (from === "/" || to.startsWith(`${from}/`)) {
    throw new Trouble(`${name(from)} cannot be moved into itself.`, "into_itself");
  }
  for (let end = to.indexOf("/", 1); end > 0; end = to.indexOf("/", end + 1)) {
    const above = to.slice(0, end);
    const kind = await kindOf(files, above);
    if (kind.file && !kind.dir) {
      throw new Trouble(`${name(above)} is a file: nothing can stand beneath it.`, "not_a_dir");
    }
  }
}

/**
 * Moves the files below a directory: at once in the backend if it can and nothing is at the new path,
 * else one by one; on failure the error lists those moved.
 */
export async function moveBelow(
  files: BackendProtocolV2,
  from: string,
  to: string,
  how: Moving,
): Promise<number> {
  const moved: string[] = [];
  const inside = (await filesBelow(files, from)).length;
  if (inside === 0) return 0;
  const kind = await kindOf(files, from);
  const there = await kindOf(files, to);
  const whole = !kind.file && !there.file && !there.dir;
  const asked = { ...how, replace: false };
  if (whole && (await transferred(files, "move", from, to, asked, false))) return inside;
  // Files that are created meanwhile are moved in the next round.
  for (let round = 0; ; round++) {
    const below = await filesBelow(files, from);
    if (below.length === 0) break;
    if (round === TRIES) {
      throw new Trouble(`New files keep appearing at ${how.name(from)}; they stand there.`);
    }
    for (const path of below) {
      try {
        await moveFile(files, path, to + path.slice(from.length), how);
      } catch (error) {
        const gone = error instanceof Trouble && error.code === "not_found";
        if (gone && moved.length + below.length > 1) continue;
        const said = error instanceof Error ? error.message : String(error);
        const done = moved.length === 0 ? "Nothing else was moved" : `Moved: ${moved.join(", ")}`;
        throw new Trouble(
          `${said} ${done}. Everything else still stands at ${how.name(from)}.`,
          error instanceof Trouble ? error.code : undefined,
        );
      }
      moved.push(how.name(path));
    }
  }
  // Where directories are real, the empty ones are left over.
  if (moved.length > 0 && (await kindOf(files, from)).dir) {
    const empty = (await filesBelow(files, from)).length === 0;
    if (empty && !how.signal?.aborted) await files.delete?.(from);
  }
  return moved.length;
}

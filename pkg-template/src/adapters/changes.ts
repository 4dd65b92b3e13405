// Changes that are made out of what was read: a line put between others, an append, a rename. Each
// is a compare-and-swap, so that what another writer was told is stored stays stored. kitbag's own
// backends compare bytes (`edit` with bytes, `write` with `ifAbsent`, `delete` with `unchanged`); of
// any other object only the protocol is known, and there the text of the whole file is compared by
// `edit`. What a model or a shell is told is the business of the adapters.

import type {
  BackendProtocolV2,
  DeleteOptions,
  DeleteResult,
  EditResult,
  WriteOptions,
  WriteResult,
} from "kitbag";

/** Times that a change is made again on fresh content before it is given up. */
export const TRIES = 64;

/** A change that was not made, or not to its end: the message says what stands where. */
export class Trouble extends Error {
  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

/** The content of a file; `text` where the bytes are UTF-8. */
export interface Body {
  bytes: Uint8Array;
  text: string | undefined;
}

/** What kitbag's own backends take beyond the protocol. */
interface Own {
  write(path: string, content: Uint8Array, options: WriteOptions): Promise<WriteResult>;
  edit(path: string, old: Uint8Array, fresh: Uint8Array): Promise<EditResult>;
  delete(path: string, options: DeleteOptions): Promise<DeleteResult>;
}

interface Said {
  error?: string | null | undefined;
  message?: string | undefined;
  code?: string | undefined;
}

const own = (files: object): Own | undefined =>
  "capability" in files ? (files as unknown as Own) : undefined;

const trouble = (said: Said | undefined, path: string) =>
  new Trouble(said?.message ?? said?.error ?? `there was no answer for ${path}`, said?.code);

/** Whether an answer says that there is no such file. */
export function isMissing(said: Said | undefined): boolean {
  const word = said?.code ?? said?.error ?? "";
  return /not.found|no such file|does not exist|is_directory/i.test(word);
}

const exists = (said: Said) =>
  said.code === "already_exists" || (!said.code && /already exists/i.test(said.error ?? ""));

/** Names whose content the protocol takes as base64. */
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

/** A file as it stands; undefined where there is none. */
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

/** Puts `fresh` in the place of `old`. False: the file is something else by now, and stays. */
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
  // `edit` of the protocol touches no bytes, and not everywhere fills an empty file. What is left is
  // to look once more at the last moment, and to let no other change of ours come between.
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

/** Runs what must not meet its like at one path, whatever the backend. */
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

/** Makes a file. False: something is there already, and stays. */
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

/** Deletes a file while it is `body`. False: it is something else by now, and stays. */
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
  // No delete of the protocol has a condition, but `edit` has one: the file is marked first, so that
  // whoever changes it meanwhile is refused or is seen.
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

/** How a move goes. */
export interface Moving {
  /** Whether a file at the target is replaced; else it is a refusal. */
  replace?: boolean;
  /** How a path is named in what is said. */
  name(path: string): string;
}

/** Stores a body at the target of a move; what is there already is replaced or refuses it. */
async function place(files: BackendProtocolV2, path: string, body: Body, how: Moving) {
  for (let tried = 0; tried < TRIES; tried++) {
    if (await create(files, path, body)) return;
    if (!how.replace) throw new Trouble(`${how.name(path)} already exists.`, "already_exists");
    const there = await readBody(files, path);
    if (there !== undefined && (await swap(files, path, there, body))) return;
  }
  throw new Trouble(`${how.name(path)} is being changed by other writers.`, "conflict");
}

/**
 * Moves one file: a copy, a look at the copy, and a delete of the source while it is still what was
 * copied. Newer content of the source follows it. Where it breaks off, both files stand.
 */
export async function moveFile(
  files: BackendProtocolV2,
  from: string,
  to: string,
  how: Moving,
): Promise<void> {
  const [source, target] = [how.name(from), how.name(to)];
  const both = (why: string) =>
    new Trouble(
      `${source} was not moved: ${why} Nothing was lost: ${source} stands as it was last written, and a copy of it stands at ${target}.`,
      "conflict",
    );
  let body = await readBody(files, from);
  if (body === undefined) throw new Trouble(`The path ${source} does not exist.`, "not_found");
  if (!files.delete) throw new Trouble("These files cannot be moved: they cannot be deleted.");
  // Three times the same line: an edit that does not mean the mark finds no text of its own in it.
  const mark = `[This file is being moved to ${target}: ${crypto.randomUUID()}]\n`.repeat(3);
  await place(files, to, body, how);
  for (let tried = 0; tried < TRIES; tried++) {
    const copy = await readBody(files, to);
    if (copy === undefined || !same(copy.bytes, body.bytes)) {
      throw both(`${target} was changed by another writer, or was not stored as it was given.`);
    }
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

/** What stands at a path; both, where a directory is only what files have before a `/`. */
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

/** The files beneath a directory. */
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

/** Refuses a move that can have no meaning: onto or into itself, or beneath a file. */
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

/** Moves the files beneath a directory one by one; tells of those that were moved if it breaks off. */
export async function moveBelow(
  files: BackendProtocolV2,
  from: string,
  to: string,
  how: Moving,
): Promise<number> {
  const moved: string[] = [];
  // A file that appears meanwhile is met in the next round.
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
  // Directories that exist by themselves are left without files.
  if (moved.length > 0 && (await kindOf(files, from)).dir) {
    if ((await filesBelow(files, from)).length === 0) await files.delete?.(from);
  }
  return moved.length;
}

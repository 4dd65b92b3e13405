// What the tools that are built into Claude change. A failure says whether anything was changed.

import {
  type Body,
  bodyOf,
  checkMove,
  filesBelow,
  kindOf,
  type Moving,
  moveBelow,
  moveFile,
  stillWanted,
  swap,
  TRIES,
  Trouble,
} from "../changes.js";
import { loaded, type Place, Refusal, refused, text } from "./reading.js";

/** What a model may send. */
export interface EditorInput {
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

const UNCHANGED = "nothing was changed.";

export async function store(place: Place, path: string, body: string): Promise<void> {
  const { files } = place;
  if (files.uploadFiles) {
    const [answer] = await files.uploadFiles([[path, new TextEncoder().encode(body)]]);
    if (answer?.error) throw refused(answer.message ?? answer.error);
    return;
  }
  const answer = await files.write(path, body);
  if (answer.error !== undefined) throw refused(answer.error);
}

export async function replace(place: Place, path: string, input: EditorInput): Promise<string> {
  const shown = place.name(path);
  await loaded(place, path);
  const old = text("old_str", input.old_str);
  const fresh = input.new_str === undefined ? "" : text("new_str", input.new_str);
  stillWanted(place.signal, UNCHANGED);
  const answer = await place.files.edit(path, old, fresh, false);
  if (answer.error === undefined) return `The file ${shown} has been edited.`;
  const said = answer.code === undefined ? answer.error : "";
  if (answer.code === "no_match" || /string not found/i.test(said)) {
    throw new Refusal(`Error: No replacement was performed: old_str does not appear in ${shown}.`);
  }
  if (answer.code === "ambiguous_edit" || /appears|occurrences/i.test(said)) {
    throw new Refusal(
      `Error: No replacement was performed: old_str appears more than once in ${shown}. Make it unique.`,
    );
  }
  throw refused(answer.error);
}

/** Inserts lines after line `at`. */
function inserted(body: string, at: unknown, added: string): string {
  const lines = body === "" ? [] : body.split("\n");
  const last = body.endsWith("\n") ? lines.length - 1 : lines.length;
  if (!Number.isInteger(at) || (at as number) < 0 || (at as number) > last) {
    throw new Refusal(`Error: "insert_line" must be a whole number from 0 to ${last}.`);
  }
  const ended = added.endsWith("\n") ? added.slice(0, -1) : added;
  return [...lines.slice(0, at as number), ended, ...lines.slice(at as number)].join("\n");
}

export async function insert(place: Place, path: string, input: EditorInput): Promise<string> {
  for (let tried = 0; tried < TRIES; tried++) {
    const body = await loaded(place, path);
    const added = text("insert_text", input.insert_text ?? input.new_str);
    const fresh = inserted(body, input.insert_line, added);
    const old: Body = bodyOf(body);
    stillWanted(place.signal, UNCHANGED);
    try {
      if (await swap(place.files, path, old, bodyOf(fresh))) {
        return `The file ${place.name(path)} has been edited.`;
      }
    } catch (error) {
      throw refused(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Refusal(
    `Error: ${place.name(path)} is being changed by other writers. Nothing was inserted; try again.`,
  );
}

export async function remove(place: Place, path: string): Promise<string> {
  const { files, name } = place;
  if (!files.delete) throw new Refusal("Error: These files cannot be deleted.");
  const answer = await files.delete(path);
  if (answer.error !== undefined) throw refused(answer.error);
  return `Deleted ${name(path)}.`;
}

export async function rename(place: Place, from: string, to: string): Promise<string> {
  const { files, name, signal } = place;
  const how: Moving = { name, signal };
  try {
    await checkMove(files, from, to, name);
    const target = await kindOf(files, to);
    if (target.file || target.dir) throw new Trouble(`${name(to)} already exists.`);
    const source = await kindOf(files, from);
    const below = source.file && !source.dir ? [] : await filesBelow(files, from);
    if (!source.file && below.length === 0) {
      if (source.dir) throw new Trouble(`${name(from)} is empty: there is nothing to rename.`);
      throw new Trouble(`The path ${name(from)} does not exist.`);
    }
    if (below.length > 0) await moveBelow(files, from, to, how);
    if (source.file) await moveFile(files, from, to, how);
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    throw refused(error.message);
  }
  return `Renamed ${name(from)} to ${name(to)}.`;
}

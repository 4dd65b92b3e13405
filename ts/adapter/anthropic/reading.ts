// What the tools that are built into Claude read and show: files with line numbers, and listings. Failures
// are sentences for the model, with the model's own paths.

import type { BackendProtocolV2 } from "kitbag";
import { readBody } from "../changes.js";

/** An error whose message is for the model. */
export class Refusal extends Error {}

export const text = (name: string, value: unknown): string => {
  if (typeof value !== "string") throw new Refusal(`Error: "${name}" must be a string.`);
  return value;
};

/** A backend, and how its paths are named in messages to the model. */
export interface Place {
  files: BackendProtocolV2;
  name(path: string): string;
  /** Aborts when the caller gives up. */
  signal: AbortSignal | undefined;
}

/** A failure of the backend as a `Refusal`. */
export function refused(said: string | undefined): Refusal {
  const text = said ?? "there was no answer";
  return new Refusal(text.startsWith("Error") ? text : `Error: ${text}`);
}

/** Wraps a backend so that its error messages contain the model's paths. */
export function speaking(
  files: BackendProtocolV2,
  tell: (said: string, path: string) => string,
): BackendProtocolV2 {
  const told = (answer: unknown, path: string): unknown => {
    if (Array.isArray(answer)) return answer.map((one) => told(one, path));
    if (typeof answer !== "object" || answer === null) return answer;
    const shown: Record<string, unknown> = { ...answer };
    for (const field of ["error", "message"]) {
      const said = shown[field];
      if (typeof said === "string") shown[field] = tell(said, path);
    }
    return shown;
  };
  return new Proxy(files, {
    get(target, key) {
      const value = Reflect.get(target, key, target) as unknown;
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        const [first] = given.flat(2);
        return told(await value.apply(target, given), String(first));
      };
    },
  });
}

async function load(place: Place, path: string): Promise<string | undefined> {
  const { files, name } = place;
  const raw = await files.readRaw(path);
  if (raw.code === "unsupported") {
    const body = await readBody(files, path);
    if (body === undefined || body.text !== undefined) return body?.text;
    throw new Refusal(`Error: ${name(path)} is a binary file.`);
  }
  if (raw.data === undefined) {
    const missing =
      raw.code === "not_found" ||
      raw.code === "is_directory" ||
      (raw.code === undefined && /not found/.test(raw.error ?? ""));
    if (missing) return undefined;
    throw refused(raw.error);
  }
  const { content } = raw.data;
  if (Array.isArray(content)) return content.join("\n");
  if (typeof content === "string") return content;
  throw new Refusal(`Error: ${name(path)} is a binary file.`);
}

const absent = ({ name }: Place, path: string) =>
  new Refusal(`Error: The path ${name(path)} does not exist.`);

export async function loaded(place: Place, path: string): Promise<string> {
  const body = await load(place, path);
  if (body === undefined) throw absent(place, path);
  return body;
}

async function listing(place: Place, path: string): Promise<string | undefined> {
  const { files, name } = place;
  const rows: string[] = [];
  const walk = async (dir: string, depth: number) => {
    const answer = await files.ls(dir);
    if (answer.error !== undefined) throw refused(answer.error);
    for (const info of answer.files ?? []) {
      const shown = name(info.path);
      const size = info.is_dir || info.size === undefined ? "" : ` (${info.size} bytes)`;
      rows.push(shown + size);
      if (info.is_dir && depth < 2) await walk(info.path, depth + 1);
    }
  };
  await walk(path, 1);
  return rows.length === 0 ? undefined : rows.join("\n");
}

function rows(body: string, range: unknown): string {
  const lines = body.endsWith("\n") ? body.slice(0, -1).split("\n") : body.split("\n");
  let [from, to] = [1, lines.length];
  if (range !== undefined && range !== null) {
    const given = range as unknown[];
    const whole = Array.isArray(range) && given.length === 2 && given.every(Number.isInteger);
    if (!whole) throw new Refusal('Error: "view_range" must be two whole numbers, [first, last].');
    from = given[0] as number;
    to = given[1] === -1 ? lines.length : Math.min(given[1] as number, lines.length);
    if (from < 1 || from > lines.length || to < from) {
      throw new Refusal(`Error: "view_range" must lie within 1 and ${lines.length}.`);
    }
  }
  const numbered = (line: string, at: number) => `${String(from + at).padStart(6)}\t${line}`;
  return lines
    .slice(from - 1, to)
    .map(numbered)
    .join("\n");
}

/** A file with line numbers, or a listing. An empty directory is shown only if it is the root. */
export async function view(
  place: Place,
  path: string,
  range: unknown,
  root: boolean,
): Promise<string> {
  const body = path === "/" ? undefined : await load(place, path);
  if (body !== undefined) return rows(body, range);
  const list = (await listing(place, path)) ?? (root ? "(empty)" : undefined);
  if (list === undefined) throw absent(place, path);
  return `Files and directories in ${place.name(path)}:\n${list}`;
}

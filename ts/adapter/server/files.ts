// What HTTP has words for: `GET`, `HEAD`, `PUT` and `DELETE` of a file. Its version, the ETag, is a digest of
// its content, so that a condition means the same on every backend; the change itself is made on the
// condition that the file still has the bytes that had this version.

import { answered, failed, shownFailure } from "./answers.js";
import type { Kept } from "./memory.js";
import type { Call } from "./served.js";
import { BadRequest, utf8 } from "./wire.js";

/** A file as it is stored. */
export interface Stored {
  bytes: Uint8Array<ArrayBuffer>;
  mime: string;
  created: Date | undefined;
  modified: Date | undefined;
  tag: string;
}

type Failure = { error: string; code?: string };

const hex = (bytes: ArrayBuffer) =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A digest as text. */
export const digestOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  hex(await crypto.subtle.digest("SHA-256", bytes));

const tagOf = async (bytes: Uint8Array<ArrayBuffer>) => `"${(await digestOf(bytes)).slice(0, 32)}"`;

function timeOf(text: string | undefined): Date | undefined {
  const at = new Date(text ?? "");
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** Reads a file. */
export async function stored({ backend, options }: Call, path: string): Promise<Stored | Failure> {
  const answer = await backend.readRaw(path, options);
  if (answer.error !== undefined) return answer as Failure;
  const data = answer.data as { content: unknown; created_at?: string; modified_at?: string };
  const { content, created_at, modified_at } = data;
  const text = Array.isArray(content) ? content.join("\n") : content;
  const bytes =
    typeof text === "string" ? utf8(text) : new Uint8Array(text as Uint8Array<ArrayBuffer>);
  const { mimeType } = answer.data as { mimeType?: string };
  const type = mimeType ?? (typeof text === "string" ? "text/plain" : "application/octet-stream");
  const safe = /^[\w.+-]+\/[\w.+-]+(;[\w .=+"-]*)?$/.test(type) ? type : "application/octet-stream";
  return {
    bytes,
    mime: typeof text === "string" && !safe.includes(";") ? `${safe};charset=utf-8` : safe,
    created: timeOf(created_at),
    modified: timeOf(modified_at),
    tag: await tagOf(bytes),
  };
}

const refusal = (failure: object) => failed(shownFailure(failure), false);

const CHANGED = {
  error: "The file has another version by now; read it again and repeat the change",
  code: "conflict",
};

/** Whether a list of ETags names a version; a weak one is of the same content here. */
function names(list: string, tag: string): boolean {
  if (list.trim() === "*") return true;
  return list.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}

/** The bytes of a `Range`: undefined for the whole file, null for none that it has. */
function rangeOf(range: string | null, size: number): [number, number] | undefined | null {
  // Several ranges in one request are answered with the whole file, as with servers without ranges.
  const parts = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range?.trim() ?? "");
  if (!parts || (parts[1] === "" && parts[2] === "")) return undefined;
  if (parts[1] === "") {
    const last = Math.min(Number(parts[2]), size);
    return last === 0 ? null : [size - last, size];
  }
  const from = Number(parts[1]);
  const to = parts[2] === "" ? size : Math.min(Number(parts[2]) + 1, size);
  if (parts[2] !== "" && Number(parts[2]) < from) return undefined;
  return from < size ? [from, to] : null;
}

/** `GET` and `HEAD`. */
export async function getFile(call: Call, path: string): Promise<Kept> {
  const { request, limits } = call;
  const file = await stored(call, path);
  if ("error" in file) return refusal(file);
  const { bytes, mime, modified, tag } = file;
  const headers: Record<string, string> = {
    "accept-ranges": "bytes",
    "content-type": mime,
    etag: tag,
    ...(modified ? { "last-modified": modified.toUTCString() } : {}),
  };
  const match = request.headers.get("if-match");
  if (match !== null && !names(match, tag)) return failed(CHANGED, false, 412);
  const known = request.headers.get("if-none-match");
  if (known !== null && names(known, tag)) return { status: 304, headers, body: null };
  // A part of another version than the client's would not fit to what it has.
  const partOf = request.headers.get("if-range");
  const range =
    partOf === null || partOf.trim() === tag
      ? rangeOf(request.headers.get("range"), bytes.length)
      : undefined;
  if (range === null) {
    const none = failed(
      { error: "The file has no such bytes", code: "invalid_argument" },
      false,
      416,
    );
    return { ...none, headers: { ...none.headers, "content-range": `bytes */${bytes.length}` } };
  }
  const body = range ? bytes.subarray(...range) : bytes;
  if (body.length > limits.maxResultBytes) {
    const error = `The file has more than ${limits.maxResultBytes} bytes; ask for ranges of it`;
    return failed({ error, code: "too_large" }, false);
  }
  headers["content-length"] = String(body.length);
  if (range) headers["content-range"] = `bytes ${range[0]}-${range[1] - 1}/${bytes.length}`;
  return { status: range ? 206 : 200, headers, body: request.method === "HEAD" ? null : body };
}

/** `PUT`: creates, replaces, or with a condition only a certain version. */
export async function putFile(
  call: Call,
  path: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<Kept> {
  const { request, backend, options } = call;
  const match = request.headers.get("if-match");
  const none = request.headers.get("if-none-match");
  if (none !== null && (none.trim() !== "*" || match !== null)) {
    throw new BadRequest("A PUT takes If-None-Match: * or If-Match, and not both");
  }
  if (request.headers.has("content-range")) {
    throw new BadRequest(
      "A PUT stores a whole file; Content-Range is not supported",
      "unsupported",
    );
  }
  const done = async (status: number): Promise<Kept> => ({
    status,
    headers: { etag: await tagOf(body) },
    body: null,
  });
  if (none !== null) {
    const answer = await backend.write(path, body, { ifAbsent: true, ...options });
    if (answer.code === "already_exists") return failed(shownFailure(answer), false, 412);
    return answer.error === undefined ? done(201) : refusal(answer);
  }
  if (match === null) {
    const [answer] = await backend.uploadFiles([[path, body]], options);
    if (answer && answer.error === null) return done(204);
    const { error, code, message } = (answer ?? {}) as Record<string, unknown>;
    return refusal({ error: message ?? error, code: code ?? "internal" });
  }
  const file = await stored(call, path);
  if ("error" in file)
    return file.code === "not_found" ? failed(CHANGED, false, 412) : refusal(file);
  if (!names(match, file.tag)) return failed(CHANGED, false, 412);
  const answer = await backend.edit(path, file.bytes, body, false, options);
  if (answer.code === "conflict") return failed(shownFailure(answer), false, 412);
  return answer.error === undefined ? done(204) : refusal(answer);
}

/** `DELETE`: a file or a directory, or with `If-Match` only a certain version of a file. */
export async function deleteFile(call: Call, path: string): Promise<Kept> {
  const { request, backend, options } = call;
  const match = request.headers.get("if-match");
  if (match === null || match.trim() === "*") {
    const answer = await backend.delete(path, options);
    return answer.error === undefined ? { status: 204, headers: {}, body: null } : refusal(answer);
  }
  const file = await stored(call, path);
  if ("error" in file) return refusal(file);
  if (!names(match, file.tag)) return failed(CHANGED, false, 412);
  const answer = await backend.delete(path, { unchanged: file.bytes, ...options });
  if (answer.code === "conflict") return failed(shownFailure(answer), false, 412);
  return answer.error === undefined ? { status: 204, headers: {}, body: null } : refusal(answer);
}

/** `GET` of a directory: one level of it. */
export async function listDirectory({ backend, options }: Call, path: string): Promise<Kept> {
  const answer = await backend.ls(path, options);
  if (answer.error !== undefined) return refusal(answer);
  return answered({ files: answer.files }, false);
}

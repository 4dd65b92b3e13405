// What HTTP has words for: `GET`, `HEAD`, `PUT` and `DELETE` of a file. A change with a condition is made on
// the condition that the file still has the bytes that had the version which was named.

import type { FileUploadResponse } from "kitbag";
import { answered, failed, shownFailure, withHeaders } from "./answers.js";
import { gathered } from "./arriving.js";
import type { Kept } from "./memory.js";
import type { Pieces } from "./pieces.js";
import type { Call } from "./served.js";
import { opened, PIECE, stored, tagOf } from "./stored.js";
import { BadRequest } from "./wire.js";

/** Why nothing was stored. */
type Refused = { error?: unknown; code?: unknown };

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

/** What a `Range` asks for: from a byte on, up to one or to the end; or the last bytes. */
type Wanted = { from: number; to: number } | { last: number };

/** The range of a request; undefined for the whole file. */
function wanted(range: string | null): Wanted | undefined {
  // Several ranges in one request are answered with the whole file, as with servers without ranges.
  const parts = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range?.trim() ?? "");
  if (!parts || (parts[1] === "" && parts[2] === "")) return undefined;
  if (parts[1] === "") return { last: Number(parts[2]) };
  const from = Number(parts[1]);
  const to = parts[2] === "" ? Number.MAX_SAFE_INTEGER : Number(parts[2]) + 1;
  return to > from ? { from, to } : undefined;
}

/** The bytes of a range in a file of this size; null for none that it has. */
function placeOf(range: Wanted, size: number): { from: number; to: number } | null {
  const from = "last" in range ? size - Math.min(range.last, size) : range.from;
  const to = "last" in range ? size : Math.min(range.to, size);
  return from < to ? { from, to } : null;
}

/** `GET` and `HEAD`. */
export async function getFile(call: Call, path: string): Promise<Kept | Pieces> {
  const { request, limits } = call;
  const isHead = request.method === "HEAD";
  const asked = isHead ? undefined : wanted(request.headers.get("range"));
  // Of a large file, the bytes that are sent first, or none where they are not known yet.
  const at = asked && "from" in asked ? asked.from : 0;
  const most = isHead || (asked && "last" in asked) ? 0 : PIECE;
  const to = asked && "to" in asked ? Math.min(asked.to, at + most) : at + most;
  const file = await opened(call, path, at, to);
  if ("error" in file) return refusal(file);
  const { mime, modified, tag, size } = file;
  const headers: Record<string, string> = {
    "accept-ranges": "bytes",
    "content-type": mime,
    etag: tag,
  };
  if (modified) headers["last-modified"] = modified.toUTCString();
  const match = request.headers.get("if-match");
  if (match !== null && !names(match, tag)) return failed(CHANGED, false, 412);
  const known = request.headers.get("if-none-match");
  if (known !== null && names(known, tag)) return { status: 304, headers, body: null };
  // A part of another version than the client's would not fit to what it has.
  const partOf = request.headers.get("if-range");
  const range = partOf === null || partOf.trim() === tag ? asked : undefined;
  const place = range ? placeOf(range, size) : { from: 0, to: size };
  if (place === null) {
    const none = failed(
      { error: "The file has no such bytes", code: "invalid_argument" },
      false,
      416,
    );
    return withHeaders(none, { "content-range": `bytes */${size}` });
  }
  const status = range ? 206 : 200;
  headers["content-length"] = String(place.to - place.from);
  if (range) headers["content-range"] = `bytes ${place.from}-${place.to - 1}/${size}`;
  if (isHead) return { status, headers, body: null };
  if ("version" in file) return { status, headers, path, first: file, ...place };
  const body = file.bytes.subarray(place.from, place.to);
  if (body.length > limits.maxResultBytes) {
    const error = `The file has more than ${limits.maxResultBytes} bytes; ask for ranges of it`;
    return failed({ error, code: "too_large" }, false);
  }
  return { status, headers, body };
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
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding !== "identity") {
    const error = "A PUT stores the bytes as they are; send them without Content-Encoding";
    return failed({ error, code: "unsupported" }, false, 415);
  }
  const done = async (status: number): Promise<Kept> => ({
    status,
    // That of a large file is only known when it is read.
    headers: call.arrives || body.length > PIECE ? {} : { etag: await tagOf(body) },
    body: null,
  });
  if (match === null) {
    const isNew = none !== null;
    const refused = await uploaded(call, path, body, isNew);
    if (!refused) return done(isNew ? 201 : 204);
    const isThere = isNew && refused.code === "already_exists";
    return isThere ? failed(shownFailure(refused), false, 412) : refusal(refused);
  }
  const file = await stored(call, path);
  if ("error" in file)
    return file.code === "not_found" ? failed(CHANGED, false, 412) : refusal(file);
  if (!names(match, file.tag)) return failed(CHANGED, false, 412);
  const answer = await backend.edit(path, file.bytes, body, false, options);
  if (answer.code === "conflict") return failed(shownFailure(answer), false, 412);
  return answer.error === undefined ? done(204) : refusal(answer);
}

/** Stores a file, while it arrives if it is large; with `isNew` only where there is none. Returns why it was refused. */
export async function uploaded(
  { backend, options, arrives }: Call,
  path: string,
  body: Uint8Array,
  isNew: boolean,
): Promise<Refused | undefined> {
  const sent: unknown = arrives && backend.uploadFiles([[path, arrives]], options);
  // Who answers at once has not waited for the bytes, and needs them first.
  if (sent && !Array.isArray(sent)) return refusedIn(await (sent as Promise<FileUploadResponse[]>));
  const bytes = arrives ? await gathered(arrives) : body;
  if (!isNew) return refusedIn(await backend.uploadFiles([[path, bytes]], options));
  const answer = await backend.write(path, bytes, { ifAbsent: true, ...options });
  return answer.error === undefined ? undefined : answer;
}

/** Why a file of an upload was refused. */
function refusedIn([answer]: FileUploadResponse[]): Refused | undefined {
  const { error, code, message } = answer ?? { error: "internal" };
  return error === null ? undefined : { error: message ?? error, code: code ?? "internal" };
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

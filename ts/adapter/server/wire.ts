// How values cross: JSON, and with `application/vnd.kitbag` one line of JSON with the bytes behind it, so
// that large contents need no base64. In the JSON, bytes are `{"base64": …}`, or `{"bytes": [at, length]}`,
// which counts from the line feed on.

/** The form with bytes behind the JSON. */
export const PACKED = "application/vnd.kitbag";
/** The plain form. */
export const JSON_TYPE = "application/json";
/** A search, one match or file a line. */
export const LINES = "application/x-ndjson";

/** A body or a header that does not say what it must. */
export class BadRequest extends Error {
  constructor(
    message: string,
    readonly code = "invalid_argument",
  ) {
    super(message);
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The UTF-8 of a text. */
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** All pieces, one behind the other. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of pieces) {
    whole.set(one, at);
    at += one.length;
  }
  return whole;
}

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}

/** The body of an answer. */
export function encode(value: unknown, packed: boolean): Uint8Array<ArrayBuffer> {
  const tail: Uint8Array[] = [];
  let length = 0;
  // What has no bytes in it is not copied.
  const plain = (one: unknown): unknown => {
    if (typeof one !== "object" || one === null) return one;
    if (one instanceof Uint8Array) {
      if (!packed) return { base64: base64Of(one) };
      tail.push(one);
      length += one.length;
      return { bytes: [length - one.length, one.length] };
    }
    const fields = one as Record<string, unknown>;
    let copy: typeof fields | undefined;
    for (const name of Object.keys(fields)) {
      const field = plain(fields[name]);
      if (field === fields[name]) continue;
      copy ??= (Array.isArray(one) ? [...one] : { ...fields }) as typeof fields;
      copy[name] = field;
    }
    return copy ?? one;
  };
  const head = utf8(`${JSON.stringify(plain(value))}\n`);
  return tail.length > 0 ? joined([head, ...tail]) : head;
}

/** The object in the body of a request, and the bytes behind it. */
export interface Given {
  fields: Record<string, unknown>;
  tail: Uint8Array;
}

/** Reads the body of a request. */
export function decode(body: Uint8Array, packed: boolean): Given {
  const end = packed ? body.indexOf(10) : -1;
  const [head, tail] = end < 0 ? [body, body.subarray(body.length)] : parts(body, end);
  let text: string;
  try {
    text = decoder.decode(head);
  } catch {
    throw new BadRequest(NO_OBJECT);
  }
  return { fields: fieldsIn(text), tail };
}

const NO_OBJECT = "The body must be one JSON object in UTF-8";

/** The fields of a JSON object. */
export function fieldsIn(text: string): Record<string, unknown> {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    throw new BadRequest(NO_OBJECT);
  }
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new BadRequest("The body must be one JSON object");
  }
  return fields as Record<string, unknown>;
}

const parts = (body: Uint8Array, end: number) =>
  [body.subarray(0, end), body.subarray(end + 1)] as const;

/** Bytes in a request. */
export function bytesIn(name: string, value: unknown, tail: Uint8Array): Uint8Array {
  const { base64, bytes } = (value ?? {}) as { base64?: unknown; bytes?: unknown };
  if (typeof base64 === "string") {
    try {
      return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    } catch {
      throw new BadRequest(`"${name}" is no base64`);
    }
  }
  if (Array.isArray(bytes) && bytes.length === 2) {
    const [at, length] = bytes as [unknown, unknown];
    const whole = (one: unknown): one is number =>
      Number.isSafeInteger(one) && (one as number) >= 0;
    if (whole(at) && whole(length) && at + length <= tail.length) {
      return tail.slice(at, at + length);
    }
    throw new BadRequest(`"${name}" names bytes that are not in the body`);
  }
  throw new BadRequest(`"${name}" must be bytes: {"base64": "…"}`);
}

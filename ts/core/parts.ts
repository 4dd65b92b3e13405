// A file whose bytes come in parts: a `Blob`, or what has its size and a stream.

import type { CallOptions, ErrorText, Failure, FileParts } from "../types.js";
import { after } from "./after.js";
import { CANCELLED, late } from "./pace.js";
import { onAbort } from "./signals.js";

/** Whether a content comes in parts. */
export function isParts(content: unknown): content is FileParts {
  const { size, stream } = (content ?? {}) as Partial<FileParts>;
  return typeof stream === "function" && typeof size === "number";
}

/** By which the library's own calls say that nothing may be in the place of a file. */
export const NEW = Symbol.for("kitbag.new");

/** What is said of bytes that could not be read: neither a storage nor a server is to blame. */
export const UNREAD = "The bytes of the file could not be read: ";

/** All bytes, for who must have them together. */
export async function whole(
  content: FileParts,
  options: CallOptions,
): Promise<Uint8Array | Failure> {
  const { size, most } = content;
  if (most !== undefined && size > most) {
    const error = `The file has ${size} bytes, and must be in memory as a whole here, where ${most} are allowed`;
    return { error: error as ErrorText, code: "too_large" };
  }
  const { signal, timeoutMs } = options;
  const over = new AbortController();
  let why: string = CANCELLED;
  const silent = signal && onAbort(signal, () => over.abort());
  const timer =
    timeoutMs === undefined
      ? undefined
      : after(timeoutMs, () => {
          why = late(timeoutMs);
          over.abort();
        });
  try {
    const all = new TransformStream<Uint8Array, Uint8Array>();
    const piped = content.stream().pipeTo(all.writable, { signal: over.signal });
    const read = new Response(all.readable).arrayBuffer();
    const [bytes] = await Promise.all([read, piped]);
    if (bytes.byteLength === size) return new Uint8Array(bytes);
    throw new Error(`the stream gave ${bytes.byteLength} bytes, and its size is ${size}`);
  } catch (error) {
    if (over.signal.aborted) return { error: why as ErrorText, code: "timeout" };
    const said = error instanceof Error ? error.message : "the stream failed";
    return { error: `${UNREAD}${said}` as ErrorText, code: "unavailable" };
  } finally {
    clearTimeout(timer);
    silent?.();
  }
}

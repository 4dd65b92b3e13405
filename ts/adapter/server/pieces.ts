// A large file, sent piece by piece while the client reads: the server holds a few pieces of it, whatever
// its size. All pieces are of one version of the file. If it changes, or cannot be read any more, the answer
// breaks off before its announced length, and the client knows that it is not whole.

import { safe } from "./answers.js";
import { within } from "./limits.js";
import type { Call } from "./served.js";
import { type Large, opened, PIECE } from "./stored.js";

/** An answer whose body is read while it is sent. */
export interface Pieces {
  status: number;
  headers: Record<string, string>;
  path: string;
  /** What was read of it already: the beginning of what is sent. */
  first: Large;
  /** The bytes that are sent: up to, and without, `to`. */
  from: number;
  to: number;
}

/** The response; `ended` is called once, when nothing more is read for it. */
export function inPieces(call: Call, pieces: Pieces, ended: () => void): Response {
  const { request } = call;
  const { status, headers, path, first, from, to } = pieces;
  const { timeoutMs } = call.limits;
  let at = from;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const over = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(idle);
    ended();
  };
  const read = async (): Promise<Uint8Array<ArrayBuffer>> => {
    if (at >= first.start && at < first.start + first.bytes.length) {
      return first.bytes.subarray(at - first.start, to - first.start);
    }
    const { signal, end } = within(request, timeoutMs, false);
    try {
      const next = await opened(
        { ...call, options: { signal } },
        path,
        at,
        Math.min(at + PIECE, to),
      );
      if ("error" in next) throw new Error(`The file cannot be read to its end: ${next.error}`);
      if (!("version" in next) || next.version !== first.version || next.bytes.length === 0) {
        throw new Error("The file was changed while it was sent");
      }
      return next.bytes;
    } finally {
      end();
    }
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      clearTimeout(idle);
      try {
        const bytes = await read();
        if (isOver) return;
        at += bytes.length;
        controller.enqueue(bytes);
      } catch (error) {
        over();
        throw error;
      }
      if (at >= to) {
        controller.close();
        over();
        return;
      }
      // Who reads no further gives its place back.
      idle = setTimeout(() => {
        controller.error(new Error("The client did not read on"));
        over();
      }, timeoutMs);
      // An answer that was dropped keeps no process alive.
      (idle as { unref?: () => void }).unref?.();
    },
    cancel: over,
  });
  return new Response(body, { status, headers: { ...safe(), ...headers } });
}

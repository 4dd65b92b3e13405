// A search as lines of JSON, made while the client reads: one match or file a line, and at the end one
// line with what else the answer has. An answer without that line is not whole.

import { SAFE } from "./answers.js";
import type { Outcome } from "./operations.js";
import { LINES, utf8 } from "./wire.js";

/** Bytes of a piece of the stream. */
const PIECE = 64 << 10;

/** The response for an answer with a list. */
export function streamed(
  outcome: Outcome,
  list: "matches" | "files",
  most: number,
  headers: Record<string, string>,
): Response {
  const { [list]: all, ...rest } = outcome;
  const rows = (all ?? []) as object[];
  let at = 0;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      let piece = "";
      while (at < rows.length && piece.length < PIECE && sent + piece.length < most) {
        piece += `${JSON.stringify(rows[at])}\n`;
        at += 1;
      }
      sent += piece.length;
      const cut = at < rows.length && sent >= most;
      if (cut || at === rows.length) {
        piece += `${JSON.stringify({ end: { ...rest, ...(cut ? { truncated: true } : {}) } })}\n`;
      }
      controller.enqueue(utf8(piece));
      if (cut || at === rows.length) controller.close();
    },
  });
  return new Response(body, { headers: { ...SAFE, "content-type": LINES, ...headers } });
}

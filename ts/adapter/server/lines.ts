// A search as lines of JSON, made while the client reads: one match or file a line, and at the end one
// line with what else the answer has. An answer without that line is not whole.

import { headersOf } from "./answers.js";
import type { Kept } from "./memory.js";
import type { Rows } from "./routes.js";
import { MatchRows } from "./rows.js";
import { joined, LINES, utf8 } from "./wire.js";

/** Bytes of a piece of the stream. */
const PIECE = 256 << 10;

/** The answer with a list: at once if it is short, else a response. */
export function inLines(
  { outcome, list, isApart = false }: Rows,
  most: number,
  headers: Record<string, string>,
): Kept | Response {
  const { [list]: all, ...rest } = outcome;
  const rows = all instanceof MatchRows ? all : new ObjectRows((all ?? []) as object[]);
  let sent = 0;
  let isOver = false;
  const piece = () => {
    const lines = rows.piece(Math.min(PIECE, most - sent));
    sent += lines.length;
    const isWhole = rows.written === rows.length;
    isOver = isWhole || sent >= most;
    if (!isOver) return lines;
    const end = { ...rest, ...(isWhole ? {} : { truncated: true }) };
    return joined([lines, utf8(`${JSON.stringify({ end })}\n`)]);
  };
  const named = { "content-type": LINES, ...headers };
  let first: Uint8Array<ArrayBuffer> | undefined = piece();
  if (isOver) return { status: 200, headers: named, body: first, isApart };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(first ?? piece());
      first = undefined;
      if (isOver) controller.close();
    },
  });
  return new Response(body, {
    headers: headersOf({ status: 200, headers: named, body: null, isApart }),
  });
}

/** Files of a search, and matches that are objects: those with context, and of another library. */
class ObjectRows {
  written = 0;

  constructor(private readonly rows: object[]) {}

  get length(): number {
    return this.rows.length;
  }

  /** Writes rows until they have this many characters, or a little more. */
  piece(wanted: number): Uint8Array<ArrayBuffer> {
    let text = "";
    while (this.written < this.length && text.length < wanted) {
      text += `${JSON.stringify(this.rows[this.written])}\n`;
      this.written += 1;
    }
    return utf8(text);
  }
}

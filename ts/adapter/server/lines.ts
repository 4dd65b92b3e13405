// A search as lines of JSON, made while the client reads: one match or file a line, and at the end one
// line with what else the answer has. An answer without that line is not whole.

import { headersOf } from "./answers.js";
import type { Kept } from "./memory.js";
import type { Rows } from "./routes.js";
import { LINES, utf8 } from "./wire.js";

/** Characters of a piece of the stream. */
const PIECE = 256 << 10;

/** The answer with a list: at once if it is short, else a response. */
export function inLines(
  { outcome, list, isApart = false }: Rows,
  most: number,
  headers: Record<string, string>,
): Kept | Response {
  const { [list]: all, ...rest } = outcome;
  const rows = (all ?? []) as object[];
  let at = 0;
  let sent = 0;
  let isOver = false;
  const written = list === "matches" ? writerOfMatches() : JSON.stringify;
  const piece = () => {
    let text = "";
    while (at < rows.length && text.length < PIECE && sent + text.length < most) {
      text += `${written(rows[at] as object)}\n`;
      at += 1;
    }
    sent += text.length;
    const cut = at < rows.length && sent >= most;
    isOver = cut || at === rows.length;
    const end = { ...rest, ...(cut ? { truncated: true } : {}) };
    return utf8(isOver ? `${text}${JSON.stringify({ end })}\n` : text);
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

/** Writes matches as JSON. Most have a path, a line and a text, and the path of the one before. */
function writerOfMatches(): (row: object) => string {
  let last: string | undefined;
  let quoted = "";
  return (row) => {
    const { path, line, text, before, after } = row as Record<string, unknown>;
    const isPlain = before === undefined && after === undefined && typeof line === "number";
    if (!isPlain || typeof path !== "string" || typeof text !== "string")
      return JSON.stringify(row);
    if (path !== last) {
      last = path;
      quoted = JSON.stringify(path);
    }
    return `{"path":${quoted},"line":${line},"text":${JSON.stringify(text)}}`;
  };
}

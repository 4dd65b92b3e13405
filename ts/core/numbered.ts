// Numbered lines, like the output of `cat -n`: the format of `read` in the first version.

const WIDTH = 6;
const LONGEST = 5_000;
const EMPTY = "System reminder: File exists but has empty contents";

/** Numbers lines from `first` on. A long line is split into several rows; `limit` counts rows. */
export function numbered(content: string, first: number, limit = Number.POSITIVE_INFINITY): string {
  if (content.trim() === "") return EMPTY;
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const rows: string[] = [];
  for (const [at, line] of lines.entries()) {
    const number = String(first + at);
    for (let piece = 0; piece === 0 || piece * LONGEST < line.length; piece++) {
      if (rows.length >= limit) return rows.join("\n");
      const label = piece === 0 ? number : `${number}.${piece}`;
      rows.push(`${label.padStart(WIDTH)}\t${line.slice(piece * LONGEST, (piece + 1) * LONGEST)}`);
    }
  }
  return rows.join("\n");
}

/** Removes the numbers; undefined if not all rows are numbered from `first` on. */
export function unnumbered(
  text: string,
  first: number,
): { lines: string[]; rows: number } | undefined {
  if (text === "" || text.startsWith(EMPTY)) return { lines: [], rows: 0 };
  const rows = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  const lines: string[] = [];
  for (const row of rows) {
    const parts = /^ *(\d+)(?:\.(\d+))?(?:\t|→)/.exec(row);
    if (parts === null) return undefined;
    const rest = row.slice(parts[0].length);
    const line = Number(parts[1]) - first;
    if (parts[2] !== undefined && line === lines.length - 1) lines[line] += rest;
    else if (parts[2] === undefined && line === lines.length) lines.push(rest);
    else return undefined;
  }
  return { lines, rows: rows.length };
}

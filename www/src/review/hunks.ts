// The parts of a turn as they are shown: each with the equal lines around it, as in a patch.

import type { TurnHunk } from "kitbag";
import { AROUND, type DiffHunk, type DiffLine, headerOf, linesOf } from "../ui/diff";

/** Where lines begin, from 0. A part without lines names the line above its place. */
const beginOf = (start: number, count: number) => (count > 0 ? start - 1 : start);

/** The parts of one file over its text before, in their order. */
export function shownHunks(before: string, hunks: TurnHunk[]): DiffHunk[] {
  const text = linesOf(before);
  const places = hunks.map(({ oldStart, oldLines }) => {
    const from = beginOf(oldStart, oldLines);
    return { from, until: from + oldLines };
  });
  return hunks.map((hunk, at) => {
    const { from, until } = places[at] ?? { from: 0, until: 0 };
    const next = beginOf(hunk.newStart, hunk.newLines);
    // The lines of another part are no context: whether they change is another question.
    const first = Math.max(from - AROUND, places[at - 1]?.until ?? 0);
    const last = Math.min(until + AROUND, places[at + 1]?.from ?? text.length, text.length);
    const same = (begin: number, end: number, newBegin: number): DiffLine[] =>
      text.slice(begin, end).map((one, n) => ({ kind: "same", text: one, line: newBegin + n + 1 }));
    const [above, below] = [from - first, last - until];
    const changed = hunk.lines.map((line, n): DiffLine => {
      const gone = n < hunk.oldLines;
      return {
        kind: gone ? "gone" : "new",
        text: line.slice(1),
        line: gone ? from + n + 1 : next + n - hunk.oldLines + 1,
      };
    });
    return {
      header: headerOf(
        { from: first, count: last - first },
        { from: next - above, count: above + hunk.newLines + below },
      ),
      lines: [
        ...same(first, from, next - above),
        ...changed,
        ...same(until, last, next + hunk.newLines),
      ],
    };
  });
}

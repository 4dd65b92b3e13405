// Lines that differ between two texts, for small files: what is common at the start and the end is
// set aside, and the rest is compared by its longest common subsequence. What differs is shown in
// hunks, as in a patch: with a few equal lines around, under a line that says where it is.

export interface DiffLine {
  kind: "same" | "gone" | "new";
  text: string;
  /** Line number in the text that has it; the new one where both do. */
  line: number;
}

export interface DiffHunk {
  /** Such as `@@ -1,4 +1,5 @@`. */
  header: string;
  lines: DiffLine[];
}

const LARGEST = 400;
/** Equal lines around a difference, as patches have them. */
export const AROUND = 3;

export const linesOf = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** The head of a hunk; `from` counts from 0. Of no lines, a patch names the line above. */
export function headerOf(old: { from: number; count: number }, next: typeof old): string {
  const part = ({ from, count }: typeof old) => `${count === 0 ? from : from + 1},${count}`;
  return `@@ -${part(old)} +${part(next)} @@`;
}

function middle(a: string[], b: string[], at: number): DiffLine[] {
  const gone = a.map((text, i): DiffLine => ({ kind: "gone", text, line: at + i + 1 }));
  const fresh = b.map((text, i): DiffLine => ({ kind: "new", text, line: at + i + 1 }));
  if (a.length * b.length > LARGEST * LARGEST) return [...gone, ...fresh];
  const rows = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const cell = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = rows[i] as Uint32Array;
      row[j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  const out: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: "same", text: b[j] as string, line: at + j + 1 });
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || cell(i + 1, j) >= cell(i, j + 1))) {
      out.push(gone[i++] as DiffLine);
    } else {
      out.push(fresh[j++] as DiffLine);
    }
  }
  return out;
}

/** All lines of both texts in order, but for equal ones far from the first and last difference. */
function compared(a: string[], b: string[]): { lines: DiffLine[]; from: number } {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  ) {
    end += 1;
  }
  const same = (text: string, at: number): DiffLine => ({ kind: "same", text, line: at + 1 });
  const from = Math.max(0, start - AROUND);
  const until = b.length - end;
  const lines = [
    ...b.slice(from, start).map((text, at) => same(text, from + at)),
    ...middle(a.slice(start, a.length - end), b.slice(start, until), start),
    ...b.slice(until, until + AROUND).map((text, at) => same(text, until + at)),
  ];
  return { lines, from };
}

/** The differences of two texts; none if they are equal. */
export function diffHunks(before: string, after: string): DiffHunk[] {
  if (before === after) return [];
  const { lines, from } = compared(linesOf(before), linesOf(after));
  const near = new Set<number>();
  for (const [at, { kind }] of lines.entries()) {
    if (kind === "same") continue;
    for (let one = at - AROUND; one <= at + AROUND; one++) near.add(one);
  }
  const out: DiffHunk[] = [];
  let [old, next] = [from, from];
  let open: { lines: DiffLine[]; old: number; next: number } | undefined;
  const close = () => {
    if (!open) return;
    const { lines: own } = open;
    const header = headerOf(
      { from: open.old, count: old - open.old },
      { from: open.next, count: next - open.next },
    );
    out.push({ header, lines: own });
    open = undefined;
  };
  for (const [at, line] of lines.entries()) {
    if (near.has(at)) {
      open ??= { lines: [], old, next };
      open.lines.push(line);
    } else close();
    if (line.kind !== "new") old += 1;
    if (line.kind !== "gone") next += 1;
  }
  close();
  return out;
}

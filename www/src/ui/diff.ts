// Lines that differ between two texts, for small files: what is common at the start and the end is
// set aside, and the rest is compared by its longest common subsequence.

export interface DiffLine {
  kind: "same" | "gone" | "new";
  text: string;
  /** Line number in the text that has it; the new one where both do. */
  line: number;
}

const LARGEST = 400;

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

/** The differences with `around` equal lines about them; empty if there are none. */
export function lineDiff(before: string, after: string, around = 2): DiffLine[] {
  if (before === after) return [];
  const split = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
  const [a, b] = [split(before), split(after)];
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
  const from = Math.max(0, start - around);
  const until = b.length - end;
  return [
    ...b.slice(from, start).map((text, at) => same(text, from + at)),
    ...middle(a.slice(start, a.length - end), b.slice(start, until), start),
    ...b.slice(until, until + around).map((text, at) => same(text, until + at)),
  ];
}

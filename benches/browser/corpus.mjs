// 10,000 files of 5 KB in 100 directories, half of them TypeScript, and one text of 20 MB.

export const DIRECTORIES = 100;
export const FILES = 100;
const BYTES = 5_000;
export const LARGE = "/large.txt";
export const NEEDLE = "needle_in_";

const LINES = [
  "export function value(input: Map<string, number>): number {",
  '  const found = input.get("name") ?? defaults.fallback;',
  "  if (found === undefined) throw new Error(`nothing under ${input.size} names`);",
  "  return found * SCALE + offset(input);",
  "}",
  "",
  "// What follows is kept for callers of the older form.",
];

function text(seed, bytes) {
  const lines = [];
  for (let size = 0, at = seed; size < bytes; at++) {
    const line = LINES[at % LINES.length];
    lines.push(line);
    size += line.length + 1;
  }
  return lines.join("\n").slice(0, bytes);
}

export function* corpus() {
  const encoder = new TextEncoder();
  for (let dir = 0; dir < DIRECTORIES; dir++) {
    for (let file = 0; file < FILES; file++) {
      const number = dir * FILES + file;
      const name = `/src/dir${dir}/file${file}.${file % 2 === 0 ? "ts" : "md"}`;
      const rare = number % 500 === 0 ? `\n${NEEDLE}${number}\n` : "";
      yield [name, encoder.encode(text(number, BYTES - rare.length) + rare)];
    }
  }
  yield [LARGE, encoder.encode(text(0, 20 * 1024 * 1024))];
}

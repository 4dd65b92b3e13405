// The files of the comparison: the same for every storage, made in the page.

export const NEEDLE = "needle-7f3a";
export const LONG = "/src/long.txt";
const WORDS = "the quick agent reads a file and writes another one with care for each line".split(
  " ",
);

export function corpus(size: number): Map<string, string> {
  const out = new Map<string, string>();
  let seed = 42;
  const word = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return WORDS[seed % WORDS.length];
  };
  const line = () => `${word()} ${word()} ${word()} ${word()} ${word()} ${word()}`;
  const lines = Array.from({ length: 400 }, line);
  for (let n = 0; n < size - 1; n++) {
    const ending = n % 2 === 0 ? "ts" : "md";
    const own = lines.slice(n % 370, (n % 370) + 24);
    own.push(`// file ${n}`);
    if (n % 250 === 7) own.push(`const found = "${NEEDLE}"; // ${n}`);
    out.set(`/src/part-${n % 100}/file-${n}.${ending}`, `${own.join("\n")}\n`);
  }
  const long = Array.from({ length: 20_000 }, (_, n) => `${n} ${lines[n % 400]}`);
  out.set(LONG, `${long.join("\n")}\n`);
  return out;
}

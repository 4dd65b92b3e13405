// The search of ten expressions in one text, timed. It runs in Node and in pages, so it is given
// kitbag, and imports nothing.

export const EXPRESSIONS = [
  "[a-z]+[0-9]{5}",
  "\\w+\\s+\\w+x\\d",
  "(\\w+)@(\\w+)\\.com",
  "[A-Z]{3}",
  "^\\s*[A-Z]\\w*$",
  "\\d+\\.\\d+",
  "\\bq\\w+k\\b\\d",
  "[^\\x00-\\x7F]+z",
  "(?:a|b|c)+q",
  "(?i)[q-z]{9}",
];
const UNICODE = "\\p{Lu}\\p{Ll}+é";
const ROUNDS = 5;

function text() {
  const lines = "the quick brown fox jumps over the lazy dog, 1234 = value;\n".repeat(17);
  return `${lines}naïve café — déjà vu\n`.repeat(10_000);
}

/** Megabytes a second for each expression; undefined if it is refused. */
export function speeds({ StateBackend }) {
  const body = text();
  const backend = new StateBackend({ files: { "/a.txt": body } });
  const size = new TextEncoder().encode(body).length / 1e6;
  return [...EXPRESSIONS, UNICODE].map((pattern) => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now();
      const { error } = backend.grep(pattern, "/", null, 1, { regex: true, maxPerFile: 1 });
      if (error !== undefined) return { pattern };
      best = Math.min(best, performance.now() - began);
    }
    return { pattern, speed: size / (best / 1000) };
  });
}

/** For a page. */
export async function inPage() {
  const kitbag = await import("/pkg/dist/browser.js");
  const light = speeds(kitbag);
  await import("/pkg/dist/browser/regex.js");
  return { light, full: speeds(kitbag) };
}

// The files of the speed tests: names, and source code with words of its own.

/** The path of a file. */
export const name = (at) =>
  `/${at % 5 === 0 ? "src" : "docs"}/d${at % 10}/file${at}.${at % 2 ? "md" : "ts"}`;

/** Which file has the rare word. */
const RARE = 4321;

/** Source code of a few kilobytes. */
export function source(at, count = 80) {
  const lines = [];
  for (let line = 0, state = at * 7919 + 1; line < count; line++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const word = `${["user", "file", "node", "path", "item", "task"][state % 6]}${state % 97}`;
    lines.push(`  const ${word} = await load(${word.slice(0, 4)}s, options.${word}); // ${line}`);
  }
  if (at === RARE) lines.push("retry_budget");
  return new TextEncoder().encode(lines.join("\n"));
}

const FILLER = "some line of text that fills the file\n".repeat(20);

/** Prose of 760 bytes; one file in a hundred has the word `needle`. */
export function prose(at) {
  return new TextEncoder().encode(`${FILLER}${at % 100 === 7 ? "needle" : "hay"} ${at}\n`);
}

// The task that a scripted model does in every framework and host, once written: it creates,
// lists, pages, edits, edits ambiguously, mends, searches, looks at a picture, reads back what was
// too large to show, deletes, runs a command, and is refused twice. Nothing of a host is imported,
// since this runs in Node, in pages and in Workers.

import { LARGE_COMMAND, LARGE_ROWS, LINES, PICTURE } from "./material.mjs";
import { large, page, WORDS } from "./words.mjs";

/** The path that the last note about a large result names. */
function notedIn(said) {
  const path = /saved [\s\S]*?(\/large_tool_results\/[\w.-]+)/;
  const note = said.findLast(({ text }) => path.test(text));
  return path.exec(note?.text)?.[1] ?? "/no/path/was/noted";
}

const FAILS = { fails: true };
const A = "/notes/a.txt";
const B = "/notes/b.md";

/** The steps up to the large result: a tool, its input, and what the model is told. */
const BEFORE = [
  ["write_file", { file_path: A, content: LINES.join("\n") }, WORDS.createA],
  ["write_file", { path: B, content: "x = 1\ny = 2\nx = 1\n" }, WORDS.createB],
  ["ls", { path: "/notes" }, WORDS.list],
  ["read_file", { file_path: A }, WORDS.firstPage],
  ["read_file", { file_path: A, offset: "200" }, WORDS.lastPage],
  ["edit_file", { file_path: A, old_string: "line 250", new_string: "the end" }, WORDS.edit],
  ["edit_file", { file_path: B, old_string: "x = 1", new_string: "x = 3" }, WORDS.ambiguous, FAILS],
  ["edit_file", { file_path: B, old_string: "2\nx = 1", new_string: "2\nx = 3" }, WORDS.mend],
  ["grep", { pattern: "x = ", output_mode: "content" }, WORDS.grepLines],
  ["grep", { pattern: "line 2", output_mode: "count" }, WORDS.grepCounts],
  ["glob", { pattern: "**/*.md" }, WORDS.glob],
  [
    "read_file",
    { file_path: "/pictures/dot.png" },
    WORDS.picture,
    { media: [{ mimeType: "image/png", data: PICTURE }] },
  ],
];

const AFTER = [
  ["delete", { file_path: A }, WORDS.delete],
  [
    "execute",
    { command: `sort ${B} > /notes/sorted.md; cat /notes/*.md | sort -u | wc -l` },
    WORDS.execute,
  ],
  ["write_file", { file_path: "/protected/new.txt", content: "x" }, WORDS.refusedWrite, FAILS],
  ["read_file", { file_path: "/secret/key.txt" }, WORDS.refusedRead, FAILS],
];

/** A result that is too large comes, and is read back in three pages. */
function largeSteps(name, input, rows) {
  const pages = [0, 1_000, 2_000].map((offset) => [
    "read_file",
    (said) => ({ file_path: notedIn(said), offset, limit: 1_000 }),
    page(rows, offset + 1, offset + 1_000),
  ]);
  const last = rows.at(-1).replace(/[[\]]/g, "\\$&");
  return [[name, input, large(rows.length, last)], ...pages];
}

const asSteps = (rows) =>
  rows.map(([name, input, words, more]) => ({ name, input, ...words, media: [], ...more }));

/** The task with a tool of the user's own, `large_report`, whose result is too large. */
export const TASK = asSteps([...BEFORE, ...largeSteps("large_report", {}, LARGE_ROWS), ...AFTER]);

const printed = [...LARGE_ROWS, "[exit code 0]"];

/** The same where there are only our tools: `execute` prints what is too large. */
export const SHELL_TASK = asSteps([
  ...BEFORE,
  ...largeSteps("execute", { command: LARGE_COMMAND }, printed),
  ...AFTER,
]);

/** What can be done in an empty tree without a shell. */
export const BARE_TASK = TASK.filter(
  ({ name, input }) =>
    name !== "execute" && !/^\/(pictures|protected|secret)\//.test(input.file_path ?? ""),
);

/** And without a tool of the user's own. */
export const SMALL_TASK = BARE_TASK.filter(
  ({ name, input }) => name !== "large_report" && typeof input !== "function",
);

/** The files in the end; what was too large stands under a name of the framework's. */
export function filesLeft(steps) {
  const rows = steps === SHELL_TASK ? printed : LARGE_ROWS;
  return {
    "/large_tool_results/*": rows.join("\n"),
    "/notes/b.md": "x = 1\ny = 2\nx = 3\n",
    "/notes/sorted.md": "x = 1\nx = 3\ny = 2\n",
    "/pictures/dot.png": atob(PICTURE),
    "/protected/kept.txt": "kept\n",
    "/secret/key.txt": "TOP-SECRET\n",
  };
}

// What the tools tell a model at each step of the task: in our words, and in those of deepagents'
// own tools over our backend. A text is compared whole; a pattern stands where a framework words
// something that is not ours to fix, or where a path may have any name.

import { LINES } from "./material.mjs";

const numbered = (lines, first) =>
  lines.map((line, at) => `${String(first + at).padStart(6)}\t${line}`).join("\n");

/** A page of a file, as `read_file` shows it. */
export function page(all, first, last) {
  const lines = all.slice(first - 1, last);
  const count = all.length - last;
  const left = count === 1 ? "1 line is" : `${count} lines are`;
  const more = count > 0 ? `\n[${left} left of ${all.length}. Read on with offset=${last}]` : "";
  const next = count > 0 ? ` | next offset ${last}` : "";
  return {
    ours: numbered(lines, first) + more,
    theirs: `@@ lines ${first}-${last} of ${all.length}${next} @@\n${lines.join("\n")}`,
  };
}

/** The note in place of a result of so many lines that ends with this one. */
export function large(lines, last) {
  const path = "\\/large_tool_results\\/[\\w-]+";
  return {
    ours: new RegExp(
      `^This result is too large to show \\(${lines} lines, \\d+ characters\\)\\. ` +
        `It was saved whole to ${path}\\n[^]*\\nrow 0 x+\\n[^]*\\n${last}$`,
    ),
    theirs: new RegExp(
      `^Tool result too large, [^]* at this path: ${path}\\.txt\\n[^]*row 0 x+\\n[^]*${last}\\s*$`,
    ),
  };
}

const refused = (what, path) => `Error: permission denied for ${what} on ${path}`;

export const WORDS = {
  createA: {
    ours: "Wrote /notes/a.txt (250 lines, 2.1 KB).",
    theirs: "Successfully wrote to '/notes/a.txt'",
  },
  createB: {
    ours: "Wrote /notes/b.md (3 lines, 18 bytes).",
    theirs: "Successfully wrote to '/notes/b.md'",
  },
  list: {
    ours: "/notes/a.txt (2.1 KB)\n/notes/b.md (18 bytes)",
    theirs: "/notes/a.txt (2141 bytes)\n/notes/b.md (18 bytes)",
  },
  firstPage: page(LINES, 1, 100),
  lastPage: page(LINES, 201, 250),
  edit: {
    ours: "Edited /notes/a.txt: replaced 1 occurrence.",
    theirs: "Successfully replaced 1 occurrence(s) in '/notes/a.txt'",
  },
  ambiguous: {
    ours:
      "Error: old_string occurs 2 times (lines 1, 3) in /notes/b.md. Nothing was changed. " +
      "Add lines around it to make it unique, or set replace_all to true.",
    theirs: /^Error: .*'x = 1'.* 2 times/,
  },
  mend: {
    ours: "Edited /notes/b.md: replaced 1 occurrence.",
    theirs: "Successfully replaced 1 occurrence(s) in '/notes/b.md'",
  },
  grepLines: {
    ours: "/notes/b.md:\n1: x = 1\n3: x = 3",
    theirs: "/notes/b.md:\n  1: x = 1\n  3: x = 3",
  },
  grepCounts: { ours: "/notes/a.txt: 61", theirs: "/notes/a.txt: 61" },
  glob: { ours: "/notes/b.md", theirs: "/notes/b.md" },
  picture: { ours: "/pictures/dot.png (image/png, 68 bytes)", theirs: "" },
  delete: { ours: "Deleted /notes/a.txt.", theirs: "Deleted /notes/a.txt" },
  execute: { ours: "3\n[exit code 0]", theirs: "3\n\n[Command succeeded with exit code 0]" },
  refusedWrite: {
    ours: "Error: Writes are not allowed under /protected/new.txt",
    theirs: "Writes are not allowed under /protected/new.txt",
  },
  refusedRead: {
    ours: refused("read", "/secret/key.txt"),
    theirs: `Error: ${refused("read", "/secret/key.txt")}`,
  },
};

// The task that every framework's scripted model does: fourteen calls, with what each must say.
// It creates, lists, pages, edits, edits ambiguously, mends, searches, reads an offloaded result
// back and deletes; `execute` joins where the backend has it.

import assert from "node:assert/strict";

const lines = Array.from({ length: 250 }, (_, at) => `line ${at + 1}`).join("\n");
export const LARGE = Array.from({ length: 4_000 }, (_, at) => `row ${at} ${"x".repeat(30)}`).join(
  "\n",
);

/** Calls in order: a tool, its input, and what its answer must match. */
export const STEPS = [
  [
    "write_file",
    { file_path: "/notes/a.txt", content: lines },
    /Wrote \/notes\/a\.txt \(250 lines/,
  ],
  ["write_file", { path: "/notes/b.md", content: "x = 1\ny = 2\nx = 1\n" }, /Wrote \/notes\/b\.md/],
  ["ls", { path: "/notes" }, /\/notes\/a\.txt \(.*\n\/notes\/b\.md/],
  [
    "read_file",
    { file_path: "/notes/a.txt" },
    /150 lines are left of 250\. Read on with offset=100/,
  ],
  [
    "read_file",
    { file_path: "/notes/a.txt", offset: "200" },
    /^ {3}201\tline 201\n[\s\S]* {3}250\tline 250$/,
  ],
  [
    "edit_file",
    { file_path: "/notes/a.txt", old_string: "line 250", new_string: "the end" },
    /replaced 1 occurrence/,
  ],
  [
    "edit_file",
    { file_path: "/notes/b.md", old_string: "x = 1", new_string: "x = 3" },
    /occurs 2 times \(lines 1, 3\)/,
  ],
  [
    "edit_file",
    { file_path: "/notes/b.md", old_string: "y = 2\nx = 1", new_string: "y = 2\nx = 3" },
    /replaced 1 occurrence/,
  ],
  [
    "edit_file",
    { file_path: "/notes/b.md", old_string: "y  = 2;", new_string: "" },
    /nearest lines are:\n {5}2\ty = 2/,
  ],
  ["grep", { pattern: "x = ", output_mode: "content" }, /\/notes\/b\.md:\n1: x = 1\n3: x = 3/],
  ["large_report", {}, /too large to show[\s\S]*\/large_tool_results\/call_10\n[\s\S]*row 3999/],
  [
    "read_file",
    { file_path: "/large_tool_results/call_10", offset: 2_000, limit: 3 },
    /2001\trow 2000 x+\n[\s\S]*2003\trow 2002/,
  ],
  ["glob", { pattern: "**/*.md" }, /^\/notes\/b\.md$/],
  ["delete", { file_path: "/notes/a.txt" }, /Deleted \/notes\/a\.txt/],
];

/** The same with a shell behind the files. */
export const SHELL_STEP = [
  "execute",
  { command: "cat /notes/b.md | sort | uniq -c | wc -l" },
  /3\n\[exit code 0\]/,
];

export const idOf = (at) => `call_${at}`;

/** Checks what the tools said, and the files at the end, through the protocol. */
export async function checkTask(said, backend, steps = STEPS) {
  assert.equal(said.length, steps.length);
  steps.forEach(([name, , expected], at) => {
    assert.match(said[at], expected, `step ${at}: ${name}`);
  });
  await checkFiles(backend);
}

export async function checkFiles(backend) {
  const body = await backend.readRaw("/notes/b.md");
  assert.equal(body.data?.content, "x = 1\ny = 2\nx = 3\n", body.error);
  const left = await backend.glob("notes/**", "/");
  assert.deepEqual(
    left.files.map((file) => file.path),
    ["/notes/b.md"],
  );
  const large = await backend.glob("large_tool_results/*", "/");
  assert.equal(large.files.length, 1);
  const [kept] = await backend.downloadFiles([large.files[0].path]);
  assert.equal(new TextDecoder().decode(kept.content), LARGE);
}

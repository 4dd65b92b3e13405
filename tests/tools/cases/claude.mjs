// What Claude does with the tools that it knows by itself, its memory and its text editor, and what
// it must be told. It tries to leave its memory's directory in several ways.

const MEMORY = "memory";
const EDITOR = "str_replace_based_edit_tool";

const steps = (name, rows) =>
  rows.map(([input, ours, fails = false]) => ({ name, input, ours, fails, media: [] }));

const outside = (path) => `Error: ${path} is not below /memories.`;
const commands = (known) => `Error: "command" must be one of ${known}.`;
const NONE = "Error: No replacement was performed: old_str";
const absent = (path) => `${NONE} does not appear in ${path}.`;
const TWICE = `${NONE} appears more than once in /a.py. Make it unique.`;
const ROOT =
  "Files and directories in /:\n/a.py (12 bytes)\n/memories/\n/memories/kept.md (5 bytes)\n/other (1 bytes)";

const memory = steps(MEMORY, [
  [{ command: "view", path: "/memories" }, "Files and directories in /memories:\n(empty)"],
  [
    { command: "create", path: "/memories/a.md", file_text: "one\ntwo\n" },
    "File created successfully at: /memories/a.md",
  ],
  [
    { command: "view", path: "/memories" },
    "Files and directories in /memories:\n/memories/a.md (8 bytes)",
  ],
  [{ command: "view", path: "/memories/a.md", view_range: [2, 2] }, "     2\ttwo"],
  [
    { command: "str_replace", path: "/memories/a.md", old_str: "two", new_str: "2" },
    "The file /memories/a.md has been edited.",
  ],
  [
    { command: "insert", path: "/memories/a.md", insert_line: 1, insert_text: "between\n" },
    "The file /memories/a.md has been edited.",
  ],
  [{ command: "view", path: "/memories/a.md" }, "     1\tone\n     2\tbetween\n     3\t2"],
  [
    { command: "rename", old_path: "/memories/a.md", new_path: "/memories/d/b.md" },
    "Renamed /memories/a.md to /memories/d/b.md.",
  ],
  [
    { command: "str_replace", path: "/memories/d/b.md", old_str: "zz", new_str: "" },
    absent("/memories/d/b.md"),
    true,
  ],
  ...["/other", "/memories/../other", "/memoriesx", "/memories/%2e%2e/other", "/", ""].map(
    (path) => [{ command: "delete", path }, outside(path), true],
  ),
  [{ command: "delete", path: 7 }, 'Error: "path" must be a string.', true],
  [
    { command: "rename", old_path: "/memories/d/b.md", new_path: "/other" },
    outside("/other"),
    true,
  ],
  [{ command: "delete", path: "/memories" }, "Error: /memories itself can only be viewed.", true],
  [
    { command: "format", path: "/memories/d" },
    commands("view, create, str_replace, insert, delete, rename"),
    true,
  ],
  [{}, commands("view, create, str_replace, insert, delete, rename"), true],
  [
    { command: "create", path: "/memories/kept.md", file_text: "kept\n" },
    "File created successfully at: /memories/kept.md",
  ],
  [{ command: "delete", path: "/memories/d" }, "Deleted /memories/d."],
]);

const editor = steps(EDITOR, [
  [
    { command: "create", path: "/a.py", file_text: "a = 1\nb = 2\n" },
    "File created successfully at: /a.py",
  ],
  [{ command: "view", path: "/a.py" }, "     1\ta = 1\n     2\tb = 2"],
  [{ command: "view", path: "/" }, ROOT],
  [
    { command: "insert", path: "/a.py", insert_line: 0, insert_text: "# top" },
    "The file /a.py has been edited.",
  ],
  [
    { command: "insert", path: "/a.py", insert_line: 9, insert_text: "x" },
    'Error: "insert_line" must be a whole number from 0 to 3.',
    true,
  ],
  [{ command: "str_replace", path: "/a.py", old_str: " = ", new_str: "=" }, TWICE, true],
  [
    { command: "str_replace", path: "/a.py", old_str: "a = 1", new_str: "a = 3" },
    "The file /a.py has been edited.",
  ],
  [{ command: "delete", path: "/a.py" }, commands("view, create, str_replace, insert"), true],
]);

export const CLAUDE_TASK = [...memory, ...editor];

export const CLAUDE_LEFT = {
  "/a.py": "# top\na = 3\nb = 2\n",
  "/memories/kept.md": "kept\n",
  "/other": "x",
};

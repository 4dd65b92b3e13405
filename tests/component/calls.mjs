// Calls of a model, with which the tools of the component and those of the npm package are compared.

/** The tools that the calls name. */
export const EVERY = [
  ...["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"],
  ...["move_file", "copy_file", "append_file"],
];

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const lines = (count) =>
  Array.from({ length: count }, (_, at) => `line ${at} of a file that is long`).join("\n");

/** Calls of one task, in order: name and arguments, as an object or as a text. */
export const CALLS = [
  ["ls", {}],
  ["write_file", { file_path: "/notes.txt", content: "one\ntwo\nthree\n" }],
  ["write_file", { path: "notes.txt", content: "again" }],
  ["read_file", { file_path: "/notes.txt" }],
  ["read_file", { filePath: "//notes.txt", offset: "1", limit: 1.9 }],
  ["edit_file", { file_path: "/notes.txt", old_string: "two", new_string: "2" }],
  ["edit_file", { file_path: "/notes.txt", old_string: "four", new_string: "4" }],
  ["edit_file", { file_path: "/notes.txt", old_string: "e", new_string: "E" }],
  ["edit_file", { file_path: "/notes.txt", old_string: "e", new_string: "E", replace_all: "true" }],
  ["append_file", { file_path: "/notes.txt", content: "the end\u{1f600}" }],
  ["copy_file", { from_path: "/notes.txt", to_path: "/docs/copy.md" }],
  ["move_file", { from_path: "/docs/copy.md", to_path: "/docs/moved.md" }],
  ["read_file", { file_path: "/docs/moved.md" }],
  ["read_file", { file_path: "/docs" }],
  ["read_file", { file_path: "/missing" }],
  ["edit_file", { file_path: "/unread.txt", old_string: "a", new_string: "b" }],
  ["write_file", { file_path: "/long.txt", content: lines(5000) }],
  ["read_file", { file_path: "/long.txt", limit: 5000 }],
  ["grep", { pattern: "line 4", output_mode: "content" }],
  ["grep", { pattern: "line 4", glob: "*.txt", output_mode: "count" }],
  ["grep", { pattern: "(", path: "/" }],
  ["grep", { pattern: "E", output_mode: "files_with_matches" }],
  ["glob", { pattern: "**/*.md" }],
  ["glob", { pattern: "[" }],
  ["write_file", { file_path: "/pixel.png", content: PIXEL }],
  ["read_file", { file_path: "/pixel.png" }],
  ["write_file", { file_path: "/bad.png", content: "no base64!" }],
  ["delete", { file_path: "/docs" }],
  ["delete", { file_path: "/docs" }],
  ["ls", { path: "/" }],
  ["ls", ""],
  ["ls", "null"],
  ["ls", '"{\\"path\\":\\"/\\"}"'],
  ["ls", "[1]"],
  ["ls", "7"],
  ["ls", '"words"'],
  ["ls", '{"path":"/","path":"/docs"}'],
  ["ls", '{"path":["/"]}'],
  ["ls", '{"path":{"a":[1,{"path":"/b"}]}}'],
  ["read_file", '{"file_path":"/notes.txt","offset":1e0,"limit":-3}'],
  ["read_file", '{"file_path":"/notes.txt","offset":1e300}'],
  ["read_file", '{"file_path":"/notes.txt","offset":1e999,"limit":12.5e-1}'],
  ["read_file", '{"file_path":"/notes.txt","limit":true}'],
  ["read_file", '{"file_path":"\\u002fnotes.txt","x":"\\ud83d\\ude00"}'],
  ["read_file", { limit: 3 }],
  ["execute", { command: "ls" }],
  ["no_such_tool", {}],
];

/** The arguments as a model sends them. */
export const jsonOf = (input) => (typeof input === "string" ? input : JSON.stringify(input));

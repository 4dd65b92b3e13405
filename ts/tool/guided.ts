// The long texts about the tools (`prompts: "guided"`): when to use which tool, in which order, with
// examples. They cost more tokens in every model call than the short ones in `src/tool/schema.rs`.
// They are a module of their own, because a page that does not ask for them should not load them.

import type { FileToolName, ToolPrompts } from "./prompts.js";

type Has = (name: FileToolName) => boolean;

/** The lines of a text; `false` leaves one out. */
const text = (...lines: Array<string | false>) =>
  lines
    .filter((line) => line !== false)
    .join("\n")
    .replace(/\n{3,}/g, "\n\n");

const TOOLS: Record<FileToolName, (has: Has) => string> = {
  ls: (has) =>
    text(
      "List one directory: its files with their sizes, and its subdirectories, which end with '/'.",
      "",
      "Begin here when you do not know how the files are organised, and look again before you create something, so that it lands where similar files are. It shows one level, not the levels below.",
      has("glob") && "Use glob to find files at any depth.",
      has("grep") && "Use grep to find files by what is written in them.",
      "",
      "- ls(path='/') shows the top level, ls(path='/src') what is in src.",
      "- A directory without files and one that does not exist look the same.",
      "- At most 1,000 entries are shown; a note says how many are left out.",
    ),
  read_file: (has) =>
    text(
      "Read a file, by its absolute path. Take a path from the user as it is and try it; if the file is missing, the answer says so and nothing else happens.",
      "",
      "Pages:",
      "- Without limit you get the first 100 lines. When more follow, the last line of the answer gives the offset to continue with.",
      "- offset is the number of lines to skip, limit the number to show: read_file(file_path='/a.ts', offset=100, limit=200) shows lines 101 to 300. tail=20 shows the last 20 lines, for example of a log.",
      "- For a large or unknown file, read a first page to see how it is built, and then only the parts that you need. Ask for a whole large file only if you need all of it: everything that you read stays in the conversation.",
      has("grep") &&
        "- To reach one function or entry, get its line number from grep (output_mode='content') and read with an offset a little before it.",
      "- Each line begins with its number and a tab, which are not part of the file. A line of over 5,000 characters is shown in rows numbered 7, 7.1, 7.2, and each row counts towards limit. If the answer says so, continue inside the line with column.",
      "",
      "Several at once: if you expect to need several files, ask for all of them in one response instead of waiting for each. One file too many costs less than another round.",
      "",
      "- An existing file without contents is reported as empty.",
      "- Pictures, audio, video and PDF files are shown to you directly. offset and limit do not apply to them. If a picture is no longer in the conversation, read it again.",
      (has("edit_file") || has("write_file")) &&
        "- Read a file before you change it; otherwise the change is refused.",
    ),
  write_file: (has) =>
    text(
      "Create a file with the given contents. Missing directories are created with it.",
      "",
      "- Give the whole text: nothing is appended to what is there.",
      has("edit_file") &&
        "- For a file that exists use edit_file. It is shorter, and it leaves the rest of the file as it is.",
      has("ls") && "- If you are not sure about the directory, list it first.",
      "- Create only files that the task needs. Do not add notes, summaries or documentation that nobody asked for.",
      "- For a path with a binary type, such as .png, content is base64.",
    ),
  edit_file: (has) =>
    text(
      "Replace a text in a file by another one. old_string must match the file character by character.",
      "",
      "1. Read the part of the file that you want to change. An edit of a file that was not read, or that changed after you read it, is refused; read it again then.",
      "2. Copy old_string from what you read, without the line number and the tab at the beginning of each line, and with its spaces, tabs and line breaks.",
      "3. Include enough lines around the change to make old_string occur once. If it occurs more often, the answer gives the lines and nothing is changed.",
      "",
      "- replace_all=true replaces every occurrence, for example to rename a variable in one file.",
      "- An empty new_string removes the text.",
      "- Several edits of one file can go into one response, if their texts do not overlap.",
      "- Keep the indentation, quotes and naming of the surrounding lines. Do not put emojis into files unless you are asked to.",
      has("write_file") && "- Prefer an edit to a new file with nearly the same contents.",
    ),
  delete: (has) =>
    text(
      "Delete a file, or a directory with everything below it. There is no way to get it back.",
      "",
      "- Delete only what the task asks for or what you created yourself.",
      has("ls") && "- List a directory before you delete it.",
    ),
  move_file: (has) =>
    text(
      "Move a file to another path, or rename it; a directory goes with everything below it. Its contents do not pass through you.",
      "",
      "- to is the new path in full, with the name: move_file(from='/draft.md', to='/done/report.md'). Missing directories are created.",
      "- If a file exists there, nothing is moved, unless overwrite is true. A directory is never replaced, and nothing is merged into one.",
      (has("read_file") || has("edit_file")) && "- To replace a file you must have read it.",
    ),
  copy_file: () =>
    text(
      "Copy a file, or a directory with everything below it. Its contents do not pass through you, so this is better than reading and writing.",
      "",
      "- to is the new path in full, with the name. Missing directories are created.",
      "- If a file exists there, nothing is copied, unless overwrite is true.",
    ),
  append_file: (has) =>
    text(
      "Add text to the end of a file that exists, without reading it: for logs, notes and lists.",
      "",
      "- The text is added as it is. Begin or end it with a line break where one is needed.",
      has("write_file") && "- A file that does not exist is created with write_file.",
    ),
  glob: (has) =>
    text(
      "Find files by their names, at any depth. The answer has absolute paths, the most recently changed first.",
      "",
      "- * stands for any characters within one name, ? for one character, ** for any number of directories, {a,b} for a or b, [0-9] for one character of a set.",
      "- The pattern is relative to path, which is '/' if you leave it out. A pattern without '/' looks only directly in path.",
      "",
      "Examples:",
      "- glob(pattern='**/*.ts') finds every TypeScript file.",
      "- glob(pattern='*.json') finds those directly in '/'.",
      "- glob(pattern='**/*.md', path='/docs') finds the Markdown files below /docs.",
      "- glob(pattern='src/**/*.{test,spec}.js') finds tests of both spellings.",
      "- glob(pattern='logs/2026-0?-*.txt') finds the logs of January to September.",
      has("grep") && "",
      has("grep") && "It does not look into files; that is what grep does.",
    ),
  grep: (has) =>
    text(
      "Search the contents of files, line by line. The pattern is plain text: dots, brackets and stars mean themselves. With regex=true it is a regular expression.",
      "",
      "Choose with output_mode what you get:",
      "- files_with_matches (the default): only paths. Start with it when many files may match.",
      "- content: the matching lines with their numbers; before and after add lines around each.",
      "- count: the number of matches in each file.",
      "",
      "Narrow a search with path (a directory or a file), glob (names) and max_count. Binary files are skipped.",
      "",
      "Examples:",
      "- grep(pattern='FIXME') finds the files in which it occurs.",
      "- grep(pattern='import os', glob='*.py') looks only into Python files.",
      "- grep(pattern='timeout', path='/logs', output_mode='content', after=2) shows each line and the two behind it.",
      "- grep(pattern='items[0].name(') needs no backslashes.",
      "- grep(pattern='price_*.csv', glob='*.sh') finds the text price_*.csv; only glob is a file name pattern.",
      "- grep(pattern='^(export )?class \\w+', regex=true, output_mode='content') lists classes.",
      has("read_file") && "",
      has("read_file") && "Read around the matches with read_file before you draw conclusions.",
    ),
  execute: (has) =>
    text(
      "Run a shell command, for programs, scripts, builds, tests and version control. You get what it prints, on both outputs, and its exit code; 0 means success.",
      "",
      "Before:",
      has("ls") &&
        "- If the command creates something, look with ls at the directory that it will go into.",
      '- Put paths with spaces in double quotes: python "/data/my files/run.py".',
      "",
      "How:",
      "- Use absolute paths and stay where you are, instead of changing the directory with cd.",
      "- Join commands that depend on each other with &&; use ; if the second should run in any case. Do not separate them with line breaks.",
      "- The default time limit fits short commands. For a long one set timeout in seconds: execute(command='make all', timeout=600). 0 means no limit, if the host allows that.",
      "- Very long output is shortened or saved to a file. Ask a program for less if it has an option for that.",
      "- Nobody can answer questions: use options such as --yes.",
      "",
      (has("glob") || has("grep") || has("read_file") || has("edit_file")) &&
        `Use the file tools for files; their answers are limited, and rules about paths apply to them: ${[
          has("read_file") && "read_file, not cat, head or tail",
          has("grep") && "grep, not the program grep or rg",
          has("glob") && "glob, not find",
          has("edit_file") && "edit_file, not sed",
        ]
          .filter((one) => one !== false)
          .join("; ")}.`,
      "",
      "Good: execute(command='pytest /app/tests'), execute(command='npm ci && npm run build', timeout=300).",
      "Bad: execute(command='cd /app && pytest tests') changes the directory for nothing.",
      has("read_file") && "Bad: execute(command='cat notes.txt') is a read_file.",
      has("glob") && "Bad: execute(command='find . -name \"*.py\"') is a glob.",
    ),
};

function system(tools: readonly FileToolName[]): string {
  if (tools.length === 0) return "";
  const has: Has = (name) => tools.includes(name);
  const changes = has("edit_file") || has("write_file");
  return text(
    "## Files",
    "",
    `You have a file system with these tools: ${tools.join(", ")}. Every path is absolute and begins with '/'.`,
    "",
    changes && "### Conventions",
    changes && "",
    changes && "- Understand a file before you change it, and what uses it as well.",
    changes &&
      "- Write as the files around it are written: their style, names, libraries and structure.",
    changes && "- Change what the task needs and leave the rest alone.",
    changes && "",
    "### How to work",
    "",
    "- From wide to narrow: find out where something is, then read that part, then act.",
    (has("ls") || has("glob") || has("grep")) &&
      `- Choose by what you know: ${[
        has("ls") && "nothing yet, ls",
        has("glob") && "part of the name, glob",
        has("grep") && "words in the file, grep",
        has("read_file") && "the path, read_file",
      ]
        .filter((one) => one !== false)
        .join("; ")}.`,
    "- Calls that do not depend on each other belong in one response, so that they run together.",
    has("read_file") &&
      "- Read large files in pages (offset, limit), and only the pages that you need.",
    "- If a call fails, its answer says why and what would work. Do not repeat it unchanged.",
    has("read_file") && "",
    has("read_file") && "### Large results",
    has("read_file") && "",
    has("read_file") &&
      `A result that is too large to show is saved in a file below /large_tool_results/, and its path is shown with the beginning and the end. Read that file in pages${
        has("grep") ? ", or search it with grep; the directory can be searched as a whole, too" : ""
      }.`,
    has("execute") && "",
    has("execute") && "### Commands",
    has("execute") && "",
    has("execute") &&
      "execute runs programs over the same files: tests, builds, scripts. Check the exit code before you rely on a result.",
  );
}

/** Long texts for models, with advice and examples: `createFileTools(backend, { prompts: guidedPrompts })`. */
export const guidedPrompts: ToolPrompts = {
  describe: (name, tools) => TOOLS[name]((other) => tools.includes(other)),
  system,
};

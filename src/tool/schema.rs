//! Names, descriptions and JSON Schemas of the tools. The schemas use only what every provider
//! accepts: an object of plain properties with a type and a description. A test limits the total
//! length, because every model call pays for it.

/// The tools, in the order in which they are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Lists a directory.
    Ls,
    /// Reads a page of a file.
    ReadFile,
    /// Creates a file.
    WriteFile,
    /// Replaces text in a file.
    EditFile,
    /// Removes a file or directory.
    Delete,
    /// Finds files by name.
    Glob,
    /// Finds lines by content.
    Grep,
    /// Runs a command.
    Execute,
    /// Moves a file or directory.
    MoveFile,
    /// Copies a file or directory.
    CopyFile,
    /// Adds to the end of a file.
    AppendFile,
}

/// What a call of a tool can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It adds to the files; nothing that they had is lost.
    Changes,
    /// It can replace or remove what the files had.
    Destroys,
    /// It runs commands, which can do anything.
    Runs,
}

/// Lines of a file that are shown if no other number is asked for.
pub const LINES: usize = 100;
/// Matches of a search that are shown if no other number is asked for.
pub const MATCHES: usize = 1_000;
/// The largest result that is shown to a model, in tokens; a larger one is moved into a file.
pub const RESULT_TOKENS: usize = 20_000;
/// The same for messages of a user.
pub const MESSAGE_TOKENS: usize = 50_000;
/// The longest time limit of a command, in seconds.
pub const EXECUTE_SECONDS: usize = 3_600;

/// What is known of a tool before it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The tool.
    pub tool: Tool,
    /// The name that models use.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What a call can do.
    pub effect: Effect,
    /// Whether it is offered without being named.
    pub is_usual: bool,
    /// Its description for a model.
    pub description: &'static str,
    /// The parameters of its input.
    pub parameters: &'static [Parameter],
}

/// All tools, in the order of [`Tool`]. `ts/tool/table.ts` is made from it, so that TypeScript and the
/// adapters have no list of their own.
pub static TABLE: [About; 11] = [
    About {
        tool: Tool::Ls,
        name: "ls",
        title: "List directory",
        effect: Effect::Reads,
        is_usual: true,
        description: "List one directory. Directories end with '/'. Use it to look around; use glob to search deeper. A missing directory is shown as empty.",
        parameters: &[Parameter::optional(
            "path",
            "string",
            "Absolute path of the directory; '/' if left out",
        )],
    },
    About {
        tool: Tool::ReadFile,
        name: "read_file",
        title: "Read file",
        effect: Effect::Reads,
        is_usual: true,
        description: "Read a file. Text comes with line numbers, 100 lines at a time; the last line tells the offset that reads on. Images, audio, video, PDFs and PowerPoint files are shown as they are. Read a file before you edit it. Numbers and the tab behind them are not part of the file.",
        parameters: &[
            Parameter::required("file_path", "string", "Absolute path of the file"),
            Parameter::optional("offset", "integer", "Lines to skip"),
            Parameter::optional("limit", "integer", "Lines to show").usually(LINES),
            Parameter::optional(
                "tail",
                "integer",
                "Show so many of the last lines; no offset",
            ),
            Parameter::optional(
                "column",
                "integer",
                "Characters of the first line to skip, for very long lines",
            ),
        ],
    },
    About {
        tool: Tool::WriteFile,
        name: "write_file",
        title: "Write file",
        effect: Effect::Changes,
        is_usual: true,
        description: "Create a file, with its directories. To change a file that exists, use edit_file.",
        parameters: &[
            Parameter::required("file_path", "string", "Absolute path of the new file"),
            Parameter::required(
                "content",
                "string",
                "All of its text; base64 for a binary type",
            ),
        ],
    },
    About {
        tool: Tool::EditFile,
        name: "edit_file",
        title: "Edit file",
        effect: Effect::Destroys,
        is_usual: true,
        description: "Replace text in a file. old_string must occur exactly once, including white space; add lines around it if it is not unique, or set replace_all. Fails if the file was not read or has changed since; read it again then.",
        parameters: &[
            Parameter::required("file_path", "string", "Absolute path of the file"),
            Parameter::required("old_string", "string", "Text to find"),
            Parameter::required("new_string", "string", "Text to put in its place"),
            Parameter::optional("replace_all", "boolean", "Replace every occurrence"),
        ],
    },
    About {
        tool: Tool::Delete,
        name: "delete",
        title: "Delete",
        effect: Effect::Destroys,
        is_usual: true,
        description: "Delete a file, or a directory with everything in it. It cannot be undone.",
        parameters: &[Parameter::required("file_path", "string", "Absolute path")],
    },
    About {
        tool: Tool::Glob,
        name: "glob",
        title: "Find files",
        effect: Effect::Reads,
        is_usual: true,
        description: "Find files by name, newest first. '*' and '?' stay within a directory, '**' crosses directories: '**/*.ts'.",
        parameters: &[
            Parameter::required("pattern", "string", "Pattern, relative to path"),
            Parameter::optional("path", "string", "Directory to search; '/' if left out"),
        ],
    },
    About {
        tool: Tool::Grep,
        name: "grep",
        title: "Search in files",
        effect: Effect::Reads,
        is_usual: true,
        description: "Search file contents, line by line, for literal text (or a regular expression with regex). Answers paths unless output_mode says otherwise.",
        parameters: &[
            Parameter::required("pattern", "string", "Text to find"),
            Parameter::optional(
                "path",
                "string",
                "Directory or file to search; '/' if left out",
            ),
            Parameter::optional("glob", "string", "Only files of this pattern, e.g. '*.py'"),
            Parameter::optional(
                "output_mode",
                "string",
                "Paths, matching lines, or matches per file",
            )
            .one_of(&["files_with_matches", "content", "count"]),
            Parameter::optional("max_count", "integer", "Stop after so many matches")
                .usually(MATCHES),
            Parameter::optional("regex", "boolean", "pattern is a regular expression"),
            Parameter::optional("ignore_case", "boolean", ""),
            Parameter::optional("before", "integer", "Lines to show before a match"),
            Parameter::optional("after", "integer", "Lines to show after a match"),
        ],
    },
    About {
        tool: Tool::Execute,
        name: "execute",
        title: "Run command",
        effect: Effect::Runs,
        is_usual: true,
        description: "Run a shell command and get its output and exit code. Prefer the file tools for reading, searching and editing files. Quote paths with spaces.",
        parameters: &[
            Parameter::required("command", "string", "The command"),
            Parameter::optional("timeout", "integer", "Seconds until it is stopped"),
        ],
    },
    About {
        tool: Tool::MoveFile,
        name: "move_file",
        title: "Move file",
        effect: Effect::Destroys,
        is_usual: false,
        description: "Move or rename a file, or a directory with everything in it. Never merges directories.",
        parameters: &[
            Parameter::required("from", "string", "Absolute path"),
            Parameter::required("to", "string", "New path in full"),
            Parameter::optional("overwrite", "boolean", "Replace a file that exists there"),
        ],
    },
    About {
        tool: Tool::CopyFile,
        name: "copy_file",
        title: "Copy file",
        effect: Effect::Destroys,
        is_usual: false,
        description: "Copy a file, or a directory with everything in it. Never merges directories.",
        parameters: &[
            Parameter::required("from", "string", "Absolute path"),
            Parameter::required("to", "string", "New path in full"),
            Parameter::optional("overwrite", "boolean", "Replace a file that exists there"),
        ],
    },
    About {
        tool: Tool::AppendFile,
        name: "append_file",
        title: "Append to file",
        effect: Effect::Changes,
        is_usual: false,
        description: "Add text to the end of a file that exists.",
        parameters: &[
            Parameter::required("file_path", "string", "Absolute path of the file"),
            Parameter::required("content", "string", "Text to add, as it is"),
        ],
    },
];

impl Tool {
    /// Its row of the table.
    pub fn about(self) -> &'static About {
        #[expect(
            clippy::indexing_slicing,
            reason = "a row for each tool, in their order; a test compares them"
        )]
        let row = &TABLE[self as usize];
        row
    }

    /// The name that models use.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// The tool with that name.
    pub fn named(name: &str) -> Option<Tool> {
        let found = TABLE.iter().find(|one| one.name == name)?;
        Some(found.tool)
    }

    /// Whether its results have contents, which are shown as they are; others only name files.
    pub fn tells_content(self) -> bool {
        use Tool::{EditFile, Execute, Grep, ReadFile};
        matches!(self, ReadFile | EditFile | Grep | Execute)
    }

    /// Whether it limits its results itself, so that they are never moved to a file.
    pub fn caps_itself(self) -> bool {
        !matches!(self, Tool::Execute | Tool::Delete)
    }

    /// The JSON Schema of its input.
    pub fn schema(self) -> String {
        let mut properties = Vec::new();
        let mut required = Vec::new();
        for one in self.about().parameters {
            let mut property = format!(r#""{}":{{"type":"{}""#, one.name, one.kind);
            if !one.values.is_empty() {
                property.push_str(&format!(r#","enum":["{}"]"#, one.values.join(r#"",""#)));
            }
            if !one.description.is_empty() {
                let usual = one.usual.map(|count| format!(" ({count})"));
                let usual = usual.unwrap_or_default();
                property.push_str(&format!(r#","description":"{}{usual}""#, one.description));
            }
            property.push('}');
            properties.push(property);
            if one.is_required {
                required.push(format!(r#""{}""#, one.name));
            }
        }
        let properties = properties.join(",");
        let mut schema = format!(r#"{{"type":"object","properties":{{{properties}}}"#);
        if !required.is_empty() {
            schema.push_str(&format!(r#","required":[{}]"#, required.join(",")));
        }
        schema.push('}');
        schema
    }
}

/// A parameter of a tool. Its texts go into JSON as they are, so they have no quotes, backslashes or
/// line breaks; a test checks that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type in the schema.
    pub kind: &'static str,
    /// Its description; empty if the name says it all.
    pub description: &'static str,
    /// The allowed values; empty if any value of the type is allowed.
    pub values: &'static [&'static str],
    /// What a number is if it is not given, where its description should say so.
    pub usual: Option<usize>,
    /// Whether it must be given.
    pub is_required: bool,
}

impl Parameter {
    const fn required(
        name: &'static str,
        kind: &'static str,
        description: &'static str,
    ) -> Parameter {
        Parameter {
            name,
            kind,
            description,
            values: &[],
            usual: None,
            is_required: true,
        }
    }

    const fn optional(
        name: &'static str,
        kind: &'static str,
        description: &'static str,
    ) -> Parameter {
        Parameter {
            is_required: false,
            ..Parameter::required(name, kind, description)
        }
    }

    const fn usually(self, count: usize) -> Parameter {
        Parameter {
            usual: Some(count),
            ..self
        }
    }

    const fn one_of(self, values: &'static [&'static str]) -> Parameter {
        Parameter { values, ..self }
    }
}

/// The system prompt about the tools.
pub fn prompt(tools: &[Tool]) -> String {
    let has = |tool: Tool| tools.contains(&tool);
    if tools.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    let mut text = format!(
        "## Files\n\nYou have a file system: {}. Paths start with '/'.",
        names.join(", ")
    );
    if has(Tool::Grep) || has(Tool::Glob) || has(Tool::Ls) {
        text.push_str(
            " Look before you read: find the right file first, then read the part you need.",
        );
    }
    if has(Tool::ReadFile) {
        text.push_str(
            " Results too large to show are saved under /large_tool_results/; read them in pages",
        );
        text.push_str(if has(Tool::Grep) {
            " or search them with grep."
        } else {
            "."
        });
    }
    if has(Tool::Execute) {
        text.push_str(" Commands run with execute see the same files.");
    }
    text
}

#[cfg(test)]
mod tests;

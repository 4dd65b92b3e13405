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

/// All tools.
pub const ALL: [Tool; 11] = [
    Tool::Ls,
    Tool::ReadFile,
    Tool::WriteFile,
    Tool::EditFile,
    Tool::Delete,
    Tool::Glob,
    Tool::Grep,
    Tool::Execute,
    Tool::MoveFile,
    Tool::CopyFile,
    Tool::AppendFile,
];

impl Tool {
    /// The name that models use.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Ls => "ls",
            Tool::ReadFile => "read_file",
            Tool::WriteFile => "write_file",
            Tool::EditFile => "edit_file",
            Tool::Delete => "delete",
            Tool::Glob => "glob",
            Tool::Grep => "grep",
            Tool::Execute => "execute",
            Tool::MoveFile => "move_file",
            Tool::CopyFile => "copy_file",
            Tool::AppendFile => "append_file",
        }
    }

    /// The tool with that name.
    pub fn named(name: &str) -> Option<Tool> {
        ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Whether it is offered only if it is named.
    pub fn must_be_named(self) -> bool {
        matches!(self, Tool::MoveFile | Tool::CopyFile | Tool::AppendFile)
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

    /// Its description.
    pub fn description(self) -> &'static str {
        match self {
            Tool::Ls => {
                "List one directory. Directories end with '/'. Use it to look around; use glob to search deeper. A missing directory is shown as empty."
            }
            Tool::ReadFile => {
                "Read a file. Text comes with line numbers, 100 lines at a time; the last line tells the offset that reads on. Images, audio, video, PDFs and PowerPoint files are shown as they are. Read a file before you edit it. Numbers and the tab behind them are not part of the file."
            }
            Tool::WriteFile => {
                "Create a file, with its directories. To change a file that exists, use edit_file."
            }
            Tool::EditFile => {
                "Replace text in a file. old_string must stand there exactly once, white space included; add lines around it if it is not unique, or set replace_all. Fails if the file was not read or has changed since; read it again then."
            }
            Tool::Delete => {
                "Delete a file, or a directory with everything in it. It cannot be undone."
            }
            Tool::Glob => {
                "Find files by name, newest first. '*' and '?' stay within a directory, '**' crosses directories: '**/*.ts'."
            }
            Tool::Grep => {
                "Search file contents, line by line, for literal text (or a regular expression with regex). Answers paths unless output_mode says otherwise."
            }
            Tool::Execute => {
                "Run a shell command and get its output and exit code. Prefer the file tools for reading, searching and editing files. Quote paths with spaces."
            }
            Tool::MoveFile => {
                "Move or rename a file, or a directory with everything in it. Never merges directories."
            }
            Tool::CopyFile => {
                "Copy a file, or a directory with everything in it. Never merges directories."
            }
            Tool::AppendFile => "Add text to the end of a file that exists.",
        }
    }

    /// The parameters of its input.
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Tool::Ls => {
                const {
                    &[Parameter::optional(
                        "path",
                        "string",
                        "Absolute path of the directory; '/' if left out",
                    )]
                }
            }
            Tool::ReadFile => {
                const {
                    &[
                        Parameter::required("file_path", "string", "Absolute path of the file"),
                        Parameter::optional("offset", "integer", "Lines to skip"),
                        Parameter::optional("limit", "integer", "Lines to show (100)"),
                        Parameter::optional(
                            "column",
                            "integer",
                            "Characters of the first line to skip, for very long lines",
                        ),
                    ]
                }
            }
            Tool::WriteFile => {
                const {
                    &[
                        Parameter::required("file_path", "string", "Absolute path of the new file"),
                        Parameter::required(
                            "content",
                            "string",
                            "All of its text; base64 for a binary type",
                        ),
                    ]
                }
            }
            Tool::EditFile => {
                const {
                    &[
                        Parameter::required("file_path", "string", "Absolute path of the file"),
                        Parameter::required("old_string", "string", "Text to find"),
                        Parameter::required("new_string", "string", "Text to put in its place"),
                        Parameter::optional("replace_all", "boolean", "Replace every occurrence"),
                    ]
                }
            }
            Tool::Delete => {
                const { &[Parameter::required("file_path", "string", "Absolute path")] }
            }
            Tool::Glob => {
                const {
                    &[
                        Parameter::required("pattern", "string", "Pattern, relative to path"),
                        Parameter::optional(
                            "path",
                            "string",
                            "Directory to search; '/' if left out",
                        ),
                    ]
                }
            }
            Tool::Grep => {
                const {
                    &[
                        Parameter::required("pattern", "string", "Text to find"),
                        Parameter::optional(
                            "path",
                            "string",
                            "Directory or file to search; '/' if left out",
                        ),
                        Parameter::optional(
                            "glob",
                            "string",
                            "Only files of this pattern, e.g. '*.py'",
                        ),
                        Parameter::optional(
                            "output_mode",
                            "string",
                            "Paths, matching lines, or matches per file",
                        )
                        .one_of(&[
                            "files_with_matches",
                            "content",
                            "count",
                        ]),
                        Parameter::optional(
                            "max_count",
                            "integer",
                            "Stop after so many matches (1000)",
                        ),
                        Parameter::optional("regex", "boolean", "pattern is a regular expression"),
                        Parameter::optional("ignore_case", "boolean", ""),
                        Parameter::optional("before", "integer", "Lines to show before a match"),
                        Parameter::optional("after", "integer", "Lines to show after a match"),
                    ]
                }
            }
            Tool::Execute => {
                const {
                    &[
                        Parameter::required("command", "string", "The command"),
                        Parameter::optional("timeout", "integer", "Seconds until it is stopped"),
                    ]
                }
            }
            Tool::MoveFile | Tool::CopyFile => {
                const {
                    &[
                        Parameter::required("from", "string", "Absolute path"),
                        Parameter::required("to", "string", "New path in full"),
                        Parameter::optional(
                            "overwrite",
                            "boolean",
                            "Replace a file that exists there",
                        ),
                    ]
                }
            }
            Tool::AppendFile => {
                const {
                    &[
                        Parameter::required("file_path", "string", "Absolute path of the file"),
                        Parameter::required("content", "string", "Text to add, as it is"),
                    ]
                }
            }
        }
    }

    /// The JSON Schema of its input.
    pub fn schema(self) -> String {
        let mut properties = Vec::new();
        let mut required = Vec::new();
        for one in self.parameters() {
            let mut property = format!(r#""{}":{{"type":"{}""#, one.name, one.kind);
            if !one.values.is_empty() {
                property.push_str(&format!(r#","enum":["{}"]"#, one.values.join(r#"",""#)));
            }
            if !one.description.is_empty() {
                property.push_str(&format!(r#","description":"{}""#, one.description));
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
mod tests {
    use super::*;

    #[test]
    fn all_words_together_cost_at_most_1200_tokens() {
        let usual: Vec<Tool> = ALL.into_iter().filter(|one| !one.must_be_named()).collect();
        let mut whole = prompt(&usual).len();
        let mut words = whole;
        for tool in usual {
            whole += tool.name().len() + tool.description().len() + tool.schema().len();
            words += tool.description().len();
            let schema: serde_json::Value = serde_json::from_str(&tool.schema()).expect("json");
            for property in schema["properties"]
                .as_object()
                .expect("properties")
                .values()
            {
                words += property["description"].as_str().unwrap_or_default().len();
            }
        }
        println!(
            "descriptions and prompt: {} tokens; with the schemas whole: {} tokens",
            words / 4,
            whole / 4
        );
        assert!(whole / 4 <= 1200, "{} tokens", whole / 4);
    }

    #[test]
    fn schemas_keep_to_what_all_providers_accept() {
        for tool in ALL {
            let parsed: serde_json::Value = serde_json::from_str(&tool.schema()).expect("json");
            for name in parsed.as_object().expect("an object").keys() {
                assert!(["type", "properties", "required"].contains(&name.as_str()));
            }
            let properties = parsed["properties"].as_object().expect("properties");
            for required in parsed["required"].as_array().into_iter().flatten() {
                assert!(properties.contains_key(required.as_str().expect("a name")));
            }
            for property in properties.values() {
                for name in property.as_object().expect("a property").keys() {
                    assert!(["type", "description", "enum"].contains(&name.as_str()));
                }
            }
            assert_eq!(Tool::named(tool.name()), Some(tool));
        }
        assert_eq!(Tool::named("rm"), None);
    }
}

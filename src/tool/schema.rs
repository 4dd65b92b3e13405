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
}

/// All tools.
pub const ALL: [Tool; 8] = [
    Tool::Ls,
    Tool::ReadFile,
    Tool::WriteFile,
    Tool::EditFile,
    Tool::Delete,
    Tool::Glob,
    Tool::Grep,
    Tool::Execute,
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
        }
    }

    /// The tool with that name.
    pub fn named(name: &str) -> Option<Tool> {
        ALL.into_iter().find(|tool| tool.name() == name)
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
                "Read a file. Text comes with line numbers, 100 lines at a time; the last line tells the offset that reads on. Images, audio, video and PDFs are shown as they are. Read a file before you edit it. Numbers and the tab behind them are not part of the file."
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
        }
    }

    /// The JSON Schema of its input.
    pub fn schema(self) -> &'static str {
        match self {
            Tool::Ls => {
                r#"{"type":"object","properties":{"path":{"type":"string","description":"Absolute path of the directory; '/' if left out"}}}"#
            }
            Tool::ReadFile => {
                r#"{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute path of the file"},"offset":{"type":"integer","description":"Lines to skip"},"limit":{"type":"integer","description":"Lines to show (100)"},"column":{"type":"integer","description":"Characters of the first line to skip, for very long lines"}},"required":["file_path"]}"#
            }
            Tool::WriteFile => {
                r#"{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute path of the new file"},"content":{"type":"string","description":"All of its text; base64 for a binary type"}},"required":["file_path","content"]}"#
            }
            Tool::EditFile => {
                r#"{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute path of the file"},"old_string":{"type":"string","description":"Text to find"},"new_string":{"type":"string","description":"Text to put in its place"},"replace_all":{"type":"boolean","description":"Replace every occurrence"}},"required":["file_path","old_string","new_string"]}"#
            }
            Tool::Delete => {
                r#"{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute path"}},"required":["file_path"]}"#
            }
            Tool::Glob => {
                r#"{"type":"object","properties":{"pattern":{"type":"string","description":"Pattern, relative to path"},"path":{"type":"string","description":"Directory to search; '/' if left out"}},"required":["pattern"]}"#
            }
            Tool::Grep => {
                r#"{"type":"object","properties":{"pattern":{"type":"string","description":"Text to find"},"path":{"type":"string","description":"Directory or file to search; '/' if left out"},"glob":{"type":"string","description":"Only files of this pattern, e.g. '*.py'"},"output_mode":{"type":"string","enum":["files_with_matches","content","count"],"description":"Paths, matching lines, or matches per file"},"max_count":{"type":"integer","description":"Stop after so many matches (1000)"},"regex":{"type":"boolean","description":"pattern is a regular expression"},"ignore_case":{"type":"boolean"},"before":{"type":"integer","description":"Lines to show before a match"},"after":{"type":"integer","description":"Lines to show after a match"}},"required":["pattern"]}"#
            }
            Tool::Execute => {
                r#"{"type":"object","properties":{"command":{"type":"string","description":"The command"},"timeout":{"type":"integer","description":"Seconds until it is stopped"}},"required":["command"]}"#
            }
        }
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
    use crate::tool::json::{self, Value};

    #[test]
    fn all_words_together_cost_at_most_1200_tokens() {
        let mut whole = prompt(&ALL).len();
        let mut words = whole;
        for tool in ALL {
            whole += tool.name().len() + tool.description().len() + tool.schema().len();
            words += tool.description().len();
            let schema: serde_json::Value = serde_json::from_str(tool.schema()).expect("json");
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
            let Ok(Value::Object(schema)) = json::parse(tool.schema()) else {
                panic!("{}: no object", tool.name())
            };
            for (name, _) in &schema {
                assert!(["type", "properties", "required"].contains(&name.as_str()));
            }
            let parsed: serde_json::Value = serde_json::from_str(tool.schema()).expect("json");
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

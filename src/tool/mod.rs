//! The tools for a model. A [`ToolSet`] takes the name of a tool and the JSON from a model, calls a
//! [`Backend`], and answers with text (or an image) for the model. It never returns a Rust error,
//! because a model can only react to what it reads. Tools use the `Backend` trait and nothing below
//! it; each call names its backend, because a factory may return a different one each time.
//!
//! - [`schema`]: names, descriptions and input schemas; [`input`]: arguments.
//! - one file for each tool; [`render`]: numbered text, sizes, truncation.
//! - [`seen`]: which contents were read, so that nothing is edited unread; [`nearest`]: help for
//!   failed edits.
//! - [`offload`]: moves large results into files.

pub mod delete;
pub mod edit_file;
pub mod execute;
pub mod glob;
pub mod grep;
pub mod input;
pub mod ls;
pub mod nearest;
pub mod offload;
pub mod read_file;
pub mod render;
pub mod schema;
pub mod seen;
pub mod transfer;
pub mod write_file;

use std::cell::Cell;

use bytes::Bytes;

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::core::visible::visible;
use crate::env::clock;
use crate::protocol::{Backend, BackendExt, FilesUpdate, Page, Position};
use crate::search::lines::{self, LineIndex};
use input::Input;
use offload::{What, sanitised};
use schema::{About, Tool};
use seen::Seen;

/// Options of a tool set.
#[derive(Clone, Debug)]
pub struct ToolOptions {
    /// The enabled tools; if absent, all but those that must be named.
    pub tools: Option<Vec<Tool>>,
    /// Descriptions that replace the defaults.
    pub descriptions: Vec<(Tool, String)>,
    /// A system prompt that replaces the default.
    pub system_prompt: Option<String>,
    /// Results with more tokens than this are moved into a file; `None` disables that.
    pub result_tokens: Option<usize>,
    /// The same for messages.
    pub message_tokens: Option<usize>,
    /// The maximum time limit of `execute`, in seconds.
    pub max_execute_timeout: usize,
    /// Whether a file must have been read before it is edited or overwritten.
    pub read_before_edit: bool,
}

impl Default for ToolOptions {
    fn default() -> ToolOptions {
        ToolOptions {
            tools: None,
            descriptions: Vec::new(),
            system_prompt: None,
            result_tokens: Some(schema::RESULT_TOKENS),
            message_tokens: Some(schema::MESSAGE_TOKENS),
            max_execute_timeout: schema::EXECUTE_SECONDS,
            read_before_edit: true,
        }
    }
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// An image or other media for a model.
    Media {
        /// `image`, `audio`, `video` or `file`.
        kind: &'static str,
        /// Its MIME type.
        mime: String,
        /// Its bytes.
        body: Bytes,
    },
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The content for the model.
    pub blocks: Vec<Block>,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// Only from a backend over state that the caller owns.
    pub update: FilesUpdate,
}

impl Answer {
    /// A text answer.
    pub fn text(text: impl Into<String>) -> Answer {
        Answer {
            blocks: vec![Block::Text(text.into())],
            is_error: false,
            update: FilesUpdate::new(),
        }
    }

    /// A text answer that reports a failure.
    pub fn failure(text: impl Into<String>) -> Answer {
        Answer {
            is_error: true,
            ..Answer::text(text)
        }
    }

    /// The same, if its texts are names and no contents.
    fn visible(mut self) -> Answer {
        for block in &mut self.blocks {
            if let Block::Text(text) = block {
                *text = visible(text).into_owned();
            }
        }
        self
    }

    fn with_update(mut self, update: Option<FilesUpdate>) -> Answer {
        self.update = update.unwrap_or_default();
        self
    }
}

/// The definition of a tool for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub description: String,
    /// JSON Schema of its input.
    pub schema: String,
}

/// The tools over a backend, with their state.
pub struct ToolSet {
    options: ToolOptions,
    seen: RefCell<Seen>,
    turns: Queue,
    unnamed: Cell<u32>,
}

/// Maximum size of results that tools limit themselves, in characters: the usual token limit.
const OWN_CAP: usize = 80_000;

impl ToolSet {
    /// A tool set that has not read any file yet.
    pub fn new(options: ToolOptions) -> ToolSet {
        ToolSet {
            options,
            seen: RefCell::renewable(Seen::default),
            turns: Queue::default(),
            unnamed: Cell::new(0),
        }
    }

    /// The available tools, with or without `execute`.
    pub fn tools(&self, shell: bool) -> Vec<Tool> {
        let allowed = |about: &&About| match &self.options.tools {
            Some(tools) => tools.contains(&about.tool),
            None => about.is_usual,
        };
        let allowed = schema::TABLE.iter().filter(allowed);
        allowed
            .map(|about| about.tool)
            .filter(|tool| shell || *tool != Tool::Execute)
            .collect()
    }

    /// The definitions of the available tools.
    pub fn definitions(&self, shell: bool) -> Vec<Definition> {
        let own = |tool: Tool| {
            let all = self.options.descriptions.iter().rev();
            all.clone()
                .find(|(of, _)| *of == tool)
                .map(|(_, text)| text.clone())
        };
        let tools = self.tools(shell).into_iter();
        tools
            .map(|tool| Definition {
                name: tool.name(),
                description: own(tool).unwrap_or_else(|| tool.about().description.to_owned()),
                schema: tool.schema(),
            })
            .collect()
    }

    /// The system prompt about the available tools.
    pub fn system_prompt(&self, shell: bool) -> String {
        match &self.options.system_prompt {
            Some(prompt) => prompt.clone(),
            None => schema::prompt(&self.tools(shell)),
        }
    }

    /// Calls a tool. Errors are reported in the answer.
    pub async fn call(
        &self,
        backend: &dyn Backend,
        name: &str,
        input: Result<Input>,
        id: &str,
    ) -> Answer {
        let offered = self.tools(backend.shell().is_some());
        let tool = match Tool::named(name) {
            Some(tool) if offered.contains(&tool) => tool,
            known => return no_such_tool(name, known, &offered),
        };
        let answer = match input {
            Ok(input) => match self.run(backend, tool, &input).await {
                Err(error) if error.is_no_file() => {
                    Err(directory(backend, tool, &input).await.unwrap_or(error))
                }
                answer => answer.map(|answer| match tool.tells_content() {
                    true => answer,
                    false => answer.visible(),
                }),
            },
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) if tool.caps_itself() => answer,
            Ok(answer) => self.moved(backend, answer, id).await,
            Err(error) => failed(tool, &error),
        }
    }

    async fn run(&self, backend: &dyn Backend, tool: Tool, input: &Input) -> Result<Answer> {
        match tool {
            Tool::Ls => ls::run(backend, input).await,
            Tool::ReadFile => read_file::run(self, backend, input).await,
            Tool::WriteFile => write_file::run(self, backend, input).await,
            Tool::EditFile => edit_file::run(self, backend, input).await,
            Tool::Delete => delete::run(backend, input).await,
            Tool::MoveFile => transfer::run(self, backend, input, false).await,
            Tool::CopyFile => transfer::run(self, backend, input, true).await,
            Tool::AppendFile => transfer::append(self, backend, input).await,
            Tool::Glob => glob::run(backend, input).await,
            Tool::Grep => grep::run(backend, input).await,
            Tool::Execute => execute::run(self, backend, input).await,
        }
    }

    async fn moved(&self, backend: &dyn Backend, mut answer: Answer, id: &str) -> Answer {
        for block in &mut answer.blocks {
            let Block::Text(text) = block else { continue };
            if let Some(moved) = self.offload(backend, text, id, "", What::Result).await {
                *text = moved.text;
                answer.update.extend(moved.update);
            }
        }
        answer
    }

    /// Moves a text that is too large for a model into a file. `None` if it is small enough, or
    /// comes from a tool that limits its results itself.
    pub async fn offload(
        &self,
        backend: &dyn Backend,
        text: &str,
        id: &str,
        tool: &str,
        what: What,
    ) -> Option<offload::Moved> {
        let limit = match what {
            What::Result => self.options.result_tokens?,
            What::Message => self.options.message_tokens?,
        };
        let room = limit.saturating_mul(offload::TOKEN);
        if render::units(text) <= room || Tool::named(tool).is_some_and(Tool::caps_itself) {
            return None;
        }
        let id = match sanitised(id) {
            id if id.is_empty() => self.next_name(),
            id => id,
        };
        Some(offload::offload(backend, text, &id, what, room).await)
    }

    /// A name for a call without an id.
    fn next_name(&self) -> String {
        let count = self.unnamed.get().wrapping_add(1);
        self.unnamed.set(count);
        format!("call_{}_{count}", clock::now().micros() / 1_000)
    }

    /// The whole content of a file, if the backend supports it.
    async fn whole(&self, backend: &dyn Backend, path: &VPath) -> Result<Option<Bytes>> {
        match backend.read_raw(path).await {
            Ok(file) => Ok(Some(file.body)),
            Err(error) if error.kind() == Kind::Unsupported => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A page of a loaded body.
fn page_of(body: &Bytes, page: Page) -> (Bytes, Option<Position>) {
    let paged = lines::page(body, page, &LineIndex::build(body));
    (body.slice(paged.range), paged.position)
}

/// What to say instead of "not found" if the path of a file is that of a directory.
async fn directory(backend: &dyn Backend, tool: Tool, input: &Input) -> Option<Error> {
    if !matches!(tool, Tool::ReadFile | Tool::EditFile | Tool::AppendFile) {
        return None;
    }
    let path = input.file_path().ok()?;
    let listing = backend.ls(&path).await.ok()?;
    (!listing.is_empty()).then(|| {
        let why = "' is a directory, not a file. List it with ls, or name a file below it.";
        Error::at(Kind::IsDirectory, "'", &path, why)
    })
}

fn no_such_tool(name: &str, known: Option<Tool>, offered: &[Tool]) -> Answer {
    let names: Vec<&str> = offered.iter().map(|tool| tool.name()).collect();
    let shown: String = name
        .chars()
        .take(100)
        .flat_map(char::escape_debug)
        .collect();
    let why = match known {
        Some(Tool::Execute) => "is not available here: these files have no shell",
        Some(_) => "is not available here",
        None => "does not exist",
    };
    Answer::failure(format!(
        "The tool '{shown}' {why}. The tools are: {}.",
        names.join(", ")
    ))
}

/// An error as text for a model. For invalid input it includes the expected parameters.
fn failed(tool: Tool, error: &Error) -> Answer {
    let text = error.to_string();
    let said = if text.starts_with("Error: ") {
        text
    } else {
        format!("Error: {text}")
    };
    if error.kind() != Kind::InvalidArgument {
        return Answer::failure(render::cut_line(&said, 4_000));
    }
    Answer::failure(format!(
        "{}\n{} takes: {}",
        render::cut_line(&said, 4_000),
        tool.name(),
        parameters(tool)
    ))
}

/// The parameters of a tool in one line, with optional ones in brackets.
fn parameters(tool: Tool) -> String {
    let parameters = tool.about().parameters;
    let shown: Vec<String> = parameters
        .iter()
        .map(|one| match one.is_required {
            true => format!("{} ({})", one.name, one.kind),
            false => format!("[{} ({})]", one.name, one.kind),
        })
        .collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests;

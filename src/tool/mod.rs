//! What a model sees. A [`ToolSet`] takes a tool's name and the JSON a model sent, asks a
//! [`Backend`], and answers with text (or an image) for the model: never an error of Rust's, for
//! a model can only mend what it is told. Tools know the `Backend` trait and nothing beneath it;
//! which backend is asked is said at each call, since a factory may give another one each time.
//!
//! - [`schema`]: names, descriptions and input schemas; [`json`] and [`input`]: reading inputs.
//! - one file a tool; [`render`]: numbered text, sizes, cutting.
//! - [`seen`]: what was read, so that nothing is edited blindly; [`nearest`]: help for failed edits.
//! - [`offload`]: large results go into files.

pub mod delete;
pub mod edit_file;
pub mod execute;
pub mod glob;
pub mod grep;
pub mod input;
pub mod json;
pub mod ls;
pub mod nearest;
pub mod offload;
pub mod read_file;
pub mod render;
pub mod schema;
pub mod seen;
pub mod write_file;

use std::cell::Cell;
use std::collections::HashMap;

use bytes::Bytes;

use crate::backend::queue::Queue;
use crate::cell::RefCell;
use crate::env::clock;
use crate::error::{Error, Kind, Result};
use crate::path::VPath;
use crate::protocol::{Backend, FilesUpdate, Page, Position};
use crate::search::lines::{self, LineIndex};
use input::Input;
use offload::{What, sanitised};
use schema::Tool;
use seen::Seen;

/// How a tool set behaves.
#[derive(Clone, Debug)]
pub struct ToolOptions {
    /// Only these; all where absent.
    pub tools: Option<Vec<Tool>>,
    /// Descriptions in place of ours.
    pub descriptions: HashMap<String, String>,
    /// A system prompt in place of ours.
    pub system_prompt: Option<String>,
    /// Results over so many tokens go into a file; `None`: never.
    pub result_tokens: Option<usize>,
    /// Messages over so many tokens likewise.
    pub message_tokens: Option<usize>,
    /// The longest time limit that `execute` takes, in seconds.
    pub max_execute_timeout: usize,
    /// Whether a file must have been read before it is edited or overwritten.
    pub read_before_edit: bool,
}

impl Default for ToolOptions {
    fn default() -> ToolOptions {
        ToolOptions {
            tools: None,
            descriptions: HashMap::new(),
            system_prompt: None,
            result_tokens: Some(20_000),
            message_tokens: Some(50_000),
            max_execute_timeout: 3_600,
            read_before_edit: true,
        }
    }
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// Something that a model can look at or listen to.
    Media {
        /// `image`, `audio`, `video` or `file`.
        kind: &'static str,
        /// Its type.
        mime: String,
        /// Its bytes.
        body: Bytes,
    },
}

/// What a call answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// For the model.
    pub blocks: Vec<Block>,
    /// Whether it tells of a failure.
    pub is_error: bool,
    /// Only from a backend over a caller's state.
    pub update: FilesUpdate,
}

impl Answer {
    /// A text.
    pub fn text(text: impl Into<String>) -> Answer {
        Answer {
            blocks: vec![Block::Text(text.into())],
            is_error: false,
            update: FilesUpdate::new(),
        }
    }

    /// A text that tells of a failure.
    pub fn failure(text: impl Into<String>) -> Answer {
        Answer {
            is_error: true,
            ..Answer::text(text)
        }
    }

    fn with_update(mut self, update: Option<FilesUpdate>) -> Answer {
        self.update = update.unwrap_or_default();
        self
    }
}

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// What it says of itself.
    pub description: String,
    /// JSON Schema of its input.
    pub schema: &'static str,
}

/// The tools over a backend, with what they remember.
pub struct ToolSet {
    options: ToolOptions,
    seen: RefCell<Seen>,
    turns: Queue,
    unnamed: Cell<u32>,
}

/// Characters that tools which cap themselves show at most: the usual limit, in characters.
const OWN_CAP: usize = 80_000;

impl ToolSet {
    /// A tool set that has read nothing yet.
    pub fn new(options: ToolOptions) -> ToolSet {
        ToolSet {
            options,
            seen: RefCell::renewable(Seen::default),
            turns: Queue::default(),
            unnamed: Cell::new(0),
        }
    }

    /// The tools offered where the backend can run commands, or cannot.
    pub fn tools(&self, shell: bool) -> Vec<Tool> {
        let allowed = |tool: &Tool| match &self.options.tools {
            Some(tools) => tools.contains(tool),
            None => true,
        };
        schema::ALL
            .into_iter()
            .filter(|tool| allowed(tool) && (shell || *tool != Tool::Execute))
            .collect()
    }

    /// What is told to the model of each tool.
    pub fn definitions(&self, shell: bool) -> Vec<Definition> {
        let own = |tool: Tool| self.options.descriptions.get(tool.name()).cloned();
        let tools = self.tools(shell).into_iter();
        tools
            .map(|tool| Definition {
                name: tool.name(),
                description: own(tool).unwrap_or_else(|| tool.description().to_owned()),
                schema: tool.schema(),
            })
            .collect()
    }

    /// What is told to the model of the tools as a whole.
    pub fn system_prompt(&self, shell: bool) -> String {
        match &self.options.system_prompt {
            Some(prompt) => prompt.clone(),
            None => schema::prompt(&self.tools(shell)),
        }
    }

    /// Calls a tool. Whatever is wrong is said in the answer.
    pub async fn call(&self, backend: &dyn Backend, name: &str, input: &str, id: &str) -> Answer {
        let offered = self.tools(backend.shell().is_some());
        let tool = match Tool::named(name) {
            Some(tool) if offered.contains(&tool) => tool,
            known => return no_such_tool(name, known.is_some(), &offered),
        };
        let answer = match Input::parse(input) {
            Ok(input) => self.run(backend, tool, &input).await,
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

    /// Moves a text that is too large for a model into a file. `None` where it may stay, because
    /// it is small enough or comes from a tool that caps itself.
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

    /// A name for a call that came without an id.
    fn next_name(&self) -> String {
        let count = self.unnamed.get().wrapping_add(1);
        self.unnamed.set(count);
        format!("call_{}_{count}", clock::now().micros() / 1_000)
    }

    /// The whole of a file, where the backend can give it.
    async fn whole(&self, backend: &dyn Backend, path: &VPath) -> Result<Option<Bytes>> {
        match backend.read_raw(path).await {
            Ok(file) => Ok(Some(file.body)),
            Err(error) if error.kind() == Kind::Unsupported => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A page of a body that is at hand.
fn page_of(body: &Bytes, page: Page) -> (Bytes, Option<Position>) {
    let paged = lines::page(body, page, &LineIndex::build(body));
    (body.slice(paged.range), paged.position)
}

fn no_such_tool(name: &str, known: bool, offered: &[Tool]) -> Answer {
    let names: Vec<&str> = offered.iter().map(|tool| tool.name()).collect();
    let shown: String = name
        .chars()
        .take(100)
        .flat_map(char::escape_debug)
        .collect();
    let why = if known {
        "is not available here"
    } else {
        "does not exist"
    };
    Answer::failure(format!(
        "The tool '{shown}' {why}. The tools are: {}.",
        names.join(", ")
    ))
}

/// A refusal as a model reads it. A wrong input is answered with what is expected.
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

/// The parameters of a tool in one line, those that may be left out in brackets.
fn parameters(tool: Tool) -> String {
    let Ok(json::Value::Object(schema)) = json::parse(tool.schema()) else {
        return String::new();
    };
    let member = |wanted: &str| schema.iter().find(|(name, _)| name == wanted);
    let required = match member("required") {
        Some((_, json::Value::Array(names))) => names.clone(),
        _ => Vec::new(),
    };
    let Some((_, json::Value::Object(properties))) = member("properties") else {
        return String::new();
    };
    let shown: Vec<String> = properties
        .iter()
        .map(|(name, property)| {
            let kind = match property {
                json::Value::Object(members) => members.iter().find(|(name, _)| name == "type"),
                _ => None,
            };
            let kind = match kind {
                Some((_, json::Value::Text(kind))) => kind.as_str(),
                _ => "any",
            };
            if required.contains(&json::Value::Text(name.clone())) {
                format!("{name} ({kind})")
            } else {
                format!("[{name} ({kind})]")
            }
        })
        .collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests;

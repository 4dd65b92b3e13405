//! The resource `tool-set`.

use kitbag::core::error::{Error, Result};
use kitbag::tool::schema::Tool;
use kitbag::tool::{Answer, Block, ToolOptions, ToolSet};

use crate::backends::Held;
use crate::bindings::exports::kitbag::files::backends::BackendBorrow;
use crate::bindings::exports::kitbag::files::tools as wit;
use crate::bindings::kitbag::files::types;
use crate::run::run;
use crate::{answers, arguments, given};

/// Tools that the host holds.
pub struct Tools(ToolSet);

fn tool(name: &str) -> Result<Tool> {
    Tool::named(name).ok_or_else(|| given::wrong(format!("There is no tool '{name}'")))
}

fn limit(given: wit::TokenLimit, usual: Option<usize>) -> Option<usize> {
    match given {
        wit::TokenLimit::Usual => usual,
        wit::TokenLimit::Unlimited => None,
        wit::TokenLimit::AtMost(tokens) => Some(given::count(tokens)),
    }
}

fn options(given: wit::ToolOptions) -> Result<ToolOptions> {
    let usual = ToolOptions::default();
    let tools = given.tools.map(|names| {
        let tools = names.iter().map(|name| tool(name));
        tools.collect::<Result<Vec<Tool>>>()
    });
    let descriptions = given.descriptions.into_iter();
    let descriptions = descriptions.map(|(name, text)| Ok((tool(&name)?, text)));
    Ok(ToolOptions {
        tools: tools.transpose()?,
        descriptions: descriptions.collect::<Result<_>>()?,
        system_prompt: given.system_prompt,
        result_tokens: limit(given.result_tokens, usual.result_tokens),
        message_tokens: usual.message_tokens,
        max_execute_timeout: given
            .max_execute_timeout
            .map_or(usual.max_execute_timeout, given::count),
        read_before_edit: !given.edits_unread,
    })
}

fn answered(answer: Answer) -> wit::Answer {
    let block = |block| match block {
        Block::Text(text) => wit::Block::Text(text),
        Block::Media { kind, mime, body } => wit::Block::Media(wit::Media {
            kind: kind.to_owned(),
            mime_type: mime,
            body: Vec::from(body),
        }),
    };
    wit::Answer {
        blocks: answer.blocks.into_iter().map(block).collect(),
        is_error: answer.is_error,
    }
}

/// A failure that no tool has reported, as its answer.
fn failed(error: Error) -> Answer {
    Answer::failure(format!("Error: {error}"))
}

impl wit::GuestToolSet for Tools {
    fn create(given: wit::ToolOptions) -> Result<wit::ToolSet, types::Error> {
        let options = run("create", async { options(given) });
        options
            .map(|options| wit::ToolSet::new(Tools(ToolSet::new(options))))
            .map_err(answers::error)
    }

    fn system_prompt(&self, backend: BackendBorrow<'_>) -> String {
        let shell = backend.get::<Held>().0.shell();
        self.0.system_prompt(shell.is_some())
    }

    fn definitions(&self, backend: BackendBorrow<'_>) -> Vec<wit::Definition> {
        let shell = backend.get::<Held>().0.shell();
        let definitions = self.0.definitions(shell.is_some());
        let definitions = definitions.into_iter().map(|one| wit::Definition {
            name: one.name.to_owned(),
            description: one.description,
            input_schema: one.schema,
        });
        definitions.collect()
    }

    fn call(
        &self,
        backend: BackendBorrow<'_>,
        name: String,
        arguments: String,
        id: String,
    ) -> wit::Answer {
        let called = Tool::named(&name).map_or("", Tool::name);
        let backend = &*backend.get::<Held>().0;
        let answer = run(called, async {
            let input = arguments::parsed(&arguments);
            Ok(self.0.call(backend, &name, input, &id).await)
        });
        answered(answer.unwrap_or_else(failed))
    }
}

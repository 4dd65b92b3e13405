//! `createFileTools` and what adapters are made of.

use std::rc::Rc;

use crate::boundary::macros::{calls, options, words};
#[cfg(test)]
use crate::boundary::printed::{Node, Table};
use crate::boundary::{Field, Reader};
use crate::core::error::{Error, Kind, Result};
use crate::tool::ToolOptions;
use crate::tool::input::{Input, Value};
use crate::tool::offload::What;
use crate::tool::schema::{TABLE, Tool};

words! { What { Result = "result", Message = "message" } }

impl Field for Tool {
    fn read(reader: &mut Reader<'_>) -> Tool {
        let place = usize::from(reader.number());
        TABLE.get(place).map_or(Tool::Ls, |one| one.tool)
    }

    #[cfg(test)]
    fn kind() -> Node {
        let names: Vec<&str> = TABLE.iter().map(|one| one.name).collect();
        Node::words(&names)
    }
}

options! {
    /// A description that replaces the default.
    pub struct ToldTool {
        tool: Tool,
        text: String,
    }
}

options! {
    /// Options of a tool set.
    pub struct ToolsGiven {
        tools: Option<Vec<Tool>> [own],
        descriptions: Vec<ToldTool> [own],
        system_prompt: Option<String>,
        result_tokens: Option<usize> [own],
        message_tokens: Option<usize> [own],
        max_execute_timeout: usize [own],
        require_read_before_edit: bool = true,
    }
}

impl ToolsGiven {
    /// The options of the set.
    pub fn options(self) -> ToolOptions {
        let descriptions = self.descriptions.into_iter();
        ToolOptions {
            tools: self.tools,
            descriptions: descriptions.map(|one| (one.tool, one.text)).collect(),
            system_prompt: self.system_prompt,
            result_tokens: self.result_tokens,
            message_tokens: self.message_tokens,
            max_execute_timeout: self.max_execute_timeout,
            read_before_edit: self.require_read_before_edit,
        }
    }
}

calls! {
    /// What a model gives for one parameter. Of an array or object it only matters that it is one.
    pub enum ModelValue {
        Null {},
        Flag { is: bool },
        Number { is: f64 },
        Text { is: Rc<str> },
        Array {},
        Object {},
    }
}

options! {
    /// A parameter of a tool call.
    pub struct ModelMember {
        name: Rc<str>,
        value: ModelValue,
    }
}

calls! {
    /// The input of a tool call, or why it is none.
    pub enum ModelInput {
        Members { members: Vec<ModelMember> },
        Wrong { why: String },
    }
}

options! {
    /// A call of a tool.
    pub struct ToolCallGiven {
        input: ModelInput,
        name: String,
        call: String,
    }
}

impl ModelInput {
    /// As the tools take it.
    pub fn input(self) -> Result<Input> {
        let members = match self {
            ModelInput::Members { members } => members,
            ModelInput::Wrong { why } => return Err(Error::new(Kind::InvalidArgument, why)),
        };
        let member = |ModelMember { name, value }| {
            let value = match value {
                ModelValue::Null {} => Value::Null,
                ModelValue::Flag { is } => Value::Bool(is),
                ModelValue::Number { is } => Value::Number(is),
                ModelValue::Text { is } => Value::Text(is),
                ModelValue::Array {} => Value::Array,
                ModelValue::Object {} => Value::Object,
            };
            (name, value)
        };
        Ok(Input(members.into_iter().map(member).collect()))
    }
}

options! {
    /// For which backends the tools are described: `shell` is whether they run commands.
    pub struct DescribeGiven {
        shell: bool,
    }
}

options! {
    /// A text that may be too large for a model.
    pub struct OffloadGiven {
        text: Rc<str>,
        what: What,
        call: String,
        tool: String,
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        ToldTool::printed(),
        ToolsGiven::printed(),
        DescribeGiven::printed(),
        ModelValue::printed(),
        ModelMember::printed(),
        ModelInput::printed(),
        ToolCallGiven::printed(),
        OffloadGiven::printed(),
    ]
}

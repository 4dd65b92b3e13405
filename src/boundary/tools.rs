//! `createFileTools` and what adapters are made of.

use std::rc::Rc;

use crate::boundary::macros::{options, words};
#[cfg(test)]
use crate::boundary::printed::{Node, Table};
use crate::boundary::{Field, Reader};
use crate::tool::ToolOptions;
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
        OffloadGiven::printed(),
    ]
}

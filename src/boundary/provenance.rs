//! `withProvenance`.

use std::rc::Rc;
use std::time::Duration;

use crate::boundary::macros::{calls, options, words};
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::boundary::room::RoomGiven;
use crate::boundary::{Handle, Host};
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::provenance::{Flow, LabelRule, Patterns, Seen, Then};
use crate::protocol::Operation;

words! { Then { Refuse = "refuse", Ask = "ask" } }

options! {
    /// Files at some paths have a label.
    pub struct LabelGiven {
        paths: Vec<String> [least 1, wanted "an array of patterns such as [\"/web/**\"]"],
        r#as: Rc<str>,
    }
}

options! {
    /// Where content with a label may not go by itself.
    pub struct FlowGiven {
        from: Rc<str>,
        to: Vec<String> [least 1, wanted "an array of patterns such as [\"/web/**\"]"],
        then: Then,
    }
}

options! {
    /// Labels, flows, and where the labels of written files are kept.
    pub struct ProvenanceGiven {
        inner: Handle [own],
        labels: Vec<LabelGiven> [own],
        flows: Vec<FlowGiven> [own],
        on_ask: Option<Host>,
        ask_timeout_ms: Duration = 60000,
        room: Option<RoomGiven> [own],
    }
}

impl ProvenanceGiven {
    /// The rules about paths.
    pub fn labels(&self) -> Result<Vec<LabelRule>> {
        let rule = |given: &LabelGiven| {
            Ok(LabelRule {
                paths: patterns(&given.paths)?,
                label: given.r#as.clone(),
            })
        };
        self.labels.iter().map(rule).collect()
    }

    /// The rules about where content may go.
    pub fn flows(&self) -> Result<Vec<Flow>> {
        let flow = |given: &FlowGiven| {
            Ok(Flow {
                from: given.from.clone(),
                to: patterns(&given.to)?,
                then: given.then,
            })
        };
        self.flows.iter().map(flow).collect()
    }
}

fn patterns(given: &[String]) -> Result<Patterns> {
    Patterns::parse(given.iter().map(String::as_str))
}

options! {
    /// Something labelled that a conversation has read.
    pub struct ReadGiven {
        label: Rc<str>,
        path: VPath,
        operation: Operation = "read",
    }
}

impl ReadGiven {
    /// As the conversation knows it.
    pub fn seen(self) -> Seen {
        Seen {
            label: self.label,
            path: self.path,
            operation: self.operation,
        }
    }
}

calls! {
    /// Calls about what a conversation has read, which reply at once.
    pub enum TaintCall {
        Reads {},
        Clear {},
        Conversation { reads: Vec<ReadGiven> },
    }
}

calls! {
    /// Calls about the labels of files.
    pub enum LabelsCall {
        Labels { path: VPath },
        Trust { path: VPath },
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        LabelGiven::printed(),
        FlowGiven::printed(),
        ProvenanceGiven::printed(),
        ReadGiven::printed(),
        TaintCall::printed(),
        LabelsCall::printed(),
    ]
}

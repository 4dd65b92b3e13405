//! The resource `conversation`: labels, flows, and what was read.

use std::rc::Rc;

use kitbag::core::error::Result;
use kitbag::core::path::VPath;
use kitbag::layer::provenance::{
    Flow, LabelRule, Options, Provenance, Seen, Then, label, patterns, seen,
};
use kitbag::protocol::SharedBackend;

use crate::backends::Held;
use crate::bindings::exports::kitbag::files::backends::{Backend, BackendBorrow};
use crate::bindings::exports::kitbag::files::provenance as wit;
use crate::bindings::kitbag::files::{rules, types};
use crate::run::answered;
use crate::{callbacks, given};

/// A conversation that the host holds.
pub struct HeldConversation(Rc<Provenance>);

type Answer<T> = Result<T, types::Error>;

/// The file of labels if nobody says.
const LABELS: &str = "/labels.tsv";

fn options(base: &SharedBackend, given: wit::LabelOptions<'_>) -> Result<Options> {
    let rule = |rule: wit::LabelRule| {
        Ok(LabelRule {
            paths: patterns(&rule.paths)?,
            label: label(&rule.label)?,
        })
    };
    let flow = |flow: wit::Flow| {
        Ok(Flow {
            from: label(&flow.label)?,
            to: patterns(&flow.to)?,
            then: match flow.mode {
                wit::FlowMode::Refuse => Then::Refuse,
                wit::FlowMode::Ask => Then::Ask,
            },
        })
    };
    let labels: Result<Vec<LabelRule>> = given.labels.into_iter().map(rule).collect();
    let flows: Result<Vec<Flow>> = given.flows.into_iter().map(flow).collect();
    let file = given.keep_in.as_ref();
    let file = file.map(|place| given::label_file(base, place, LABELS));
    let options = Options {
        labels: labels?,
        flows: flows?,
        ask: given.host.map(|name| callbacks::asking_flow(name.into())),
        file: file.transpose()?,
    };
    options.checked()
}

/// What was read, as a host sees it.
pub fn read(seen: &Seen) -> rules::LabelledRead {
    rules::LabelledRead {
        label: seen.label.to_string(),
        path: seen.path.as_str().to_owned(),
        operation: seen.operation.name().to_owned(),
    }
}

fn held(conversation: Provenance) -> wit::Conversation {
    wit::Conversation::new(HeldConversation(Rc::new(conversation)))
}

impl wit::GuestConversation for HeldConversation {
    fn begin(base: BackendBorrow<'_>, given: wit::LabelOptions<'_>) -> Answer<wit::Conversation> {
        let base = base.get::<Held>().0.clone();
        answered("begin", async {
            let options = options(&base, given)?;
            Ok(held(Provenance::new(base, options)))
        })
    }

    fn another(&self, reads: Vec<rules::LabelledRead>) -> Answer<wit::Conversation> {
        answered("another", async {
            let reads = reads.iter();
            let reads = reads.map(|one| seen(&one.label, &one.path, &one.operation));
            let reads: Vec<Seen> = reads.collect::<Result<_>>()?;
            Ok(held(self.0.conversation(reads)))
        })
    }

    fn files(&self) -> Backend {
        Backend::new(Held(self.0.clone()))
    }

    fn reads(&self) -> Vec<rules::LabelledRead> {
        self.0.taint().seen().iter().map(read).collect()
    }

    fn clear(&self) {
        self.0.taint().clear();
    }

    fn labels(&self, path: String) -> Answer<Vec<String>> {
        answered("labels", async {
            let labels = self.0.labels(&VPath::parse(&path)?).await?;
            Ok(labels.iter().map(|label| label.to_string()).collect())
        })
    }

    fn trust(&self, path: String) -> Answer<()> {
        answered("trust", async { self.0.trust(&VPath::parse(&path)?).await })
    }
}

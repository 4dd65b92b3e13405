//! Whether labelled content may go where a call would put it: yes, no, or a person decides. Errors
//! and silence count as a refusal, as with a policy's `onAsk`.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, LocalBoxFuture, select};

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::layer::folding::Folding;
use crate::layer::provenance::labels::{Flow, Labels, Then};
use crate::protocol::{Operation, Seen};

/// Most characters of a preview.
const SHOWN: usize = 2000;

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowQuestion {
    /// The call that would put labelled content somewhere.
    pub operation: Operation,
    /// Where; the root for a command.
    pub path: VPath,
    /// What would be written, shortened; of a move or copy, both paths of each file; the command.
    pub preview: String,
    /// The labels that a rule names.
    pub labels: Labels,
    /// What was read with these labels, and by which call.
    pub reads: Vec<Seen>,
}

/// Asks for approval; an error counts as a refusal.
pub type OnFlow = Rc<dyn Fn(FlowQuestion) -> LocalBoxFuture<'static, Result<bool>>>;

/// Resolves after the given time.
pub type Sleep = Rc<dyn Fn(Duration) -> LocalBoxFuture<'static, ()>>;

/// The approval callback and its timeout.
pub struct AskFlow {
    /// The callback.
    pub on_ask: OnFlow,
    /// No answer within this time counts as a refusal.
    pub timeout: Duration,
    /// The timer, replaceable by tests.
    pub sleep: Sleep,
}

/// The rules about flows.
pub(super) struct Gate {
    pub(super) flows: Vec<Flow>,
    pub(super) ask: Option<AskFlow>,
    pub(super) folding: Rc<Folding>,
}

/// What the rules say of content with some labels.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Judgement {
    /// Labels that may not go there.
    pub(super) refused: Labels,
    /// Labels that need a question.
    pub(super) asked: Labels,
}

impl Gate {
    /// Judges content with these labels for one file; for any file if there is no path.
    pub(super) fn judge(&self, labels: &Labels, path: Option<&VPath>, into: &mut Judgement) {
        for flow in &self.flows {
            if labels.has(&flow.from) && path.is_none_or(|path| flow.to.accept(path, &self.folding))
            {
                match flow.then {
                    Then::Refuse => into.refused.add(&flow.from),
                    Then::Ask => into.asked.add(&flow.from),
                }
            }
        }
    }

    /// Refuses, asks, or lets pass.
    pub(super) async fn pass(
        &self,
        judged: &Judgement,
        operation: Operation,
        path: &VPath,
        reads: Vec<Seen>,
        preview: impl FnOnce() -> String,
    ) -> Result<()> {
        if let Some(label) = judged.refused.iter().next() {
            let how = reads.iter().find(|seen| seen.label == *label);
            return Err(refusal(operation, path, &because(label, how)));
        }
        let Some(label) = judged.asked.iter().next() else {
            return Ok(());
        };
        let why = because(label, reads.iter().find(|seen| seen.label == *label));
        let refuse = |and: &str| refusal(operation, path, &format!("{why}; {and}"));
        let Some(ask) = &self.ask else {
            return Err(refuse("there is nobody to be asked"));
        };
        let question = FlowQuestion {
            operation,
            path: path.clone(),
            preview: preview(),
            labels: judged.asked.clone(),
            reads: reads
                .into_iter()
                .filter(|seen| judged.asked.has(&seen.label))
                .collect(),
        };
        match select((ask.on_ask)(question), (ask.sleep)(ask.timeout)).await {
            Either::Left((Ok(true), _)) => Ok(()),
            Either::Left((Ok(false), _)) => Err(refuse("it was asked for and not allowed")),
            Either::Left((Err(error), _)) => {
                let refusal = refuse("it had to be asked for, and asking failed");
                Err(match error.cause() {
                    Some(cause) => refusal.caused_by(cause.clone()),
                    None => refusal,
                })
            }
            Either::Right(_) => Err(refuse("it was asked for, and nobody answered in time")),
        }
    }
}

fn because(label: &str, how: Option<&Seen>) -> String {
    match how {
        Some(Seen {
            path, operation, ..
        }) if *operation != Operation::Execute => format!(
            ": it may carry content labelled '{label}' from {} ({})",
            path.as_str(),
            operation.name()
        ),
        _ => format!(": it may carry content labelled '{label}'"),
    }
}

fn refusal(operation: Operation, path: &VPath, why: &str) -> Error {
    Error::at(
        Kind::PermissionDenied,
        format!("Error: permission denied for {} on ", operation.name()),
        path,
        format!("{why}. A person can clear the conversation or make the change."),
    )
    .by_rule()
    .decided_by("flows")
}

/// A text for a question, shortened.
pub(super) fn shortened(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

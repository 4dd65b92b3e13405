//! What a step came to: what was changed, and what is known of its paths now.

use bytes::Bytes;

use super::plan::Side;
use super::{Change, Changed, Conflict, Refusal};
use crate::core::error::Error;
use crate::core::path::VPath;
use crate::pins::Digest;

/// What is known of a path after its step.
pub enum End {
    /// Both sides hold this.
    Agreed {
        digest: Digest,
        size: u64,
        /// The content, if it is at hand.
        body: Option<Bytes>,
        /// The sides that were written, whose listings are not known.
        written: Vec<Side>,
    },
    /// Neither side has it.
    Gone,
    /// Nobody knows what was made.
    Open,
}

/// What a step came to.
#[derive(Default)]
pub struct Done {
    pub ends: Vec<(VPath, End)>,
    pub changed: Vec<Change>,
    pub conflicts: Vec<Conflict>,
    pub refused: Vec<Refusal>,
    /// Bytes that were written.
    pub sent: u64,
}

impl Done {
    /// A side did not do something. After an error that says nothing, nobody knows whether it did.
    pub fn refused(mut self, path: &VPath, side: Side, error: Error) -> Done {
        if error.is_no_answer() {
            self.ends.push((path.clone(), End::Open));
        }
        self.refused.push(Refusal {
            path: path.clone(),
            side,
            error,
        });
        self
    }

    /// Something was changed.
    pub fn changed(&mut self, path: &VPath, side: Side, what: Changed) {
        self.changed.push(Change {
            path: path.clone(),
            side,
            what,
        });
    }

    /// A conflict was settled, or left.
    pub fn conflict(&mut self, conflict: Conflict) {
        self.conflicts.push(conflict);
    }

    /// Both sides hold this now.
    pub fn agreed(mut self, path: &VPath, body: Bytes, written: &[Side]) -> Done {
        let end = End::Agreed {
            digest: Digest::of(&body),
            size: body.len() as u64,
            body: Some(body),
            written: written.to_vec(),
        };
        self.ends.push((path.clone(), end));
        self
    }

    /// Neither side has it any more.
    pub fn gone(mut self, path: &VPath) -> Done {
        self.ends.push((path.clone(), End::Gone));
        self
    }

    /// Both.
    pub fn and(mut self, more: Done) -> Done {
        self.ends.extend(more.ends);
        self.changed.extend(more.changed);
        self.conflicts.extend(more.conflicts);
        self.refused.extend(more.refused);
        self.sent += more.sent;
        self
    }
}

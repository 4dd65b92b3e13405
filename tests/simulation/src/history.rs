//! What happened: the calls with their times and outcomes, and the faults. A call says beforehand
//! what it may do to which file, so that a call without an answer still counts.

use crate::body::Value;

/// What a call does to one file, or has seen of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Stores this, whatever was there.
    Set(Value),
    /// Stores this where there was nothing.
    Create(Value),
    /// Appends a mark to the text.
    Append(u32),
    /// Replaces the first by the second.
    Swap(Value, Value),
    /// Removes the file, which was there.
    Remove,
    /// Removes the file if it had this content.
    RemoveIf(Value),
    /// Removes what is there, if anything.
    Clear,
    /// Saw the file in this state.
    Saw(Value),
    /// Saw that the file exists.
    SawSome,
    /// Saw that the file has another content.
    SawOther(Value),
    /// Saw a file of that size.
    SawSize(u64),
    /// Saw these lines of the file: offset, limit, and the bytes.
    SawPage(usize, usize, bytes::Bytes),
    /// Saw that the file has this mark, or that it has not.
    SawMark(u32, bool),
}

impl Step {
    /// Whether it changes the file.
    pub fn changes(&self) -> bool {
        matches!(
            self,
            Step::Set(_)
                | Step::Create(_)
                | Step::Append(_)
                | Step::Swap(..)
                | Step::Remove
                | Step::RemoveIf(_)
                | Step::Clear
        )
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It has not ended.
    Running,
    /// It was answered, and what it did is known.
    Answered,
    /// It was answered, but whether it was done is not known.
    Unknown,
    /// The caller gave it up.
    Cancelled,
    /// The client crashed.
    Crashed,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The lane that called.
    pub lane: usize,
    /// The client (instance) that was called.
    pub client: usize,
    /// The operation.
    pub name: &'static str,
    /// Path and details, for people.
    pub about: String,
    /// When it began and ended: a number of the world's sequence, and microseconds.
    pub began: (u64, u64),
    /// Likewise.
    pub ended: (u64, u64),
    /// How it ended.
    pub end: End,
    /// The outcome, for people.
    pub outcome: String,
    /// What it may do, by path.
    pub intent: Vec<(String, Step)>,
    /// What it has done or seen, by path, once it is answered.
    pub facts: Vec<(String, Step)>,
    /// Paths whose outcome is unknown although the call was answered.
    pub unsure: Vec<(String, Step)>,
}

/// A fault.
#[derive(Clone, Debug)]
pub struct Fault {
    /// When, in microseconds.
    pub at: u64,
    /// The client that met it.
    pub client: usize,
    /// What it was.
    pub what: String,
}

/// A history.
#[derive(Default)]
pub struct History {
    /// The calls in the order in which they began.
    pub calls: Vec<Call>,
    /// The faults in order.
    pub faults: Vec<Fault>,
    /// What must never happen, and did.
    pub violations: Vec<String>,
}

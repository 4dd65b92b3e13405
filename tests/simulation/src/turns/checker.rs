//! The checker of histories: it looks for an order of the changes that explains all that was read and
//! what is there in the end.

use std::collections::{BTreeMap, BTreeSet};

pub type Tree = BTreeMap<&'static str, String>;

/// What a change does to a file, as its author means it.
#[derive(Clone, Debug)]
pub enum Write {
    Put(String),
    Delete,
    /// Replaces the first line, or the last.
    Line(bool, String),
}

/// What a change must find.
#[derive(Clone, Debug)]
pub enum Read {
    File(&'static str, Option<String>),
    Names(BTreeSet<&'static str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    /// It was broken off; it happened, or it did not.
    Unknown,
}

/// A change that may have happened.
#[derive(Clone, Debug)]
pub struct Change {
    pub began: usize,
    pub ended: usize,
    pub end: End,
    pub reads: Vec<Read>,
    pub writes: Vec<(&'static str, Write)>,
    /// It takes back the change with this index.
    pub undoes: Option<usize>,
}

pub fn with_line(text: &str, first: bool, line: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = if first { 0 } else { lines.len() - 1 };
    lines[at] = line;
    lines.concat()
}

/// The state of a tree after a change, and what its files were before; `None` if the change could
/// not have happened there.
type Step = (Tree, Vec<(&'static str, Option<String>, Option<String>)>);

/// Whether a plain call and a commit deleted this file at the same moment. A commit with a journal
/// takes a file that is as it should be for its own step, so both succeed.
fn is_deleted_twice(change: &Change, changes: &[Change], file: &str) -> bool {
    let deletes = |other: &Change| {
        let mut writes = other.writes.iter();
        writes.any(|(at, write)| *at == file && matches!(write, Write::Delete))
    };
    changes.iter().any(|other| {
        !std::ptr::eq(other, change)
            && deletes(other)
            && other.began <= change.ended
            && change.began <= other.ended
    })
}

fn applied(
    tree: &Tree,
    change: &Change,
    changes: &[Change],
    made: &BTreeMap<usize, Step>,
) -> Option<Step> {
    for read in &change.reads {
        let holds = match read {
            Read::File(file, seen) => tree.get(file) == seen.as_ref(),
            Read::Names(names) => tree.keys().copied().collect::<BTreeSet<_>>() == *names,
        };
        if !holds {
            return None;
        }
    }
    let mut next = tree.clone();
    let mut steps = Vec::new();
    if let Some(undone) = change.undoes {
        for (file, before, after) in &made.get(&undone)?.1 {
            if tree.get(file) != after.as_ref() {
                return None;
            }
            steps.push((*file, after.clone(), before.clone()));
        }
    }
    for (file, write) in &change.writes {
        let now = tree.get(file).cloned();
        let after = match write {
            Write::Put(text) => Some(text.clone()),
            Write::Delete => {
                if now.is_none() && !is_deleted_twice(change, changes, file) {
                    return None;
                }
                None
            }
            Write::Line(first, line) => Some(with_line(now.as_ref()?, *first, line)),
        };
        steps.push((*file, now, after));
    }
    for (file, _, after) in &steps {
        match after {
            Some(text) => next.insert(file, text.clone()),
            None => next.remove(file),
        };
    }
    Some((next, steps))
}

/// Whether some order of the changes explains the last tree.
pub fn explained(
    tree: &Tree,
    changes: &[Change],
    left: &BTreeSet<usize>,
    made: &mut BTreeMap<usize, Step>,
    last: &Tree,
    failed: &mut BTreeSet<String>,
) -> bool {
    if left.iter().all(|at| changes[*at].end == End::Unknown) && tree == last {
        return true;
    }
    // What is left and what was made decide how it goes on.
    let undone = |at: &usize| changes.iter().any(|change| change.undoes == Some(*at));
    let kept = made.iter().filter(|(at, _)| undone(at));
    let key = format!(
        "{left:?} {tree:?} {:?}",
        kept.map(|(at, step)| (at, &step.1)).collect::<Vec<_>>()
    );
    if failed.contains(&key) {
        return false;
    }
    for at in left {
        let change = &changes[*at];
        // What had ended before this one began comes first.
        let earlier = |other: &usize| {
            changes[*other].end == End::Done && changes[*other].ended < change.began
        };
        if left.iter().any(earlier) {
            continue;
        }
        let Some(step) = applied(tree, change, changes, made) else {
            continue;
        };
        let mut rest = left.clone();
        rest.remove(at);
        let next = step.0.clone();
        made.insert(*at, step);
        if explained(&next, changes, &rest, made, last, failed) {
            return true;
        }
        made.remove(at);
    }
    failed.insert(key);
    false
}

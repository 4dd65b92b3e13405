//! What is done about one path: a pure function of what was agreed and of what both sides have now. It
//! reads nothing and writes nothing, so all of its combinations are tested.
//!
//! | | unchanged | edited | deleted |
//! |---|---|---|---|
//! | **unchanged** | nothing | send the edit | delete |
//! | **edited** | send the edit | merge, or keep both | send the edit |
//! | **deleted** | delete | send the edit | forget |
//!
//! Where nothing was agreed, a file of one side is sent, and two different files are kept both.

use crate::core::bugs::{Bug, has};
use crate::core::order;
use crate::core::path::VPath;
use crate::pins::Digest;

/// One of the two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

impl Side {
    /// Both, in order.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    /// The other one.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

/// Something of each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair<T> {
    /// That of the first.
    pub a: T,
    /// That of the second.
    pub b: T,
}

impl<T> Pair<T> {
    /// The same, lent.
    pub fn as_ref(&self) -> Pair<&T> {
        Pair {
            a: &self.a,
            b: &self.b,
        }
    }

    /// That of a side.
    pub fn of(&self, side: Side) -> &T {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }
}

/// What a side has at a path now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// No file.
    Nothing,
    /// What was agreed.
    Agreed,
    /// A file with another content, or with the agreed one written again.
    Holds(Digest),
    /// A file whose content decides nothing.
    Unread,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Nothing,
    /// Both sides hold this: it is noted.
    Agree(Digest),
    /// Neither side has it any more: what was agreed is forgotten.
    Forget,
    /// The file of this side is sent to the other one.
    Send(Side),
    /// The file of this side is deleted, as the other side did.
    Delete(Side),
    /// The file of this side is moved here from another path, as the other side did.
    Move(Side, VPath),
    /// The file of this side is moved away by the step of its new path.
    Moved(Side),
    /// Both sides changed it: merged if `merges` and the texts allow it, else it is a conflict.
    Settle {
        /// Whether what was agreed is the common ancestor of both.
        merges: bool,
    },
}

/// What is done about one path.
pub fn step(agreed: Option<Digest>, now: Pair<Now>) -> Step {
    use Now::{Agreed, Holds, Nothing, Unread};
    if has(Bug::SyncDeleteFirst) && agreed.is_some() {
        match (now.a, now.b) {
            (Nothing, Holds(_)) => return Step::Delete(Side::B),
            (Holds(_), Nothing) => return Step::Delete(Side::A),
            _ => {}
        }
    }
    match (now.a, now.b) {
        (Nothing, Nothing) if agreed.is_some() => Step::Forget,
        (Nothing, Nothing) | (Agreed, Agreed) => Step::Nothing,
        (Nothing, Agreed) => Step::Delete(Side::B),
        (Agreed, Nothing) => Step::Delete(Side::A),
        (Nothing, Holds(_) | Unread) => Step::Send(Side::B),
        (Holds(_) | Unread, Nothing) => Step::Send(Side::A),
        (Holds(a), Holds(b)) if a == b => Step::Agree(a),
        (Agreed, Holds(one)) | (Holds(one), Agreed) if Some(one) == agreed => Step::Agree(one),
        (Agreed, Holds(_) | Unread) => Step::Send(Side::B),
        (Holds(_) | Unread, Agreed) => Step::Send(Side::A),
        (Holds(a), Holds(b)) => Step::Settle {
            // A side that wrote the agreed content again did so on purpose: a merge would undo it.
            merges: agreed.is_some_and(|agreed| agreed != a && agreed != b),
        },
        (Unread, Holds(_) | Unread) | (Holds(_), Unread) => Step::Settle { merges: false },
    }
}

/// A path with what is done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The path.
    pub path: VPath,
    /// The content that was agreed.
    pub agreed: Option<Digest>,
    /// What the sides have.
    pub now: Pair<Now>,
    /// What is done.
    pub step: Step,
}

impl AsRef<Planned> for Planned {
    fn as_ref(&self) -> &Planned {
        self
    }
}

impl AsMut<Planned> for Planned {
    fn as_mut(&mut self) -> &mut Planned {
        self
    }
}

/// Makes moves of deletions and of new files with the same content: a side that deleted a file and has
/// the same one at a new path has moved it.
pub fn find_moves<T: AsRef<Planned> + AsMut<Planned>>(planned: &mut [T]) {
    let mut gone: Vec<(Digest, Side, usize)> = Vec::new();
    for (at, one) in planned.iter().map(AsRef::as_ref).enumerate() {
        if let (Step::Delete(side), Some(agreed)) = (&one.step, one.agreed) {
            gone.push((agreed, *side, at));
        }
    }
    order::sort(&mut gone);
    // Of the equal contents from a place on, how many are moved already: the first path comes first.
    let mut moved = vec![0; gone.len()];
    for at in 0..planned.len() {
        let Some(one) = planned.get(at).map(AsRef::as_ref) else {
            continue;
        };
        let (Step::Send(from), None) = (&one.step, one.agreed) else {
            continue;
        };
        let (Now::Holds(digest), to) = (*one.now.of(*from), from.other()) else {
            continue;
        };
        let first = gone.partition_point(|(agreed, side, _)| (*agreed, *side) < (digest, to));
        let Some(before) = moved.get_mut(first) else {
            continue;
        };
        let next = gone.get(first + *before);
        let is_it = |(agreed, side, _): &&(Digest, Side, usize)| (*agreed, *side) == (digest, to);
        // A file that became a directory, or the other way round, is no move.
        let new = one.path.clone();
        let is_apart = |old: &&mut Planned| !old.path.is_under(&new) && !new.is_under(&old.path);
        let Some(old) = next
            .filter(is_it)
            .and_then(|(_, _, old)| planned.get_mut(*old))
            .map(AsMut::as_mut)
            .filter(is_apart)
        else {
            continue;
        };
        *before += 1;
        if has(Bug::SyncMoveHalved) {
            if let Some(new) = planned.get_mut(at).map(AsMut::as_mut) {
                new.step = Step::Agree(digest);
            }
            continue;
        }
        old.step = Step::Moved(to);
        let from = old.path.clone();
        if let Some(new) = planned.get_mut(at).map(AsMut::as_mut) {
            new.step = Step::Move(to, from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::path;

    fn digest(text: &str) -> Digest {
        Digest::of(text.as_bytes())
    }

    /// What a side can have done: none of these is equal to another one.
    fn all(agreed: bool) -> Vec<(&'static str, Now)> {
        let mut all = vec![
            ("nothing", Now::Nothing),
            ("x", Now::Holds(digest("x"))),
            ("y", Now::Holds(digest("y"))),
            ("unread", Now::Unread),
        ];
        if agreed {
            all.push(("agreed", Now::Agreed));
            all.push(("again", Now::Holds(digest("agreed"))));
        }
        all
    }

    #[test]
    fn the_table_of_nine_meanings() {
        use Now::{Agreed, Holds, Nothing};
        let (x, y) = (Holds(digest("x")), Holds(digest("y")));
        let rows = [
            (Agreed, Agreed, Step::Nothing),
            (Agreed, y, Step::Send(Side::B)),
            (Agreed, Nothing, Step::Delete(Side::A)),
            (x, Agreed, Step::Send(Side::A)),
            (x, y, Step::Settle { merges: true }),
            (x, x, Step::Agree(digest("x"))),
            (x, Nothing, Step::Send(Side::A)),
            (Nothing, Agreed, Step::Delete(Side::B)),
            (Nothing, y, Step::Send(Side::B)),
            (Nothing, Nothing, Step::Forget),
        ];
        for (a, b, wanted) in rows {
            assert_eq!(step(Some(digest("agreed")), Pair { a, b }), wanted);
        }
        let new = [
            (x, Nothing, Step::Send(Side::A)),
            (Nothing, y, Step::Send(Side::B)),
            (x, x, Step::Agree(digest("x"))),
            (x, y, Step::Settle { merges: false }),
            (Nothing, Nothing, Step::Nothing),
        ];
        for (a, b, wanted) in new {
            assert_eq!(step(None, Pair { a, b }), wanted);
        }
    }

    #[test]
    fn every_combination_keeps_every_edit() {
        for agreed in [None, Some(digest("agreed"))] {
            for (of_a, a) in all(agreed.is_some()) {
                for (of_b, b) in all(agreed.is_some()) {
                    let done = step(agreed, Pair { a, b });
                    let what = format!("{of_a} and {of_b}: {done:?}");
                    let is_edit = |now| matches!(now, Now::Holds(_) | Now::Unread);
                    match done {
                        // Only what both sides knew is deleted or replaced.
                        Step::Delete(Side::A) => assert_eq!((a, b), (Now::Agreed, Now::Nothing)),
                        Step::Delete(Side::B) => assert_eq!((b, a), (Now::Agreed, Now::Nothing)),
                        Step::Send(Side::A) => assert!(is_edit(a) && !is_edit(b), "{what}"),
                        Step::Send(Side::B) => assert!(is_edit(b) && !is_edit(a), "{what}"),
                        Step::Agree(one) => {
                            let holds = |now| now == Now::Holds(one);
                            let is_old = agreed == Some(one);
                            assert!(holds(a) || is_old && a == Now::Agreed, "{what}");
                            assert!(holds(b) || is_old && b == Now::Agreed, "{what}");
                        }
                        Step::Settle { merges } => {
                            assert!(is_edit(a) && is_edit(b) && (a != b || a == Now::Unread));
                            let again = ["again", "unread"];
                            let is_clear = !again.contains(&of_a) && !again.contains(&of_b);
                            assert_eq!(merges, agreed.is_some() && is_clear, "{what}");
                        }
                        Step::Forget => assert_eq!((a, b), (Now::Nothing, Now::Nothing)),
                        Step::Nothing => assert!(a == b && !is_edit(a), "{what}"),
                        Step::Move(..) | Step::Moved(_) => panic!("{what}"),
                    }
                    // The sides have the same rights.
                    let mirrored = match step(agreed, Pair { a: b, b: a }) {
                        Step::Send(side) => Step::Send(side.other()),
                        Step::Delete(side) => Step::Delete(side.other()),
                        same => same,
                    };
                    assert_eq!(mirrored, done, "{what}");
                }
            }
        }
    }

    fn planned(name: &str, agreed: Option<&str>, a: Now, b: Now) -> Planned {
        let (agreed, now) = (agreed.map(digest), Pair { a, b });
        Planned {
            path: path(name),
            agreed,
            now,
            step: step(agreed, now),
        }
    }

    #[test]
    fn a_file_that_went_to_a_new_path_is_moved() {
        let held = |text| Now::Holds(digest(text));
        let mut all = [
            planned("/a", Some("one"), Now::Nothing, Now::Agreed),
            planned("/b", Some("one"), Now::Nothing, Now::Agreed),
            planned("/c", Some("two"), Now::Agreed, Now::Nothing),
            planned("/new/a", None, held("one"), Now::Nothing),
            planned("/new/b", None, held("one"), Now::Nothing),
            planned("/new/d", None, held("one"), Now::Nothing),
            planned("/new/e", None, held("two"), Now::Nothing),
        ];
        find_moves(&mut all);
        let steps: Vec<Step> = all.iter().map(|one| one.step.clone()).collect();
        let wanted = [
            Step::Moved(Side::B),
            Step::Moved(Side::B),
            // The side that has the new file is the one that still has the old one.
            Step::Delete(Side::A),
            Step::Move(Side::B, path("/a")),
            Step::Move(Side::B, path("/b")),
            Step::Send(Side::A),
            Step::Send(Side::A),
        ];
        assert_eq!(steps, wanted);
    }

    #[test]
    fn a_file_that_became_a_directory_is_not_moved_into_itself() {
        let held = |text| Now::Holds(digest(text));
        for (old, new) in [("/a", "/a/b"), ("/a/b", "/a")] {
            let mut all = [
                planned(old, Some("one"), Now::Nothing, Now::Agreed),
                planned(new, None, held("one"), Now::Nothing),
            ];
            find_moves(&mut all);
            assert_eq!(all[0].step, Step::Delete(Side::B));
            assert_eq!(all[1].step, Step::Send(Side::A));
        }
    }

    #[test]
    fn an_edited_file_is_not_moved() {
        let mut all = [
            planned("/a", Some("one"), Now::Nothing, Now::Holds(digest("more"))),
            planned("/new", None, Now::Holds(digest("one")), Now::Nothing),
        ];
        find_moves(&mut all);
        assert_eq!(all[0].step, Step::Send(Side::B));
        assert_eq!(all[1].step, Step::Send(Side::A));
    }
}

//! What a search may find: for each file, what changes of it have begun and ended, and when.

use std::collections::BTreeMap;

/// What a file holds: a word and the number of the change that wrote it; `None` if there is no file.
pub type Held = Option<(usize, u64)>;

/// A change of a file.
struct Change {
    begun: u64,
    /// When it ended; `None` if it may still be made.
    ended: Option<u64>,
    /// What it stores; `None` if that is not known.
    stores: Option<Held>,
}

/// All changes.
#[derive(Default)]
pub struct Model {
    now: u64,
    files: BTreeMap<String, Vec<Change>>,
}

impl Model {
    /// The time, which passes with each question.
    pub fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// A change begins; returns its number among those of the file.
    pub fn begin(&mut self, path: &str, stores: Option<Held>) -> usize {
        let begun = self.tick();
        let changes = self.files.entry(path.to_owned()).or_default();
        changes.push(Change {
            begun,
            ended: None,
            stores,
        });
        changes.len() - 1
    }

    /// A change has ended, and was made or not.
    pub fn end(&mut self, path: &str, number: usize, was_made: bool) {
        let now = self.tick();
        let changes = self.files.get_mut(path).expect("a file");
        match was_made {
            true => changes[number].ended = Some(now),
            // As if it had never been.
            false => changes[number].begun = u64::MAX,
        }
    }

    /// Nothing is under way, and this is what a file holds.
    pub fn settle(&mut self, path: &str, holds: Held) {
        let now = self.tick();
        let changes = self.files.entry(path.to_owned()).or_default();
        changes.clear();
        changes.push(Change {
            begun: now,
            ended: Some(now),
            stores: Some(holds),
        });
    }

    /// Whether a search from `begun` until now may have found this in a file.
    pub fn allows(&self, path: &str, begun: u64, found: impl Fn(Held) -> bool) -> bool {
        let empty = Vec::new();
        let changes = self.files.get(path).unwrap_or(&empty);
        // A change is over if another one has begun after it, and has ended before the search began.
        let is_over = |since: Option<u64>| {
            since.is_some_and(|since| {
                changes
                    .iter()
                    .any(|one| one.begun > since && one.ended.is_some_and(|ended| ended < begun))
            })
        };
        let at_first = !is_over(Some(0)) && found(None);
        at_first
            || changes.iter().any(|one| {
                one.begun != u64::MAX && !is_over(one.ended) && one.stores.is_none_or(&found)
            })
    }
}

//! Whether pins are whole, and whether files were changed past the history.

use std::rc::Rc;

use super::History;
use super::note::millis;
use super::pins::root_of;
use super::store::Record;
use super::walk::walk;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::pins::{Digest, Digests, Found, Leaf};
use crate::protocol::BackendExt;

/// How many files are read at once.
const AT_ONCE: usize = 32;

/// Clocks of several machines differ by less, in milliseconds.
const CLOCKS: i64 = 60_000;

/// Something that a pin names and that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// A file; or, if a part of the list of files is gone, the text at which the paths in it begin.
    pub path: Rc<str>,
    /// Whether a part of the list of files is gone, and not a content.
    pub is_list: bool,
    /// Whether nothing is there; otherwise something else is.
    pub is_missing: bool,
    /// Its digest, in hexadecimal: the name of its file.
    pub digest: Rc<str>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// What is gone, in order of the paths.
    pub lost: Vec<Loss>,
    /// Files of the backend that were changed past the history, in order.
    pub drifted: Vec<VPath>,
}

/// What a file may hold, as far as it is known; `Some(None)` is no file.
#[derive(Default)]
struct Expected {
    pinned: Option<Option<Digest>>,
    noted: Option<Option<Digest>>,
}

impl History {
    /// Reads all that a pin, or every pin, names, and all files of the backend.
    pub fn verify<'a>(&'a self, pin: Option<&'a str>) -> Pending<'a, Verified> {
        Box::pin(async move {
            let pins = self.store.pins().await?;
            let mut chosen: Vec<&Record> = pins.iter().filter(|pin| pin.root.is_some()).collect();
            if let Some(pin) = pin {
                let root = root_of(pin)?;
                chosen.retain(|record| record.root == Some(root));
                if chosen.is_empty() {
                    return Err(Error::new(
                        Kind::NotFound,
                        format!("There is no pin '{pin}'; pins() lists those that are kept"),
                    ));
                }
            }
            let mut lost = Vec::new();
            // Contents that were read, and those that are gone: whether nothing is there.
            let mut read = Digests::default();
            let mut gone: Vec<(Digest, bool)> = Vec::new();
            let mut newest: Option<(i64, Vec<Leaf>)> = None;
            let mut seen = Digests::default();
            for record in &chosen {
                let Some(root) = record.root else { continue };
                let mut leaves: Vec<Leaf> = Vec::new();
                // The newest tree is needed whole.
                let is_last = chosen.last().is_some_and(|last| last.name == record.name);
                let mut all = Digests::default();
                let visited = if is_last { &mut all } else { &mut seen };
                let mut visit = |leaf: &Leaf| leaves.push(leaf.clone());
                for node in walk(&self.store.objects(), root, visited, &mut visit).await? {
                    lost.push(Loss {
                        path: node.from,
                        is_list: true,
                        is_missing: node.is_missing,
                        digest: node.digest.hex().into(),
                    });
                }
                let mut named = Digests::default();
                named.add(leaves.iter().map(|leaf| leaf.digest));
                for digest in named.list().iter().filter(|digest| !read.has(digest)) {
                    match self.store.objects().body(digest).await? {
                        Found::Whole(_) => {}
                        Found::Missing => gone.push((*digest, true)),
                        Found::Damaged => gone.push((*digest, false)),
                    }
                }
                read.add(named.list().iter().copied());
                for leaf in &leaves {
                    let state = gone.iter().find(|(digest, _)| *digest == leaf.digest);
                    let state = state.map(|(_, is_missing)| *is_missing);
                    if let Some(is_missing) = state {
                        lost.push(Loss {
                            path: leaf.path.as_str().into(),
                            is_list: false,
                            is_missing,
                            digest: leaf.digest.hex().into(),
                        });
                    }
                }
                if is_last {
                    newest = Some((record.micros / 1000, leaves));
                }
            }
            order::sort_by(&mut lost, |a, b| {
                (&a.path, &a.digest).cmp(&(&b.path, &b.digest))
            });
            lost.dedup();
            let has_list = !lost.iter().any(|loss| loss.is_list);
            let drifted = self.drifted(newest.filter(|_| has_list)).await?;
            Ok(Verified { lost, drifted })
        })
    }

    /// Files that hold something else than the history knows. Without a pin, or if notes of changes after
    /// the pin were dropped, it knows only the files that have notes.
    async fn drifted(&self, pin: Option<(i64, Vec<Leaf>)>) -> Result<Vec<VPath>> {
        let dropped = self.store.dropped().await?.and_then(|id| millis(&id));
        // Notes of changes after the pin may be gone.
        let pin = pin.filter(|(at, _)| dropped.is_none_or(|dropped| dropped < *at));
        let is_whole = pin.is_some();
        let (at, leaves) = pin.unwrap_or((i64::MIN + CLOCKS, Vec::new()));
        // The notes are listed before the files are read, and again after that.
        let ids = self.store.ids().await?;
        let after = ids.partition_point(|id| millis(id).is_some_and(|id| id < at - CLOCKS));
        let notes = self
            .store
            .notes(ids.get(after..).unwrap_or_default())
            .await?;
        // Leaves are in order of their paths; notes add few.
        let mut expected: Sorted<VPath, Expected> = Sorted::new();
        for leaf in leaves {
            let known = Expected {
                pinned: Some(Some(leaf.digest)),
                noted: None,
            };
            expected.insert(leaf.path, known);
        }
        for note in &notes {
            let is_later = millis(&note.id).is_some_and(|id| id > at + CLOCKS);
            for file in &note.files {
                if expected.get(&file.path).is_none() {
                    expected.insert(file.path.clone(), Expected::default());
                }
                let Some(known) = expected.get_mut(&file.path) else {
                    continue;
                };
                known.noted = match file.after.as_deref() {
                    Some(after) => Digest::from_hex(after).map(Some),
                    None => Some(None),
                };
                if is_later {
                    known.pinned = None;
                } else if is_whole {
                    known.pinned.get_or_insert(None);
                }
            }
        }
        let listed = self.live().await?.into_iter().map(|info| info.path);
        let known = expected.iter().map(|(path, _)| path.clone());
        let mut live: Vec<VPath> = listed.chain(known).collect();
        order::sort(&mut live);
        live.dedup();
        let mut drifted = Vec::new();
        for batch in live.chunks(AT_ONCE) {
            let answers = self.inner.download(batch).await;
            for (path, answer) in batch.iter().zip(answers) {
                let now = match answer {
                    Ok(body) => Some(Digest::of(&body)),
                    Err(error) if error.is_no_file() => None,
                    Err(error) => return Err(error),
                };
                let is_known = match expected.get(path) {
                    Some(known) => [known.pinned, known.noted].contains(&Some(now)),
                    None => !is_whole || now.is_none(),
                };
                if !is_known {
                    drifted.push(path.clone());
                }
            }
        }
        // What was changed through the history meanwhile is no drift.
        let mut fresh = self.store.ids().await?;
        fresh.retain(|id| ids.binary_search(id).is_err());
        for note in self.store.notes(&fresh).await? {
            drifted.retain(|path| note.files.iter().all(|file| file.path != *path));
        }
        Ok(drifted)
    }
}

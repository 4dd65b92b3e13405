//! Questions to the history, and the way back.

use std::rc::Rc;

use bytes::Bytes;

use super::History;
use super::note::{Change, Note, digest, may_be_of, millis, tag};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::file::Mode;
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::{ByPath, VPath};
use crate::core::time::Time;
use crate::layer::kit::{body, held_at};
use crate::pins::Digest;
use crate::protocol::Replacement;

/// A moment: right after a note, or a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After the note with this name.
    After(Rc<str>),
    /// At this time, in milliseconds.
    At(i64),
    /// Now: after all notes.
    Now,
    /// That of a pin.
    Pinned(Digest),
}

impl From<Time> for Moment {
    fn from(time: Time) -> Moment {
        Moment::At(time.micros().div_euclid(1000))
    }
}

impl Moment {
    /// A moment as a caller names it.
    pub fn parse(text: &str) -> Result<Moment> {
        let time = || Time::parse(text).map(Moment::from);
        Moment::named(text).or_else(time).ok_or_else(|| {
            Error::new(
                Kind::InvalidArgument,
                format!(
                    "'{text}' is no moment: give the id of an entry of log(), a time in ISO 8601, or a pin"
                ),
            )
        })
    }

    /// The moment of an entry or a pin, if this is the name of one.
    pub fn named(text: &str) -> Option<Moment> {
        match millis(text) {
            Some(_) => Some(Moment::After(text.into())),
            None => Digest::from_hex(text).map(Moment::Pinned),
        }
    }

    fn includes(&self, id: &str) -> bool {
        match self {
            Moment::After(last) => id <= &**last,
            Moment::At(last) => millis(id).is_some_and(|millis| millis <= *last),
            Moment::Now => true,
            // A pin includes files, not notes.
            Moment::Pinned(_) => false,
        }
    }
}

/// A file at two moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The file.
    pub path: VPath,
    /// Its content at the first one, if there was a file.
    pub before: Option<Bytes>,
    /// Its content at the second one, if there was a file.
    pub after: Option<Bytes>,
}

/// The calls that made a file what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// The notes, the newest first, back to the one that created the file.
    pub notes: Vec<Note>,
    /// Whether the newest note left what the file holds now. Otherwise something else changed it.
    pub is_known: bool,
}

/// The digests of the first and the last content of a file, where there was one.
#[derive(Default)]
struct Ends {
    /// The digest of the first content; `None` if there was no file.
    first: Option<Rc<str>>,
    /// The digest of the last content.
    last: Option<Rc<str>>,
    /// The permission bits that the file had when it was first deleted.
    mode: Option<Mode>,
}

/// The first and the last content of each file that notes changed.
fn ends(notes: &[Note]) -> ByPath<Ends> {
    let mut ends: ByPath<Ends> = ByPath::new();
    for Change {
        path,
        before,
        after,
        mode,
    } in notes.iter().flat_map(|note| &note.files)
    {
        let file = ends.entry(path.clone()).or_insert_with(|| {
            Box::new(Ends {
                first: before.clone(),
                ..Ends::default()
            })
        });
        file.last = after.clone();
        file.mode = file.mode.or(mode.filter(|_| after.is_none()));
    }
    ends
}

impl History {
    /// The names of notes that can be about a path, the newest first.
    async fn about(&self, path: &VPath, whole: bool) -> Result<Vec<Rc<str>>> {
        let mut ids = self.store.ids().await?;
        ids.reverse();
        if whole {
            let wanted = tag(path);
            ids.retain(|id| may_be_of(id, path, &wanted));
        }
        Ok(ids)
    }

    /// The newest notes about a file or a directory, the newest first.
    pub fn log<'a>(&'a self, path: &'a VPath, limit: usize) -> Pending<'a, Vec<Note>> {
        Box::pin(async move {
            const AT_ONCE: usize = 256;
            let ids = self.about(path, false).await?;
            let mut notes = Vec::new();
            for ids in ids.chunks(AT_ONCE.min(limit.max(1))) {
                let found = self.store.notes(ids).await?;
                let inside = |change: &Change| change.path.is_under(path);
                notes.extend(
                    found
                        .into_iter()
                        .filter(|note| note.files.iter().any(inside)),
                );
                if notes.len() >= limit {
                    break;
                }
            }
            notes.truncate(limit);
            Ok(notes)
        })
    }

    /// The notes after one moment up to another, the oldest first.
    async fn between(&self, from: &Moment, to: &Moment) -> Result<Vec<Note>> {
        let mut ids = self.store.ids().await?;
        ids.retain(|id| !from.includes(id) && to.includes(id));
        let notes = self.store.notes(&ids).await?;
        // Asked last: somebody may drop notes meanwhile.
        match self.store.dropped().await? {
            Some(newest) if !from.includes(&newest) => Err(Error::new(
                Kind::InvalidArgument,
                "The history does not reach back to that moment: its older entries were dropped, as the option keep \
                 says. Name a later one, or a pin.",
            )),
            _ => Ok(notes),
        }
    }

    /// What differs between two moments, in order of the paths.
    pub fn diff<'a>(&'a self, from: &'a Moment, to: &'a Moment) -> Pending<'a, Vec<Compared>> {
        Box::pin(async move {
            if [from, to].iter().any(|it| matches!(it, Moment::Pinned(_))) {
                return Err(Error::new(
                    Kind::InvalidArgument,
                    "diff() takes entries and times, and no pins: compare the two backends of openPin()",
                ));
            }
            let notes = self.between(from, to).await?;
            let mut compared = Vec::new();
            for (path, ends) in ends(&notes) {
                let Ends { first, last, .. } = *ends;
                if first == last {
                    continue;
                }
                compared.push(Compared {
                    path,
                    before: self.store.content(first.as_ref()).await?,
                    after: self.store.content(last.as_ref()).await?,
                });
            }
            self.show(&compared).await?;
            Ok(compared)
        })
    }

    /// Says below what the caller is about to be shown: it does not come from the files.
    async fn show(&self, compared: &[Compared]) -> Result<()> {
        let origins = self.inner.capability().origins;
        if origins.is_empty() || has(Bug::DiffUntold) {
            return Ok(());
        }
        let files = compared.iter().flat_map(|file| {
            let bodies = [&file.before, &file.after].into_iter().flatten();
            bodies.map(|body| (file.path.clone(), body.clone()))
        });
        origins.shows(&files.collect::<Vec<_>>()).await
    }

    /// Gives a file, or all files in a directory, what they held at a moment. Returns those that are
    /// changed. If somebody else changes one meanwhile, that is a conflict; what they hold now is
    /// noted, too, so this can be taken back.
    pub fn restore<'a>(&'a self, path: &'a VPath, moment: &'a Moment) -> Pending<'a, Vec<VPath>> {
        Box::pin(async move {
            let files = match moment {
                Moment::Pinned(root) => self.since_pin(path, *root).await?,
                Moment::After(_) | Moment::At(_) | Moment::Now => self.since(path, moment).await?,
            };
            self.put_back(files).await
        })
    }

    /// What gives the files that have notes after a moment what they held then.
    async fn since(&self, path: &VPath, moment: &Moment) -> Result<Vec<Replacement>> {
        let notes = self.between(moment, &Moment::Now).await?;
        let mut files = Vec::new();
        for (file, ends) in ends(&notes) {
            let Ends { first, mode, .. } = *ends;
            if !file.is_under(path) {
                continue;
            }
            let (before, mode) = match held_at(&*self.inner, &file).await? {
                Some((body, mode)) => (Some(body), mode),
                None => (None, mode),
            };
            if before.as_deref().map(digest) == first {
                continue;
            }
            files.push(Replacement {
                path: file,
                before,
                after: self.store.content(first.as_ref()).await?,
                mode,
            });
        }
        Ok(files)
    }

    async fn put_back(&self, mut files: Vec<Replacement>) -> Result<Vec<VPath>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        // Deletions first: they make room.
        order::sort_by_key(&mut files, |file| file.after.is_some());
        let made = self.noted("restore", &files).await?;
        let mut changed: Vec<VPath> = Vec::new();
        for (file, made) in files.into_iter().zip(made) {
            match made {
                Ok(_) => changed.push(file.path),
                Err(error) => {
                    let rest = match changed.len() {
                        0 => String::from("nothing was restored"),
                        some => format!("{some} other files were restored before"),
                    };
                    let message = format!("'{}' was not restored: {error}; {rest}", file.path);
                    return Err(Error::new(error.kind(), message));
                }
            }
        }
        order::sort(&mut changed);
        Ok(changed)
    }

    /// The calls that made a file what it is.
    pub fn why<'a>(&'a self, path: &'a VPath) -> Pending<'a, Why> {
        Box::pin(async move {
            let ids = self.about(path, true).await?;
            let now = body(&*self.inner, path).await?.as_deref().map(digest);
            let mut why = Why::default();
            for note in self.store.notes(&ids).await? {
                let Some(change) = note.files.iter().find(|change| change.path == *path) else {
                    continue;
                };
                if why.notes.is_empty() {
                    why.is_known = change.after == now;
                }
                let is_first = change.before.is_none();
                why.notes.push(note);
                if is_first {
                    break;
                }
            }
            Ok(why)
        })
    }
}

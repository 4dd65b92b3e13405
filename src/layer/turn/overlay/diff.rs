//! What a turn would change, file by file and piece by piece, and how to take only some of it.

use std::rc::Rc;

use bytes::Bytes;

use super::lines::{self, Piece};
use super::{Overlay, pace};
use crate::core::error::{Error, Kind as ErrorKind, Result};
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::pins::Digest;
use crate::protocol::{GlobQuery, Replacement};
use crate::search::glob::Pattern;
use crate::search::sorted::sorted;

/// How many digits of the digest of a change are in the names of its hunks: 128 bits.
const NAME: usize = 32;

/// What happens to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is new.
    Created,
    /// It gets other content.
    Changed,
    /// It is deleted.
    Deleted,
    /// It is new, and another file with the same content is deleted.
    Moved(VPath),
}

/// One file that a turn changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: VPath,
    /// What happens to it.
    pub kind: Kind,
    /// Its content before, if there is a file.
    pub before: Option<Bytes>,
    /// Its content after, if it is not deleted.
    pub after: Option<Bytes>,
    /// Where the text differs; none for a binary file and for one that was only moved.
    pub hunks: Vec<Piece>,
    /// The name of its hunks: that of each is this name, a dot, and its number from 0.
    pub name: Rc<str>,
}

impl FileChange {
    async fn of(file: Replacement, pace: &Pace) -> FileChange {
        let Replacement {
            path,
            before,
            after,
            mode: _,
        } = file;
        let mut is_text = true;
        for body in [&before, &after].into_iter().flatten() {
            is_text = is_text && lines::is_text(body, pace).await;
        }
        let mut change = FileChange {
            kind: match (&before, &after) {
                (None, _) => Kind::Created,
                (_, None) => Kind::Deleted,
                _ => Kind::Changed,
            },
            path,
            before,
            after,
            hunks: Vec::new(),
            name: "".into(),
        };
        if is_text {
            let text = |body: &Option<Bytes>| body.clone().unwrap_or_default();
            let (before, after) = (text(&change.before), text(&change.after));
            change.hunks = lines::pieces(&before, &after, pace).await;
            change.name = name(&change.path, &before, &after, pace).await;
        }
        change
    }
}

/// Who accepts a hunk has seen it, so nobody may make another change with its name.
async fn name(path: &VPath, before: &[u8], after: &[u8], pace: &Pace) -> Rc<str> {
    let parts = [path.as_str().as_bytes(), before, after];
    let name = Digest::of_parts_at(pace, &parts).await.hex();
    name.get(..NAME).unwrap_or(&name).into()
}

/// What happens to files, with their hunks; in order of the paths, as the files are.
pub async fn compared(files: Vec<Replacement>) -> Vec<FileChange> {
    let pace = pace();
    let mut changes: Vec<FileChange> = Vec::with_capacity(files.len());
    for file in files {
        changes.push(FileChange::of(file, &pace).await);
        pace.worked(1).await;
    }
    // A file with content that another one lost was moved. Of several that lost it, each moves once.
    let lost = |change: &FileChange| match (&change.kind, &change.before) {
        (Kind::Deleted, Some(body)) if !body.is_empty() => Some(body.clone()),
        _ => None,
    };
    let deleted: Vec<(usize, Bytes)> = changes
        .iter()
        .enumerate()
        .filter_map(|(at, change)| Some((at, lost(change)?)))
        .collect();
    let bodies: Vec<&[u8]> = deleted.iter().map(|(_, body)| &**body).collect();
    let order = sorted(&bodies, &pace).await;
    let body = |place: usize| order.get(place).and_then(|one| bodies.get(*one)).copied();
    // By the first place of a body in that order: how many files with it were moved.
    let mut moved = vec![0; order.len()];
    let mut gone = vec![false; changes.len()];
    for at in 0..changes.len() {
        pace.worked(1).await;
        let Some(change) = changes.get(at).filter(|one| one.kind == Kind::Created) else {
            continue;
        };
        let Some(after) = &change.after else { continue };
        let first =
            order.partition_point(|one| bodies.get(*one).is_some_and(|one| *one < &**after));
        let Some(count) = moved.get_mut(first) else {
            continue;
        };
        if body(first + *count) != Some(&**after) {
            continue;
        }
        let from = order.get(first + *count).and_then(|one| deleted.get(*one));
        let Some(from) = from.map(|(from, _)| *from) else {
            continue;
        };
        *count += 1;
        let source = changes.get(from).map(|one| one.path.clone());
        if let (Some(gone), Some(change), Some(source)) =
            (gone.get_mut(from), changes.get_mut(at), source)
        {
            *gone = true;
            change.kind = Kind::Moved(source);
            change.before = change.after.clone();
            change.hunks.clear();
        }
    }
    let mut gone = gone.into_iter();
    changes.retain(|_| gone.next() == Some(false));
    changes
}

impl Overlay {
    /// All that the overlay changes, in order of the paths. It grows with the changes, not with the
    /// files of the base.
    pub(in crate::layer::turn) async fn diff(&self) -> Result<Vec<FileChange>> {
        let (files, _) = self.replacements().await?;
        Ok(compared(files).await)
    }

    /// Keeps of each file that one of the hunks is in only these hunks. Returns these files.
    pub(in crate::layer::turn) async fn accept(&self, ids: &[Rc<str>]) -> Result<Vec<VPath>> {
        let pace = pace();
        let texts: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
        let order = sorted(&texts, &pace).await;
        let id = |place: &usize| ids.get(*place).map_or("", |id| &**id);
        let mut known = vec![false; ids.len()];
        let mut kept: Vec<(FileChange, Vec<Piece>)> = Vec::new();
        let mut paths = Vec::new();
        for change in self.diff().await? {
            let prefix = format!("{}.", change.name);
            let first = order.partition_point(|place| id(place) < prefix.as_str());
            let mut chosen = vec![false; change.hunks.len()];
            for place in order.get(first..).unwrap_or_default() {
                let Some(number) = id(place).strip_prefix(&prefix) else {
                    break;
                };
                let hunk = number.parse::<usize>().ok();
                let hunk = hunk.filter(|hunk| hunk.to_string() == number);
                let slot = hunk.and_then(|hunk| chosen.get_mut(hunk));
                if let (Some(chosen), Some(known)) = (slot, known.get_mut(*place)) {
                    (*chosen, *known) = (true, true);
                }
                pace.worked(1).await;
            }
            let pieces = change
                .hunks
                .iter()
                .zip(chosen)
                .filter(|(_, chosen)| *chosen);
            let pieces: Vec<Piece> = pieces.map(|(piece, _)| piece.clone()).collect();
            if !pieces.is_empty() {
                paths.push(change.path.clone());
            }
            if !pieces.is_empty() && pieces.len() < change.hunks.len() {
                kept.push((change, pieces));
            }
        }
        if let Some((id, _)) = ids.iter().zip(known).find(|(_, known)| !known) {
            return Err(Error::new(
                ErrorKind::NoMatch,
                format!(
                    "The turn has no hunk '{id}', or its file was changed since the diff; nothing \
                     was changed. Call diff() again, and take all hunks of a file in one call."
                ),
            ));
        }
        for (change, pieces) in kept {
            let before = change.before.unwrap_or_default();
            let after = change.after.unwrap_or_default();
            let body = lines::with_pieces(&before, &after, &pieces, &pace).await;
            self.put(&change.path, Bytes::from(body)).await?;
            self.change(&change.path, None, true);
        }
        Ok(paths)
    }

    /// Drops the changes of files that match one of the patterns, and returns these files. A file that was moved is
    /// one change: if one of its two paths matches, both are dropped.
    pub(in crate::layer::turn) async fn discard(&self, patterns: &[Rc<str>]) -> Result<Vec<VPath>> {
        let patterns = whole_tree(patterns)?;
        let matches = |path: &VPath| patterns.iter().any(|pattern| pattern.accepts(path));
        let all = self.changed_files();
        let matching = all.iter().filter(|(path, _)| matches(path)).count();
        let mut halves: Sorted<VPath, ()> = Sorted::new();
        if 0 < matching && matching < all.len() {
            for change in self.diff().await? {
                let Kind::Moved(from) = change.kind else {
                    continue;
                };
                match (matches(&from), matches(&change.path)) {
                    (true, false) => halves.insert(change.path, ()),
                    (false, true) => halves.insert(from, ()),
                    _ => None,
                };
            }
        }
        let mut gone = Vec::new();
        for (path, one) in all {
            if matches(&path) || halves.get(&path).is_some() {
                self.drop_change(&path, one.exists).await?;
                gone.push(path);
            }
        }
        Ok(gone)
    }
}

/// Patterns from the root.
pub(super) fn whole_tree(patterns: &[Rc<str>]) -> Result<Vec<Pattern>> {
    let of_root =
        |pattern: &Rc<str>| Pattern::parse(&GlobQuery::new(pattern.clone(), VPath::root()));
    patterns.iter().map(of_root).collect()
}

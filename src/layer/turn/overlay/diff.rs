//! What a turn would change, file by file and piece by piece, and how to take only some of it.

use std::rc::Rc;

use bytes::Bytes;

use super::Overlay;
use super::lines::{self, Piece};
use crate::core::error::{Error, Kind as ErrorKind, Result};
use crate::core::path::VPath;
use crate::pins::Digest;
use crate::protocol::{GlobQuery, Replacement};
use crate::search::glob::Pattern;

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

/// A part of a text that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its name, for [`Turn::accept`].
    pub id: Rc<str>,
    /// Where it is.
    pub piece: Piece,
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
    pub hunks: Vec<Hunk>,
}

impl FileChange {
    fn of(file: Replacement) -> FileChange {
        let Replacement {
            path,
            before,
            after,
            mode: _,
        } = file;
        let text = |body: &Option<Bytes>| body.as_ref().is_none_or(|body| lines::is_text(body));
        let hunks = match text(&before) && text(&after) {
            true => hunks(&path, before.as_ref(), after.as_ref()),
            false => Vec::new(),
        };
        FileChange {
            kind: match (&before, &after) {
                (None, _) => Kind::Created,
                (_, None) => Kind::Deleted,
                _ => Kind::Changed,
            },
            path,
            before,
            after,
            hunks,
        }
    }
}

fn hunks(path: &VPath, before: Option<&Bytes>, after: Option<&Bytes>) -> Vec<Hunk> {
    let (before, after) = (
        before.map_or(&[][..], |body| body),
        after.map_or(&[][..], |body| body),
    );
    // Who accepts a hunk has seen it, so nobody may make another change with its name.
    let parts = [path.as_str().as_bytes(), before, after];
    let name = Digest::of_parts(&parts).hex();
    let name = name.get(..NAME).unwrap_or(&name);
    lines::pieces(before, after)
        .into_iter()
        .enumerate()
        .map(|(at, piece)| Hunk {
            id: format!("{name}.{at}").into(),
            piece,
        })
        .collect()
}

/// What happens to files, with their hunks; in order of the paths, as the files are.
pub fn compared(files: Vec<Replacement>) -> Vec<FileChange> {
    let mut changes: Vec<FileChange> = files.into_iter().map(FileChange::of).collect();
    // A file with content that another one lost was moved.
    let mut moved: Vec<VPath> = Vec::new();
    let deleted: Vec<(VPath, Bytes)> = changes
        .iter()
        .filter(|change| change.kind == Kind::Deleted)
        .filter_map(|change| Some((change.path.clone(), change.before.clone()?)))
        .filter(|(_, body)| !body.is_empty())
        .collect();
    for change in &mut changes {
        if change.kind != Kind::Created {
            continue;
        }
        let from = deleted
            .iter()
            .find(|(path, body)| change.after.as_ref() == Some(body) && !moved.contains(path));
        if let Some((from, _)) = from {
            moved.push(from.clone());
            change.kind = Kind::Moved(from.clone());
            change.before = change.after.clone();
            change.hunks.clear();
        }
    }
    changes.retain(|change| change.kind != Kind::Deleted || !moved.contains(&change.path));
    changes
}

impl Overlay {
    /// All that the overlay changes, in order of the paths. It grows with the changes, not with the
    /// files of the base.
    pub(in crate::layer::turn) async fn diff(&self) -> Result<Vec<FileChange>> {
        let (files, _) = self.replacements().await?;
        Ok(compared(files))
    }

    /// Keeps of each file that one of the hunks is in only these hunks. Returns these files.
    pub(in crate::layer::turn) async fn accept(&self, ids: &[Rc<str>]) -> Result<Vec<VPath>> {
        let mut left: Vec<&Rc<str>> = ids.iter().collect();
        let mut kept: Vec<(FileChange, Vec<Piece>)> = Vec::new();
        let mut paths = Vec::new();
        for change in self.diff().await? {
            let of_file = change.hunks.iter().filter(|hunk| ids.contains(&hunk.id));
            let pieces: Vec<Piece> = of_file.map(|hunk| hunk.piece.clone()).collect();
            left.retain(|id| !change.hunks.iter().any(|hunk| hunk.id == **id));
            if !pieces.is_empty() {
                paths.push(change.path.clone());
            }
            if !pieces.is_empty() && pieces.len() < change.hunks.len() {
                kept.push((change, pieces));
            }
        }
        if let Some(id) = left.first() {
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
            let body = lines::with_pieces(&before, &after, &pieces);
            self.put(&change.path, Bytes::from(body)).await?;
            self.change(&change.path, None, true);
        }
        Ok(paths)
    }

    /// Drops the changes of files that match one of the patterns, and returns these files.
    pub(in crate::layer::turn) async fn discard(&self, patterns: &[Rc<str>]) -> Result<Vec<VPath>> {
        let patterns = whole_tree(patterns)?;
        let mut gone = Vec::new();
        for (path, one) in self.changed_files() {
            if patterns.iter().any(|pattern| pattern.accepts(&path)) {
                self.drop_change(&path, one.exists).await?;
                gone.push(path);
            }
        }
        Ok(gone)
    }
}

/// Patterns from the root.
pub(super) fn whole_tree(patterns: &[Rc<str>]) -> Result<Vec<Pattern>> {
    let of_root = |pattern: &Rc<str>| {
        Pattern::parse(&GlobQuery {
            pattern: pattern.clone(),
            path: VPath::root(),
        })
    };
    patterns.iter().map(of_root).collect()
}

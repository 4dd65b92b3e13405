//! What both sides have: their listings beside what was agreed, and the contents that decide something.

use std::rc::Rc;

use bytes::Bytes;

use super::agreed::Doing;
use super::early::{Early, Sent};
use super::entry::{Entry, Stamp, at};
use super::labels;
use super::names;
use super::parts::Base;
use super::plan::{Now, Pair, Planned, Side, Step, find_moves, step};
use super::scope::Range;
use super::{Refusal, Sync};
use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::core::path::VPath;
use crate::pins::Digest;
use crate::protocol::{BackendExt, FileInfo};
use crate::search::merge::is_text_at_once;

/// How many files are read at once, and of how many bytes together.
pub const FILES_AT_ONCE: usize = 64;
pub const BYTES_AT_ONCE: u64 = 16 << 20;

/// The longest text that is kept for merges, and how much is held of what was read.
const MOST_TEXT: usize = 1 << 20;
const MOST_TEXTS: usize = 16 << 20;

/// Whether a content is kept for merges.
pub fn is_mergeable(body: &Bytes) -> bool {
    body.len() <= MOST_TEXT && is_text_at_once(body)
}

/// A path with all that is known of it.
pub struct Row {
    /// What is done about it.
    pub planned: Planned,
    /// What the sides list.
    pub listed: Pair<Option<Stamp>>,
    /// What the sides list, if that is enough to know the file again.
    pub stamps: Pair<Option<Stamp>>,
    /// Whether an earlier run began to change it, and the file of a side was written since.
    pub is_open: Pair<bool>,
    /// Whether both sides list what was agreed on.
    pub is_known: bool,
    /// The versions of large files that were read.
    pub seen: Pair<Option<Rc<str>>>,
    /// Its text, if it was read and may be kept for merges.
    pub text: Option<Bytes>,
    /// Whether it was read together with something that has labels.
    pub is_labelled: bool,
}

/// What was found.
pub struct Found {
    /// The paths at which there is something or something was agreed, in order; but for those of parts of
    /// which both sides list what they did.
    pub rows: Vec<Row>,
    /// What cannot be read.
    pub refused: Vec<Refusal>,
    /// How many files each side lists.
    pub files: Pair<usize>,
    /// The bytes of a tree.
    pub size: u64,
    /// How many files were read to compare them, and their bytes.
    pub read: (usize, u64),
    /// Conflict copies that both sides hold as was agreed and that have no row, in order. They are looked for
    /// only if there is a conflict.
    pub copies: Vec<FileInfo>,
    /// The bytes of the texts that are held.
    texts: usize,
}

/// The listings and what was agreed on, in order of paths, from a path on.
struct Rest<'a> {
    files: Pair<&'a [FileInfo]>,
    agreed: &'a [(VPath, Entry)],
}

impl<'a> Rest<'a> {
    /// The first path of all.
    fn first(&self) -> Option<&'a VPath> {
        let listed = [self.files.a, self.files.b].map(|files| files.first().map(|info| &info.path));
        let agreed = self.agreed.first().map(|(path, _)| path);
        listed.into_iter().chain([agreed]).flatten().min()
    }

    /// Goes past a path; what is listed of it and was agreed on.
    fn take(&mut self, path: &VPath) -> (Pair<Option<&'a FileInfo>>, Option<&'a Entry>) {
        let mut found = Pair::default();
        for side in Side::BOTH {
            let files = self.files.of_mut(side);
            if let Some((info, rest)) = files.split_first().filter(|(info, _)| info.path == *path) {
                *files = rest;
                *found.of_mut(side) = Some(info);
            }
        }
        match self.agreed.split_first() {
            Some(((of, entry), rest)) if of == path => {
                self.agreed = rest;
                (found, Some(entry))
            }
            _ => (found, None),
        }
    }
}

/// The files of both sides that are in a part of what was agreed on.
struct Region<'a> {
    /// The place of the part, if a side lists something else than was agreed on.
    place: Option<usize>,
    files: Pair<&'a [FileInfo]>,
}

fn size_of<'a>(files: impl Iterator<Item = &'a FileInfo>) -> u64 {
    let sizes = files.filter_map(|info| Stamp::of(&info.entry));
    sizes.map(|stamp| stamp.size).sum()
}

impl Sync {
    /// Reads what decides something, and plans.
    pub(super) async fn look(
        &self,
        base: &mut Base,
        doing: &Doing,
        early: &Early,
        began: i64,
        (range, files): (Range<'_>, Pair<Vec<FileInfo>>),
    ) -> Result<Found> {
        let regions = self.regions(base, doing, &files);
        let places: Vec<usize> = regions.iter().filter_map(|region| region.place).collect();
        self.book.load(base, &places).await?;
        // A path of one side is most often also one of the other side.
        let most = |region: &Region<'_>| region.files.a.len().max(region.files.b.len());
        let looked_at = regions.iter().filter(|region| region.place.is_some());
        let mut rows = Vec::with_capacity(looked_at.map(most).sum());
        let (mut same, mut size) = (Vec::new(), 0);
        for Region { place, files } in regions {
            let Some(place) = place else {
                size += size_of(files.a.iter());
                same.push(files.a);
                continue;
            };
            let agreed = base
                .parts
                .get(place)
                .and_then(|part| part.entries.as_deref());
            let mut rest = Rest {
                files,
                agreed: agreed.unwrap_or_default(),
            };
            while let Some(path) = rest.first() {
                let (listed, entry) = rest.take(path);
                // What is listed was filtered.
                if listed == Pair::default() && !range.has(path) {
                    continue;
                }
                size += size_of(listed.a.or(listed.b).into_iter());
                let mut row = self.row(path, entry, at(doing, path), began, listed);
                if early.of(path).is_none_or(|sent| row.is_sent(sent)) {
                    rows.push(row);
                }
            }
        }
        range.over()?;
        let mut found = Found {
            rows,
            refused: Vec::new(),
            files: Pair {
                a: files.a.len(),
                b: files.b.len(),
            },
            size,
            read: (0, 0),
            copies: Vec::new(),
            texts: 0,
        };
        self.read_undecided(&mut found).await;
        for Row { planned, .. } in &mut found.rows {
            planned.step = step(planned.agreed, planned.now);
        }
        find_moves(&mut found.rows);
        let mut lost: Vec<VPath> = found.refused.iter().map(|one| one.path.clone()).collect();
        order::sort(&mut lost);
        let is_lost = |path: &VPath| lost.binary_search(path).is_ok();
        found.rows.retain(|row| !is_lost(&row.planned.path));
        let is_settled = |row: &Row| matches!(row.planned.step, Step::Settle { .. });
        if found.rows.iter().any(is_settled) {
            let same = same.iter().copied().flatten();
            let copies = same.filter(|info| names::depth(&info.path) > 0);
            found.copies = copies.cloned().collect();
        }
        self.check_emptied(&found)?;
        Ok(found)
    }

    /// The listings by the parts of what was agreed on.
    fn regions<'a>(
        &self,
        base: &Base,
        doing: &Doing,
        files: &'a Pair<Vec<FileInfo>>,
    ) -> Vec<Region<'a>> {
        let open = base.places(doing.iter().map(|(path, _)| path));
        let mut rest: Pair<&[FileInfo]> = Pair {
            a: &files.a,
            b: &files.b,
        };
        let mut regions = Vec::with_capacity(base.parts.len());
        for place in 0..base.parts.len() {
            let mut is_same = !self.options.by_content && open.binary_search(&place).is_err();
            let mut files: Pair<&[FileInfo]> = Pair::default();
            for side in Side::BOTH {
                let these = base.take(place, rest.of_mut(side));
                *files.of_mut(side) = these;
                is_same = is_same && base.is_same(place, side, these);
            }
            regions.push(Region {
                place: (!is_same).then_some(place),
                files,
            });
        }
        regions
    }

    fn row(
        &self,
        path: &VPath,
        entry: Option<&Entry>,
        open: Option<&Pair<Option<Stamp>>>,
        began: i64,
        files: Pair<Option<&FileInfo>>,
    ) -> Row {
        let mut row = Row {
            planned: Planned {
                path: path.clone(),
                agreed: entry.map(|entry| entry.digest),
                now: Pair {
                    a: Now::Nothing,
                    b: Now::Nothing,
                },
                step: Step::Nothing,
            },
            listed: Pair::default(),
            stamps: Pair::default(),
            is_open: Pair::default(),
            is_known: false,
            seen: Pair::default(),
            text: None,
            is_labelled: false,
        };
        for side in Side::BOTH {
            let Some(info) = files.of(side) else { continue };
            let stamp = Stamp::of(&info.entry);
            *row.listed.of_mut(side) = stamp;
            *row.is_open.of_mut(side) = open.is_some_and(|then| {
                let then = *then.of(side);
                then.is_none() || then != stamp
            });
            *row.stamps.of_mut(side) = stamp.filter(|stamp| stamp.is_old(began));
            let known = entry.and_then(|entry| *entry.stamps.of(side));
            let is_known = stamp.is_some() && known == stamp && !self.options.by_content;
            *row.planned.now.of_mut(side) = match is_known {
                true => Now::Agreed,
                false => Now::Unread,
            };
        }
        let Pair { a, b } = row.planned.now;
        row.is_known = a == Now::Agreed && b == Now::Agreed;
        row
    }

    /// Reads the files whose contents decide something.
    async fn read_undecided(&self, found: &mut Found) {
        // Sizes of files that one side has deleted: a new one of this size may be a moved one.
        let mut gone: Vec<u64> = Vec::new();
        for row in &found.rows {
            let Planned { agreed, now, .. } = &row.planned;
            for side in Side::BOTH {
                if agreed.is_some() && *now.of(side) == Now::Nothing {
                    gone.extend(row.listed.of(side.other()).map(|stamp| stamp.size));
                }
            }
        }
        order::sort(&mut gone);
        for side in Side::BOTH {
            let mut batch: Vec<usize> = Vec::new();
            let mut bytes = 0;
            for place in 0..found.rows.len() {
                let Some(row) = found.rows.get(place) else {
                    continue;
                };
                let Planned { agreed, now, .. } = &row.planned;
                let is_alone = *now.of(side.other()) == Now::Nothing && agreed.is_none();
                let size = row.listed.of(side).map(|stamp| stamp.size);
                let is_new =
                    is_alone && size.is_some_and(|size| gone.binary_search(&size).is_err());
                if *now.of(side) != Now::Unread || is_new {
                    continue;
                }
                batch.push(place);
                bytes += size.unwrap_or(0);
                if batch.len() >= FILES_AT_ONCE || bytes >= BYTES_AT_ONCE {
                    self.read_batch(side, &batch, found).await;
                    batch.clear();
                    bytes = 0;
                }
            }
            self.read_batch(side, &batch, found).await;
        }
    }

    async fn read_batch(&self, side: Side, places: &[usize], found: &mut Found) {
        let mut some = Vec::with_capacity(places.len());
        for place in places {
            if !self.read_large(side, *place, found).await {
                some.push(*place);
            }
        }
        let places = some;
        let row = |place: &usize| found.rows.get(*place);
        let paths: Vec<VPath> = places
            .iter()
            .filter_map(row)
            .map(|row| row.planned.path.clone())
            .collect();
        if paths.is_empty() {
            return;
        }
        let cargo = labels::empty();
        let reading = async { self.at(side).download(&paths).await };
        let bodies = self.carrying(side, &cargo, reading).await;
        let is_labelled = cargo.first().is_some();
        for ((place, path), body) in places.iter().zip(paths).zip(bodies) {
            let Some(row) = found.rows.get_mut(*place) else {
                continue;
            };
            match body {
                Ok(body) => {
                    found.read.0 += 1;
                    found.read.1 += body.len() as u64;
                    row.is_labelled |= is_labelled;
                    *row.planned.now.of_mut(side) = row.held(side, Digest::of(&body));
                    let is_room = found.texts + body.len() <= MOST_TEXTS;
                    if row.text.is_none() && is_room && is_mergeable(&body) {
                        found.texts += body.len();
                        row.text = Some(body);
                    }
                }
                Err(error) => found.refused.push(unread(path, side, error)),
            }
        }
    }

    /// Reads a large file; whether it is one, and its backend reads ranges.
    async fn read_large(&self, side: Side, place: usize, found: &mut Found) -> bool {
        let Some(row) = found.rows.get_mut(place) else {
            return false;
        };
        if !self.is_large(*row.listed.of(side)) {
            return false;
        }
        let path = row.planned.path.clone();
        let read = async {
            let Some(large) = self.large(side, &path).await? else {
                return Ok(None);
            };
            let digest = large.digest().await?;
            Ok(Some((large.version, large.size, digest)))
        };
        let cargo = labels::empty();
        match self.carrying(side, &cargo, read).await {
            Ok(None) => return false,
            Ok(Some((version, size, digest))) => {
                found.read.0 += 1;
                found.read.1 += size;
                row.is_labelled |= cargo.first().is_some();
                *row.planned.now.of_mut(side) = row.held(side, digest);
                *row.seen.of_mut(side) = Some(version);
            }
            Err(error) => found.refused.push(unread(path, side, error)),
        }
        true
    }

    /// Refuses to delete everything because one side seems to be empty.
    fn check_emptied(&self, found: &Found) -> Result<()> {
        for side in Side::BOTH {
            let is_lost = |row: &&Row| row.planned.step == Step::Delete(side.other());
            let lost = found.rows.iter().filter(is_lost).count();
            if *found.files.of(side) > 0 || lost == 0 || self.options.allow_empty {
                continue;
            }
            let name = self.name(side);
            return Err(Error::new(
                Kind::Conflict,
                format!(
                    "Side \"{name}\" has no files, and {lost} were agreed on: nothing was deleted on the \
                     other side. Is it the right place? If its files were deleted, pass allowEmpty: true",
                ),
            ));
        }
        Ok(())
    }
}

impl AsRef<Planned> for Row {
    fn as_ref(&self) -> &Planned {
        &self.planned
    }
}

impl AsMut<Planned> for Row {
    fn as_mut(&mut self) -> &mut Planned {
        &mut self.planned
    }
}

impl Row {
    /// An edit was sent while this was listed. Returns whether the listing says enough to go on with the path:
    /// it may lack a file that was replaced meanwhile.
    fn is_sent(&mut self, sent: &Sent) -> bool {
        let to = sent.change.side;
        let listed = *self.listed.of(to);
        if listed == Some(sent.was) {
            // From before the edit.
            *self.planned.now.of_mut(to) = Now::Agreed;
            *self.stamps.of_mut(to) = None;
            self.is_known = *self.planned.now.of(to.other()) == Now::Agreed;
        }
        listed.is_some()
    }

    /// What a content of a side means that was read.
    fn held(&self, side: Side, digest: Digest) -> Now {
        match self.planned.agreed == Some(digest) && !self.is_open.of(side) {
            true => Now::Agreed,
            false => Now::Holds(digest),
        }
    }
}

/// What is reported of a file that cannot be read.
fn unread(path: VPath, side: Side, error: Error) -> Refusal {
    let error = match error.is_no_file() {
        true => changed(&path),
        false => error,
    };
    Refusal { path, side, error }
}

/// The error of a file that changes while it is synced.
pub fn changed(path: &VPath) -> Error {
    Error::at(
        Kind::Conflict,
        "'",
        path,
        "' was changed while it was synced; nothing was lost, and the next run goes on with it",
    )
}

//! The steps of large files, whose bytes are never in memory together: they are sent to the other side, and
//! two different ones are kept both. They are not merged.

use std::rc::Rc;

use super::change::Made;
use super::done::{Done, End};
use super::entry::Stamp;
use super::large::{Large, Put};
use super::look::{Found, Row, changed};
use super::plan::{Now, Pair, Planned, Side};
use super::settle::NAMES;
use super::{Changed, Choice, Conflict, Sync, names};
use crate::core::error::Result;
use crate::core::parts::Expected;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::layer::kit::if_there;
use crate::pins::Digest;
use crate::protocol::{BackendExt, GlobQuery, exists};

impl Sync {
    /// Sends a file of a side to the other one; `None` if that has to be done as a whole.
    pub(super) async fn send_large(&self, row: &Row, from: Side) -> Option<Done> {
        if !self.is_large(*row.listed.of(from)) || self.has_labels() {
            return None;
        }
        let (path, to) = (&row.planned.path, from.other());
        let mut done = Done::default();
        let source = match self.large(from, path).await {
            Ok(source) => source?,
            Err(error) if error.is_no_file() => {
                return Some(done.refused(path, from, changed(path)));
            }
            Err(error) => return Some(done.refused(path, from, error)),
        };
        let agreed = match row.planned.now.of(to) {
            Now::Nothing => None,
            Now::Agreed | Now::Holds(_) | Now::Unread => match self.agreed(row, to).await {
                Ok(agreed) => Some(agreed?),
                Err(error) => return Some(done.refused(path, to, error)),
            },
        };
        let expected = agreed
            .as_deref()
            .map_or(Expected::Nothing, Expected::Version);
        let digest = match self.put(&source, to, path, expected).await {
            Put::Unable => return None,
            Put::Failed(side, error) => return Some(done.refused(path, side, error)),
            Put::Taken => match self.same(&source, to, path).await {
                Ok(Some(digest)) => digest,
                Ok(None) => return Some(done.refused(path, to, changed(path))),
                Err(error) => return Some(done.refused(path, to, error)),
            },
            Put::Stored(digest) => {
                let what = agreed.map_or(Changed::Created, |_| Changed::Replaced);
                done.changed(path, to, what);
                done.sent += source.size;
                return Some(agreed_on(done, path, digest, source.size, &[to]));
            }
        };
        Some(agreed_on(done, path, digest, source.size, &[]))
    }

    /// Whether labels belong to the contents of a side; these go with whole files.
    fn has_labels(&self) -> bool {
        let is_labelled = |side: &Side| !self.at(*side).capability().origins.is_empty();
        Side::BOTH.iter().any(is_labelled)
    }

    /// The version of the file of a side that still is what was agreed on; `None` if its backend reads no
    /// ranges.
    async fn agreed(&self, row: &Row, side: Side) -> Result<Option<Rc<str>>> {
        let path = &row.planned.path;
        let there = if_there(self.large(side, path).await)?.ok_or_else(|| changed(path))?;
        let Some(there) = there else { return Ok(None) };
        let is_agreed = row.seen.of(side).as_ref() == Some(&there.version)
            || self.is_listed(row, side).await?
            || Some(there.digest().await?) == row.planned.agreed;
        match is_agreed {
            true => Ok(Some(there.version)),
            false => Err(changed(path)),
        }
    }

    /// Whether a file is listed as it was when the run began, if that is enough to know it again.
    async fn is_listed(&self, row: &Row, side: Side) -> Result<bool> {
        let path = &row.planned.path;
        let Some(stamp) = row.stamps.of(side).filter(|_| !self.options.by_content) else {
            return Ok(false);
        };
        let query = GlobQuery::new(literal(path.name()), path.parent());
        let found = self.at(side).glob(&query).await?.files;
        let mut found = found.iter().filter(|info| info.path == *path);
        Ok(found.any(|info| Stamp::of(&info.entry) == Some(stamp)))
    }

    /// The digest of a file, if the one at a path of a side is the same.
    async fn same(&self, one: &Large<'_>, side: Side, path: &VPath) -> Result<Option<Digest>> {
        let Some(there) = self.digest_of(side, path, one.size).await? else {
            return Ok(None);
        };
        Ok(Some(one.digest().await?).filter(|digest| *digest == there))
    }

    /// Settles two edits of a file of which one is large. `Err` is what was done before it was found that
    /// the rest has to be done as a whole.
    pub(super) async fn settle_large(
        &self,
        row: &Row,
        found: &Found,
        written: Option<Time>,
    ) -> Result<Done, Done> {
        let planned = &row.planned;
        let path = &planned.path;
        let done = Done::default();
        if !Side::BOTH
            .iter()
            .any(|side| self.is_large(*row.listed.of(*side)))
            || self.has_labels()
        {
            return Err(done);
        }
        let a = self.found(row, Side::A).await;
        let b = self.found(row, Side::B).await;
        let (a, b) = match (a, b) {
            (Ok(Some(a)), Ok(Some(b))) => (a, b),
            (Err(error), _) => return Ok(done.refused(path, Side::A, error)),
            (_, Err(error)) => return Ok(done.refused(path, Side::B, error)),
            (Ok(None), _) | (_, Ok(None)) => return Err(done),
        };
        let choice = match self.choice(path).await {
            Ok(choice) => choice,
            Err(error) => return Ok(done.refused(path, Side::A, error)),
        };
        let both = Pair { a: &a, b: &b };
        self.settled(planned, found, written, both, choice).await
    }

    /// The file of a side and its digest, if it still is what was found; `None` if its backend reads no
    /// ranges.
    async fn found<'a>(&'a self, row: &'a Row, side: Side) -> Result<Option<(Large<'a>, Digest)>> {
        let path = &row.planned.path;
        let there = if_there(self.large(side, path).await)?.ok_or_else(|| changed(path))?;
        let (Some(there), Now::Holds(digest)) = (there, row.planned.now.of(side)) else {
            return Ok(None);
        };
        let is_same =
            row.seen.of(side).as_ref() == Some(&there.version) || there.digest().await? == *digest;
        match is_same {
            true => Ok(Some((there, *digest))),
            false => Err(changed(path)),
        }
    }

    async fn settled(
        &self,
        planned: &Planned,
        found: &Found,
        written: Option<Time>,
        both: Pair<&(Large<'_>, Digest)>,
        choice: Choice,
    ) -> Result<Done, Done> {
        let path = &planned.path;
        let mut done = Done::default();
        let mut conflict = Conflict {
            path: path.clone(),
            choice,
            copy: None,
        };
        let (a, digest) = both.a;
        let mut kept = None;
        let winner = match choice {
            Choice::Leave => {
                done.conflict(conflict);
                return Ok(done);
            }
            Choice::Take(side) => side,
            Choice::Both => {
                kept = self.kept_copy(found, path, *digest, a.size).await;
                conflict.copy = kept.as_ref().map(|(_, copy)| copy.clone());
                if conflict.copy.is_none() {
                    let copied = self.copy_large(path, written, a, *digest, done).await?;
                    done = copied.0;
                    let Some(copy) = copied.1 else {
                        return Ok(done);
                    };
                    conflict.copy = Some(copy);
                }
                Side::B
            }
        };
        let loser = winner.other();
        let ((from, _), (old, _)) = (both.of(winner), both.of(loser));
        match self
            .put(from, loser, path, Expected::Version(&old.version))
            .await
        {
            Put::Stored(stored) => {
                done.changed(path, loser, Changed::Replaced);
                done.sent += from.size;
                done.conflict(conflict);
                let done = agreed_on(done, path, stored, from.size, &[loser]);
                // Who took the copy away meanwhile may have meant to keep it at the path: as if nobody had agreed on
                // it, the next run brings it back from the other side.
                Ok(match kept {
                    Some((side, copy)) if self.lacks(side, &copy, a.size, *digest).await => {
                        done.gone(&copy)
                    }
                    _ => done,
                })
            }
            Put::Taken => Ok(done.refused(path, loser, changed(path))),
            Put::Unable => Err(done),
            Put::Failed(side, error) => Ok(done.refused(path, side, error)),
        }
    }

    /// Keeps a file of the first side beside its path, as `copy_beside` does.
    async fn copy_large(
        &self,
        path: &VPath,
        written: Option<Time>,
        a: &Large<'_>,
        digest: Digest,
        mut done: Done,
    ) -> Result<(Done, Option<VPath>), Done> {
        let mark = names::mark(written, &digest.hex());
        let copy = match self.free_name_of(path, &mark, a, digest).await {
            Ok(copy) => copy,
            Err(error) => return Ok((done.refused(path, Side::A, error), None)),
        };
        let mut made = Vec::new();
        for side in Side::BOTH {
            let created = match self.put(a, side, &copy, Expected::Nothing).await {
                Put::Unable => return Err(done),
                Put::Stored(_) => Ok(Made::New),
                Put::Failed(failed, error) => Err((failed, error)),
                Put::Taken => match self.digest_of(side, &copy, a.size).await {
                    Ok(there) if there == Some(digest) => Ok(Made::Same),
                    Ok(_) => Ok(Made::Other),
                    Err(error) => Err((side, error)),
                },
            };
            match created {
                Ok(Made::New) => {
                    done.changed(&copy, side, Changed::Created);
                    done.sent += a.size;
                    made.push(side);
                }
                Ok(Made::Same) => {}
                Ok(Made::Other) if side == Side::A => {
                    return Ok((done.refused(path, side, changed(path)), None));
                }
                Err((failed, error)) if side == Side::A => {
                    return Ok((done.refused(path, failed, error), None));
                }
                // The first side has it: the next run tries again to send it.
                Ok(Made::Other) => return Ok((done, Some(copy))),
                Err((failed, error)) => {
                    return Ok((done.refused(&copy, failed, error), Some(copy)));
                }
            }
        }
        Ok((agreed_on(done, &copy, digest, a.size, &made), Some(copy)))
    }

    /// A name that is free on both sides, or has this content already.
    async fn free_name_of(
        &self,
        path: &VPath,
        mark: &str,
        a: &Large<'_>,
        digest: Digest,
    ) -> Result<VPath> {
        for number in 1..NAMES {
            let copy = names::copy(path, self.name(Side::A), mark, number)?;
            let mut is_free = true;
            for side in Side::BOTH {
                is_free &= match exists(&**self.at(side), &copy).await? {
                    true => self.digest_of(side, &copy, a.size).await? == Some(digest),
                    false => true,
                };
            }
            if is_free {
                return Ok(copy);
            }
        }
        names::copy(path, self.name(Side::A), &digest.hex(), 1)
    }
}

/// Both sides hold this now.
fn agreed_on(mut done: Done, path: &VPath, digest: Digest, size: u64, written: &[Side]) -> Done {
    let end = End::Agreed {
        digest,
        size,
        body: None,
        written: written.to_vec(),
    };
    done.ends.push((path.clone(), end));
    done
}

/// A pattern that accepts this name only.
fn literal(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for one in name.chars() {
        if matches!(one, '*' | '?' | '[' | ']' | '{' | '}') {
            pattern.push('\\');
        }
        pattern.push(one);
    }
    pattern
}

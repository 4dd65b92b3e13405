//! Large files: read in ranges of one state of the file, and stored while they are read, so that a few ranges
//! are in memory, whatever the size. A file that changes meanwhile is not stored, and what others stored in
//! its place meanwhile stays. Backends that read no ranges have their files as a whole (`change`).

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use super::Sync;
use super::entry::Stamp;
use super::look::changed;
use super::plan::Side;
use super::uploads::{Lent, Upload};
use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::file::Mode;
use crate::core::future::Pending;
use crate::core::pace::Pace;
use crate::core::parts::{Begun, Expected, Notes, Parts};
use crate::core::path::VPath;
use crate::env::{clock, timer};
use crate::layer::kit::{if_there, is_conflict};
use crate::pins::{Digest, Digesting};
use crate::protocol::{BackendExt, read_part};

/// Files above so many bytes are read in ranges, and how many bytes a range has: an end of two is one of a part of
/// an upload.
const LARGE: u64 = 8 << 20;
const RANGE: u64 = LARGE / 2;

/// One state of a file of a side, whose bytes are read in ranges.
pub struct Large<'a> {
    sync: &'a Sync,
    pub side: Side,
    path: &'a VPath,
    pub size: u64,
    /// What tells it from other states of the file.
    pub version: Rc<str>,
    mode: Option<Mode>,
}

/// What became of a file that was to be stored.
pub enum Put {
    /// It is stored, and has this digest.
    Stored(Digest),
    /// Something else was in its place.
    Taken,
    /// The side cannot store it under this condition.
    Unable,
    /// The file of this side could not be read, or stored.
    Failed(Side, Error),
}

impl Sync {
    fn range(&self) -> u64 {
        self.options.range.unwrap_or(RANGE)
    }

    fn has_ranges(&self, size: u64) -> bool {
        size > self.options.range.unwrap_or(LARGE)
    }

    /// Whether a listed file is read in ranges, if its backend can.
    pub(super) fn is_large(&self, listed: Option<Stamp>) -> bool {
        listed.is_some_and(|stamp| self.has_ranges(stamp.size))
    }

    /// The state of a file now; `None` if its backend reads no ranges of it.
    pub(super) async fn large<'a>(
        &'a self,
        side: Side,
        path: &'a VPath,
    ) -> Result<Option<Large<'a>>> {
        let at = &**self.at(side);
        // Permission bits come with bytes.
        let some = u64::from(at.capability().keeps_modes);
        let file = read_part(at, path, 0..some).await?;
        let Some(section) = file.section else {
            return Ok(None);
        };
        Ok(section.version.map(|version| Large {
            sync: self,
            side,
            path,
            size: section.size,
            version,
            mode: file.mode,
        }))
    }

    /// The digest of a file of this size; `None` if it is not there, or not of this size.
    pub(super) async fn digest_of(
        &self,
        side: Side,
        path: &VPath,
        size: u64,
    ) -> Result<Option<Digest>> {
        if self.has_ranges(size) {
            match if_there(self.large(side, path).await)? {
                Some(Some(large)) if large.size == size => return large.digest().await.map(Some),
                Some(None) => {}
                None | Some(Some(_)) => return Ok(None),
            }
        }
        let body = if_there(self.at(side).fetch(path).await)?;
        let body = body.filter(|body| body.len() as u64 == size);
        Ok(body.map(|body| Digest::of(&body)))
    }

    /// Stores a file of a side at a path of a side, if what is expected is there in the end.
    pub(super) async fn put(
        &self,
        from: &Large<'_>,
        to: Side,
        path: &VPath,
        expected: Expected<'_>,
    ) -> Put {
        let expected = match has(Bug::SyncBlind) {
            true => Expected::Anything,
            false => expected,
        };
        let mut is_again = false;
        loop {
            let file = Lent(Reading {
                large: from,
                expected,
                at: Cell::new(0),
                digest: RefCell::new(Digesting::default()),
                marks: RefCell::default(),
                upload: Upload::of(
                    &self.book.room,
                    (from.side, from.path),
                    (from.size, &from.version),
                    (to, path),
                    expected,
                ),
                failed: RefCell::new(None),
            });
            let stored = self.at(to).stream(path, &file).await;
            let Lent(parts) = file;
            let failed = parts.failed.borrow_mut().take();
            let error = match (stored, failed) {
                (Ok(()), _) => return Put::Stored(parts.digest.take().finish()),
                // Who stores is not to blame for what could not be read.
                (Err(_), Some(error)) => {
                    self.leave(&parts.upload, &error);
                    return Put::Failed(from.side, error);
                }
                (Err(error), None) => error,
            };
            self.leave(&parts.upload, &error);
            // An upload of an earlier run may be gone.
            if !is_again && parts.upload.goes_on.get() && is_conflict(&error) {
                is_again = true;
                continue;
            }
            return match error.kind() == Kind::Unsupported {
                true => Put::Unable,
                false if is_conflict(&error) => Put::Taken,
                false => Put::Failed(to, error),
            };
        }
    }

    /// Leaves an upload to the next run, if nobody answered.
    fn leave(&self, upload: &Upload<'_>, error: &Error) {
        if error.is_no_answer() {
            let name = upload.name().to_owned();
            self.unfinished.borrow_mut().push(name);
        }
    }
}

impl Large<'_> {
    /// The bytes of the range that begins here, all of them of this state of the file.
    async fn range(&self, start: u64) -> Result<Bytes> {
        let running = self.sync.running.borrow().upgrade();
        if let Some(running) = running {
            running.goes_on().await?;
        }
        let end = self.size.min(start.saturating_add(self.sync.range()));
        let at = &**self.sync.at(self.side);
        let file = read_part(at, self.path, start..end).await?;
        let is_same = file.section.as_ref().is_some_and(|section| {
            section.version.as_deref() == Some(&*self.version) && section.size == self.size
        });
        match is_same && file.body.len() as u64 == end - start {
            true => Ok(file.body),
            false => Err(changed(self.path)),
        }
    }

    /// Fails if the file has another state by now.
    async fn check(&self) -> Result<()> {
        match self.sync.large(self.side, self.path).await? {
            Some(now) if now.version == self.version && now.size == self.size => Ok(()),
            Some(_) | None => Err(changed(self.path)),
        }
    }

    /// Its digest.
    pub async fn digest(&self) -> Result<Digest> {
        let pace = Pace::new(clock::now, timer::pause);
        let mut digest = Digesting::default();
        let mut start = 0;
        while start < self.size {
            let bytes = self.range(start).await?;
            start += bytes.len() as u64;
            digest.add_at(&pace, &bytes).await;
        }
        self.check().await?;
        Ok(digest.finish())
    }
}

/// The bytes of a state of a file on their way to another place.
struct Reading<'a> {
    large: &'a Large<'a>,
    expected: Expected<'a>,
    /// Where the next range begins.
    at: Cell<u64>,
    /// The digest of what was read, and those at the ends of ranges.
    digest: RefCell<Digesting>,
    marks: RefCell<Vec<(u64, Digest)>>,
    /// What is noted of its upload.
    upload: Upload<'a>,
    /// Why it could not be read to its end.
    failed: RefCell<Option<Error>>,
}

impl Reading<'_> {
    async fn range(&self) -> Result<Option<Bytes>> {
        let start = self.at.get();
        if start >= self.large.size {
            // The last range may have been read while somebody wrote.
            self.large.check().await?;
            return Ok(None);
        }
        let bytes = self.large.range(start).await?;
        let pace = Pace::new(clock::now, timer::pause);
        let mut digest = self.digest.take();
        digest.add_at(&pace, &bytes).await;
        let end = start + bytes.len() as u64;
        self.marks.borrow_mut().push((end, digest.clone().finish()));
        *self.digest.borrow_mut() = digest;
        self.at.set(end);
        Ok(Some(bytes))
    }

    /// The digest of all bytes up to here, if a range ends here.
    fn mark(&self, end: u64) -> Option<Digest> {
        let marks = self.marks.borrow();
        let found = marks.iter().find(|mark| mark.0 == end);
        found.map(|(_, digest)| *digest)
    }
}

impl Parts for Reading<'_> {
    fn size(&self) -> u64 {
        self.large.size
    }

    fn most(&self) -> u64 {
        let sync = self.large.sync;
        let most = sync.at(self.large.side).capability().max_file_bytes;
        most.unwrap_or(u64::MAX)
    }

    fn is_new(&self) -> bool {
        true
    }

    fn next(&self) -> Pending<'_, Option<Bytes>> {
        Box::pin(async move {
            let range = self.range().await;
            if let Err(error) = &range {
                *self.failed.borrow_mut() = Some(error.clone());
            }
            range
        })
    }

    fn notes(&self) -> Option<&dyn Notes> {
        Some(self)
    }

    fn object(&self) -> &dyn Any {
        &()
    }
}

impl Notes for Reading<'_> {
    fn expected(&self) -> Expected<'_> {
        self.expected
    }

    fn mode(&self) -> Option<Mode> {
        self.large.mode
    }

    fn begun(&self) -> Pending<'_, Option<Begun>> {
        Box::pin(self.upload.begun())
    }

    fn begin(&self, begun: Begun) -> Pending<'_, ()> {
        Box::pin(self.upload.begin(begun))
    }

    fn tag(&self, end: u64) -> Option<String> {
        self.upload.tag(end, self.mark(end)?)
    }

    fn sent<'a>(&'a self, end: u64, tag: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            if let Some(digest) = self.mark(end) {
                self.upload.sent(end, digest, tag).await;
            }
            Ok(())
        })
    }

    fn end(&self) -> Pending<'_, ()> {
        Box::pin(self.upload.end())
    }
}

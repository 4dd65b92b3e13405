//! Uploads of large files that were broken off. What is known of one is kept in the room of the pair, while it
//! goes on, so that the next run sends only what is missing:
//!
//! ```text
//! sending/NAME    who sends what to where, over which state; the id and the write of the upload, and since
//!                 when; of each part that was sent its end, the digest of all bytes up to it, and its tag
//! ```
//!
//! A note is used only for the same state of the source, and what was sent is compared by digests. Uploads that
//! nobody goes on with are given up.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Write as _;

use bytes::{Bytes, BytesMut};

use super::Sync;
use super::plan::Side;
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::parts::{Begun, Expected, Notes, Parts, expected, mode};
use crate::core::path::VPath;
use crate::core::queue::Turn;
use crate::env::clock;
use crate::pins::Digest;
use crate::protocol::{Answer, Backend, BackendExt, Content, Streamed, unsupported};
use crate::side::Room;

/// What notes of uploads are among records, and where they are.
const KIND: &str = "sending";

/// After so many microseconds an upload is not gone on with: a week, as buckets often have a rule for it.
const MOST_AGE: i64 = 7 * 24 * 3_600 * 1_000_000;

/// The first parts are noted one by one, those behind them some at a time.
const ONE_BY_ONE: usize = 32;
const AT_A_TIME: usize = 8;

fn word(side: Side) -> &'static str {
    match side {
        Side::A => "a",
        Side::B => "b",
    }
}

/// What is written about an upload.
#[derive(Clone, Default)]
struct Sheet {
    /// Three lines: where it is sent to, what is sent, and what is expected there.
    head: String,
    id: String,
    write: String,
    /// When it began, in microseconds.
    since: i64,
    /// Of each part its end, the digest of all bytes up to it, and its tag.
    parts: Vec<(u64, Digest, String)>,
}

impl Sheet {
    fn write(&self) -> String {
        let mut text = format!("{}{}\n{}\n{}\n", self.head, self.id, self.write, self.since);
        for (end, digest, tag) in &self.parts {
            // Writing into a text cannot fail.
            let _ = writeln!(text, "{end} {} {tag}", digest.short());
        }
        text
    }

    fn parse(text: &str) -> Option<Sheet> {
        let mut lines = text.split('\n');
        let mut head = String::new();
        for _ in 0..3 {
            head.push_str(lines.next()?);
            head.push('\n');
        }
        let (id, write) = (lines.next()?.to_owned(), lines.next()?.to_owned());
        let since = lines.next()?.parse().ok()?;
        let part = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let end = words.next()?.parse().ok()?;
            let digest = Digest::from_short(words.next()?)?;
            Some((end, digest, words.next()?.to_owned()))
        };
        Some(Sheet {
            head,
            id,
            write,
            since,
            parts: lines.filter_map(part).collect(),
        })
    }

    /// Where it was sent to, and how many bytes.
    fn place(&self) -> Option<(Side, VPath, u64)> {
        let mut lines = self.head.split('\n');
        let (side, path) = lines.next()?.split_once(' ')?;
        let side = Side::BOTH.into_iter().find(|one| word(*one) == side)?;
        let size = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        Some((side, VPath::from_stored(path)?, size))
    }
}

/// The note of an upload.
pub struct Upload<'a> {
    room: &'a Room,
    /// Its name in the room.
    name: String,
    /// The first lines of one that this call can go on with; empty for none.
    head: String,
    sheet: RefCell<Sheet>,
    /// As it is stored.
    file: RefCell<Option<Bytes>>,
    /// Whether it is one of an earlier call.
    pub goes_on: Cell<bool>,
}

impl<'a> Upload<'a> {
    /// Of a state of a file, of this size and version, on its way to a path of a side.
    pub fn of(
        room: &'a Room,
        (from, source): (Side, &VPath),
        (size, version): (u64, &str),
        (to, path): (Side, &VPath),
        expected: Expected<'_>,
    ) -> Upload<'a> {
        let place = format!("{} {}", word(to), path.as_str());
        let expected = match expected {
            Expected::Anything => "*",
            Expected::Nothing => "-",
            Expected::Version(version) => version,
        };
        let (side, source) = (word(from), source.as_str());
        let name: String = Digest::of(place.as_bytes())
            .hex()
            .chars()
            .take(32)
            .collect();
        let head = format!("{place}\n{side} {size} {version} {source}\n{expected}\n");
        Upload::named(room, format!("{KIND}/{name}"), head)
    }

    fn named(room: &'a Room, name: String, head: String) -> Upload<'a> {
        Upload {
            room,
            name,
            head,
            sheet: RefCell::default(),
            file: RefCell::new(None),
            goes_on: Cell::new(false),
        }
    }

    /// Its name in the directory of all.
    pub fn name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// What was noted.
    pub async fn begun(&self) -> Result<Option<Begun>> {
        let Some(found) = self.room.read(KIND, &self.name).await? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&found.body).unwrap_or_default();
        let sheet = Sheet::parse(text).unwrap_or_default();
        *self.file.borrow_mut() = Some(found.file);
        if sheet.id.is_empty() {
            return Ok(None);
        }
        let age = clock::now().micros().saturating_sub(sheet.since);
        let goes_on = sheet.head == self.head && age < MOST_AGE;
        self.goes_on.set(goes_on);
        let begun = Begun {
            id: sheet.id.clone(),
            write: sheet.write.clone(),
            goes_on,
        };
        *self.sheet.borrow_mut() = sheet;
        Ok(Some(begun))
    }

    /// Notes a new one.
    pub async fn begin(&self, begun: Begun) -> Result<()> {
        let sheet = Sheet {
            head: self.head.clone(),
            id: begun.id,
            write: begun.write,
            since: clock::now().micros(),
            parts: Vec::new(),
        };
        let text = sheet.write();
        *self.sheet.borrow_mut() = sheet;
        self.room.put(KIND, &self.name, text.as_bytes()).await?;
        let file = self.room.sealed(KIND, &self.name, text.as_bytes()).await;
        *self.file.borrow_mut() = Some(file);
        Ok(())
    }

    /// The tag of the part with this end, if the bytes up to it have this digest.
    pub fn tag(&self, end: u64, digest: Digest) -> Option<String> {
        let sheet = self.sheet.borrow();
        let mut parts = sheet.parts.iter();
        let found = parts.find(|part| (part.0, part.1) == (end, digest));
        found.map(|(_, _, tag)| tag.clone())
    }

    /// Notes a part. If that fails, it may be sent again.
    pub async fn sent(&self, end: u64, digest: Digest, tag: &str) {
        let text = {
            let mut sheet = self.sheet.borrow_mut();
            sheet.parts.retain(|part| part.0 != end);
            sheet.parts.push((end, digest, tag.to_owned()));
            let count = sheet.parts.len();
            if count > ONE_BY_ONE && !count.is_multiple_of(AT_A_TIME) {
                return;
            }
            sheet.write()
        };
        let Some(file) = self.file.borrow_mut().take() else {
            return;
        };
        let written = self.room.replace(KIND, &self.name, &file, text.as_bytes());
        // Another run that took it over writes it now.
        if let Ok(true) = written.await {
            let file = self.room.sealed(KIND, &self.name, text.as_bytes()).await;
            *self.file.borrow_mut() = Some(file);
        }
    }

    /// Removes the note, if it is still the one of this call.
    pub async fn end(&self) -> Result<()> {
        *self.sheet.borrow_mut() = Sheet::default();
        let Some(file) = self.file.borrow_mut().take() else {
            return Ok(());
        };
        self.room.delete(&self.name, &file).await.map(drop)
    }
}

/// Parts in a request. The code is not that of `OfParts`, which other pages would share with this one.
pub struct Lent<P>(pub P);

impl<P: Parts> Streamed for Lent<P> {
    fn parts(&self) -> &dyn Parts {
        &self.0
    }

    fn whole<'a>(&'a self, backend: &'a dyn Backend, path: &'a VPath) -> Pending<'a, Answer> {
        Box::pin(async move {
            let Lent(parts) = self;
            if expected(parts) != Expected::Nothing || parts.size() > parts.most() {
                return Err(unsupported("uploadFiles"));
            }
            let mut all = BytesMut::new();
            while let Some(part) = parts.next().await? {
                all.extend_from_slice(&part);
            }
            let content = Content::New(all.freeze(), mode(parts));
            let written = backend.write(path, content).await;
            Ok(Answer::Upload(vec![written.map(drop)]))
        })
    }

    fn stored<'a>(
        &'a self,
        turn: Pending<'a, Turn>,
        stores: Pending<'a, ()>,
    ) -> Pending<'a, Answer> {
        Box::pin(async move {
            let _turn = turn.await?;
            let stored = stores.await;
            Ok(Answer::Upload(vec![stored]))
        })
    }
}

/// Bytes that do not come any more, so that the storage gives up an upload of theirs.
struct GivenUp<'a> {
    upload: Upload<'a>,
    size: u64,
}

impl Parts for GivenUp<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn most(&self) -> u64 {
        0
    }

    fn is_new(&self) -> bool {
        true
    }

    fn next(&self) -> Pending<'_, Option<Bytes>> {
        let error = Error::new(Kind::Conflict, "The upload was given up");
        Box::pin(async move { Err(error) })
    }

    fn notes(&self) -> Option<&dyn Notes> {
        Some(self)
    }

    fn object(&self) -> &dyn Any {
        &()
    }
}

impl Notes for GivenUp<'_> {
    fn expected(&self) -> Expected<'_> {
        Expected::Nothing
    }

    fn begun(&self) -> Pending<'_, Option<Begun>> {
        Box::pin(self.upload.begun())
    }

    fn begin(&self, begun: Begun) -> Pending<'_, ()> {
        Box::pin(self.upload.begin(begun))
    }

    fn tag(&self, _: u64) -> Option<String> {
        None
    }

    fn sent<'a>(&'a self, _: u64, _: &'a str) -> Pending<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn end(&self) -> Pending<'_, ()> {
        Box::pin(self.upload.end())
    }
}

impl Sync {
    /// Gives up the uploads that no file of this run needs any more. Those whose side does not answer are left
    /// to the next time.
    pub(super) async fn give_up_uploads(&self) {
        let room = &self.book.room;
        let Ok(dir) = room.path(KIND) else { return };
        for info in room.at().ls(&dir).await.unwrap_or_default() {
            let name = info.path.name().to_owned();
            if self.unfinished.borrow().contains(&name) {
                continue;
            }
            let name = format!("{KIND}/{name}");
            let Ok(found) = room.read(KIND, &name).await else {
                continue;
            };
            let text = found
                .as_ref()
                .and_then(|found| std::str::from_utf8(&found.body).ok());
            let place = text.and_then(Sheet::parse).and_then(|sheet| sheet.place());
            if let Some((side, path, size)) = place {
                let upload = Upload::named(room, name.clone(), String::new());
                let parts = Lent(GivenUp { upload, size });
                let answer = self.at(side).stream(&path, &parts).await;
                if answer.is_err_and(|error| error.is_no_answer()) {
                    continue;
                }
            }
            let _ = room.remove(&name).await;
        }
    }
}

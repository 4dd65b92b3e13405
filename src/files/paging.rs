//! Pages of large texts without reading the whole file, for storages where every byte costs time. A
//! page is read in parts from the nearest known line start, and every part adds to the known line
//! starts. The result is the same as a page of the whole file, with one exception: the total number
//! of lines is missing if nobody has counted to the end and the storage keeps no count.
//!
//! Parts of two versions of a file are never mixed: each part has a version, and if it changes, the
//! page is started again.

mod sparse;

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Result};
use crate::core::file::{self, Mime};
use crate::core::path::VPath;
use crate::core::scan::newlines;
use crate::protocol::{Page, Position, ReadResult};
use crate::storage::{File, Meta, Ranged, Storage, Version};
use sparse::{Mark, Sparse};

/// Number of files whose line starts are kept.
const KNOWN: usize = 64;
/// How often a page of a changing file is started again before the whole file is read.
const TRIES: usize = 4;
/// The largest part that is skipped through on the way to a distant page.
const LARGEST: u64 = 8 * 1024 * 1024;

/// The result: the requested page, or the whole file to cut the page from.
pub enum Found {
    Page(ReadResult),
    Whole(File),
}

/// Reads pages and remembers line starts.
pub struct Pager {
    known: RefCell<VecDeque<Known>>,
}

impl Default for Pager {
    fn default() -> Pager {
        Pager {
            known: RefCell::renewable(VecDeque::new),
        }
    }
}

struct Known {
    path: VPath,
    version: Version,
    lines: Sparse,
}

/// A page that is being read.
struct Search {
    page: Page,
    /// The version of the file that all parts must have.
    version: Version,
    mime: Mime,
    size: u64,
    /// The known line start where reading began.
    from: Mark,
    /// Where the next part begins, the number of complete lines before it, and whether an
    /// incomplete line precedes it.
    at: u64,
    line: usize,
    open: bool,
    /// Start and end of the page in bytes, once they are known.
    start: Option<u64>,
    end: Option<u64>,
    /// The bytes of the page so far.
    pieces: Vec<Bytes>,
}

impl Pager {
    /// A page of the file at `path`, or the whole file if that is no more work.
    pub async fn read(&self, storage: &dyn Storage, path: &VPath, page: Page) -> Result<Found> {
        let by_parts = storage
            .extras()
            .ranged
            .filter(|_| !file::is_binary_name(path))
            .and_then(|ranged| Some((ranged, ranged.part_bytes()?)));
        if let Some((ranged, bytes)) = by_parts {
            for _ in 0..TRIES {
                match self.attempt(ranged, bytes, path, page).await? {
                    Attempt::Found(found) => return Ok(found),
                    Attempt::Changed => self.forget(path),
                    Attempt::NotByParts => break,
                }
            }
        }
        let whole = storage.get(path).await?;
        whole
            .map(Found::Whole)
            .ok_or_else(|| Error::not_found(path))
    }

    async fn attempt(
        &self,
        storage: &dyn Ranged,
        bytes: u64,
        path: &VPath,
        page: Page,
    ) -> Result<Attempt> {
        let (from, known) = self.nearest(path, page.offset);
        let range = from.byte..from.byte.saturating_add(bytes);
        let Some(part) = storage.get_part(path, range).await? else {
            return Err(Error::not_found(path));
        };
        if part.is_whole() {
            return Ok(Attempt::Found(Found::Whole(part.file)));
        }
        let meta = &part.file.meta;
        let (Some(version), Some(mime)) = (meta.version.clone(), text_type(path, meta)) else {
            return Ok(Attempt::NotByParts);
        };
        if known.is_some_and(|known| known != version) {
            return Ok(Attempt::Changed);
        }
        let lines = part.lines.and_then(|lines| usize::try_from(lines).ok());
        let mut search = Search {
            page,
            version,
            mime,
            size: meta.size,
            from,
            at: from.byte,
            line: from.line,
            open: false,
            start: (from.line == page.offset).then_some(from.byte),
            end: (page.limit == 0).then_some(from.byte),
            pieces: Vec::new(),
        };
        let mut part = part;
        loop {
            let end = part.start.saturating_add(part.file.body.len() as u64);
            if part.start != search.at || part.file.body.is_empty() || end > search.size {
                return Ok(Attempt::NotByParts);
            }
            self.learn(path, &search, &part.file.body);
            search.take(&part.file.body);
            if search.is_done() {
                break;
            }
            let range = search.next(part.file.body.len() as u64);
            part = match storage.get_part(path, range).await? {
                Some(part) if part.is_whole() => {
                    return Ok(Attempt::Found(Found::Whole(part.file)));
                }
                Some(part)
                    if part.file.meta.version.as_ref() == Some(&search.version)
                        || has(Bug::TornPage) =>
                {
                    part
                }
                _ => return Ok(Attempt::Changed),
            };
        }
        let total = self.total(path, &search.version).or(lines);
        Ok(Attempt::Found(Found::Page(search.answer(total))))
    }

    /// The last known line start at or before a line, and the version it belongs to.
    fn nearest(&self, path: &VPath, line: usize) -> (Mark, Option<Version>) {
        let known = self.known.borrow();
        match known.iter().find(|known| known.path == *path) {
            Some(known) => (known.lines.nearest(line), Some(known.version.clone())),
            None => (Mark::FIRST, None),
        }
    }

    /// Records the line starts in a part.
    fn learn(&self, path: &VPath, search: &Search, body: &[u8]) {
        let mut known = self.known.borrow_mut();
        let place = known.iter().position(|known| known.path == *path);
        let mut entry = match place.and_then(|place| known.remove(place)) {
            Some(entry) if entry.version == search.version => entry,
            _ => Known {
                path: path.clone(),
                version: search.version.clone(),
                lines: Sparse::new(search.size),
            },
        };
        entry.lines.learn(search.at, body);
        if known.len() >= KNOWN {
            known.pop_front();
        }
        known.push_back(entry);
    }

    /// The number of lines in that version of a file, if they were counted.
    fn total(&self, path: &VPath, version: &Version) -> Option<usize> {
        let known = self.known.borrow();
        let known = known.iter().find(|known| known.path == *path)?;
        known.lines.total().filter(|_| known.version == *version)
    }

    fn forget(&self, path: &VPath) {
        self.known.borrow_mut().retain(|known| known.path != *path);
    }
}

enum Attempt {
    Found(Found),
    /// The version of the file changed.
    Changed,
    /// The whole file must be read: it is not text, its type depends on all of its bytes, its parts
    /// have no version, or they do not match the reported size.
    NotByParts,
}

/// The type of a text file; `None` if it is not text, or if all bytes are needed to decide.
fn text_type(path: &VPath, meta: &Meta) -> Option<Mime> {
    match (&meta.mime, meta.texture) {
        (Some(mime), Some(texture)) => texture.is_text().then(|| mime.clone()),
        (given, _) => given
            .clone()
            .or_else(|| file::mime_of_name(path))
            .filter(Mime::is_text),
    }
}

impl Search {
    fn until(&self) -> usize {
        self.page.offset.saturating_add(self.page.limit)
    }

    /// Adds the bytes that follow the previous ones.
    fn take(&mut self, body: &Bytes) {
        let base = self.at;
        self.at = base.saturating_add(body.len() as u64);
        self.open = body.last() != Some(&b'\n');
        if self.end.is_some() {
            return;
        }
        let mut skip = 0;
        if self.start.is_none() {
            match self.newline(self.page.offset, body) {
                Some(place) => {
                    skip = place + 1;
                    self.start = Some(base.saturating_add(skip as u64));
                    self.line = self.page.offset;
                }
                None => return self.line += newlines(body),
            }
        }
        let rest = body.slice(skip..);
        match self.newline(self.until(), &rest) {
            Some(place) => {
                self.end = Some(base.saturating_add((skip + place) as u64));
                self.pieces.push(rest.slice(..place));
            }
            None => {
                self.line += newlines(&rest);
                self.pieces.push(rest);
            }
        }
    }

    /// The position of the newline after which the total number of lines is `lines`.
    fn newline(&self, lines: usize, bytes: &[u8]) -> Option<usize> {
        let missing = lines.checked_sub(self.line)?.checked_sub(1)?;
        memchr::memchr_iter(b'\n', bytes).nth(missing)
    }

    fn is_done(&self) -> bool {
        self.end.is_some() || self.at >= self.size
    }

    /// The next part to request: an estimate of the missing bytes from the line length so far, and
    /// at least twice the last part, so that long lines need few parts too.
    fn next(&self, last: u64) -> Range<u64> {
        let lines = self.line.saturating_sub(self.from.line).max(1);
        let per_line = self.at.saturating_sub(self.from.byte) / lines as u64;
        let missing = self.until().saturating_sub(self.line) as u64;
        let about = missing.saturating_mul(per_line.saturating_add(per_line / 4));
        let length = about.max(last.saturating_mul(2)).min(LARGEST.max(last));
        self.at..self.at.saturating_add(length).min(self.size)
    }

    /// The result, once all parts have arrived. A total that contradicts the parts is not used:
    /// another tool may have changed the file but kept the stored count.
    fn answer(self, total: Option<usize>) -> ReadResult {
        let until = self.until();
        let more = self
            .end
            .is_some_and(|end| end.saturating_add(1) < self.size);
        let shown = self.page.limit > 0 && self.start.is_some_and(|start| start < self.size);
        let end_line = match self.end {
            Some(_) => until,
            None => self.line.saturating_add(usize::from(self.open)),
        };
        let position = Position {
            total_lines: match more {
                true => total.filter(|total| *total > end_line),
                false => Some(end_line),
            },
            start_line: self.page.offset.saturating_add(1),
            end_line,
            next_offset: more.then_some(end_line),
        };
        let content = match <[Bytes; 1]>::try_from(self.pieces) {
            Ok([piece]) => piece,
            Err(pieces) => Bytes::from(pieces.concat()),
        };
        ReadResult {
            content: if shown { content } else { Bytes::new() },
            is_text: true,
            mime: Some(self.mime),
            position: shown.then_some(position),
        }
    }
}

#[cfg(test)]
mod tests;

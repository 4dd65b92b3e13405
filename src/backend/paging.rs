//! Pages of large texts without reading the whole, for storages that pay for every byte. A page
//! is read part by part from the nearest line start that is known already; every part adds to
//! what is known. What a page says is what it would say of the whole file, with one exception:
//! the total of lines, where nobody has counted to the end and the storage keeps no count.
//!
//! Parts of two states of a file are never mixed: each tells its version, and if that is another
//! than before, the page is begun anew.

mod sparse;

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

use crate::cell::RefCell;
use crate::error::{Error, Result};
use crate::file::{self, Mime};
use crate::path::VPath;
use crate::protocol::{Page, Position, ReadResult};
use crate::search::scan::newlines;
use crate::storage::{File, Meta, Storage, Version};
use sparse::{Mark, Sparse};

/// Files whose line starts are kept.
const KNOWN: usize = 64;
/// Times a page of a file that keeps changing is begun anew before it is read whole.
const TRIES: usize = 4;
/// The largest part that is passed over on the way to a page far behind.
const LARGEST: u64 = 8 * 1024 * 1024;

/// What was found: the page asked for, or the file, to cut the page from.
pub enum Found {
    Page(ReadResult),
    Whole(File),
}

/// Reads pages, and remembers where lines start.
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

/// A page on its way.
struct Search {
    page: Page,
    /// The state of the file that all parts are of.
    version: Version,
    mime: Mime,
    size: u64,
    /// The line start that was begun with.
    from: Mark,
    /// Where the next part begins, how many lines end before that, and whether another has begun.
    at: u64,
    line: usize,
    open: bool,
    /// Where the page starts and ends, once they are found.
    start: Option<u64>,
    end: Option<u64>,
    /// What of the page is here.
    pieces: Vec<Bytes>,
}

impl Pager {
    /// A page of the file at `path`, or the whole file where that is no more work.
    pub async fn read(&self, storage: &dyn Storage, path: &VPath, page: Page) -> Result<Found> {
        if let Some(first) = storage.part_bytes().filter(|_| !file::is_binary_name(path)) {
            for _ in 0..TRIES {
                match self.attempt(storage, path, page, first).await? {
                    Attempt::Found(found) => return Ok(found),
                    Attempt::Changed => self.forget(path),
                    Attempt::NotByParts => break,
                }
            }
        }
        let whole = storage.get(path, None).await?;
        whole
            .map(Found::Whole)
            .ok_or_else(|| Error::not_found(path))
    }

    async fn attempt(
        &self,
        storage: &dyn Storage,
        path: &VPath,
        page: Page,
        first: u64,
    ) -> Result<Attempt> {
        let (from, known) = self.nearest(path, page.offset);
        let range = from.byte..from.byte.saturating_add(first);
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
                Some(part) if part.file.meta.version.as_ref() == Some(&search.version) => part,
                _ => return Ok(Attempt::Changed),
            };
        }
        let total = self.total(path, &search.version).or(lines);
        Ok(Attempt::Found(Found::Page(search.answer(total))))
    }

    /// The last line start known at or before a line, and the version it is known of.
    fn nearest(&self, path: &VPath, line: usize) -> (Mark, Option<Version>) {
        let known = self.known.borrow();
        match known.iter().find(|known| known.path == *path) {
            Some(known) => (known.lines.nearest(line), Some(known.version.clone())),
            None => (Mark::default(), None),
        }
    }

    /// Notes what a part tells of where lines start.
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

    /// Lines of that state of a file, if they are counted.
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
    /// The file is another than the one that was begun with.
    Changed,
    /// It has to be read whole: it is no text, only all its bytes tell, its parts have no version
    /// to be held together by, or they do not fit the size that was told.
    NotByParts,
}

/// The type of a text; `None` where it is none, or where only all its bytes tell.
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

    /// Takes in the bytes that follow those before.
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

    /// Where the newline stands that ends so many lines in all.
    fn newline(&self, lines: usize, bytes: &[u8]) -> Option<usize> {
        let missing = lines.checked_sub(self.line)?.checked_sub(1)?;
        memchr::memchr_iter(b'\n', bytes).nth(missing)
    }

    fn is_done(&self) -> bool {
        self.end.is_some() || self.at >= self.size
    }

    /// The next part to ask for: about what is missing, by the length of the lines so far, and
    /// at least twice the last one, so that long lines take few parts too.
    fn next(&self, last: u64) -> Range<u64> {
        let lines = self.line.saturating_sub(self.from.line).max(1);
        let per_line = self.at.saturating_sub(self.from.byte) / lines as u64;
        let missing = self.until().saturating_sub(self.line) as u64;
        let about = missing.saturating_mul(per_line.saturating_add(per_line / 4));
        let length = about.max(last.saturating_mul(2)).min(LARGEST.max(last));
        self.at..self.at.saturating_add(length).min(self.size)
    }

    /// The answer, once everything is here. A total that contradicts what was seen is not used:
    /// another tool may have changed the file and kept the count.
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

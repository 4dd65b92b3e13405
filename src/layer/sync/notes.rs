//! What is agreed on, while a run changes it.

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::Change;
use super::agreed::{Book, Doing};
use super::done::End;
use super::early::Sent;
use super::entry::{Entry, Stamp};
use super::look::{Row, is_mergeable};
use super::parts::{Base, stored};
use super::plan::{Pair, Step};
use super::running;
use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::future::{PARALLEL, bounded};
use crate::core::order;
use crate::core::path::VPath;
use crate::pins::Digest;

/// The bytes of texts that are kept for merges: this many, or a fifth of the tree if that is more.
const LEAST_TEXTS: u64 = 1 << 20;
const OF_TREE: u64 = 5;

/// What earlier runs have left.
pub struct Agreed {
    /// What they agreed on, and the file.
    pub base: Base,
    pub file: Option<Bytes>,
    /// What one has begun.
    pub doing: Doing,
}

/// What was agreed on, and what is new of it.
pub struct Notes<'a> {
    book: &'a Book,
    pub base: Base,
    /// The file with what was agreed on that was read, or what this run has written instead.
    file: Option<Bytes>,
    written: Option<String>,
    /// What was changed of it, in the order in which it was.
    new: Vec<(VPath, Option<Entry>)>,
    /// What is being changed, and of what nobody knows whether it was.
    doing: Doing,
    /// In order.
    open: Vec<VPath>,
    /// Texts that are to be kept.
    texts: Vec<(Digest, Bytes)>,
    /// How many bytes of texts may be kept, and this run has kept.
    most: u64,
    kept: u64,
}

impl<'a> Notes<'a> {
    /// Of a tree of this size.
    pub fn new(book: &'a Book, agreed: Agreed, size: u64) -> Notes<'a> {
        let Agreed { base, file, doing } = agreed;
        let mut open: Vec<VPath> = doing.iter().map(|(path, _)| path.clone()).collect();
        order::sort(&mut open);
        Notes {
            book,
            base,
            file,
            written: None,
            new: Vec::new(),
            open,
            doing,
            texts: Vec::new(),
            most: LEAST_TEXTS.max(size / OF_TREE),
            kept: 0,
        }
    }

    /// Notes that these are about to be changed. What was listed first of a path stays.
    pub async fn begin(&mut self, rows: &[&Row]) -> Result<()> {
        let mut all = self.doing.clone();
        all.extend(
            rows.iter()
                .map(|row| (row.planned.path.clone(), row.listed)),
        );
        order::sort_by(&mut all, |a, b| a.0.cmp(&b.0));
        all.dedup_by(|later, first| later.0 == first.0);
        for row in rows {
            self.close(&row.planned.path);
        }
        if all != self.doing {
            self.book.put_doing(self.base.run, &all).await?;
            self.doing = all;
        }
        Ok(())
    }

    /// It is known of a path whether it was changed, or will be.
    fn close(&mut self, path: &VPath) {
        if let Ok(place) = self.open.binary_search(path) {
            self.open.remove(place);
        }
    }

    /// Notes a path that needs no change.
    pub fn keep(&mut self, row: &Row) {
        let path = &row.planned.path;
        self.close(path);
        if row.is_known {
            return;
        }
        let old = self.base.entry(path);
        let digest = match (&row.planned.step, old) {
            (Step::Forget, _) => return self.new.push((path.clone(), None)),
            (Step::Agree(digest), _) => *digest,
            (Step::Nothing, Some(old)) => old.digest,
            _ => return,
        };
        let size = row.listed.a.or(row.listed.b).map(|stamp| stamp.size);
        let mut entry = Entry {
            digest,
            size: size.or_else(|| old.map(|old| old.size)).unwrap_or(0),
            stamps: row.stamps,
            text: old
                .filter(|old| old.digest == digest)
                .and_then(|old| old.text),
        };
        if let (Step::Nothing, Some(old)) = (&row.planned.step, old) {
            // A listing that says too little to be trusted changes nothing.
            entry.stamps.a = entry.stamps.a.or(old.stamps.a);
            entry.stamps.b = entry.stamps.b.or(old.stamps.b);
        }
        let old = old.cloned();
        if let (None, Some(text)) = (entry.text, &row.text) {
            entry.text = self.keep_text(digest, text);
        }
        if old.as_ref() != Some(&entry) {
            self.new.push((path.clone(), Some(entry)));
        }
    }

    /// Notes an edit that was sent early; what it changed.
    pub fn sent(&mut self, sent: Sent) -> Change {
        let Sent {
            mut entry,
            body,
            change,
            ..
        } = sent;
        let path = change.path.clone();
        self.close(&path);
        entry.text = body.and_then(|body| self.keep_text(entry.digest, &body));
        self.base.apply(vec![(path.clone(), Some(entry.clone()))]);
        self.new.push((path, Some(entry)));
        change
    }

    /// Notes what the step of a path came to; `stamps` are what is listed of it.
    pub fn made(&mut self, of: &VPath, stamps: Pair<Option<Stamp>>, ends: Vec<(VPath, End)>) {
        for (path, end) in ends {
            let (digest, size, body, written) = match end {
                End::Gone => {
                    self.new.push((path, None));
                    continue;
                }
                End::Open => {
                    if let Err(place) = self.open.binary_search(&path) {
                        self.open.insert(place, path);
                    }
                    continue;
                }
                End::Agreed {
                    digest,
                    size,
                    body,
                    written,
                } => (digest, size, body, written),
            };
            let mut stamps = match path == *of {
                true => stamps,
                false => Pair::default(),
            };
            for side in written {
                *stamps.of_mut(side) = None;
            }
            let old = self.base.entry(&path).filter(|old| old.digest == digest);
            let mut text = old.and_then(|old| old.text);
            if let (None, Some(body)) = (text, &body) {
                text = self.keep_text(digest, body);
            }
            let entry = Entry {
                digest,
                size,
                stamps,
                text,
            };
            self.new.push((path, Some(entry)));
        }
    }

    /// Keeps a text for merges, if there is room; returns the run.
    fn keep_text(&mut self, digest: Digest, text: &Bytes) -> Option<u64> {
        let size = stored(text.len() as u64);
        if !is_mergeable(text) || self.kept + size > self.most {
            return None;
        }
        self.kept += size;
        self.texts.push((digest, text.clone()));
        Some(self.base.run + 1)
    }

    /// Writes the texts. One that is missing later only makes a conflict of a merge.
    pub async fn write_texts(&mut self) {
        let (book, texts) = (self.book, std::mem::take(&mut self.texts));
        let writes = texts
            .iter()
            .map(|(digest, text)| -> LocalBoxFuture<'_, Result<()>> {
                Box::pin(book.keep(digest, text))
            });
        bounded(PARALLEL, writes).await;
    }

    /// Writes what is agreed on now, and then which paths are uncertain.
    pub async fn publish(&mut self) -> Result<()> {
        self.write_texts().await;
        let mut new = std::mem::take(&mut self.new);
        if !new.is_empty() && !has(Bug::SyncBaseForgotten) {
            // Of two notes about a path the later one counts.
            new.reverse();
            order::sort_by(&mut new, |a, b| a.0.cmp(&b.0));
            new.dedup_by(|earlier, later| earlier.0 == later.0);
            if let Some(body) = self.written.take() {
                self.file = Some(self.book.file_of(&body).await);
            }
            let (base, file) = (&mut self.base, self.file.as_ref());
            let published = self.book.publish(base, file, new, self.most).await?;
            self.written = Some(published.ok_or_else(running::overtaken)?);
        }
        if !self.doing.is_empty() {
            let open = &self.open;
            self.doing
                .retain(|(path, _)| open.binary_search(path).is_ok());
            self.book.put_doing(self.base.run, &self.doing).await?;
        }
        Ok(())
    }
}

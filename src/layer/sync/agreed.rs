//! What both sides agreed on last, kept in a room:
//!
//! ```text
//! base            the number of the last run, and the names of the parts
//! parts/DIGEST    some files that were agreed on, a line each
//! texts/DIGEST    a text that was agreed on, for merges
//! doing           the paths that a run has begun to change, and what was listed of them before
//! running         who runs, and since when
//! ```
//!
//! `base` is replaced only if it is still the one that was read, so of two runs one writes it. A part that
//! is lost or damaged is as if nothing had been agreed about its files: they are compared again.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::plan::{Pair, Side};
use crate::core::error::Result;
use crate::core::future::{PARALLEL, bounded};
use crate::core::order;
use crate::core::path::VPath;
use crate::pins::Digest;
use crate::protocol::EntryInfo;
use crate::side::{Found, Others, Room};

/// The most files of a part; and how many there are before a path may end one.
const MOST: usize = 4096;
const LEAST: usize = 256;
/// One path in so many ends a part, so that a new file changes one part only.
const ENDS: u32 = 256;

/// How often what no run names is looked for: once in so many runs.
const SWEEPS: u64 = 16;

/// What a listing says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub size: u64,
    /// When it was written, in microseconds.
    pub modified: i64,
}

impl Stamp {
    /// That of a listed file, if the listing says both.
    pub fn of(entry: &EntryInfo) -> Option<Stamp> {
        match entry {
            EntryInfo::File { size, modified } => Some(Stamp {
                size: (*size)?,
                modified: (*modified)?.micros(),
            }),
            EntryInfo::Directory => None,
        }
    }

    fn text(stamp: Option<Stamp>) -> String {
        match stamp {
            Some(Stamp { size, modified }) => format!("{size}:{modified}"),
            None => String::from("-"),
        }
    }

    fn parse(text: &str) -> Option<Option<Stamp>> {
        if text == "-" {
            return Some(None);
        }
        let (size, modified) = text.split_once(':')?;
        Some(Some(Stamp {
            size: size.parse().ok()?,
            modified: modified.parse().ok()?,
        }))
    }
}

/// A file that both sides hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its content.
    pub digest: Digest,
    /// Its size.
    pub size: u64,
    /// What the listings of the sides said of it, where that is enough to know it again.
    pub stamps: Pair<Option<Stamp>>,
    /// The run in which its text was kept; `None` if it is not.
    pub text: Option<u64>,
}

impl Entry {
    fn line(&self, path: &VPath) -> String {
        let text = self.text.map_or("-".into(), |run| run.to_string());
        format!(
            "{} {} {text} {} {} {path}\n",
            self.digest.short(),
            self.size,
            Stamp::text(self.stamps.a),
            Stamp::text(self.stamps.b),
            path = path.as_str(),
        )
    }

    fn parse(line: &str) -> Option<(VPath, Entry)> {
        let mut words = line.splitn(6, ' ');
        let digest = Digest::from_short(words.next()?)?;
        let size = words.next()?.parse().ok()?;
        let text = match words.next()? {
            "-" => None,
            run => Some(run.parse().ok()?),
        };
        let stamps = Pair {
            a: Stamp::parse(words.next()?)?,
            b: Stamp::parse(words.next()?)?,
        };
        let path = VPath::from_stored(words.next()?)?;
        let entry = Entry {
            digest,
            size,
            stamps,
            text,
        };
        Some((path, entry))
    }
}

/// Everything that was agreed, by path.
pub type Entries = Vec<(VPath, Entry)>;

/// What was listed of a path before a run began to change it.
pub type Doing = Vec<(VPath, Pair<Option<Stamp>>)>;

/// A part as it is stored: its name, its first and last path, and how many files it has; zero if what was
/// read is not in order.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    first: VPath,
    last: VPath,
    count: usize,
}

/// What was agreed, as it was read.
#[derive(Default)]
pub struct Base {
    /// The number of the last run.
    pub run: u64,
    /// The files, in order of their paths.
    pub entries: Entries,
    /// Whether something of it was lost.
    pub is_damaged: bool,
    parts: Vec<Part>,
    file: Option<Bytes>,
}

impl Base {
    fn has_part(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.name == name)
    }

    /// The part that begins with a path, if nothing of it was changed. One that only ended because there
    /// were no more files is not that.
    fn same_part(&self, first: &VPath, changed: &[VPath]) -> Option<&Part> {
        let place = self.parts.binary_search_by(|part| part.first.cmp(first));
        let part = self.parts.get(place.ok()?)?;
        let next = changed.partition_point(|path| *path < part.first);
        let is_changed = changed.get(next).is_some_and(|path| *path <= part.last);
        (!is_changed && ends(&part.last, part.count)).then_some(part)
    }
}

/// The value of a path in a list in order.
pub fn at<'a, T>(list: &'a [(VPath, T)], path: &VPath) -> Option<&'a T> {
    let place = list.binary_search_by(|(one, _)| one.cmp(path)).ok()?;
    list.get(place).map(|(_, value)| value)
}

/// Where all of it is kept.
pub struct Book {
    /// The room.
    pub room: Room,
}

fn text_of(body: &Bytes) -> &str {
    std::str::from_utf8(body).unwrap_or_default()
}

fn text_name(digest: &Digest) -> String {
    format!("texts/{}", digest.hex())
}

/// Whether a part ends behind this path.
fn ends(path: &VPath, count: usize) -> bool {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = path.as_str().bytes().fold(0x811c_9dc5, mix);
    count >= MOST || (count >= LEAST && (hash >> 8) % ENDS == 0)
}

impl Book {
    /// Reads what was agreed.
    pub async fn base(&self) -> Result<Base> {
        let Some(found) = self.room.read("base", "base").await? else {
            return Ok(Base::default());
        };
        let mut lines = text_of(&found.body).lines();
        let Some(run) = lines.next().and_then(|run| run.parse().ok()) else {
            return Ok(Base {
                file: Some(found.file),
                ..Base::default()
            });
        };
        let names: Vec<String> = lines.map(|name| format!("parts/{name}")).collect();
        let mut entries: Entries = Vec::new();
        let mut parts = Vec::new();
        let mut is_damaged = false;
        for names in names.chunks(PARALLEL) {
            let bodies = self.room.read_all("part", names, Others::InTheWay);
            for (name, part) in names.iter().zip(bodies.await?) {
                let body = part.as_ref().map_or("", |part| text_of(&part.body));
                let before = entries.len();
                entries.extend(body.lines().filter_map(Entry::parse));
                is_damaged |= part.is_none();
                let found = entries.get(before..).unwrap_or_default();
                let path = |one: Option<&(VPath, Entry)>| one.map(|(path, _)| path.clone());
                parts.push(Part {
                    name: name.trim_start_matches("parts/").to_owned(),
                    first: path(found.first()).unwrap_or_else(VPath::root),
                    last: path(found.last()).unwrap_or_else(VPath::root),
                    count: match found.len() == body.lines().count() {
                        true => found.len(),
                        false => 0,
                    },
                });
            }
        }
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            parts.iter_mut().for_each(|part| part.count = 0);
        }
        order::sort_by(&mut entries, |a, b| a.0.cmp(&b.0));
        entries.dedup_by(|later, first| later.0 == first.0);
        Ok(Base {
            run,
            entries,
            is_damaged,
            parts,
            file: Some(found.file),
        })
    }

    /// Writes what is agreed now; `None` if another run did so meanwhile. `changed` are the paths that have
    /// other entries than before or none, in order.
    pub async fn publish(
        &self,
        was: &Base,
        run: u64,
        entries: Entries,
        changed: &[VPath],
    ) -> Result<Option<Base>> {
        let (parts, bodies) = parts_of(was, &entries, changed);
        let new = parts.iter().zip(&bodies).filter_map(|(part, body)| {
            let body = body.as_ref().filter(|_| !was.has_part(&part.name))?;
            Some((&part.name, body))
        });
        let writes = new.map(|(name, body)| -> LocalBoxFuture<'_, Result<()>> {
            let name = format!("parts/{name}");
            Box::pin(async move { self.room.put("part", &name, body.as_bytes()).await })
        });
        let written: Result<Vec<()>> = bounded(PARALLEL, writes).await.into_iter().collect();
        written?;
        let mut body = format!("{run}\n");
        for part in &parts {
            body.push_str(&part.name);
            body.push('\n');
        }
        let is_written = match &was.file {
            Some(file) => {
                let replaced = self.room.replace("base", "base", file, body.as_bytes());
                replaced.await?
            }
            None => self.create_base(body.as_bytes()).await?,
        };
        if !is_written {
            return Ok(None);
        }
        let base = Base {
            run,
            entries,
            is_damaged: false,
            parts,
            file: Some(self.room.sealed("base", "base", body.as_bytes()).await),
        };
        self.clean(was, &base).await;
        Ok(Some(base))
    }

    /// Deletes what is named no more. Failures are left to a later sweep.
    async fn clean(&self, was: &Base, now: &Base) {
        let kept = |name: &str| now.has_part(name);
        for part in was.parts.iter().filter(|part| !kept(&part.name)) {
            let _ = self.room.remove(&format!("parts/{}", part.name)).await;
        }
        if now.run % SWEEPS == 1 {
            self.room
                .sweep("parts", &|info| kept(info.path.name()))
                .await;
            let texts = now.entries.iter().filter(|(_, entry)| entry.text.is_some());
            let mut texts: Vec<String> = texts.map(|(_, entry)| entry.digest.hex()).collect();
            order::sort(&mut texts);
            let kept = |name: &str| {
                texts
                    .binary_search_by(|text| text.as_str().cmp(name))
                    .is_ok()
            };
            self.room
                .sweep("texts", &|info| kept(info.path.name()))
                .await;
        }
    }

    /// Writes the first base. One of another key stops the run for a time, as records of other keys do.
    async fn create_base(&self, body: &[u8]) -> Result<bool> {
        if self.room.create("base", "base", body).await? {
            return Ok(true);
        }
        match self.room.look("base", "base").await? {
            Some((Found::Proven(_), _)) => Ok(false),
            _ => self.room.put("base", "base", body).await.map(|()| true),
        }
    }

    /// A text that was kept.
    pub async fn text(&self, digest: &Digest) -> Result<Option<Bytes>> {
        let found = self.room.read("text", &text_name(digest)).await?;
        let body = found.map(|found| found.body);
        Ok(body.filter(|body| Digest::of(body) == *digest))
    }

    /// Keeps a text.
    pub async fn keep(&self, digest: &Digest, text: &Bytes) -> Result<()> {
        let name = text_name(digest);
        self.room.create("text", &name, text).await.map(drop)
    }

    /// Lets a text go.
    pub async fn drop_text(&self, digest: &Digest) {
        // What stays is found by a later sweep.
        let _ = self.room.remove(&text_name(digest)).await;
    }

    /// The paths that the run after this one has begun to change and did not finish. Those of a run that
    /// wrote its base are no news.
    pub async fn doing(&self, after: u64) -> Result<Doing> {
        let found = self.room.read("doing", "doing").await?;
        let Some(found) = found else {
            return Ok(Vec::new());
        };
        let mut lines = text_of(&found.body).lines();
        if lines.next() != Some(after.to_string().as_str()) {
            return Ok(Vec::new());
        }
        let parse = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let stamps = Pair {
                a: Stamp::parse(words.next()?)?,
                b: Stamp::parse(words.next()?)?,
            };
            Some((VPath::from_stored(words.next()?)?, stamps))
        };
        Ok(lines.filter_map(parse).collect())
    }

    /// Notes them, before the first is changed; and at the end those that are uncertain.
    pub async fn put_doing(&self, after: u64, doing: &Doing) -> Result<()> {
        if doing.is_empty() {
            return self.room.remove("doing").await;
        }
        let mut body = format!("{after}\n");
        for (path, stamps) in doing {
            let [a, b] = Side::BOTH.map(|side| Stamp::text(*stamps.of(side)));
            body.push_str(&format!("{a} {b} {}\n", path.as_str()));
        }
        self.room.put("doing", "doing", body.as_bytes()).await
    }
}

/// The parts of all files, and the bodies of those that may be new.
fn parts_of(
    was: &Base,
    entries: &[(VPath, Entry)],
    changed: &[VPath],
) -> (Vec<Part>, Vec<Option<String>>) {
    let (mut parts, mut bodies) = (Vec::new(), Vec::new());
    let mut rest = entries;
    while let Some((first, _)) = rest.first() {
        if let Some(part) = was.same_part(first, changed) {
            rest = rest.get(part.count..).unwrap_or_default();
            parts.push(part.clone());
            bodies.push(None);
            continue;
        }
        let mut body = String::new();
        let (mut last, mut count) = (first, 0);
        for (path, entry) in rest {
            body.push_str(&entry.line(path));
            (last, count) = (path, count + 1);
            if ends(path, count) {
                break;
            }
        }
        rest = rest.get(count..).unwrap_or_default();
        parts.push(Part {
            name: Digest::of(body.as_bytes()).hex().chars().take(40).collect(),
            first: first.clone(),
            last: last.clone(),
            count,
        });
        bodies.push(Some(body));
    }
    (parts, bodies)
}

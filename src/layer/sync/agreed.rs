//! What both sides agreed on last, kept in a room:
//!
//! ```text
//! base            the number of the last run, a key, and of each part its name, its first path, and the
//!                 hashes of what the sides list of it
//! parts/DIGEST    some files that were agreed on, a line each
//! texts/DIGEST    a text that was agreed on, for merges
//! doing           the paths that a run has begun to change, and what was listed of them before
//! running         who runs, and since when
//! ```
//!
//! `base` is replaced only if it is still the one that was read, so of two runs one writes it. A part that
//! is lost or damaged is as if nothing had been agreed about its files: they are compared again. So is all,
//! if `base` is.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::entry::{Entries, Entry, Stamp};
use super::parts::{Base, Cut, Part, stored};
use super::plan::{Pair, Side};
use super::running;
use crate::core::error::Result;
use crate::core::future::{PARALLEL, bounded};
use crate::core::order;
use crate::core::path::VPath;
use crate::pins::Digest;
use crate::side::{Found, Others, Room};

/// How often what no run names is looked for: once in so many runs.
pub const SWEEPS: u64 = 16;

/// Where texts must go, this part of what may be kept is free afterwards.
const SPARE: u64 = 16;

/// What was listed of a path before a run began to change it.
pub type Doing = Vec<(VPath, Pair<Option<Stamp>>)>;

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

impl Book {
    /// Reads what was agreed, but for its parts; and the file.
    pub async fn base(&self) -> Result<(Base, Option<Bytes>)> {
        let Some(found) = self.room.read("base", "base").await? else {
            return Ok((Base::default(), None));
        };
        let base = parsed(text_of(&found.body)).unwrap_or_else(|| Base {
            is_damaged: true,
            ..Base::default()
        });
        Ok((base, Some(found.file)))
    }

    /// Reads parts, if they are not read yet.
    pub async fn load(&self, base: &mut Base, places: &[usize]) -> Result<()> {
        let unread = |place: &usize| base.is_unread(*place);
        let places: Vec<usize> = places.iter().copied().filter(unread).collect();
        for places in places.chunks(PARALLEL) {
            let part = |place: &usize| base.parts.get(*place);
            let name = |part: &Part| format!("parts/{}", part.name);
            let names: Vec<String> = places.iter().filter_map(part).map(name).collect();
            let bodies = self.room.read_all("part", &names, Others::InTheWay).await?;
            for (place, body) in places.iter().zip(bodies) {
                if body.is_none() {
                    self.check_newest(base).await?;
                }
                let text = body.as_ref().map_or("", |body| text_of(&body.body));
                let mut entries: Entries = text.lines().filter_map(Entry::parse).collect();
                let count = entries.len();
                let end = base.end(*place);
                let is_first = *place == 0;
                let Some(part) = base.parts.get(*place) else {
                    continue;
                };
                entries.retain(|(path, _)| {
                    (is_first || part.first <= *path) && end.is_none_or(|end| path < end)
                });
                order::sort_by(&mut entries, |a, b| a.0.cmp(&b.0));
                entries.dedup_by(|later, first| later.0 == first.0);
                let is_whole = !entries.is_empty()
                    && entries.len() == count
                    && count == text.bytes().filter(|byte| *byte == b'\n').count();
                base.is_damaged |= !is_whole;
                if let Some(part) = base.parts.get_mut(*place) {
                    part.entries = Some(entries);
                    part.is_changed = !is_whole;
                    part.count_texts();
                }
            }
        }
        Ok(())
    }

    /// A part is missing: another run may have replaced it.
    async fn check_newest(&self, base: &Base) -> Result<()> {
        let (now, _) = self.base().await?;
        match (now.run, now.key) == (base.run, base.key) {
            true => Ok(()),
            false => Err(running::overtaken()),
        }
    }

    /// Writes what is agreed now in the place of a file; `None` if another run did so meanwhile, else what it has
    /// now. `new` are the paths that have other entries than before or none, in order; `most` are the bytes of texts
    /// that may be kept.
    pub async fn publish(
        &self,
        base: &mut Base,
        file: Option<&Bytes>,
        new: Vec<(VPath, Option<Entry>)>,
        most: u64,
    ) -> Result<Option<String>> {
        let places = base.places(new.iter().map(|(path, _)| path));
        self.load(base, &places).await?;
        let was = names(base);
        base.apply(new);
        let dropped = self.fit_texts(base, most).await?;
        self.cut(base, &was).await?;
        base.run += 1;
        base.is_damaged = false;
        let [one, two] = base.key;
        let mut body = format!("{} {one:016x}{two:016x}\n", base.run);
        for part in base.parts.iter().filter(|part| !part.name.is_empty()) {
            body.push_str(&part.line());
        }
        let bytes = body.as_bytes();
        let is_written = match file {
            Some(file) => self.room.replace("base", "base", file, bytes).await?,
            None => self.create_base(bytes).await?,
        };
        if !is_written {
            return Ok(None);
        }
        self.clean(&was, base, dropped).await;
        Ok(Some(body))
    }

    /// The file that has such a body.
    pub async fn file_of(&self, body: &str) -> Bytes {
        self.room.sealed("base", "base", body.as_bytes()).await
    }

    /// Cuts what was changed into parts again, and writes those that are new.
    async fn cut(&self, base: &mut Base, was: &[String]) -> Result<()> {
        let mut cut = Cut::new(base.key);
        for place in 0..base.parts.len() {
            let is_kept = base.parts.get(place).is_some_and(|part| cut.keeps(part));
            if !is_kept {
                self.load(base, &[place]).await?;
            }
            let Some(part) = base.parts.get_mut(place) else {
                continue;
            };
            // The first paths of those behind it are still needed.
            let mut part = std::mem::replace(part, Part::empty());
            match is_kept {
                true => cut.parts.push(part),
                false => cut.add(part.entries.take().unwrap_or_default()),
            }
            if cut.bodies.len() >= PARALLEL {
                self.write_parts(&mut cut, was).await?;
            }
        }
        cut.end();
        self.write_parts(&mut cut, was).await?;
        if cut.parts.is_empty() {
            cut.parts.push(Part::empty());
        }
        base.parts = cut.parts;
        Ok(())
    }

    async fn write_parts(&self, cut: &mut Cut, was: &[String]) -> Result<()> {
        let bodies = std::mem::take(&mut cut.bodies);
        let new = bodies.iter().filter(|(name, _)| !has(was, name));
        let writes = new.map(|(name, body)| -> LocalBoxFuture<'_, Result<()>> {
            let name = format!("parts/{name}");
            Box::pin(async move { self.room.put("part", &name, body.as_bytes()).await })
        });
        bounded(PARALLEL, writes).await.into_iter().collect()
    }

    /// Lets the oldest texts go if all are more than `most` bytes, so many that the next runs need not; returns
    /// their digests.
    async fn fit_texts(&self, base: &mut Base, most: u64) -> Result<Vec<Digest>> {
        let mut dropped = Vec::new();
        let all = |base: &Base| base.parts.iter().map(|part| part.texts).sum::<u64>();
        if all(base) <= most {
            return Ok(dropped);
        }
        let most = most - most / SPARE;
        loop {
            let mut sum = all(base);
            if sum <= most {
                return Ok(dropped);
            }
            let mut kept: Vec<(u64, usize, usize)> = Vec::new();
            for (place, part) in base.parts.iter().enumerate() {
                for (at, (_, entry)) in part.entries.iter().flatten().enumerate() {
                    kept.extend(entry.text.map(|run| (run, place, at)));
                }
            }
            // Of one run, those behind go first.
            order::sort_by(&mut kept, |a, b| (a.0, b.1, b.2).cmp(&(b.0, a.1, a.2)));
            let unread = base.parts.iter().enumerate().filter_map(|(place, part)| {
                let oldest = part.oldest.filter(|_| part.entries.is_none())?;
                Some((oldest, place))
            });
            let unread = unread.min();
            for (run, place, at) in kept {
                if sum <= most || unread.is_some_and(|(oldest, _)| oldest < run) {
                    break;
                }
                let Some(part) = base.parts.get_mut(place) else {
                    continue;
                };
                if let Some((_, entry)) = part.entries.iter_mut().flatten().nth(at) {
                    entry.text = None;
                    sum = sum.saturating_sub(stored(entry.size));
                    dropped.push(entry.digest);
                    part.is_changed = true;
                }
            }
            base.parts
                .iter_mut()
                .filter(|part| part.is_changed)
                .for_each(Part::count_texts);
            match unread {
                Some((_, place)) if sum > most => self.load(base, &[place]).await?,
                _ => return Ok(dropped),
            }
        }
    }

    /// Deletes what is named no more. Failures are left to a later sweep.
    async fn clean(&self, was: &[String], now: &Base, dropped: Vec<Digest>) {
        let names = names(now);
        let gone = was.iter().filter(|name| !has(&names, name));
        let removals = gone.map(|name| -> LocalBoxFuture<'_, ()> {
            Box::pin(async move { drop(self.room.remove(&format!("parts/{name}")).await) })
        });
        bounded(PARALLEL, removals).await;
        let is_swept = now.run % SWEEPS == 1;
        if is_swept {
            self.room
                .sweep("parts", &|info| has(&names, info.path.name()))
                .await;
        }
        let is_read = now.parts.iter().all(|part| part.entries.is_some());
        // Another file may have the same text. Where that is not known, a sweep finds what stays.
        if !is_swept && (dropped.is_empty() || !is_read) {
            return;
        }
        let Some(texts) = self.texts(now).await else {
            return;
        };
        if is_swept {
            self.room
                .sweep("texts", &|info| has(&texts, info.path.name()))
                .await;
        }
        for digest in dropped.iter().filter(|digest| !has(&texts, &digest.hex())) {
            let _ = self.room.remove(&text_name(digest)).await;
        }
    }

    /// The names of all texts that are kept, in order; `None` if that cannot be read.
    async fn texts(&self, base: &Base) -> Option<Vec<String>> {
        let mut texts: Vec<String> = Vec::new();
        let mut add = |entry: &Entry| texts.extend(entry.text.map(|_| entry.digest.hex()));
        let mut unread: Vec<String> = Vec::new();
        for part in base.parts.iter().filter(|part| part.texts > 0) {
            match &part.entries {
                Some(entries) => entries.iter().for_each(|(_, entry)| add(entry)),
                None => unread.push(format!("parts/{}", part.name)),
            }
        }
        for names in unread.chunks(PARALLEL) {
            let bodies = self.room.read_all("part", names, Others::InTheWay).await;
            for body in bodies.ok()? {
                let body = body?.body;
                let entries = text_of(&body).lines().filter_map(Entry::parse);
                entries.for_each(|(_, entry)| add(&entry));
            }
        }
        order::sort(&mut texts);
        Some(texts)
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

    /// The paths that a run has begun to change and did not finish, and after which run. Those of a run that
    /// wrote its base are no news.
    pub async fn doing(&self) -> Result<(u64, Doing)> {
        let found = self.room.read("doing", "doing").await?;
        let Some(found) = found else {
            return Ok((0, Vec::new()));
        };
        let mut lines = text_of(&found.body).lines();
        let Some(after) = lines.next().and_then(|run| run.parse().ok()) else {
            return Ok((0, Vec::new()));
        };
        let parse = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let stamps = Pair {
                a: Stamp::parse(words.next()?)?,
                b: Stamp::parse(words.next()?)?,
            };
            Some((VPath::from_stored(words.next()?)?, stamps))
        };
        Ok((after, lines.filter_map(parse).collect()))
    }

    /// Notes them, before the first is changed; and at the end those that are uncertain.
    pub async fn put_doing(&self, after: u64, doing: &Doing) -> Result<()> {
        if doing.is_empty() {
            return self.room.remove("doing").await;
        }
        let mut body = format!("{after}\n");
        for (path, stamps) in doing {
            for side in Side::BOTH {
                Stamp::write(*stamps.of(side), &mut body);
            }
            body.push_str(path.as_str());
            body.push('\n');
        }
        self.room.put("doing", "doing", body.as_bytes()).await
    }
}

/// The names of the stored parts, in order.
fn names(base: &Base) -> Vec<String> {
    let names = base.parts.iter().map(|part| part.name.clone());
    let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    order::sort(&mut names);
    names
}

/// Whether a list in order has a name.
fn has(names: &[String], name: &str) -> bool {
    names.binary_search_by(|one| one.as_str().cmp(name)).is_ok()
}

/// Reads a base; `None` if it is not whole.
fn parsed(text: &str) -> Option<Base> {
    let mut lines = text.lines();
    let (run, key) = lines.next()?.split_once(' ')?;
    let (one, two) = key.split_at_checked(16)?;
    let half = |text| u64::from_str_radix(text, 16).ok();
    let mut parts = lines.map(Part::parse).collect::<Option<Vec<Part>>>()?;
    if !parts.is_sorted_by(|a, b| a.first < b.first) {
        return None;
    }
    if parts.is_empty() {
        parts.push(Part::empty());
    }
    Some(Base {
        run: run.parse().ok()?,
        key: [half(one)?, half(two)?],
        parts,
        is_damaged: false,
    })
}

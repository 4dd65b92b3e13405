//! Searches that list nothing. The candidates are the files of the index whose rows match, and all paths
//! that notes name; each is read through the backend as it is now. What is needed and cannot be read,
//! or is not what it should be, ends such a search, and files are listed instead.
//!
//! Why no change is missed that ended before the search began: it was noted before it was made. The search
//! lists the notes first, and reads the manifest then. If the note was listed, its path is read, unless the
//! manifest says that an update has absorbed the change: then the update has listed the files after the
//! change had ended, so its segments have the file in that state, or a later one. If the note was
//! not listed, it was deleted; only an update deletes it, after a manifest was stored that has absorbed all
//! of it and of which no further change can come; and the manifest that is read is that one or a
//! later one.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::join;

use super::Indexed;
use super::catalogue::{PER_BLOCK, Table};
use super::dead::{self, Entries};
use super::manifest::Manifest;
use super::notes::{Log, Place};
use super::parts::{Parts, Read, Want};
use super::segment::Shape;
use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::order;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::env::{clock, timer};
use crate::protocol::{BackendExt, GrepQuery, GrepResult, GrepStats, Only, Sieve, Sift, State};
use crate::search::grams::{self, Need};

/// With more candidates, listing costs little beside reading them.
const MOST: usize = 50_000;

/// The index as it was read last.
#[derive(Default)]
pub struct Base {
    stored: Bytes,
    pub manifest: Manifest,
    /// The tables of segments that were read, by number.
    tables: Sorted<u64, Rc<Table>>,
    /// The entries that are out of date, if they were read.
    dead: Option<Rc<Entries>>,
}

/// What a search has read of the index.
#[derive(Default)]
pub struct Cost {
    requests: Cell<u64>,
    bytes: Cell<u64>,
}

impl Cost {
    fn add(&self, requests: u64, bytes: u64) {
        self.requests
            .set(self.requests.get().saturating_add(requests));
        self.bytes.set(self.bytes.get().saturating_add(bytes));
    }

    fn of(&self, read: Read) -> Vec<Option<Bytes>> {
        self.add(read.requests, read.bytes);
        read.parts
    }
}

/// The index and the notes, as they are now.
pub struct View {
    pub base: Rc<Base>,
    logs: Sorted<u64, Rc<Log>>,
}

impl View {
    /// The places that the index does not know as they are now.
    fn places(&self) -> Vec<Place> {
        let manifest = &self.base.manifest;
        let unsure = manifest.unsure.iter().map(|path| Place {
            path: path.clone(),
            is_tree: false,
        });
        let noted = self.logs.iter().flat_map(|(id, log)| {
            let absorbed = manifest.absorbed.get(id).copied().unwrap_or_default();
            log.places(absorbed).cloned()
        });
        unsure.chain(noted).collect()
    }

    /// The same as files and trees.
    pub fn only(&self) -> Only {
        let mut only = Only::default();
        for Place { path, is_tree } in self.places() {
            match is_tree {
                true => only.trees.push(path),
                false => only.files.push(path),
            }
        }
        order::sort(&mut only.files);
        only.files.dedup();
        order::sort(&mut only.trees);
        only.trees.dedup();
        only
    }
}

/// What is read of a segment for a search: the table of its catalogue, then the blocks of its rows.
fn wants(shape: &Shape, blocks: &[usize]) -> Vec<Want> {
    let ranges = blocks.iter().map(|block| shape.block(*block));
    let all = [shape.table()].into_iter().chain(ranges);
    all.map(|range| Want::of(shape, range)).collect()
}

fn blocks(shape: &Shape, need: &Need) -> Vec<usize> {
    let grams = need.iter().flatten().flatten();
    let mut blocks: Vec<usize> = grams.map(|gram| shape.block_of(*gram)).collect();
    order::sort(&mut blocks);
    blocks.dedup();
    blocks
}

/// The trigrams of a query, more of them in a large index; none if the query is wrong, which the backend
/// says in its words.
fn need(query: &GrepQuery, manifest: &Manifest) -> Need {
    let files = manifest.segments.iter().map(|shape| shape.files() as u64);
    grams::need(query, grams::extra(files.sum())).unwrap_or_default()
}

/// What a search reads.
struct Candidates {
    only: Only,
    /// Those of them that notes name.
    noted: Only,
    /// How many files of the index it does not read.
    excluded: u64,
}

impl Indexed {
    /// A search that lists nothing; `None` if it cannot be made.
    pub(super) async fn given(&self, query: &GrepQuery) -> Result<Option<GrepResult>> {
        let outer = query.sieve.as_ref();
        // A layer above must see all files, or the search is one of files of the library.
        if outer.is_some_and(|outer| outer.counts()) || query.path.is_own() {
            return Ok(None);
        }
        let cost = Cost::default();
        let Some(candidates) = self.candidates(query, &cost).await else {
            return Ok(None);
        };
        let mut stats = GrepStats {
            by_notes: true,
            ..GrepStats::default()
        };
        // What was read of the index tells something about all files.
        if !outer.is_some_and(|outer| outer.hides()) {
            stats.requests = cost.requests.get();
            stats.bytes = cost.bytes.get();
            stats.indexed = candidates.excluded;
        }
        let search = Rc::new(Given {
            outer: query.sieve.clone(),
            only: Rc::new(candidates.only),
            noted: candidates.noted,
            stats: Cell::new(stats),
        });
        let mut own = query.clone();
        own.stats = false;
        own.sieve = Some(Sieve(search.clone()));
        let mut found = self.inner.grep(&own).await?;
        found.stats = query.stats.then(|| search.stats.get());
        Ok(Some(found))
    }

    /// What a search reads; `None` if the index cannot tell, or if it is too much.
    async fn candidates(&self, query: &GrepQuery, cost: &Cost) -> Option<Candidates> {
        // What is needed of the segments that are known is read while notes and manifest are.
        let known = self.state.base.borrow().clone();
        let (view, ()) = join(
            self.view(cost),
            self.read_ahead(query, &known.manifest, cost),
        )
        .await;
        let view = view?;
        self.read_ahead(query, &view.base.manifest, cost).await;
        let base = self.loaded(&view.base, cost).await?;
        let need = need(query, &base.manifest);
        let found = self.matching(&base, &need, &query.path, cost).await;
        let Some((mut files, count)) = found else {
            // A part that is damaged is read again by the next search.
            self.state.parts.replace(Parts::default());
            return None;
        };
        let total = base.live();
        let noted = view.only();
        files.extend_from_slice(&noted.files);
        order::sort(&mut files);
        files.dedup();
        if files.len() > MOST {
            return None;
        }
        let only = Only {
            files,
            trees: noted.trees.clone(),
        };
        Some(Candidates {
            only,
            noted,
            excluded: total.saturating_sub(count),
        })
    }

    /// Reads what a query needs of all segments at once; it is kept.
    async fn read_ahead(&self, query: &GrepQuery, manifest: &Manifest, cost: &Cost) {
        let need = need(query, manifest);
        let shapes = manifest.segments.iter();
        let wants = shapes.flat_map(|shape| wants(shape, &blocks(shape, &need)));
        let read = self.fetch(&wants.collect::<Vec<Want>>()).await;
        cost.add(read.requests, read.bytes);
    }

    /// The index and the notes as they are now; `None` if they cannot be read, or do not have all files.
    pub(super) async fn view(&self, cost: &Cost) -> Option<View> {
        let early = match has(Bug::ManifestFirst) {
            true => self.manifest().await.ok()?,
            false => None,
        };
        let notes = self.notes.all().await.ok()?;
        cost.add(notes.requests, notes.bytes);
        if !notes.damaged.is_empty() {
            return None;
        }
        let stored = match early {
            Some(early) => early,
            None => self.manifest().await.ok()??,
        };
        cost.add(1, stored.len() as u64);
        let before = self.state.base.borrow().clone();
        let base = match before.stored == stored {
            true => before,
            false => {
                let manifest = Manifest::decode(&stored, &self.room).await?;
                let is_same = manifest.key == before.manifest.key;
                let is_dead_same = is_same && manifest.dead == before.manifest.dead;
                let mut tables = before.tables.clone();
                tables.retain(|id| is_same && manifest.segments.iter().any(|one| one.id == *id));
                Rc::new(Base {
                    stored,
                    manifest,
                    tables,
                    dead: before.dead.clone().filter(|_| is_dead_same),
                })
            }
        };
        let logs = notes.logs;
        base.manifest.is_complete.then_some(View { base, logs })
    }

    /// The same index with its tables, and the entries that are out of date.
    pub(super) async fn loaded(&self, base: &Rc<Base>, cost: &Cost) -> Option<Rc<Base>> {
        let manifest = &base.manifest;
        let is_loaded = |shape: &&Shape| base.tables.get(&shape.id).is_some();
        let missing = manifest.segments.iter().filter(|shape| !is_loaded(shape));
        let missing: Vec<&Shape> = missing.collect();
        if missing.is_empty() && base.dead.is_some() {
            return Some(base.clone());
        }
        let tables = missing.iter().map(|shape| Want::of(shape, shape.table()));
        let dead = manifest.dead.filter(|_| base.dead.is_none());
        let dead_want = dead.map(|dead| Want {
            id: dead.id,
            length: dead.bytes,
            range: 0..dead.bytes,
        });
        let wants: Vec<Want> = tables.chain(dead_want).collect();
        let mut parts = cost.of(self.fetch(&wants).await).into_iter();
        let mut tables = base.tables.clone();
        for shape in missing {
            let table = shape.read_table(manifest.key, &parts.next()??)?;
            tables.insert(shape.id, Rc::new(table));
        }
        let dead = match (&base.dead, dead) {
            (Some(known), _) => known.clone(),
            (None, None) => Rc::default(),
            (None, Some(dead)) => Rc::new(dead::opened(manifest.key, &dead, &parts.next()??)?),
        };
        let loaded = Rc::new(Base {
            stored: base.stored.clone(),
            manifest: manifest.clone(),
            tables,
            dead: Some(dead),
        });
        self.state.base.replace(loaded.clone());
        Some(loaded)
    }

    /// The files at and below `root` that the index does not exclude, and how many there are anywhere.
    async fn matching(
        &self,
        base: &Base,
        need: &Need,
        root: &VPath,
        cost: &Cost,
    ) -> Option<(Vec<VPath>, u64)> {
        let key = base.manifest.key;
        let pace = Pace::new(clock::now, timer::pause);
        let each = base.manifest.segments.iter();
        let each: Vec<(&Shape, Vec<usize>)> =
            each.map(|shape| (shape, blocks(shape, need))).collect();
        let wants: Vec<Want> = each
            .iter()
            .flat_map(|(shape, blocks)| wants(shape, blocks).into_iter().skip(1))
            .collect();
        let mut rows = cost.of(self.fetch(&wants).await).into_iter();
        let mut count = 0u64;
        let mut places: Vec<(&Shape, usize, Vec<usize>)> = Vec::new();
        let mut wants: Vec<Want> = Vec::new();
        for (shape, blocks) in each {
            let mut intact = Vec::with_capacity(blocks.len());
            for block in blocks {
                intact.push((block, shape.read_block(key, block, &rows.next()??)?));
            }
            let mut hits = shape.hits(need, &intact);
            base.retain_live(shape.id, &mut hits);
            pace.worked(shape.files() / 64).await;
            count += hits.len() as u64;
            if count > MOST as u64 {
                return None;
            }
            let table = base.tables.get(&shape.id)?;
            for hits in hits.chunk_by(|a, b| a / PER_BLOCK == b / PER_BLOCK) {
                let block = hits.first()? / PER_BLOCK;
                if table.may_have(block, root) {
                    let range = shape.in_catalogue(&table.block(block)?);
                    wants.push(Want::of(shape, range));
                    places.push((shape, block, hits.to_vec()));
                }
            }
        }
        let parts = cost.of(self.fetch(&wants).await);
        let mut files = Vec::new();
        for ((shape, block, hits), part) in places.into_iter().zip(parts) {
            let items = shape.read_items(key, block, &part?)?;
            for hit in hits {
                let item = items.get(hit % PER_BLOCK)?;
                if item.path.is_under(root) {
                    files.push(item.path.clone());
                }
            }
            pace.worked(PER_BLOCK).await;
        }
        Some((files, count))
    }
}

impl Base {
    /// Takes out the entries of a segment that are out of date. Both are in order.
    pub fn retain_live(&self, id: u64, hits: &mut Vec<usize>) {
        let dead = self.dead.as_ref().and_then(|dead| dead.get(&id));
        if let Some(dead) = dead {
            let mut dead = dead.iter().peekable();
            hits.retain(|hit| {
                while dead.next_if(|dead| *dead < hit).is_some() {}
                dead.peek() != Some(&hit)
            });
        }
    }

    /// Whether all of it was read that `loaded` reads.
    pub fn is_loaded(&self) -> bool {
        self.dead.is_some()
    }

    /// The table of a segment, if it was read.
    pub fn table(&self, shape: &Shape) -> Option<&Rc<Table>> {
        self.tables.get(&shape.id)
    }

    /// How many files it has, without those that are out of date.
    fn live(&self) -> u64 {
        let dead = self.dead.as_ref();
        let dead = dead.map_or(0, |dead| dead.values().map(Vec::len).sum());
        let shapes = self.manifest.segments.iter();
        shapes.map(Shape::files).sum::<usize>().saturating_sub(dead) as u64
    }
}

/// Names the files that are read, and counts them.
struct Given {
    outer: Option<Sieve>,
    only: Rc<Only>,
    noted: Only,
    stats: Cell<GrepStats>,
}

impl Sift for Given {
    /// A storage that has listed all files asks about others, too.
    fn admits(&self, path: &VPath, state: &State<'_>) -> bool {
        let outer = self.outer.as_ref();
        if !self.only.has(path) || outer.is_some_and(|outer| !outer.admits(path, state)) {
            return false;
        }
        let mut stats = self.stats.get();
        match self.noted.has(path) {
            true => stats.unindexed += 1,
            false => stats.candidates += 1,
        }
        stats.bytes = stats.bytes.saturating_add(state.size);
        self.stats.set(stats);
        true
    }

    fn read(&self, path: &VPath, state: &State<'_>, body: &[u8], is_text: bool) {
        if let Some(outer) = &self.outer {
            outer.read(path, state, body, is_text);
        }
    }

    fn tells(&self, path: &VPath) -> bool {
        self.outer.as_ref().is_none_or(|outer| outer.tells(path))
    }

    fn splits(&self) -> Vec<VPath> {
        Vec::new()
    }

    fn only(&self) -> Option<Rc<Only>> {
        Some(self.only.clone())
    }

    fn skipped(&self, _: &VPath, _: &State<'_>) {}

    fn hides(&self) -> bool {
        true
    }

    fn counts(&self) -> bool {
        false
    }
}

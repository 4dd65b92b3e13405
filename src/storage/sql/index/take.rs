//! Takes files into blocks of the index, and keeps the blocks few. Writers do that: after some hundred
//! changes, and `migrate`. A search never writes. It may happen at any time and in several processes
//! at once, and stop between any two statements: a file that is in no block is a candidate of every
//! search. So all errors are those of a later attempt, and no write fails because of them.

use std::rc::Rc;

use crate::core::error::Result;
use crate::core::order;
use crate::core::sorted::Sorted;
use crate::env::random;
use crate::search::grams::{Collector, Grams};
use crate::storage::sql::index::asked::{BLOCKS, BODY, IDS, ROWS, UNTAKEN, WAITING_ONES};
use crate::storage::sql::index::block::{
    Block, MOST_BYTES, MOST_FILES, files_of, most_files, size_of,
};
use crate::storage::sql::index::terms::{Follows, Found, Generation, list};
use crate::storage::sql::rows::{BATCH_BYTES, number, text};
use crate::storage::sql::statement::Value;
use crate::storage::sql::statements::Place;
use crate::storage::sql::{Database, PATHS, Sql};

/// Changes of one writer after which files are taken.
const CHANGES: usize = 256;
/// The same while more files of one call follow.
const CHANGES_IN_CALL: usize = MOST_FILES;
/// Fewer files are not worth a block.
const LEAST_FILES: usize = 64;
/// Blocks of about one size of which one is made.
const TOGETHER: usize = 4;

/// What is known of a block without its slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outline {
    pub block: i64,
    pub size: u32,
    pub files: usize,
    pub live: usize,
}

impl<D: Database> Sql<D> {
    /// Hears of files that were written, and takes files into the index if enough were.
    pub(in crate::storage::sql) async fn wrote(&self, files: usize, follows: Follows) {
        if !self.options.search_index || files == 0 {
            return;
        }
        // The first one begins anywhere: of many short-lived writers some do it.
        let before = match self.written.get() {
            Some(before) => before,
            None => random::bits() as usize % CHANGES,
        };
        let now = before.saturating_add(files);
        let enough = match follows {
            Follows::More => CHANGES_IN_CALL,
            Follows::Nothing => CHANGES,
        };
        self.written.set(Some(now));
        if now < enough {
            return;
        }
        self.written.set(Some(0));
        let Some(generation) = self.ready().await else {
            return;
        };
        // As many as were written, of whomever: other programs do not take theirs.
        let pages = now.div_ceil(MOST_FILES);
        if self.take(&self.place, generation, pages).await.is_err() {
            // Removed, perhaps.
            self.found.set(Found::Unknown);
        }
    }

    /// Takes the files of all namespaces.
    pub(super) async fn take_all(&self, generation: Generation) -> Result<()> {
        let waiting = self.place.waiting(generation, LEAST_FILES);
        for row in self.database.query(waiting, &PATHS).await? {
            let Some(namespace) = text(&row, 0) else {
                continue;
            };
            let place = Place {
                namespace: Rc::from(namespace),
                ..self.place.clone()
            };
            self.take(&place, generation, usize::MAX).await?;
        }
        Ok(())
    }

    /// Takes so many pages of files, each of which makes a block or one for each size.
    async fn take(&self, place: &Place, generation: Generation, pages: usize) -> Result<()> {
        let mut collector = Collector::default();
        let mut last = 0;
        for _ in 0..pages {
            let untaken = place.untaken(generation, last, MOST_FILES);
            let page = self.database.query(untaken, &UNTAKEN).await?;
            if page.len() < LEAST_FILES {
                break;
            }
            let mut sets: Vec<(i64, Grams)> = Vec::new();
            let mut ids: Vec<i64> = Vec::new();
            let (mut bytes, mut kept) = (0u64, 0usize);
            for row in &page {
                let (Some(id), Some(size), Some(kind)) =
                    (number(row, 0), number(row, 1), number(row, 2))
                else {
                    continue;
                };
                last = id;
                match kind {
                    0 => {}
                    1 => sets.push((id, Grams::Nothing)),
                    _ => sets.push((id, Grams::Anything)),
                }
                if kind != 0 {
                    continue;
                }
                let size = size.unsigned_abs();
                if !ids.is_empty() && bytes.saturating_add(size) > BATCH_BYTES {
                    kept += self
                        .collect(place, generation, &mut ids, &mut collector, &mut sets)
                        .await?;
                    bytes = 0;
                }
                if kept > 4 * MOST_BYTES {
                    self.store_sets(place, generation, &mut sets).await?;
                    kept = 0;
                }
                bytes = bytes.saturating_add(size);
                ids.push(id);
            }
            self.collect(place, generation, &mut ids, &mut collector, &mut sets)
                .await?;
            self.store_sets(place, generation, &mut sets).await?;
            if page.len() < MOST_FILES {
                break;
            }
        }
        self.tidy(place, generation).await
    }

    /// Reads these files and collects their trigrams; returns how many bytes these need.
    async fn collect(
        &self,
        place: &Place,
        generation: Generation,
        ids: &mut Vec<i64>,
        collector: &mut Collector,
        sets: &mut Vec<(i64, Grams)>,
    ) -> Result<usize> {
        if ids.is_empty() {
            return Ok(0);
        }
        let wanted = list(ids.drain(..));
        let bodies = place.bodies_of(generation, &wanted);
        let mut bytes = 0usize;
        for row in self.database.query(bodies, &BODY).await? {
            if let (Some(id), Some(Some(Value::Bytes(body)))) = (number(&row, 0), row.get(1)) {
                let set = collector.collect(body);
                bytes = bytes.saturating_add(1 << size_of(&set) >> 3);
                sets.push((id, set));
            }
        }
        Ok(bytes)
    }

    /// Stores these sets in blocks, one or more for each size.
    async fn store_sets(
        &self,
        place: &Place,
        generation: Generation,
        sets: &mut Vec<(i64, Grams)>,
    ) -> Result<()> {
        let mut sizes: Sorted<u32, Vec<(i64, Grams)>> = Sorted::new();
        for (id, set) in sets.drain(..) {
            let size = size_of(&set);
            match sizes.get_mut(&size) {
                Some(same) => same.push((id, set)),
                None => drop(sizes.insert(size, vec![(id, set)])),
            }
        }
        for (size, same) in sizes.iter() {
            let mut same = same.clone();
            order::sort_by_key(&mut same, |(id, _)| *id);
            for some in same.chunks(most_files(*size)) {
                let block = Block::of(*size, some);
                let store = place.store_block(generation, fresh(), block, WAITING_ONES);
                self.database.query(store, &[]).await?;
            }
        }
        Ok(())
    }

    /// Removes blocks in which nothing lives, and makes few blocks of many.
    async fn tidy(&self, place: &Place, generation: Generation) -> Result<()> {
        let rows = self
            .database
            .query(place.all_blocks(generation), &BLOCKS)
            .await?;
        let outline = |row: &Vec<Option<Value>>| {
            let count = |at| usize::try_from(number(row, at)?).ok();
            Some(Outline {
                block: number(row, 0)?,
                size: u32::try_from(number(row, 1)?).ok()?,
                files: count(2)?,
                live: count(3)?,
            })
        };
        let all: Vec<Outline> = rows.iter().filter_map(outline).collect();
        let dead = all.iter().filter(|one| one.live == 0);
        let dead: Vec<i64> = dead.map(|one| one.block).collect();
        if !dead.is_empty() {
            let these = list(dead.iter().copied());
            let remove = place.drop_blocks(generation, &these);
            self.database.query(remove, &[]).await?;
        }
        for group in merges(&all) {
            self.merge(place, generation, &group).await?;
        }
        Ok(())
    }

    async fn merge(&self, place: &Place, generation: Generation, group: &[i64]) -> Result<()> {
        let these = list(group.iter().copied());
        let live = place.live_in(generation, &these);
        // Numbers only leave a block, so these are at least those that are in it later.
        let rows = self.database.query(live, &IDS).await?;
        let live: Vec<i64> = rows.iter().filter_map(|row| number(row, 0)).collect();
        let rows = place.rows_of(generation, &these);
        let mut blocks: Vec<Block> = Vec::new();
        for row in self.database.query(rows, &ROWS).await? {
            match (number(&row, 1), blocks.last_mut()) {
                (Some(0), _) => blocks.push(Block {
                    size: number(&row, 2)
                        .and_then(|size| u32::try_from(size).ok())
                        .unwrap_or_default(),
                    files: files_of(&text(&row, 3).unwrap_or_default()),
                    slices: Vec::new(),
                }),
                (_, Some(block)) => {
                    if let Some(Some(Value::Bytes(slices))) = row.get(4) {
                        block.slices.extend_from_slice(slices);
                    }
                }
                (_, None) => {}
            }
        }
        // Another process may have merged them, and then a file is in none of these.
        if let Some(merged) = Block::merged(&blocks, &live).filter(|_| !live.is_empty()) {
            let store = place.store_block(generation, fresh(), merged, &these);
            self.database.query(store, &[]).await?;
        }
        Ok(())
    }
}

/// A number that no block has.
fn fresh() -> i64 {
    (random::bits() >> 12).max(1).cast_signed()
}

/// The blocks to make one of: several with about as many living files, or one in which half are dead.
/// So a file is taken from block to block a few times at most, and blocks stay few.
pub(super) fn merges(all: &[Outline]) -> Vec<Vec<i64>> {
    let mut groups: Sorted<(u32, u32), Vec<Outline>> = Sorted::new();
    let mut out = Vec::new();
    for one in all.iter().filter(|one| one.live > 0) {
        if one.live * 2 > most_files(one.size) {
            if one.live * 2 < one.files {
                out.push(vec![one.block]);
            }
            continue;
        }
        let key = (one.size, one.live.ilog2() / 2);
        match groups.get_mut(&key) {
            Some(group) => group.push(*one),
            None => drop(groups.insert(key, vec![*one])),
        }
    }
    for (_, group) in groups.iter() {
        let mut rest = group.as_slice();
        while rest.len() >= TOGETHER {
            let mut live = 0usize;
            let fit = rest.iter().take_while(|one| {
                live = live.saturating_add(one.live);
                live <= most_files(one.size)
            });
            let fit = fit.count().max(1);
            let (these, left) = rest.split_at(fit.min(rest.len()));
            out.push(these.iter().map(|one| one.block).collect());
            rest = left;
        }
        let sparse = rest.iter().filter(|one| one.live * 2 < one.files);
        out.extend(sparse.map(|one| vec![one.block]));
    }
    out
}

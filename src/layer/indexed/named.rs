//! `glob` of many files from the catalogue of the index, with the same promise as searches that list nothing
//! (`given.rs`). Paths that notes name are asked of the backend. In a directory of few files a listing
//! takes fewer requests.

use super::Indexed;
use super::catalogue::{Item, PER_BLOCK};
use super::given::{Base, Cost, View};
use super::parts::Want;
use super::segment::Shape;
use crate::core::error::Result;
use crate::core::future::{PARALLEL, Pending, bounded};
use crate::core::order;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{clock, timer};
use crate::protocol::{BackendExt, EntryInfo, FileInfo, GlobQuery, GlobResult, Only};
use crate::search::glob::Pattern;

/// A listing has so many files in few requests.
pub const FEW: usize = 20_000;
/// With more noted places, a listing takes fewer requests.
const MOST_NOTED: usize = 64;

impl Indexed {
    /// The answer of `glob`; `None` if a listing is needed, or is cheaper.
    pub(super) async fn named(&self, query: &GlobQuery) -> Result<Option<GlobResult>> {
        if query.path.is_own() {
            return Ok(None);
        }
        // What is wrong with a pattern, the backend says in its words.
        let Ok(pattern) = Pattern::parse(query) else {
            return Ok(None);
        };
        let found = self.catalogued(&pattern).await;
        pattern.over()?;
        let Some(mut files) = found else {
            return Ok(None);
        };
        order::sort_by(&mut files, |a, b| a.path.cmp(&b.path));
        if !query.in_any_order {
            order::sort_by_key(&mut files, |file| std::cmp::Reverse(file.modified()));
        }
        Ok(Some(GlobResult {
            files,
            by_path: query.in_any_order,
            truncated: false,
            ignored: 0,
        }))
    }

    async fn catalogued(&self, pattern: &Pattern) -> Option<Vec<FileInfo>> {
        let dir = pattern.scope().literal_dir();
        let cost = Cost::default();
        // Small trees are listed without a look at the notes.
        let known = self.state.base.borrow().clone();
        if known.is_loaded() && self.blocks_in(&known, &dir).is_none() {
            return None;
        }
        let view = self.view(&cost).await?;
        let base = self.loaded(&view.base, &cost).await?;
        if !base.manifest.is_exact {
            return None;
        }
        let blocks = self.blocks_in(&base, &dir)?;
        let noted = noted(&view, &dir);
        if noted.files.len() + noted.trees.len() > MOST_NOTED {
            return None;
        }
        let (pace, key) = (Pace::new(clock::now, timer::pause), base.manifest.key);
        let wants: Vec<Want> = blocks.iter().map(|(_, _, want)| want.clone()).collect();
        let parts = self.fetch(&wants).await.parts;
        let mut files = Vec::new();
        for ((shape, block, _), part) in blocks.iter().zip(parts) {
            let items = shape.read_items(key, *block, &part?)?;
            let mut hits: Vec<usize> = (0..items.len()).map(|at| block * PER_BLOCK + at).collect();
            base.retain_live(shape.id, &mut hits);
            for hit in hits {
                let item = items.get(hit % PER_BLOCK)?;
                if pattern.accepts(&item.path) && !noted.has(&item.path) {
                    files.push(info(item));
                }
                pace.worked(pattern.worked()).await;
            }
        }
        for found in self.asked(&noted).await? {
            if pattern.accepts(&found.path) {
                files.push(found);
            }
        }
        Some(files)
    }

    /// The blocks of the catalogue that may have files at or below a directory; `None` if these are few.
    fn blocks_in<'a>(&self, base: &'a Base, dir: &VPath) -> Option<Vec<(&'a Shape, usize, Want)>> {
        let mut blocks = Vec::new();
        for shape in &base.manifest.segments {
            let table = base.table(shape)?;
            for block in (0..table.len()).filter(|block| table.may_have(*block, dir)) {
                let range = shape.in_catalogue(&table.block(block)?);
                blocks.push((shape, block, Want::of(shape, range)));
            }
        }
        (blocks.len() * PER_BLOCK >= self.state.few.get()).then_some(blocks)
    }

    /// What the backend lists now of noted places.
    async fn asked(&self, noted: &Only) -> Option<Vec<FileInfo>> {
        let mut queries: Vec<GlobQuery> = Vec::new();
        for tree in &noted.trees {
            queries.push(GlobQuery::all(tree));
        }
        for path in noted.files.iter().chain(&noted.trees) {
            if !path.is_root() {
                queries.push(GlobQuery::new(literal(path.name()), path.parent()));
            }
        }
        let asks = queries
            .iter()
            .map(|query| -> Pending<'_, GlobResult> { Box::pin(self.inner.glob(query)) });
        let mut files = Vec::new();
        for answer in bounded(PARALLEL, asks).await {
            let answer = answer.ok().filter(|answer| !answer.truncated)?;
            let found = answer.files.into_iter();
            files.extend(found.filter(|info| noted.has(&info.path)));
        }
        order::sort_by(&mut files, |a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        Some(files)
    }
}

/// The noted places that concern a directory.
pub fn noted(view: &View, dir: &VPath) -> Only {
    let mut noted = view.only();
    noted.files.retain(|path| path.is_under(dir));
    noted
        .trees
        .retain(|tree| tree.is_under(dir) || dir.is_under(tree));
    for tree in &mut noted.trees {
        if dir.is_under(tree) {
            *tree = dir.clone();
        }
    }
    noted
}

/// A file as a listing has it.
pub fn info(item: &Item) -> FileInfo {
    FileInfo {
        path: item.path.clone(),
        entry: EntryInfo::File {
            // A storage that does not tell sizes has the largest number.
            size: (item.size != u64::MAX).then_some(item.size),
            modified: Some(Time::from_micros(item.modified)),
        },
    }
}

/// A pattern that only this name matches.
pub fn literal(name: &str) -> String {
    let mut pattern = String::new();
    for letter in name.chars() {
        if letter.is_ascii_punctuation() && !matches!(letter, '.' | '-' | '_') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

//! `ls` of very many entries from the catalogue of the index, with the same promise as searches that list
//! nothing (`given.rs`). A listing has a page of them in a request, and the next page is asked for by
//! the one before; the catalogue has more in each, and what was read of it is kept. So it is used where it
//! takes fewer requests, as far as the tables tell, which have the path of one file of so many.
//!
//! Directories are those in the paths of files. Where others exist, or a rule is to be asked, the backend is.

use super::Indexed;
use super::catalogue::PER_BLOCK;
use super::given::{Base, Cost};
use super::named::{info, literal, noted};
use super::parts::{Want, requests};
use super::segment::Shape;
use crate::core::error::Result;
use crate::core::future::{PARALLEL, Pending, bounded};
use crate::core::order;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::env::{clock, timer};
use crate::protocol::{BackendExt, EntryInfo, FileInfo, GlobQuery, GlobResult, Listings, Only};
use crate::search::sorted::sorted;

/// Entries in a page of a listing, of a bucket's.
pub const PAGE: usize = 1000;
/// Requests without which nothing is known: for the notes and for the manifest.
const LEAST: usize = 2;

/// How a directory is read from the catalogue.
struct Plan<'a> {
    /// Blocks to read.
    blocks: Vec<(&'a Shape, usize, Want)>,
    /// Directories in it that are known to exist from the table.
    dirs: Vec<VPath>,
    /// About how many entries it has.
    entries: usize,
}

impl Indexed {
    /// The answer of `ls`.
    pub(super) async fn listed(&self, dir: &VPath) -> Result<Vec<FileInfo>> {
        let may = self.goes_by_notes() && self.inner.capability().listings == Listings::Paths;
        if may
            && !dir.is_own()
            && let Some(infos) = self.level(dir).await
        {
            return Ok(infos);
        }
        let infos = self.inner.ls(dir).await?;
        let longest = &self.state.longest;
        longest.set(longest.get().max(infos.len()));
        Ok(infos)
    }

    /// The entries of a directory; `None` if a listing is needed, or is cheaper.
    async fn level(&self, dir: &VPath) -> Option<Vec<FileInfo>> {
        let known = self.state.base.borrow().clone();
        let is_worth = match known.is_loaded() {
            true => self.is_cheaper(&plan(&known, dir, &Only::default())?, 0),
            // The tables are read when a listing was longer than what they take.
            false => {
                let longest = self.state.longest.take();
                longest >= (LEAST + 1).saturating_mul(self.state.page.get())
            }
        };
        if !is_worth {
            return None;
        }
        let cost = Cost::default();
        let view = self.view(&cost).await?;
        let base = self.loaded(&view.base, &cost).await?;
        let noted = noted(&view, dir);
        if !base.manifest.is_exact || noted.trees.contains(dir) {
            return None;
        }
        let plan = plan(&base, dir, &noted)?;
        let mut level = Level::new(dir, plan.dirs.clone());
        if !self.is_cheaper(&plan, level.unsure(&noted).len()) {
            return None;
        }
        let (pace, key) = (Pace::new(clock::now, timer::pause), base.manifest.key);
        let wants: Vec<Want> = plan
            .blocks
            .iter()
            .map(|(_, _, want)| want.clone())
            .collect();
        let parts = self.fetch(&wants).await.parts;
        for ((shape, block, _), part) in plan.blocks.iter().zip(parts) {
            let items = shape.read_items(key, *block, &part?)?;
            let mut hits: Vec<usize> = (0..items.len()).map(|at| block * PER_BLOCK + at).collect();
            base.retain_live(shape.id, &mut hits);
            for hit in hits {
                let item = items.get(hit % PER_BLOCK)?;
                if !noted.has(&item.path) {
                    level.add(&info(item));
                }
            }
            pace.worked(PER_BLOCK).await;
        }
        level.settle(&pace).await;
        let unsure = level.unsure(&noted);
        for found in self.entries_at(dir, &unsure).await? {
            level.add(&found);
        }
        Some(level.shown(&pace).await)
    }

    /// Whether a plan takes fewer requests than a listing, with as many questions. What is read is
    /// needed by the next call, too, so this one counts half of it.
    fn is_cheaper(&self, plan: &Plan<'_>, questions: usize) -> bool {
        let wants: Vec<Want> = plan
            .blocks
            .iter()
            .map(|(_, _, want)| want.clone())
            .collect();
        let reads = requests(&wants, &self.state.parts.borrow()).len();
        // Without pages nothing is cheaper.
        let pages = match self.state.page.get() {
            0 => usize::MAX,
            page => plan.entries.div_ceil(page),
        };
        LEAST + questions + reads.div_ceil(2) < pages
    }

    /// What the backend lists now at these paths directly in a directory.
    async fn entries_at(&self, dir: &VPath, unsure: &[Unsure]) -> Option<Vec<FileInfo>> {
        let asks = unsure.iter().map(|one| -> Pending<'_, Vec<FileInfo>> {
            match one {
                Unsure::File(path) => Box::pin(async move {
                    let query = GlobQuery::new(literal(path.name()), dir.clone());
                    let found: GlobResult = self.inner.glob(&query).await?;
                    found.complete(dir)
                }),
                Unsure::Directory(path) => Box::pin(self.inner.ls(path)),
            }
        });
        let mut found = Vec::new();
        for (one, answer) in unsure.iter().zip(bounded(PARALLEL, asks).await) {
            let mut answer = answer.ok()?.into_iter();
            match one {
                Unsure::File(path) => found.extend(answer.find(|info| info.path == *path)),
                Unsure::Directory(path) => found.extend(answer.next().map(|_| FileInfo {
                    path: path.clone(),
                    entry: EntryInfo::Directory,
                })),
            }
        }
        Some(found)
    }
}

/// How a directory is read; `None` if a table is missing.
fn plan<'a>(base: &'a Base, dir: &VPath, noted: &Only) -> Option<Plan<'a>> {
    let mut plan = Plan {
        blocks: Vec::new(),
        dirs: Vec::new(),
        entries: 0,
    };
    for shape in &base.manifest.segments {
        let table = base.table(shape)?;
        for block in (0..table.len()).filter(|block| table.may_have(*block, dir)) {
            let inside = table.inside(block, dir);
            if inside.is_none() && table.begins_in(block, dir) {
                plan.entries += PER_BLOCK;
            }
            match inside.filter(|sub| base.has_other(shape, block, sub, noted)) {
                Some(sub) if plan.dirs.last() == Some(&sub) => {}
                Some(sub) => plan.dirs.push(sub),
                None => {
                    let range = shape.in_catalogue(&table.block(block)?);
                    plan.blocks.push((shape, block, Want::of(shape, range)));
                }
            }
        }
    }
    order::sort(&mut plan.dirs);
    plan.dirs.dedup();
    plan.entries += plan.dirs.len();
    Some(plan)
}

impl Base {
    /// Whether a block, whose files are all in a directory, has one that is up to date and that no note names.
    fn has_other(&self, shape: &Shape, block: usize, sub: &VPath, noted: &Only) -> bool {
        let is_near = |tree: &VPath| tree.is_under(sub) || sub.is_under(tree);
        if noted.trees.iter().any(is_near) {
            return false;
        }
        let from = block * PER_BLOCK;
        let to = shape.files().min(from + PER_BLOCK);
        let mut hits: Vec<usize> = (from..to).collect();
        self.retain_live(shape.id, &mut hits);
        let noted = noted.files.iter().filter(|path| path.is_under(sub));
        hits.len() > noted.count()
    }
}

/// What only the backend can tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unsure {
    /// Whether there is a file.
    File(VPath),
    /// Whether anything is below a path.
    Directory(VPath),
}

/// The entries of a directory, while they are found.
struct Level<'a> {
    dir: &'a VPath,
    files: Vec<FileInfo>,
    dirs: Vec<VPath>,
}

impl<'a> Level<'a> {
    fn new(dir: &'a VPath, dirs: Vec<VPath>) -> Level<'a> {
        let files = Vec::new();
        Level { dir, files, dirs }
    }

    /// The path directly in the directory that is at or above another one, and whether it is another.
    fn place(&self, path: &VPath) -> Option<(VPath, bool)> {
        let rest = path.relative_to(self.dir).filter(|rest| !rest.is_empty())?;
        match rest.find('/') {
            None => Some((path.clone(), false)),
            Some(at) => {
                let length = path.as_str().len() - rest.len() + at;
                Some((VPath::from_stored(path.as_str().get(..length)?)?, true))
            }
        }
    }

    /// Adds a file at or below it, or a directory in it.
    fn add(&mut self, info: &FileInfo) {
        match self.place(&info.path) {
            Some((_, false)) if !info.is_dir() => self.files.push(info.clone()),
            Some((dir, _)) if self.dirs.last() != Some(&dir) => self.dirs.push(dir),
            _ => {}
        }
    }

    /// Brings the directories in order, each once.
    async fn settle(&mut self, pace: &Pace) {
        let texts = self.dirs.iter().map(|dir| dir.as_str().as_bytes());
        let places = sorted(&texts.collect::<Vec<&[u8]>>(), pace).await;
        let mut dirs: Vec<VPath> = Vec::new();
        for place in places {
            if let Some(dir) = self.dirs.get(place)
                && dirs.last() != Some(dir)
            {
                dirs.push(dir.clone());
            }
            pace.worked(1).await;
        }
        self.dirs = dirs;
    }

    /// What the notes leave open.
    fn unsure(&self, noted: &Only) -> Vec<Unsure> {
        let mut unsure = Vec::new();
        let mut below = |path: VPath| {
            if self.dirs.binary_search(&path).is_err() {
                unsure.push(Unsure::Directory(path));
            }
        };
        let mut files = Vec::new();
        for path in &noted.files {
            match self.place(path) {
                Some((file, false)) => files.push(Unsure::File(file)),
                Some((dir, true)) => below(dir),
                None => {}
            }
        }
        for tree in &noted.trees {
            match self.place(tree) {
                Some((root, false)) => {
                    files.push(Unsure::File(root.clone()));
                    below(root);
                }
                Some((dir, true)) => below(dir),
                None => {}
            }
        }
        unsure.append(&mut files);
        order::sort(&mut unsure);
        unsure.dedup();
        unsure
    }

    /// All of them, in the order of a listing.
    async fn shown(mut self, pace: &Pace) -> Vec<FileInfo> {
        self.settle(pace).await;
        let mut all = self.files;
        all.extend(self.dirs.into_iter().map(|path| FileInfo {
            path,
            entry: EntryInfo::Directory,
        }));
        let mut texts = Vec::with_capacity(all.len());
        for info in &all {
            texts.push(info.shown_path());
            pace.worked(1).await;
        }
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let places = sorted(&texts, pace).await;
        let mut infos = Vec::with_capacity(all.len());
        for place in places {
            infos.extend(all.get(place).cloned());
            pace.worked(1).await;
        }
        infos
    }
}

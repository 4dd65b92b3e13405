//! Listings and searches of an overlay: what the base has without the changed files, and the files of
//! the overlay, merged as if all were in one tree.

use super::{Overlay, Read, base};
use crate::core::error::Result;
use crate::core::order;
use crate::core::path::VPath;
use crate::protocol::{
    BackendExt, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Matches, Row,
};

impl Overlay {
    /// The changed files at and below a directory, in order.
    pub(super) fn hidden(&self, dir: &VPath) -> Vec<VPath> {
        let changes = self.changes.borrow();
        let beneath = changes.keys().filter(|path| path.is_under(dir));
        beneath.cloned().collect()
    }

    pub(super) async fn list(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        let hidden = self.hidden(path);
        let infos = base::ls(&*self.base().await?, path, &hidden).await?;
        let digest = self.digests().of_names(&infos);
        self.note(Read::Names(path.clone(), hidden.clone()), digest);
        let mut merged = self.upper.ls(path).await?;
        for info in infos {
            let is_emptied = info.is_dir()
                && !merged
                    .iter()
                    .any(|own| own.is_dir() && own.path == info.path)
                && self.is_emptied(&info, &hidden).await?;
            if !is_emptied {
                merged.push(info);
            }
        }
        order::sort_by(&mut merged, FileInfo::listing_order);
        merged.dedup_by(|a, b| a.path == b.path && a.is_dir() == b.is_dir());
        Ok(merged)
    }

    /// Whether the turn hides all that is in a directory below.
    async fn is_emptied(&self, info: &FileInfo, hidden: &[VPath]) -> Result<bool> {
        let dir = &info.path;
        let inside = |path: &VPath| path != dir && path.is_under(dir);
        if !hidden.iter().any(inside) {
            return Ok(false);
        }
        let found = self.find_in_base(&GlobQuery::all(dir)).await?;
        Ok(found.files.is_empty())
    }

    async fn find_in_base(&self, query: &GlobQuery) -> Result<GlobResult> {
        // An anchored pattern may name files outside of the query's directory.
        let hidden = self.hidden(&VPath::root());
        // In the order in which it is looked at again.
        let query = GlobQuery::new(query.pattern.clone(), query.path.clone());
        let found = base::glob(&*self.base().await?, &query, &hidden).await?;
        let digest = self.digests().of_names(&found.files);
        self.note(Read::Glob(query, hidden), digest);
        Ok(found)
    }

    pub(super) async fn find(&self, query: &GlobQuery) -> Result<GlobResult> {
        let mut merged = self.find_in_base(query).await?;
        if !self.changes.borrow().is_empty() {
            let own = self.upper.glob(query).await?;
            merged.truncated |= own.truncated;
            merged.files.extend(own.files);
            order::sort_by(&mut merged.files, FileInfo::newest_first);
        }
        Ok(merged)
    }

    pub(super) async fn search(&self, query: &GrepQuery) -> Result<GrepResult> {
        let hidden = self.hidden(&VPath::root());
        let base = self.base().await?;
        if self.listener.get().is_some() && query.sieve.is_some() {
            // A sieve cannot be kept, so the same is asked without; and before, so that what others
            // change in between is found by the commit.
            let mut all = query.clone();
            all.sieve = None;
            let found = base::grep(&*base, &all, &hidden).await?;
            let digest = self.digests().of_matches(&found);
            self.note(Read::Grep(Box::new(all), hidden.clone()), digest);
        }
        let below = base::grep(&*base, query, &hidden).await?;
        if self.listener.get().is_none() || query.sieve.is_none() {
            let digest = self.digests().of_matches(&below);
            let question = Read::Grep(Box::new(query.clone()), hidden);
            self.note(question, digest);
        }
        if self.changes.borrow().is_empty() {
            return Ok(below);
        }
        let own = self.upper.grep(query).await?;
        let mut truncated = below.truncated || own.truncated;
        let stats = below.stats;
        let mut matches = both(&below.matches, &own.matches);
        truncated |= matches.cut;
        truncated |= matches.cap(query.max_count);
        Ok(GrepResult {
            matches,
            truncated,
            stats,
            ignored: below.ignored.saturating_add(own.ignored),
        })
    }
}

/// The matches of two searches in order of path. Each file is in one of them.
fn both(one: &Matches, other: &Matches) -> Matches {
    let groups = |from: &Matches| -> Vec<Vec<Row>> {
        let by_file = from.rows.chunk_by(|a, b| a.file == b.file);
        by_file.map(<[Row]>::to_vec).collect()
    };
    let path = |from: &Matches, rows: &[Row]| {
        let file = rows.first().map_or(0, |row| row.file as usize);
        from.paths.get(file).cloned()
    };
    let mut out = Matches::default();
    let (mut left, mut right) = (
        groups(one).into_iter().peekable(),
        groups(other).into_iter().peekable(),
    );
    loop {
        let next_left = left.peek().and_then(|rows| path(one, rows));
        let next_right = right.peek().and_then(|rows| path(other, rows));
        let (from, rows, at) = match (next_left, next_right) {
            (Some(a), Some(b)) if a < b => (one, left.next(), a),
            (Some(a), None) => (one, left.next(), a),
            (_, Some(b)) => (other, right.next(), b),
            (None, None) => return out,
        };
        if out.is_full() {
            out.cut = true;
            return out;
        }
        out.append_file(at, from, &rows.unwrap_or_default());
    }
}

//! The files of a pin: a storage that cannot be changed. Nodes and contents are loaded when they are
//! asked for; what is no longer held is an error, and never what a file holds today.

use std::rc::Rc;

use futures_util::future::{LocalBoxFuture, ready};

use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::pins::{Budget, Digest, Leaf, Leaves, Objects, Reader};
use crate::protocol::{Capability, Reach};
use crate::storage::{
    Cursor, Depth, Extras, File, Find, Flow, Listing, Meta, NewFile, PARALLEL, PutMode, Removed,
    Scan, Scope, Search, Storage, Trees, Version, provided,
};

/// How many leaf nodes of the tree a page of a listing has.
const PAGE_NODES: usize = 128;

/// The files of a pin.
pub struct Pinned {
    reader: Reader,
    root: Digest,
    time: Time,
}

impl Pinned {
    /// The files of the tree with this root. Listings show `time`: a pin keeps paths and contents only.
    pub fn new(objects: Objects, root: Digest, time: Time) -> Pinned {
        Pinned {
            reader: Reader::new(objects),
            root,
            time,
        }
    }

    fn meta(&self, leaf: &Leaf) -> Meta {
        Meta {
            version: Some(Version::Tag(leaf.digest.hex().into())),
            ..Meta::of(leaf.size, self.time)
        }
    }

    /// The files in scope, a page from a text on, and where the next one begins.
    async fn in_scope(&self, scope: &Scope, from: &str, budget: &Budget) -> Result<Leaves> {
        let page = self.reader.page(self.root, from, PAGE_NODES, budget);
        let mut page = page.await?;
        let beneath = |leaf: &Leaf| leaf.path.as_str().starts_with(scope.root.as_str());
        if !page.leaves.last().is_some_and(beneath) {
            page.next = None;
        }
        page.leaves.retain(|leaf| scope.admits(&leaf.path));
        Ok(page)
    }

    async fn page(&self, dir: &VPath, depth: Depth, from: Option<Cursor>) -> Result<Listing> {
        let prefix = dir.dir_prefix();
        // Where the page begins, and what the pages before it have used.
        let (from, budget) = match &from {
            Some(Cursor(from)) => {
                let (used, from) = from.split_once('\n').unwrap_or(("", from));
                (from, Budget::after(used.parse().unwrap_or(0)))
            }
            None => (prefix.as_str(), Budget::after(0)),
        };
        let page = self.reader.page(self.root, from, PAGE_NODES, &budget);
        let page = page.await?;
        let is_inside = |leaf: &Leaf| leaf.path.as_str().starts_with(&prefix);
        let is_over = page.leaves.last().is_some_and(|leaf| !is_inside(leaf));
        let inside = page.leaves.iter().filter(|leaf| is_inside(leaf));
        let files = inside.map(|leaf| (leaf.path.clone(), self.meta(leaf)));
        let mut listing = Listing::of_files(dir, depth, files)?;
        let mut next = page.next.filter(|_| !is_over);
        // The rest of a directory that is only named is skipped.
        let within = listing.dirs.last().map(VPath::dir_prefix);
        if let (Some(at), Some(within)) = (&next, within)
            && at.starts_with(&within)
        {
            // The first text after everything that begins with `within`: '0' follows '/'.
            next = Some(format!("{}0", within.trim_end_matches('/')).into());
        }
        listing.next = next.map(|at| Cursor(format!("{}\n{at}", budget.used()).into()));
        Ok(listing)
    }
}

fn read_only<T>() -> Result<T> {
    Err(Error::new(
        Kind::PermissionDenied,
        "These are the files of a pin, which cannot be changed; change the files themselves",
    ))
}

impl Storage for Pinned {
    fn capability(&self) -> Capability {
        Capability {
            create: Reach::Never,
            update: Reach::Never,
            keeps_created: false,
            keeps_mime: false,
            keeps_format: false,
            writable: false,
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            let leaf = self.reader.find(self.root, path).await?;
            Ok(leaf.map(|leaf| self.meta(&leaf)))
        })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            let Some(leaf) = self.reader.find(self.root, path).await? else {
                return Ok(None);
            };
            let body = self.reader.body(&leaf).await?;
            let meta = self.meta(&leaf);
            Ok(Some(File { meta, body }))
        })
    }

    fn put<'a>(&'a self, _: &'a VPath, _: NewFile, _: PutMode) -> Pending<'a, Meta> {
        done(read_only())
    }

    fn delete<'a>(&'a self, _: &'a VPath, _: Option<Version>) -> Pending<'a, bool> {
        done(read_only())
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        Box::pin(self.page(dir, depth, from))
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            search: Some(self),
            trees: Some(self),
            ..Extras::NONE
        }
    }
}

impl Search for Pinned {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let budget = Budget::after(0);
            let mut from: Option<Rc<str>> = Some(find.scope.root.as_str().into());
            while let Some(start) = from {
                let page = self.in_scope(find.scope, &start, &budget).await?;
                for leaf in &page.leaves {
                    if visit(&leaf.path, &self.meta(leaf)).is_break() {
                        return Ok(());
                    }
                }
                from = page.next;
            }
            Ok(())
        })
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let budget = Budget::after(0);
            let mut from: Option<Rc<str>> = Some(scan.scope.root.as_str().into());
            while let Some(start) = from {
                let mut page = self.in_scope(scan.scope, &start, &budget).await?;
                let wanted = |leaf: &Leaf| (scan.want)(&leaf.path, &self.meta(leaf));
                page.leaves.retain(wanted);
                for leaves in page.leaves.chunks(PARALLEL) {
                    let paths: Vec<VPath> = leaves.iter().map(|leaf| leaf.path.clone()).collect();
                    for (path, file) in paths.iter().zip(provided::get_each(self, &paths).await?) {
                        if file.is_some_and(|file| visit(path, &file).is_break()) {
                            return Ok(());
                        }
                    }
                }
                from = page.next;
            }
            Ok(())
        })
    }
}

impl Trees for Pinned {
    fn delete_tree<'a>(&'a self, _: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(ready(Removed {
            error: read_only::<()>().err(),
            ..Removed::default()
        }))
    }
}

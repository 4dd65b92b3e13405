//! Reads trees: a page of files from a path on, or all. Nodes are loaded when they are needed.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use super::{Child, Digest, Leaf, Node, Objects};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::sorted::Sorted;

/// How many nodes are kept in memory: of about 150 bytes each. If there are more, all are dropped.
const CACHED: usize = 2048;

/// How many nodes of one level are loaded at once.
const AT_ONCE: usize = 128;

/// How many files a listing or a search goes through. A tree that somebody has planted may name the same
/// nodes again and again.
pub const MOST_ENTRIES: u64 = 8_000_000;

/// How many references to nodes cost as much as a file. Each page reads those above its own again.
const CHILDREN: u64 = 8;

/// How many entries one page goes through; a tree of this library has some thousands.
const MOST_IN_PAGE: usize = 100_000;

/// What is left of the entries of one listing or search.
#[derive(Clone, Debug)]
pub struct Budget(Cell<u64>);

impl Budget {
    /// With so many used already.
    pub fn after(used: u64) -> Budget {
        Budget(Cell::new(MOST_ENTRIES.saturating_sub(used)))
    }

    /// How many are used.
    pub fn used(&self) -> u64 {
        MOST_ENTRIES.saturating_sub(self.0.get())
    }

    fn take(&self, leaves: usize, children: usize) -> Result<()> {
        let cost = (leaves as u64).saturating_add(children as u64 / CHILDREN);
        let left = self.0.get().checked_sub(cost.saturating_add(1));
        self.0.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(too_many)
    }
}

fn too_many() -> Error {
    Error::new(
        Kind::TooLarge,
        "This pin has too many files to go through, or was planted; look into a directory further down",
    )
}

/// What a part of a pin that is gone answers.
fn lost(what: &str) -> Error {
    let message = format!(
        "The history no longer holds {what} of this pin, or it is damaged; verify() lists what is lost"
    );
    Error::new(Kind::Unavailable, message)
}

/// Files from a path on.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    /// The files, in order of their paths.
    pub leaves: Vec<Leaf>,
    /// Where the files after these begin; `None` at the end.
    pub next: Option<Rc<str>>,
}

/// Nodes that were loaded, each with the text at which its paths began there.
type Loaded = Sorted<Digest, (Rc<str>, Rc<Node>)>;

/// Reads trees.
pub struct Reader {
    objects: Objects,
    cache: RefCell<Loaded>,
}

impl Reader {
    /// Reads what `objects` holds.
    pub fn new(objects: Objects) -> Reader {
        Reader {
            objects,
            cache: RefCell::renewable(Sorted::new),
        }
    }

    async fn nodes(&self, wanted: &[Child]) -> Result<Vec<Rc<Node>>> {
        let mut found: Vec<Option<Rc<Node>>> = {
            let cache = self.cache.borrow();
            let known = |child: &Child| {
                let (from, node) = cache.get(&child.digest)?;
                (*from == child.from).then(|| node.clone())
            };
            wanted.iter().map(known).collect()
        };
        let open = found.iter().zip(wanted).filter(|(node, _)| node.is_none());
        let open: Vec<Digest> = open.map(|(_, child)| child.digest).collect();
        if !open.is_empty() {
            let mut loaded = self.objects.nodes(&open).await?.into_iter();
            for (node, child) in found.iter_mut().zip(wanted) {
                if node.is_some() {
                    continue;
                }
                let bytes = loaded.next().and_then(super::Found::whole);
                let bytes = bytes.ok_or_else(|| lost("a part of the list of files"))?;
                let parsed = Node::parse(&bytes, &child.from);
                let parsed = Rc::new(parsed.ok_or_else(|| lost("a part of the list of files"))?);
                let mut cache = self.cache.borrow_mut();
                if cache.len() >= CACHED {
                    *cache = Sorted::new();
                }
                cache.insert(child.digest, (child.from.clone(), parsed.clone()));
                *node = Some(parsed);
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Files from the first one that is not less than `from` on, of at most `width` leaf nodes.
    pub async fn page(
        &self,
        root: Digest,
        from: &str,
        width: usize,
        budget: &Budget,
    ) -> Result<Leaves> {
        let width = width.clamp(1, AT_ONCE);
        let mut page = Leaves::default();
        let mut seen = 0usize;
        let mut wanted = vec![Child {
            from: "".into(),
            digest: root,
        }];
        loop {
            let mut children: Vec<Child> = Vec::new();
            for node in self.nodes(&wanted).await? {
                let (files, nodes) = match &*node {
                    Node::Leaves(leaves) => (leaves.len(), 0),
                    Node::Children(below) => (0, below.len()),
                };
                budget.take(files, nodes)?;
                seen = seen.saturating_add(files).saturating_add(nodes);
                if seen > MOST_IN_PAGE {
                    return Err(too_many());
                }
                match &*node {
                    Node::Leaves(leaves) => page.leaves.extend_from_slice(leaves),
                    Node::Children(below) => children.extend_from_slice(below),
                }
            }
            if children.is_empty() {
                break;
            }
            // A child ends where the next one begins.
            let first = children.partition_point(|child| &*child.from <= from);
            children.drain(..first.saturating_sub(1));
            if let Some(more) = children.get(width) {
                page.next = Some(more.from.clone());
                children.truncate(width);
            }
            wanted = children;
        }
        let first = page
            .leaves
            .partition_point(|leaf| leaf.path.as_str() < from);
        page.leaves.drain(..first);
        Ok(page)
    }

    /// The file at a path, if there is one.
    pub async fn find(&self, root: Digest, path: &VPath) -> Result<Option<Leaf>> {
        let page = self.page(root, path.as_str(), 1, &Budget::after(0)).await?;
        Ok(page.leaves.into_iter().find(|leaf| leaf.path == *path))
    }

    /// Visits every file, in order of the paths.
    pub async fn each(&self, root: Digest, mut visit: impl FnMut(Leaf)) -> Result<()> {
        let budget = Budget::after(0);
        let mut from: Rc<str> = "".into();
        loop {
            let page = self.page(root, &from, AT_ONCE, &budget).await?;
            page.leaves.into_iter().for_each(&mut visit);
            match page.next {
                Some(next) => from = next,
                None => return Ok(()),
            }
        }
    }

    /// The content of a file.
    pub async fn body(&self, leaf: &Leaf) -> Result<Bytes> {
        let found = self.objects.body(&leaf.digest).await?;
        let gone = || {
            Error::at(
                Kind::Unavailable,
                "The history no longer holds '",
                &leaf.path,
                "' as it was pinned, or it is damaged; verify() lists what is lost",
            )
        };
        found.whole().ok_or_else(gone)
    }
}

//! The tree of a pin: a search tree over all paths in byte order, cut into nodes where a hash of a path
//! says so (a prolly tree). The cuts follow from the paths alone, so the same files make the same tree,
//! whatever changes led there, and a change makes a few new nodes: those from its leaf to the root.
//!
//! One tree over whole paths, instead of one tree for each directory: a directory is a range of paths, a
//! change costs the same at every depth, and files come in the order of listings. One change among 10,000
//! files in one directory takes 1.1 KB. A list of each directory (git) takes 600 KB, a hash trie of each
//! (IPFS) 1.2 KB for each directory above too (computed), a Merkle search tree (atproto) 3.3 KB, one tree
//! with random cuts (Noms) 2.1 KB.
//!
//! ```text
//! f                                    n
//! DIGEST5 0 /docs/a.md                 DIGEST
//! DIGEST12 6 b.md                      DIGEST6 k
//! ```
//!
//! After `f` a line is a file: the digest of its content, its size, how many bytes of its path are those
//! of the line before, the rest of its path. After `n` a line is a node of the level below: its digest,
//! and the text at which its paths begin, in the same way. The first line follows the text at which the
//! node itself begins, which is in the node above; a node below that begins there says nothing. Paths
//! have no control characters. So a node has a meaning only at its place: two directories with the same
//! names and contents can share nodes.

use std::rc::Rc;

use bytes::Bytes;

use super::Digest;
use super::digest::{SHORT, SHORT_OF_NODE};
use crate::core::path::VPath;

/// The first lines of nodes.
const FILES: &str = "f\n";
const NODES: &str = "n\n";

/// A node is not longer: those of this library have some hundred bytes, and never more than a few
/// thousand times that.
const MOST_BYTES: usize = 1 << 20;

/// A node has no more entries: that many in a row without a cut have names that were chosen so, since
/// ranks are no secret.
const MOST_ENTRIES: usize = 256;

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its path.
    pub path: VPath,
    /// The digest of its content.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
}

/// A node that another one refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// No path in it is less, and every path before it is.
    pub from: Rc<str>,
    /// The digest of the node.
    pub digest: Digest,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Files, in order of their paths.
    Leaves(Vec<Leaf>),
    /// Nodes, in order of their paths.
    Children(Vec<Child>),
}

/// A tree that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The digest of the root: the pin.
    pub root: Digest,
    /// All nodes.
    pub nodes: Vec<(Digest, Bytes)>,
}

/// A hash of a path for a level (FNV-1a, mixed). It only has to spread.
///
/// Names can be chosen whose ranks rise from one to the next, so that none ends a node. That holds for any hash
/// without a secret, and with one the same files would make two pins at two places. Hence [`MOST_ENTRIES`]: a
/// new name moves the cuts after it, until names follow that nobody chose. Among 10,000 chosen names a deletion
/// writes 340 KB of nodes on average and 630 KB at most, an edit 17 KB.
fn hash(level: u32, path: &str) -> u64 {
    let seed = 0xcbf2_9ce4_8422_2325 ^ u64::from(level).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = path.bytes().fold(seed, step);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// Whether a node ends with the entry at `at`, given the ranks of all entries of the level: if its rank is
/// less than those beside it. So a node has two entries or more, three on average; large ones are rare,
/// and a new entry moves only the cuts beside it. With a constant chance for each entry a change would
/// meet large nodes more often than others, and cost twice as much.
fn is_end(ranks: &[u64], at: usize) -> bool {
    let Some(after) = ranks.get(at + 1) else {
        return true;
    };
    match (
        at.checked_sub(1).and_then(|at| ranks.get(at)),
        ranks.get(at),
    ) {
        (Some(before), Some(own)) => own < before && own < after,
        _ => false,
    }
}

/// How many bytes two texts begin with in common, in whole characters.
fn shared(a: &str, b: &str) -> usize {
    let equal = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=equal)
        .rev()
        .find(|at| b.is_char_boundary(*at))
        .unwrap_or(0)
}

/// The shortest beginning of `first` that is greater than `last`.
fn separator(last: &str, first: &str) -> Rc<str> {
    let equal = shared(last, first);
    let next = first.get(equal..).and_then(|rest| rest.chars().next());
    let end = equal + next.map_or(0, char::len_utf8);
    first.get(..end).unwrap_or(first).into()
}

/// An entry of a level: a file, or a node of the level below.
struct Item {
    /// The path, or the text at which the paths in the node begin.
    text: Rc<str>,
    size: Option<u64>,
    digest: Digest,
    /// The last path in it.
    end: Rc<str>,
}

/// The rank of an entry as the end of a node. Where the next one can begin with a short text, an end is
/// likelier: nodes above repeat such texts.
fn rank(level: u32, item: &Item, next: Option<&Item>) -> u64 {
    let length = next.map_or(1, |next| separator(&item.end, &next.text).len());
    (hash(level, &item.end) >> 16).saturating_mul(length as u64)
}

/// The text of a node whose paths begin at `from`.
fn written(level: u32, from: &str, items: &[Item]) -> Bytes {
    let mut text = String::from(if level == 0 { FILES } else { NODES });
    let mut last = from;
    for item in items {
        text += &item.digest.short();
        if let Some(size) = item.size {
            text += &size.to_string();
            text.push(' ');
        }
        if item.size.is_some() || *item.text != *last {
            let equal = shared(last, &item.text);
            text += &equal.to_string();
            text.push(' ');
            text += item.text.get(equal..).unwrap_or_default();
        }
        text.push('\n');
        last = &item.text;
    }
    text.into()
}

/// Puts the entries of a level into nodes, which are the entries of the next one.
fn cut(level: u32, items: &[Item], nodes: &mut Vec<(Digest, Bytes)>) -> Vec<Item> {
    let after = items.iter().skip(1).map(Some).chain([None]);
    let ranks = items.iter().zip(after);
    let ranks: Vec<u64> = ranks.map(|(item, next)| rank(level, item, next)).collect();
    let mut above: Vec<Item> = Vec::new();
    let mut rest = items;
    for at in 0..items.len() {
        let count = at + 1 - (items.len() - rest.len());
        if count < MOST_ENTRIES && !is_end(&ranks, at) {
            continue;
        }
        let (own, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        rest = later;
        let (Some(first), Some(last)) = (own.first(), own.last()) else {
            continue;
        };
        let text = match above.last() {
            Some(before) => separator(&before.end, &first.text),
            None => "".into(),
        };
        let node = written(level, &text, own);
        let digest = Digest::of_node(&node);
        nodes.push((digest, node));
        above.push(Item {
            text,
            size: None,
            digest,
            end: last.end.clone(),
        });
    }
    above
}

/// Builds the tree of files, which must be in order of their paths.
pub fn build<'a>(leaves: impl Iterator<Item = &'a Leaf>) -> Built {
    let mut nodes = Vec::new();
    let items = leaves.map(|leaf| {
        let text: Rc<str> = leaf.path.as_str().into();
        Item {
            end: text.clone(),
            text,
            size: Some(leaf.size),
            digest: leaf.digest,
        }
    });
    let mut items: Vec<Item> = items.collect();
    let mut level = 0;
    loop {
        items = cut(level, &items, &mut nodes);
        match items.as_slice() {
            [] => break,
            [root] => {
                let root = root.digest;
                return Built { root, nodes };
            }
            _ => level += 1,
        }
    }
    let empty = written(0, "", &[]);
    let root = Digest::of_node(&empty);
    nodes.push((root, empty));
    Built { root, nodes }
}

/// The text of an entry: what it shares with the one before, and the rest.
fn joined(last: &str, text: &str) -> Option<Rc<str>> {
    let (shared, rest) = text.split_once(' ')?;
    let shared = last.get(..shared.parse().ok()?)?;
    Some([shared, rest].concat().into())
}

impl Node {
    /// Reads a node whose paths begin at `from`; `None` if the bytes are none. Its entries are in order,
    /// on which every walk counts: where a room has no key, somebody else may have written them.
    pub fn parse(bytes: &[u8], from: &Rc<str>) -> Option<Node> {
        if bytes.len() > MOST_BYTES {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let mut last = from.clone();
        if let Some(lines) = text.strip_prefix(NODES) {
            let mut children = Vec::new();
            for line in lines.split_terminator('\n') {
                let (digest, rest) = line.split_at_checked(SHORT_OF_NODE)?;
                if !rest.is_empty() {
                    let next = joined(&last, rest)?;
                    if next <= last {
                        return None;
                    }
                    last = next;
                } else if !children.is_empty() {
                    return None;
                }
                children.push(Child {
                    from: last.clone(),
                    digest: Digest::from_short(digest)?,
                });
            }
            return (!children.is_empty()).then_some(Node::Children(children));
        }
        let mut leaves = Vec::new();
        for line in text.strip_prefix(FILES)?.split_terminator('\n') {
            let (digest, rest) = line.split_at_checked(SHORT)?;
            let (size, rest) = rest.split_once(' ')?;
            let next = joined(&last, rest)?;
            if next < last || (next == last && !leaves.is_empty()) {
                return None;
            }
            last = next;
            leaves.push(Leaf {
                path: VPath::parse_file(&last).ok()?,
                digest: Digest::from_short(digest)?,
                size: size.parse().ok()?,
            });
        }
        Some(Node::Leaves(leaves))
    }
}

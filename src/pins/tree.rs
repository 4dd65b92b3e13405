//! The tree of a pin: a search tree over all paths in byte order, cut into nodes where a hash of a path
//! says so (a prolly tree). The cuts follow from the paths alone, so the same files make the same tree,
//! whatever changes led there, and a change makes a few new nodes: those from its leaf to the root.
//!
//! One tree over whole paths, instead of one tree for each directory: a directory is a range of paths, a
//! change costs the same at every depth, and files come in the order of listings.
//!
//! ```text
//! tree1 0                              tree1 1
//! 0 5 DIGEST /docs/a.md                0 DIGEST
//! 6 12 DIGEST b.md                     0 DIGEST /docs/k
//! ```
//!
//! A line of level 0 is a file: how many bytes of its path are those of the line before, its size, its
//! digest, the rest of its path. A line above is a node of the level below: shared bytes, digest, and the
//! rest of the text at which its paths begin. Paths have no control characters.

use std::rc::Rc;

use bytes::Bytes;

use super::Digest;
use crate::core::path::VPath;

/// The first bytes of a node: what it is, and the version of its format.
const MAGIC: &str = "tree1 ";

/// A node ends with an entry whose hash is the least among so many before it and so many after it, on
/// the level of files and above. So a node of files has three entries or more, five on average, one
/// above has two or more, three on average; large ones are rare, and a new entry moves only the cuts
/// beside it. With a constant chance for each entry a change would meet large nodes more often than
/// others, and cost twice as much.
const BESIDE: [usize; 2] = [2, 1];

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
fn hash(level: u32, path: &str) -> u64 {
    let seed = 0xcbf2_9ce4_8422_2325 ^ u64::from(level).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = path.bytes().fold(seed, step);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// Whether a node ends with the entry at `at`, given the hashes of all entries of the level.
fn is_end(beside: usize, hashes: &[u64], at: usize) -> bool {
    if at + 1 == hashes.len() {
        return true;
    }
    let Some(own) = hashes.get(at).filter(|_| at >= beside) else {
        return false;
    };
    let around = hashes.iter().enumerate().skip(at - beside);
    around
        .take(2 * beside + 1)
        .all(|(other, hash)| other == at || own < hash)
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

/// The text of a node that is being written.
struct Writer {
    text: String,
    last: Rc<str>,
}

impl Writer {
    fn new(level: u32) -> Writer {
        Writer {
            text: format!("{MAGIC}{level}\n"),
            last: "".into(),
        }
    }

    fn add(&mut self, item: &Item) {
        let equal = shared(&self.last, &item.text);
        let size = item.size.map_or(String::new(), |size| format!("{size} "));
        let rest = item.text.get(equal..).unwrap_or_default();
        self.text += &format!("{equal} {size}{} {rest}\n", item.digest.short());
        self.last = item.text.clone();
    }
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

/// Puts the entries of a level into nodes, which are the entries of the next one.
fn cut(level: u32, items: &[Item], nodes: &mut Vec<(Digest, Bytes)>) -> Vec<Item> {
    let hashes: Vec<u64> = items.iter().map(|item| hash(level, &item.end)).collect();
    let [of_files, of_nodes] = BESIDE;
    let beside = if level == 0 { of_files } else { of_nodes };
    let mut above: Vec<Item> = Vec::new();
    let mut writer = Writer::new(level);
    let mut text: Option<Rc<str>> = None;
    for (at, item) in items.iter().enumerate() {
        let text_of = || match (level, above.last()) {
            (0, Some(last)) => separator(&last.end, &item.text),
            (0, None) => "".into(),
            _ => item.text.clone(),
        };
        let first = text.get_or_insert_with(text_of).clone();
        writer.add(item);
        if is_end(beside, &hashes, at) {
            let node = Bytes::from(std::mem::replace(&mut writer, Writer::new(level)).text);
            let digest = Digest::of(&node);
            nodes.push((digest, node));
            above.push(Item {
                text: first,
                size: None,
                digest,
                end: item.end.clone(),
            });
            text = None;
        }
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
    let empty = Bytes::from(Writer::new(0).text);
    let root = Digest::of(&empty);
    nodes.push((root, empty));
    Built { root, nodes }
}

/// The text of an entry: what it shares with the one before, and the rest.
fn joined(last: &str, shared: &str, rest: &str) -> Option<String> {
    let shared = last.get(..shared.parse().ok()?)?;
    Some(format!("{shared}{rest}"))
}

impl Node {
    /// Reads a node; `None` if the bytes are none.
    pub fn parse(bytes: &[u8]) -> Option<Node> {
        let text = std::str::from_utf8(bytes).ok()?.strip_prefix(MAGIC)?;
        let (level, lines) = text.split_once('\n')?;
        let lines = lines.split_terminator('\n');
        let mut last = String::new();
        if level.parse::<u32>().ok()? > 0 {
            let mut children = Vec::new();
            for line in lines {
                let mut parts = line.splitn(3, ' ');
                let (shared, digest, rest) = (parts.next()?, parts.next()?, parts.next()?);
                last = joined(&last, shared, rest)?;
                children.push(Child {
                    from: last.as_str().into(),
                    digest: Digest::from_short(digest)?,
                });
            }
            return Some(Node::Children(children));
        }
        let mut leaves = Vec::new();
        for line in lines {
            let mut parts = line.splitn(4, ' ');
            let (shared, size) = (parts.next()?, parts.next()?.parse().ok()?);
            let (digest, rest) = (parts.next()?, parts.next()?);
            last = joined(&last, shared, rest)?;
            leaves.push(Leaf {
                path: VPath::parse_file(&last).ok()?,
                digest: Digest::from_short(digest)?,
                size,
            });
        }
        Some(Node::Leaves(leaves))
    }
}

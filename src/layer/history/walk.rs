//! Visits the trees of pins.

use std::rc::Rc;

use crate::core::error::Result;
use crate::pins::{Child, Digest, Digests, Found, Leaf, Node, Objects};

/// How many nodes are read at once.
const AT_ONCE: usize = 128;

/// The most nodes of a tree, which are those of some million files. Nodes can be shared, so that a few
/// planted ones could make a tree that nobody can read to its end: what is behind this counts as damaged.
const MOST_NODES: usize = 1_000_000;

/// A node that is gone.
pub(super) struct LostNode {
    pub(super) digest: Digest,
    /// The text at which its paths begin.
    pub(super) from: Rc<str>,
    /// Whether there is nothing; otherwise something else is there.
    pub(super) is_missing: bool,
}

/// Visits all files of a tree, level by level, without nodes that were `seen` in other trees, and adds its
/// nodes to these. Returns the nodes that are missing or damaged. Within one tree a node that two
/// directories share is visited at each of its places.
pub(super) async fn walk(
    objects: &Objects,
    root: Digest,
    seen: &mut Digests,
    visit: &mut dyn FnMut(&Leaf),
) -> Result<Vec<LostNode>> {
    walk_within(objects, root, seen, visit, MOST_NODES).await
}

async fn walk_within(
    objects: &Objects,
    root: Digest,
    seen: &mut Digests,
    visit: &mut dyn FnMut(&Leaf),
    most: usize,
) -> Result<Vec<LostNode>> {
    let mut lost = Vec::new();
    let mut own: Vec<Digest> = Vec::new();
    let mut level = vec![Child {
        digest: root,
        from: "".into(),
    }];
    while !level.is_empty() {
        level.retain(|node| !seen.has(&node.digest));
        if own.len().saturating_add(level.len()) > most {
            lost.extend(
                level
                    .drain(..)
                    .take(1)
                    .map(|Child { digest, from }| LostNode {
                        digest,
                        from,
                        is_missing: false,
                    }),
            );
        }
        let mut below: Vec<Child> = Vec::new();
        for batch in level.chunks(AT_ONCE) {
            if below.len() > most {
                break;
            }
            let digests: Vec<Digest> = batch.iter().map(|node| node.digest).collect();
            let found = objects.nodes(&digests).await?;
            own.extend(digests);
            for (Child { digest, from }, found) in batch.iter().zip(found) {
                let is_missing = found == Found::Missing;
                let node = found.whole();
                match node.and_then(|node| Node::parse(&node, from)) {
                    Some(Node::Leaves(leaves)) => leaves.iter().for_each(&mut *visit),
                    Some(Node::Children(children)) => below.extend(children),
                    None => lost.push(LostNode {
                        digest: *digest,
                        from: from.clone(),
                        is_missing,
                    }),
                }
            }
        }
        level = below;
    }
    seen.add(own);
    Ok(lost)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::core::path::VPath;
    use crate::core::testing::now;
    use crate::layer::tests::memory;
    use crate::protocol::BackendExt;

    /// Stores a node, and returns its digest.
    fn keep(objects: &Objects, text: &str) -> Digest {
        let digest = Digest::of_node(text.as_bytes());
        let path = objects.node_path(&digest).expect("a path");
        let body = Bytes::copy_from_slice(text.as_bytes());
        now(objects.at.store(&path, body)).expect("stored");
        digest
    }

    #[test]
    fn a_tree_that_doubles_at_each_level_is_not_walked_to_its_end() {
        let objects = Objects {
            at: memory(),
            dir: VPath::root(),
        };
        let file = Digest::of(b"x").short();
        let mut root = keep(&objects, &format!("f\n{file}1 0 /x\n"));
        for level in (0..60).rev() {
            let short = root.short();
            root = keep(&objects, &format!("n\n{short}\n{short}0 /{level:02}\n"));
        }
        let (mut files, mut seen) = (0, Digests::default());
        let mut visit = |_: &Leaf| files += 1;
        let walked = walk_within(&objects, root, &mut seen, &mut visit, 1_000);
        let lost = now(walked).expect("walked");
        assert!(!lost.is_empty(), "{files}");
        // One of eight levels is.
        let mut root = keep(&objects, &format!("f\n{file}1 0 /x\n"));
        for level in (0..8).rev() {
            let short = root.short();
            root = keep(&objects, &format!("n\n{short}\n{short}0 /{level:02}\n"));
        }
        files = 0;
        let mut visit = |_: &Leaf| files += 1;
        let mut seen = Digests::default();
        let walked = walk_within(&objects, root, &mut seen, &mut visit, 1_000);
        assert!(now(walked).expect("walked").is_empty());
        assert_eq!(files, 256);
    }
}

//! Visits the trees of pins.

use std::rc::Rc;

use crate::core::error::Result;
use crate::pins::{Child, Digest, Digests, Found, Leaf, Node, Objects};

/// How many nodes are read at once.
const AT_ONCE: usize = 128;

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
    let mut lost = Vec::new();
    let mut own: Vec<Digest> = Vec::new();
    let mut level = vec![Child {
        digest: root,
        from: "".into(),
    }];
    while !level.is_empty() {
        level.retain(|node| !seen.has(&node.digest));
        let mut below: Vec<Child> = Vec::new();
        for batch in level.chunks(AT_ONCE) {
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

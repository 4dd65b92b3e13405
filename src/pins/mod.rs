//! Pins: the state of a whole tree of files, named by 24 bytes. A tree is made of nodes, and nodes and
//! contents are kept by their digests, so two trees share all that is equal in them. The history makes
//! pins, and a storage reads them; neither may import the other, so what both need is here.

mod digest;
mod objects;
mod reader;
#[cfg(test)]
mod tests;
mod tree;

pub use digest::{Digest, Digesting, Digests};
pub use objects::{Found, Objects};
pub use reader::{Budget, Leaves, MOST_ENTRIES, Reader};
pub use tree::{Built, Child, Leaf, Node, build};

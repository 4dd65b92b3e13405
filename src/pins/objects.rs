//! Where nodes and contents are kept, each as a file with its digest as name:
//!
//! ```text
//! nodes/DIGEST    a node of a tree
//! bodies/DIGEST   a content
//! ```

use bytes::Bytes;

use super::Digest;
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::protocol::{BackendExt, SharedBackend};

/// What was found under a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// What was kept.
    Whole(Bytes),
    /// Something that has another digest.
    Damaged,
    /// Nothing.
    Missing,
}

impl Found {
    /// What was kept, if it is there and whole.
    pub fn whole(self) -> Option<Bytes> {
        match self {
            Found::Whole(bytes) => Some(bytes),
            Found::Damaged | Found::Missing => None,
        }
    }
}

/// The nodes and contents in a directory of a backend.
#[derive(Clone)]
pub struct Objects {
    /// The backend.
    pub at: SharedBackend,
    /// The directory.
    pub dir: VPath,
}

impl Objects {
    /// The file of a node.
    pub fn node_path(&self, digest: &Digest) -> Result<VPath> {
        Ok(self.dir.join(&format!("nodes/{}", digest.hex()))?)
    }

    /// The file of a content.
    pub fn body_path(&self, digest: &Digest) -> Result<VPath> {
        Ok(self.dir.join(&format!("bodies/{}", digest.hex()))?)
    }

    /// Nodes, in order.
    pub async fn nodes(&self, digests: &[Digest]) -> Result<Vec<Found>> {
        let paths: Result<Vec<VPath>> = digests.iter().map(|one| self.node_path(one)).collect();
        self.fetch(digests, &paths?, Digest::of_node).await
    }

    /// A content.
    pub async fn body(&self, digest: &Digest) -> Result<Found> {
        let path = self.body_path(digest)?;
        let digests = std::slice::from_ref(digest);
        let found = self.fetch(digests, &[path], Digest::of).await?;
        Ok(found.into_iter().next().unwrap_or(Found::Missing))
    }

    async fn fetch(
        &self,
        digests: &[Digest],
        paths: &[VPath],
        of: fn(&[u8]) -> Digest,
    ) -> Result<Vec<Found>> {
        let answers = self.at.download(paths).await;
        let mut found = Vec::with_capacity(answers.len());
        for (digest, answer) in digests.iter().zip(answers) {
            found.push(match answer {
                Ok(bytes) if of(&bytes) == *digest => Found::Whole(bytes),
                Ok(_) => Found::Damaged,
                Err(error) if error.is_no_file() => Found::Missing,
                Err(error) => return Err(error),
            });
        }
        Ok(found)
    }
}

//! Where the files of a search can be.

use crate::core::path::VPath;

/// The set of files that a walk visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Every file below this directory; if the path is a file, that file.
    pub root: VPath,
    /// Only files whose path below `root` starts with this text. A hint that narrows the work; it
    /// may end within a segment (`src/ma`). Empty for all.
    pub prefix: String,
}

impl Scope {
    /// Everything at and below `root`.
    pub fn all(root: &VPath) -> Scope {
        Scope {
            root: root.clone(),
            prefix: String::new(),
        }
    }

    /// The prefix of the paths of all files in scope, except the file `root` itself.
    pub fn key_prefix(&self) -> String {
        self.root.dir_prefix() + &self.prefix
    }

    /// Whether a file at that path is in scope.
    pub fn admits(&self, path: &VPath) -> bool {
        match path.relative_to(&self.root) {
            Some("") => self.prefix.is_empty() && !path.is_root(),
            Some(rest) => rest.starts_with(&self.prefix),
            None => false,
        }
    }

    /// The deepest directory that contains everything in scope.
    pub fn literal_dir(&self) -> VPath {
        match self.prefix.rfind('/') {
            Some(at) => {
                let dir = self.prefix.get(..at).unwrap_or_default();
                self.root.join(dir).unwrap_or_else(|_| self.root.clone())
            }
            None => self.root.clone(),
        }
    }
}

//! `move` and `copy`: within one backend it is that backend's own; between backends each file is
//! copied, compared and then deleted.

use super::Composite;
use crate::core::error::Result;
use crate::protocol::{BackendExt, Transfer, WriteResult, transfer_by_steps};

impl Composite {
    pub(super) async fn transfer_all(&self, asked: &Transfer) -> Result<WriteResult> {
        match self.inside(asked)? {
            Some((mount, inner)) => match mount.backend.transfer(&inner).await {
                Ok(WriteResult { files_update }) => Ok(WriteResult {
                    files_update: mount.update(files_update),
                }),
                Err(error) => Err(mount.error(error)),
            },
            None => transfer_by_steps(self, asked).await,
        }
    }

    /// The backend that holds both paths with everything below them, and the transfer as it sees it.
    fn inside(&self, asked: &Transfer) -> Result<Option<(&super::Mount, Transfer)>> {
        let from = self.place(&asked.from)?;
        let to = self.file_place(&asked.to)?;
        let one = std::ptr::eq(from.mount, to.mount)
            && !from.inner.is_root()
            && self.beneath(&asked.from).next().is_none()
            && self.beneath(&asked.to).next().is_none();
        Ok(one.then(|| {
            let inner = Transfer {
                from: from.inner,
                to: to.inner,
                ..asked.clone()
            };
            (from.mount, inner)
        }))
    }
}

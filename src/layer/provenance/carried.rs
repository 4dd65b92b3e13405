//! Contents that are carried from one tree to another, as a sync does: whoever carries them is no reader, so the
//! conversation is not tainted. What is read comes with its labels, and is written with them under the rules
//! of the other tree.

use std::rc::Rc;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::provenance::Provenance;
use crate::layer::provenance::taint::Taint;
use crate::protocol::{Answer, Backend, Cargo, Operation, Purpose, Request};

impl Provenance {
    /// Does a call as one of a conversation that has read what the cargo came with.
    pub(super) async fn carried(&self, cargo: Rc<Cargo>, request: Request<'_>) -> Result<Answer> {
        cargo.pass();
        let carrier = Provenance {
            inner: self.inner.clone(),
            shared: self.shared.clone(),
            taint: Rc::new(Taint::of(cargo)),
            is_earlier: self.is_earlier,
        };
        carrier.call(request).await
    }

    /// No byte of a file was read: whoever carries contents asks for its labels, or tells them.
    pub(super) async fn asked(&self, path: &VPath) -> Result<()> {
        match self.taint.purpose() {
            Purpose::Reads | Purpose::Writes => Ok(()),
            Purpose::Asks => {
                let labels = self.labels(path).await?;
                self.taint.add(Operation::ReadRaw, path, &labels);
                Ok(())
            }
            Purpose::Tells => self.told(path).await,
        }
    }

    /// Records labels of a file as it is. No flow is asked: its content is there already.
    async fn told(&self, path: &VPath) -> Result<()> {
        let _held = self.shared.changes.lock().await;
        let lacks = self.taint.labels().without(&self.labels(path).await?);
        if lacks.is_empty() {
            return Ok(());
        }
        let version = self.version(path).await;
        let note = |book: &mut super::Book| {
            book.taint(path, &lacks);
            if let Some(version) = version {
                book.remember(version, &lacks);
            }
        };
        self.shared.ledger.update(&note).await.map(|_| ())
    }
}

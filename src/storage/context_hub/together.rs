//! Changing several files by one commit, on top of the commit that the caller has read.

use std::rc::Rc;

use crate::core::error::Kind;
use crate::core::future::Pending;
use crate::env::timer;
use crate::storage::context_hub::hub::Hub;
use crate::storage::context_hub::tree::Change;
use crate::storage::context_hub::{ContextHub, backoff};
use crate::storage::{Alteration, Together};

impl<H: Hub + 'static> Together for ContextHub<H> {
    fn moment(&self) -> Option<Pending<'_, Rc<str>>> {
        Some(Box::pin(async move {
            let commit = self.look(|tree| tree.commit()).await?;
            Ok(commit.unwrap_or_default())
        }))
    }

    fn change<'a>(
        &'a self,
        changes: Vec<Alteration>,
        moment: Option<Rc<str>>,
    ) -> Pending<'a, bool> {
        Box::pin(async move {
            let _turn = self.0.pushing.lock().await;
            let changes: Vec<Change> = changes.into_iter().map(Change::from).collect();
            match self.0.pushed_once(&changes, moment).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == Kind::Conflict => {
                    let met = self.0.met.get().saturating_add(1);
                    self.0.met.set(met);
                    timer::sleep(backoff(met)).await;
                    self.0.pull().await.map(|()| false)
                }
                Err(error) => {
                    self.0.tree.replace(None);
                    Err(error)
                }
            }
        })
    }
}

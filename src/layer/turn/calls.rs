//! A turn as a backend: its overlay, with each call kept where the turn is kept.

use std::rc::Rc;

use super::Turn;
use super::log::recorded;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, Replacement, Request, Transaction, by_steps,
};

impl Backend for Turn {
    fn capability(&self) -> Capability {
        self.overlay.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Download(_) => Box::pin(async move {
                self.load().await?;
                let answer = self.overlay.answer(request).await;
                recorded(answer, self.finish(false).await)
            }),
            Request::Write(..) | Request::Edit(..) | Request::Delete(..) | Request::Upload(_) => {
                Box::pin(async move {
                    let _changing = self.begin().await?;
                    let answer = self.overlay.answer(request).await;
                    recorded(answer, self.finish(true).await)
                })
            }
            // Its single steps are calls of their own.
            Request::Transfer(asked) => by_steps(self, asked),
            Request::Stream(path, file) => file.whole(self, path),
            Request::Execute(..) => self.overlay.answer(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.overlay.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        Atomic::Transaction(self)
    }
}

impl Transaction for Turn {
    fn replace<'a>(&'a self, files: &'a [Replacement]) -> Pending<'a, Vec<VPath>> {
        Box::pin(async move {
            let _changing = self.begin().await?;
            let differ = self.overlay.replace_files(files).await;
            recorded(differ, self.finish(true).await)
        })
    }
}

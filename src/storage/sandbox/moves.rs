//! Moving and copying on the machine, each by one command, without the bytes. What the command cannot
//! do, for example because a path is a symbolic link, is read and put.

use super::answers::{denied, odd, refusal};
use super::script::{self, RESERVED};
use super::{Machine, Sandbox, backoff};
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::env::{random, timer};
use crate::protocol::{COPIED, Transfer, one_by_one, stands};
use crate::storage::Within;

/// Maximum attempts of a move that conflicts with another writer.
const TRIES: u32 = 64;

impl<M: Machine> Sandbox<M> {
    async fn carried(&self, from: &VPath, to: &VPath, asked: &Transfer) -> Result<()> {
        let (source, target) = (self.looked(from)?, self.looked(to)?);
        let dir = target.rsplit_once('/').map_or("", |(dir, _)| dir);
        for attempt in 0..TRIES {
            let aside = format!("{dir}/{RESERVED}t-{}", random::id());
            let script = script::transfer(&source, &target, &aside, asked);
            let answer = self.run(&script).await?;
            return Err(match answer.chars().next() {
                Some('K') => return Ok(()),
                Some('B') => {
                    timer::sleep(backoff(attempt)).await;
                    continue;
                }
                Some('N') => Error::not_found(from),
                Some('A') => Error::already_exists(to),
                Some('D') => Error::is_directory(to),
                Some('S') => stands(from, COPIED, None),
                Some('U') => one_by_one(),
                Some('L') => refusal(from, 'L', &answer),
                Some('E') => denied(to, "' could not be written by the sandbox's user"),
                _ => odd(&answer),
            });
        }
        Err(Error::conflict(from))
    }
}

impl<M: Machine> Within for Sandbox<M> {
    fn transfer<'a>(
        &'a self,
        from: &'a VPath,
        to: &'a VPath,
        asked: &'a Transfer,
    ) -> Pending<'a, ()> {
        Box::pin(self.carried(from, to, asked))
    }

    fn retypes(&self) -> bool {
        true
    }

    fn move_tree<'a>(&'a self, from: &'a VPath, to: &'a VPath) -> Pending<'a, ()> {
        Box::pin(async move {
            let script = script::move_tree(&self.looked(from)?, &self.looked(to)?);
            let moved = self.run(&script).await?.starts_with('K');
            moved.then_some(()).ok_or_else(one_by_one)
        })
    }
}

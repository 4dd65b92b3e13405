//! Labels travel with what they label. A sync reads and writes without a conversation: what it reads comes with
//! a cargo, the labels that the one side knows of the content, and is written with it on the other side, which
//! records them before the content and judges them by its own flows.
//!
//! What has labels is not sent to where nobody keeps them.

#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use super::plan::{Pair, Side};
use super::{Refusal, Sync};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::running;
use crate::protocol::{Aboard, Cargo, Origin, Origins, Purpose, exists};
use crate::side;

/// An empty cargo for what is read.
pub fn empty() -> Rc<Cargo> {
    Rc::default()
}

/// What a side did not do.
pub fn refusal(path: &VPath, side: Side, error: Error) -> Refusal {
    Refusal {
        path: path.clone(),
        side,
        error,
    }
}

/// What both came with.
fn union(one: &Cargo, other: &Cargo, purpose: Purpose) -> Rc<Cargo> {
    let both = Cargo::new(purpose, one.seen());
    other.seen().into_iter().for_each(|seen| both.add(seen));
    Rc::new(both)
}

/// Makes calls of backends with a cargo, also if the host does other calls in between. A call must be made when
/// `calls` is polled, not before.
async fn with<T>(origins: &Origins, cargo: &Rc<Cargo>, calls: impl Future<Output = T>) -> T {
    if origins.is_empty() {
        return calls.await;
    }
    let mut calls = pin!(calls);
    poll_fn(|context| {
        let aboard = Some((running::current(), cargo.clone()));
        let carry = |origin: &Rc<dyn Origin>| (origin.clone(), origin.carry(aboard.clone()));
        let before: Vec<(Rc<dyn Origin>, Aboard)> = origins.iter().map(carry).collect();
        let polled = calls.as_mut().poll(context);
        for (origin, before) in before.into_iter().rev() {
            origin.carry(before);
        }
        polled
    })
    .await
}

impl Sync {
    /// Refuses sides whose labels would be lost.
    pub(super) fn check_labels(&self, side: Side) -> Result<()> {
        if !self.origins(side).is_deferred() {
            return Ok(());
        }
        Err(Error::new(
            Kind::Unsupported,
            format!(
                "side \"{}\" is a turn over labels of withProvenance, which nobody knows of its changes yet; \
                 commit it, and sync the backend below it",
                self.name(side)
            ),
        ))
    }

    fn origins(&self, side: Side) -> Origins {
        self.at(side).capability().origins
    }

    /// Makes calls of a side with a cargo.
    pub(super) async fn carrying<T>(
        &self,
        side: Side,
        cargo: &Rc<Cargo>,
        calls: impl Future<Output = T>,
    ) -> T {
        with(&self.origins(side), cargo, calls).await
    }

    /// The same for what writes a content with the labels that it came with.
    pub(super) async fn writing<T>(
        &self,
        side: Side,
        cargo: &Rc<Cargo>,
        calls: impl Future<Output = T>,
    ) -> T {
        let seen = match has(Bug::SyncLabelDropped) {
            true => Vec::new(),
            false => cargo.seen(),
        };
        let written = Rc::new(Cargo::new(Purpose::Writes, seen));
        self.carrying(side, &written, calls).await
    }

    /// Makes calls of both sides and of the room that no conversation reads, and that carry nothing.
    pub(super) async fn unread<T>(&self, calls: impl Future<Output = T>) -> T {
        let mut all = self.book.room.at().capability().origins;
        for side in Side::BOTH {
            all.extend(self.origins(side));
        }
        let nothing = Rc::new(Cargo::new(Purpose::Writes, Vec::new()));
        with(&all, &nothing, calls).await
    }

    /// The labels of a file of a side; none if there is no file, or nobody knows.
    pub(super) async fn labels_of(&self, side: Side, path: &VPath) -> Result<Rc<Cargo>> {
        let cargo = Rc::new(Cargo::new(Purpose::Asks, Vec::new()));
        if !self.origins(side).is_empty() {
            self.carrying(side, &cargo, exists(&**self.at(side), path))
                .await?;
        }
        Ok(cargo)
    }

    /// Gives a file labels that its content has on the other side.
    pub(super) async fn tell(&self, side: Side, path: &VPath, cargo: &Cargo) -> Result<()> {
        if cargo.first().is_none() {
            return Ok(());
        }
        let told = union(cargo, &empty(), Purpose::Tells);
        self.carrying(side, &told, exists(&**self.at(side), path))
            .await
            .map(drop)
    }

    /// Refuses to send a content with labels to where nobody keeps them.
    pub(super) async fn admit(&self, side: Side, path: &VPath, cargo: &Cargo) -> Result<()> {
        let Some(label) = cargo.first() else {
            return Ok(());
        };
        let there = empty();
        self.carrying(side, &there, exists(&**self.at(side), path))
            .await?;
        if there.has_passed() {
            return Ok(());
        }
        Err(Error::at(
            Kind::Unsupported,
            "'",
            path,
            format!(
                "' has the label '{label}' and was not sent: side \"{}\" keeps no labels there. Put \
                 withProvenance around it, or let a person trust the file",
                self.name(side)
            ),
        ))
    }

    /// The same on both sides.
    pub(super) async fn admit_both(
        &self,
        path: &VPath,
        cargo: Pair<&Rc<Cargo>>,
    ) -> std::result::Result<(), Refusal> {
        for side in Side::BOTH {
            let admitted = self.admit(side, path, cargo.of(side)).await;
            admitted.map_err(|error| refusal(path, side, error))?;
        }
        Ok(())
    }

    /// Gives a file the labels of its content, on the sides that have it.
    pub(super) async fn tell_both(
        &self,
        path: &VPath,
        cargo: Pair<&Rc<Cargo>>,
    ) -> std::result::Result<(), Refusal> {
        for side in Side::BOTH {
            let told = side::none_is_fine(self.tell(side, path, cargo.of(side)).await);
            told.map_err(|error| refusal(path, side, error))?;
        }
        Ok(())
    }

    /// What the content of a side is written with on each side. Where nobody knows the labels of a content, it
    /// may be an edit of the labelled one that it replaces.
    pub(super) fn freights(&self, of: Side, cargo: Pair<&Rc<Cargo>>) -> Pair<Rc<Cargo>> {
        let own = *cargo.of(of);
        let mut freights = Pair {
            a: own.clone(),
            b: own.clone(),
        };
        if !own.has_passed() {
            let to = of.other();
            *freights.of_mut(to) = union(own, cargo.of(to), Purpose::Reads);
        }
        freights
    }

    /// What a content that is made of both is written with.
    pub(super) fn of_both(&self, cargo: Pair<&Rc<Cargo>>) -> Rc<Cargo> {
        union(cargo.a, cargo.b, Purpose::Reads)
    }
}

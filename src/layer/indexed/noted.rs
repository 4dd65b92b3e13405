//! A backend whose changes are noted before they are made, also those of layers above that change
//! several files at once. It is between the index and the files.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::notes::{Notes, Place};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, Guard, Replacement, Request, SharedBackend, Together,
    Transaction, unsupported,
};

/// A backend that notes its changes.
pub struct Noting {
    inner: SharedBackend,
    /// The backend that changes several files for `inner`.
    base: SharedBackend,
    notes: Rc<Notes>,
    /// Whether the calls that run now change other files.
    is_elsewhere: Cell<bool>,
}

/// Whether a change may still be made after this error.
fn is_open(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Unavailable | Kind::Timeout | Kind::Internal
    )
}

fn not_noted(error: Error) -> Error {
    let why = format!("Nothing was changed, because the search index could not note it: {error}");
    Error::new(error.kind(), why)
}

fn not_noted_again(error: Error) -> Error {
    let why = format!(
        "The change was made, but took so long that the search index must note it again, which failed: \
         {error}. Searches find it after the next updateIndex."
    );
    Error::new(error.kind(), why)
}

/// Whether all that a call changes is changed.
fn is_known(answer: &Result<Answer>) -> bool {
    match answer {
        Ok(answer) => !answer.error().is_some_and(is_open),
        Err(error) => !is_open(error),
    }
}

/// The places that a request changes; none if it only reads.
fn places(request: &Request<'_>) -> Vec<Place> {
    let at = |path: &VPath, is_tree: bool| Place {
        path: path.clone(),
        is_tree: is_tree && !has(Bug::NoteTreesFlat),
    };
    let mut places = match request {
        Request::Ls(_)
        | Request::Read(..)
        | Request::ReadRaw(..)
        | Request::Grep(_)
        | Request::Glob(_)
        | Request::Download(_) => return Vec::new(),
        Request::Write(path, _) | Request::Edit(path, _) | Request::Stream(path, _) => {
            vec![at(path, false)]
        }
        Request::Delete(path, unchanged) => vec![at(path, unchanged.is_none())],
        Request::Transfer(asked) if asked.keeps => vec![at(&asked.to, true)],
        Request::Transfer(asked) => vec![at(&asked.from, true), at(&asked.to, true)],
        Request::Upload(files) => files.iter().map(|(path, _)| at(path, false)).collect(),
        // A command changes what it likes.
        Request::Execute(..) => vec![at(&VPath::root(), true)],
    };
    // The files of the library are in no search.
    places.retain(|place| !place.path.is_own());
    places
}

impl Noting {
    pub fn new(inner: SharedBackend, notes: Rc<Notes>) -> Noting {
        let mut base = inner.clone();
        while let Some(next) = inner_of(&base) {
            base = next;
        }
        Noting {
            inner,
            base,
            notes,
            is_elsewhere: Cell::new(false),
        }
    }

    /// Makes a change that is noted. It is not called before that.
    fn noted<'a, T: 'a>(
        &'a self,
        places: Vec<Place>,
        change: impl FnOnce() -> Pending<'a, T> + 'a,
        is_known: fn(&Result<T>) -> bool,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            if places.is_empty() || self.is_elsewhere.get() {
                return change().await;
            }
            if has(Bug::NoteLate) {
                let answer = change().await;
                let noted = self.notes.begin(&places).await?;
                self.notes.end(noted, &places, true).await?;
                return answer;
            }
            let noted = self.notes.begin(&places).await.map_err(not_noted)?;
            let answer = change().await;
            let ended = self.notes.end(noted, &places, is_known(&answer)).await;
            answer.and_then(|answer| ended.map_err(not_noted_again).map(|()| answer))
        })
    }

    fn replaced<'a, T: 'a>(
        &'a self,
        files: &'a [Replacement],
        change: impl FnOnce() -> Pending<'a, T> + 'a,
    ) -> Pending<'a, T> {
        let files = files.iter().filter(|file| !file.path.is_own());
        let places = files.map(|file| Place {
            path: file.path.clone(),
            is_tree: false,
        });
        self.noted(places.collect(), change, |answer| {
            !answer.as_ref().err().is_some_and(is_open)
        })
    }
}

fn inner_of(backend: &SharedBackend) -> Option<SharedBackend> {
    match backend.atomic() {
        Atomic::Inner(inner) => Some(inner),
        Atomic::Transaction(_)
        | Atomic::Immediate
        | Atomic::Together(_)
        | Atomic::Conditional
        | Atomic::Guarded(_)
        | Atomic::Never => None,
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Noting {
    fn capability(&self) -> Capability {
        self.inner.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        let places = places(&request);
        match places.is_empty() {
            true => self.inner.call(request),
            false => self.noted(places, move || self.inner.call(request), is_known),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.inner.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        if has(Bug::NoteAtomicPast) {
            return Atomic::Inner(self.inner.clone());
        }
        match self.base.atomic() {
            Atomic::Transaction(_) => Atomic::Transaction(self),
            // Where all files together have a state, a note changes it.
            Atomic::Together(base) if base.moment().is_some() => Atomic::Conditional,
            Atomic::Together(_) => Atomic::Together(self),
            Atomic::Guarded(_) => Atomic::Guarded(self),
            // A note takes its time, so other calls come between two changes.
            Atomic::Immediate | Atomic::Conditional => Atomic::Conditional,
            Atomic::Inner(_) | Atomic::Never => Atomic::Never,
        }
    }
}

impl Transaction for Noting {
    fn replace<'a>(&'a self, files: &'a [Replacement]) -> Pending<'a, Vec<VPath>> {
        match self.base.atomic() {
            Atomic::Transaction(base) => self.replaced(files, move || base.replace(files)),
            Atomic::Immediate
            | Atomic::Together(_)
            | Atomic::Conditional
            | Atomic::Guarded(_)
            | Atomic::Inner(_)
            | Atomic::Never => refused(),
        }
    }

    fn is_journaled(&self) -> bool {
        match self.base.atomic() {
            Atomic::Transaction(base) => base.is_journaled(),
            Atomic::Immediate
            | Atomic::Together(_)
            | Atomic::Conditional
            | Atomic::Guarded(_)
            | Atomic::Inner(_)
            | Atomic::Never => false,
        }
    }
}

impl Together for Noting {
    fn moment(&self) -> Option<Pending<'_, Rc<str>>> {
        None
    }

    fn replace_at<'a>(
        &'a self,
        files: &'a [Replacement],
        moment: Option<Rc<str>>,
    ) -> Pending<'a, bool> {
        match self.base.atomic() {
            Atomic::Together(base) => self.replaced(files, move || base.replace_at(files, moment)),
            Atomic::Transaction(_)
            | Atomic::Immediate
            | Atomic::Conditional
            | Atomic::Guarded(_)
            | Atomic::Inner(_)
            | Atomic::Never => refused(),
        }
    }
}

/// The rules are those below; what is changed below them is noted, too.
impl Guard for Noting {
    fn inner(&self) -> SharedBackend {
        match self.guard() {
            Some(guard) => Rc::new(Noting::new(guard.inner(), self.notes.clone())),
            None => self.base.clone(),
        }
    }

    fn judging<'a>(
        &'a self,
        files: SharedBackend,
        calls: LocalBoxFuture<'a, ()>,
    ) -> LocalBoxFuture<'a, ()> {
        let Some(guard) = self.guard() else {
            return calls;
        };
        let mut calls = calls;
        let elsewhere = poll_fn(move |context| {
            let before = self.is_elsewhere.replace(true);
            let polled = calls.poll_unpin(context);
            self.is_elsewhere.set(before);
            polled
        });
        guard.judging(files, Box::pin(elsewhere))
    }

    fn changed(&self) {
        if let Some(guard) = self.guard() {
            guard.changed();
        }
    }

    fn shows(&self, path: &VPath, beneath: bool) -> bool {
        self.guard().is_none_or(|guard| guard.shows(path, beneath))
    }
}

impl Noting {
    fn guard(&self) -> Option<&dyn Guard> {
        match self.base.atomic() {
            Atomic::Guarded(guard) => Some(guard),
            Atomic::Transaction(_)
            | Atomic::Immediate
            | Atomic::Together(_)
            | Atomic::Conditional
            | Atomic::Inner(_)
            | Atomic::Never => None,
        }
    }
}

fn refused<'a, T: 'a>() -> Pending<'a, T> {
    let what = "a change of several files at once";
    Box::pin(std::future::ready(Err(unsupported(what))))
}

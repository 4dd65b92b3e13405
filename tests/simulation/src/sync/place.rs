//! The world of a history: a clock, chance, and trees whose answers can be lost.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use kitbag::core::error::{Error, Kind, Result};
use kitbag::core::future::Pending;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::env::simulated::Host;
use kitbag::files::stepping::{pause, stepping};
use kitbag::protocol::{
    Answer, Atomic, Backend, BackendExt, Capability, Effect, GlobQuery, Request, SharedBackend,
};
use kitbag_simulation::rng::Rng;

/// The clock and the random numbers of all processes.
pub struct World {
    pub micros: Rc<Cell<i64>>,
    pub rng: RefCell<Rng>,
}

impl World {
    pub fn new(seed: u64) -> World {
        World {
            micros: Rc::new(Cell::new(1_800_000_000_000_000)),
            rng: RefCell::new(Rng::new(seed)),
        }
    }

    pub fn roll(&self, sides: usize) -> usize {
        self.rng.borrow_mut().below(sides as u64) as usize
    }

    pub fn pass(&self, micros: i64) {
        self.micros.set(self.micros.get() + micros);
    }
}

/// The host of this thread, with its own chance, so that the library's use of it changes no choice.
pub struct Machine {
    pub micros: Rc<Cell<i64>>,
    pub rng: RefCell<Rng>,
}

impl Host for Machine {
    fn now(&self) -> Time {
        Time::from_micros(self.micros.get())
    }

    fn sleep(&self, wait: Duration) -> LocalBoxFuture<'static, ()> {
        let micros = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
        self.micros.set(self.micros.get() + micros);
        Box::pin(pause())
    }

    fn unit(&self) -> f64 {
        self.rng.borrow_mut().unit()
    }
}

/// A tree as one process reaches it: some of its answers are lost.
pub struct Line {
    pub tree: SharedBackend,
    /// How many changes are made until one is lost, and whether that one is made.
    pub fuse: Cell<Option<(usize, bool)>>,
    /// How many steps a listing takes before and after the files of the first half are looked at.
    pub slow: (usize, usize),
}

impl Line {
    /// A listing whose second half is later than its first one.
    async fn list(&self, query: &GlobQuery) -> Result<Answer> {
        for _ in 0..self.slow.0 {
            pause().await;
        }
        let first = self.tree.glob(query).await?;
        for _ in 0..self.slow.1 {
            pause().await;
        }
        let mut found = self.tree.glob(query).await?;
        let mut paths: Vec<VPath> = first.files.iter().map(|info| info.path.clone()).collect();
        paths.sort();
        if let Some(half) = paths.get(paths.len() / 2) {
            let late = std::mem::replace(&mut found.files, first.files);
            found.files.retain(|info| info.path < *half);
            found
                .files
                .extend(late.into_iter().filter(|info| info.path >= *half));
            found.by_path &= first.by_path;
        }
        Ok(Answer::Glob(found))
    }
}

/// A tree of memory whose calls take their time.
pub fn tree() -> SharedBackend {
    stepping()
}

impl Backend for Line {
    fn capability(&self) -> Capability {
        self.tree.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        if let Request::Glob(query) = request
            && self.slow != (0, 0)
        {
            return Box::pin(self.list(query));
        }
        if request.operation().effect() != Effect::Writes {
            return self.tree.call(request);
        }
        let lost = || Error::new(Kind::Unavailable, "the connection is gone");
        let fuse = self.fuse.get();
        self.fuse.set(match fuse {
            Some((0, _)) | None => None,
            Some((left, made)) => Some((left - 1, made)),
        });
        match fuse {
            Some((0, false)) => Box::pin(async move {
                pause().await;
                Err(lost())
            }),
            Some((0, true)) => Box::pin(async move {
                let _ = self.tree.call(request).await;
                Err(lost())
            }),
            _ => self.tree.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.tree.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        self.tree.atomic()
    }
}

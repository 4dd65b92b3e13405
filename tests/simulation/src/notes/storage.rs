//! A storage in memory, whose calls take a random number of turns and sometimes fail, before or after they
//! were carried out.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::rc::Rc;
use std::task::Poll;

use kitbag::core::error::{Error, Kind, Result};
use kitbag::core::future::Pending;
use kitbag::core::path::VPath;
use kitbag::protocol::{Capability, clipped};
use kitbag::storage::memory::Memory;
use kitbag::storage::{
    Alteration, Cursor, Depth, Extras, File, Listing, Meta, NewFile, Part, PutMode, Ranged,
    Storage, Together, Version,
};
use kitbag_simulation::rng::Rng;

/// Memory whose versions are unique.
#[derive(Clone)]
pub struct Busy(pub Rc<Inner>);

pub struct Inner {
    memory: Memory,
    rng: RefCell<Rng>,
    /// One call of so many fails; none if it is 0.
    pub fails: Cell<u64>,
    /// Whether calls take turns.
    pub waits: Cell<bool>,
    /// Whether it changes several files in one step.
    together: bool,
    /// How many listings of everything were asked for, and of what is directly in a directory of files.
    pub lists: Cell<u64>,
    pub levels: Cell<u64>,
}

impl Busy {
    pub fn new(rng: Rng, together: bool) -> Busy {
        Busy(Rc::new(Inner {
            memory: Memory::default(),
            rng: RefCell::new(rng),
            fails: Cell::new(0),
            waits: Cell::new(false),
            together,
            lists: Cell::new(0),
            levels: Cell::new(0),
        }))
    }

    /// Carries out a call, some turns later, and lets it fail or not.
    async fn made<T>(&self, work: impl AsyncFnOnce(&Memory) -> Result<T>) -> Result<T> {
        let lost = || Error::new(Kind::Unavailable, "the connection is gone");
        self.turns().await;
        let fate = match self.0.fails.get() {
            0 => 2,
            one_of => self.0.rng.borrow_mut().below(2 * one_of),
        };
        if fate == 0 {
            return Err(lost());
        }
        let answer = work(&self.0.memory).await;
        self.turns().await;
        match fate {
            1 => Err(lost()),
            _ => answer,
        }
    }

    async fn turns(&self) {
        let mut left = match self.0.waits.get() {
            true => self.0.rng.borrow_mut().below(4),
            false => 0,
        };
        poll_fn(|_| {
            left = left.saturating_sub(1);
            match left {
                0 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        })
        .await;
    }
}

impl Storage for Busy {
    fn capability(&self) -> Capability {
        Capability {
            lists_versions: true,
            ..self.0.memory.capability()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(self.made(async move |memory| memory.stat(path).await))
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(self.made(async move |memory| memory.get(path).await))
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(self.made(async move |memory| memory.put(path, file, mode).await))
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(self.made(async move |memory| memory.delete(path, version).await))
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        match depth {
            // A noted tree may be listed, which is not everything.
            Depth::All if dir.is_root() => self.0.lists.set(self.0.lists.get() + 1),
            Depth::One if !dir.is_own() => self.0.levels.set(self.0.levels.get() + 1),
            Depth::All | Depth::One => {}
        }
        Box::pin(self.made(async move |memory| memory.list(dir, depth, from).await))
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            ranged: Some(self),
            together: self.0.together.then_some(self),
            ..Extras::NONE
        }
    }
}

impl Ranged for Busy {
    fn part_bytes(&self) -> Option<u64> {
        Some(1024)
    }

    fn get_part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>> {
        Box::pin(self.made(async move |memory| {
            Ok(memory.get(path).await?.map(|file| {
                let body = clipped(&file.body, 0, range.clone());
                Part {
                    file: File { body, ..file },
                    start: range.start,
                    lines: None,
                }
            }))
        }))
    }
}

impl Together for Busy {
    fn change<'a>(&'a self, changes: Vec<Alteration>, _: Option<Rc<str>>) -> Pending<'a, bool> {
        Box::pin(self.made(async move |memory| {
            // Memory answers at once, so nothing comes in between.
            for change in &changes {
                let now = memory.stat(&change.path).await?;
                if now.and_then(|meta| meta.version) != change.was {
                    return Ok(false);
                }
            }
            for change in changes {
                match change.file {
                    Some(file) => _ = memory.put(&change.path, file, PutMode::Overwrite).await?,
                    None => _ = memory.delete(&change.path, None).await?,
                }
            }
            Ok(true)
        }))
    }
}

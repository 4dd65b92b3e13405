//! Trees whose clocks lie: they tick once in seconds, are slow or fast, or are set back. A clock that is a minute
//! slow is more than a sync can bear (`docs/sync.md`).

use futures_util::FutureExt;
use kitbag::core::future::Pending;
use kitbag::core::time::Time;
use kitbag::protocol::{Answer, Atomic, Backend, Capability, EntryInfo, Request, SharedBackend};

use std::rc::Rc;

use crate::place::World;

const SECOND: i64 = 1_000_000;

/// What a clock says instead of the time.
#[derive(Clone, Copy)]
pub struct Clock {
    tick: i64,
    ahead: i64,
    /// When it is set back, and by how much.
    back: (i64, i64),
}

impl Clock {
    /// Any.
    pub fn any(world: &World) -> Clock {
        let right = Clock {
            tick: 1,
            ahead: 0,
            back: (i64::MAX, 0),
        };
        let soon = world.micros.get() + world.roll(120) as i64 * SECOND;
        match world.roll(8) {
            0 => Clock {
                tick: SECOND,
                ..right
            },
            1 => Clock {
                tick: 2 * SECOND,
                ahead: -40 * SECOND,
                ..right
            },
            2 => Clock {
                ahead: 86_400 * SECOND,
                ..right
            },
            3 => Clock {
                back: (soon, 40 * SECOND),
                ..right
            },
            _ => right,
        }
    }

    fn says(self, time: Time) -> Time {
        let micros = time.micros();
        let (when, by) = self.back;
        let set = micros + self.ahead - if micros < when { 0 } else { by };
        Time::from_micros(set - set.rem_euclid(self.tick))
    }
}

/// A tree that lists the times of its clock.
pub struct Clocked {
    pub tree: SharedBackend,
    pub clock: Clock,
}

impl Backend for Clocked {
    fn capability(&self) -> Capability {
        self.tree.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        let told = self.tree.call(request).map(|answer| {
            let mut answer = answer?;
            if let Answer::Glob(found) = &mut answer {
                for info in &mut found.files {
                    if let EntryInfo::File { modified, .. } = &mut info.entry {
                        *modified = modified.map(|time| self.clock.says(time));
                    }
                }
            }
            Ok(answer)
        });
        Box::pin(told)
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.tree.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        self.tree.atomic()
    }
}

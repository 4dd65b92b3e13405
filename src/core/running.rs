//! Tracks which calls are running and which were ended by a trap. A trap runs no destructors:
//! anything the call had borrowed, locked or queued for would stay taken forever. So borrows and
//! locks record when and by which call they were taken ([`cell`](crate::core::cell),
//! [`lock`](crate::core::lock)), and ask here whether that call can still release them.

use std::cell::Cell;

use crate::core::time::Time;

/// Maximum depth of tracked nested calls: a callback provided by the caller may call in again.
const NESTED: usize = 32;

thread_local! {
    static TRAPS: Cell<u32> = const { Cell::new(0) };
    static LAST: Cell<u32> = const { Cell::new(0) };
    /// The calls on the stack, outermost first, each with an address in its frame.
    static STACK: [Cell<Running>; NESTED] = const { [const { Cell::new(Running::NONE) }; NESTED] };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Calls that a trap ended while any lock was held.
    static LOST: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// A call: its number and its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The call's number.
    pub number: u32,
    /// When its caller stops waiting.
    pub deadline: Option<Time>,
    /// Whether it may let the host do other work before it answers.
    pub waits: bool,
    /// The tool or the method that its caller called.
    pub called: Option<&'static str>,
}

/// A call on the stack, with an address in its frame.
#[derive(Clone, Copy)]
struct Running {
    call: Call,
    address: usize,
    /// Whether this part of the call refuses symbolic links.
    no_links: bool,
}

impl Call {
    const NONE: Call = Call {
        number: 0,
        deadline: None,
        waits: false,
        called: None,
    };

    /// A new call, without a deadline.
    pub fn new() -> Call {
        Call {
            number: number(),
            ..Call::NONE
        }
    }
}

impl Default for Call {
    fn default() -> Call {
        Call::new()
    }
}

impl Running {
    const NONE: Running = Running {
        call: Call::NONE,
        address: 0,
        no_links: false,
    };
}

/// A number for a new call.
fn number() -> u32 {
    let number = LAST.get().checked_add(1).unwrap_or(1);
    LAST.set(number);
    number
}

/// Runs a part of a call: borrows and locks taken in `run` belong to `call`.
pub fn within<T>(call: Call, run: impl FnOnce() -> T) -> T {
    let marker = 0u8;
    let depth = DEPTH.get();
    STACK.with(|stack| {
        if let Some(place) = stack.get(depth) {
            place.set(Running {
                call,
                address: (&raw const marker).addr(),
                no_links: false,
            });
        }
    });
    DEPTH.set(depth + 1);
    let answer = run();
    DEPTH.set(depth);
    answer
}

fn top() -> Call {
    on_top(|place| place.get().call).unwrap_or(Call::NONE)
}

fn on_top<T>(look: impl FnOnce(&Cell<Running>) -> T) -> Option<T> {
    let top = DEPTH.get().checked_sub(1)?;
    STACK.with(|stack| stack.get(top).map(look))
}

/// Whether symbolic links are refused in the part of a call that runs now.
pub fn links_refused() -> bool {
    on_top(|place| place.get().no_links).unwrap_or(false)
}

/// Sets whether symbolic links are refused from here on, and returns what was set before. A trap
/// leaves nothing behind: the next call sets its own place on the stack.
#[inline(never)]
pub fn refuse_links(no_links: bool) -> bool {
    let before = on_top(|place| {
        let running = place.get();
        place.set(Running {
            no_links,
            ..running
        });
        running.no_links
    });
    before.unwrap_or(false)
}

/// The number of the current call; 0 if there is none.
pub fn current() -> u32 {
    top().number
}

/// The deadline of the current call.
pub fn deadline() -> Option<Time> {
    top().deadline
}

/// The tool or the method that the caller of the current call called.
pub fn called() -> Option<&'static str> {
    top().called
}

/// Whether the current call may let the host do other work before it answers.
pub fn may_wait() -> bool {
    top().waits
}

/// How many traps have ended calls so far.
pub fn traps() -> u32 {
    TRAPS.get()
}

/// Whether a trap has ended that call.
pub fn is_lost(call: u32) -> bool {
    let lost = LOST.take();
    let is = lost.contains(&call);
    LOST.set(lost);
    is
}

/// Records a trap that ended all calls with frames below address `below`; the stack grows
/// downwards. If `all` is true, nothing is left on the stack and every borrow is released.
pub fn trapped(below: usize, all: bool) {
    if all {
        TRAPS.set(TRAPS.get().wrapping_add(1));
    }
    let mut depth = DEPTH.get();
    while depth > 0 {
        let place = STACK.with(|stack| stack.get(depth - 1).map(Cell::get));
        match place {
            Some(running) if running.address >= below && !all => break,
            Some(running) => lose(running.call.number),
            None => {}
        }
        depth -= 1;
    }
    DEPTH.set(depth);
}

fn lose(call: u32) {
    if HELD.get() == 0 {
        return;
    }
    let mut lost = LOST.take();
    if lost.try_reserve(1).is_ok() {
        lost.push(call);
    }
    LOST.set(lost);
}

/// Records that a lock was taken.
pub fn holds() {
    HELD.set(HELD.get().saturating_add(1));
}

/// Records that a lock was released.
pub fn gives_back() {
    HELD.set(HELD.get().saturating_sub(1));
}

/// How many permits are held.
#[cfg(feature = "testing")]
pub fn held() -> u32 {
    u32::try_from(HELD.get()).unwrap_or(u32::MAX)
}

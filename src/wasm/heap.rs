//! Where memory comes from. Each time wasm's memory grows, JavaScript's view of all of it is
//! thrown away and made anew, and the collector is told of a new large object; grown by what is
//! needed just now, as the standard library does, a thousand small writes spend most of their
//! time in that. So memory grows by a megabyte at least, and by an eighth of what there is.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

use dlmalloc::{Allocator, Dlmalloc};

#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(Dlmalloc::new_with_allocator(Growing)));

const PAGE: usize = 64 * 1024;
/// Pages asked for at least.
const STEP: usize = 16;

struct Growing;

// SAFETY: `alloc` hands out memory that `memory_grow` made just now, so it is nobody else's, and
// nothing is ever given back.
unsafe impl Allocator for Growing {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let needed = size.div_ceil(PAGE);
        let plenty = needed.max(STEP).max(memory_size(0) / 8);
        for pages in [plenty, needed] {
            let before = memory_grow(0, pages);
            if before == usize::MAX {
                continue;
            }
            let start = before * PAGE;
            let bytes = pages * PAGE;
            // No region may end where addresses wrap around.
            let bytes = match start.checked_add(bytes) {
                Some(_) => bytes,
                None => bytes - 16,
            };
            return (start as *mut u8, bytes, 0);
        }
        (null_mut(), 0, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}

struct Heap(UnsafeCell<Dlmalloc<Growing>>);

/// Whether the allocator is at work. It never panics, but an engine may throw between any two of
/// its functions where the host's stack ends, and then its lists may be half changed.
static AT_WORK: AtomicBool = AtomicBool::new(false);

/// Whether the allocator was interrupted.
pub fn was_interrupted() -> bool {
    AT_WORK.load(Ordering::Relaxed)
}

/// Whether the last allocation failed: a trap right behind it is for want of memory.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Whether the last allocation failed.
pub fn is_exhausted() -> bool {
    FAILED.load(Ordering::Relaxed)
}

fn whole<T>(work: impl FnOnce() -> T) -> T {
    AT_WORK.store(true, Ordering::Relaxed);
    let done = work();
    AT_WORK.store(false, Ordering::Relaxed);
    done
}

fn allocated(work: impl FnOnce() -> *mut u8) -> *mut u8 {
    #[cfg(feature = "testing")]
    if testing::fails() {
        FAILED.store(true, Ordering::Relaxed);
        return null_mut();
    }
    let at = whole(work);
    FAILED.store(at.is_null(), Ordering::Relaxed);
    at
}

/// Allocations that fail on demand.
#[cfg(feature = "testing")]
pub mod testing {
    use core::sync::atomic::{AtomicU32, Ordering};

    use wasm_bindgen::prelude::wasm_bindgen;

    static LEFT: AtomicU32 = AtomicU32::new(0);

    /// Lets the allocation with that number from here on fail, counted from 1; 0 lets none fail.
    /// Answers how many of those asked for before are left.
    #[wasm_bindgen]
    pub fn fail_allocation(number: u32) -> u32 {
        LEFT.swap(number, Ordering::Relaxed)
    }

    pub(super) fn fails() -> bool {
        let left = LEFT.load(Ordering::Relaxed);
        LEFT.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 1
    }
}

// SAFETY: this module is built for one thread; there is no other to share it with.
unsafe impl Sync for Heap {}

// SAFETY: every call is passed on to the allocator as it is, and nothing that it calls allocates,
// so it is never entered twice.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see the impl.
        allocated(|| unsafe { (*self.0.get()).malloc(layout.size(), layout.align()) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see the impl.
        allocated(|| unsafe { (*self.0.get()).calloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: see the impl; the caller vouches for `at` and `layout`.
        whole(|| unsafe { (*self.0.get()).free(at, layout.size(), layout.align()) })
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see the impl; the caller vouches for `at` and `layout`.
        allocated(|| unsafe { (*self.0.get()).realloc(at, layout.size(), layout.align(), size) })
    }
}

//! The memory allocator. Each time wasm memory grows, the JavaScript view of it must be created
//! again, and the garbage collector is notified of a new large object. If memory grew only by what
//! is needed at the moment, as in the standard library, a thousand small writes would spend most of
//! their time on that. So memory grows by at least a megabyte, and at least an eighth of its size.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

use dlmalloc::{Allocator, Dlmalloc};

#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(Dlmalloc::new_with_allocator(Growing)));

const PAGE: usize = 64 * 1024;
/// Minimum number of pages to grow by.
const STEP: usize = 16;

struct Growing;

// SAFETY: `alloc` returns memory that `memory_grow` has just created, so nobody else uses it, and
// memory is never released.
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

/// Whether the allocator is running. It never panics, but an engine may throw between any two of
/// its functions on a stack overflow, and its lists may then be inconsistent.
static AT_WORK: AtomicBool = AtomicBool::new(false);

/// Whether the allocator was interrupted, so that its state may be inconsistent.
pub fn was_interrupted() -> bool {
    AT_WORK.load(Ordering::Relaxed)
}

/// Whether the last allocation failed: a trap right after it was caused by lack of memory.
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

    /// Lets the allocation with that number fail, counted from 1 from now on; 0 disables that.
    /// Returns how many allocations were left until the previously requested failure.
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

// SAFETY: this module is built for a single thread.
unsafe impl Sync for Heap {}

// SAFETY: every call is forwarded unchanged to the allocator, and nothing that it calls allocates,
// so it is never re-entered.
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
        // SAFETY: see the impl; the caller guarantees `at` and `layout`.
        whole(|| unsafe { (*self.0.get()).free(at, layout.size(), layout.align()) })
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see the impl; the caller guarantees `at` and `layout`.
        allocated(|| unsafe { (*self.0.get()).realloc(at, layout.size(), layout.align(), size) })
    }
}

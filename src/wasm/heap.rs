//! Where memory comes from. Each time wasm's memory grows, JavaScript's view of all of it is
//! thrown away and made anew, and the collector is told of a new large object; grown by what is
//! needed just now, as the standard library does, a thousand small writes spend most of their
//! time in that. So memory grows by a megabyte at least, and by an eighth of what there is.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::UnsafeCell;
use core::ptr::null_mut;

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

// SAFETY: this module is built for one thread; there is no other to share it with.
unsafe impl Sync for Heap {}

// SAFETY: every call is passed on to the allocator as it is, and nothing that it calls allocates,
// so it is never entered twice.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see the impl.
        unsafe { (*self.0.get()).malloc(layout.size(), layout.align()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see the impl.
        unsafe { (*self.0.get()).calloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: see the impl; the caller vouches for `at` and `layout`.
        unsafe { (*self.0.get()).free(at, layout.size(), layout.align()) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see the impl; the caller vouches for `at` and `layout`.
        unsafe { (*self.0.get()).realloc(at, layout.size(), layout.align(), size) }
    }
}

//! Unpacks what `kitbag-splitter pack` packed: a small module of its own, since it has to run
//! before any other. One call a module; its memory only grows, and goes with the instance.
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::cell::Cell;

use lzma_rust2::{LzmaReader, Read};

const PAGE: usize = 65_536;

/// Hands out memory behind what is in use, and takes none back.
struct Bump(Cell<usize>);

// SAFETY: a module without threads.
unsafe impl Sync for Bump {}

// SAFETY: every block begins where the one before ended, inside memory that was grown for it.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let have = wasm32::memory_size(0) * PAGE;
        let from = if self.0.get() == 0 { have } else { self.0.get() };
        let start = from.next_multiple_of(layout.align());
        let end = start + layout.size();
        if end > have && wasm32::memory_grow(0, (end - have).div_ceil(PAGE)) == usize::MAX {
            return core::ptr::null_mut();
        }
        self.0.set(end);
        start as *mut u8
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static BUMP: Bump = Bump(Cell::new(0));

/// Room for `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    Vec::leak(Vec::with_capacity(len)).as_mut_ptr()
}

/// Unpacks `len` bytes at `from` into `size` bytes at `to`; whether that went well.
///
/// # Safety
///
/// Both ranges must have come from [`room`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unpack(from: *const u8, len: usize, to: *mut u8, size: usize) -> bool {
    // SAFETY: as the caller promises.
    let (packed, out) = unsafe {
        (
            core::slice::from_raw_parts(from, len),
            core::slice::from_raw_parts_mut(to, size),
        )
    };
    let reader = LzmaReader::new(packed, size as u64, 3, 0, 0, size as u32, None);
    reader.is_ok_and(|mut reader| reader.read_exact(out).is_ok())
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    wasm32::unreachable()
}

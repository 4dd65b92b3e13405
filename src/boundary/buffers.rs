//! Buffers for incoming bytes. JavaScript requests a buffer, encodes or copies directly into it,
//! and passes its number; the call that takes it then owns the bytes, without a copy. If memory
//! cannot be allocated, that is an error and not a trap.

#[cfg(host = "javascript")]
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::sorted::Sorted;

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers::default());
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[derive(Default)]
struct Buffers {
    last: u32,
    held: Sorted<u32, Vec<u8>>,
}

/// A new buffer of `len` zero bytes; 0 if memory cannot be allocated.
#[cfg_attr(host = "javascript", wasm_bindgen)]
pub fn buffer_new(len: usize) -> u32 {
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(len).is_err() {
        return 0;
    }
    bytes.resize(len, 0);
    BUFFERS.with_borrow_mut(|buffers| {
        buffers.last = buffers.last.checked_add(1).unwrap_or(1);
        let id = buffers.last;
        buffers.held.insert(id, bytes);
        id
    })
}

/// Resizes a buffer to `len` bytes; `false` if memory cannot be allocated.
#[cfg_attr(host = "javascript", wasm_bindgen)]
pub fn buffer_resize(id: u32, len: usize) -> bool {
    BUFFERS.with_borrow_mut(|buffers| {
        let Some(bytes) = buffers.held.get_mut(&id) else {
            return false;
        };
        let more = len.saturating_sub(bytes.len());
        if bytes.try_reserve_exact(more).is_err() {
            return false;
        }
        bytes.resize(len, 0);
        true
    })
}

/// The address of a buffer's bytes, valid until the next call into wasm.
#[cfg_attr(host = "javascript", wasm_bindgen)]
pub fn buffer_ptr(id: u32) -> *const u8 {
    BUFFERS.with_borrow(|buffers| {
        buffers
            .held
            .get(&id)
            .map_or(std::ptr::null(), |b| b.as_ptr())
    })
}

/// Frees an unused buffer.
#[cfg_attr(host = "javascript", wasm_bindgen)]
pub fn buffer_drop(id: u32) {
    BUFFERS.with_borrow_mut(|buffers| buffers.held.remove(&id));
}

/// How many buffers are held.
#[cfg(feature = "testing")]
pub fn count() -> u32 {
    BUFFERS.with_borrow(|buffers| u32::try_from(buffers.held.len()).unwrap_or(u32::MAX))
}

/// Takes a buffer and returns its first `len` bytes.
pub fn take(id: u32, len: usize) -> Option<Vec<u8>> {
    let mut bytes = BUFFERS.with_borrow_mut(|buffers| buffers.held.remove(&id))?;
    bytes.truncate(len);
    // Text is encoded into space for the worst case; frees what was not needed.
    if bytes.capacity() > bytes.len() + bytes.len() / 8 + 64 {
        bytes.shrink_to_fit();
    }
    Some(bytes)
}

/// Scratch memory for the arguments of one call, at least `len` bytes; 0 if memory cannot be
/// allocated.
#[cfg_attr(host = "javascript", wasm_bindgen)]
pub fn scratch(len: usize) -> *const u8 {
    SCRATCH.with_borrow_mut(|scratch| {
        let more = len.saturating_sub(scratch.len());
        if more > 0 {
            if scratch.try_reserve(more).is_err() {
                return std::ptr::null();
            }
            scratch.resize(len, 0);
        }
        scratch.as_ptr()
    })
}

/// Passes the arguments of one call to `read`.
pub fn with_scratch<T>(len: usize, read: impl FnOnce(&[u8]) -> T) -> T {
    SCRATCH.with_borrow(|scratch| read(scratch.get(..len).unwrap_or_default()))
}

//! The functions under plain names. Addresses come from `room`, whose memory is never released.

use std::collections::BTreeMap;
use std::sync::Mutex;

static KEPT: Mutex<BTreeMap<Vec<u8>, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// The bytes at this address.
///
/// # Safety
/// They must lie in memory that `room` has returned.
unsafe fn bytes<'a>(at: *const u8, length: usize) -> &'a [u8] {
    // SAFETY: the caller guarantees it.
    unsafe { std::slice::from_raw_parts(at, length) }
}

/// Memory of so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    vec![0; length].leak().as_mut_ptr()
}

/// # Safety
/// See [`bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sum(at: *const u8, length: usize) -> f64 {
    // SAFETY: the caller guarantees it.
    crate::sum(unsafe { bytes(at, length) }) as f64
}

/// # Safety
/// See [`bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn found(
    at: *const u8,
    length: usize,
    text: *const u8,
    size: usize,
) -> usize {
    // SAFETY: the caller guarantees it.
    crate::found(unsafe { bytes(at, length) }, unsafe { bytes(text, size) })
}

/// # Safety
/// See [`bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lines(at: *const u8, length: usize) -> usize {
    // SAFETY: the caller guarantees it.
    crate::lines(unsafe { bytes(at, length) })
}

/// Copies bytes to memory that was not in use before; returns the last one.
///
/// # Safety
/// See [`bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn copied(at: *const u8, length: usize) -> u32 {
    // SAFETY: the caller guarantees it.
    let copy = unsafe { bytes(at, length) }.to_vec().leak();
    copy.last().copied().map_or(0, u32::from)
}

/// Keeps a text under a path in a sorted map.
///
/// # Safety
/// See [`bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn keep(path: *const u8, length: usize, text: *const u8, size: usize) {
    // SAFETY: the caller guarantees it.
    let (path, text) = unsafe { (bytes(path, length), bytes(text, size)) };
    if let Ok(mut kept) = KEPT.lock() {
        kept.insert(path.to_vec(), text.to_vec());
    }
}

/// The same for several: each is the lengths of its path and of its text, four bytes each, and these.
///
/// # Safety
/// See [`bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn keep_all(at: *const u8, length: usize) {
    // SAFETY: the caller guarantees it.
    let mut rest = unsafe { bytes(at, length) };
    let Ok(mut kept) = KEPT.lock() else { return };
    let mut taken = |size: usize| {
        let (first, behind) = rest.split_at_checked(size)?;
        rest = behind;
        Some(first)
    };
    let size = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize);
    let mut next = || {
        let (path, text) = (size(taken(4)?)?, size(taken(4)?)?);
        Some((taken(path)?.to_vec(), taken(text)?.to_vec()))
    };
    while let Some((path, text)) = next() {
        kept.insert(path, text);
    }
}

/// Forgets all that was kept.
#[unsafe(no_mangle)]
pub extern "C" fn clear() {
    if let Ok(mut kept) = KEPT.lock() {
        kept.clear();
    }
}

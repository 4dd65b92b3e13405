//! The least work of an operation, without anything around it. The native program calls these
//! functions; compiled to WebAssembly, Node and a page call them through `exports`.

#[cfg(target_arch = "wasm32")]
mod exports;

use memchr::memchr_iter;
use memchr::memmem::Finder;

/// The sum of all bytes, read in words as wide as the processor's.
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|byte| u64::from(*byte));
    words.chain(rest).fold(0, u64::wrapping_add)
}

/// How often the text occurs.
pub fn found(bytes: &[u8], text: &[u8]) -> usize {
    Finder::new(text).find_iter(bytes).count()
}

/// How many lines end in these bytes.
pub fn lines(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

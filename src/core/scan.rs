//! Counts and an ASCII check over whole bodies. In WebAssembly they process sixteen bytes at a
//! time; the standard library's ASCII check processes four, and every stored body is checked once.

/// Number of newlines in `bytes`.
pub fn newlines(bytes: &[u8]) -> usize {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    {
        wide::newlines(bytes)
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    {
        memchr::memchr_iter(b'\n', bytes).count()
    }
}

/// Whether no byte is above 127.
pub fn is_ascii(bytes: &[u8]) -> bool {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    {
        wide::is_ascii(bytes)
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    {
        bytes.is_ascii()
    }
}

/// How many UTF-16 units a text in UTF-8 has. Each byte but those inside a character begins a unit, and the
/// first one of four begins two.
pub fn utf16_units(text: &[u8]) -> usize {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    {
        wide::utf16_units(text)
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    {
        text.iter().map(units_of).sum()
    }
}

fn units_of(byte: &u8) -> usize {
    usize::from(byte & 0xC0 != 0x80) + usize::from(*byte >= 0xF0)
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wide {
    use core::arch::wasm32::{
        i8x16_add, i8x16_bitmask, i8x16_eq, i8x16_lt, i8x16_splat, i8x16_sub,
        i16x8_extadd_pairwise_u8x16, i32x4_add, i32x4_extadd_pairwise_i16x8, i32x4_extract_lane,
        i32x4_splat, u8x16_ge, u8x16_splat, v128, v128_load, v128_or,
    };

    /// A lane counts up to 255, and at most 2 at a time, which limits the length of a run.
    const RUN: usize = 127 * 16;

    fn load(bytes: &[u8; 16]) -> v128 {
        // SAFETY: the reference is to sixteen readable bytes, and the load needs no alignment.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }

    pub(super) fn newlines(bytes: &[u8]) -> usize {
        let newline = i8x16_splat(b'\n'.cast_signed());
        // An equal lane has all bits set, which is -1.
        let (whole, rest) = sum(bytes, |one| i8x16_eq(one, newline));
        whole + rest.iter().filter(|byte| **byte == b'\n').count()
    }

    pub(super) fn utf16_units(text: &[u8]) -> usize {
        let (each, inside) = (i8x16_splat(-1), i8x16_splat(-64));
        let (whole, rest) = sum(text, |one| {
            let begins = i8x16_sub(each, i8x16_lt(one, inside));
            i8x16_add(begins, u8x16_ge(one, u8x16_splat(0xF0)))
        });
        whole + rest.iter().map(super::units_of).sum::<usize>()
    }

    /// The sum over all bytes of what is counted, which is 0, -1 or -2 in each lane; and the bytes that are
    /// left.
    #[inline(always)]
    fn sum(bytes: &[u8], counted: impl Fn(v128) -> v128) -> (usize, &[u8]) {
        let (whole, rest) = bytes.as_chunks::<16>();
        let mut total = i32x4_splat(0);
        for run in whole.chunks(RUN / 16) {
            let mut lanes = i8x16_splat(0);
            for one in run {
                lanes = i8x16_sub(lanes, counted(load(one)));
            }
            let pairs = i16x8_extadd_pairwise_u8x16(lanes);
            total = i32x4_add(total, i32x4_extadd_pairwise_i16x8(pairs));
        }
        let lanes = [
            i32x4_extract_lane::<0>(total),
            i32x4_extract_lane::<1>(total),
            i32x4_extract_lane::<2>(total),
            i32x4_extract_lane::<3>(total),
        ];
        let whole = lanes.iter().map(|lane| lane.cast_unsigned() as usize);
        (whole.sum(), rest)
    }

    pub(super) fn is_ascii(bytes: &[u8]) -> bool {
        let (whole, rest) = bytes.as_chunks::<16>();
        // A byte above 127 stops the scan within four kilobytes.
        for run in whole.chunks(RUN / 16) {
            let mut seen = i8x16_splat(0);
            for one in run {
                seen = v128_or(seen, load(one));
            }
            if i8x16_bitmask(seen) != 0 {
                return false;
            }
        }
        rest.iter().all(u8::is_ascii)
    }
}

/// Native builds test the scalar code only; `tests/wasm/cases.rs` tests the SIMD code in the same way.
/// The cases are around the boundaries: vectors of sixteen bytes, runs of 2,032.
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_length_and_place_is_seen() {
        for length in (0..70).chain(2025..2040).chain(4060..4070) {
            let mut text = vec![b'x'; length];
            assert_eq!((newlines(&text), is_ascii(&text)), (0, true), "{length}");
            for at in [0, length / 2, length.saturating_sub(1)] {
                let Some(byte) = text.get_mut(at) else {
                    continue;
                };
                *byte = b'\n';
                assert_eq!(newlines(&text), 1, "{at} of {length}");
                text[at] = 0x80;
                assert!(!is_ascii(&text), "{at} of {length}");
                text[at] = b'x';
            }
        }
        assert_eq!(newlines(&vec![b'\n'; 100_003]), 100_003);
    }

    proptest! {
        #[test]
        fn it_counts_what_is_there(text in proptest::collection::vec(any::<u8>(), 0..9000)) {
            prop_assert_eq!(newlines(&text), text.iter().filter(|byte| **byte == b'\n').count());
            prop_assert_eq!(is_ascii(&text), text.iter().all(|byte| *byte < 128));
        }

        #[test]
        fn units_are_those_of_the_characters(text in "(\\PC|[a\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}]{0,200}){0,4}") {
            prop_assert_eq!(utf16_units(text.as_bytes()), text.encode_utf16().count());
        }
    }
}

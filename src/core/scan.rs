//! SIMD newline count and ASCII check over whole bodies. In wasm both process sixteen bytes at a
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

/// How many UTF-16 units a text in UTF-8 has.
pub fn utf16_units(text: &[u8]) -> usize {
    // Each byte but those inside a character begins a unit, and the first of four begins two. Short runs
    // are summed in bytes, of which a vector has many.
    let of = |byte: &u8| u8::from(byte & 0xC0 != 0x80) + u8::from(*byte >= 0xF0);
    let runs = text.chunks(usize::from(u8::MAX / 2));
    runs.map(|run| usize::from(run.iter().map(of).sum::<u8>()))
        .sum()
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wide {
    use core::arch::wasm32::{
        i8x16_bitmask, i8x16_eq, i8x16_splat, i8x16_sub, i16x8_extadd_pairwise_u8x16, i32x4_add,
        i32x4_extadd_pairwise_i16x8, i32x4_extract_lane, i32x4_splat, v128, v128_load, v128_or,
    };

    /// A lane counts up to 255, which limits the length of a run.
    const RUN: usize = 255 * 16;

    fn load(bytes: &[u8; 16]) -> v128 {
        // SAFETY: the reference is to sixteen readable bytes, and the load needs no alignment.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }

    pub(super) fn newlines(bytes: &[u8]) -> usize {
        let (whole, rest) = bytes.as_chunks::<16>();
        let newline = i8x16_splat(b'\n'.cast_signed());
        let mut total = i32x4_splat(0);
        for run in whole.chunks(RUN / 16) {
            let mut lanes = i8x16_splat(0);
            for one in run {
                // An equal lane has all bits set, which is -1.
                lanes = i8x16_sub(lanes, i8x16_eq(load(one), newline));
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
        let whole: usize = lanes.iter().map(|lane| lane.cast_unsigned() as usize).sum();
        whole + rest.iter().filter(|byte| **byte == b'\n').count()
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
/// The cases are around the boundaries: vectors of sixteen bytes, runs of 4,080.
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_length_and_place_is_seen() {
        for length in (0..70).chain(4070..4100).chain(8150..8170) {
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

//! Decompresses the output of `kitbag-splitter pack`: LZMA without a header, with three literal
//! context bits and no literal position bits. A chunk is compressed with the primary module as its
//! dictionary. This is a separate small module, because it runs before any other.
//!
//! It is written here because size and startup time matter: every page loads it. It decodes
//! directly from one slice into another: 2.1 KB after gzip and 17 ms for the primary module, while
//! the decoder of `lzma-rust2` (which does the compression) takes 5.2 KB and 24 ms.
#![no_std]

use core::arch::wasm32;

const PAGE: usize = 65_536;
const STATES: usize = 12;
/// Number of literal contexts: the upper three bits of the previous byte.
const CONTEXTS: usize = 8;
const EVEN: u16 = 1 << 10;

/// Probabilities of a length: short, middle and long.
struct Length {
    choice: [u16; 2],
    low: [u16; 8],
    mid: [u16; 8],
    high: [u16; 256],
}

impl Length {
    const NEW: Length = Length {
        choice: [EVEN; 2],
        low: [EVEN; 8],
        mid: [EVEN; 8],
        high: [EVEN; 256],
    };
}

/// All other probabilities.
struct Model {
    is_match: [u16; STATES],
    is_repeat: [u16; STATES],
    is_first: [u16; STATES],
    is_second: [u16; STATES],
    is_third: [u16; STATES],
    is_longer: [u16; STATES],
    slot: [[u16; 64]; 4],
    special: [u16; 115],
    align: [u16; 16],
    literal: [[u16; 0x300]; CONTEXTS],
}

struct Range<'a> {
    range: u32,
    code: u32,
    rest: core::slice::Iter<'a, u8>,
}

impl Range<'_> {
    #[inline(always)]
    fn next(&mut self) {
        if self.range >> 24 == 0 {
            self.range <<= 8;
            // Zeros follow after the end of the input. Truncated input then decodes to wrong bytes,
            // or fails.
            self.code = self.code << 8 | u32::from(self.rest.next().copied().unwrap_or(0));
        }
    }

    #[inline(always)]
    fn bit(&mut self, odds: &mut u16) -> usize {
        let bound = (self.range >> 11) * u32::from(*odds);
        let bit = if self.code < bound {
            self.range = bound;
            *odds += ((1 << 11) - *odds) >> 5;
            0
        } else {
            self.range -= bound;
            self.code -= bound;
            *odds -= *odds >> 5;
            1
        };
        self.next();
        bit
    }

    /// Bits with fixed probability one half.
    fn plain(&mut self, bits: usize) -> usize {
        let mut value = 0;
        for _ in 0..bits {
            self.range >>= 1;
            let one = self.code >= self.range;
            if one {
                self.code -= self.range;
            }
            value = value << 1 | usize::from(one);
            self.next();
        }
        value
    }

    /// A number, most significant bit first.
    fn tree(&mut self, odds: &mut [u16]) -> usize {
        let mut node = 1;
        while node < odds.len() {
            node = node << 1 | self.bit(&mut odds[node]);
        }
        node - odds.len()
    }

    /// A number with that many bits, least significant bit first.
    fn reverse(&mut self, odds: &mut [u16], bits: usize) -> usize {
        let (mut node, mut value) = (1, 0);
        for at in 0..bits {
            let bit = self.bit(&mut odds[node]);
            node = node << 1 | bit;
            value |= bit << at;
        }
        value
    }

    fn length(&mut self, odds: &mut Length) -> usize {
        if self.bit(&mut odds.choice[0]) == 0 {
            return 2 + self.tree(&mut odds.low);
        }
        if self.bit(&mut odds.choice[1]) == 0 {
            return 10 + self.tree(&mut odds.mid);
        }
        18 + self.tree(&mut odds.high)
    }
}

/// The state of the decoder.
struct Decoder<'a> {
    input: Range<'a>,
    model: Model,
    lengths: Length,
    repeated: Length,
    /// The most recent distances, each minus one.
    last: [usize; 4],
    state: usize,
    out: &'a mut [u8],
    at: usize,
}

impl Decoder<'_> {
    /// The byte at the last match distance, which would continue the match.
    fn likely(&self) -> Option<u8> {
        self.out
            .get(self.at.checked_sub(self.last[0] + 1)?)
            .copied()
    }

    /// Decodes one byte or one match. A separate function that is not inlined: engines optimise a
    /// frequently called function, but not the middle of a long loop.
    #[inline(never)]
    fn step(&mut self) -> Option<()> {
        let (state, at) = (self.state, self.at);
        if self.input.bit(&mut self.model.is_match[state]) == 0 {
            self.out[at] = self.literal()?;
            self.at += 1;
            self.state -= if state < 4 {
                state
            } else if state < 10 {
                3
            } else {
                6
            };
            return Some(());
        }
        let late = usize::from(state >= 7) * 3;
        let last = self.last;
        let length = if self.input.bit(&mut self.model.is_repeat[state]) == 0 {
            let length = self.input.length(&mut self.lengths);
            let distance = distance(&mut self.input, &mut self.model, length);
            self.last = [distance, last[0], last[1], last[2]];
            self.state = 7 + late;
            length
        } else {
            if self.input.bit(&mut self.model.is_first[state]) == 0 {
                if self.input.bit(&mut self.model.is_longer[state]) == 0 {
                    self.out[at] = self.likely()?;
                    self.at += 1;
                    self.state = if late == 0 { 9 } else { 11 };
                    return Some(());
                }
            } else if self.input.bit(&mut self.model.is_second[state]) == 0 {
                self.last = [last[1], last[0], last[2], last[3]];
            } else if self.input.bit(&mut self.model.is_third[state]) == 0 {
                self.last = [last[2], last[0], last[1], last[3]];
            } else {
                self.last = [last[3], last[0], last[1], last[2]];
            }
            self.state = 8 + late;
            self.input.length(&mut self.repeated)
        };
        let from = at.checked_sub(self.last[0].checked_add(1)?)?;
        if length > self.out.len() - at {
            return None;
        }
        // Byte by byte: source and destination of a copy may overlap.
        for step in 0..length {
            self.out[at + step] = self.out[from + step];
        }
        self.at += length;
        Some(())
    }

    fn literal(&mut self) -> Option<u8> {
        let before = match self.at {
            0 => 0,
            at => self.out[at - 1],
        };
        let mut node = 1;
        // After a match the byte is likely to differ from the one that would continue it.
        let mut likely = match self.state {
            0..7 => None,
            _ => Some(usize::from(self.likely()?)),
        };
        let odds = &mut self.model.literal[usize::from(before >> 5)];
        while node < 0x100 {
            let expected = likely.map(|byte| byte >> 7 & 1);
            let table = expected.map_or(0, |bit| (1 + bit) << 8);
            let bit = self.input.bit(&mut odds[table + node]);
            node = node << 1 | bit;
            likely = match expected == Some(bit) {
                true => likely.map(|byte| byte << 1),
                false => None,
            };
        }
        Some(node as u8)
    }
}

/// Fills `out` from `at` on; what is before are known bytes, which matches may refer to.
fn decode(packed: &[u8], out: &mut [u8], at: usize) -> Option<()> {
    let (head, rest) = packed.split_first_chunk::<5>()?;
    let mut decoder = Decoder {
        input: Range {
            range: u32::MAX,
            code: u32::from_be_bytes([head[1], head[2], head[3], head[4]]),
            rest: rest.iter(),
        },
        model: Model {
            is_match: [EVEN; STATES],
            is_repeat: [EVEN; STATES],
            is_first: [EVEN; STATES],
            is_second: [EVEN; STATES],
            is_third: [EVEN; STATES],
            is_longer: [EVEN; STATES],
            slot: [[EVEN; 64]; 4],
            special: [EVEN; 115],
            align: [EVEN; 16],
            literal: [[EVEN; 0x300]; CONTEXTS],
        },
        lengths: Length::NEW,
        repeated: Length::NEW,
        last: [0; 4],
        state: 0,
        out,
        at,
    };
    while decoder.at < decoder.out.len() {
        decoder.step()?;
    }
    Some(())
}

fn distance(input: &mut Range<'_>, model: &mut Model, length: usize) -> usize {
    let slot = input.tree(&mut model.slot[(length - 2).min(3)]);
    if slot < 4 {
        return slot;
    }
    let bits = (slot >> 1) - 1;
    let base = (2 | slot & 1) << bits;
    if slot < 14 {
        return base + input.reverse(&mut model.special[base - slot..], bits);
    }
    let high = input.plain(bits - 4) << 4;
    base.wrapping_add(high)
        .wrapping_add(input.reverse(&mut model.align, 4))
}

/// Allocates `len` bytes at the end of memory.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> usize {
    wasm32::memory_grow(0, len.div_ceil(PAGE)).wrapping_mul(PAGE)
}

/// Decompresses `len` bytes at `from` into the range of `size` bytes at `to`, of which the first
/// `known` are the dictionary that the compressor had; returns whether it succeeded.
///
/// # Safety
///
/// Both ranges must have come from [`room`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unpack(
    from: *const u8,
    len: usize,
    to: *mut u8,
    size: usize,
    known: usize,
) -> bool {
    // SAFETY: guaranteed by the caller.
    let (packed, out) = unsafe {
        (
            core::slice::from_raw_parts(from, len),
            core::slice::from_raw_parts_mut(to, size),
        )
    };
    decode(packed, out, known).is_some()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    wasm32::unreachable()
}

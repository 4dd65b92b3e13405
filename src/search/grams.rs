//! Trigrams of a body as a set of bits, and the trigrams that a query requires.
//!
//! A trigram is three bytes of one line, with ASCII letters in lower case, so that one index serves
//! searches in either case. Its hash has [`FULL`] bits; the first bits say where it is in a smaller
//! set. So a set of any size is made from the full one by combining neighbours, and the place of a
//! trigram in all of them is near the same fraction of the set.
//!
//! What is long here is always inlined: each of the two chunks of code that need it, the index beside
//! the files and the one in a SQL database, has its own copy, and a page without them has none.

use super::grep::rarity;
use super::query::GrepQuery;
use super::required::required;
use crate::core::error::Result;

/// Bits of a hash, and the logarithm of the size of the largest set.
pub const FULL: u32 = 18;
/// The logarithm of the size of the smallest set.
pub const LEAST: u32 = 10;
/// Bits per trigram of the chosen set: at least this many, and less than twice as many.
const BITS: usize = 3;
/// A set with more trigrams than this has no use.
const DENSE: usize = 1 << (FULL - 1);

/// Trigrams to look up for one literal.
const PER_LITERAL: usize = 6;
/// Trigrams to look up for one literal of a choice.
const PER_CHOICE: usize = 3;
/// Trigrams to look up for a query.
const PER_QUERY: usize = 12;

/// The hash of a trigram.
pub type Gram = u32;

/// The set of the trigrams of one body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grams {
    /// It is not text, so nothing matches in it.
    Nothing,
    /// Too many to be of use, so anything may match.
    Anything,
    /// Of a file that is too large for an index: they are not known.
    Unread,
    /// A set of `1 << size` bits.
    Set {
        /// The logarithm of its size.
        size: u32,
        /// The bits, in words.
        bits: Vec<u64>,
    },
}

fn small(byte: u8) -> u32 {
    u32::from(byte.to_ascii_lowercase())
}

/// The hash of three bytes, of which the last three bytes of `window` are in lower case.
fn hash(window: u32) -> Gram {
    let mut mixed = window & 0x00ff_ffff;
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0x9e37_79b1);
    mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    (mixed ^ (mixed >> 16)) >> (32 - FULL)
}

/// Collects trigrams; keeps its memory from one body to the next.
#[derive(Debug)]
pub struct Collector(Vec<u64>);

impl Default for Collector {
    fn default() -> Collector {
        Collector(vec![0; 1 << (FULL - 6)])
    }
}

impl Collector {
    /// The trigrams of a text.
    #[inline(always)]
    pub fn collect(&mut self, body: &[u8]) -> Grams {
        self.0.fill(0);
        // Bytes of this line so far, counted up to three.
        let (mut window, mut seen) = (0u32, 0u32);
        for byte in body {
            if *byte == b'\n' {
                seen = 0;
                continue;
            }
            window = window << 8 | small(*byte);
            seen += 1;
            if seen >= 3 {
                let gram = hash(window);
                if let Some(word) = self.0.get_mut((gram >> 6) as usize) {
                    *word |= 1 << (gram & 63);
                }
            }
        }
        let count: usize = self.0.iter().map(|word| word.count_ones() as usize).sum();
        if count > DENSE {
            return Grams::Anything;
        }
        let wanted = count.saturating_mul(BITS).max(1).next_power_of_two();
        let size = wanted.trailing_zeros().clamp(LEAST, FULL);
        let mut bits = vec![0u64; 1 << (size - 6)];
        for (at, word) in self.0.iter().enumerate() {
            for_each_bit(*word, |bit| {
                let place = (at << 6 | bit) >> (FULL - size);
                if let Some(word) = bits.get_mut(place >> 6) {
                    *word |= 1 << (place & 63);
                }
            });
        }
        Grams::Set { size, bits }
    }
}

/// Calls a function for each bit of a word that is set.
#[inline(always)]
pub fn for_each_bit(mut word: u64, mut each: impl FnMut(usize)) {
    while word != 0 {
        each(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}

/// What a file with a match contains: for each clause, all trigrams of one of its literals.
pub type Need = Vec<Vec<Vec<Gram>>>;

/// How many trigrams more than usual are looked up for a literal in an index of this many files, where
/// each file that a match of trigrams lets through costs about as much as a row. Six let through up to
/// one file of a thousand.
pub fn extra(files: u64) -> usize {
    match files {
        0..30_000 => 0,
        30_000..200_000 => 1,
        _ => 2,
    }
}

/// The trigrams that a query requires, with so many more than usual; empty if any file may match.
#[inline(always)]
pub fn need(query: &GrepQuery, extra: usize) -> Result<Need> {
    let mut clauses = required(query)?;
    let mut left = PER_QUERY + 2 * extra;
    let mut need = Need::new();
    // The most selective ones first. (Loops, since a function that takes a closure would be one for
    // both chunks, and in a page's first download.)
    while !clauses.is_empty() {
        let (mut first, mut best) = (0, (usize::MAX, 0));
        for (at, clause) in clauses.iter().enumerate() {
            let mut shortest = usize::MAX;
            for literal in clause {
                shortest = shortest.min(literal.len());
            }
            if clause.len() < best.0 || (clause.len() == best.0 && shortest > best.1) {
                (first, best) = (at, (clause.len(), shortest));
            }
        }
        let clause = clauses.remove(first);
        let each = match clause.len() {
            1 => PER_LITERAL + extra,
            _ => PER_CHOICE + extra / 2,
        };
        let mut literals: Vec<Vec<Gram>> = Vec::with_capacity(clause.len());
        let mut count = 0usize;
        for literal in &clause {
            let grams = rarest(literal.as_bytes(), each);
            count = count.saturating_add(grams.len());
            literals.push(grams);
        }
        // The first clause may need more: a choice cannot be shortened.
        if !need.is_empty() && count > left {
            break;
        }
        left = left.saturating_sub(count);
        need.push(literals);
    }
    Ok(need)
}

/// The trigrams of a literal that are rarest in source code.
#[inline(always)]
fn rarest(literal: &[u8], most: usize) -> Vec<Gram> {
    let mut ranked: Vec<(usize, Gram)> = Vec::new();
    for three in literal.windows(3) {
        let (mut window, mut rank, mut sound) = (0u32, 0usize, true);
        for byte in three {
            window = window << 8 | small(*byte);
            rank += rarity(byte.to_ascii_lowercase());
            sound &= *byte != b'\n';
        }
        let one = (rank, hash(window));
        if sound && !ranked.contains(&one) {
            ranked.push(one);
        }
    }
    let mut grams = Vec::with_capacity(most);
    while grams.len() < most && !ranked.is_empty() {
        let (mut first, mut best) = (0, 0);
        for (at, (rank, _)) in ranked.iter().enumerate() {
            if at == 0 || *rank > best {
                (first, best) = (at, *rank);
            }
        }
        grams.push(ranked.remove(first).1);
    }
    grams
}

//! SipHash-1-3 with 128 bits, as published, for what need not be known without the key: contents that were
//! read, file states and checksums of an index. The standard library's hasher promises no fixed result, and
//! an index is stored.

/// A random key, so that nobody can prepare two texts with one hash.
pub type Key = [u64; 2];

struct State([u64; 4]);

impl State {
    fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.0;
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32).wrapping_add(d);
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        d = d.rotate_left(21) ^ a;
        c = c.rotate_left(32);
        self.0 = [a, b, c, d];
    }

    fn word(&mut self, word: u64) {
        self.0[3] ^= word;
        self.round();
        self.0[0] ^= word;
    }

    fn half(&mut self) -> u64 {
        for _ in 0..3 {
            self.round();
        }
        self.0.iter().fold(0, |all, one| all ^ one)
    }
}

/// The hash of what is given piece by piece. Its functions are inlined, so that each chunk of the WebAssembly that
/// uses them has its own copy, and a page without them has none.
pub struct Hasher(State);

impl Hasher {
    /// One that was given nothing.
    #[inline(always)]
    pub fn new(key: Key) -> Hasher {
        let [k0, k1] = key;
        Hasher(State([
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ]))
    }

    /// Takes a number.
    #[inline(always)]
    pub fn number(&mut self, number: u64) {
        self.0.word(number);
    }

    /// Takes bytes, behind how many they are, so that none of them can be taken for what comes after.
    #[inline(always)]
    pub fn bytes(&mut self, data: &[u8]) {
        self.0.word(data.len() as u64);
        let rest = self.words(data);
        self.0.word(rest);
    }

    /// Takes all whole words of some bytes; returns the rest as one with zeros behind it.
    #[inline(always)]
    fn words(&mut self, data: &[u8]) -> u64 {
        let (words, rest) = data.as_chunks::<8>();
        for word in words {
            self.0.word(u64::from_le_bytes(*word));
        }
        let mut last = [0u8; 8];
        for (place, byte) in last.iter_mut().zip(rest) {
            *place = *byte;
        }
        u64::from_le_bytes(last)
    }

    /// The hash of all that was given.
    #[inline(always)]
    pub fn end(mut self) -> u128 {
        let state = &mut self.0;
        state.0[2] ^= 0xee;
        let first = state.half();
        state.0[1] ^= 0xdd;
        let second = state.half();
        u128::from(second) << 64 | u128::from(first)
    }
}

/// The hash of two numbers and the bytes after them.
#[inline(always)]
pub fn hash(key: Key, head: [u64; 2], data: &[u8]) -> u128 {
    let mut hasher = Hasher::new(key);
    hasher.number(head[0]);
    hasher.number(head[1]);
    let last = hasher.words(data);
    let length = (data.len() as u64).wrapping_add(16);
    hasher.number(last | length << 56);
    hasher.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_depends_on_every_input() {
        let seen = [
            hash([1, 2], [3, 4], b"text"),
            hash([0, 2], [3, 4], b"text"),
            hash([1, 0], [3, 4], b"text"),
            hash([1, 2], [0, 4], b"text"),
            hash([1, 2], [3, 0], b"text"),
            hash([1, 2], [3, 4], b"text\0"),
            hash([1, 2], [3, 4], b"tex"),
            hash([1, 2], [3, 4], b"eight bytes and more"),
        ];
        let distinct: std::collections::HashSet<_> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len());
    }

    #[test]
    fn what_is_given_in_pieces_is_not_what_others_give() {
        let of = |given: &[&[u8]]| {
            let mut hasher = Hasher::new([1, 2]);
            hasher.number(given.len() as u64);
            given.iter().for_each(|one| hasher.bytes(one));
            hasher.end()
        };
        let zeros = [0u8; 24];
        let seen = [
            of(&[]),
            of(&[b""]),
            of(&[b"", b""]),
            of(&[b"ab", b"c"]),
            of(&[b"a", b"bc"]),
            of(&[b"abc", b""]),
            of(&[b"", b"abc"]),
            of(&[&zeros[..8], &zeros[..8]]),
            of(&[&zeros[..16], b""]),
            of(&[b"", &zeros[..16]]),
            of(&[&zeros[..24]]),
            of(&[b"eight by\x08\0\0\0\0\0\0\0"]),
            of(&[b"eight by", b""]),
        ];
        let distinct: std::collections::HashSet<_> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len());
    }

    #[test]
    fn it_is_the_published_function_on_whole_words() {
        // SipHash-1-3-128 of the 16 bytes 0..16, with the key of the reference's vectors: computed
        // by the twin below, which follows the paper step by step.
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        let data: Vec<u8> = (0..37).collect();
        let head = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().expect("eight"));
        assert_eq!(hash(key, [head(0), head(8)], &data[16..]), twin(key, &data));
    }

    fn twin(key: Key, data: &[u8]) -> u128 {
        let (mut v0, mut v1) = (key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d);
        let (mut v2, mut v3) = (key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573);
        v1 ^= 0xee;
        macro_rules! round {
            () => {
                v0 = v0.wrapping_add(v1);
                v1 = v1.rotate_left(13);
                v1 ^= v0;
                v0 = v0.rotate_left(32);
                v2 = v2.wrapping_add(v3);
                v3 = v3.rotate_left(16);
                v3 ^= v2;
                v0 = v0.wrapping_add(v3);
                v3 = v3.rotate_left(21);
                v3 ^= v0;
                v2 = v2.wrapping_add(v1);
                v1 = v1.rotate_left(17);
                v1 ^= v2;
                v2 = v2.rotate_left(32);
            };
        }
        let mut padded = data.to_vec();
        padded.resize(data.len() / 8 * 8 + 7, 0);
        padded.push(data.len() as u8);
        for word in padded.chunks(8) {
            let word = u64::from_le_bytes(word.try_into().expect("eight"));
            v3 ^= word;
            round!();
            v0 ^= word;
        }
        v2 ^= 0xee;
        for _ in 0..3 {
            round!();
        }
        let low = v0 ^ v1 ^ v2 ^ v3;
        v1 ^= 0xdd;
        for _ in 0..3 {
            round!();
        }
        u128::from(v0 ^ v1 ^ v2 ^ v3) << 64 | u128::from(low)
    }
}

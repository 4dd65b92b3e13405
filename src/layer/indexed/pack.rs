//! Numbers and paths in few bytes: a number in as many groups of seven bits as it needs, a path as what
//! differs from the one before it.

use crate::core::path::MAX_BYTES;

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front.
pub fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for group in 0..10u32 {
        let (first, tail) = rest.split_first()?;
        *rest = tail;
        number |= u64::from(first & 0x7f) << (7 * group).min(63);
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Appends the difference of two numbers, wherever they are.
pub fn put_step(out: &mut Vec<u8>, from: i64, to: i64) {
    let step = to.wrapping_sub(from);
    put(out, (step << 1 ^ step >> 63).cast_unsigned());
}

/// Takes a difference from the front; returns the other number.
pub fn take_step(rest: &mut &[u8], from: i64) -> Option<i64> {
    let folded = take(rest)?;
    let step = (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed();
    Some(from.wrapping_add(step))
}

/// Appends a text; `last` is the one before it.
pub fn put_text(out: &mut Vec<u8>, last: &mut Vec<u8>, text: &[u8]) {
    let shared = last.iter().zip(text).take_while(|(a, b)| a == b).count();
    let rest = text.get(shared..).unwrap_or_default();
    put(out, shared as u64);
    put(out, rest.len() as u64);
    out.extend_from_slice(rest);
    last.truncate(shared);
    last.extend_from_slice(rest);
}

/// Takes a text from the front, which is no longer than a path: `last` becomes it.
pub fn take_text(rest: &mut &[u8], last: &mut Vec<u8>) -> Option<()> {
    let shared = usize::try_from(take(rest)?).ok()?;
    let length = usize::try_from(take(rest)?).ok()?;
    if shared > last.len() || shared.saturating_add(length) > MAX_BYTES {
        return None;
    }
    let (own, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    last.truncate(shared);
    last.extend_from_slice(own);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_come_back_and_cut_ones_do_not() {
        let numbers = [0, 1, 127, 128, 300, 1 << 35, u64::MAX];
        let steps = [0, 5, -5, i64::MAX, i64::MIN, 1_700_000_000_000_000];
        let texts: [&[u8]; 4] = [b"/a/b.ts", b"/a/c.ts", b"/a", b""];
        let (mut out, mut last, mut from) = (Vec::new(), Vec::new(), 0);
        for number in numbers {
            put(&mut out, number);
        }
        for step in steps {
            put_step(&mut out, from, step);
            from = step;
        }
        for text in texts {
            put_text(&mut out, &mut last, text);
        }
        let (mut rest, mut last, mut from) = (out.as_slice(), Vec::new(), 0);
        for number in numbers {
            assert_eq!(take(&mut rest), Some(number));
        }
        for step in steps {
            from = take_step(&mut rest, from).expect("a number");
            assert_eq!(from, step);
        }
        for text in texts {
            assert_eq!(take_text(&mut rest, &mut last), Some(()));
            assert_eq!(last, text);
        }
        assert_eq!(take(&mut rest), None);
        assert_eq!(take(&mut [0x80u8].as_slice()), None);
        assert_eq!(take(&mut [0xffu8; 11].as_slice()), None);
        assert_eq!(take_text(&mut [3, 1, 65].as_slice(), &mut vec![1]), None);
        assert_eq!(take_text(&mut [0, 9, 65].as_slice(), &mut Vec::new()), None);
        let mut long = vec![65; MAX_BYTES];
        assert_eq!(
            take_text(&mut [128, 8, 1, 65].as_slice(), &mut long.clone()),
            None
        );
        assert_eq!(take_text(&mut [128, 8, 0].as_slice(), &mut long), Some(()));
    }
}

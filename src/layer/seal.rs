//! A seal shows that this process wrote something: a digest of the content under a key that exists
//! only in this process. Whoever plants a file among the library's own files, past the library,
//! cannot make one.

use crate::env::random;
use crate::pins::Digest;

/// Characters of a seal.
pub(super) const LENGTH: usize = 64;

thread_local! {
    static KEY: [u64; 4] = [random::bits(), random::bits(), random::bits(), random::bits()];
}

/// The seal of some bytes. The digest, SHA-512/256, is of the kind that may be used so: knowing one
/// seal, nobody can make that of a longer content.
pub(super) fn of(bytes: &[u8]) -> String {
    let key = KEY.with(|key| key.map(u64::to_le_bytes));
    Digest::of(&[key.as_flattened(), bytes].concat()).hex()
}

/// The content in front of its seal, and whether this process has sealed it. `None` if it is too short
/// for one.
pub(super) fn opened(sealed: &[u8]) -> Option<(&[u8], bool)> {
    let (content, seal) = sealed.split_at_checked(sealed.len().checked_sub(LENGTH)?)?;
    // Compared by digests, so that the time of a comparison tells nothing.
    let is_ours = Digest::of(seal) == Digest::of(of(content).as_bytes());
    Some((content, is_ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sealed_here_and_is_as_it_was_is_ours() {
        let sealed = [b"journal".to_vec(), of(b"journal").into_bytes()].concat();
        assert_eq!(opened(&sealed), Some((&b"journal"[..], true)));
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            let (content, is_ours) = opened(&changed).expect("a content");
            assert_eq!((content.len(), is_ours), (7, false), "{at}");
        }
        assert_eq!(opened(&sealed[1..]).map(|(_, ours)| ours), Some(false));
        assert_eq!(opened(b"short"), None);
    }
}

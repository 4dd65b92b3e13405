//! The key of a room.

use std::rc::Rc;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::error::{Error, Kind, Result};
use crate::env::random;
use crate::pins::Digest;

/// How many bytes a key has at least.
pub const LEAST_KEY: usize = 16;

/// How many hexadecimal digits the name of a key has.
const NAME: usize = 16;

/// A key. It is not shown anywhere; its name is in each record, so that a wrong key is told from a
/// damaged record.
pub struct Key {
    secret: String,
    name: String,
}

thread_local! {
    /// The key that exists only in this process.
    static OWN: RefCell<Rc<Key>> = RefCell::new(Key::random());
}

impl Key {
    /// A key made of the bytes that a caller gives.
    pub fn of(given: &[u8]) -> Result<Rc<Key>> {
        match given.len() < LEAST_KEY {
            true => Err(Error::new(
                Kind::InvalidArgument,
                "option \"key\" must have 16 bytes or more; make it of random bytes, and keep it where \
                 the agent cannot read it",
            )),
            false => Ok(Rc::new(Key::made(given))),
        }
    }

    /// Begins a new process, as far as keys go.
    #[cfg(feature = "simulation")]
    pub fn renew_process() {
        OWN.with_borrow_mut(|own| *own = Key::random());
    }

    /// The key of this process.
    pub fn of_process() -> Rc<Key> {
        OWN.with_borrow(Rc::clone)
    }

    fn random() -> Rc<Key> {
        let bits = [
            random::bits(),
            random::bits(),
            random::bits(),
            random::bits(),
        ];
        Rc::new(Key::made(bits.map(u64::to_le_bytes).as_flattened()))
    }

    fn made(given: &[u8]) -> Key {
        let name = Digest::of_parts(&[b"kitbag key name", given]).hex();
        Key {
            secret: Digest::of_parts(&[b"kitbag key", given]).hex(),
            name: name.chars().take(NAME).collect(),
        }
    }

    /// Its name, of hexadecimal digits.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether this can be the name of a key; damage makes other texts.
    pub(super) fn is_name(text: &str) -> bool {
        text.len() == NAME && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// What seals are made with.
    pub(super) fn secret(&self) -> &[u8] {
        self.secret.as_bytes()
    }

    /// A key for checksums, which nobody can make of the salt alone.
    pub fn derived(&self, salt: [u64; 2]) -> [u64; 2] {
        let salt = salt.map(u64::to_le_bytes);
        let text = Digest::of_parts(&[b"derived", self.secret(), salt.as_flattened()]).hex();
        let half = |range: std::ops::Range<usize>| {
            let digits = text.get(range).unwrap_or_default();
            u64::from_str_radix(digits, 16).unwrap_or(0)
        };
        [half(0..16), half(16..32)]
    }
}

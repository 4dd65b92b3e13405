//! Bytes that come in parts: those of a file that is too large to be in memory as a whole.

use std::any::Any;

use bytes::{Bytes, BytesMut};

use crate::core::error::{Error, Kind, Result};
use crate::core::file::Mode;
use crate::core::future::Pending;

/// What must be in the place of a file when the last of its bytes have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected<'a> {
    /// Whatever is there is replaced.
    Anything,
    /// Nothing may be there.
    Nothing,
    /// The file of this version, as a read of a part of it tells.
    Version(&'a str),
}

/// The bytes of one file, from their beginning to their end.
pub trait Parts {
    /// How many bytes there are. If others come, `next` fails.
    fn size(&self) -> u64;

    /// How many bytes may be in memory together.
    fn most(&self) -> u64;

    /// Whether the place of the file must be as is [`expected`] when the last of them has come: as a rule,
    /// nothing may be there.
    fn is_new(&self) -> bool;

    /// The next bytes; `None` behind the last.
    fn next(&self) -> Pending<'_, Option<Bytes>>;

    /// What else is known of them. It is one method, because each costs every page with parts some bytes.
    fn notes(&self) -> Option<&dyn Notes> {
        None
    }

    /// The host's own object, for a storage or a client of the host that reads it by itself.
    fn object(&self) -> &dyn Any;
}

/// An upload that was noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// How the storage finds it again.
    pub id: String,
    /// The name of its write.
    pub write: String,
    /// Whether it is one of these bytes, and nothing else is expected in their place; otherwise it is to be
    /// given up.
    pub goes_on: bool,
}

/// What must be in the place of a file.
pub fn expected(parts: &dyn Parts) -> Expected<'_> {
    match parts.notes() {
        Some(notes) => notes.expected(),
        None if parts.is_new() => Expected::Nothing,
        None => Expected::Anything,
    }
}

/// The permission bits of a file that is created.
pub fn mode(parts: &dyn Parts) -> Option<Mode> {
    parts.notes()?.mode()
}

/// What is known of a file, and notes about its upload, which outlive it if it is broken off. All offsets are
/// those of the end of a part.
pub trait Notes {
    /// What must be in the place of the file.
    fn expected(&self) -> Expected<'_>;

    /// Its permission bits.
    fn mode(&self) -> Option<Mode> {
        None
    }

    /// What an earlier upload noted.
    fn begun(&self) -> Pending<'_, Option<Begun>>;

    /// Notes that one begins.
    fn begin(&self, begun: Begun) -> Pending<'_, ()>;

    /// The tag of a part that the earlier one sent, if all bytes up to its end are the same.
    fn tag(&self, end: u64) -> Option<String>;

    /// Notes a part that was sent.
    fn sent<'a>(&'a self, end: u64, tag: &'a str) -> Pending<'a, ()>;

    /// Forgets the upload: it is completed, or given up.
    fn end(&self) -> Pending<'_, ()>;
}

/// All bytes, for who must have them together.
pub async fn gathered(parts: &dyn Parts) -> Result<Bytes> {
    let size = parts.size();
    if size > parts.most() {
        return Err(Error::new(
            Kind::TooLarge,
            format!(
                "A file of {size} bytes would have to be in memory as a whole here, because its \
                 storage or a rule needs all of it; {} bytes are allowed",
                parts.most()
            ),
        ));
    }
    // It grows with what comes: who says a size may send nothing.
    let mut all = BytesMut::new();
    while let Some(part) = parts.next().await? {
        all.extend_from_slice(&part);
    }
    Ok(all.freeze())
}

/// Parts for tests.
#[cfg(any(test, feature = "simulation"))]
pub mod testing {
    use std::cell::{Cell, OnceCell};

    use super::*;
    use crate::core::cell::RefCell;
    use crate::core::future::done;

    /// Parts that are at hand.
    pub struct Ready {
        /// What is left of them, in their order.
        pub parts: RefCell<Vec<Bytes>>,
        size: u64,
        most: u64,
        fails: Cell<Option<usize>>,
        fails_with: Cell<Kind>,
        /// The version that must be there; an empty one if there must be none.
        expected: OnceCell<String>,
    }

    impl Ready {
        /// These, of which so many bytes may be in memory.
        pub fn of(parts: &[&str], most: u64) -> Ready {
            let parts: Vec<Bytes> = parts
                .iter()
                .map(|part| Bytes::copy_from_slice(part.as_bytes()))
                .collect();
            let size = parts.iter().map(|part| part.len() as u64).sum();
            Ready {
                parts: RefCell::new(parts),
                size,
                most,
                fails: Cell::new(None),
                fails_with: Cell::new(Kind::Unavailable),
                expected: OnceCell::new(),
            }
        }
    }

    impl Ready {
        /// The bytes cannot be read any more after so many parts.
        pub fn fails_after(&self, parts: usize) {
            self.fails.set(Some(parts));
        }

        /// The bytes cannot be read at all, for this reason.
        pub fn fails_with(&self, kind: Kind) {
            self.fails_with.set(kind);
            self.fails_after(0);
        }

        /// Nothing may be in the place of the file.
        pub fn create(&self) {
            self.over("");
        }

        /// The file of this version must be in the place of the file.
        pub fn over(&self, version: &str) {
            self.expected.get_or_init(|| version.to_owned());
        }
    }

    impl Parts for Ready {
        fn size(&self) -> u64 {
            self.size
        }

        fn most(&self) -> u64 {
            self.most
        }

        fn is_new(&self) -> bool {
            self.expected.get().is_some()
        }

        fn notes(&self) -> Option<&dyn Notes> {
            let version = self.expected.get().filter(|version| !version.is_empty());
            version.map(|_| -> &dyn Notes { self })
        }

        fn next(&self) -> Pending<'_, Option<Bytes>> {
            if let Some(left) = self.fails.get() {
                if left == 0 {
                    return done(Err(Error::new(self.fails_with.get(), "torn")));
                }
                self.fails.set(Some(left - 1));
            }
            let mut parts = self.parts.borrow_mut();
            let next = (!parts.is_empty()).then(|| parts.remove(0));
            done(Ok(next))
        }

        fn object(&self) -> &dyn Any {
            self
        }
    }

    /// Nothing is noted of an upload.
    impl Notes for Ready {
        fn expected(&self) -> Expected<'_> {
            match self.expected.get() {
                Some(version) => Expected::Version(version),
                None => Expected::Anything,
            }
        }

        fn begun(&self) -> Pending<'_, Option<Begun>> {
            done(Ok(None))
        }

        fn begin(&self, _: Begun) -> Pending<'_, ()> {
            done(Ok(()))
        }

        fn tag(&self, _: u64) -> Option<String> {
            None
        }

        fn sent<'a>(&'a self, _: u64, _: &'a str) -> Pending<'a, ()> {
            done(Ok(()))
        }

        fn end(&self) -> Pending<'_, ()> {
            done(Ok(()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Ready;
    use super::*;
    use crate::core::testing::now;

    #[test]
    fn all_parts_in_their_order() {
        let all = now(gathered(&Ready::of(&["ab", "", "cde"], 5)));
        assert_eq!(all.ok(), Some(Bytes::from_static(b"abcde")));
    }

    #[test]
    fn no_more_than_may_be_in_memory() {
        let parts = Ready::of(&["ab", "cde"], 4);
        let refused = now(gathered(&parts));
        assert_eq!(refused.map_err(|error| error.kind()), Err(Kind::TooLarge));
        assert_eq!(parts.parts.borrow().len(), 2, "nothing was read");
    }
}

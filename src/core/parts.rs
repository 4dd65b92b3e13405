//! Bytes that come in parts: those of a file that is too large to be in memory as a whole.

use std::any::Any;

use bytes::{Bytes, BytesMut};

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;

/// The bytes of one file, from their beginning to their end.
pub trait Parts {
    /// How many bytes there are. If others come, `next` fails.
    fn size(&self) -> u64;

    /// How many bytes may be in memory together.
    fn most(&self) -> u64;

    /// The next bytes; `None` behind the last.
    fn next(&self) -> Pending<'_, Option<Bytes>>;

    /// The host's own object, for a storage or a client of the host that reads it by itself.
    fn object(&self) -> &dyn Any;
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
    use std::cell::Cell;

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
            }
        }
    }

    impl Ready {
        /// The bytes cannot be read any more after so many parts.
        pub fn fails_after(&self, parts: usize) {
            self.fails.set(Some(parts));
        }
    }

    impl Parts for Ready {
        fn size(&self) -> u64 {
            self.size
        }

        fn most(&self) -> u64 {
            self.most
        }

        fn next(&self) -> Pending<'_, Option<Bytes>> {
            if let Some(left) = self.fails.get() {
                if left == 0 {
                    return done(Err(Error::new(Kind::Unavailable, "torn")));
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

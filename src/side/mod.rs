//! What layers keep for themselves, beside the files of a caller: journals, kept turns, histories, pins,
//! labels and indexes. All of it lies in rooms, and all of it has one format.
//!
//! Whoever can write to the storage can plant a file in a room. So a record says whether it was written
//! by somebody with the key of the room, as what it is read as, and under this name. What does not is
//! moved to the directory [`ASIDE`] of the room, where a person can look at it, and is as if it were not
//! there. What was there before can be put back: a seal has no time. A record of another key may be a good
//! one: `others.rs` says what is done about it.
//!
//! Contents and nodes of a history have their digests as names and need no other proof. An index seals
//! its manifest; the parts of its segments have checksums under a key that [`Key::derived`] makes.

mod file;
mod key;
mod others;
mod parts;
mod record;
mod room;
#[cfg(test)]
mod tests;

pub use file::{body, create, if_there, is_conflict, none_is_fine};
pub use key::{Key, LEAST_KEY};
pub use others::{OTHERS, WAIT};
pub use parts::{Reader, Writer};
pub use record::{Found, LINE};
pub use room::{ASIDE, Others, Room, Stored};

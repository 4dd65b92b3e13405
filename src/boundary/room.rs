//! `keepIn`: where a wrapper keeps files of its own.

use bytes::Bytes;

use crate::boundary::Handle;
use crate::boundary::macros::options;
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::protocol::SharedBackend;
use crate::side::{Key, Room};

options! {
    /// A place in a backend, and the key that proves what is kept there.
    pub struct RoomGiven {
        backend: Handle [own],
        path: String [own],
        key: Option<Bytes> [own],
    }
}

impl RoomGiven {
    /// The room, in the backend of that handle.
    pub fn room(&self, backend: SharedBackend) -> Result<Room> {
        room(backend, &self.path, self.key.as_ref())
    }
}

/// A room in a directory of a backend.
pub fn room(backend: SharedBackend, dir: &str, key: Option<&Bytes>) -> Result<Room> {
    // The text is not shown: it may be a secret in the wrong option.
    let dir = VPath::own(dir).map_err(|_| {
        Error::new(
            Kind::InvalidArgument,
            "keepIn: option \"path\" must be a directory such as \"/notes\", without '..' or '\\'",
        )
    })?;
    Ok(Room::new(
        backend,
        dir,
        key.map(|key| Key::of(key)).transpose()?,
    ))
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![RoomGiven::printed()]
}

//! What a ledger knows of one file, and how a sheet row encodes it. The version marks an open row
//! and holds the number of changes in progress. The texture means, in an open row, that changes
//! overlapped, and otherwise that the bytes were copied. The time of an open row is the start of
//! its last change.

use bytes::Bytes;

use crate::core::file::Texture;
use crate::core::time::Time;
use crate::env::clock;
use crate::storage::{Meta, Version};

/// The largest file that is copied: below this size, asking the browser for a file costs more than
/// its bytes. Chromium stores values of 64 KiB and more in separate files, which would cost as
/// much.
const COPIED: usize = 60 * 1024;

/// The state of a file in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// The metadata is complete and current.
    Settled {
        /// Size and time.
        meta: Meta,
        /// Whether there is a copy of its bytes.
        copied: bool,
    },
    /// Nothing is known; the file may not even exist.
    Open {
        /// When its last change began.
        since: Time,
    },
}

impl Row {
    /// Decodes a sheet row.
    pub fn read(stored: &Meta) -> Row {
        if opened(stored).is_some() {
            return Row::Open {
                since: stored.modified,
            };
        }
        let meta = Meta {
            texture: None,
            ..stored.clone()
        };
        let copied = is_copied(stored);
        Row::Settled { meta, copied }
    }

    /// The metadata, if it is settled.
    pub fn settled(self) -> Option<Meta> {
        match self {
            Row::Settled { meta, .. } => Some(meta),
            Row::Open { .. } => None,
        }
    }
}

/// The copy to keep of a file with these bytes, if it is small enough.
pub fn to_copy(body: &Bytes) -> Option<Bytes> {
    (body.len() <= COPIED).then(|| body.clone())
}

/// The row of a settled file.
pub fn settled(size: u64, modified: Time, copied: bool) -> Meta {
    Meta {
        texture: copied.then_some(Texture::Text),
        ..Meta::of(size, modified)
    }
}

/// Whether the database has a copy of the file's bytes. Open rows have none.
pub fn is_copied(row: &Meta) -> bool {
    row.texture.is_some() && opened(row).is_none()
}

/// An open row with that many changes in progress. The version distinguishes it from a settled row.
pub fn open_row(changes: u64, crowded: bool) -> Meta {
    Meta {
        texture: crowded.then_some(Texture::Binary),
        version: Some(Version::Number(changes)),
        ..Meta::of(0, clock::now())
    }
}

/// The number of changes in progress, and whether they overlapped; `None` for a settled row.
pub fn opened(row: &Meta) -> Option<(u64, bool)> {
    match row.version {
        Some(Version::Number(changes)) => Some((changes, row.texture.is_some())),
        _ => None,
    }
}

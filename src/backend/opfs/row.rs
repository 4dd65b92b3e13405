//! What a ledger knows of one file, and how that stands in a sheet, whose rows have room for other
//! things: a version says that the file is open and how many changes it is under; a texture says
//! of an open file that changes of it overlapped, and of any other that its bytes were copied; the
//! time of an open file is that of its last beginning.

use bytes::Bytes;

use crate::env::clock;
use crate::file::Texture;
use crate::storage::{Meta, Version};
use crate::time::Time;

/// Files up to this size are copied: to ask the browser for one of them costs more than its bytes.
/// Chromium keeps values of 64 KiB and more in files of their own, which would cost as much.
const COPIED: usize = 60 * 1024;

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// All that is to be known.
    Settled {
        /// Its size and time.
        meta: Meta,
        /// Whether there is a copy of its bytes.
        copied: bool,
    },
    /// Nothing; it may not even be there.
    Open {
        /// When the last change of it was begun.
        since: Time,
    },
}

impl Row {
    /// What stands in a sheet.
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

    /// All that is to be known, where it is known.
    pub fn settled(self) -> Option<Meta> {
        match self {
            Row::Settled { meta, .. } => Some(meta),
            Row::Open { .. } => None,
        }
    }
}

/// What is to be copied of a file with these bytes.
pub fn to_copy(body: &Bytes) -> Option<Bytes> {
    (body.len() <= COPIED).then(|| body.clone())
}

/// The row of a file of which all is known.
pub fn settled(size: u64, modified: Time, copied: bool) -> Meta {
    Meta {
        texture: copied.then_some(Texture::Text),
        ..Meta::of(size, modified)
    }
}

/// Whether the bytes of a file stand beside its row. No open row is.
pub fn is_copied(row: &Meta) -> bool {
    row.texture.is_some() && opened(row).is_none()
}

/// A row under so many changes. A version is what tells it from a settled one.
pub fn open_row(changes: u64, crowded: bool) -> Meta {
    Meta {
        texture: crowded.then_some(Texture::Binary),
        version: Some(Version::Number(changes)),
        ..Meta::of(0, clock::now())
    }
}

/// How many changes a row is under, and whether they overlapped.
pub fn opened(row: &Meta) -> Option<(u64, bool)> {
    match row.version {
        Some(Version::Number(changes)) => Some((changes, row.texture.is_some())),
        _ => None,
    }
}

//! Computes the result of an edit in advance, for layers that need it before it is written.

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, Edit};
use crate::search::replace;

/// A file before and after an edit that is not written yet.
pub(super) struct Edited {
    pub(super) before: Bytes,
    pub(super) after: Bytes,
    pub(super) occurrences: usize,
    pub(super) crlf: bool,
}

/// Reads the file and computes the edit, or fails as the backend would.
pub(super) async fn work_out(raw: &dyn Backend, path: &VPath, edit: &Edit) -> Result<Edited> {
    let file = raw.read_raw(path).await.map_err(|error| {
        if error.kind() == Kind::NotFound {
            return Error::nothing_there(path);
        }
        error
    })?;
    edited(path, edit, file.body, file.is_text)
}

/// Computes the edit of a file with this content.
pub(super) fn edited(path: &VPath, edit: &Edit, before: Bytes, is_text: bool) -> Result<Edited> {
    if edit.appends {
        return Ok(Edited {
            after: Bytes::from([&before[..], &edit.new[..]].concat()),
            before,
            occurrences: 0,
            crlf: false,
        });
    }
    if edit.whole {
        if before != edit.old {
            return Err(Error::conflict(path));
        }
        return Ok(Edited {
            before,
            after: edit.new.clone(),
            occurrences: 1,
            crlf: false,
        });
    }
    if !is_text {
        return Err(Error::at(
            Kind::InvalidArgument,
            "Error: File '",
            path,
            "' is binary and cannot be edited as text; upload new bytes instead",
        ));
    }
    let made = replace::replace(&before, &edit.old, &edit.new, edit.replace_all);
    let (after, outcome) = made.map_err(|refusal| {
        replace::sentence(&refusal, path, &String::from_utf8_lossy(&edit.old))
    })?;
    Ok(Edited {
        before,
        after,
        occurrences: outcome.occurrences,
        crlf: outcome.crlf,
    })
}

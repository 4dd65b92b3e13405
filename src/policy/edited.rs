//! What an edit would make of a file, for rules that must know before it is made.

use bytes::Bytes;

use crate::error::{Error, Kind, Result};
use crate::path::VPath;
use crate::protocol::{Backend, Edit};
use crate::search::replace;

/// A file before and after an edit that was not made yet.
pub(super) struct Edited {
    pub(super) before: Bytes,
    pub(super) after: Bytes,
    pub(super) occurrences: usize,
    pub(super) crlf: bool,
}

/// Looks at the file and works the edit out, or refuses it as the backend would.
pub(super) async fn work_out(raw: &dyn Backend, path: &VPath, edit: &Edit) -> Result<Edited> {
    let file = raw.read_raw(path).await.map_err(|error| {
        if error.kind() == Kind::NotFound {
            return Error::nothing_there(path);
        }
        error
    })?;
    if edit.whole {
        if file.body != edit.old {
            return Err(Error::conflict(path));
        }
        return Ok(Edited {
            before: file.body,
            after: edit.new.clone(),
            occurrences: 1,
            crlf: false,
        });
    }
    if !file.is_text {
        return Err(Error::at(
            Kind::InvalidArgument,
            "Error: File '",
            path,
            "' is binary and cannot be edited as text; upload new bytes instead",
        ));
    }
    let made = replace::replace(&file.body, &edit.old, &edit.new, edit.replace_all);
    let (after, outcome) = made.map_err(|refusal| {
        replace::sentence(&refusal, path, &String::from_utf8_lossy(&edit.old))
    })?;
    Ok(Edited {
        before: file.body,
        after,
        occurrences: outcome.occurrences,
        crlf: outcome.crlf,
    })
}

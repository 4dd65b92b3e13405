//! Times, which the recorded cases leave out.

use super::words::*;
use super::*;
use crate::protocol::BackendExt;

pub(super) fn reading() -> Vec<Case> {
    vec![
        case!(raw_data_has_type_and_times, writable, |it| {
            it.write("/r.md", "# hi\n").await?;
            let raw =
                it.0.read_raw(&path("/r.md")?)
                    .await
                    .map_err(|error| error.to_string())?;
            same("body", raw.body, Bytes::from_static(b"# hi\n"))?;
            same("text", raw.is_text, true)?;
            same("type", raw.mime.as_str(), "text/markdown")?;
            same("modified", raw.modified.is_some(), true)?;
        }),
        case!(
            created_is_kept_through_an_edit,
            |c| c.writable && c.keeps_created,
            |it| {
                it.write("/t.txt", "a").await?;
                let at = path("/t.txt")?;
                let before =
                    it.0.read_raw(&at)
                        .await
                        .map_err(|error| error.to_string())?;
                it.edit("/t.txt", "a", "b").await?;
                let after =
                    it.0.read_raw(&at)
                        .await
                        .map_err(|error| error.to_string())?;
                same("created", after.created, before.created)?;
                same("not older", after.modified >= before.modified, true)?;
            }
        ),
    ]
}

//! Real directories and read-only storages, which a `StateBackend` is not.

use super::words::*;
use super::*;
use crate::protocol::BackendExt;

pub(super) fn changing() -> Vec<Case> {
    vec![
        case!(
            a_name_is_a_file_or_a_directory,
            |c| c.writable && c.directories == Directories::Real,
            |it| {
                it.write("/dir/a.txt", "a").await?;
                let answer = it.try_write("/dir", "x").await?;
                refused("write over a directory", answer, Kind::IsDirectory)?;
                let page = Page {
                    offset: 0,
                    limit: 1,
                };
                let answer = it.0.read(&path("/dir")?, page).await.map(drop);
                refused("read of a directory", answer, Kind::IsDirectory)?;
                same("kept", it.text("/dir/a.txt").await?, String::from("a"))?;
                same(
                    "under a file",
                    it.try_write("/dir/a.txt/b", "x").await?.is_err(),
                    true,
                )?;
            }
        ),
        case!(a_read_only_storage_says_so, |c| !c.writable, |it| {
            refused(
                "write",
                it.try_write("/x.txt", "x").await?,
                Kind::PermissionDenied,
            )?;
        }),
    ]
}

//! Writing, editing and deleting.

use super::words::*;
use super::*;

pub(super) fn changing() -> Vec<Case> {
    vec![
        case!(create_is_refused_when_the_file_exists, writable, |it| {
            it.write("/w.txt", "first").await?;
            let answer = it.try_write("/w.txt", "second").await?;
            let said = refused("write", answer, Kind::AlreadyExists)?;
            let start = "Cannot write to /w.txt because it already exists.";
            same("sentence", said.starts_with(start), true)?;
            same("content", it.text("/w.txt").await?, String::from("first"))?;
        }),
        case!(an_edit_replaces_the_only_occurrence, writable, |it| {
            it.write("/e.txt", "one two three").await?;
            same("count", it.edit("/e.txt", "two", "$& 2").await?, 1)?;
            same(
                "content",
                it.text("/e.txt").await?,
                String::from("one $& 2 three"),
            )?;
        }),
        case!(an_ambiguous_edit_changes_nothing, writable, |it| {
            it.write("/e.txt", "x y x").await?;
            let answer = it.try_edit("/e.txt", "x", "z", false).await?;
            refused("edit", answer, Kind::AmbiguousEdit)?;
            same("content", it.text("/e.txt").await?, String::from("x y x"))?;
            let answer = it.try_edit("/e.txt", "x", "z", true).await?;
            same("all", answer.map_err(|error| error.to_string())?, 2)?;
            same("content", it.text("/e.txt").await?, String::from("z y z"))?;
        }),
        case!(an_edit_without_a_match_changes_nothing, writable, |it| {
            it.write("/e.txt", "abc").await?;
            let answer = it.try_edit("/e.txt", "x", "y", false).await?;
            let said = refused("edit", answer, Kind::NoMatch)?;
            same(
                "sentence",
                said,
                String::from("Error: String not found in file: 'x'"),
            )?;
            let answer = it.try_edit("/none.txt", "x", "y", false).await?;
            let said = refused("edit of nothing", answer, Kind::NotFound)?;
            same(
                "sentence",
                said,
                String::from("Error: File '/none.txt' not found"),
            )?;
        }),
        case!(line_endings_alone_may_differ, writable, |it| {
            it.write("/crlf.txt", "a\r\nb\r\nc\r\n").await?;
            let edit = Edit {
                old: Bytes::from_static(b"a\nb"),
                new: Bytes::from_static(b"x\ny\nz"),
                replace_all: false,
                whole: false,
            };
            let answer = it.0.edit(&path("/crlf.txt")?, &edit).await;
            same(
                "crlf",
                answer.map_err(|error| error.to_string())?.crlf,
                true,
            )?;
            same(
                "content",
                it.text("/crlf.txt").await?,
                String::from("x\r\ny\r\nz\r\nc\r\n"),
            )?;
        }),
        case!(a_file_is_deleted_alone, writable, |it| {
            it.write("/d/a.txt", "a").await?;
            it.write("/d/ab.txt", "ab").await?;
            it.0.delete(&path("/d/a.txt")?, None)
                .await
                .map_err(|error| error.to_string())?;
            same("left", it.glob("**", "/").await?, strings(&["/d/ab.txt"]))?;
            let said = refused(
                "again",
                it.0.delete(&path("/d/a.txt")?, None).await,
                Kind::NotFound,
            )?;
            same(
                "sentence",
                said,
                String::from("Error: File '/d/a.txt' not found"),
            )?;
        }),
        case!(a_directory_is_deleted_with_all_beneath, writable, |it| {
            for at in ["/d/a.txt", "/d/e/f.txt", "/dd.txt", "/d-x/g.txt"] {
                it.write(at, "x").await?;
            }
            it.0.delete(&path("/d")?, None)
                .await
                .map_err(|error| error.to_string())?;
            same(
                "left",
                it.glob("**", "/").await?,
                strings(&["/d-x/g.txt", "/dd.txt"]),
            )?;
            same("ls", it.ls("/").await?, strings(&["/d-x/", "/dd.txt"]))?;
            it.write("/d/a.txt", "again").await?;
            same("anew", it.text("/d/a.txt").await?, String::from("again"))?;
        }),
        case!(
            a_name_is_a_file_or_a_directory,
            |c| c.writable && c.directories == Directories::Real,
            |it| {
                it.write("/dir/a.txt", "a").await?;
                let answer = it.try_write("/dir", "x").await?;
                refused("write over a directory", answer, Kind::IsDirectory)?;
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
        case!(
            binary_content_is_base64_in_and_bytes_out,
            keeps_bytes,
            |it| {
                it.write("/i.png", "iVBORw0KGgo=").await?;
                let read =
                    it.0.read(
                        &path("/i.png")?,
                        Page {
                            offset: 3,
                            limit: 1,
                        },
                    )
                    .await;
                let read = read.map_err(|error| error.to_string())?;
                same(
                    "bytes",
                    read.content,
                    Bytes::from_static(b"\x89PNG\r\n\x1a\n"),
                )?;
                same("text", read.is_text, false)?;
                let answer = it.try_edit("/i.png", "P", "Q", false).await?;
                refused("edit", answer, Kind::InvalidArgument)?;
                let answer = it.try_write("/j.png", "not base64!").await?;
                refused("bad base64", answer, Kind::InvalidArgument)?;
            }
        ),
    ]
}

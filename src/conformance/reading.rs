//! What is there, and what is not.

use super::words::*;
use super::*;

pub(super) fn reading() -> Vec<Case> {
    vec![
        case!(an_empty_backend_lists_nothing, always, |it| {
            same("ls", it.ls("/").await?, Vec::new())?;
            same(
                "ls of a missing directory",
                it.ls("/nowhere").await?,
                Vec::new(),
            )?;
            same("glob", it.glob("**", "/").await?, Vec::new())?;
            same(
                "grep",
                it.grep(&GrepQuery::literal("x")).await?,
                (Vec::new(), false),
            )?;
        }),
        case!(a_missing_file_is_not_found, always, |it| {
            let missing = path("/no.txt")?;
            let said = refused(
                "read",
                it.0.read(&missing, Page::default()).await,
                Kind::NotFound,
            )?;
            same("sentence", said, String::from("File '/no.txt' not found"))?;
            refused("readRaw", it.0.read_raw(&missing).await, Kind::NotFound)?;
        }),
        case!(what_is_written_is_read, writable, |it| {
            for text in [
                "",
                "one line",
                "two\nlines\n",
                "日本語 🙂\r\nnaïve\n",
                "\u{feff}bom",
            ] {
                let at = format!("/dir/{}.txt", text.len());
                it.write(&at, text).await?;
                same(&at, it.text(&at).await?, text.to_owned())?;
            }
        }),
        case!(pages_are_lines, writable, |it| {
            it.write("/p.txt", "a\nb\nc\nd\n").await?;
            let page = Page {
                offset: 1,
                limit: 2,
            };
            let answer = it.0.read(&path("/p.txt")?, page).await;
            let read = answer.map_err(|error| error.to_string())?;
            same("content", read.content, Bytes::from_static(b"b\nc"))?;
            let position = read.position.ok_or("no position")?;
            same("total", position.total_lines, Some(4))?;
            same("start", position.start_line, 2)?;
            same("end", position.end_line, 3)?;
            same("next", position.next_offset, Some(3))?;
        }),
        case!(a_listing_shows_one_level_in_order, writable, |it| {
            for at in ["/b.txt", "/a/x.md", "/a/y/z.md", "/a.txt", "/a-b/c.txt"] {
                it.write(at, "12345").await?;
            }
            let wanted = strings(&["/a-b/", "/a.txt", "/a/", "/b.txt"]);
            same("/", it.ls("/").await?, wanted)?;
            same("/a", it.ls("/a").await?, strings(&["/a/x.md", "/a/y/"]))?;
            same("a file's path", it.ls("/b.txt").await?, Vec::new())?;
            let infos =
                it.0.ls(&path("/a")?)
                    .await
                    .map_err(|error| error.to_string())?;
            let size = infos.iter().find_map(|info| match info.entry {
                crate::protocol::EntryInfo::File { size, .. } => size,
                crate::protocol::EntryInfo::Directory => None,
            });
            same("size", size, Some(5))?;
        }),
        case!(odd_names_are_ordinary, writable, |it| {
            let names = [
                "/__proto__",
                "/constructor",
                "/~backup",
                "/a..b",
                "/with space",
                "/100%",
                "/ü/ñ.txt",
                "/plus+and&",
                "/quote'\"",
                "/[x]{y}*?",
                "/🙂",
                "/semi;colon",
                "/#hash",
                "/$HOME",
                "/-dash",
            ];
            for name in names {
                it.write(name, name).await?;
            }
            for name in names {
                same(name, it.text(name).await?, name.to_owned())?;
            }
            same("glob", it.glob("**", "/").await?.len(), names.len())?;
        }),
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

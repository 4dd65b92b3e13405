//! Many files in one call.

use super::words::*;
use super::*;

pub(super) fn batches() -> Vec<Case> {
    vec![
        case!(every_byte_comes_back, keeps_bytes, |it| {
            let all: Vec<u8> = (0..=255u8).collect();
            it.upload(&[
                ("/all.bin", &all),
                ("/bad.txt", b"\xff\xfe text"),
                ("/empty", b""),
            ])
            .await?;
            same("all", it.bytes("/all.bin").await?, Bytes::from(all))?;
            same(
                "text that is none",
                it.bytes("/bad.txt").await?,
                Bytes::from_static(b"\xff\xfe text"),
            )?;
            same("empty", it.bytes("/empty").await?, Bytes::new())?;
        }),
        case!(uploads_overwrite_and_answer_in_order, writable, |it| {
            it.write("/u.txt", "old").await?;
            it.upload(&[("/u.txt", b"new"), ("/v/w.txt", b"w")]).await?;
            same("new", it.text("/u.txt").await?, String::from("new"))?;
            let paths = [path("/v/w.txt")?, path("/missing")?, path("/u.txt")?];
            let answers = it.0.download(&paths).await;
            let seen: Vec<String> = answers
                .iter()
                .map(|answer| match answer {
                    Ok(body) => String::from_utf8_lossy(body).into_owned(),
                    Err(error) => error.kind().file_operation_error().to_owned(),
                })
                .collect();
            same("answers", seen, strings(&["w", "file_not_found", "new"]))?;
        }),
        case!(a_large_file_is_paged_and_searched, writable, |it| {
            let mut text = String::new();
            for line in 0..20_000 {
                text.push_str(&format!("line {line} of a larger file\n"));
            }
            it.upload(&[("/large.txt", text.as_bytes())]).await?;
            for offset in [0, 10_000, 19_999] {
                let answer =
                    it.0.read(&path("/large.txt")?, Page { offset, limit: 1 })
                        .await;
                let read = answer.map_err(|error| error.to_string())?;
                let wanted = format!("line {offset} of a larger file");
                same(
                    "page",
                    String::from_utf8_lossy(&read.content).into_owned(),
                    wanted,
                )?;
            }
            let found = it.grep(&GrepQuery::literal("line 12345 ")).await?.0;
            same(
                "grep",
                found,
                strings(&["/large.txt:12346:line 12345 of a larger file"]),
            )?;
        }),
    ]
}

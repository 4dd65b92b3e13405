//! A file that is too large for the recorded cases.

use super::words::*;
use super::*;
use crate::protocol::BackendExt;

pub(super) fn batches() -> Vec<Case> {
    vec![case!(a_large_file_is_paged_and_searched, writable, |it| {
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
    })]
}

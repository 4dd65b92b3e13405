//! Files whose bytes come in parts: what is sent, and what is left after failures.

use super::repeating::losses;
use super::*;
use crate::core::parts::testing::Ready;
use crate::protocol::OfParts;
use crate::storage::Streams;

const MIB: usize = 1 << 20;

/// A text of so many bytes.
fn text(size: usize) -> String {
    let mut text = "0123456789abcde\n".repeat(size / 16 + 1);
    text.truncate(size);
    text
}

/// The same in pieces of that size.
fn parts(text: &str, piece: usize) -> Ready {
    let pieces: Vec<&str> = (0..text.len())
        .step_by(piece)
        .filter_map(|at| text.get(at..text.len().min(at + piece)))
        .collect();
    Ready::of(&pieces, MIB as u64)
}

fn upload(files: &Files<S3>, at: &str, text: &str, piece: usize) -> Result<(), Error> {
    block_on(files.stream(&path(at), &OfParts(parts(text, piece))))
}

#[test]
fn a_file_is_sent_in_parts_of_8_mib_however_its_bytes_come() {
    for (piece, sizes) in [
        (100_000, [2 * MIB, 8 * MIB]),
        (3 * MIB + 1, [8 * MIB + 1, 17 * MIB]),
        (30 * MIB, [8 * MIB, 17 * MIB]),
    ] {
        for size in sizes {
            let server = Server::new();
            let files = files(&server);
            let text = text(size);
            upload(&files, "/a.txt", &text, piece).expect("stored");
            assert_eq!(
                server.body("a.txt").as_ref(),
                Some(&text),
                "{size} by {piece}"
            );
            let log = server.log.take();
            let sent = log.iter().filter(|line| *line == "PUT a.txt").count();
            assert_eq!(sent, size.div_ceil(8 * MIB), "{size} by {piece}");
            assert!(server.uploads.borrow().open.is_empty());
            let page = read(&files, "/a.txt").expect("a page");
            assert!(page.starts_with("0123456789abcde\n"));
        }
    }
}

#[test]
fn it_keeps_type_and_times_and_is_edited_as_another() {
    let server = Server::new();
    let files = files(&server);
    upload(&files, "/a.md", &text(2 * MIB), MIB).expect("stored");
    let raw = block_on(files.read_raw(&path("/a.md"))).expect("a file");
    assert_eq!(raw.mime.as_str(), "text/markdown");
    assert!(raw.is_text && raw.created.is_some());
    upload(&files, "/a.md", "new", 2).expect("stored");
    edit(&files, "/a.md", "new", "newer").expect("edited");
    upload(&files, "/a.md", &text(3 * MIB), MIB).expect("stored");
    assert_eq!(server.body("a.md"), Some(text(3 * MIB)));
    write(&files, "/a.md", "x").expect_err("it is there");
}

#[test]
fn a_lost_answer_of_any_request_leaves_one_whole_file_and_no_upload() {
    for fault in losses() {
        for at in 0..4 {
            let server = Server::new();
            let storage = storage(&server, quick(), "");
            write(
                &Files::new(
                    super::storage(&server, quick(), ""),
                    FilesOptions::default(),
                ),
                "/a.txt",
                "before",
            )
            .expect("written");
            let mut count = 0;
            let given = fault.clone();
            server.script(move |request| {
                let is_ours = request.url.contains("upload");
                count += usize::from(is_ours);
                match is_ours && count == at + 1 {
                    true => given.clone(),
                    false => Fault::None,
                }
            });
            let text = text(9 * MIB);
            let stored = block_on(storage.put_parts(&path("/a.txt"), &parts(&text, MIB)));
            stored.expect("stored");
            assert_eq!(server.body("a.txt"), Some(text), "{fault:?} at {at}");
            // One whose beginning was not answered nobody can name.
            let open = server.uploads.borrow().open.len();
            assert_eq!(open, usize::from(at == 0), "{fault:?} at {at}");
        }
    }
}

#[test]
fn what_fails_for_good_leaves_what_was_there() {
    for (at, what) in ["begin", "part", "second part", "complete"]
        .iter()
        .enumerate()
    {
        let server = Server::new();
        server.put("a.txt", "before");
        let storage = storage(&server, quick(), "");
        let mut count = 0;
        let place = match at {
            3 => 4,
            at => at + 1,
        };
        server.script(move |request| {
            count += usize::from(request.url.contains("upload"));
            match count >= place && request.method != "DELETE" && request.url.contains("upload") {
                true => Fault::Status(403, "AccessDenied"),
                false => Fault::None,
            }
        });
        let text = text(9 * MIB);
        let failed = block_on(storage.put_parts(&path("/a.txt"), &parts(&text, MIB)));
        let failed = failed.expect_err(what);
        assert_eq!(failed.kind(), Kind::PermissionDenied, "{what}");
        assert_eq!(server.body("a.txt").as_deref(), Some("before"), "{what}");
        assert!(server.uploads.borrow().open.is_empty(), "{what}");
    }
}

#[test]
fn bytes_that_fail_store_nothing() {
    let server = Server::new();
    let storage = storage(&server, quick(), "");
    let parts = parts(&text(9 * MIB), MIB);
    parts.fails_after(5);
    let failed = block_on(storage.put_parts(&path("/a.txt"), &parts));
    assert_eq!(failed.expect_err("torn").kind(), Kind::Unavailable);
    assert_eq!(server.body("a.txt"), None);
    assert!(server.uploads.borrow().open.is_empty());
}

#[test]
fn a_completion_that_arrives_after_it_was_given_up_changes_nothing() {
    let server = Server::new();
    let storage = storage(&server, quick(), "");
    server.script(
        |request| match request.method == "POST" && request.url.contains("uploadId") {
            true => Fault::Before,
            false => Fault::None,
        },
    );
    let text = text(9 * MIB);
    let failed = block_on(storage.put_parts(&path("/a.txt"), &parts(&text, MIB)));
    assert_eq!(failed.expect_err("lost").kind(), Kind::Unavailable);
    let sent = server.sent.take();
    let late = sent.iter().rev().find(|one| one.method == "POST");
    server.put("a.txt", "newer");
    let answer = server.answer(late.expect("a completion"));
    assert_eq!(answer.status, 404);
    assert_eq!(server.body("a.txt").as_deref(), Some("newer"));
}

/// Few attempts, one after another.
fn quick() -> S3Options {
    S3Options {
        retry: Retry {
            attempts: 3,
            base: std::time::Duration::ZERO,
            limit: std::time::Duration::from_millis(300),
            ..Retry::default()
        },
        trust: Trust::Standard,
        ..S3Options::default()
    }
}

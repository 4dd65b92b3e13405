//! Files whose bytes come in parts: what is sent, and what is left after failures.

use super::repeating::losses;
use super::*;
use crate::core::cell::RefCell;
use crate::core::future::{Pending, done};
use crate::core::parts::testing::Ready;
use crate::core::parts::{Begun, Expected, Notes, Parts};
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

#[test]
fn a_new_file_is_put_only_where_nothing_is() {
    let text = text(9 * MIB);
    let server = Server::new();
    let sent = || {
        let storage = storage(&server, quick(), "");
        let parts = parts(&text, MIB);
        parts.create();
        let stored = block_on(storage.put_parts(&path("/a.txt"), &parts));
        assert!(server.uploads.borrow().open.is_empty());
        stored.map_err(|error| error.kind())
    };
    assert_eq!(sent(), Ok(()));
    assert_eq!(server.body("a.txt").as_deref(), Some(&*text));
    server.put("a.txt", "other");
    assert_eq!(sent(), Err(Kind::AlreadyExists));
    assert_eq!(server.body("a.txt").as_deref(), Some("other"));
}

#[test]
fn what_others_store_while_it_is_sent_stays() {
    for last in ["PUT", "POST"] {
        let server = Server::new();
        let storage = storage(&server, quick(), "");
        let text = text(9 * MIB);
        let parts = parts(&text, MIB);
        parts.create();
        let other = Rc::downgrade(&server);
        server.script(move |request| {
            // Behind the last look, and before it.
            if request.method == last && request.url.contains("uploadId") {
                other.upgrade().expect("a server").put("a.txt", "other");
            }
            Fault::None
        });
        let stored = block_on(storage.put_parts(&path("/a.txt"), &parts));
        assert_eq!(
            stored.map_err(|error| error.kind()),
            Err(Kind::AlreadyExists),
            "{last}"
        );
        assert_eq!(server.body("a.txt").as_deref(), Some("other"), "{last}");
        assert!(server.uploads.borrow().open.is_empty());
    }
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

#[test]
fn a_file_is_replaced_only_over_its_version() {
    let server = Server::new();
    let files = files(&server);
    let text = text(9 * MIB);
    let version = || {
        let there = block_on(crate::protocol::read_part(&files, &path("/a.txt"), 0..0));
        let section = there.expect("a file").section.expect("a part");
        section.version.expect("a version")
    };
    let sent = |version: &str| {
        let storage = storage(&server, quick(), "");
        let parts = parts(&text, MIB);
        parts.over(version);
        let stored = block_on(storage.put_parts(&path("/a.txt"), &parts));
        assert!(server.uploads.borrow().open.is_empty());
        stored.map_err(|error| error.kind())
    };
    server.put("a.txt", "before");
    let before = version();
    server.put("a.txt", "other");
    assert_eq!(sent(&before), Err(Kind::Conflict));
    assert_eq!(server.body("a.txt").as_deref(), Some("other"));
    assert_eq!(sent(&version()), Ok(()));
    assert_eq!(server.body("a.txt").as_deref(), Some(&*text));
    // Somebody replaces or deletes it before and behind the last look.
    for last in ["PUT", "POST"] {
        for body in [Some("another"), None] {
            let version = version();
            let other = Rc::downgrade(&server);
            server.script(move |request| {
                let server = other.upgrade().expect("a server");
                if request.method == last && request.url.contains("uploadId") {
                    match body {
                        Some(body) => server.put("a.txt", body),
                        None => drop(server.objects.borrow_mut().remove("a.txt")),
                    }
                }
                Fault::None
            });
            assert_eq!(sent(&version), Err(Kind::Conflict), "{last} {body:?}");
            assert_eq!(server.body("a.txt").as_deref(), body, "{last}");
            server.script(|_| Fault::None);
            server.put("a.txt", "again");
        }
    }
}

/// Parts with notes that outlive the call.
struct Noted<'a> {
    parts: Ready,
    notes: &'a Sheet,
}

#[derive(Default)]
struct Sheet {
    begun: RefCell<Option<Begun>>,
    tags: RefCell<Vec<(u64, String)>>,
}

impl Parts for Noted<'_> {
    fn size(&self) -> u64 {
        self.parts.size()
    }

    fn most(&self) -> u64 {
        self.parts.most()
    }

    fn is_new(&self) -> bool {
        self.parts.is_new()
    }

    fn next(&self) -> Pending<'_, Option<Bytes>> {
        self.parts.next()
    }

    fn notes(&self) -> Option<&dyn Notes> {
        Some(self.notes)
    }

    fn object(&self) -> &dyn std::any::Any {
        &()
    }
}

impl Notes for Sheet {
    fn expected(&self) -> Expected<'_> {
        Expected::Nothing
    }

    fn begun(&self) -> Pending<'_, Option<Begun>> {
        done(Ok(self.begun.borrow().clone()))
    }

    fn begin(&self, begun: Begun) -> Pending<'_, ()> {
        *self.begun.borrow_mut() = Some(begun);
        self.tags.borrow_mut().clear();
        done(Ok(()))
    }

    fn tag(&self, end: u64) -> Option<String> {
        let tags = self.tags.borrow();
        let found = tags.iter().find(|one| one.0 == end);
        found.map(|one| one.1.clone())
    }

    fn sent<'a>(&'a self, end: u64, tag: &'a str) -> Pending<'a, ()> {
        self.tags.borrow_mut().push((end, tag.to_owned()));
        done(Ok(()))
    }

    fn end(&self) -> Pending<'_, ()> {
        *self.begun.borrow_mut() = None;
        self.tags.borrow_mut().clear();
        done(Ok(()))
    }
}

/// The parts that are sent of a file of three, by an upload with these notes.
fn noted(server: &Rc<Server>, notes: &Sheet) -> (usize, Result<(), Kind>) {
    server.log.take();
    let storage = storage(server, quick(), "");
    let parts = Noted {
        parts: parts(&text(17 * MIB), 4 * MIB),
        notes,
    };
    parts.parts.create();
    let stored = block_on(storage.put_parts(&path("/a.txt"), &parts));
    let sent = server.log.take();
    let sent = sent.iter().filter(|line| *line == "PUT a.txt").count();
    (sent, stored.map_err(|error| error.kind()))
}

/// A server that cannot be reached any more after so many requests of uploads, and what is noted then.
fn broken_off(after: usize) -> (Rc<Server>, Sheet) {
    let (server, notes) = (Server::new(), Sheet::default());
    let mut count = 0;
    server.script(move |request| {
        count += usize::from(request.url.contains("upload"));
        match count > after {
            true => Fault::Before,
            false => Fault::None,
        }
    });
    let (_, stored) = noted(&server, &notes);
    assert_eq!(stored, Err(Kind::Unavailable));
    server.script(|_| Fault::None);
    (server, notes)
}

#[test]
fn an_upload_that_was_broken_off_goes_on_with_what_was_noted() {
    // One request begins it.
    for sent in 0..3 {
        let (server, notes) = broken_off(1 + sent);
        assert!(notes.begun.borrow().is_some());
        assert_eq!(noted(&server, &notes), (3 - sent, Ok(())), "{sent}");
        assert_eq!(server.body("a.txt"), Some(text(17 * MIB)));
        assert!(server.uploads.borrow().open.is_empty());
        assert_eq!(*notes.begun.borrow(), None);
    }
}

#[test]
fn an_upload_that_is_not_to_go_on_is_given_up() {
    let (server, notes) = broken_off(3);
    if let Some(begun) = &mut *notes.begun.borrow_mut() {
        begun.goes_on = false;
    }
    assert_eq!(noted(&server, &notes), (3, Ok(())));
    assert!(server.uploads.borrow().open.is_empty());
}

#[test]
fn bytes_that_do_not_come_any_more_end_an_upload() {
    let (server, notes) = broken_off(3);
    let storage = storage(&server, quick(), "");
    let parts = Noted {
        parts: Ready::of(&[&text(2 * MIB)], MIB as u64),
        notes: &notes,
    };
    parts.parts.fails_with(Kind::Conflict);
    let stored = block_on(storage.put_parts(&path("/a.txt"), &parts));
    assert_eq!(stored.map_err(|error| error.kind()), Err(Kind::Conflict));
    assert!(server.uploads.borrow().open.is_empty());
    assert_eq!(*notes.begun.borrow(), None);
}

#[test]
fn an_upload_that_is_gone_is_forgotten_and_one_that_was_completed_is_made() {
    let (server, notes) = broken_off(3);
    server.uploads.borrow_mut().open.clear();
    assert_eq!(noted(&server, &notes), (1, Err(Kind::NotFound)));
    assert_eq!(*notes.begun.borrow(), None);
    assert_eq!(noted(&server, &notes), (3, Ok(())));

    // The process ends right after the completion.
    let (server, notes) = broken_off(3);
    let begun = notes.begun.borrow().clone();
    let mut tags = notes.tags.borrow().clone();
    assert_eq!(noted(&server, &notes), (1, Ok(())));
    tags.push((17 << 20, "unknown".to_owned()));
    *notes.begun.borrow_mut() = begun;
    *notes.tags.borrow_mut() = tags;
    assert_eq!(noted(&server, &notes), (0, Err(Kind::AlreadyExists)));
    assert_eq!(*notes.begun.borrow(), None);
    assert_eq!(server.body("a.txt"), Some(text(17 * MIB)));
}

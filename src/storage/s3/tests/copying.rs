//! Moves and copies by the server: what it is asked, and that no acknowledged change of others is
//! lost, whatever happens between two requests, also on servers that ignore conditions of copies.

use std::cell::Cell;

use super::*;
use crate::protocol::{BackendExt, Transfer};
use crate::storage::s3::testing::{Copies, Object};

fn asked(from: &str, to: &str, keeps: bool, overwrite: bool) -> Transfer {
    Transfer {
        from: path(from),
        to: path(to),
        keeps,
        overwrite,
    }
}

fn transfer(files: &Files<S3>, asked: &Transfer) -> Result<(), Error> {
    block_on(files.transfer(asked)).map(drop)
}

/// A server with two files, of which one was moved, so that nothing is probed any more.
fn probed(copies: Copies) -> (Rc<Server>, Files<S3>) {
    let server = Server::new();
    server.copies.set(copies);
    let files = with(
        &server,
        S3Options {
            cache_bytes: 0,
            ..S3Options::default()
        },
    );
    write(&files, "/first.txt", "first").expect("written");
    transfer(&files, &asked("/first.txt", "/moved.txt", false, false)).expect("moved");
    server.log.take();
    (server, files)
}

fn theirs(server: &Server, key: &str) {
    server.put(key, "theirs");
}

#[test]
fn the_server_copies_and_no_content_comes_here() {
    let (server, files) = probed(Copies::Honoured);
    let text = "a line of the text\n".repeat(10_000);
    write(&files, "/big.txt", &text).expect("written");
    for (keeps, to) in [(true, "/copy.txt"), (false, "/moved/big.txt")] {
        server.log.take();
        server.moved.set(0);
        transfer(&files, &asked("/big.txt", to, keeps, false)).expect("transferred");
        let log = server.log.take();
        let of = |what: &str| log.iter().filter(|line| line.starts_with(what)).count();
        assert_eq!((of("COPY"), of("GET"), of("PUT")), (1, 0, 0), "{log:?}");
        assert_eq!(of("DELETE"), usize::from(!keeps), "{log:?}");
        assert!(of("HEAD") <= 7 && of("LIST") == 2, "{log:?}");
        assert!(server.moved.get() < 2_000, "{} bytes", server.moved.get());
        assert_eq!(server.body(&to[1..]).as_deref(), Some(text.as_str()));
    }
    assert_eq!(server.body("big.txt"), None);
    // What was known of the file is known of its copy: the total of its lines without reading all.
    let page = Page {
        offset: 0,
        limit: 1,
    };
    let read = block_on(files.read(&path("/copy.txt"), page)).expect("read");
    assert_eq!(read.position.and_then(|at| at.total_lines), Some(10_000));
}

#[test]
fn a_copy_keeps_times_and_takes_the_type_of_its_new_name() {
    let (server, files) = probed(Copies::Honoured);
    write(&files, "/a.txt", "# Title\n").expect("written");
    let before = block_on(files.read_raw(&path("/a.txt"))).expect("read");
    for (to, mime) in [
        ("/b.txt", "text/plain"),
        ("/c.md", "text/markdown"),
        ("/d.png", "image/png"),
    ] {
        server.log.take();
        transfer(&files, &asked("/a.txt", to, true, false)).expect("copied");
        assert_eq!(server.count("GET"), 0, "{to}");
        let after = block_on(files.read_raw(&path(to))).expect("read");
        assert_eq!(after.body, before.body);
        assert_eq!(after.mime.as_str(), mime);
        assert_eq!(
            (after.created, after.modified),
            (before.created, before.modified)
        );
    }
    edit(&files, "/c.md", "Title", "New").expect("text is text again");
}

#[test]
fn a_server_that_ignores_a_condition_of_copies_is_found_out_and_copies_nothing() {
    for copies in [
        Copies::TargetIgnored,
        Copies::SourceIgnored,
        Copies::Ignored,
        Copies::Unsupported,
    ] {
        let (server, files) = probed(copies);
        write(&files, "/a.txt", "the text").expect("written");
        transfer(&files, &asked("/a.txt", "/b.txt", false, false)).expect("moved");
        assert_eq!(server.count("COPY"), 0, "{copies:?}");
        assert_eq!(server.keys(), ["b.txt", "moved.txt"], "the probe is gone");
    }
}

#[test]
fn an_object_of_another_tool_is_copied_unless_it_may_be_compressed() {
    let (server, files) = probed(Copies::Honoured);
    for (key, plain) in [("plain.txt", true), ("packed.txt", false)] {
        let object = Object {
            body: Bytes::from_static(b"text"),
            mime: "text/plain".into(),
            meta: None,
            tag: "0123".into(),
            encoding: (!plain).then(|| "identity".to_owned()),
        };
        server.objects.borrow_mut().insert(key.into(), object);
        server.log.take();
        transfer(&files, &asked(&format!("/{key}"), "/to.txt", false, true)).expect("moved");
        assert_eq!(server.count("COPY"), usize::from(plain), "{key}");
        assert_eq!(server.body("to.txt").as_deref(), Some("text"));
    }
}

/// What another client does between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    WritesSource,
    DeletesSource,
    WritesTarget,
    DeletesTarget,
}

#[test]
fn nothing_of_others_is_lost_whenever_they_change_a_file_and_whatever_answer_is_lost() {
    let mut done = [0, 0];
    for other in [
        Other::WritesSource,
        Other::DeletesSource,
        Other::WritesTarget,
        Other::DeletesTarget,
    ] {
        for fault in [
            Fault::None,
            Fault::Before,
            Fault::After,
            Fault::Status(200, "InternalError"),
            Fault::Executed(200, "InternalError"),
            Fault::Executed(500, "InternalError"),
            Fault::Status(503, "SlowDown"),
        ] {
            for (overwrite, keeps) in [(false, false), (false, true), (true, false)] {
                for at in 0.. {
                    let (server, files) = probed(Copies::Honoured);
                    write(&files, "/a.txt", "the text").expect("written");
                    if overwrite {
                        write(&files, "/b.txt", "old").expect("written");
                    }
                    let sent = Rc::new(Cell::new(0));
                    let (seen, lost, weak) = (sent.clone(), fault.clone(), Rc::downgrade(&server));
                    server.script(move |request| {
                        let number = seen.replace(seen.get() + 1);
                        if number == at
                            && let Some(server) = weak.upgrade()
                        {
                            match other {
                                Other::WritesSource => theirs(&server, "a.txt"),
                                Other::WritesTarget => theirs(&server, "b.txt"),
                                Other::DeletesSource => {
                                    drop(server.objects.borrow_mut().remove("a.txt"))
                                }
                                Other::DeletesTarget => {
                                    drop(server.objects.borrow_mut().remove("b.txt"))
                                }
                            }
                        }
                        // The answer before, or that of the request itself.
                        let copies = request
                            .headers
                            .iter()
                            .any(|(name, _)| name == "x-amz-copy-source");
                        match copies && (number == at || number + 1 == at) {
                            true => lost.clone(),
                            false => Fault::None,
                        }
                    });
                    let answer = transfer(&files, &asked("/a.txt", "/b.txt", keeps, overwrite));
                    if sent.get() <= at {
                        break;
                    }
                    let (a, b) = (server.body("a.txt"), server.body("b.txt"));
                    let is = |file: &Option<String>, text: &str| file.as_deref() == Some(text);
                    let case = format!(
                        "{other:?} {fault:?} {overwrite} {keeps} {at}: {a:?} {b:?} {answer:?}"
                    );
                    match other {
                        // Their text is where they wrote it, or was moved.
                        Other::WritesSource => {
                            assert!(is(&a, "theirs") || is(&b, "theirs"), "{case}")
                        }
                        // It is not replaced, unless that was asked for.
                        Other::WritesTarget if !overwrite => assert!(is(&b, "theirs"), "{case}"),
                        Other::WritesTarget | Other::DeletesTarget => {}
                        Other::DeletesSource => assert!(a.is_none(), "{case}"),
                    }
                    // Ours is at one path, unless others replaced or deleted it there.
                    let kept = is(&a, "the text") || is(&b, "the text");
                    assert!(
                        kept || other != Other::WritesTarget || is(&b, "theirs"),
                        "{case}"
                    );
                    if keeps && other != Other::DeletesSource && other != Other::WritesSource {
                        assert!(is(&a, "the text"), "{case}");
                    }
                    done[usize::from(answer.is_ok())] += 1;
                }
            }
        }
    }
    assert!(done.iter().all(|count| *count > 50), "{done:?}");
}

#[test]
fn a_probe_that_fails_moves_by_bytes_and_is_repeated_once() {
    let server = Server::new();
    let files = files(&server);
    write(&files, "/a.txt", "the text").expect("written");
    let asked_for = Rc::new(Cell::new(0));
    let seen = asked_for.clone();
    server.script(move |request| {
        let copies = request
            .headers
            .iter()
            .any(|(name, _)| name == "x-amz-copy-source");
        seen.set(seen.get() + i32::from(copies));
        match copies {
            true => Fault::Status(403, "AccessDenied"),
            false => Fault::None,
        }
    });
    for (from, to, probes) in [
        ("/a.txt", "/b.txt", 4),
        ("/b.txt", "/c.txt", 4),
        ("/c.txt", "/d.txt", 0),
    ] {
        transfer(&files, &asked(from, to, false, false)).expect("moved");
        assert_eq!(asked_for.replace(0), probes, "{to}");
    }
    assert_eq!(server.keys(), ["d.txt"]);
}

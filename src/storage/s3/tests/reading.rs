//! Reading objects in parts: how many bytes are transferred, and how unusual responses are handled.

use super::*;
use crate::protocol::{BackendExt, ReadResult};
use crate::storage::s3::testing::Object;
use crate::storage::{Hints, Ranged, Search};

#[test]
fn parts_of_a_file_are_fetched_as_parts() {
    let server = Server::new();
    server.put("a.txt", "0123456789");
    let storage = storage(&server, S3Options::default(), "");
    let part = |range: std::ops::Range<u64>| {
        let part = block_on(storage.get_part(&path("/a.txt"), range));
        let part = part.expect("read").expect("there");
        assert_eq!(part.file.meta.size, 10);
        String::from_utf8(part.file.body.to_vec()).expect("text")
    };
    assert_eq!(part(2..5), "234");
    assert_eq!(part(8..20), "89");
    assert_eq!(part(10..20), "");
    assert_eq!(part(99..100), "");
    server.faults("GET", vec![Fault::CutSilently]);
    assert_eq!(part(2..6), "2345");
    assert!(
        block_on(storage.get_part(&path("/none"), 0..5))
            .expect("asked")
            .is_none()
    );
}

fn large(word: &str) -> String {
    let line = |at| format!("{word} {at} of a text of some size\n");
    (0..20_000).map(line).collect()
}

fn page(files: &Files<S3>, offset: usize, limit: usize) -> ReadResult {
    block_on(files.read(&path("/a.txt"), Page { offset, limit })).expect("read")
}

fn text(read: &ReadResult) -> &str {
    std::str::from_utf8(&read.content).expect("text")
}

fn total(read: &ReadResult) -> Option<usize> {
    read.position.expect("a position").total_lines
}

#[test]
fn a_page_moves_a_part_and_knows_the_whole() {
    let server = Server::new();
    write(&files(&server), "/a.txt", &large("line")).expect("written");
    let files = files(&server);
    server.moved.take();
    let first = page(&files, 0, 2);
    assert_eq!(text(&first).lines().count(), 2);
    assert_eq!(
        total(&first),
        Some(20_000),
        "the count is kept beside the object"
    );
    assert_eq!(server.moved.take(), 65_536);
    let last = page(&files, 19_999, 5);
    assert_eq!(text(&last), "line 19999 of a text of some size\n");
    server.moved.take();
    page(&files, 15_000, 100);
    assert_eq!(server.moved.take(), 65_536, "its place is known by now");
}

#[test]
fn what_is_in_the_cache_is_not_moved_again() {
    let server = Server::new();
    server.put("a.txt", &large("line"));
    let files = files(&server);
    block_on(files.read_raw(&path("/a.txt"))).expect("read");
    server.moved.take();
    assert_eq!(total(&page(&files, 10_000, 5)), Some(20_000));
    assert_eq!(server.moved.take(), 0);
    server.put("a.txt", &large("other"));
    assert_eq!(total(&page(&files, 0, 5)), None);
    assert_eq!(server.moved.take(), 65_536);
}

#[test]
fn a_count_of_other_bytes_is_not_believed() {
    let server = Server::new();
    write(&files(&server), "/a.txt", &large("line")).expect("written");
    let changed = Bytes::from(large("another"));
    server
        .objects
        .borrow_mut()
        .entry("a.txt".into())
        .and_modify(|object| {
            *object = Object {
                body: changed,
                tag: "other".into(),
                ..object.clone()
            };
        });
    assert_eq!(total(&page(&files(&server), 0, 5)), None);
}

#[test]
fn a_file_changed_between_two_parts_is_begun_anew() {
    let server = Server::new();
    server.put("a.txt", &large("old"));
    let files = files(&server);
    let (other, mut count) = (server.clone(), 0);
    server.script(move |_| {
        count += 1;
        if count == 2 {
            other.put("a.txt", &large("new"));
        }
        Fault::None
    });
    let read = page(&files, 0, usize::MAX);
    assert_eq!(text(&read), large("new"));
    assert_eq!(total(&read), Some(20_000));
}

#[test]
fn disturbed_parts_are_asked_for_again() {
    let server = Server::new();
    server.put("a.txt", &large("line"));
    for fault in [
        Fault::Before,
        Fault::CutSilently,
        Fault::Status(503, "SlowDown"),
        Fault::Cut,
    ] {
        let files = files(&server);
        server.faults("GET", vec![Fault::None, fault.clone(), fault]);
        assert_eq!(
            text(&page(&files, 19_998, 1)),
            "line 19998 of a text of some size"
        );
    }
}

#[test]
fn servers_that_do_parts_oddly_are_read_whole() {
    for (ranges, asks) in [
        (Ranges::Ignored, 2),
        (Ranges::Unnamed, 3),
        (Ranges::Packed, 4),
    ] {
        let server = Server::new();
        server.put("a.txt", &large("line"));
        server.ranges.set(ranges);
        let files = with(
            &server,
            S3Options {
                cache_bytes: 0,
                ..S3Options::default()
            },
        );
        for _ in 0..2 {
            assert_eq!(total(&page(&files, 3, 1)), Some(20_000));
        }
        assert_eq!(server.count("GET"), asks, "{ranges:?}");
    }
}

#[test]
fn an_empty_object_has_no_parts() {
    let server = Server::new();
    server.put("a.txt", "");
    let read = page(&files(&server), 0, 5);
    assert_eq!((read.content.len(), read.position), (0, None));
    assert!(read.is_text);
}

#[test]
fn a_file_has_the_size_of_its_body_whatever_was_told() {
    let server = Server::new();
    let files = files(&server);
    write(&files, "/a.txt", "one\n").expect("written");
    // The response to the change is lost, and the HEAD response that confirms it has no length.
    let mut lost = false;
    server.script(move |request| match request.method {
        "PUT" if !lost => {
            lost = true;
            Fault::After
        }
        "HEAD" => Fault::CutSilently,
        _ => Fault::None,
    });
    edit(&files, "/a.txt", "one", "two").expect("edited");
    let read = page(&files, 0, 5);
    assert_eq!((text(&read), total(&read)), ("two\n", Some(1)));
}

#[test]
fn a_search_that_lists_several_parts_at_once_sees_each_file_once_in_order() {
    use crate::storage::Scan;
    let server = Server::new();
    server.page.set(3);
    let writer = files(&server);
    let mut names: Vec<String> = (0..40)
        .map(|at| format!("/d{}/f{:02}", at % 3, at))
        .collect();
    names.push("/d1".to_owned());
    for name in &names {
        write(&writer, name, "text").expect("written");
    }
    names.sort_unstable();
    let s3 = storage(&server, S3Options::default(), "");
    for splits in [
        vec!["/d1"],
        vec!["/d0/f03", "/d1/f10", "/d1/f11", "/d2/none", "/z"],
        vec!["/d1/f22", "/a", "/d0/f00"],
        names.iter().map(String::as_str).collect(),
    ] {
        for root in ["/", "/d1", "/d1/f22", "/none"] {
            let scope = Scope::all(&path(root));
            let mut splits: Vec<VPath> = splits.iter().map(|at| path(at)).collect();
            splits.sort_unstable();
            let scan = Scan {
                scope: &scope,
                names: &|_| true,
                want: &|_, _| true,
                hints: Hints {
                    splits: &splits,
                    ..Hints::default()
                },
            };
            let mut seen = Vec::new();
            let mut visit = |path: &VPath, _: &crate::storage::File| {
                seen.push(path.to_string());
                Flow::Continue(())
            };
            block_on(s3.scan(scan, &mut visit)).expect("searched");
            let inside = names.iter().filter(|name| scope.admits(&path(name)));
            assert_eq!(
                seen,
                inside.cloned().collect::<Vec<_>>(),
                "{root} {splits:?}"
            );
        }
    }
}

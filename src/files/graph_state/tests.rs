//! Which files an operation uses, with a host that names the running graph.

use super::testing::made;
use super::*;
use crate::core::testing::{now, path};
use crate::protocol::{Content, Edit, Page, SharedBackend};

fn write(backend: &SharedBackend, at: &str, text: &'static str) -> Result<()> {
    now(backend.write(
        &path(at),
        Content::Text(Bytes::from_static(text.as_bytes())),
    ))
    .map(drop)
}

fn read(backend: &SharedBackend, at: &str) -> Option<Bytes> {
    now(backend.read(&path(at), Page::default()))
        .ok()
        .map(|read| read.content)
}

#[test]
fn each_graph_and_the_outside_have_their_own_files() {
    let (host, backend) = made();
    for (graph, text) in [(0, "outside"), (1, "one"), (2, "two")] {
        host.running.set(graph);
        write(&backend, "/a", text).expect("it is not there yet");
    }
    for (graph, text) in [(2, "two"), (0, "outside"), (1, "one")] {
        host.running.set(graph);
        assert_eq!(read(&backend, "/a").as_deref(), Some(text.as_bytes()));
    }
}

#[test]
fn every_change_in_a_graph_is_handed_to_it_and_none_that_failed() {
    let (host, backend) = made();
    write(&backend, "/outside", "x").expect("written");
    host.running.set(7);
    write(&backend, "/a", "one").expect("written");
    write(&backend, "/a", "again").expect_err("it is there");
    let edit = |old: &'static str| Edit {
        whole: false,
        old: Bytes::from_static(old.as_bytes()),
        new: Bytes::from_static(b"two"),
        replace_all: false,
        appends: false,
    };
    now(backend.edit(&path("/a"), &edit("one"))).expect("edited");
    now(backend.edit(&path("/a"), &edit("none"))).expect_err("it is not in there");
    let batch = vec![(path("/d/b"), Bytes::new()), (path("/d/c"), Bytes::new())];
    assert!(now(backend.upload(batch)).iter().all(Result::is_ok));
    now(backend.delete(&path("/d"), None)).expect("deleted");
    now(backend.delete(&path("/d"), None)).expect_err("it is gone");
    let told = host.changes.take();
    let stored = |at: &str| (7, Change::Stored, at.to_owned());
    let wanted = vec![
        stored("/a"),
        stored("/a"),
        stored("/d/b"),
        stored("/d/c"),
        (7, Change::Deleted, String::from("/d")),
    ];
    assert_eq!(told, wanted);
}

#[test]
fn a_change_that_the_state_does_not_take_is_an_error() {
    let (host, backend) = made();
    host.running.set(1);
    host.closed.set(true);
    write(&backend, "/a", "x").expect_err("closed");
    let answers = now(backend.upload(vec![(path("/b"), Bytes::new())]));
    assert!(answers.iter().all(Result::is_err));
}

#[test]
fn where_a_graph_keeps_no_files_no_operation_falls_back_to_its_own() {
    let (host, backend) = made();
    write(&backend, "/a", "own").expect("written");
    host.no_files.set(true);
    let at = path("/a");
    let root = VPath::root();
    now(backend.ls(&root)).expect_err("ls");
    now(backend.read(&at, Page::default())).expect_err("read");
    now(backend.read_raw(&at)).expect_err("readRaw");
    let glob = GlobQuery::new("*", root.clone());
    now(backend.glob(&glob)).expect_err("glob");
    write(&backend, "/b", "x").expect_err("write");
    now(backend.delete(&at, None)).expect_err("delete");
    assert!(
        now(backend.download(std::slice::from_ref(&at)))
            .iter()
            .all(Result::is_err)
    );
    assert!(
        now(backend.upload(vec![(at, Bytes::new())]))
            .iter()
            .all(Result::is_err)
    );
}

#[test]
fn it_behaves_like_any_backend_inside_a_graph_and_outside() {
    for graph in [0, 1] {
        let make = || {
            let (host, backend) = made();
            host.running.set(graph);
            backend
        };
        let report = now(crate::conformance::run(async || Ok(make())));
        assert_eq!(report.failures, Vec::<String>::new());
        assert!(report.passed >= 20, "{}", report.passed);
    }
}

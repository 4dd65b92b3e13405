//! Which files an operation uses, with a host that names the running graph.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::*;
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind};
use crate::core::testing::{now, path};
use crate::files::FilesOptions;
use crate::layer::composite::Composite;
use crate::layer::policy::{Limits, Policy, stack};
use crate::protocol::{Content, Edit, Page, SharedBackend};

/// A host with several graphs, one of which may be running.
#[derive(Default)]
struct Host {
    running: Cell<u32>,
    copies: RefCell<BTreeMap<u32, Rc<Files<Memory>>>>,
    changes: RefCell<Vec<(u32, Change, String)>>,
    no_files: Cell<bool>,
    closed: Cell<bool>,
}

fn memory() -> Files<Memory> {
    Files::new(Memory::default(), FilesOptions::default())
}

impl Graphs for Rc<Host> {
    fn current(&self) -> Result<Option<Copy>> {
        if self.no_files.get() {
            return Err(Error::new(Kind::Unavailable, "it keeps no files"));
        }
        let id = self.running.get();
        if id == 0 {
            return Ok(None);
        }
        let mut copies = self.copies.borrow_mut();
        let files = copies.entry(id).or_insert_with(|| Rc::new(memory()));
        let files = files.clone();
        Ok(Some(Copy { id, files }))
    }

    fn number(&self) -> u32 {
        self.running.get()
    }

    fn changed(&self, copy: u32, change: Change, paths: &[VPath]) -> Result<()> {
        if self.closed.get() {
            return Err(Error::new(Kind::Unavailable, "the state is closed"));
        }
        let told = paths
            .iter()
            .map(|path| (copy, change, path.as_str().to_owned()));
        self.changes.borrow_mut().extend(told);
        Ok(())
    }
}

fn made() -> (Rc<Host>, SharedBackend) {
    let host = Rc::new(Host::default());
    let backend = Rc::new(GraphState::new(memory(), host.clone()));
    (host, backend)
}

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
    let glob = GlobQuery {
        pattern: "*".into(),
        path: root.clone(),
    };
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
fn a_quota_counts_the_files_of_the_graph_that_writes() {
    let (host, bare) = made();
    let routed: SharedBackend = Rc::new(
        Composite::new(
            bare.clone(),
            vec![(path("/other"), Rc::new(memory()) as SharedBackend)],
        )
        .expect("a router"),
    );
    for inner in [bare, routed] {
        let limits = Limits {
            max_files: Some(2),
            ..Limits::default()
        };
        let policy = Policy {
            quota: Some(limits),
            ..Policy::default()
        };
        let backend = stack(inner, policy).expect("a policy");
        for at in ["/a", "/b"] {
            for graph in [1, 2, 0] {
                host.running.set(graph);
                write(&backend, at, "x").expect("there is room in this graph");
            }
        }
        for graph in [2, 0, 1] {
            host.running.set(graph);
            let refused = write(&backend, "/c", "x").expect_err("this graph is full");
            assert_eq!(refused.kind(), Kind::QuotaExceeded);
            for at in ["/a", "/b"] {
                now(backend.delete(&path(at), None)).expect("deleted");
            }
        }
    }
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

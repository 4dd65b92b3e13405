//! An in-memory Hub that keeps commits and refuses stale parents, and the results of changes on it.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::*;
use crate::core::testing::{block_on, path, waits};
use crate::files::{Files, FilesOptions};
use crate::protocol::{BackendExt, Content, Edit, Page};
use crate::storage::context_hub::hub::{Changes, Pulled};
use futures_util::future::join_all;
use std::cell::Cell;

#[derive(Default)]
struct Server {
    files: RefCell<BTreeMap<String, Bytes>>,
    commits: Cell<u32>,
    refused: Cell<u32>,
    broken: Cell<bool>,
}

struct Client(Rc<Server>);

impl Hub for Client {
    fn pull(&self) -> Pending<'_, Pulled> {
        Box::pin(async {
            timer::sleep(Duration::ZERO).await;
            let commits = self.0.commits.get();
            Ok(Pulled {
                files: self.0.files.borrow().clone().into_iter().collect(),
                links: vec![String::from("skills/other")],
                commit: (commits > 0).then(|| Rc::from(commits.to_string())),
            })
        })
    }

    fn push<'a>(
        &'a self,
        changes: &'a Changes,
        parent: Option<Rc<str>>,
    ) -> Pending<'a, Option<Rc<str>>> {
        Box::pin(async move {
            timer::sleep(Duration::ZERO).await;
            if self.0.broken.get() {
                return Err(Error::new(Kind::Unavailable, "The network is down"));
            }
            let commits = self.0.commits.get();
            let newest = (commits > 0).then(|| commits.to_string());
            if parent.as_deref() != newest.as_deref() {
                self.0.refused.set(self.0.refused.get() + 1);
                return Err(Error::new(Kind::Conflict, "stale parent"));
            }
            for (key, text) in changes {
                match text {
                    Some(text) => self.0.files.borrow_mut().insert(key.clone(), text.clone()),
                    None => self.0.files.borrow_mut().remove(key),
                };
            }
            self.0.commits.set(commits + 1);
            // Every third commit does not return its hash.
            let name = Rc::from((commits + 1).to_string());
            Ok((commits % 3 != 2).then_some(name))
        })
    }
}

fn client(server: &Rc<Server>) -> Files<ContextHub<Client>> {
    let hub = ContextHub::new(Client(server.clone()));
    Files::new(hub, FilesOptions::default())
}

fn text(text: &str) -> Content {
    Content::Text(Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn changes_made_together_are_one_commit() {
    let server = Rc::new(Server::default());
    let files = client(&server);
    let paths: Vec<VPath> = (0..20).map(|n| path(&format!("/{n}.md"))).collect();
    let answers = block_on(join_all(
        paths.iter().map(|path| files.write(path, text("hello"))),
    ));
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(server.commits.get(), 1);
    assert_eq!(server.files.borrow().len(), 20);
}

#[test]
fn two_creates_in_one_commit_have_one_winner() {
    let server = Rc::new(Server::default());
    let files = client(&server);
    let at = path("/a.md");
    let both = [files.write(&at, text("one")), files.write(&at, text("two"))];
    let answers = block_on(join_all(both));
    assert!(answers[0].is_ok());
    let refusal = answers[1].as_ref().expect_err("refused");
    assert_eq!(refusal.kind(), Kind::AlreadyExists);
    assert_eq!(server.files.borrow()["a.md"], "one");
}

#[test]
fn writers_that_meet_lose_nothing() {
    let server = Rc::new(Server::default());
    let clients: Vec<_> = (0..8).map(|_| client(&server)).collect();
    let at = path("/log.md");
    block_on(clients[0].write(&at, text("start\n"))).expect("written");
    let clients = &clients;
    let at = &at;
    let jobs = clients.iter().enumerate().map(async |(who, files)| {
        for edit in 0..12 {
            let edit = Edit {
                old: Bytes::from_static(b"start\n"),
                new: Bytes::from(format!("start\n{who}-{edit}\n")),
                replace_all: false,
                whole: false,
                appends: false,
            };
            files.edit(at, &edit).await.expect("edited");
        }
    });
    block_on(join_all(jobs));
    let log = server.files.borrow()["log.md"].clone();
    let lines = log.split(|byte| *byte == b'\n').count();
    assert_eq!(lines, 8 * 12 + 2);
    assert!(server.refused.get() > 0);
}

#[test]
fn a_failed_commit_is_an_error_and_the_next_call_pulls() {
    let server = Rc::new(Server::default());
    let files = client(&server);
    server.broken.set(true);
    assert!(block_on(files.write(&path("/a.md"), text("x"))).is_err());
    server.broken.set(false);
    let missing = block_on(files.read(&path("/a.md"), Page::default()));
    assert_eq!(missing.expect_err("not there").kind(), Kind::NotFound);
    block_on(files.write(&path("/a.md"), text("x"))).expect("written");
}

#[test]
fn what_is_no_text_or_linked_in_is_refused_alone() {
    let server = Rc::new(Server::default());
    let files = client(&server);
    let uploads = vec![
        (path("/a.md"), Bytes::from_static(b"fine")),
        (path("/b.bin"), Bytes::from_static(b"\xff\xfe")),
        (path("/skills/other/c.md"), Bytes::from_static(b"not ours")),
    ];
    let answers = block_on(files.upload(uploads));
    let kinds: Vec<Option<Kind>> = answers
        .iter()
        .map(|answer| answer.as_ref().err().map(Error::kind))
        .collect();
    let refused = [Some(Kind::InvalidPath), Some(Kind::PermissionDenied)];
    assert_eq!(kinds, [None, refused[0], refused[1]]);
    assert_eq!(server.commits.get(), 1);
}

#[test]
fn one_who_gives_up_takes_nothing_from_the_others() {
    let server = Rc::new(Server::default());
    let files = client(&server);
    let (first, second) = (path("/a.md"), path("/b.md"));
    let mut given_up = files.write(&first, text("x"));
    let mut kept = files.write(&second, text("y"));
    assert!(waits(&mut given_up));
    assert!(waits(&mut kept));
    drop(given_up);
    block_on(kept).expect("written");
    assert_eq!(server.files.borrow()["b.md"], "y");
}

#[test]
fn a_tree_that_is_removed_is_one_commit() {
    let server = Rc::new(Server::default());
    let files = client(&server);
    for name in ["/d/a.md", "/d/e/b.md", "/dd.md"] {
        block_on(files.write(&path(name), text("x"))).expect("written");
    }
    let before = server.commits.get();
    block_on(files.delete(&path("/d"), None)).expect("deleted");
    assert_eq!(server.commits.get(), before + 1);
    let left: Vec<String> = server.files.borrow().keys().cloned().collect();
    assert_eq!(left, ["dd.md"]);
}

//! Edits that are sent while the other side is listed, whenever that listing looks at the files.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::testing::path;
use crate::core::time::Time;
use crate::files::stepping::{ended, pause, stepping};
use crate::layer::sync::{Change, Changed, Pair, Side, Sync, SyncOptions, Synced};
use crate::layer::tests::memory;
use crate::protocol::{
    Answer, Atomic, Backend, BackendExt, Capability, Effect, EntryInfo, GlobQuery, Operation,
    Request, SharedBackend,
};
use crate::side::Room;

const HOUR: i64 = 3_600_000_000;

/// A tree whose files are an hour old, and whose listings take their time.
struct Slow {
    inner: SharedBackend,
    /// How long, before the files are looked at and after that.
    waits: Cell<(usize, usize)>,
    /// A file that listings lack.
    lacks: RefCell<Option<VPath>>,
    refuses: Cell<bool>,
    /// What was asked.
    asked: RefCell<Vec<&'static str>>,
}

impl Slow {
    async fn list(&self, query: &GlobQuery) -> crate::core::error::Result<Answer> {
        let (before, after) = self.waits.get();
        for _ in 0..before {
            pause().await;
        }
        let mut found = self.inner.glob(query).await?;
        for _ in 0..after {
            pause().await;
        }
        let lacks = self.lacks.borrow().clone();
        found
            .files
            .retain(|info| Some(&info.path) != lacks.as_ref());
        for info in &mut found.files {
            if let EntryInfo::File { modified, .. } = &mut info.entry {
                *modified = modified.map(|time| Time::from_micros(time.micros() - HOUR));
            }
        }
        self.asked.borrow_mut().push("listed");
        Ok(Answer::Glob(found))
    }
}

impl Backend for Slow {
    fn capability(&self) -> Capability {
        self.inner.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        if let Request::Glob(query) = request {
            return Box::pin(self.list(query));
        }
        let is_edit = request.operation() == Operation::Edit;
        if request.operation().effect() == Effect::Writes {
            self.asked
                .borrow_mut()
                .push(if is_edit { "edit" } else { "other" });
            if self.refuses.get() {
                let error = Error::new(Kind::PermissionDenied, "not here");
                return Box::pin(async { Err(error) });
            }
        }
        self.inner.call(request)
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.inner.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        self.inner.atomic()
    }
}

/// A tree that was synced with a slow one; both have `/a` and `/b`.
struct Trees {
    a: SharedBackend,
    b: Rc<Slow>,
    kept: SharedBackend,
}

fn now<T>(future: impl Future<Output = T>) -> T {
    ended(future).expect("it ends")
}

fn put(at: &dyn Backend, name: &str, text: &'static str) {
    now(at.store(&path(name), Bytes::from_static(text.as_bytes()))).expect("stored");
}

fn text(at: &dyn Backend, name: &str) -> String {
    let body = now(at.fetch(&path(name))).expect("read");
    String::from_utf8_lossy(&body).into_owned()
}

impl Trees {
    fn agreed() -> Trees {
        let trees = Trees {
            a: stepping(),
            b: Rc::new(Slow {
                inner: stepping(),
                waits: Cell::default(),
                lacks: RefCell::default(),
                refuses: Cell::default(),
                asked: RefCell::default(),
            }),
            kept: memory(),
        };
        put(&*trees.a, "/a", "1\n2\n3\n");
        put(&*trees.a, "/b", "b\n");
        trees.sync();
        // What was written by the run itself is known after the next one.
        trees.sync();
        trees.b.asked.borrow_mut().clear();
        trees
    }

    fn sync(&self) -> Synced {
        let dir = VPath::own("/.kitbag/sync").expect("a path");
        let room = Room::new(self.kept.clone(), dir, None);
        let options = SyncOptions {
            names: Pair {
                a: "one".into(),
                b: "two".into(),
            },
            ..SyncOptions::default()
        };
        let sync = Sync::new(self.a.clone(), self.b.clone(), room, options).expect("a sync");
        now(sync.run()).expect("synced")
    }

    /// Syncs with listings that take so long; what the slow side was asked.
    fn asked(&self, waits: (usize, usize)) -> (Synced, Vec<&'static str>) {
        self.b.waits.set(waits);
        let synced = self.sync();
        (synced, self.b.asked.take())
    }
}

fn replaced(name: &str) -> Change {
    Change {
        path: path(name),
        side: Side::B,
        what: Changed::Replaced,
    }
}

#[test]
fn an_edit_is_sent_while_the_other_side_is_listed_whenever_that_looks() {
    for waits in [(500, 0), (0, 500), (250, 250)] {
        let trees = Trees::agreed();
        put(&*trees.a, "/a", "1\n2\nmore\n");
        let (synced, asked) = trees.asked(waits);
        assert_eq!(asked, ["edit", "listed"], "{waits:?}");
        assert_eq!(synced.changed, [replaced("/a")], "{waits:?}");
        assert_eq!(synced.sent_bytes, 9);
        assert_eq!(text(&*trees.b, "/a"), "1\n2\nmore\n");
        let again = trees.sync();
        assert!(
            again.changed.is_empty() && again.refused.is_empty(),
            "{again:?}"
        );
        // What was sent is what later edits are merged over.
        put(&*trees.a, "/a", "one\n2\nmore\n");
        put(&*trees.b, "/a", "1\n2\nand more\n");
        let merged = trees.sync();
        assert!(merged.conflicts.is_empty(), "{merged:?}");
        assert_eq!(text(&*trees.a, "/a"), "one\n2\nand more\n");
    }
}

#[test]
fn what_the_other_side_holds_by_now_is_never_replaced() {
    let trees = Trees::agreed();
    put(&*trees.a, "/a", "1\n2\nours\n");
    put(&*trees.b, "/a", "theirs\n2\n3\n");
    let (synced, asked) = trees.asked((500, 0));
    assert_eq!(asked.first(), Some(&"other"), "it was tried");
    assert!(
        synced.refused.is_empty() && synced.conflicts.is_empty(),
        "{synced:?}"
    );
    assert_eq!(text(&*trees.a, "/a"), "theirs\n2\nours\n");
    assert_eq!(text(&*trees.b, "/a"), "theirs\n2\nours\n");
}

#[test]
fn a_listing_that_lacks_the_file_that_was_just_replaced_deletes_nothing() {
    let trees = Trees::agreed();
    put(&*trees.a, "/a", "more\n");
    trees.b.lacks.replace(Some(path("/a")));
    let (synced, _) = trees.asked((0, 500));
    assert_eq!(synced.changed, [replaced("/a")]);
    trees.b.lacks.replace(None);
    assert!(trees.sync().changed.is_empty());
    assert_eq!(text(&*trees.a, "/a"), "more\n");
}

#[test]
fn what_was_refused_early_is_not_asked_again() {
    let trees = Trees::agreed();
    put(&*trees.a, "/a", "more\n");
    trees.b.refuses.set(true);
    let (synced, asked) = trees.asked((500, 0));
    assert_eq!(asked.len(), 2, "{asked:?}");
    let refused: Vec<&str> = synced.refused.iter().map(|one| one.error.code()).collect();
    assert_eq!(refused, ["permission_denied"]);
    trees.b.refuses.set(false);
    assert_eq!(trees.sync().changed, [replaced("/a")]);
}

#[test]
fn new_files_and_many_edits_wait_for_the_listing() {
    let trees = Trees::agreed();
    let names: Vec<String> = (0..=super::EDITS).map(|at| format!("/f{at}")).collect();
    for text in ["first\n", "second\n"] {
        for name in &names {
            put(&*trees.a, name, text);
        }
        let (synced, asked) = trees.asked((500, 0));
        assert_eq!(asked.first(), Some(&"listed"), "{text}");
        assert_eq!(synced.changed.len(), names.len());
        trees.sync();
        trees.b.asked.take();
    }
}

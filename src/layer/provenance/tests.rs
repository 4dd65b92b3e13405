//! Calls that overlap or are broken off. Attempts to carry labelled content anywhere are made from
//! JavaScript, in `tests/provenance`.

use super::*;
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind};
use crate::core::future::done;
use crate::core::testing::{bytes, now, path, waits};
use crate::files::{Files, FilesOptions, WriteMode};
use crate::protocol::{Content, Transfer, WriteResult};
use crate::side::Room;
use crate::storage::memory::Memory;

/// What happens at a write: before it, instead of its answer, or it never ends.
type Event = Box<dyn Fn() -> Option<Pending<'static, WriteResult>>>;

/// Files whose next write does something else first.
struct Eventful {
    files: Files<Memory>,
    before: RefCell<Option<Event>>,
    after: RefCell<Option<Event>>,
}

impl Eventful {
    fn new() -> Rc<Eventful> {
        let options = FilesOptions {
            write_mode: WriteMode::Overwrite,
            ..FilesOptions::default()
        };
        let files = Files::new(Memory::default(), options);
        let there = ["/web/page", "/memories/a", "/project/a"];
        let there = there.map(|at| (path(at), bytes(at)));
        assert!(now(files.upload(there.to_vec())).iter().all(Result::is_ok));
        Rc::new(Eventful {
            files,
            before: RefCell::new(None),
            after: RefCell::new(None),
        })
    }

    async fn write_with_events(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        let before = self.before.borrow_mut().take();
        if let Some(answer) = before.and_then(|event| event()) {
            return answer.await;
        }
        let answer = self.files.write(path, content).await;
        let after = self.after.borrow_mut().take();
        match after.and_then(|event| event()) {
            Some(instead) => instead.await,
            None => answer,
        }
    }
}

impl Backend for Eventful {
    fn capability(&self) -> Capability {
        self.files.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Write(path, content) => {
                answer(self.write_with_events(path, content), Answer::Write)
            }
            request => self.files.call(request),
        }
    }
}

fn options(file: Option<SharedBackend>) -> Options {
    let patterns = |pattern| Patterns::parse([pattern]).expect("a pattern");
    Options {
        labels: vec![LabelRule {
            paths: patterns("/web/**"),
            label: "web".into(),
        }],
        flows: vec![Flow {
            from: "web".into(),
            to: patterns("/memories/**"),
            then: Then::Refuse,
        }],
        ask: None,
        file: file.map(|backend| LabelFile {
            room: Room::new(backend, VPath::root(), None),
            name: "labels.tsv".into(),
        }),
    }
}

/// A conversation that has read the page, and one that has read nothing.
fn conversations(inner: &Rc<Eventful>) -> (Rc<Provenance>, Rc<Provenance>) {
    let clean = Provenance::new(inner.clone(), options(None));
    let tainted = clean.conversation(Vec::new());
    now(tainted.read_raw(&path("/web/page"))).expect("read");
    (Rc::new(tainted), Rc::new(clean))
}

fn write(files: &Provenance, at: &str, text: &str) -> Result<()> {
    now(files.write(&path(at), Content::Raw(bytes(text), None))).map(drop)
}

fn labels(files: &Provenance, at: &str) -> usize {
    let labels = now(files.labels(&path(at))).expect("labels");
    labels.iter().len()
}

#[test]
fn what_is_broken_off_before_or_after_it_is_stored_keeps_its_label() {
    for before in [true, false] {
        let inner = Eventful::new();
        let (tainted, clean) = conversations(&inner);
        let forever: Event = Box::new(|| Some(Box::pin(std::future::pending())));
        match before {
            true => inner.before.replace(Some(forever)),
            false => inner.after.replace(Some(forever)),
        };
        let at = path("/project/a");
        let call = tainted.write(&at, Content::Raw(bytes("x"), None));
        assert!(waits(call), "it was dropped");
        assert_eq!(labels(&clean, "/project/a"), 1);
        // The lock is free again.
        write(&clean, "/project/a", "clean").expect("written");
        assert_eq!(labels(&clean, "/project/a"), 0);
    }
}

#[test]
fn a_lost_answer_keeps_the_label_and_a_refusal_does_not() {
    for (kind, expected) in [
        (Kind::Timeout, 1),
        (Kind::Unavailable, 1),
        (Kind::Internal, 1),
        (Kind::AlreadyExists, 0),
        (Kind::QuotaExceeded, 0),
    ] {
        let inner = Eventful::new();
        let (tainted, clean) = conversations(&inner);
        let fails: Event = Box::new(move || Some(done(Err(Error::new(kind, "no")))));
        inner.before.replace(Some(fails));
        assert!(write(&tainted, "/project/a", "x").is_err());
        assert_eq!(labels(&clean, "/project/a"), expected, "{kind:?}");
    }
}

#[test]
fn an_untainted_write_does_not_hide_a_tainted_one_that_lands_after_it() {
    // Two processes share the labels, so no lock is between them.
    let inner = Eventful::new();
    let keep: SharedBackend = Rc::new(Files::new(Memory::default(), FilesOptions::default()));
    let clean = Provenance::new(inner.clone(), options(Some(keep.clone())));
    let other = Rc::new(Provenance::new(inner.clone(), options(Some(keep))));
    now(other.read_raw(&path("/web/page"))).expect("read");
    write(&other, "/project/a", "first").expect("written");
    let racing = other.clone();
    let after: Event = Box::new(move || {
        write(&racing, "/project/a", "second").expect("written");
        None
    });
    inner.after.replace(Some(after));
    write(&clean, "/project/a", "clean").expect("written");
    assert_eq!(labels(&clean, "/project/a"), 1);
}

#[test]
fn a_label_that_another_process_forgets_during_a_write_is_recorded_again() {
    let inner = Eventful::new();
    let keep: SharedBackend = Rc::new(Files::new(Memory::default(), FilesOptions::default()));
    let clean = Rc::new(Provenance::new(inner.clone(), options(Some(keep.clone()))));
    let tainted = Provenance::new(inner.clone(), options(Some(keep)));
    now(tainted.read_raw(&path("/web/page"))).expect("read");
    let racing = clean.clone();
    let before: Event = Box::new(move || {
        now(racing.delete(&path("/project/a"), None)).expect("deleted");
        None
    });
    inner.before.replace(Some(before));
    write(&tainted, "/project/a", "x").expect("written");
    assert_eq!(labels(&clean, "/project/a"), 1);
}

#[test]
fn changes_of_two_conversations_take_turns() {
    let inner = Eventful::new();
    let (tainted, clean) = conversations(&inner);
    let racing = clean.clone();
    // A copy that began here would copy the new content with the old labels.
    let after: Event = Box::new(move || {
        let copy = Transfer {
            from: path("/project/a"),
            to: path("/project/b"),
            keeps: true,
            overwrite: false,
        };
        assert!(waits(racing.transfer(&copy)));
        None
    });
    inner.after.replace(Some(after));
    write(&tainted, "/project/a", "x").expect("written");
    let copied = now(inner.files.read_raw(&path("/project/b")));
    assert_eq!(copied.map_err(|error| error.kind()), Err(Kind::NotFound));
}

#[test]
fn a_page_that_is_replaced_while_it_is_read_taints_all_the_same() {
    let inner = Eventful::new();
    let (tainted, clean) = conversations(&inner);
    write(&tainted, "/project/a", "x").expect("written");
    let before = now(clean.load()).expect("loaded");
    // The page is shown here; then another conversation replaces the file.
    let other = clean.conversation(Vec::new());
    write(&other, "/project/a", "clean").expect("written");
    assert_eq!(labels(&clean, "/project/a"), 0);
    let after = now(clean.load()).expect("loaded");
    let at = path("/project/a");
    now(clean.observe(Operation::Read, &before, &after, &at, None));
    assert_eq!(clean.taint().seen().len(), 1);
}

/// Files that take all spellings of a name for one, as on Windows.
struct Folding(Rc<Eventful>);

impl Backend for Folding {
    fn capability(&self) -> Capability {
        Capability {
            names: crate::protocol::Names {
                case: true,
                ..crate::protocol::Names::default()
            },
            ..self.0.capability()
        }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        let lower = |at: &VPath| path(&at.as_str().to_lowercase());
        match request {
            Request::Download(paths) => {
                let paths: Vec<VPath> = paths.iter().map(lower).collect();
                Box::pin(async move { self.0.call(Request::Download(&paths)).await })
            }
            Request::Transfer(asked) => {
                let asked = Transfer {
                    from: lower(&asked.from),
                    to: lower(&asked.to),
                    ..asked.clone()
                };
                Box::pin(async move { self.0.call(Request::Transfer(&asked)).await })
            }
            request => match request.paths().first().map(lower) {
                Some(path) => Box::pin(async move { self.0.call(request.at(&path)).await }),
                None => self.0.call(request),
            },
        }
    }
}

#[test]
fn where_case_is_folded_labels_and_flows_know_every_spelling() {
    for spelling in ["/web/page", "/WEB/page", "/Web/PAGE"] {
        let inner: SharedBackend = Rc::new(Folding(Eventful::new()));
        let files = Provenance::new(inner, options(None));
        now(files.read_raw(&path(spelling))).expect("read");
        assert!(!files.taint().labels().is_empty(), "{spelling}");
        for to in ["/memories/a", "/MEMORIES/a", "/Memories/New"] {
            assert!(write(&files, to, "obey").is_err(), "{spelling} to {to}");
        }
        write(&files, "/project/A", "obey").expect("written");
        let clean = files.conversation(Vec::new());
        assert_eq!(labels(&clean, "/Project/a"), 1);
        now(clean.read_raw(&path("/PROJECT/a"))).expect("read");
        assert!(!clean.taint().labels().is_empty());
        // What a clean conversation writes under another spelling is clean under each.
        let clean = files.conversation(Vec::new());
        write(&clean, "/PROJECT/A", "fine").expect("written");
        assert_eq!(labels(&clean, "/project/a"), 0);
    }
}

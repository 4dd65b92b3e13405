//! Tests of the rules, a wrapper at a time, and of all of them together. The ways round them are
//! tried in `tests/bypass.rs`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, join_all};

use super::*;
use crate::backend::files::{Files, FilesOptions, WriteMode};
use crate::backend::state::Memory;
use crate::protocol::*;

fn memory() -> SharedBackend {
    Rc::new(Files::new(Memory::default(), FilesOptions::default()))
}

fn path(text: &str) -> VPath {
    VPath::parse(text).expect("a path")
}

fn now<T>(future: LocalBoxFuture<'_, T>) -> T {
    future.now_or_never().expect("memory answers at once")
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn with(files: &[(&str, &str)]) -> SharedBackend {
    let backend = memory();
    let batch = files.iter().map(|(at, text)| (path(at), bytes(text)));
    for answer in now(backend.upload(batch.collect())) {
        answer.expect("uploaded");
    }
    backend
}

fn write(backend: &SharedBackend, at: &str, text: &str) -> Result<()> {
    now(backend.write(&path(at), Content::Text(bytes(text)))).map(drop)
}

fn edit(backend: &SharedBackend, at: &str, old: &str, new: &str) -> Result<usize> {
    let edit = Edit {
        old: bytes(old),
        new: bytes(new),
        replace_all: false,
    };
    now(backend.edit(&path(at), &edit)).map(|edited| edited.occurrences)
}

fn read(backend: &SharedBackend, at: &str) -> Result<String> {
    let read = now(backend.read(&path(at), Page::default()))?;
    Ok(String::from_utf8_lossy(&read.content).into_owned())
}

fn ls(backend: &SharedBackend, at: &str) -> Result<Vec<String>> {
    let infos = now(backend.ls(&path(at)))?;
    Ok(infos.iter().map(FileInfo::shown_path).collect())
}

fn globbed(backend: &SharedBackend, pattern: &str, at: &str) -> Result<Vec<String>> {
    let query = GlobQuery {
        pattern: pattern.into(),
        path: path(at),
    };
    let mut found: Vec<String> = now(backend.glob(&query))?
        .files
        .iter()
        .map(FileInfo::shown_path)
        .collect();
    found.sort_unstable();
    Ok(found)
}

fn grepped(backend: &SharedBackend, query: &GrepQuery) -> Result<(Vec<String>, bool)> {
    let found = now(backend.grep(query))?;
    let paths = found.matches.iter().map(|m| m.path.as_str().to_owned());
    Ok((paths.collect(), found.truncated))
}

fn code<T: std::fmt::Debug>(answer: Result<T>) -> &'static str {
    answer.expect_err("refused").code()
}

fn rule(touches: &[Touch], mode: Mode, patterns: &[&str]) -> Rule {
    Rule::new(touches, mode, patterns.iter().copied()).expect("a rule")
}

const BOTH: &[Touch] = &[Touch::Read, Touch::Write];

fn permitted(inner: &SharedBackend, rules: Vec<Rule>, allow: bool) -> SharedBackend {
    let policy = Policy {
        permissions: Some(Rules::new(rules, allow)),
        ..Policy::default()
    };
    stack(inner.clone(), policy).expect("a policy")
}

/// Every rule there is, and none of them ever refuses.
pub(crate) fn allow_all(inner: SharedBackend) -> SharedBackend {
    let policy = Policy {
        read_only: false,
        deny_prefixes: vec![path("/never/written")],
        permissions: Some(Rules::new(
            vec![
                rule(BOTH, Mode::Deny, &["/never/**"]),
                rule(BOTH, Mode::Allow, &["/**"]),
            ],
            false,
        )),
        ask: None,
        rates: Rates::new([Rate {
            covers: Covers::Everything,
            operations: 1_000_000,
            per: Duration::from_secs(1),
        }]),
        inspect: Some(Rc::new(|_| Box::pin(async { Ok(Verdict::Pass) }))),
        quota: Some(Limits {
            max_bytes: Some(1 << 40),
            max_files: Some(1 << 40),
            max_file_bytes: None,
        }),
        one_at_a_time: None,
        audit: Some(Rc::new(|_| {})),
        hooks: Hooks {
            before: Some(Rc::new(|_| Box::pin(async { Ok(()) }))),
            after: Some(Rc::new(|_| Box::pin(async {}))),
        },
        allow_execute: false,
        seams: Seams::default(),
    };
    stack(inner, policy).expect("a policy")
}

#[test]
fn the_conformance_suite_passes_through_every_rule() {
    let run = |make: &dyn Fn() -> SharedBackend| {
        let report = crate::conformance::run(async || Ok(make()))
            .now_or_never()
            .expect("memory answers at once");
        assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
        assert!(report.passed >= 20, "{report:?}");
    };
    run(&|| allow_all(memory()));
    run(&|| stack(memory(), Policy::default()).expect("a policy"));
    run(&|| allow_all(crate::composite::tests::mounted_where_the_suite_writes()));
    run(&|| allow_all(allow_all(memory())));
}

#[test]
fn read_only_refuses_every_change_and_no_read() {
    let inner = with(&[("/a", "x")]);
    let policy = Policy {
        read_only: true,
        ..Policy::default()
    };
    let backend = stack(inner.clone(), policy).expect("a policy");
    assert_eq!(read(&backend, "/a").expect("read"), "x");
    assert_eq!(code(write(&backend, "/b", "x")), "permission_denied");
    assert_eq!(code(edit(&backend, "/a", "x", "y")), "permission_denied");
    assert_eq!(code(now(backend.delete(&path("/a")))), "permission_denied");
    let answers = now(backend.upload(vec![(path("/c"), Bytes::new())]));
    assert_eq!(
        code(answers.into_iter().next().expect("one")),
        "permission_denied"
    );
    assert!(!backend.capability().writable);
    assert_eq!(ls(&inner, "/").expect("listed"), ["/a"]);
}

#[test]
fn a_deny_prefix_is_whole_segments() {
    let backend = stack(
        memory(),
        Policy {
            deny_prefixes: vec![path("/a/")],
            ..Policy::default()
        },
    )
    .expect("a policy");
    assert_eq!(code(write(&backend, "/a/x", "x")), "permission_denied");
    assert_eq!(code(write(&backend, "/a", "x")), "permission_denied");
    write(&backend, "/ab", "x").expect("another directory");
    let answers = now(backend.upload(vec![
        (path("/a/x"), Bytes::new()),
        (path("/b"), Bytes::new()),
    ]));
    let ok: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(ok, [false, true]);
}

#[test]
fn what_may_not_be_read_does_not_show() {
    let inner = with(&[
        ("/pub/a.txt", "needle"),
        ("/pub/b.key", "needle"),
        ("/keys/only.key", "needle"),
        ("/secrets/x.txt", "needle"),
        ("/z.txt", "needle"),
    ]);
    let rules = vec![rule(
        &[Touch::Read],
        Mode::Deny,
        &["/secrets/**", "**/*.key"],
    )];
    let backend = permitted(&inner, rules, true);
    assert_eq!(ls(&backend, "/").expect("listed"), ["/pub/", "/z.txt"]);
    assert_eq!(ls(&backend, "/pub").expect("listed"), ["/pub/a.txt"]);
    assert_eq!(code(ls(&backend, "/secrets")), "permission_denied");
    assert_eq!(
        globbed(&backend, "**", "/").expect("found"),
        ["/pub/a.txt", "/z.txt"]
    );
    assert_eq!(
        globbed(&backend, "/secrets/*", "/pub").expect("found"),
        Vec::<String>::new()
    );
    let mut query = GrepQuery::literal("needle");
    for (cap, truncated) in [(0, true), (1, true), (2, false), (3, false)] {
        query.max_count = Some(cap);
        let shown = ["/pub/a.txt", "/z.txt"]
            .iter()
            .take(cap)
            .map(|s| (*s).to_owned());
        let wanted: Vec<String> = shown.collect();
        assert_eq!(
            grepped(&backend, &query).expect("found"),
            (wanted, truncated),
            "{cap}"
        );
    }
    let said = |at: &str| read(&backend, at).expect_err("denied").to_string();
    assert_eq!(
        said("/secrets/x.txt"),
        "Error: permission denied for read on /secrets/x.txt"
    );
    assert_eq!(
        said("/secrets/no.txt"),
        "Error: permission denied for read on /secrets/no.txt"
    );
    // Writing would tell whether it exists, editing what stands in it.
    assert_eq!(
        code(write(&backend, "/secrets/x.txt", "")),
        "permission_denied"
    );
    assert_eq!(
        code(write(&backend, "/secrets/no.txt", "")),
        "permission_denied"
    );
    assert_eq!(
        code(edit(&backend, "/secrets/x.txt", "needle", "")),
        "permission_denied"
    );
    assert_eq!(
        code(now(backend.delete(&path("/pub")))),
        "permission_denied"
    );
    let error = now(backend.delete(&path("/pub")))
        .expect_err("denied")
        .to_string();
    assert!(!error.contains("b.key"), "{error}");
    now(backend.delete(&path("/z.txt"))).expect("nothing is hidden there");
}

#[test]
fn the_first_rule_that_matches_wins_and_the_default_can_be_turned_round() {
    let inner = with(&[("/w/a/x", "1"), ("/w/b/x", "1"), ("/other", "1")]);
    let rules = vec![
        rule(BOTH, Mode::Allow, &["/w/a/**"]),
        rule(BOTH, Mode::Deny, &["/w/b/**"]),
    ];
    let open = permitted(&inner, rules.clone(), true);
    assert_eq!(
        globbed(&open, "**", "/").expect("found"),
        ["/other", "/w/a/x"]
    );
    let closed = permitted(&inner, rules, false);
    assert_eq!(globbed(&closed, "**", "/").expect("found"), ["/w/a/x"]);
    assert_eq!(ls(&closed, "/").expect("listed"), ["/w/"]);
    assert_eq!(ls(&closed, "/w").expect("listed"), ["/w/a/"]);
    assert_eq!(code(read(&closed, "/other")), "permission_denied");
    assert_eq!(code(ls(&closed, "/nowhere")), "permission_denied");
    write(&closed, "/w/a/y", "1").expect("allowed");
    assert_eq!(code(write(&closed, "/w/c", "1")), "permission_denied");
}

#[test]
fn patterns_that_would_protect_nothing_are_refused() {
    for bad in [
        "!/a",
        "/+(a|b)",
        "/a/@(b)",
        "/{1..3}",
        "/[[:alpha:]]",
        "/a/",
        "/../a",
        "/~/x",
        "",
        "[",
        "{a,",
    ] {
        assert!(Rule::new(BOTH, Mode::Deny, [bad]).is_err(), "{bad}");
    }
    for good in ["/", "/**", "**/*.key", "/a(b)", "/{a,b}/**", r"/\*", "a/**"] {
        assert!(Rule::new(BOTH, Mode::Deny, [good]).is_ok(), "{good}");
    }
}

fn asking(rules: Vec<Rule>, inner: &SharedBackend, on_ask: OnAsk) -> SharedBackend {
    let policy = Policy {
        permissions: Some(Rules::new(rules, true)),
        ask: Some(Asking {
            on_ask,
            timeout: Duration::from_secs(1),
        }),
        ..Policy::default()
    };
    stack(inner.clone(), policy).expect("a policy")
}

#[test]
fn somebody_is_asked_and_only_a_yes_is_a_yes() {
    let inner = with(&[("/p/a", "needle"), ("/p/b", "needle"), ("/q", "needle")]);
    type Asked = (&'static str, String, String);
    let asked: Rc<RefCell<Vec<Asked>>> = Rc::default();
    let log = asked.clone();
    let on_ask: OnAsk = Rc::new(move |question: Question| {
        let yes = question.path.as_str() != "/p/b";
        log.borrow_mut().push((
            question.operation,
            question.path.to_string(),
            question.preview,
        ));
        Box::pin(async move { Ok(yes) })
    });
    let backend = asking(vec![rule(BOTH, Mode::Ask, &["/p/*"])], &inner, on_ask);
    read(&backend, "/p/a").expect("allowed");
    assert_eq!(code(read(&backend, "/p/b")), "permission_denied");
    edit(&backend, "/p/a", "needle", "needles").expect("allowed");
    assert_eq!(
        code(now(backend.delete(&path("/p/b")))),
        "permission_denied"
    );
    let found = grepped(&backend, &GrepQuery::literal("needle")).expect("found");
    assert_eq!(found.0, ["/p/a", "/q"]);
    now(backend.delete(&path("/p"))).expect("one question for all");
    let asked = asked.borrow();
    let said: Vec<String> = asked
        .iter()
        .map(|(op, at, preview)| format!("{op} {at} {preview}"))
        .collect();
    assert_eq!(
        said,
        [
            "read /p/a ",
            "read /p/b ",
            "edit /p/a - needle\n+ needles",
            "delete /p/b /p/b\n",
            "grep /p/a ",
            "grep /p/b ",
            "delete /p /p/a\n/p/b\n"
        ]
    );
}

#[test]
fn silence_and_a_throw_are_a_no() {
    let inner = with(&[("/p", "x")]);
    let rules = || vec![rule(BOTH, Mode::Ask, &["/p"])];
    let silent = asking(
        rules(),
        &inner,
        Rc::new(|_| Box::pin(std::future::pending())),
    );
    let page = Page::default();
    let place = path("/p");
    let mut call = silent.read(&place, page);
    let error = loop {
        if let Some(answer) = (&mut call).now_or_never() {
            break answer.expect_err("nobody answered");
        }
    };
    assert!(
        error.to_string().contains("nobody answered in time"),
        "{error}"
    );
    let throwing = asking(
        rules(),
        &inner,
        Rc::new(|_| Box::pin(async { Err(Error::internal("thrown")) })),
    );
    assert_eq!(code(read(&throwing, "/p")), "permission_denied");
    let missing = stack(
        inner,
        Policy {
            permissions: Some(Rules::new(rules(), true)),
            ..Policy::default()
        },
    );
    assert_eq!(missing.err().map(|e| e.code()), Some("invalid_argument"));
}

fn clocked() -> (Rc<Cell<i64>>, Seams) {
    let clock = Rc::new(Cell::new(1_000_000));
    let hand = clock.clone();
    let seams = Seams {
        now: Rc::new(move || Time::from_micros(hand.get() * 1000)),
        ..Seams::default()
    };
    (clock, seams)
}

#[test]
fn a_rate_is_a_sliding_window_and_says_when_to_come_again() {
    let (clock, seams) = clocked();
    let rate = |covers, operations| Rate {
        covers,
        operations,
        per: Duration::from_millis(1000),
    };
    let policy = Policy {
        rates: Rates::new([
            rate(Covers::Everything, 5),
            rate(Covers::Writes, 2),
            rate(Covers::Only("edit"), 1),
        ]),
        seams,
        ..Policy::default()
    };
    let backend = stack(with(&[("/a", "x")]), policy).expect("a policy");
    write(&backend, "/b", "x").expect("first");
    clock.set(clock.get() + 400);
    edit(&backend, "/a", "x", "y").expect("second");
    let error = write(&backend, "/c", "x").expect_err("third write");
    assert_eq!(error.code(), "rate_limited");
    assert_eq!(error.wait(), Some(Duration::from_millis(600)));
    for _ in 0..3 {
        read(&backend, "/a").expect("reads are left");
    }
    assert_eq!(code(read(&backend, "/a")), "rate_limited");
    clock.set(clock.get() + 600);
    write(&backend, "/c", "x").expect("the first one is past");
    assert_eq!(code(write(&backend, "/d", "x")), "rate_limited");
    clock.set(clock.get() - 1_000_000);
    assert_eq!(code(write(&backend, "/d", "x")), "rate_limited");
    clock.set(clock.get() + 1000);
    let batch = ["/d", "/e", "/f"].map(|at| (path(at), Bytes::new()));
    let stored: Vec<bool> = now(backend.upload(batch.to_vec()))
        .iter()
        .map(Result::is_ok)
        .collect();
    assert_eq!(stored, [true, true, false]);
}

#[test]
fn an_inspector_sees_what_would_be_stored_and_may_refuse_or_replace_it() {
    let inner = with(&[("/a.txt", "se")]);
    let policy = Policy {
        inspect: Some(Rc::new(|seen: Inspected| {
            let text = String::from_utf8_lossy(&seen.content).into_owned();
            Box::pin(async move {
                if text.contains("secret") {
                    return Ok(Verdict::Deny("it holds a secret".into()));
                }
                if text == "throw" {
                    return Err(Error::internal("thrown"));
                }
                Ok(match text.strip_prefix("upper ") {
                    Some(rest) => Verdict::Replace(Content::Text(bytes(&rest.to_uppercase()))),
                    None => Verdict::Pass,
                })
            })
        })),
        ..Policy::default()
    };
    let backend = stack(inner.clone(), policy).expect("a policy");
    edit(&backend, "/a.txt", "se", "secre").expect("harmless");
    assert_eq!(
        code(edit(&backend, "/a.txt", "re", "ret")),
        "permission_denied"
    );
    assert_eq!(read(&inner, "/a.txt").expect("read"), "secre");
    assert_eq!(
        code(write(&backend, "/b.png", "c2VjcmV0")),
        "permission_denied"
    );
    assert_eq!(code(write(&backend, "/b", "throw")), "permission_denied");
    write(&backend, "/c", "upper hello").expect("written");
    assert_eq!(read(&inner, "/c").expect("read"), "HELLO");
    assert_eq!(
        edit(&backend, "/c", "HELLO", "upper x\nHELLO").expect("replaced"),
        1
    );
    assert_eq!(read(&inner, "/c").expect("read"), "X\nHELLO");
    assert_eq!(code(edit(&backend, "/c", "no", "x")), "no_match");
    assert_eq!(code(edit(&backend, "/none", "no", "x")), "not_found");
    let answers = now(backend.upload(vec![
        (path("/s"), bytes("a secret")),
        (path("/t"), bytes("upper t")),
    ]));
    assert_eq!(
        answers.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(read(&inner, "/t").expect("read"), "T");
}

fn limited(
    inner: SharedBackend,
    max_bytes: u64,
    max_files: u64,
    max_file_bytes: u64,
) -> SharedBackend {
    let limits = Limits {
        max_bytes: Some(max_bytes),
        max_files: Some(max_files),
        max_file_bytes: Some(max_file_bytes),
    };
    stack(
        inner,
        Policy {
            quota: Some(limits),
            ..Policy::default()
        },
    )
    .expect("a policy")
}

#[test]
fn a_quota_counts_writes_edits_uploads_and_deletes() {
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    let inner: SharedBackend = Rc::new(Files::new(Memory::default(), options));
    write(&inner, "/old", "1234").expect("before the quota");
    let backend = limited(inner, 10, 3, 8);
    assert_eq!(code(write(&backend, "/a", "1234567")), "quota_exceeded");
    assert_eq!(code(write(&backend, "/old", "123456789")), "quota_exceeded");
    write(&backend, "/a", "123456").expect("10 of 10");
    assert_eq!(code(write(&backend, "/b", "1")), "quota_exceeded");
    write(&backend, "/b", "").expect("an empty one");
    assert_eq!(code(write(&backend, "/c", "")), "quota_exceeded");
    assert_eq!(code(edit(&backend, "/a", "6", "67")), "quota_exceeded");
    edit(&backend, "/a", "56", "").expect("shrinks");
    edit(&backend, "/old", "4", "456").expect("10 of 10 again");
    now(backend.delete(&path("/b"))).expect("deleted");
    let batch = vec![
        (path("/a"), bytes("12")),
        (path("/a"), bytes("123")),
        (path("/a"), bytes("12345")),
        (path("/d"), Bytes::new()),
    ];
    let stored: Vec<bool> = now(backend.upload(batch))
        .iter()
        .map(Result::is_ok)
        .collect();
    assert_eq!(stored, [true, true, false, true]);
    write(&backend, "/a", "1234").expect("10 of 10 once more");
    assert_eq!(code(write(&backend, "/a", "12345")), "quota_exceeded");
    now(backend.delete(&VPath::root())).expect("all");
    write(&backend, "/x/a", "12345678").expect("all is free");
    now(backend.delete(&path("/x"))).expect("a directory");
    write(&backend, "/a", "12345678").expect("free again");
    assert_eq!(
        code(write(&backend, "/img.png", "YWFhYWFhYWFh")),
        "quota_exceeded"
    );
    write(&backend, "/img.png", "YWE=").expect("two bytes, not four");
}

#[test]
fn a_burst_of_writes_cannot_pass_a_quota_together() {
    let backend = limited(Rc::new(Slow(memory())), 50, 7, 100);
    let mut writes = (0..20)
        .map(|n| {
            let backend = backend.clone();
            async move {
                let place = path(&format!("/f{n}"));
                backend
                    .write(&place, Content::Text(bytes("1234567890")))
                    .await
                    .is_ok()
            }
        })
        .collect::<Vec<_>>();
    writes.reverse();
    let mut all = Box::pin(join_all(writes));
    let answers = loop {
        if let Some(answers) = (&mut all).now_or_never() {
            break answers;
        }
    };
    assert_eq!(answers.iter().filter(|stored| **stored).count(), 5);
}

#[test]
fn clones_of_a_policy_count_together_whatever_they_are_put_round() {
    let rate = Rate {
        covers: Covers::Everything,
        operations: 3,
        per: Duration::from_secs(3600),
    };
    let policy = Policy {
        rates: Rates::new([rate]),
        ..Policy::default()
    };
    let answers: Vec<bool> = (0..5)
        .map(|n| {
            let backend = stack(memory(), policy.clone()).expect("a policy");
            write(&backend, &format!("/f{n}"), "x").is_ok()
        })
        .collect();
    assert_eq!(answers, [true, true, true, false, false]);
}

#[test]
fn a_burst_over_several_views_of_the_same_files_cannot_pass_a_quota_together() {
    let stored = |one_at_a_time: Option<OneAtATime>| {
        let files: SharedBackend = Rc::new(Slow(memory()));
        let policy = Policy {
            quota: Some(Limits {
                max_bytes: Some(50),
                ..Limits::default()
            }),
            one_at_a_time,
            ..Policy::default()
        };
        let writes = (0..20).map(|n| {
            let view = stack(files.clone(), policy.clone()).expect("a policy");
            async move {
                let place = path(&format!("/f{n}"));
                let content = Content::Text(bytes("1234567890"));
                view.write(&place, content).await.is_ok()
            }
        });
        let mut all = Box::pin(join_all(writes));
        let answers = loop {
            if let Some(answers) = (&mut all).now_or_never() {
                break answers;
            }
        };
        answers.iter().filter(|stored| **stored).count()
    };
    assert_eq!(stored(Some(OneAtATime::default())), 5);
    // Without turns each is judged before any is stored: what the turns are for.
    assert_eq!(stored(None), 20);
}

/// Answers changes a few polls later.
struct Slow(SharedBackend);

async fn later() {
    for _ in 0..3 {
        crate::env::timer::sleep(Duration::ZERO).await;
    }
}

impl Backend for Slow {
    fn capability(&self) -> Capability {
        self.0.capability()
    }
    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        self.0.ls(path)
    }
    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        self.0.read(path, page)
    }
    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        self.0.read_raw(path)
    }
    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        self.0.grep(query)
    }
    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move {
            later().await;
            self.0.glob(query).await
        })
    }
    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            later().await;
            self.0.write(path, content).await
        })
    }
    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            later().await;
            self.0.edit(path, edit).await
        })
    }
    fn delete<'a>(&'a self, path: &'a VPath) -> Pending<'a, DeleteResult> {
        self.0.delete(path)
    }
    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        self.0.upload(files)
    }
    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        self.0.download(paths)
    }
    fn shell(&self) -> Option<&dyn Shell> {
        Some(self)
    }
}

impl Shell for Slow {
    fn id(&self) -> Rc<str> {
        Rc::from("slow")
    }
    fn execute<'a>(&'a self, command: &'a str, _: ExecuteOptions) -> Pending<'a, ExecuteResult> {
        let output = command.to_owned();
        crate::storage::done(Ok(ExecuteResult {
            output,
            exit_code: Some(0),
            truncated: false,
        }))
    }
}

#[test]
fn a_write_given_up_half_way_leaves_the_quota_right() {
    let backend = limited(Rc::new(Slow(memory())), 10, 9, 10);
    let place = path("/a");
    let mut call = backend.write(&place, Content::Text(bytes("1234567890")));
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    let place = path("/b");
    let mut again = backend.write(&place, Content::Text(bytes("1234567890")));
    let answer = loop {
        if let Some(answer) = (&mut again).now_or_never() {
            break answer;
        }
    };
    answer.expect("the room of the first was given back");
}

#[test]
fn a_shell_is_refused_where_a_rule_is_about_files() {
    let shelled = || -> SharedBackend { Rc::new(Slow(memory())) };
    let run = |policy: Policy| {
        let backend = stack(shelled(), policy).expect("a policy");
        let shell = backend.shell().expect("the property stays");
        assert_eq!(&*shell.id(), "slow");
        let answer = now(shell.execute("rm -rf /", ExecuteOptions::default()));
        answer.map(|ran| ran.output).map_err(|error| error.code())
    };
    let rules = || Some(Rules::new(vec![rule(BOTH, Mode::Deny, &["/a"])], true));
    let inspect: OnInspect = Rc::new(|_| Box::pin(async { Ok(Verdict::Pass) }));
    let refusing = [
        Policy {
            read_only: true,
            ..Policy::default()
        },
        Policy {
            deny_prefixes: vec![path("/a")],
            ..Policy::default()
        },
        Policy {
            permissions: rules(),
            ..Policy::default()
        },
        Policy {
            quota: Some(Limits::default()),
            ..Policy::default()
        },
        Policy {
            inspect: Some(inspect),
            ..Policy::default()
        },
    ];
    for policy in refusing {
        assert_eq!(run(policy.clone()), Err("permission_denied"));
        assert!(
            run(Policy {
                allow_execute: true,
                ..policy
            })
            .is_ok()
        );
    }
    assert!(
        run(Policy {
            audit: Some(Rc::new(|_| {})),
            ..Policy::default()
        })
        .is_ok()
    );
    let rate = Rate {
        covers: Covers::Only("execute"),
        operations: 0,
        per: Duration::from_secs(1),
    };
    assert_eq!(
        run(Policy {
            rates: Rates::new([rate]),
            ..Policy::default()
        }),
        Err("rate_limited")
    );
}

#[test]
fn every_operation_leaves_one_record_also_when_it_is_refused() {
    let (_, seams) = clocked();
    let records: Rc<RefCell<Vec<Record>>> = Rc::default();
    let log = records.clone();
    let told: Rc<Cell<usize>> = Rc::default();
    let count = told.clone();
    let policy = Policy {
        deny_prefixes: vec![path("/secrets")],
        audit: Some(Rc::new(move |record| log.borrow_mut().push(record.clone()))),
        hooks: Hooks {
            before: Some(Rc::new(|call: Call| {
                Box::pin(async move {
                    if call
                        .paths
                        .first()
                        .is_some_and(|at| at.as_str() == "/hooked")
                    {
                        return Err(Error::new(Kind::PermissionDenied, "The hook says no"));
                    }
                    Ok(())
                })
            })),
            after: Some(Rc::new(move |_| {
                count.set(count.get() + 1);
                Box::pin(async {})
            })),
        },
        seams,
        ..Policy::default()
    };
    let backend = stack(memory(), policy).expect("a policy");
    write(&backend, "/a", "hello").expect("written");
    let _ = write(&backend, "/secrets/a", "TOP");
    let _ = read(&backend, "/none");
    let _ = read(&backend, "/hooked");
    let _ = edit(&backend, "/a", "hello", "bye");
    let _ = grepped(&backend, &GrepQuery::literal("bye"));
    let _ = globbed(&backend, "**", "/");
    let _ = ls(&backend, "/");
    let _ = now(backend.upload(vec![
        (path("/u"), bytes("123")),
        (path("/secrets/u"), bytes("4")),
    ]));
    let _ = now(backend.download(&[path("/u"), path("/u")]));
    let _ = now(backend.read_raw(&path("/u")));
    let _ = now(backend.delete(&path("/u")));
    let shown: Vec<String> = records
        .borrow()
        .iter()
        .map(|r| {
            format!(
                "{} {} {} {}",
                r.operation,
                r.path.as_ref().map_or("", |p| p.as_str()),
                r.bytes,
                r.code
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "write /a 5 ok",
            "write /secrets/a 0 permission_denied",
            "read /none 0 not_found",
            "read /hooked 0 permission_denied",
            "edit /a 3 ok",
            "grep / 3 ok",
            "glob / 0 ok",
            "ls / 0 ok",
            "uploadFiles /u 3 permission_denied",
            "downloadFiles /u 6 ok",
            "readRaw /u 3 ok",
            "delete /u 0 ok",
        ]
    );
    assert_eq!(told.get(), shown.len());
}

//! `move`, `copy` and `append` under rules: both paths are judged, and what is hidden goes nowhere.

use super::*;
use crate::core::cell::RefCell;

fn asked(from: &str, to: &str, keeps: bool) -> Transfer {
    Transfer {
        from: path(from),
        to: path(to),
        keeps,
        overwrite: false,
    }
}

fn moved(backend: &SharedBackend, from: &str, to: &str) -> Result<()> {
    now(backend.transfer(&asked(from, to, false))).map(drop)
}

fn copied(backend: &SharedBackend, from: &str, to: &str) -> Result<()> {
    now(backend.transfer(&asked(from, to, true))).map(drop)
}

fn append(backend: &SharedBackend, at: &str, text: &str) -> Result<()> {
    let edit = Edit {
        old: Bytes::new(),
        new: bytes(text),
        replace_all: false,
        whole: false,
        appends: true,
    };
    now(backend.edit(&path(at), &edit)).map(drop)
}

fn files() -> SharedBackend {
    with(&[
        ("/pub/a.txt", "a"),
        ("/pub/d/b.txt", "b"),
        ("/pub/d/key.pem", "secret"),
        ("/secret/s.txt", "secret"),
        ("/fixed/f.txt", "f"),
    ])
}

fn guarded(inner: SharedBackend) -> SharedBackend {
    let policy = Policy {
        permissions: Some(Rules::new(
            vec![
                rule(BOTH, Mode::Deny, &["/secret/**", "/**/*.pem"]),
                rule(&[Touch::Write], Mode::Deny, &["/fixed/**"]),
            ],
            true,
        )),
        ..Policy::default()
    };
    stack(inner, policy).expect("a policy")
}

#[test]
fn what_is_hidden_is_neither_moved_nor_copied() {
    let inner = files();
    let backend = guarded(inner.clone());
    for go in [moved, copied] {
        assert_eq!(
            code(go(&backend, "/secret/s.txt", "/pub/s.txt")),
            "permission_denied"
        );
        assert_eq!(code(go(&backend, "/secret", "/pub/s")), "permission_denied");
        assert_eq!(
            code(go(&backend, "/pub/d/key.pem", "/pub/k.txt")),
            "permission_denied"
        );
        // A directory with a hidden file, by glob.
        assert_eq!(code(go(&backend, "/pub/d", "/pub/e")), "permission_denied");
        // The same refusal, whether the hidden file exists or not.
        assert_eq!(
            code(go(&backend, "/secret/none.txt", "/pub/s.txt")),
            "permission_denied"
        );
    }
    let said = moved(&backend, "/pub/d", "/pub/e")
        .expect_err("hidden")
        .to_string();
    assert!(!said.contains("key.pem"), "{said}");
    assert_eq!(globbed(&inner, "**", "/").expect("listed").len(), 5);
}

#[test]
fn nothing_goes_where_writing_is_denied() {
    let inner = files();
    let backend = guarded(inner.clone());
    for go in [moved, copied] {
        assert_eq!(
            code(go(&backend, "/pub/a.txt", "/secret/a.txt")),
            "permission_denied"
        );
        assert_eq!(
            code(go(&backend, "/pub/a.txt", "/fixed/a.txt")),
            "permission_denied"
        );
        assert_eq!(
            code(go(&backend, "/pub/a.txt", "/pub/a.pem")),
            "permission_denied"
        );
    }
    // A copy only reads its source; a move deletes it.
    assert_eq!(
        code(moved(&backend, "/fixed/f.txt", "/pub/f.txt")),
        "permission_denied"
    );
    copied(&backend, "/fixed/f.txt", "/pub/f.txt").expect("a copy");
    moved(&backend, "/pub/f.txt", "/pub/g/f.txt").expect("a move");
    assert_eq!(read(&backend, "/pub/g/f.txt").expect("read"), "f");
    assert_eq!(
        code(append(&backend, "/fixed/f.txt", "x")),
        "permission_denied"
    );
    assert_eq!(
        code(append(&backend, "/secret/s.txt", "x")),
        "permission_denied"
    );
}

#[test]
fn a_hidden_file_at_the_new_path_does_not_show() {
    let inner = with(&[("/a.txt", "a"), ("/x/key.pem", "secret"), ("/y", "y")]);
    let backend = guarded(inner);
    assert_eq!(
        code(copied(&backend, "/a.txt", "/x/key.pem")),
        "permission_denied"
    );
    assert_eq!(code(copied(&backend, "/a.txt", "/x")), "permission_denied");
}

#[test]
fn read_only_refuses_moves_copies_and_appends() {
    let policy = Policy {
        read_only: true,
        ..Policy::default()
    };
    let backend = stack(files(), policy).expect("a policy");
    assert_eq!(
        code(moved(&backend, "/pub/a.txt", "/pub/b.txt")),
        "permission_denied"
    );
    assert_eq!(
        code(copied(&backend, "/pub/a.txt", "/pub/b.txt")),
        "permission_denied"
    );
    assert_eq!(
        code(append(&backend, "/pub/a.txt", "b")),
        "permission_denied"
    );
}

#[test]
fn a_read_only_prefix_is_neither_source_nor_target_of_a_move() {
    let policy = Policy {
        deny_prefixes: vec![path("/fixed"), path("/pub/d/locked")],
        ..Policy::default()
    };
    let backend = stack(
        with(&[
            ("/fixed/f.txt", "f"),
            ("/pub/d/locked/l.txt", "l"),
            ("/x/locked/n.txt", "n"),
        ]),
        policy,
    )
    .expect("a policy");
    assert_eq!(
        code(moved(&backend, "/fixed/f.txt", "/f.txt")),
        "permission_denied"
    );
    assert_eq!(code(moved(&backend, "/fixed", "/f")), "permission_denied");
    assert_eq!(
        code(copied(&backend, "/x/locked/n.txt", "/fixed/n.txt")),
        "permission_denied"
    );
    // A directory above a protected one.
    assert_eq!(code(moved(&backend, "/pub", "/other")), "permission_denied");
    assert_eq!(
        code(append(&backend, "/fixed/f.txt", "x")),
        "permission_denied"
    );
    copied(&backend, "/fixed/f.txt", "/f.txt").expect("a copy out of it");
    now(backend.delete(&path("/f.txt"), None)).expect("deleted");
}

#[test]
fn a_directory_is_not_moved_into_the_place_of_a_protected_one() {
    let policy = Policy {
        deny_prefixes: vec![path("/new/locked")],
        ..Policy::default()
    };
    let backend = stack(with(&[("/x/locked/n.txt", "n")]), policy).expect("a policy");
    for go in [moved, copied] {
        assert_eq!(code(go(&backend, "/x", "/new")), "permission_denied");
    }
    moved(&backend, "/x", "/else").expect("another place");
}

#[test]
fn approval_is_asked_once_and_names_both_paths() {
    let questions = Rc::new(RefCell::new(Vec::new()));
    let seen = questions.clone();
    let policy = Policy {
        permissions: Some(Rules::new(
            vec![rule(&[Touch::Write], Mode::Ask, &["/ask/**"])],
            true,
        )),
        ask: Some(Asking {
            on_ask: Rc::new(move |question| {
                let yes = question.operation != "copy";
                seen.borrow_mut().push(question);
                Box::pin(async move { Ok(yes) })
            }),
            timeout: Duration::from_secs(60),
        }),
        seams: Seams {
            sleep: Rc::new(|_| Box::pin(std::future::pending())),
            ..Seams::default()
        },
        ..Policy::default()
    };
    let backend = stack(
        with(&[("/d/a.txt", "a"), ("/d/b.txt", "b"), ("/ask/c.txt", "c")]),
        policy,
    )
    .expect("a policy");
    moved(&backend, "/d", "/ask/d").expect("approved");
    moved(&backend, "/ask/c.txt", "/c.txt").expect("approved");
    assert_eq!(
        code(copied(&backend, "/c.txt", "/ask/c.txt")),
        "permission_denied"
    );
    append(&backend, "/ask/d/a.txt", "more").expect("approved");
    moved(&backend, "/c.txt", "/e.txt").expect("nothing to ask");
    let asked: Vec<(&str, String)> = questions
        .borrow()
        .iter()
        .map(|one| (one.operation, one.preview.clone()))
        .collect();
    assert_eq!(
        asked,
        [
            (
                "move",
                "/d/a.txt -> /ask/d/a.txt\n/d/b.txt -> /ask/d/b.txt\n".into()
            ),
            ("move", "/ask/c.txt -> /c.txt\n".into()),
            ("copy", "/c.txt -> /ask/c.txt\n".into()),
            ("append", "more".into()),
        ]
    );
}

#[test]
fn copies_and_appends_take_quota_and_moves_take_none() {
    let policy = Policy {
        quota: Some(Limits {
            max_bytes: Some(10),
            max_files: Some(3),
            max_file_bytes: Some(6),
        }),
        ..Policy::default()
    };
    let backend =
        stack(with(&[("/d/a.txt", "1234"), ("/d/b.txt", "12")]), policy).expect("a policy");
    moved(&backend, "/d", "/e").expect("no room needed");
    assert_eq!(code(copied(&backend, "/e", "/f")), "quota_exceeded");
    copied(&backend, "/e/a.txt", "/g.txt")
        .or_else(|_| copied(&backend, "/e/a.txt", "/h.txt"))
        .expect_err("three files and ten bytes are full");
    now(backend.delete(&path("/f"), None)).expect("the part that was copied");
    append(&backend, "/e/b.txt", "3456").expect("six bytes");
    assert_eq!(code(append(&backend, "/e/b.txt", "7")), "quota_exceeded");
    assert_eq!(
        code(copied(&backend, "/e/a.txt", "/g.txt")),
        "quota_exceeded"
    );
    now(backend.delete(&path("/e/b.txt"), None)).expect("deleted");
    copied(&backend, "/e/a.txt", "/g.txt").expect("eight bytes");
    moved(&backend, "/e/a.txt", "/z.txt").expect("moved while it is nearly full");
}

#[test]
fn content_is_inspected_at_its_new_path() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = seen.clone();
    let policy = Policy {
        inspect: Some(Rc::new(move |one: Inspected| {
            let text = String::from_utf8_lossy(&one.content).into_owned();
            log.borrow_mut()
                .push((one.operation, one.path.as_str().to_owned(), text.clone()));
            Box::pin(async move {
                Ok(
                    match text.contains("secret") && one.path.as_str().starts_with("/out/") {
                        true => Verdict::Deny("it holds a secret".into()),
                        false => Verdict::Pass,
                    },
                )
            })
        })),
        ..Policy::default()
    };
    let inner = with(&[
        ("/a.txt", "plain"),
        ("/s.txt", "se"),
        ("/out/log.txt", "sec"),
    ]);
    let backend = stack(inner.clone(), policy).expect("a policy");
    moved(&backend, "/a.txt", "/out/a.txt").expect("plain");
    append(&backend, "/s.txt", "cret").expect("not in /out");
    assert_eq!(
        code(moved(&backend, "/s.txt", "/out/s.txt")),
        "permission_denied"
    );
    assert_eq!(
        code(copied(&backend, "/s.txt", "/out/s.txt")),
        "permission_denied"
    );
    // Harmless pieces are not combined into a refused text.
    assert_eq!(
        code(append(&backend, "/out/log.txt", "ret")),
        "permission_denied"
    );
    assert_eq!(read(&inner, "/s.txt").expect("read"), "secret");
    assert_eq!(
        seen.borrow().first().cloned(),
        Some(("move", "/out/a.txt".into(), "plain".into()))
    );
    assert_eq!(
        seen.borrow().iter().filter(|one| one.0 == "append").count(),
        2
    );
}

#[test]
fn records_rates_and_hooks_have_the_operation_and_both_paths() {
    let records = Rc::new(RefCell::new(Vec::new()));
    let log = records.clone();
    let policy = Policy {
        rates: Rates::new([Rate {
            covers: Covers::Only(Operation::Move),
            operations: 1,
            per: Duration::from_secs(60),
        }]),
        audit: Some(Rc::new(move |record: &Record| {
            let paths: Vec<String> = record.paths.iter().map(VPath::to_string).collect();
            log.borrow_mut().push(format!(
                "{} {} {}",
                record.operation,
                paths.join(" "),
                record.code
            ));
        })),
        ..Policy::default()
    };
    let backend = stack(with(&[("/a.txt", "a")]), policy).expect("a policy");
    copied(&backend, "/a.txt", "/b.txt").expect("copied");
    moved(&backend, "/a.txt", "/c.txt").expect("moved");
    assert_eq!(code(moved(&backend, "/b.txt", "/d.txt")), "rate_limited");
    append(&backend, "/b.txt", "b").expect("appended");
    assert_eq!(
        *records.borrow(),
        [
            "copy /a.txt /b.txt ok",
            "move /a.txt /c.txt ok",
            "move /b.txt /d.txt rate_limited",
            "append  ok",
        ]
    );
}

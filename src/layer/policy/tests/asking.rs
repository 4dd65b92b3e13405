//! The approval callback: only `true` is an approval.

use super::*;

use crate::core::cell::RefCell;

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
        code(now(backend.delete(&path("/p/b"), None))),
        "permission_denied"
    );
    let found = grepped(&backend, &GrepQuery::literal("needle")).expect("found");
    assert_eq!(found.0, ["/p/a", "/q"]);
    now(backend.delete(&path("/p"), None)).expect("one question for all");
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
fn a_rule_for_reads_asks_before_each_change_too() {
    let no: OnAsk = Rc::new(|_| Box::pin(async { Ok(false) }));
    let inner = with(&[("/s/a", "1"), ("/t", "2")]);
    let rules = vec![rule(&[Touch::Read], Mode::Ask, &["/s/**"])];
    let backend = asking(rules, &inner, no);
    let refused = "permission_denied";
    assert_eq!(code(write(&backend, "/s/a", "x")), refused);
    assert_eq!(code(write(&backend, "/s/new", "x")), refused);
    assert_eq!(code(edit(&backend, "/s/a", "1", "x")), refused);
    assert_eq!(code(now(backend.delete(&path("/s/a"), None))), refused);
    assert_eq!(code(now(backend.delete(&path("/s"), None))), refused);
    let upload = vec![(path("/s/a"), bytes("x"))];
    let done = now(backend.upload(upload)).pop().expect("an answer");
    assert_eq!(code(done), refused);
    for keeps in [true, false] {
        let asked = Transfer {
            from: path("/t"),
            to: path("/s/t"),
            keeps,
            overwrite: false,
        };
        assert_eq!(code(now(backend.transfer(&asked))), refused);
    }
    read(&inner, "/s/a").expect("it is still there");
    read(&inner, "/t").expect("this too");
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
    let error = block_on(silent.read(&place, page)).expect_err("nobody answered");
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

#[test]
fn a_rule_with_a_name_is_called_by_it() {
    let inner = with(&[("/p/a", "x"), ("/q", "x"), ("/s/b", "x")]);
    let seen: Rc<RefCell<Vec<Option<Rc<str>>>>> = Rc::default();
    let log = seen.clone();
    let on_ask: OnAsk = Rc::new(move |question: Question| {
        log.borrow_mut().push(question.rule);
        Box::pin(async { Ok(false) })
    });
    let rules = vec![
        rule(BOTH, Mode::Deny, &["/s"]).named("secrets"),
        rule(BOTH, Mode::Ask, &["/p/**"]).named("plans"),
        rule(BOTH, Mode::Ask, &["/q"]),
    ];
    let backend = asking(rules, &inner, on_ask);
    let refused = |at: &str| {
        let error = read(&backend, at).expect_err("refused");
        (error.rule().map(String::from), error.to_string())
    };
    let (rule, text) = refused("/s/b");
    assert_eq!(rule.as_deref(), Some("secrets"));
    assert!(
        text.ends_with("/s/b: the rule 'secrets' does not allow it"),
        "{text}"
    );
    let (rule, text) = refused("/p/a");
    assert_eq!(rule.as_deref(), Some("plans"));
    assert!(text.contains("(rule 'plans')"), "{text}");
    let (rule, text) = refused("/q");
    assert_eq!(rule.as_deref(), Some("onAsk"));
    assert!(!text.contains("rule"), "{text}");
    for (answer, expected) in [
        (write(&backend, "/p/a", "y"), "plans"),
        (edit(&backend, "/p/a", "x", "y").map(drop), "plans"),
        (now(backend.delete(&path("/p"), None)).map(drop), "plans"),
        (write(&backend, "/s/new", "y"), "secrets"),
        (ls(&backend, "/s").map(drop), "secrets"),
    ] {
        let error = answer.expect_err("refused");
        assert_eq!(error.rule(), Some(expected), "{error}");
    }
    let plans = Some(Rc::from("plans"));
    assert_eq!(
        *seen.borrow(),
        [plans.clone(), None, plans.clone(), plans.clone(), plans]
    );
}

//! Observers of calls: the inspector of stored content, the audit, and hooks.

use super::*;

use crate::core::cell::RefCell;

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

#[test]
fn every_operation_leaves_one_record_also_when_it_is_refused() {
    let (_, seams) = clocked();
    let records: Rc<RefCell<Vec<Record>>> = Rc::default();
    let log = records.clone();
    let calls: Rc<Cell<usize>> = Rc::default();
    let count = calls.clone();
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
    let _ = now(backend.delete(&path("/u"), None));
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
    assert_eq!(calls.get(), shown.len());
}

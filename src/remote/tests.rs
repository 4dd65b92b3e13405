//! The client against a server whose answers a test writes, and some of which are lost.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::{Remote, WHOLE};
use crate::core::cell::RefCell;
use crate::core::error::Kind;
use crate::core::parts::testing::Ready;
use crate::core::testing::{block_on, bytes, path};
use crate::env::http::{Http, HttpError, Request, Response};
use crate::protocol::{Backend, BackendExt, Content, Edit, GrepQuery, OfParts};

/// Answers from a script, one for each request.
struct Script {
    answers: RefCell<VecDeque<Option<Response>>>,
    sent: RefCell<Vec<Request>>,
}

fn answer(status: u16, kind: &str, body: &str, more: &[(&str, &str)]) -> Option<Response> {
    let mut headers = vec![
        ("content-type".to_owned(), kind.to_owned()),
        ("kitbag-ticket".to_owned(), "0123456789abcdef.1".to_owned()),
    ];
    headers.extend(
        more.iter()
            .map(|(name, value)| ((*name).into(), (*value).into())),
    );
    Some(Response {
        status,
        headers,
        body: Bytes::copy_from_slice(body.as_bytes()),
    })
}

fn packed(status: u16, body: &str) -> Option<Response> {
    answer(status, "application/vnd.kitbag", body, &[])
}

fn stale() -> Option<Response> {
    let body = r#"{"error":"too old","code":"conflict"}"#;
    answer(409, "application/json", body, &[("kitbag-stale", "1")])
}

/// `Some` is an answer, `None` one that is lost.
fn remote(answers: Vec<Option<Response>>) -> (Remote, Rc<Script>) {
    let ready = packed(
        200,
        r#"{"capability":{"writable":true,"create":"storage"},"commit":"none"}"#,
    );
    let mut all = VecDeque::from([ready]);
    all.extend(answers);
    let script = Rc::new(Script {
        answers: RefCell::new(all),
        sent: RefCell::default(),
    });
    let remote = Remote::new(script.clone(), "http://h/f".into(), Duration::from_secs(9));
    (remote, script)
}

impl Http for Script {
    fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
        self.sent.borrow_mut().push(request);
        let next = self
            .answers
            .borrow_mut()
            .pop_front()
            .expect("no further request");
        let lost = HttpError {
            broken: false,
            cross_origin: false,
            code: None,
        };
        Box::pin(std::future::ready(next.ok_or(lost)))
    }
}

impl Script {
    /// The keys of the changes that were sent.
    fn keys(&self) -> Vec<String> {
        let sent = self.sent.borrow();
        let key = |request: &Request| {
            let mut headers = request.headers.iter();
            let found = headers.find(|(name, _)| name == "idempotency-key");
            found.map(|(_, value)| value.clone())
        };
        sent.iter().filter_map(key).collect()
    }
}

fn new(text: &str) -> Content {
    Content::New(bytes(text), None)
}

#[test]
fn the_server_is_asked_once_what_it_guarantees() {
    let file =
        r#"{"content":"one","mimeType":"text/plain","totalLines":1,"startLine":1,"endLine":1}"#;
    let (remote, script) = remote(vec![packed(200, file), packed(200, file)]);
    assert!(remote.capability().names.folds());
    for _ in 0..2 {
        let read = block_on(remote.read(&path("/a"), Default::default())).expect("a file");
        assert_eq!(read.content, bytes("one"));
    }
    assert!(!remote.capability().names.folds());
    assert_eq!(script.sent.borrow().len(), 3);
}

#[test]
fn a_lost_answer_is_asked_for_with_the_same_key() {
    let (remote, script) = remote(vec![None, None, packed(200, r#"{"path":"/a"}"#)]);
    assert!(block_on(remote.write(&path("/a"), new("x"))).is_ok());
    let keys = script.keys();
    assert_eq!(keys.len(), 3);
    assert!(
        keys.iter()
            .all(|key| *key == keys[0] && key.starts_with("0123456789abcdef.1."))
    );
}

#[test]
fn a_change_that_was_refused_for_its_old_key_gets_a_new_one() {
    let (remote, script) = remote(vec![stale(), packed(200, r#"{"path":"/a"}"#)]);
    assert!(block_on(remote.write(&path("/a"), new("x"))).is_ok());
    let keys = script.keys();
    assert!(keys.len() == 2 && keys[0] != keys[1]);
}

#[test]
fn an_unknown_change_is_made_if_the_file_has_what_was_wanted() {
    let held = packed(
        200,
        "{\"files\":[{\"path\":\"/a\",\"content\":{\"bytes\":[0,1]}}]}\nx",
    );
    let (remote, script) = remote(vec![None, stale(), held]);
    assert!(block_on(remote.write(&path("/a"), new("x"))).is_ok());
    assert_eq!(script.keys().len(), 2);
}

#[test]
fn an_unknown_change_is_repeated_if_its_condition_holds_still() {
    let held = packed(
        200,
        "{\"files\":[{\"path\":\"/a\",\"content\":{\"bytes\":[0,3]}}]}\nold",
    );
    let done = packed(200, r#"{"path":"/a","occurrences":1}"#);
    let (remote, script) = remote(vec![None, stale(), held, done]);
    let edit = Edit {
        old: bytes("old"),
        new: bytes("new"),
        replace_all: false,
        whole: true,
        appends: false,
    };
    assert!(block_on(remote.edit(&path("/a"), &edit)).is_ok());
    assert_eq!(script.keys().len(), 3);
}

#[test]
fn an_unknown_change_without_a_condition_is_not_repeated() {
    let (remote, script) = remote(vec![None, stale()]);
    let edit = Edit {
        old: bytes("1"),
        new: bytes("11"),
        replace_all: false,
        whole: false,
        appends: false,
    };
    let error = block_on(remote.edit(&path("/a"), &edit)).expect_err("unknown");
    assert_eq!(error.kind(), Kind::Unavailable);
    assert!(
        error
            .to_string()
            .contains("not known whether '/a' was changed"),
        "{error}"
    );
    assert_eq!(script.keys().len(), 2);
}

#[test]
fn a_refusal_before_the_key_says_nothing_of_an_earlier_attempt() {
    let mut refused = answer(
        401,
        "application/json",
        r#"{"error":"sign in","code":"permission_denied"}"#,
        &[],
    );
    if let Some(response) = &mut refused {
        response.headers.retain(|(name, _)| name != "kitbag-ticket");
    }
    let change = || Content::Text(bytes("x"));
    let (at_once, _) = remote(vec![refused.clone()]);
    let error = block_on(at_once.write(&path("/a"), change())).expect_err("refused");
    assert_eq!(error.kind(), Kind::PermissionDenied);
    let (later, _) = remote(vec![None, refused]);
    let error = block_on(later.write(&path("/a"), change())).expect_err("unknown");
    assert_eq!(error.kind(), Kind::Unavailable);
}

#[test]
fn a_search_that_was_cut_off_is_repeated() {
    let lines = |text: &str| answer(200, "application/x-ndjson", text, &[]);
    let row = "{\"path\":\"/a\",\"line\":2,\"text\":\"hit\",\"before\":[\"one\"]}\n";
    let whole = format!("{row}{{\"end\":{{\"truncated\":true}}}}\n");
    let (remote, script) = remote(vec![lines(row), lines(&whole)]);
    let found = block_on(remote.grep(&GrepQuery::literal("hit"))).expect("matches");
    assert!(found.truncated);
    assert_eq!(found.matches.count(), 1);
    assert_eq!(found.matches.rows.len(), 2);
    assert_eq!(script.sent.borrow().len(), 3);
}

#[test]
fn what_no_server_of_files_answers_is_an_error_that_says_so() {
    let page = || answer(200, "text/html", "<html>", &[]);
    let (remote, _) = remote(vec![page()]);
    let error = block_on(remote.ls(&path("/"))).expect_err("no server");
    assert!(error.to_string().contains("\"url\""), "{error}");
}

#[test]
fn paths_that_were_not_asked_for_are_left_out() {
    let files =
        r#"{"files":[{"path":"/other/x"},{"path":"/d/a"},{"path":"/d/../x"},{"path":"/d/b/c"}]}"#;
    let (remote, _) = remote(vec![packed(200, files)]);
    let infos = block_on(remote.ls(&path("/d"))).expect("a listing");
    let paths: Vec<String> = infos.iter().map(|info| info.shown_path()).collect();
    assert_eq!(paths, ["/d/a"]);
}

#[test]
fn a_large_file_is_sent_as_it_is_with_what_must_be_in_its_place() {
    let text = "x".repeat(WHOLE as usize + 1);
    let sent = |place: fn(&Ready), answered: Option<Response>| {
        let (remote, script) = remote(vec![answered]);
        let file = OfParts(Ready::of(&[&text], u64::MAX));
        place(&file.0);
        let done = block_on(remote.stream(&path("/a"), &file)).map_err(|error| error.kind());
        let request = script.sent.borrow().last().cloned().expect("a request");
        let mut headers = request.headers.into_iter();
        let condition = headers.find(|(name, _)| name == "if-none-match");
        (done, request.method, condition.map(|(_, value)| value))
    };
    let stored = |status| answer(status, "", "", &[]);
    assert_eq!(sent(|_| (), stored(204)), (Ok(()), "PUT", None));
    let new = Some("*".to_owned());
    assert_eq!(
        sent(Ready::create, stored(201)),
        (Ok(()), "PUT", new.clone())
    );
    let there = r#"{"error":"there","code":"already_exists"}"#;
    let refused = answer(412, "application/json", there, &[]);
    let kept = (Err(Kind::AlreadyExists), "PUT", new);
    assert_eq!(sent(Ready::create, refused), kept);
    // The server knows versions by other names.
    let written = packed(200, r#"{"path":"/a"}"#);
    assert_eq!(
        sent(|file| file.over("v1"), written),
        (Ok(()), "POST", None)
    );
}

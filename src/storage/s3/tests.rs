//! The behaviour of the whole backend over the in-memory server.

mod changing;
mod copying;
mod moving;
mod reading;
mod repeating;
mod uploading;

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::join_all;

use super::client::Retry;
use super::store::{S3, S3Options, Trust};
use super::testing::{Fault, Ranges, Server, storage, storage_that_warns};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind};
use crate::core::path::VPath;
use crate::core::testing::{block_on, path};
use crate::files::{Files, FilesOptions};
use crate::protocol::{Backend, BackendExt, Content, Edit, Page, Reach};
use crate::storage::{Flow, Meta, Scope, Storage, provided};

fn files(server: &Rc<Server>) -> Files<S3> {
    with(server, S3Options::default())
}

fn with(server: &Rc<Server>, options: S3Options) -> Files<S3> {
    Files::new(storage(server, options, ""), FilesOptions::default())
}

fn write(files: &Files<S3>, at: &str, text: &str) -> Result<(), Error> {
    let content = Content::Text(Bytes::copy_from_slice(text.as_bytes()));
    block_on(files.write(&path(at), content)).map(drop)
}

fn replacing(old: &str, new: &str) -> Edit {
    Edit {
        old: Bytes::copy_from_slice(old.as_bytes()),
        new: Bytes::copy_from_slice(new.as_bytes()),
        replace_all: false,
        whole: false,
        appends: false,
    }
}

fn edit(files: &Files<S3>, at: &str, old: &str, new: &str) -> Result<(), Error> {
    block_on(files.edit(&path(at), &replacing(old, new))).map(drop)
}

fn read(files: &Files<S3>, at: &str) -> Result<String, Error> {
    let answer = block_on(files.read(&path(at), Page::default()))?;
    Ok(String::from_utf8_lossy(&answer.content).into_owned())
}

#[test]
fn a_probe_whose_object_another_client_removes_still_finds_the_conditions() {
    for at in 1..=8 {
        let server = Server::new();
        let files = files(&server);
        let objects = Rc::downgrade(&server);
        let mut requests = 0;
        server.script(move |_| {
            requests += 1;
            if requests == at
                && let Some(server) = objects.upgrade()
            {
                server.objects.borrow_mut().clear();
            }
            Fault::None
        });
        write(&files, "/a.txt", "one").expect("written");
        let found = files.capability();
        assert_eq!(
            (found.create, found.update),
            (Reach::Storage, Reach::Storage),
            "removed before request {at}"
        );
    }
}

#[test]
fn the_probe_runs_once_and_leaves_nothing_behind() {
    for (conditions, bare) in [(true, false), (true, true), (false, false)] {
        let server = Server::new();
        server.conditions.set(conditions);
        server.bare.set(bare);
        let warnings = Rc::new(RefCell::new(Vec::new()));
        let heard = warnings.clone();
        let files = files_that_warn(
            &server,
            Box::new(move |text| heard.borrow_mut().push(text.to_owned())),
        );
        let before = files.capability();
        assert_eq!(
            (before.create, before.update, before.notes.len()),
            (Reach::Instance, Reach::Instance, 1),
            "nothing is promised before the probe"
        );
        write(&files, "/a.txt", "one").expect("written");
        assert_eq!(server.keys(), ["a.txt"], "the probe is gone");
        server.log.take();
        assert_eq!(
            write(&files, "/a.txt", "two").expect_err("there").kind(),
            Kind::AlreadyExists
        );
        edit(&files, "/a.txt", "one", "three").expect("edited");
        assert_eq!(server.body("a.txt").as_deref(), Some("three"));
        assert_eq!(server.count("PUT ~"), 0, "asked once only");
        let reach = files.capability().update;
        assert_eq!(reach == Reach::Storage, conditions);
        assert_eq!(warnings.borrow().len(), usize::from(!conditions));
        assert_eq!(files.capability().notes.len(), usize::from(!conditions));
    }
}

fn files_that_warn(server: &Rc<Server>, warn: Box<dyn Fn(&str)>) -> Files<S3> {
    let storage = storage_that_warns(server, S3Options::default(), "", warn);
    Files::new(storage, FilesOptions::default())
}

#[test]
fn a_disturbed_probe_is_begun_anew() {
    for disturbed in 0..7 {
        let server = Server::new();
        let mut at = 0;
        server.script(move |request| {
            at += 1;
            match at == disturbed + 1 && request.url.contains("/~/") {
                true => Fault::After,
                false => Fault::None,
            }
        });
        let files = files(&server);
        write(&files, "/a.txt", "one").expect("written");
        assert_eq!(
            files.capability().create,
            Reach::Storage,
            "disturbed at {disturbed}"
        );
        assert_eq!(
            write(&files, "/a.txt", "two").expect_err("there").kind(),
            Kind::AlreadyExists
        );
    }
}

#[test]
fn trouble_on_the_way_is_overcome_or_told_but_never_believed() {
    let server = Server::new();
    let files = with(
        &server,
        S3Options {
            cache_bytes: 0,
            ..S3Options::default()
        },
    );
    write(&files, "/dir/a.txt", "line one\nline two\n").expect("written");
    let ls = |files: &Files<S3>| block_on(files.ls(&path("/"))).map(|list| list.len());
    for fault in [
        Fault::Before,
        Fault::After,
        Fault::Cut,
        Fault::CutSilently,
        Fault::Status(500, "InternalError"),
        Fault::Status(503, "SlowDown"),
        Fault::Status(429, ""),
        Fault::Hang,
    ] {
        server.faults("GET", vec![fault.clone(), fault.clone()]);
        assert_eq!(ls(&files).expect("listed"), 1, "{fault:?}");
        server.faults("GET", vec![fault.clone(), fault.clone()]);
        assert_eq!(
            read(&files, "/dir/a.txt").expect("read"),
            "line one\nline two\n",
            "{fault:?}"
        );
        let again = fault.clone();
        server.script(move |_| again.clone());
        let error = ls(&files).expect_err("nothing works");
        assert!(
            matches!(
                error.kind(),
                Kind::Unavailable | Kind::RateLimited | Kind::Timeout
            ),
            "{fault:?}: {error:?}"
        );
        // Responses without a body cannot be cut.
        if !matches!(fault, Fault::Cut | Fault::CutSilently) {
            let again = fault.clone();
            server.script(move |_| again.clone());
            write(&files, "/dir/b.txt", "x").expect_err("nothing works");
        }
        server.script(|_| Fault::None);
        let _ = block_on(files.delete(&path("/dir/b.txt"), None));
    }
    server.faults("GET", vec![Fault::Corrupt]);
    assert_eq!(
        read(&files, "/dir/a.txt").expect("read again"),
        "line one\nline two\n"
    );
}

#[test]
fn bytes_that_another_tool_changed_are_believed_the_second_time() {
    let server = Server::new();
    let files = files(&server);
    write(&files, "/a.txt", "ours").expect("written");
    {
        let mut objects = server.objects.borrow_mut();
        let object = objects.get_mut("a.txt").expect("there");
        object.body = Bytes::from_static(b"theirs");
        object.tag = "other-2".into();
    }
    assert_eq!(read(&files, "/a.txt").expect("read"), "theirs");
    server.log.take();
    {
        let note = server
            .objects
            .borrow()
            .get("a.txt")
            .expect("there")
            .meta
            .clone();
        server.put("a.txt", "theirs again");
        server
            .objects
            .borrow_mut()
            .get_mut("a.txt")
            .expect("there")
            .meta = note;
    }
    assert_eq!(read(&files, "/a.txt").expect("read"), "theirs again");
    assert_eq!(server.count("GET"), 1, "its ETag proves it");
}

#[test]
fn no_text_ever_shows_a_secret() {
    let server = Server::new();
    let files = files(&server);
    for fault in [
        Fault::Before,
        Fault::Status(403, "InvalidAccessKeyId"),
        Fault::Status(403, "SignatureDoesNotMatch"),
        Fault::Status(400, "ExpiredToken"),
        Fault::Status(404, "NoSuchBucket"),
        Fault::Status(500, "AKIDSECRET"),
        Fault::Status(301, "PermanentRedirect"),
        Fault::Hang,
    ] {
        let again = fault.clone();
        server.script(move |_| again.clone());
        let errors = [
            write(&files, "/a.txt", "x").expect_err("refused"),
            read(&files, "/a.txt").expect_err("refused"),
            block_on(files.ls(&path("/"))).expect_err("refused"),
            block_on(files.delete(&path("/a"), None)).expect_err("refused"),
        ];
        for error in errors {
            let text = format!("{error} {error:?}");
            // A server's error code is shown, even if the server puts a key id there.
            if fault != Fault::Status(500, "AKIDSECRET") {
                assert!(!text.contains("AKID"), "{text}");
            }
            for secret in ["VERYSECRET", "TOKENSECRET", "Signature=", "http://"] {
                assert!(!text.contains(secret), "{text}");
            }
        }
    }
    let sent = server.sent.borrow();
    assert!(sent.iter().all(|request| !request.url.contains("SECRET")));
}

#[test]
fn listings_page_and_show_only_what_paths_can_name() {
    let server = Server::new();
    server.page.set(7);
    for at in 0..25 {
        server.put(&format!("many/{at:03}.txt"), "x");
        server.put(&format!("deep/{at:03}/x.ts"), "x");
    }
    for odd in [
        "a//b",
        "/lead",
        "x/../y",
        "back\\slash",
        "~/tilde",
        "empty/",
        "many/",
        "nul\u{1}l",
    ] {
        server.put(odd, "");
    }
    let files = files(&server);
    let names = |at: &str| -> Vec<String> {
        let list = block_on(files.ls(&path(at))).expect("listed");
        list.iter().map(|info| info.shown_path()).collect()
    };
    assert_eq!(names("/many").len(), 25);
    assert_eq!(names("/deep").len(), 25);
    assert_eq!(names("/"), ["/a/", "/deep/", "/empty/", "/many/", "/x/"]);
    assert_eq!(names("/empty"), [""; 0]);
    let walked = |root: &str, prefix: &str| {
        let scope = Scope {
            root: path(root),
            prefix: prefix.to_owned(),
        };
        let mut count = 0;
        let mut visit = |_: &VPath, _: &Meta| {
            count += 1;
            Flow::Continue(())
        };
        block_on(provided::walk(files.storage(), &scope, &mut visit)).expect("walked");
        count
    };
    server.log.take();
    assert_eq!(walked("/", "deep/"), 25);
    assert_eq!(
        server.count("LIST deep/"),
        4,
        "only the pages of its prefix"
    );
    assert_eq!(walked("/many", "00"), 10);
    assert_eq!(server.count("LIST many/00"), 2);
    assert_eq!(walked("/many", ""), 25);
}

#[test]
fn a_second_search_moves_no_bodies() {
    let server = Server::new();
    for at in 0..50 {
        server.put(&format!("f{at:02}.txt"), "needle in it\n");
    }
    let files = files(&server);
    let grep = || {
        let query = crate::protocol::GrepQuery::literal("needle");
        block_on(files.grep(&query))
            .expect("found")
            .matches
            .rows
            .len()
    };
    let first = grep();
    assert_eq!(server.count("GET"), 50);
    assert!(server.most.get() <= 16, "{}", server.most.get());
    assert_eq!(grep(), first);
    assert_eq!(server.log.borrow().len(), 1, "the listing alone");
    server.log.take();
    server.put("f07.txt", "changed\n");
    grep();
    assert_eq!(server.count("GET"), 1);
}

#[test]
fn a_long_wait_that_a_server_asks_for_is_told_and_not_waited() {
    let server = Server::new();
    let files = with(
        &server,
        S3Options {
            retry: Retry {
                attempts: 3,
                ..Retry::default()
            },
            trust: Trust::Standard,
            ..S3Options::default()
        },
    );
    server.script(|_| Fault::Status(429, ""));
    assert_eq!(
        read(&files, "/a").expect_err("refused").kind(),
        Kind::RateLimited
    );
    assert_eq!(server.sent.borrow().len(), 3);
}

#[test]
fn nasty_names_round_trip() {
    let server = Server::new();
    let files = Files::new(
        storage(&server, S3Options::default(), "pre fix/+"),
        FilesOptions::default(),
    );
    let long = "k".repeat(1000);
    for name in [
        "a b",
        "a+b",
        "100%",
        "%41",
        "?q=1",
        "#frag",
        "日本/語 é",
        "&<>'\"",
        "~x",
        "a=b&c",
        "__proto__",
        &long,
    ] {
        let name = format!("/d/{name}.txt");
        write(&files, &name, &name).expect(&name);
        assert_eq!(read(&files, &name).expect(&name), name);
    }
    let list = block_on(files.ls(&path("/d"))).expect("listed");
    assert_eq!(list.len(), 12);
}

#[test]
fn the_shared_suite_holds() {
    for (conditions, bare) in [(true, false), (true, true), (false, false)] {
        let turn = std::cell::Cell::new(0);
        let report = block_on(crate::conformance::run(async || {
            turn.set(turn.get() + 1);
            let server = Server::new();
            server.conditions.set(conditions);
            server.bare.set(bare);
            server.page.set(3);
            let prefix = if turn.get() % 2 == 0 { "" } else { "pre/fix" };
            let storage = storage(&server, S3Options::default(), prefix);
            Ok(Rc::new(Files::new(storage, FilesOptions::default()))
                as crate::protocol::SharedBackend)
        }));
        assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
        assert!(report.passed > 20, "{} passed", report.passed);
    }
}

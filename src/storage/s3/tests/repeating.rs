//! Changes whose response was lost while other clients change the same file: no acknowledged change
//! of another client is lost, nothing is made twice, and an unknown outcome is reported as unknown.

use super::*;
use crate::core::file::{Format, Mime, Texture};
use crate::core::time::Time;
use crate::files::WriteMode;
use crate::protocol::BackendExt;
use crate::storage::s3::note::Note;
use crate::storage::s3::testing::Object;
use crate::storage::{NewFile, PutMode};

/// The ways in which a request is executed and its response is lost.
pub(super) fn losses() -> Vec<Fault> {
    vec![
        Fault::After,
        Fault::Executed(500, "InternalError"),
        Fault::Executed(502, ""),
        Fault::Executed(503, "SlowDown"),
        Fault::Executed(504, ""),
        Fault::ExecutedHang,
    ]
}

/// What another client does between the lost response and our next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Nothing,
    /// It edits the file as kitbag does.
    Edits,
    /// It stores a new file with a tool that keeps no history.
    Replaces,
    Deletes,
    /// It deletes the file and creates another one of that name.
    Recreates,
}

impl Other {
    fn act(self, server: &Server, key: &str) {
        let mut objects = server.objects.borrow_mut();
        let body = Bytes::from_static(b"theirs");
        let new = NewFile {
            body: body.clone(),
            created: Time::default(),
            modified: Time::default(),
            mime: Mime::TEXT,
            format: Format::V2,
            texture: Texture::Ascii,
            mode: None,
        };
        let before = objects.get(key).and_then(|object| object.meta.clone());
        let before = before.as_deref().map(Note::read);
        let meta = match self {
            Other::Nothing => return,
            Other::Deletes => return drop(objects.remove(key)),
            Other::Edits => Some(Note::of(&new, "theirs", before.as_ref()).write()),
            Other::Recreates => Some(Note::of(&new, "theirs", None).write()),
            Other::Replaces => None,
        };
        let object = Object {
            body,
            mime: "text/plain".into(),
            meta,
            tag: "0123456789abcdef0123456789abcdef".into(),
            encoding: None,
        };
        objects.insert(key.to_owned(), object);
    }
}

/// The first request with that method gets the fault; before the next request, the other client
/// acts.
fn lose(server: &Rc<Server>, method: &'static str, fault: Fault, key: &'static str, other: Other) {
    let objects = Rc::downgrade(server);
    let mut fault = Some(fault);
    let mut waiting = false;
    server.script(move |request| {
        if waiting && let Some(server) = objects.upgrade() {
            waiting = false;
            other.act(&server, key);
        }
        if request.method != method {
            return Fault::None;
        }
        let fault = fault.take();
        waiting = fault.is_some();
        fault.unwrap_or(Fault::None)
    });
}

fn overwriting(server: &Rc<Server>) -> Files<S3> {
    let storage = storage(server, S3Options::default(), "");
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    Files::new(storage, options)
}

fn upload(files: &Files<S3>, names: &[&str], text: &'static str) -> Vec<Result<(), Error>> {
    let body = Bytes::from_static(text.as_bytes());
    let list = names.iter().map(|name| (path(name), body.clone()));
    block_on(files.upload(list.collect()))
}

/// A server with one file, and clients that have run the probe.
fn started(conditions: bool) -> (Rc<Server>, Files<S3>) {
    let server = Server::new();
    server.conditions.set(conditions);
    let files = overwriting(&server);
    write(&files, "/probed.txt", "x").expect("the probe is done");
    write(&files, "/a.txt", "start").expect("written");
    (server, files)
}

/// Each loss, on servers with and without conditional writes.
fn each(mut run: impl FnMut(&Rc<Server>, &Files<S3>, Fault, &str)) {
    for conditions in [true, false] {
        for fault in losses() {
            let (server, files) = started(conditions);
            let name = format!("{fault:?}, conditions {conditions}");
            run(&server, &files, fault, &name);
        }
    }
}

fn unknown(answer: Result<(), Error>, name: &str) {
    let error = answer.expect_err(name);
    assert_eq!(error.kind(), Kind::Unavailable, "{name}: {error}");
    assert!(error.to_string().contains("not known"), "{name}: {error}");
}

#[test]
fn an_overwrite_whose_answer_was_lost_keeps_an_edit_that_followed() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Edits);
        write(files, "/a.txt", "ours").expect(name);
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn an_upload_whose_answer_was_lost_keeps_an_edit_that_followed() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Edits);
        upload(files, &["/a.txt"], "ours")
            .pop()
            .expect("one")
            .expect(name);
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn an_upload_of_a_new_file_keeps_an_edit_that_followed() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "new.txt", Other::Edits);
        upload(files, &["/new.txt"], "ours")
            .pop()
            .expect("one")
            .expect(name);
        assert_eq!(server.body("new.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn a_file_of_a_batch_is_not_put_again_over_an_edit() {
    each(|server, files, fault, name| {
        let again = Rc::downgrade(server);
        let mut lost = false;
        let mut edited = false;
        server.script(move |request| {
            let ours = request.url.ends_with("/a.txt");
            if lost
                && !edited
                && ours
                && let Some(server) = again.upgrade()
            {
                edited = true;
                Other::Edits.act(&server, "a.txt");
            }
            if ours && request.method == "PUT" && !lost {
                lost = true;
                return fault.clone();
            }
            Fault::None
        });
        let answers = upload(files, &["/b.txt", "/a.txt", "/c.txt"], "ours");
        assert!(answers.iter().all(Result::is_ok), "{name}: {answers:?}");
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
        assert_eq!(server.body("c.txt").as_deref(), Some("ours"), "{name}");
    });
}

#[test]
fn an_overwrite_that_another_tool_followed_is_of_unknown_outcome() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Replaces);
        unknown(write(files, "/a.txt", "ours"), name);
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn an_overwrite_that_a_delete_followed_does_not_bring_the_file_back() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Deletes);
        unknown(write(files, "/a.txt", "ours"), name);
        assert_eq!(server.body("a.txt"), None, "{name}");
    });
}

#[test]
fn an_upload_that_a_new_file_followed_does_not_replace_it() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Recreates);
        let answer = upload(files, &["/a.txt"], "ours").pop().expect("one");
        unknown(answer, name);
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn an_overwrite_that_did_not_arrive_is_made_over_an_edit_in_between() {
    for conditions in [true, false] {
        for fault in [Fault::Before, Fault::Status(500, ""), Fault::Hang] {
            let (server, files) = started(conditions);
            lose(&server, "PUT", fault, "a.txt", Other::Edits);
            write(&files, "/a.txt", "ours").expect("written");
            assert_eq!(server.body("a.txt").as_deref(), Some("ours"));
        }
    }
}

#[test]
fn an_overwrite_that_did_not_arrive_is_repeated() {
    for name in ["/a.txt", "/new.txt"] {
        for conditions in [true, false] {
            for fault in [Fault::Before, Fault::Status(503, "SlowDown"), Fault::Hang] {
                let (server, files) = started(conditions);
                server.faults("PUT", vec![fault.clone(), fault]);
                write(&files, name, "ours").expect("written");
                assert_eq!(read(&files, name).expect("read"), "ours");
            }
        }
    }
}

#[test]
fn an_overwrite_names_the_state_that_it_replaces_so_that_a_late_request_changes_nothing() {
    let (server, files) = started(true);
    server.sent.take();
    write(&files, "/a.txt", "ours").expect("written");
    upload(&files, &["/a.txt", "/new.txt"], "again");
    let sent = server.sent.borrow();
    let puts: Vec<_> = sent.iter().filter(|sent| sent.method == "PUT").collect();
    assert_eq!(puts.len(), 3);
    for put in puts {
        let header = put.headers.iter().find(|(name, _)| name.starts_with("if-"));
        assert!(header.is_some(), "{}", put.url);
    }
}

#[test]
fn an_overwrite_wins_over_a_state_that_changed_since_it_was_read() {
    for other in [Other::Edits, Other::Replaces, Other::Deletes] {
        let (server, files) = started(true);
        let target = path("/a.txt");
        let seen = block_on(files.storage().stat(&target)).expect("asked");
        assert!(seen.is_some());
        other.act(&server, "a.txt");
        let answers = upload(&files, &["/a.txt"], "ours");
        assert!(answers.iter().all(Result::is_ok), "{other:?}: {answers:?}");
        assert_eq!(server.body("a.txt").as_deref(), Some("ours"), "{other:?}");
    }
}

#[test]
fn of_many_overwrites_at_once_the_last_one_stands_and_all_succeed() {
    for conditions in [true, false] {
        let server = Server::new();
        server.conditions.set(conditions);
        let clients: Vec<_> = (0..6).map(|_| overwriting(&server)).collect();
        let target = path("/race.txt");
        let answers = block_on(join_all(clients.iter().enumerate().map(|(at, files)| {
            let text = Bytes::from(format!("writer {at}"));
            files.write(&target, Content::Text(text))
        })));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        assert!(
            server
                .body("race.txt")
                .expect("there")
                .starts_with("writer")
        );
    }
}

#[test]
fn a_create_whose_answer_was_lost_keeps_an_edit_that_followed() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "new.txt", Other::Edits);
        block_on(files.write(
            &path("/new.txt"),
            Content::New(Bytes::from_static(b"ours"), None),
        ))
        .expect(name);
        assert_eq!(server.body("new.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn an_edit_whose_answer_was_lost_is_not_made_again_over_an_edit_that_followed() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Edits);
        edit(files, "/a.txt", "start", "ours").expect(name);
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn an_edit_that_a_delete_followed_is_of_unknown_outcome_and_not_not_found() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Deletes);
        unknown(edit(files, "/a.txt", "start", "ours"), name);
        assert_eq!(server.body("a.txt"), None, "{name}");
    });
}

#[test]
fn an_edit_that_another_tool_followed_is_of_unknown_outcome() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Replaces);
        unknown(edit(files, "/a.txt", "start", "ours"), name);
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn an_edit_of_a_file_that_was_deleted_before_is_refused_as_not_found() {
    for conditions in [true, false] {
        let (server, files) = started(conditions);
        Other::Deletes.act(&server, "a.txt");
        let error = edit(&files, "/a.txt", "start", "ours").expect_err("gone");
        assert_eq!(error.kind(), Kind::NotFound);
    }
}

#[test]
fn an_aborted_overwrite_sends_nothing_more() {
    each(|server, files, fault, name| {
        lose(server, "PUT", fault, "a.txt", Other::Nothing);
        server.log.take();
        let target = path("/a.txt");
        let content = Content::Text(Bytes::from_static(b"ours"));
        let mut call = Box::pin(files.write(&target, content));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        while server.body("a.txt").as_deref() != Some("ours") {
            assert!(call.as_mut().poll(&mut context).is_pending(), "{name}");
        }
        drop(call);
        Other::Edits.act(server, "a.txt");
        read(&overwriting(server), "/a.txt").expect("read");
        assert_eq!(server.count("PUT"), 1, "{name}");
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn a_delete_whose_answer_was_lost_keeps_a_file_that_was_created_since() {
    each(|server, files, fault, name| {
        lose(server, "DELETE", fault, "a.txt", Other::Recreates);
        let answer = block_on(files.storage().delete(&path("/a.txt"), None));
        unknown(answer.map(drop), name);
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn a_delete_of_a_version_whose_answer_was_lost_is_found_done() {
    each(|server, files, fault, name| {
        let target = path("/a.txt");
        let meta = block_on(files.storage().stat(&target)).expect(name);
        lose(server, "DELETE", fault, "a.txt", Other::Nothing);
        let version = meta.expect("there").version;
        assert!(block_on(files.storage().delete(&target, version)).expect(name));
        assert_eq!(server.body("a.txt"), None, "{name}");
    });
}

#[test]
fn the_delete_of_one_file_whose_answer_was_lost_keeps_a_file_that_was_created_since() {
    each(|server, files, fault, name| {
        lose(server, "DELETE", fault, "a.txt", Other::Recreates);
        let answer = block_on(files.delete(&path("/a.txt"), None));
        unknown(answer.map(drop), name);
        assert_eq!(server.body("a.txt").as_deref(), Some("theirs"), "{name}");
    });
}

#[test]
fn the_delete_of_a_directory_whose_answer_was_lost_keeps_a_file_that_was_created_since() {
    each(|server, files, fault, name| {
        for at in 0..3 {
            server.put(&format!("dir/{at}"), "x");
        }
        lose(server, "POST", fault, "dir/1", Other::Recreates);
        let error = block_on(files.delete(&path("/dir"), None)).expect_err(name);
        assert!(error.to_string().contains("/dir/1"), "{name}: {error}");
        assert_eq!(server.body("dir/1").as_deref(), Some("theirs"), "{name}");
        assert_eq!(server.body("dir/0"), None, "{name}");
    });
}

#[test]
fn a_put_over_a_version_without_a_history_is_found_done_by_its_id() {
    each(|server, files, fault, name| {
        server.put("a.txt", "of another tool");
        let target = path("/a.txt");
        let file = block_on(files.storage().stat(&target)).expect(name);
        let version = file.expect("there").version.expect("a version");
        lose(server, "PUT", fault, "a.txt", Other::Nothing);
        let new = NewFile {
            body: Bytes::from_static(b"ours"),
            created: Time::default(),
            modified: Time::default(),
            mime: Mime::TEXT,
            format: Format::V2,
            texture: Texture::Ascii,
            mode: None,
        };
        block_on(files.storage().put(&target, new, PutMode::Update(version))).expect(name);
        assert_eq!(server.body("a.txt").as_deref(), Some("ours"), "{name}");
    });
}

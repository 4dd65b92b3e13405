//! Creating, editing and deleting, including lost responses.

use super::*;
use crate::protocol::BackendExt;
use crate::storage::s3::note::Note;

#[test]
fn of_sixteen_creates_one_wins_also_without_conditions() {
    for conditions in [true, false] {
        let server = Server::new();
        server.conditions.set(conditions);
        let files = files(&server);
        let target = path("/race.txt");
        let answers = block_on(join_all((0..16).map(|at| {
            let text = Bytes::from(format!("writer {at}"));
            files.write(&target, Content::Text(text))
        })));
        let won: Vec<_> = answers.iter().filter(|answer| answer.is_ok()).collect();
        assert_eq!(won.len(), 1);
        assert!(
            answers
                .iter()
                .flat_map(|a| a.as_ref().err())
                .all(|e| e.kind() == Kind::AlreadyExists)
        );
    }
}

#[test]
fn no_edit_of_eight_clients_is_lost() {
    let server = Server::new();
    server.put("log.txt", "end");
    let clients: Vec<_> = (0..8).map(|_| files(&server)).collect();
    let target = path("/log.txt");
    block_on(join_all(clients.iter().enumerate().map(|(at, files)| {
        let target = target.clone();
        async move {
            for turn in 0..10 {
                let line = replacing("end", &format!("{at}.{turn}\nend"));
                files.edit(&target, &line).await.expect("edited");
            }
        }
    })));
    let text = server.body("log.txt").expect("there");
    assert_eq!(text.lines().count(), 81);
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 81, "none twice");
}

#[test]
fn a_lost_answer_is_found_out() {
    for after in [
        Fault::None,
        Fault::After,
        Fault::Before,
        Fault::Status(503, ""),
    ] {
        let server = Server::new();
        let files = files(&server);
        write(&files, "/first.txt", "x").expect("the probe is done");
        server.faults("PUT", vec![Fault::After, after.clone()]);
        write(&files, "/a.txt", "one").expect("written, though the answer was lost");
        server.faults("PUT", vec![Fault::After, after.clone()]);
        edit(&files, "/a.txt", "one", "two").expect("edited, though the answer was lost");
        server.faults("PUT", vec![Fault::After, after]);
        let upload = block_on(files.upload(vec![(path("/b.bin"), Bytes::from_static(b"\0"))]));
        assert!(upload.iter().all(Result::is_ok));
        assert_eq!(server.body("a.txt").as_deref(), Some("two"));
    }
}

#[test]
fn a_lost_answer_is_found_out_behind_other_writers() {
    let server = Server::new();
    let (ours, theirs) = (Rc::new(files(&server)), files(&server));
    write(&ours, "/a.txt", "start end").expect("written");
    write(&theirs, "/b.txt", "x").expect("the probe is done");
    let target = path("/a.txt");
    let edit_one = replacing("start", "start one");
    // The response to our first PUT is lost; before the second, another client edits.
    let waiting = Rc::new(RefCell::new(0));
    let seen = waiting.clone();
    server.script(move |request| {
        if request.method != "PUT" {
            return Fault::None;
        }
        *seen.borrow_mut() += 1;
        match *seen.borrow() {
            1 => Fault::After,
            _ => Fault::None,
        }
    });
    let ours_done = async {
        ours.edit(&target, &edit_one).await.expect("edited once");
    };
    let theirs_done = async {
        while *waiting.borrow() < 1 {
            crate::env::timer::sleep(std::time::Duration::ZERO).await;
        }
        // Our PUT is in progress; let it finish.
        for _ in 0..2 {
            crate::env::timer::sleep(std::time::Duration::ZERO).await;
        }
        theirs
            .edit(&target, &replacing("end", "two end"))
            .await
            .expect("edited");
    };
    block_on(futures_util::future::join(ours_done, theirs_done));
    assert_eq!(server.body("a.txt").as_deref(), Some("start one two end"));
    server.script(|_| Fault::None);
    assert_eq!(read(&ours, "/a.txt").expect("read"), "start one two end");
}

#[test]
fn a_directory_is_deleted_in_batches_with_its_markers() {
    for batches in [true, false] {
        let server = Server::new();
        server.batches.set(batches);
        for at in 0..2100 {
            server.put(&format!("dir/{at:04}"), "x");
        }
        server.put("dir/sub/", "");
        server.put("dir", "a file of that name");
        server.put("dirt", "another");
        let files = files(&server);
        block_on(files.delete(&path("/dir"), None)).expect("deleted");
        assert_eq!(server.keys(), ["dirt"]);
        assert_eq!(server.count("DELETES"), if batches { 3 } else { 1 });
        assert!(server.most.get() <= 16);
        let gone = block_on(files.delete(&path("/dir"), None)).expect_err("gone");
        assert_eq!(gone.kind(), Kind::NotFound);
        server.put("hollow/", "");
        block_on(files.delete(&path("/hollow"), None)).expect("deleted");
        assert_eq!(server.keys(), ["dirt"]);
    }
}

#[test]
fn what_a_batch_leaves_behind_is_told() {
    let server = Server::new();
    for name in ["d/a", "d/locked", "d/z"] {
        server.put(name, "x");
    }
    let files = files(&server);
    let error = block_on(files.delete(&path("/d"), None)).expect_err("not all");
    assert_eq!(error.kind(), Kind::PermissionDenied);
    assert!(error.to_string().contains("/d/a"), "{error}");
    assert_eq!(server.keys(), ["d/locked"]);
}

#[test]
fn a_version_guards_a_deletion() {
    for conditions in [true, false] {
        let server = Server::new();
        server.conditions.set(conditions);
        let files = files(&server);
        write(&files, "/a.txt", "one").expect("written");
        let storage = files.storage();
        let target = path("/a.txt");
        let old = block_on(storage.stat(&target))
            .expect("asked")
            .expect("there")
            .version;
        edit(&files, "/a.txt", "one", "two").expect("edited");
        let refused = block_on(storage.delete(&target, old)).expect_err("changed");
        assert_eq!(refused.kind(), Kind::Conflict);
        let new = block_on(storage.stat(&target))
            .expect("asked")
            .expect("there")
            .version;
        assert!(block_on(storage.delete(&target, new)).expect("deleted"));
        assert!(!block_on(storage.delete(&target, None)).expect("asked"));
    }
}

#[test]
fn a_change_that_others_followed_is_found_done_and_its_body_not_believed_newest() {
    let server = Server::new();
    let files = files(&server);
    write(&files, "/a.txt", "start").expect("written");
    let others = server.clone();
    let mut lost = false;
    server.script(move |request| {
        if request.method == "PUT" {
            lost = true;
            return Fault::After;
        }
        if !lost || request.method != "HEAD" {
            return Fault::None;
        }
        // Before we check, another client has edited our version.
        let mut objects = others.objects.borrow_mut();
        let object = objects.get_mut("a.txt").expect("there");
        let note = Note::read(object.meta.as_deref().expect("a note"));
        let file = crate::storage::NewFile {
            body: Bytes::from_static(b"ours and theirs"),
            created: crate::core::time::Time::default(),
            modified: crate::core::time::Time::default(),
            mime: crate::core::file::Mime::TEXT,
            format: crate::core::file::Format::V2,
            texture: crate::core::file::Texture::Ascii,
            mode: None,
        };
        object.meta = Some(Note::of(&file, "theirs", Some(&note)).write());
        object.body = file.body;
        object.tag = "theirs".into();
        Fault::None
    });
    edit(&files, "/a.txt", "start", "ours").expect("it was made");
    assert_eq!(read(&files, "/a.txt").expect("read"), "ours and theirs");
    assert_eq!(server.body("a.txt").as_deref(), Some("ours and theirs"));
}

#[test]
fn a_conditional_delete_is_conditional_before_the_first_write() {
    let server = Server::new();
    server.put("a.txt", "old");
    let files = files(&server);
    let writer = server.clone();
    // Another client writes after the look at the file, just before the DELETE arrives.
    server.script(move |request| {
        if request.method == "DELETE" && request.url.ends_with("/a.txt") {
            writer.put("a.txt", "new");
        }
        Fault::None
    });
    let old = Bytes::from_static(b"old");
    let deleted = block_on(files.delete(&path("/a.txt"), Some(&old)));
    let kind = deleted.err().map(|error| error.kind());
    assert_eq!(kind, Some(Kind::Conflict));
    assert_eq!(server.body("a.txt").as_deref(), Some("new"));
}

#[test]
fn a_delete_without_condition_spares_what_its_own_instance_uploads() {
    let server = Server::new();
    server.put("a.txt", "old");
    let trusting = S3Options {
        trust: Trust::Standard,
        ..S3Options::default()
    };
    let files = with(&server, trusting);
    let target = path("/a.txt");
    let old = Bytes::from_static(b"old");
    for _ in 0..3 {
        server.put("a.txt", "old");
        let new = vec![(target.clone(), Bytes::from_static(b"new"))];
        let together =
            futures_util::future::join(files.delete(&target, Some(&old)), files.upload(new));
        let (_, uploaded) = block_on(together);
        assert!(uploaded.iter().all(Result::is_ok));
        assert_eq!(server.body("a.txt").as_deref(), Some("new"));
    }
}

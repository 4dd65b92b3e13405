//! Moves and copies by commands: what runs, and what others change meanwhile.

use super::*;
use crate::core::error::Kind;
use crate::core::testing::{block_on, now, path};
use crate::protocol::{BackendExt, Edit, Transfer};

/// A shell that keeps what it ran and what it answered, and may do something before a transfer.
struct Kept {
    local: Local,
    ran: Rc<crate::core::cell::RefCell<Vec<(String, String)>>>,
    before: std::cell::Cell<Option<String>>,
}

impl Machine for Kept {
    fn run<'a>(&'a self, command: &'a str) -> Pending<'a, ExecuteResult> {
        if command.contains("onto()")
            && let Some(before) = self.before.take()
        {
            let _ = now(self.local.run(&before));
        }
        let answer = now(self.local.run(command));
        let output = answer.as_ref().map(|answer| answer.output.clone());
        let pair = (command.to_owned(), output.unwrap_or_default());
        self.ran.borrow_mut().push(pair);
        Box::pin(std::future::ready(answer))
    }
}

type Ran = Rc<crate::core::cell::RefCell<Vec<(String, String)>>>;

fn kept(
    shell: &'static [&'static str],
    before: Option<&str>,
) -> (Files<Sandbox<Kept>>, String, Ran) {
    let (sandbox, dir) = sandbox(shell, usize::MAX);
    let ran = Ran::default();
    let machine = Kept {
        local: sandbox.machine,
        ran: ran.clone(),
        before: std::cell::Cell::new(before.map(|script| format!("cd \"{dir}\"; {script}"))),
    };
    let storage = Sandbox::new(machine, &dir, 10 << 20);
    (Files::new(storage, FilesOptions::default()), dir, ran)
}

fn asked(from: &str, to: &str, keeps: bool, overwrite: bool) -> Transfer {
    Transfer {
        from: path(from),
        to: path(to),
        keeps,
        overwrite,
    }
}

fn write(dir: &str, name: &str, text: &str) {
    std::fs::write(format!("{dir}/{name}"), text).expect("written");
}

fn text(dir: &str, name: &str) -> Option<String> {
    std::fs::read_to_string(format!("{dir}/{name}")).ok()
}

fn names(dir: &str) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn one_command_moves_or_copies_and_no_content_comes_here() {
    for shell in [&["sh"][..], BUSYBOX] {
        let secret = "c2VjcmV0IGxpbmVz";
        let (files, dir, ran) = kept(shell, None);
        write(&dir, "a.txt", "secret lines");
        for (keeps, overwrite, to) in [
            (true, false, "/new/b.md"),
            (true, true, "/new/b.md"),
            (false, true, "/new/b.md"),
        ] {
            ran.borrow_mut().clear();
            block_on(files.transfer(&asked("/a.txt", to, keeps, overwrite))).expect("transferred");
            let ran = ran.borrow();
            let count = ran
                .iter()
                .filter(|(command, _)| command.contains("onto()"))
                .count();
            assert_eq!(count, 1);
            assert!(ran.iter().all(|(command, answer)| {
                !answer.contains(secret) && !command.contains(secret)
            }));
            assert!(ran.len() <= 6, "{} commands", ran.len());
            assert_eq!(text(&dir, "new/b.md").as_deref(), Some("secret lines"));
        }
        assert_eq!(names(&dir), ["new"]);
        assert_eq!(names(&format!("{dir}/new")), ["b.md"]);
        std::fs::remove_dir_all(dir).expect("removed");
    }
}

#[test]
fn a_directory_is_moved_by_one_rename_with_what_is_not_listed() {
    for shell in [&["sh"][..], BUSYBOX] {
        let (files, dir, ran) = kept(shell, None);
        std::fs::create_dir_all(format!("{dir}/d/e")).expect("made");
        for name in ["d/a.txt", "d/e/b.txt"] {
            write(&dir, name, name);
        }
        std::os::unix::fs::symlink("a.txt", format!("{dir}/d/link")).expect("a link");
        block_on(files.transfer(&asked("/d", "/x/y", false, false))).expect("moved");
        assert!(ran.borrow().len() <= 7, "{} commands", ran.borrow().len());
        assert_eq!(names(&format!("{dir}/x/y")), ["a.txt", "e", "link"]);
        assert_eq!(names(&dir), ["x"]);
        std::fs::remove_dir_all(dir).expect("removed");
    }
}

#[test]
fn a_file_that_was_made_meanwhile_is_not_replaced() {
    for keeps in [false, true] {
        let (files, dir, _) = kept(&["sh"], Some("printf theirs > b.txt"));
        write(&dir, "a.txt", "ours");
        let answer = block_on(files.transfer(&asked("/a.txt", "/b.txt", keeps, false)));
        assert_eq!(answer.expect_err("it exists").kind(), Kind::AlreadyExists);
        assert_eq!(text(&dir, "a.txt").as_deref(), Some("ours"));
        assert_eq!(text(&dir, "b.txt").as_deref(), Some("theirs"));
        assert_eq!(names(&dir), ["a.txt", "b.txt"]);
        std::fs::remove_dir_all(dir).expect("removed");
    }
}

#[test]
fn a_link_that_was_made_meanwhile_is_read_and_put_and_leads_nowhere_else() {
    let (files, dir, _) = kept(&["sh"], Some("mv a.txt real.txt; ln -s real.txt a.txt"));
    write(&dir, "a.txt", "ours");
    block_on(files.transfer(&asked("/a.txt", "/b.txt", false, false))).expect("moved");
    assert_eq!(text(&dir, "b.txt").as_deref(), Some("ours"));
    assert_eq!(names(&dir), ["b.txt", "real.txt"]);
    std::fs::remove_dir_all(dir).expect("removed");
}

#[test]
fn appends_of_others_to_a_file_that_is_moved_to_and_fro_are_all_kept() {
    let dir = folder();
    write(&dir, "a.txt", "");
    let open = |dir: &str| {
        let machine = Local {
            shell: &["sh"],
            cap: usize::MAX,
            tools: None,
        };
        Files::new(
            Sandbox::new(machine, dir, 10 << 20),
            FilesOptions::default(),
        )
    };
    std::thread::scope(|scope| {
        for writer in ["x\n", "y\n"] {
            let dir = &dir;
            scope.spawn(move || {
                let files = open(dir);
                let edit = Edit {
                    old: Bytes::new(),
                    new: Bytes::from_static(writer.as_bytes()),
                    replace_all: false,
                    whole: false,
                    appends: true,
                };
                let mut done = 0;
                for attempt in 0.. {
                    let at = path(if attempt % 2 == 0 { "/a.txt" } else { "/b.txt" });
                    done += usize::from(block_on(files.edit(&at, &edit)).is_ok());
                    if done == 5 {
                        break;
                    }
                }
            });
        }
        let dir = &dir;
        scope.spawn(move || {
            let files = open(dir);
            for (from, to) in [("/a.txt", "/b.txt"), ("/b.txt", "/a.txt")].repeat(3) {
                block_on(files.transfer(&asked(from, to, false, false))).expect("moved");
            }
        });
    });
    let all = text(&dir, "a.txt").expect("it was moved back");
    let mut lines: Vec<&str> = all.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [["x"; 5], ["y"; 5]].concat());
    assert_eq!(names(&dir), ["a.txt"]);
    std::fs::remove_dir_all(dir).expect("removed");
}

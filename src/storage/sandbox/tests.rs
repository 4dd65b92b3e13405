//! The sandbox with real shells of the local machine, which behave like those in a container.

mod moving;

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::conformance;
use crate::core::testing::{block_on, now};
use crate::files::{Files, FilesOptions};
use crate::protocol::SharedBackend;
use crate::storage::Hints;

/// A local shell whose output may be truncated.
struct Local {
    shell: &'static [&'static str],
    cap: usize,
    /// The only directory to search for commands, if set.
    tools: Option<std::path::PathBuf>,
}

impl Machine for Local {
    fn run<'a>(&'a self, command: &'a str) -> Pending<'a, ExecuteResult> {
        let (program, arguments) = self.shell.split_first().expect("a shell");
        let mut shell = Command::new(program);
        if let Some(tools) = &self.tools {
            shell.env_clear().env("PATH", tools);
        }
        let out = shell
            .args(arguments)
            .arg("-c")
            .arg(command)
            .stdin(Stdio::null())
            .output()
            .expect("the shell runs");
        let all = String::from_utf8_lossy(&out.stdout).into_owned();
        let truncated = all.len() > self.cap;
        let output = all.chars().take(self.cap).collect();
        Box::pin(std::future::ready(Ok(ExecuteResult {
            output,
            exit_code: out.status.code(),
            truncated,
        })))
    }
}

fn folder() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("kitbag sandbox ' {} {n}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    dir.to_str().expect("a name").to_owned()
}

fn sandbox(shell: &'static [&'static str], cap: usize) -> (Sandbox<Local>, String) {
    let dir = folder();
    let tools = (shell == BUSYBOX).then(busybox_alone);
    let machine = Local { shell, cap, tools };
    (Sandbox::new(machine, &dir, 10 << 20), dir)
}

const BUSYBOX: &[&str] = &["/bin/busybox", "sh"];

/// A directory that contains only links to busybox, so that no other tools of the system are used.
fn busybox_alone() -> std::path::PathBuf {
    static MADE: std::sync::OnceLock<std::path::PathBuf> = std::sync::OnceLock::new();
    MADE.get_or_init(|| {
        let dir = std::path::PathBuf::from(folder());
        let list = Command::new("/bin/busybox").arg("--list").output();
        let list = String::from_utf8(list.expect("busybox").stdout).expect("names");
        for applet in list.lines() {
            std::os::unix::fs::symlink("/bin/busybox", dir.join(applet)).expect("a link");
        }
        dir
    })
    .clone()
}

fn conforms(shell: &'static [&'static str], cap: usize) {
    let folders = crate::core::cell::RefCell::new(Vec::new());
    let report = conformance::run(async || {
        let (storage, dir) = sandbox(shell, cap);
        folders.borrow_mut().push(dir);
        let backend: SharedBackend = Rc::new(Files::new(storage, FilesOptions::default()));
        Ok(backend)
    });
    // Local shells respond synchronously and waits take no time, so polling is enough.
    let report = block_on(report);
    for dir in folders.take() {
        std::fs::remove_dir_all(dir).expect("removed");
    }
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
    assert!(report.passed > 20, "{} passed", report.passed);
}

// The suite `host-conformance` asks the same of `sh` and of busybox, through the package.

#[test]
fn bash_conforms() {
    conforms(&["bash"], usize::MAX);
}

#[test]
fn a_sandbox_that_cuts_its_output_conforms() {
    conforms(&["sh"], 6000);
}

/// A machine on which a file changes between `stat` and the read.
struct Meanwhile {
    local: Local,
    happens: std::cell::Cell<Option<&'static str>>,
}

impl Machine for Meanwhile {
    fn run<'a>(&'a self, command: &'a str) -> Pending<'a, ExecuteResult> {
        let changed = match command.contains("then head -c") {
            true => self.happens.take(),
            false => None,
        };
        let command = match changed {
            Some(change) => command.replacen("then head -c", &format!("then {change}; head -c"), 1),
            None => command.to_owned(),
        };
        Box::pin(std::future::ready(now(self.local.run(&command))))
    }
}

fn read_meanwhile(happens: &'static str, many: bool) -> Vec<(String, String)> {
    let dir = folder();
    for name in ["a", "b"] {
        std::fs::write(format!("{dir}/{name}.txt"), "fourteen bytes").expect("written");
    }
    let local = Local {
        shell: &["sh"],
        cap: usize::MAX,
        tools: None,
    };
    let machine = Meanwhile {
        local,
        happens: std::cell::Cell::new(None),
    };
    let storage = Sandbox::new(machine, &dir, 10 << 20);
    storage.machine.happens.set(Some(happens));
    let mut seen = Vec::new();
    let text = |file: &File| String::from_utf8_lossy(&file.body).into_owned();
    if many {
        let root = VPath::root();
        let scope = Scope::all(&root);
        let all = Scan {
            scope: &scope,
            names: &|_| true,
            want: &|_, _| true,
            hints: Hints::default(),
        };
        let mut visit = |path: &VPath, file: &File| {
            seen.push((path.to_string(), text(file)));
            crate::storage::Flow::Continue(())
        };
        now(storage.scan(all, &mut visit)).expect("scanned");
    } else {
        let path = VPath::parse("/a.txt").expect("a path");
        let found = now(storage.get(&path)).expect("looked");
        seen.extend(found.map(|file| (path.to_string(), text(&file))));
    }
    std::fs::remove_dir_all(dir).expect("removed");
    seen
}

#[test]
fn a_file_that_vanishes_while_it_is_read_is_not_found() {
    assert_eq!(read_meanwhile(r#"rm -f "$p""#, false), []);
}

#[test]
fn a_file_that_vanishes_while_many_are_read_is_left_out() {
    let b = ("/b.txt".to_owned(), "fourteen bytes".to_owned());
    assert_eq!(read_meanwhile(r#"rm -f "$p""#, true), [b]);
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_read_as_it_is_then() {
    let a = || ("/a.txt".to_owned(), "cut".to_owned());
    assert_eq!(read_meanwhile(r#"printf cut > "$p""#, false), [a()]);
    let b = ("/b.txt".to_owned(), "fourteen bytes".to_owned());
    assert_eq!(read_meanwhile(r#"printf cut > "$p""#, true), [a(), b]);
}

#[test]
fn a_file_that_is_emptied_while_it_is_read_is_empty() {
    let a = ("/a.txt".to_owned(), String::new());
    assert_eq!(read_meanwhile(r#": > "$p""#, false), [a]);
}

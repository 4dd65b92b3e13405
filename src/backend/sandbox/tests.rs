//! The sandbox on real shells of this machine: whatever behaves here behaves in a container.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt;

use super::*;
use crate::backend::files::{Files, FilesOptions};
use crate::conformance;
use crate::protocol::SharedBackend;

/// A shell of this machine, which may cut its output.
struct Local {
    shell: &'static [&'static str],
    cap: usize,
    /// The only place where commands are found, if not everywhere.
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

/// A folder with links to busybox and nothing else, so that none of the system's tools helps.
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
    let folders = std::cell::RefCell::new(Vec::new());
    let report = conformance::run(async || {
        let (storage, dir) = sandbox(shell, cap);
        folders.borrow_mut().push(dir);
        let backend: SharedBackend = Rc::new(Files::new(storage, FilesOptions::default()));
        Ok(backend)
    });
    // Shells here answer at once, and waits take no time: polling is all there is to it.
    let report = tests_only_block(report).now_or_never().expect("done");
    for dir in folders.into_inner() {
        std::fs::remove_dir_all(dir).expect("removed");
    }
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
    assert!(report.passed > 20, "{} passed", report.passed);
}

/// Polls until it is done; native waits only ask for another poll.
async fn tests_only_block<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    loop {
        if let Some(answer) = (&mut future).now_or_never() {
            return answer;
        }
    }
}

#[test]
fn the_systems_shell_conforms() {
    conforms(&["sh"], usize::MAX);
}

#[test]
fn bash_conforms() {
    conforms(&["bash"], usize::MAX);
}

#[test]
fn busybox_conforms() {
    conforms(BUSYBOX, usize::MAX);
}

#[test]
fn a_sandbox_that_cuts_its_output_conforms() {
    conforms(&["sh"], 6000);
}

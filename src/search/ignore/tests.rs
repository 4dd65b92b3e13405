//! The rules against git itself, on random trees with random ignore files.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;
use crate::core::pace::tests::steady;
use crate::core::testing::{now, path};

fn add(rules: &mut Ignore, dir: &VPath, text: &[u8]) {
    now(rules.add(dir, text, &steady()));
}

#[test]
fn a_directory_that_was_asked_for_is_searched() {
    let mut rules = Ignore::default();
    add(&mut rules, &VPath::root(), b"node_modules/\n*.log\n");
    let file = path("/node_modules/a/index.js");
    assert!(rules.ignores(&file, &VPath::root()));
    assert!(!rules.ignores(&file, &path("/node_modules")));
    assert!(rules.ignores(&path("/node_modules/a.log"), &path("/node_modules")));
    assert!(!rules.ignores(&path("/a.log"), &path("/a.log")));
}

#[test]
fn a_pattern_of_many_stars_takes_no_time() {
    let mut rules = Ignore::default();
    add(&mut rules, &VPath::root(), "a*".repeat(200).as_bytes());
    assert!(!rules.ignores(&path(&format!("/{}", "ab".repeat(100))), &VPath::root()));
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> Vec<u8> {
    let lines: Vec<String> = (0..count).map(line).collect();
    lines.join("\n").into_bytes()
}

/// Before, one of these files took half a minute for a hundred paths.
#[test]
fn an_ignore_file_of_a_megabyte_takes_no_time_or_is_refused() {
    const MIB: usize = 1 << 20;
    let files: [(&str, bool, Vec<u8>); 12] = [
        ("one line", false, b"a".repeat(MIB)),
        ("stars in one line", false, b"a*".repeat(MIB / 2)),
        ("classes in one line", false, b"[ab]".repeat(MIB / 4)),
        ("names", false, lines(MIB / 8, |at| format!("a{at}"))),
        ("one name", false, b"b\n".repeat(MIB / 2)),
        ("endings", false, lines(MIB / 8, |at| format!("*.{at}"))),
        ("paths", false, lines(MIB / 10, |at| format!("/a/{at}"))),
        ("beginnings", false, lines(MIB / 8, |at| format!("{at}*"))),
        ("directories", true, lines(MIB / 8, |at| format!("x{at}*/"))),
        (
            "included again",
            true,
            lines(MIB / 8, |at| format!("!x{at}*")),
        ),
        (
            "stars that match nearly",
            true,
            lines(MIB / 400, |_| "*a".repeat(200) + "b*"),
        ),
        (
            "deep stars",
            true,
            lines(MIB / 400, |_| "**/a*".repeat(80) + "/b*"),
        ),
    ];
    for (what, is_refused, text) in files {
        let started = std::time::Instant::now();
        let mut rules = Ignore::default();
        add(&mut rules, &VPath::root(), &text);
        let long = ["a".repeat(250), "a/".repeat(120) + "a", "a*".repeat(100)];
        for at in 0..30 {
            for name in &long {
                rules.ignores(&path(&format!("/{at}/{name}")), &VPath::root());
            }
        }
        let took = started.elapsed();
        // A test build on a busy machine is many times slower than the package.
        assert!(took.as_secs() < 60, "{what}: {took:?}");
        assert_eq!(rules.over().is_err(), is_refused, "{what}");
        if std::env::var_os("SHOW").is_some() {
            println!("{what}: {took:?}");
        }
    }
}

#[test]
fn many_ignore_files_take_no_time() {
    let mut rules = Ignore::default();
    let dir = |at: usize| path(&format!("/{}/{at}", at / 100));
    for at in 0..20_000 {
        add(&mut rules, &dir(at), b"*.log\n!b.log\n");
    }
    let root = VPath::root();
    for at in 0..20_000 {
        let dir = dir(at);
        assert!(rules.ignores(&dir.join("a.log").expect("a path"), &root));
        assert!(!rules.ignores(&dir.join("b.log").expect("a path"), &root));
    }
    assert!(rules.over().is_ok());
}

#[test]
fn when_the_work_is_too_much_nothing_is_shown() {
    let mut rules = Ignore::default();
    add(
        &mut rules,
        &VPath::root(),
        &lines(4000, |_| "*a".repeat(200) + "b*"),
    );
    let file = path(&format!("/{}", "a".repeat(1000)));
    let ignored = (0..50).map(|_| rules.ignores(&file, &VPath::root()));
    assert!(ignored.last() == Some(true) && rules.over().is_err());
    assert!(rules.ignores(&path("/b"), &VPath::root()));
}

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn file(&mut self) -> String {
        let depth = 1 + self.below(4);
        let names = [
            "a", "b", "src", "build", "a.log", "b.txt", "x y", "#c", "!d", "é", "a]b", "-",
        ];
        let segments: Vec<&str> = (0..depth).map(|_| self.pick(&names)).collect();
        segments.join("/")
    }

    fn line(&mut self) -> String {
        let parts = [
            "a",
            "b",
            "src",
            "build",
            "*",
            "**",
            "?",
            "/",
            "/",
            ".log",
            ".txt",
            "[ab]",
            "[!a]",
            "[a-c]",
            "[[:alpha:]]",
            "\\#c",
            "\\!d",
            "#c",
            "x y",
            "é",
            "[]a]",
            "[a",
            "\\",
            " ",
            "a*",
            "-",
            "[^-]",
        ];
        let count = 1 + self.below(4);
        let mut line = String::new();
        if self.below(4) == 0 {
            line.push('!');
        }
        for _ in 0..count {
            line.push_str(self.pick(&parts));
        }
        if self.below(4) == 0 {
            line.push('/');
        }
        if self.below(8) == 0 {
            line.push_str("  ");
        }
        line
    }
}

/// What git says is ignored.
fn by_git(root: &std::path::Path, files: &[String]) -> BTreeSet<String> {
    let mut git = Command::new("git")
        .args(["-c", "core.excludesFile=", "-c", "core.quotePath=false"])
        .args(["check-ignore", "-z", "--stdin", "--no-index"])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git");
    let input = git.stdin.as_mut().expect("a pipe");
    input
        .write_all(files.join("\0").as_bytes())
        .expect("written");
    // This closes the pipe first.
    let said = git.wait_with_output().expect("an answer").stdout;
    let said = String::from_utf8(said).expect("text");
    said.split('\0')
        .filter(|one| !one.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn it_ignores_what_git_ignores_in_500_trees() {
    let folder = std::env::temp_dir().join(format!("kitbag-ignore-{}", std::process::id()));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut ignored = 0;
    for tree in 0..500 {
        let root = folder.join(tree.to_string());
        let mut files: Vec<String> = Vec::new();
        for _ in 0..12 {
            let file = random.file();
            let at = root.join(&file);
            let parent = at.parent().expect("a directory");
            // A name may be a file already.
            if std::fs::create_dir_all(parent).is_ok() && !at.is_dir() && !at.exists() {
                std::fs::write(&at, "").expect("written");
                files.push(file);
            }
        }
        std::fs::create_dir_all(root.join(".git/refs")).expect("made");
        std::fs::create_dir_all(root.join(".git/objects")).expect("made");
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
        let mut rules = Ignore::default();
        let mut texts = Vec::new();
        let dirs: BTreeSet<String> = files
            .iter()
            .filter_map(|file| file.rsplit_once('/').map(|(dir, _)| dir.to_owned()))
            .chain([String::new()])
            .collect();
        for dir in dirs {
            if !dir.is_empty() && random.below(2) == 0 {
                continue;
            }
            let lines: Vec<String> = (0..1 + random.below(5)).map(|_| random.line()).collect();
            let text = lines.join(if random.below(5) == 0 { "\r\n" } else { "\n" });
            std::fs::write(root.join(&dir).join(".gitignore"), &text).expect("written");
            add(&mut rules, &path(&format!("/{dir}")), text.as_bytes());
            texts.push(format!("{dir}/.gitignore: {text:?}"));
        }
        let git = by_git(&root, &files);
        let ours: BTreeSet<String> = files
            .iter()
            .filter(|file| rules.ignores(&path(&format!("/{file}")), &VPath::root()))
            .cloned()
            .collect();
        ignored += git.len();
        assert_eq!(ours, git, "tree {tree}: {texts:#?}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(ignored > 1000, "{ignored} files were ignored");
}

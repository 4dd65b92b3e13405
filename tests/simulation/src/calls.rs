//! The calls of a caller: drawn at random, made on the real backend, and told in terms of the model.

use bytes::Bytes;
use kitbag::core::error::{Error, Kind as ErrorKind, Result};
use kitbag::core::path::VPath;
use kitbag::protocol::{
    Backend, BackendExt, Content, Edit, EntryInfo, FileInfo, GlobQuery, GrepQuery, Page,
};

use crate::body::{Bodies, END, Value};
use crate::history::Step;
use crate::rng::Rng;
use crate::scenario::Scenario;

/// What a call is.
#[derive(Clone, Debug)]
pub enum Action {
    /// `write`.
    Write(String, Value, Bytes),
    /// `uploadFiles`.
    Upload(Vec<(String, Value, Bytes)>),
    /// An edit that appends a mark.
    Append(String, u32),
    /// An edit of the whole file.
    Swap(String, Value, Bytes, Value, Bytes),
    /// `delete` of a file.
    Delete(String),
    /// `delete` of a file if it has this content.
    DeleteIf(String, Value, Bytes),
    /// `delete` of a directory.
    DeleteDir(String),
    /// A whole file, by `readRaw` or `downloadFiles`.
    Read(String, bool),
    /// A page.
    Page(String, usize, usize),
    /// `ls`.
    Ls(String),
    /// `glob`.
    Glob(String),
    /// `grep` for a mark.
    Grep(u32),
    /// A call that a rule must refuse.
    Trespass(u8),
}

/// What a call has come to.
pub struct Told {
    /// Whether it is known what was done.
    pub known: bool,
    /// The outcome, for people.
    pub outcome: String,
    /// What was done or seen.
    pub facts: Vec<(String, Step)>,
    /// What may have been done.
    pub unsure: Vec<(String, Step)>,
    /// What must never happen.
    pub violation: Option<String>,
    /// The content that was read.
    pub read: Option<(String, Value, Bytes)>,
}

/// The contents of one world, and the numbers of its marks.
#[derive(Default)]
pub struct Contents {
    /// The contents.
    pub bodies: Bodies,
    marks: u32,
}

impl Contents {
    fn mark(&mut self) -> u32 {
        self.marks += 1;
        self.marks
    }
}

fn is_text(path: &str) -> bool {
    !path.ends_with(".bin")
}

/// Draws the next call. `seen` is the last content that this caller has read of a file.
pub fn draw(
    rng: &mut Rng,
    scenario: &Scenario,
    contents: &mut Contents,
    seen: &[(String, Value, Bytes)],
) -> Action {
    let path = (*rng.pick(&scenario.paths)).to_owned();
    let known = seen.iter().rev().find(|(of, ..)| *of == path).cloned();
    let make = |rng: &mut Rng, contents: &mut Contents, path: &str| {
        contents.bodies.make(scenario.size(rng), is_text(path))
    };
    let dir = || if path.starts_with("/m/") { "/m" } else { "/d" }.to_owned();
    match rng.below(100) {
        0..14 => {
            let (value, body) = make(rng, contents, &path);
            Action::Write(path, value, body)
        }
        14..25 => {
            let mut files: Vec<(String, Value, Bytes)> = Vec::new();
            for _ in 0..rng.range(1, 3) {
                let path = (*rng.pick(&scenario.paths)).to_owned();
                if files.iter().all(|(other, ..)| *other != path) {
                    let (value, body) = make(rng, contents, &path);
                    files.push((path, value, body));
                }
            }
            Action::Upload(files)
        }
        25..50 => Action::Append(path, contents.mark()),
        50..57 => match known {
            Some((_, value, body)) => {
                let (new, bytes) = make(rng, contents, &path);
                Action::Swap(path, value, body, new, bytes)
            }
            None => Action::Read(path, true),
        },
        57..62 => Action::Delete(path),
        62..66 => match known {
            Some((_, value, body)) => Action::DeleteIf(path, value, body),
            None => Action::Read(path, false),
        },
        66..68 => Action::DeleteDir(dir()),
        68..80 => Action::Read(path, rng.chance(500)),
        80..88 if is_text(&path) => {
            let far = match scenario.sizes {
                crate::scenario::Sizes::Tiny => 4,
                crate::scenario::Sizes::Small => 100,
                _ => 6000,
            };
            Action::Page(path, rng.below(far) as usize, rng.range(1, far) as usize)
        }
        80..91 => Action::Ls(dir()),
        91..94 => Action::Glob(dir()),
        94..97 => Action::Grep(rng.below(u64::from(contents.marks) + 1) as u32),
        _ if scenario.guards.permissions => Action::Trespass(rng.below(8) as u8),
        _ => Action::Read(path, false),
    }
}

impl Action {
    /// The operation, and what it is about.
    pub fn name(&self, bodies: &Bodies) -> (&'static str, String) {
        match self {
            Action::Write(path, value, _) => ("write", format!("{path} {}", bodies.name(*value))),
            Action::Upload(files) => {
                let files = files
                    .iter()
                    .map(|(path, value, _)| format!("{path} {}", bodies.name(*value)));
                ("upload", files.collect::<Vec<_>>().join(", "))
            }
            Action::Append(path, mark) => ("edit", format!("{path} +{mark}")),
            Action::Swap(path, old, _, new, _) => {
                let names = (bodies.name(*old), bodies.name(*new));
                ("edit", format!("{path} {} to {}", names.0, names.1))
            }
            Action::Delete(path) => ("delete", path.clone()),
            Action::DeleteIf(path, value, _) => {
                ("delete", format!("{path} if {}", bodies.name(*value)))
            }
            Action::DeleteDir(path) => ("delete", format!("{path}/")),
            Action::Read(path, true) => ("readRaw", path.clone()),
            Action::Read(path, false) => ("download", path.clone()),
            Action::Page(path, offset, limit) => ("read", format!("{path} {offset} {limit}")),
            Action::Ls(path) => ("ls", path.clone()),
            Action::Glob(path) => ("glob", path.clone()),
            Action::Grep(mark) => ("grep", format!("+{mark}")),
            Action::Trespass(what) => ("trespass", format!("{what}")),
        }
    }

    /// What it may do.
    pub fn intent(&self, scenario: &Scenario) -> Vec<(String, Step)> {
        match self {
            Action::Write(path, value, _) => vec![(
                path.clone(),
                match scenario.overwrite {
                    true => Step::Set(*value),
                    false => Step::Create(*value),
                },
            )],
            Action::Upload(files) => {
                let files = files.iter();
                files
                    .map(|(path, value, _)| (path.clone(), Step::Set(*value)))
                    .collect()
            }
            Action::Append(path, mark) => vec![(path.clone(), Step::Append(*mark))],
            Action::Swap(path, old, _, new, _) => vec![(path.clone(), Step::Swap(*old, *new))],
            Action::Delete(path) => vec![(path.clone(), Step::Clear)],
            Action::DeleteIf(path, value, _) => vec![(path.clone(), Step::RemoveIf(*value))],
            Action::DeleteDir(dir) => cleared(scenario, dir),
            _ => Vec::new(),
        }
    }
}

fn beneath<'a>(scenario: &'a Scenario, dir: &'a str) -> impl Iterator<Item = &'a str> {
    let inside = move |path: &&str| {
        path.strip_prefix(dir)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    scenario.paths.iter().copied().filter(inside)
}

fn cleared(scenario: &Scenario, dir: &str) -> Vec<(String, Step)> {
    beneath(scenario, dir)
        .map(|path| (path.to_owned(), Step::Clear))
        .collect()
}

/// Whether an error leaves it open whether the change was made.
fn is_open(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Internal
    )
}

fn path(text: &str) -> VPath {
    VPath::parse(text).unwrap_or_else(|_| VPath::root())
}

impl Told {
    fn new(outcome: impl Into<String>) -> Told {
        Told {
            known: true,
            outcome: outcome.into(),
            facts: Vec::new(),
            unsure: Vec::new(),
            violation: None,
            read: None,
        }
    }

    fn fact(mut self, path: &str, step: Step) -> Told {
        self.facts.push((path.to_owned(), step));
        self
    }

    fn wrong(mut self, what: String) -> Told {
        self.violation = Some(what);
        self
    }

    /// A refusal, with what it tells about the file.
    fn refused(error: &Error, facts: Vec<(String, Step)>) -> Told {
        let mut told = Told::new(error.code());
        told.known = !is_open(error);
        told.facts = facts;
        if error.kind() == ErrorKind::Internal {
            told.violation = Some(format!("internal error: {error}"));
        }
        told
    }
}

/// Makes a call, and tells what it has come to.
pub async fn perform(
    action: Action,
    backend: &dyn Backend,
    scenario: &Scenario,
    contents: &std::cell::RefCell<Contents>,
) -> Told {
    let absent = |at: &str, error: &Error| match error.kind() {
        ErrorKind::NotFound => vec![(at.to_owned(), Step::Saw(Value::Absent))],
        _ => Vec::new(),
    };
    let intent = action.intent(scenario);
    match action {
        Action::Write(at, _, body) => {
            match backend.write(&path(&at), Content::Raw(body, None)).await {
                Ok(_) => done(intent),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    Told::refused(&error, vec![(at, Step::SawSome)])
                }
                Err(error) => Told::refused(&error, Vec::new()),
            }
        }
        Action::Upload(files) => {
            let sent = files.iter().map(|(at, _, body)| (path(at), body.clone()));
            let answers = backend.upload(sent.collect()).await;
            let mut told = Told::new("");
            for ((at, value, _), answer) in files.iter().zip(answers) {
                match answer {
                    Ok(()) => told.facts.push((at.clone(), Step::Set(*value))),
                    Err(error) if is_open(&error) => {
                        told.unsure.push((at.clone(), Step::Set(*value)));
                    }
                    Err(_) => {}
                }
            }
            told.outcome = format!("{} of {}", told.facts.len(), files.len());
            told
        }
        Action::Append(at, mark) => {
            let edit = Edit {
                old: Bytes::from_static(END.as_bytes()),
                new: Bytes::from(Bodies::mark(mark)),
                replace_all: false,
                whole: false,
                appends: false,
            };
            match backend.edit(&path(&at), &edit).await {
                Ok(_) => done(intent),
                Err(error) if error.kind() == ErrorKind::NoMatch => {
                    Told::refused(&error, vec![(at, Step::Saw(Value::Empty))])
                }
                Err(error) => Told::refused(&error, absent(&at, &error)),
            }
        }
        Action::Swap(at, old, old_bytes, _, new) => {
            let edit = Edit {
                old: old_bytes,
                new,
                replace_all: false,
                whole: true,
                appends: false,
            };
            match backend.edit(&path(&at), &edit).await {
                Ok(_) => done(intent),
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    Told::refused(&error, vec![(at, Step::SawOther(old))])
                }
                Err(error) => Told::refused(&error, absent(&at, &error)),
            }
        }
        Action::Delete(at) => match backend.delete(&path(&at), None).await {
            Ok(_) => done(intent),
            Err(error) => Told::refused(&error, absent(&at, &error)),
        },
        Action::DeleteIf(at, value, body) => match backend.delete(&path(&at), Some(&body)).await {
            Ok(_) => done(intent),
            Err(error) if error.kind() == ErrorKind::Conflict => {
                Told::refused(&error, vec![(at, Step::SawOther(value))])
            }
            Err(error) => Told::refused(&error, absent(&at, &error)),
        },
        Action::DeleteDir(dir) => match backend.delete(&path(&dir), None).await {
            Ok(_) => done(intent),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let gone = intent.into_iter();
                let gone = gone.map(|(at, _)| (at, Step::Saw(Value::Absent))).collect();
                Told::refused(&error, gone)
            }
            Err(error) => {
                let mut told = Told::refused(&error, Vec::new());
                told.known = true;
                told.unsure = intent;
                told
            }
        },
        Action::Read(at, raw) => {
            let answer = match raw {
                true => backend.read_raw(&path(&at)).await.map(|file| file.body),
                false => {
                    let answers = backend.download(&[path(&at)]).await;
                    let none = || Err(Error::internal("no answer"));
                    answers.into_iter().next().unwrap_or_else(none)
                }
            };
            match answer {
                Ok(body) => seen(&at, body, contents),
                Err(error) => Told::refused(&error, absent(&at, &error)),
            }
        }
        Action::Page(at, offset, limit) => {
            match backend.read(&path(&at), Page { offset, limit }).await {
                Ok(read) => Told::new(format!("{} bytes", read.content.len()))
                    .fact(&at, Step::SawPage(offset, limit, read.content)),
                Err(error) => Told::refused(&error, absent(&at, &error)),
            }
        }
        Action::Ls(dir) => match backend.ls(&path(&dir)).await {
            Ok(infos) => {
                let direct = |at: &str| !at[dir.len() + 1..].contains('/');
                listed(infos, beneath(scenario, &dir).filter(|at| direct(at)))
            }
            Err(error) => Told::refused(&error, Vec::new()),
        },
        Action::Glob(dir) => {
            let query = GlobQuery::new("**/*", path(&dir));
            match backend.glob(&query).await {
                Ok(found) => listed(found.files, beneath(scenario, &dir)),
                Err(error) => Told::refused(&error, Vec::new()),
            }
        }
        Action::Grep(mark) => {
            let query = GrepQuery::literal(&format!(" +{mark} "));
            match backend.grep(&query).await {
                Ok(found) => {
                    let mut told = Told::new(format!("{} files", found.matches.paths.len()));
                    let paths = found.matches.paths.iter();
                    let paths: Vec<String> = paths.map(|at| at.as_str().to_owned()).collect();
                    for at in scenario.paths.iter().filter(|at| is_text(at)) {
                        let there = paths.iter().any(|found| found == at);
                        told = told.fact(at, Step::SawMark(mark, there));
                    }
                    hidden(told, &paths)
                }
                Err(error) => Told::refused(&error, Vec::new()),
            }
        }
        Action::Trespass(what) => trespass(what, backend).await,
    }
}

fn done(facts: Vec<(String, Step)>) -> Told {
    let mut told = Told::new("ok");
    told.facts = facts;
    told
}

fn seen(at: &str, body: Bytes, contents: &std::cell::RefCell<Contents>) -> Told {
    let value = contents.borrow_mut().bodies.read(&body);
    match value {
        Ok(value) => {
            let name = contents.borrow().bodies.name(value);
            let mut told = Told::new(name).fact(at, Step::Saw(value));
            told.read = Some((at.to_owned(), value, body));
            told
        }
        Err(wrong) => Told::new("torn").wrong(format!("{at}: {wrong}")),
    }
}

fn listed<'a>(infos: Vec<FileInfo>, paths: impl Iterator<Item = &'a str>) -> Told {
    let mut told = Told::new(format!("{} entries", infos.len()));
    for at in paths {
        let info = infos
            .iter()
            .find(|info| info.path.as_str() == at && !info.is_dir());
        let step = match info.map(|info| info.entry) {
            Some(EntryInfo::File {
                size: Some(size), ..
            }) => Step::SawSize(size),
            Some(_) => Step::SawSome,
            None => Step::Saw(Value::Absent),
        };
        told = told.fact(at, step);
    }
    let shown: Vec<String> = infos.iter().map(FileInfo::shown_path).collect();
    hidden(told, &shown)
}

fn hidden(told: Told, paths: &[String]) -> Told {
    match paths.iter().find(|path| path.starts_with("/hidden/")) {
        Some(path) => told.wrong(format!("{path} is hidden and was shown")),
        None => told,
    }
}

/// The file that no rule shows, and the one that no rule lets anybody change.
pub const HIDDEN: &str = "/hidden/secret.txt";
/// Likewise.
pub const FROZEN: &str = "/frozen/f.txt";

async fn trespass(what: u8, backend: &dyn Backend) -> Told {
    let bytes = Bytes::from_static(b"trespass");
    let at = path(if what.is_multiple_of(2) {
        HIDDEN
    } else {
        FROZEN
    });
    let refused = |answer: Result<()>| match answer {
        Ok(()) => Told::new("ok").wrong(format!("a rule let call {what} on {at} pass")),
        Err(error) => Told {
            known: true,
            ..Told::refused(&error, Vec::new())
        },
    };
    match what {
        0 | 1 => {
            let mut answers = backend.upload(vec![(at.clone(), bytes)]).await;
            refused(answers.pop().unwrap_or(Ok(())))
        }
        2 | 3 => {
            let edit = Edit {
                old: bytes.clone(),
                new: bytes,
                replace_all: true,
                whole: false,
                appends: false,
            };
            refused(backend.edit(&at, &edit).await.map(drop))
        }
        4 | 5 => refused(backend.delete(&at.parent(), None).await.map(drop)),
        6 => refused(backend.read_raw(&at).await.map(drop)),
        _ => {
            let query = GrepQuery::literal("SECRET");
            match backend.grep(&query).await {
                Ok(found) => {
                    let paths = found.matches.paths.iter();
                    let paths: Vec<String> = paths.map(|at| at.as_str().to_owned()).collect();
                    hidden(Told::new(format!("{} files", paths.len())), &paths)
                }
                Err(error) => Told::refused(&error, Vec::new()),
            }
        }
    }
}

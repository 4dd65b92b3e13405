//! Random histories of changes, updates of the index and damage to it. After each step a search with
//! the index is compared with a search without.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{LocalBoxFuture, join, ready as at_once};
use kitbag::core::error::Result;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::env::simulated::{self, Host};
use kitbag::files::{Files, FilesOptions, WriteMode};
use kitbag::layer::indexed::Indexed;
use kitbag::protocol::{BackendExt, Edit, GrepQuery, GrepResult, SharedBackend};
use kitbag::side::Room;
use kitbag_simulation::rng::Rng;

use crate::storage::{Shared, ready};

/// What one history came to.
#[derive(Default)]
pub struct Seen {
    /// Searches that were compared.
    pub searches: u64,
    /// Files that the index excluded.
    pub excluded: u64,
    /// Segments that were merged.
    pub merged: u64,
    /// What differed.
    pub wrong: Vec<String>,
}

/// The clock and the random numbers of a history.
struct World {
    micros: Cell<i64>,
    rng: RefCell<Rng>,
}

impl Host for World {
    fn now(&self) -> Time {
        Time::from_micros(self.micros.get())
    }

    fn sleep(&self, _: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(at_once(()))
    }

    fn unit(&self) -> f64 {
        self.rng.borrow_mut().unit()
    }
}

/// A source of choices.
struct Dice(Rng);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0.below(sides as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.roll(from.len())]
    }
}

fn path(text: &str) -> VPath {
    VPath::parse(text).expect("a path")
}

fn plain(storage: &Shared) -> SharedBackend {
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    Rc::new(Files::new(storage.clone(), options))
}

fn indexed(storage: &Shared) -> Indexed {
    let files = plain(storage);
    let room = Room::new(files.clone(), dir(), None);
    Indexed::new(files, room)
}

/// Where the index is kept.
fn dir() -> VPath {
    VPath::own("/.kitbag/index").expect("a path of the library")
}

fn upload(backend: &SharedBackend, at: &str, body: &[u8]) {
    let at = VPath::any(at).expect("a path");
    ready(backend.store(&at, Bytes::copy_from_slice(body))).expect("stored");
}

/// The matches of a search.
fn shown(found: Result<GrepResult>) -> std::result::Result<Vec<String>, String> {
    let found = found.map_err(|error| error.to_string())?;
    let lines = found.matches.iter().map(|line| {
        format!(
            "{}:{}:{:?}:{:?}",
            line.path, line.line, line.kind, line.text
        )
    });
    Ok(lines.chain(found.truncated.then(|| "cut".into())).collect())
}

const WORDS: &[&str] = &[
    "retry",
    "Retry_Budget",
    "budget",
    "KELVIN",
    "\u{212a}elvin",
    "ſtraße",
    "STRASSE",
    "σοφία",
    "ΣΟΦΊΑ",
    "İstanbul",
    "istanbul",
    "ab",
    "abc",
    "abcabc",
    "fn main() {",
    "}",
    "\r",
    "the end",
    "x",
    "tab\there",
    "é",
    "É",
    "日本語",
    "0123456789",
];
const NAMES: &[&str] = &[
    "/a.ts",
    "/b.ts",
    "/src/c.rs",
    "/src/d.md",
    "/src/deep/e.ts",
    "/f",
    "/k.png",
];
/// Pattern, regular expression, ignoring case.
const QUERIES: &[(&str, bool, bool)] = &[
    ("retry", false, false),
    ("Retry_Budget", false, false),
    ("retry_budget", false, true),
    ("kelvin", false, true),
    ("KELVIN", false, true),
    ("\u{212a}elvin", false, true),
    ("strasse", false, true),
    ("ſtraße", false, true),
    ("σοφία", false, true),
    ("σοφία", false, false),
    ("İstanbul", false, true),
    ("stanbul é", false, true),
    ("ab", false, false),
    ("", false, false),
    ("abcabc", false, false),
    ("bca", false, true),
    ("日本", false, false),
    ("the\nend", false, false),
    ("retry|budget", true, false),
    ("(?i)kelvin", true, false),
    ("kelvin", true, true),
    ("stra(ße|sse)", true, true),
    ("^fn [a-z]+\\(", true, false),
    ("[0-9]{5,}", true, false),
    ("abc+abc$", true, false),
    ("b(ud|x)get.*", true, true),
    ("tab\\there", true, false),
    ("(abc)?end", true, false),
    ("Retry_.udget", true, false),
    ("[[bad", true, false),
    (".", true, false),
];

fn query(dice: &mut Dice) -> GrepQuery {
    let (pattern, regex, ignore_case) = QUERIES[dice.roll(QUERIES.len())];
    GrepQuery {
        path: path(dice.pick(&["/", "/", "/", "/src", "/a.ts", "/src/deep"])),
        glob: [None, None, Some("*.ts"), Some("src/**")][dice.roll(4)].map(Into::into),
        max_count: [None, None, Some(1), Some(3)][dice.roll(4)],
        before: dice.roll(2),
        regex,
        ignore_case,
        stats: dice.roll(2) == 0,
        ..GrepQuery::literal(pattern)
    }
}

fn text(dice: &mut Dice) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..dice.roll(6) {
        text.extend_from_slice(dice.pick(WORDS).as_bytes());
        text.extend_from_slice(dice.pick(&["\n", " ", "", "\n"]).as_bytes());
    }
    if dice.roll(12) == 0 {
        text.push(0xff);
        text.extend_from_slice(b"retry");
    }
    text
}

/// Damages a file of the index.
fn damage(dice: &mut Dice, storage: &Shared, kept: &mut Vec<(VPath, Bytes)>) {
    let backend = plain(storage);
    let files = ready(backend.ls(&dir())).expect("listed");
    if files.is_empty() {
        return;
    }
    let pick = |dice: &mut Dice| files[dice.roll(files.len())].path.clone();
    let body = |path: &VPath| {
        ready(backend.download(std::slice::from_ref(path)))
            .pop()
            .and_then(Result::ok)
            .unwrap_or_default()
    };
    let victim = pick(dice);
    let whole = body(&victim);
    match dice.roll(7) {
        // Lost.
        0 => drop(ready(backend.delete(&victim, None))),
        // Cut short.
        1 => {
            let length = dice.roll(whole.len().max(1));
            upload(&backend, victim.as_str(), &whole[..length.min(whole.len())]);
        }
        // Some bytes are others.
        2 => {
            let mut other = whole.to_vec();
            for _ in 0..1 + dice.roll(3) {
                if !other.is_empty() {
                    let at = dice.roll(other.len());
                    other[at] ^= 1 << dice.roll(8);
                }
            }
            upload(&backend, victim.as_str(), &other);
        }
        // In the place of another one.
        3 => upload(&backend, pick(dice).as_str(), &whole),
        // As it was some time ago.
        4 => kept.push((victim, whole)),
        5 => {
            if let Some((path, body)) = kept.pop() {
                upload(&backend, path.as_str(), &body);
            }
        }
        // Zeros, as after a crash of a disk.
        _ => {
            let mut other = whole.to_vec();
            let from = dice.roll(other.len().max(1));
            other[from..].fill(0);
            upload(&backend, victim.as_str(), &other);
        }
    }
}

/// The history of a seed.
pub fn run(seed: u64) -> Seen {
    let mut dice = Dice(Rng::new(seed));
    let world = Rc::new(World {
        micros: Cell::new(1_800_000_000_000_000),
        rng: RefCell::new(Rng::new(!seed)),
    });
    simulated::set(Some(world.clone()));
    let storage = Shared::default();
    let outside = plain(&storage);
    let writers = [Rc::new(indexed(&storage)), Rc::new(indexed(&storage))];
    let mut kept = Vec::new();
    let mut seen = Seen::default();
    if dice.roll(2) == 0 {
        for name in NAMES {
            upload(&outside, name, &text(&mut dice));
        }
        ready(writers[0].update()).expect("updated");
    }
    for step in 0..8 + dice.roll(10) {
        let writer = writers[dice.roll(2)].clone();
        // A clock may stand still, and what no manifest names is deleted after an hour.
        let passed = [0, 0, 1_000, 4_000_000_000][dice.roll(4)];
        world.micros.set(world.micros.get() + passed);
        let through: SharedBackend = match dice.roll(2) {
            0 => writer.clone(),
            _ => outside.clone(),
        };
        match dice.roll(15) {
            0..=3 => {
                let name = dice.pick(NAMES);
                upload(&through, name, &text(&mut dice));
            }
            4 => {
                let edit = Edit {
                    old: Bytes::from_static(b"budget"),
                    new: Bytes::from_static(b"abcabc"),
                    replace_all: true,
                    whole: false,
                    appends: false,
                };
                let _ = ready(through.edit(&path(dice.pick(NAMES)), &edit));
            }
            5 => drop(ready(through.delete(&path(dice.pick(NAMES)), None))),
            6 => {
                // A move.
                let (from, to) = (path(dice.pick(NAMES)), dice.pick(NAMES));
                if let Ok(body) = ready(through.download(std::slice::from_ref(&from))).remove(0) {
                    upload(&through, to, &body);
                    let _ = ready(through.delete(&from, None));
                }
            }
            7 | 10 => {
                // An update that is interrupted somewhere, or not.
                if dice.roll(3) == 0 {
                    let fuse = (dice.roll(3) as u32, dice.roll(2) == 0);
                    storage.0.fuse.set(Some(fuse));
                }
                let done = ready(writer.update());
                storage.0.fuse.set(None);
                seen.merged += done.map_or(0, |done| done.merged);
            }
            8 | 11 => {
                // Two at once.
                storage.0.waits.set(true);
                let (a, b) = ready(join(writers[0].update(), writers[1].update()));
                storage.0.waits.set(false);
                for done in [a, b] {
                    seen.merged += done.expect("both updated").merged;
                }
            }
            9 => damage(&mut dice, &storage, &mut kept),
            _ => {}
        }
        let reader: Rc<Indexed> = match dice.roll(3) {
            0 => Rc::new(indexed(&storage)),
            _ => writer,
        };
        let query = query(&mut dice);
        let mut scan = query.clone();
        // The scan sees the files of the index, and they are binary.
        scan.stats = false;
        let expected = shown(ready(outside.grep(&scan)));
        let found = ready(reader.grep(&query));
        if let Ok(GrepResult {
            stats: Some(stats), ..
        }) = &found
        {
            seen.excluded += stats.indexed;
        }
        seen.searches += 1;
        let found = shown(found);
        if found != expected {
            seen.wrong.push(format!(
                "step {step}: {query:?}\n  with the index {found:?}\n  without {expected:?}"
            ));
        }
    }
    simulated::set(None);
    seen
}

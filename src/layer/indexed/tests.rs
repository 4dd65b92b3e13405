//! The answers of an index are those of a scan, whatever happens to it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::files::{Files, FilesOptions};
use crate::layer::composite::Composite;
use crate::protocol::{EntryInfo, GrepStats};
use crate::storage::memory::Memory;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

/// Memory whose versions are unique, that lets other calls run before each of its own, and that
/// fails when it is told to.
#[derive(Clone, Default)]
struct Shared(Rc<Inner>);

#[derive(Default)]
struct Inner {
    memory: Memory,
    /// Calls until a put fails: before it stores, or after.
    fuse: Cell<Option<(u32, bool)>>,
    waits: Cell<bool>,
    ranges: RefCell<Vec<(String, u64)>>,
    reads: Cell<usize>,
}

/// Lets other futures run once.
async fn others(wait: bool) {
    let mut waited = !wait;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Shared {
    fn broken(&self) -> Option<bool> {
        let (left, after) = self.0.fuse.get()?;
        self.0.fuse.set(match left {
            0 => None,
            _ => Some((left - 1, after)),
        });
        (left == 0).then_some(after)
    }
}

impl Storage for Shared {
    fn capability(&self) -> Capability {
        Capability {
            lists_versions: true,
            ..self.0.memory.capability()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.0.memory.stat(path)
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            others(self.0.waits.get()).await;
            self.0.reads.set(self.0.reads.get() + 1);
            self.0.memory.get(path).await
        })
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            others(self.0.waits.get()).await;
            let lost = || Error::new(Kind::Unavailable, "the connection is gone");
            match self.broken() {
                Some(false) => return Err(lost()),
                Some(true) => {
                    self.0.memory.put(path, file, mode).await?;
                    return Err(lost());
                }
                None => {}
            }
            self.0.memory.put(path, file, mode).await
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        self.0.memory.delete(path, version)
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        self.0.memory.list(dir, depth, from)
    }

    fn ranged(&self) -> Option<&dyn crate::storage::Ranged> {
        Some(self)
    }
}

impl crate::storage::Ranged for Shared {
    fn part_bytes(&self) -> u64 {
        1024
    }

    fn get_part<'a>(
        &'a self,
        path: &'a VPath,
        range: Range<u64>,
    ) -> Pending<'a, Option<crate::storage::Part>> {
        Box::pin(async move {
            others(self.0.waits.get()).await;
            let length = range.end - range.start;
            self.0.ranges.borrow_mut().push((path.to_string(), length));
            Ok(self.0.memory.get(path).await?.map(|file| {
                let body = crate::protocol::clipped(&file.body, 0, range.clone());
                crate::storage::Part {
                    file: File { body, ..file },
                    start: range.start,
                    lines: None,
                }
            }))
        })
    }
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return value;
        }
    }
}

fn path(text: &str) -> VPath {
    VPath::parse(text).expect("a path")
}

fn plain(storage: &Shared) -> SharedBackend {
    let options = FilesOptions {
        write_mode: crate::files::WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    Rc::new(Files::new(storage.clone(), options))
}

fn indexed(storage: &Shared) -> Indexed {
    Indexed::new(plain(storage), None, path("/.index")).expect("an index")
}

fn upload(backend: &SharedBackend, at: &str, body: &[u8]) {
    let files = vec![(path(at), Bytes::copy_from_slice(body))];
    for answer in ready(backend.upload(files)) {
        answer.expect("stored");
    }
}

/// The matches of a search, without those in the directory of the index.
fn shown(found: Result<GrepResult>) -> std::result::Result<Vec<String>, String> {
    let found = found.map_err(|error| error.to_string())?;
    let lines = found
        .matches
        .iter()
        .filter(|line| !line.path.as_str().starts_with("/.index/"))
        .map(|line| {
            format!(
                "{}:{}:{:?}:{:?}",
                line.path, line.line, line.kind, line.text
            )
        });
    Ok(lines.chain(found.truncated.then(|| "cut".into())).collect())
}

fn stats(backend: &dyn Backend, pattern: &str) -> GrepStats {
    let query = GrepQuery {
        stats: true,
        ..GrepQuery::literal(pattern)
    };
    ready(backend.grep(&query))
        .expect("found")
        .stats
        .expect("stats")
}

/// A small source of numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.roll(from.len())]
    }
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
    ("^fn \\w+\\(", true, false),
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
    let files = ready(backend.ls(&path("/.index"))).expect("listed");
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

/// One history; returns how many files the index excluded.
fn history(seed: u64) -> u64 {
    let mut dice = Dice(seed);
    let storage = Shared::default();
    let outside = plain(&storage);
    let writers = [Rc::new(indexed(&storage)), Rc::new(indexed(&storage))];
    let mut kept = Vec::new();
    let mut excluded = 0;
    for step in 0..8 + dice.roll(10) {
        let writer = writers[dice.roll(2)].clone();
        let through: SharedBackend = match dice.roll(2) {
            0 => writer.clone(),
            _ => outside.clone(),
        };
        match dice.roll(12) {
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
            7 => {
                // An update that is interrupted somewhere, or not.
                if dice.roll(3) == 0 {
                    let fuse = (dice.roll(2) as u32, dice.roll(2) == 0);
                    storage.0.fuse.set(Some(fuse));
                }
                let _ = ready(writer.update());
                storage.0.fuse.set(None);
            }
            8 => {
                // Two at once.
                storage.0.waits.set(true);
                let (a, b) = ready(futures_util::future::join(
                    writers[0].update(),
                    writers[1].update(),
                ));
                storage.0.waits.set(false);
                a.and(b).expect("both updated");
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
            excluded += stats.indexed;
        }
        assert_eq!(
            shown(found),
            expected,
            "seed {seed}, step {step}: {query:?}"
        );
    }
    excluded
}

fn seeds() -> u64 {
    let given = std::env::var("KITBAG_SEEDS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

#[test]
fn searches_with_an_index_find_what_a_scan_finds_in_random_histories() {
    let excluded: u64 = (0..seeds()).map(history).sum();
    assert!(
        excluded > seeds() / 4,
        "the index excluded {excluded} files only"
    );
}

/// Some text with many words.
fn prose(seed: u64, bytes: usize) -> String {
    let mut dice = Dice(seed);
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str(&format!(
            "w{:x} = f({});\n",
            dice.roll(4000),
            dice.roll(300)
        ));
    }
    text
}

fn filled_storage(count: usize) -> Shared {
    let storage = Shared::default();
    let backend = plain(&storage);
    for at in 0..count {
        let mut text = prose(at as u64, 500 + at * 37 % 3000);
        if at == 17 {
            text.push_str("retry_budget here\n");
        }
        upload(&backend, &format!("/src/{at}.ts"), text.as_bytes());
    }
    storage
}

#[test]
fn a_rare_word_needs_only_the_file_that_has_it() {
    let storage = filled_storage(300);
    let files = indexed(&storage);
    let cold = stats(&files, "retry_budget");
    assert_eq!((cold.indexed, cold.unindexed), (0, 300));
    let updated = ready(files.update()).expect("updated");
    assert_eq!(
        (updated.added, updated.files, updated.segments),
        (300, 300, 1)
    );
    let reader = indexed(&storage);
    let found = stats(&reader, "retry_budget");
    assert_eq!(found.unindexed, 0);
    assert!(found.candidates <= 3, "{found:?}");
    assert_eq!(found.candidates + found.indexed, 300);
    // Manifest, names, and at most one block for each trigram.
    assert!(found.requests <= 8, "{found:?}");
    // The manifest and the names are known now.
    assert!(stats(&reader, "retry_budget").requests <= 6);
    // A file that is written later is searched, until the index knows it.
    upload(&plain(&storage), "/src/new.ts", b"retry_budget");
    let found = stats(&reader, "retry_budget");
    assert_eq!(
        (found.unindexed, found.indexed + found.candidates),
        (1, 300)
    );
    assert_eq!(ready(reader.update()).expect("updated").added, 1);
    assert_eq!(stats(&reader, "retry_budget").unindexed, 0);
}

#[test]
fn an_index_of_small_files_of_random_words_takes_at_most_four_tenths_of_them() {
    let storage = filled_storage(300);
    let files = indexed(&storage);
    let bytes: u64 = ready(files.glob(&GlobQuery {
        pattern: "**".into(),
        path: VPath::root(),
    }))
    .expect("listed")
    .files
    .iter()
    .map(|info| match info.entry {
        EntryInfo::File { size, .. } => size.unwrap_or_default(),
        EntryInfo::Directory => 0,
    })
    .sum();
    let updated = ready(files.update()).expect("updated");
    assert!(
        updated.bytes * 10 < bytes * 4,
        "{} of {bytes}",
        updated.bytes
    );
}

#[test]
fn the_directory_of_the_index_is_hidden_and_closed() {
    let storage = filled_storage(3);
    let files = indexed(&storage);
    ready(files.update()).expect("updated");
    let root = VPath::root();
    let listed = ready(files.ls(&root)).expect("listed");
    assert_eq!(listed.len(), 1);
    assert!(
        ready(files.ls(&path("/.index")))
            .expect("listed")
            .is_empty()
    );
    let everything = GlobQuery {
        pattern: "**".into(),
        path: root,
    };
    assert_eq!(
        ready(files.glob(&everything)).expect("found").files.len(),
        3
    );
    let manifest = path("/.index/manifest.bin");
    let kind = |error: Error| error.kind();
    let read = ready(files.read(&manifest, Page::default()));
    assert_eq!(read.map_err(kind), Err(Kind::NotFound));
    let raw = ready(files.read_raw(&manifest));
    assert_eq!(raw.map_err(kind).map(drop), Err(Kind::NotFound));
    let paths = [manifest.clone(), path("/src/1.ts")];
    let down = ready(files.download(&paths));
    assert!(down[0].is_err() && down[1].is_ok());
    let batch = vec![
        (manifest.clone(), Bytes::new()),
        (path("/x"), Bytes::from_static(b"x")),
    ];
    let up = ready(files.upload(batch));
    assert!(up[0].is_err() && up[1].is_ok());
    for refused in [
        ready(files.write(&manifest, Content::Raw(Bytes::new()))).map(drop),
        ready(files.delete(&path("/.index"), None)).map(drop),
    ] {
        assert_eq!(refused.map_err(kind), Err(Kind::PermissionDenied));
    }
    let inside = GrepQuery {
        path: path("/.index"),
        ..GrepQuery::literal("")
    };
    assert_eq!(shown(ready(files.grep(&inside))), Ok(Vec::new()));
}

#[test]
fn many_updates_leave_few_segments_and_deleted_files_leave_the_index() {
    let storage = Shared::default();
    let files = indexed(&storage);
    let backend = plain(&storage);
    let mut most = 0;
    for at in 0..60 {
        upload(&backend, &format!("/{at}.ts"), prose(at, 900).as_bytes());
        let updated = ready(files.update()).expect("updated");
        assert_eq!((updated.added, updated.files), (1, at + 1));
        most = most.max(updated.segments);
    }
    assert!(most <= 5, "{most} segments");
    for at in 0..55 {
        ready(backend.delete(&path(&format!("/{at}.ts")), None)).expect("deleted");
    }
    assert!(ready(files.update()).expect("updated").files <= 10);
}

#[test]
fn a_storage_without_versions_is_scanned_and_says_so() {
    let backend: SharedBackend = Rc::new(Files::new(Memory::default(), FilesOptions::default()));
    upload(&backend, "/a.ts", b"retry_budget");
    let files = Indexed::new(backend, None, path("/.index")).expect("an index");
    assert!(!files.capability().indexed);
    assert!(
        files
            .capability()
            .notes
            .iter()
            .any(|note| note.contains("no versions"))
    );
    assert_eq!(
        ready(files.update()).map_err(|error| error.kind()),
        Err(Kind::Unsupported)
    );
    let found = stats(&files, "retry_budget");
    assert_eq!((found.requests, found.unindexed), (0, 1));
}

#[test]
fn a_composite_searches_mounts_with_and_without_an_index() {
    let (a, b) = (filled_storage(40), filled_storage(20));
    let with: Rc<Indexed> = Rc::new(indexed(&a));
    ready(with.update()).expect("updated");
    let tree = Composite::new(plain(&b), [(path("/with"), with as SharedBackend)]).expect("a tree");
    let query = GrepQuery {
        stats: true,
        ..GrepQuery::literal("retry_budget")
    };
    let found = ready(tree.grep(&query)).expect("found");
    let paths: Vec<&str> = found.matches.paths.iter().map(VPath::as_str).collect();
    assert_eq!(paths, ["/src/17.ts", "/with/src/17.ts"]);
    // The mount without an index counts nothing.
    let counted = found.stats.expect("stats");
    assert_eq!(counted.indexed + counted.candidates, 40);
    // An index around a composite covers its mounts.
    let tree: SharedBackend =
        Rc::new(Composite::new(plain(&b), [(path("/m"), plain(&a))]).expect("a tree"));
    let files = Indexed::new(tree, None, path("/.index")).expect("an index");
    assert_eq!(ready(files.update()).expect("updated").added, 60);
    let found = ready(files.grep(&query)).expect("found");
    assert_eq!(found.matches.paths.len(), 2);
    assert!(found.stats.expect("stats").indexed > 50);
}

#[test]
fn what_a_policy_hides_is_neither_found_nor_counted() {
    use crate::layer::policy::{Mode, Policy, Rule, Rules, Touch, stack};
    let storage = filled_storage(30);
    upload(
        &plain(&storage),
        "/secret/key.txt",
        b"the retry_budget of the bank",
    );
    let open = Rc::new(indexed(&storage));
    ready(open.update()).expect("updated");
    let ruled = |inner: SharedBackend| {
        let rule = Rule::new(&[Touch::Read, Touch::Write], Mode::Deny, ["/secret/**"]);
        let policy = Policy {
            permissions: Some(Rules::new(vec![rule.expect("a rule")], true)),
            ..Policy::default()
        };
        stack(inner, policy).expect("a policy")
    };
    let above = stats(&*ruled(open), "retry_budget");
    assert_eq!((above.requests, above.candidates + above.unindexed), (0, 1));
    assert_eq!(above.indexed, 29);
    let files = Indexed::new(ruled(plain(&storage)), None, path("/.index")).expect("an index");
    let below = stats(&files, "retry_budget");
    assert_eq!((below.unindexed + below.candidates, below.indexed), (1, 29));
}

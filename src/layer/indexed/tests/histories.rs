//! Random histories of changes, updates and damage.

use super::*;

/// A small source of numbers.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
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

use imara_diff::{Algorithm, Diff, InternedInput, sources};
use proptest::prelude::*;

use super::differ::Gap;
use super::*;
use crate::core::pace::tests::steady;
use crate::core::testing::{fewer, now};

fn differing(before: &[u8], after: &[u8]) -> Vec<Piece> {
    let pace = steady();
    let lines = |text| now(Lines::of(text, &pace));
    now(pieces(&lines(before), &lines(after), &pace))
}

/// The lines of a text, found in the simplest way.
fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Puts the text after together from the text before and the pieces, and checks that they are in order
/// and do not touch.
fn check(before: &[u8], after: &[u8]) -> Vec<Piece> {
    let (old, new) = (lines_of(before), lines_of(after));
    let found = differing(before, after);
    let mut at = 0;
    let mut out: Vec<&[u8]> = Vec::new();
    for (number, piece) in found.iter().enumerate() {
        assert!(!piece.before.is_empty() || !piece.after.is_empty());
        assert!(number == 0 || piece.before.start > at, "{found:?}");
        out.extend(&old[at..piece.before.start]);
        assert_eq!(out.len(), piece.after.start, "{found:?}");
        out.extend(&new[piece.after.clone()]);
        at = piece.before.end;
    }
    out.extend(&old[at..]);
    assert_eq!(out.concat(), after);
    found
}

fn changed(pieces: &[Piece]) -> usize {
    let lines = |piece: &Piece| piece.before.len() + piece.after.len();
    pieces.iter().map(lines).sum()
}

/// The fewest changed lines there are, by the table of all pairs.
fn fewest(before: &[u8], after: &[u8]) -> usize {
    let (old, new) = (lines_of(before), lines_of(after));
    let mut row: Vec<usize> = (0..=new.len()).collect();
    for (at, line) in old.iter().enumerate() {
        let mut next = vec![at + 1];
        for (place, other) in new.iter().enumerate() {
            next.push(match line == other {
                true => row[place],
                false => 1 + row[place + 1].min(next[place]),
            });
        }
        row = next;
    }
    row[new.len()]
}

fn piece(before: Range<usize>, after: Range<usize>) -> Piece {
    Piece { before, after }
}

#[test]
fn small_texts_have_the_pieces_that_a_reader_expects() {
    let cases: [(&str, &str, &[Piece]); 10] = [
        ("", "", &[]),
        ("a\n", "a\n", &[]),
        ("a\n", "a", &[piece(0..1, 0..1)]),
        ("", "a\nb\n", &[piece(0..0, 0..2)]),
        ("a\nb\nc\n", "a\nB\nc\n", &[piece(1..2, 1..2)]),
        ("a\nc\n", "a\nb\nc\n", &[piece(1..1, 1..2)]),
        (
            "a\nb\nc\nd\n",
            "b\nc\nx\nd\n",
            &[piece(0..1, 0..0), piece(3..3, 2..3)],
        ),
        // A new function begins with its own first line.
        (
            "f {\n1\n}\n",
            "f {\n1\n}\nf {\n2\n}\n",
            &[piece(3..3, 3..6)],
        ),
        ("x\nx\nx\n", "x\nx\n", &[piece(2..3, 2..2)]),
        ("a\nx\nx\nb\n", "a\nx\nB\n", &[piece(2..4, 2..3)]),
    ];
    for (before, after, expected) in cases {
        let found = check(before.as_bytes(), after.as_bytes());
        assert_eq!(found, expected, "{before:?} {after:?}");
    }
}

/// How many of some lines changed by the engine that was used before, which the twin is compared with.
fn library(before: &[u8], after: &[u8]) -> usize {
    let input = InternedInput::new(sources::byte_lines(before), sources::byte_lines(after));
    let diff = Diff::compute(Algorithm::Myers, &input);
    (diff.count_additions() + diff.count_removals()) as usize
}

proptest! {
    #[test]
    fn lines_are_those_of_the_text(text in "([ab]{0,3}\n){0,5}[ab]{0,3}", from in 0usize..7) {
        let text = text.as_bytes();
        let (lines, expected) = (now(Lines::of(text, &steady())), lines_of(text));
        prop_assert_eq!(lines.count(), expected.len());
        for (number, line) in expected.iter().enumerate() {
            prop_assert_eq!(lines.line(number), Some(*line));
        }
        prop_assert_eq!(lines.line(expected.len()), None);
        let from = from.min(expected.len());
        for to in from..=expected.len() {
            prop_assert_eq!(lines.part(&(from..to)), expected[from..to].concat());
        }
    }

    #[test]
    fn any_two_texts_become_each_other(
        before in "([abc]?[xy]?\n){0,40}[ab]?",
        after in "([abc]?[xy]?\n){0,40}[ab]?",
    ) {
        check(before.as_bytes(), after.as_bytes());
    }

    #[test]
    fn without_anchors_no_more_lines_change_than_must(
        before in "([abc]\n){0,40}",
        after in "([abc]\n){0,40}",
    ) {
        let (before, after) = (before.as_bytes(), after.as_bytes());
        let pace = steady();
        let found = changed(&now(async {
            let (old, new) = (Lines::of(before, &pace).await, Lines::of(after, &pace).await);
            let all = Gap { before: 0..old.count(), after: 0..new.count(), depth: DEPTH };
            let (before, after) = (all.before.clone(), all.after.clone());
            let mut differ = Differ::new((&old, before), (&new, after), &pace).await;
            differ.look(&all).await;
            assert!(differ.compare(&all, false).await);
            differ.pieces(0).await
        }));
        prop_assert_eq!(found, fewest(before, after));
        prop_assert!(found <= library(before, after));
    }

    #[test]
    fn some_edits_of_a_text_are_found_as_edits(
        lines in proptest::collection::vec("[a-e]{0,2}", 0..200),
        edits in proptest::collection::vec((0usize..200, proptest::option::of("[a-e]{0,2}")), 0..8),
    ) {
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let before = text(&lines);
        let mut after = lines;
        let count = edits.len();
        for (at, edit) in edits {
            let at = at % (after.len() + 1);
            match edit {
                Some(line) => after.insert(at, line),
                None if at < after.len() => drop(after.remove(at)),
                None => {}
            }
        }
        let found = check(before.as_bytes(), text(&after).as_bytes());
        prop_assert!(changed(&found) <= 2 * count, "{} for {count}", changed(&found));
    }
}

fn numbered(count: usize, line: impl Fn(usize) -> String) -> Vec<u8> {
    let lines: String = (0..count).map(|at| line(at) + "\n").collect();
    lines.into_bytes()
}

/// A megabyte of each kind that is slow for one of the usual algorithms. Without a bound, several of
/// them take minutes. The suite `limits` asks the package about a megabyte, too.
#[test]
fn no_two_texts_of_a_megabyte_take_long() {
    let mut seed = 7u32;
    let mut noise = |letters: u32, count: usize| {
        let mut out = Vec::with_capacity(count * 2);
        for _ in 0..count {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            out.push(b'a' + u8::try_from((seed >> 16) % letters).expect("a letter"));
            out.push(b'\n');
        }
        out
    };
    let empty = b"\n".repeat(fewer(1 << 20));
    let texts: Vec<(&str, Vec<u8>, Vec<u8>)> = vec![
        (
            "empty lines and two lines",
            empty.clone(),
            b"x\n\n".to_vec(),
        ),
        (
            "two lines and empty lines",
            b"x\n\n".to_vec(),
            empty.clone(),
        ),
        (
            "empty lines, and half of them with one between",
            empty.clone(),
            b"\n\nx\n".repeat(fewer(1 << 18)),
        ),
        (
            "noise of two letters",
            noise(2, fewer(1 << 19)),
            noise(2, fewer(1 << 19)),
        ),
        (
            "noise of sixteen letters",
            noise(16, fewer(1 << 19)),
            noise(16, fewer(1 << 19)),
        ),
        (
            "every second line changed",
            numbered(fewer(100_000), |at| format!("{at}")),
            numbered(fewer(100_000), |at| match at % 2 {
                0 => format!("{at}"),
                _ => format!("{at}!"),
            }),
        ),
        (
            "reversed",
            numbered(fewer(140_000), |at| format!("{at}")),
            numbered(fewer(140_000), |at| format!("{}", fewer(140_000) - at)),
        ),
        (
            "each line twice, in another order",
            numbered(fewer(100_000), |at| format!("{}", at / 2)),
            numbered(fewer(100_000), |at| format!("{}", at % fewer(50_000))),
        ),
        (
            "shifted blocks",
            numbered(fewer(130_000), |at| format!("{}", at % 300)),
            numbered(fewer(130_000), |at| format!("{}", (at * 7) % 300)),
        ),
        (
            "long lines with one beginning",
            numbered(fewer(1000), |at| format!("{}{at}", "x".repeat(1000))),
            numbered(fewer(1000), |at| format!("{}{}", "x".repeat(1000), at * 3)),
        ),
        (
            "one line",
            b"x".repeat(fewer(1 << 20)),
            b"y".repeat(fewer(1 << 20)),
        ),
    ];
    for (name, before, after) in texts {
        let started = std::time::Instant::now();
        check(&before, &after);
        let took = started.elapsed();
        // A test build on a busy machine is many times slower than the package.
        assert!(took.as_secs() < 60, "{name}: {took:?}");
        if std::env::var_os("SHOW").is_some() {
            println!("{name}: {took:?}");
        }
    }
}

#[test]
fn a_bounded_comparison_still_finds_what_is_at_its_sides() {
    let mut before = numbered(50_000, |at| format!("{}", at % 2));
    let mut after = numbered(50_000, |at| format!("{}", at % 3 % 2));
    before.splice(0..0, *b"one\ntwo\n");
    after.splice(0..0, *b"one\nthree\n");
    let found = differing(&before, &after);
    assert_eq!(found.first().map(|piece| piece.before.start), Some(1));
}

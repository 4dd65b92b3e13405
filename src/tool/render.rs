//! Text as models see it: numbered lines, readable sizes, truncated lines. Lengths are UTF-16
//! units, as in JavaScript; a character is never split.

use crate::core::scan;

/// Maximum length of a row in UTF-16 units.
pub const LINE: usize = 5_000;

/// The length of a text in JavaScript.
pub fn units(text: &str) -> usize {
    scan::utf16_units(text.as_bytes())
}

/// Splits a text after `count` units; a character that does not fit goes to the rest.
pub fn split_units(text: &str, count: usize) -> (&str, &str) {
    if text.len() <= count {
        return (text, "");
    }
    let mut left = count;
    for (at, letter) in text.char_indices() {
        let Some(rest) = left.checked_sub(letter.len_utf16()) else {
            return text.split_at_checked(at).unwrap_or((text, ""));
        };
        left = rest;
    }
    (text, "")
}

/// The last `count` units of a text.
pub fn last_units(text: &str, count: usize) -> &str {
    let skip = units(text).saturating_sub(count);
    // Rounded down: a character across the boundary is left out.
    let (head, tail) = split_units(text, skip);
    if units(head) < skip {
        let mut letters = tail.chars();
        letters.next();
        return letters.as_str();
    }
    tail
}

/// A line truncated to `count` units, with the number of missing characters.
pub fn cut_line(line: &str, count: usize) -> String {
    let (shown, rest) = split_units(line, count);
    if rest.is_empty() {
        return shown.to_owned();
    }
    format!("{shown}… [{} more characters]", units(rest))
}

/// Ten times the quotient, rounded; a tie to the even number. Formatting a float would bring in as
/// much code as a storage's smallest chunk.
fn tenths(bytes: u64, step: u64) -> u64 {
    let (whole, rest) = (bytes / step, (bytes % step) * 10);
    let (whole, rest) = (whole.saturating_mul(10) + rest / step, rest % step);
    let up = 2 * rest > step || (2 * rest == step && whole % 2 == 1);
    whole + u64::from(up)
}

/// A readable size.
pub fn size(bytes: u64) -> String {
    const STEPS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];
    for (name, step) in STEPS {
        if bytes >= step {
            let tenths = tenths(bytes, step);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} bytes")
}

/// A count with its noun.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Where the page limit ended the numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The first line not (fully) shown, from 1.
    pub line: usize,
    /// How many of its units were shown.
    pub column: usize,
}

/// The limits of a page of numbered text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Maximum number of rows.
    pub rows: usize,
    /// Maximum length of all rows together.
    pub units: usize,
}

/// Numbers lines from `first` on: the number right-aligned in six columns, a tab, the line. A line
/// over [`LINE`] units continues as `5.1`, `5.2`, …, each in a separate row. The first `column`
/// units of the first line are skipped.
pub fn numbered<'a>(
    lines: impl Iterator<Item = &'a str>,
    first: usize,
    column: usize,
    room: Room,
) -> (String, Option<Stop>) {
    let mut out = String::new();
    let (mut rows, mut used) = (0usize, 0usize);
    let mut line = first;
    for text in lines {
        let mut at = if line == first { column } else { 0 };
        let (skipped, mut rest) = split_units(text, at);
        if at > 0 && rest.is_empty() {
            line = line.saturating_add(1);
            continue;
        }
        // A character is not split, so its row begins before it.
        at = units(skipped);
        // Rows before it may have ended a unit early for the same reason.
        let mut part = at.saturating_add(LINE / 50) / LINE;
        loop {
            let (chunk, behind) = split_units(rest, LINE);
            let length = units(chunk);
            // At least one row is shown, so that a next page always makes progress.
            let full = rows >= room.rows || used.saturating_add(length) > room.units;
            if full && rows > 0 {
                return (out, Some(Stop { line, column: at }));
            }
            let label = match part {
                0 => line.to_string(),
                _ => format!("{line}.{part}"),
            };
            if rows > 0 {
                out.push('\n');
            }
            out.push_str(&format!("{label:>6}\t{chunk}"));
            rows = rows.saturating_add(1);
            used = used.saturating_add(length);
            at = at.saturating_add(length);
            if behind.is_empty() {
                break;
            }
            rest = behind;
            part = part.saturating_add(1);
        }
        line = line.saturating_add(1);
    }
    (out, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_as_floats_are() {
        let steps = [1u64 << 10, 1 << 20, 1 << 30];
        for step in steps {
            for tenth in 0..200u64 {
                for bytes in [step + step * tenth / 20, step + step * tenth / 20 + 1] {
                    let tenths = tenths(bytes, step);
                    let float = format!("{:.1}", bytes as f64 / step as f64);
                    assert_eq!(format!("{}.{}", tenths / 10, tenths % 10), float, "{bytes}");
                }
            }
        }
    }
    use proptest::prelude::*;

    const WIDE: Room = Room {
        rows: usize::MAX,
        units: usize::MAX,
    };

    #[test]
    fn lines_are_numbered_in_six_columns() {
        let (text, stop) = numbered("a\n\nb".split('\n'), 9, 0, WIDE);
        assert_eq!(text, "     9\ta\n    10\t\n    11\tb");
        assert_eq!(stop, None);
    }

    #[test]
    fn a_long_line_goes_on_under_its_own_number() {
        let long = "x".repeat(LINE * 2 + 1);
        let text = format!("a\n{long}\nb");
        let (shown, _) = numbered(text.split('\n'), 1, 0, WIDE);
        let labels: Vec<&str> = shown
            .lines()
            .filter_map(|row| row.split('\t').next())
            .collect();
        assert_eq!(labels, ["     1", "     2", "   2.1", "   2.2", "     3"]);
        let room = Room {
            rows: 3,
            units: usize::MAX,
        };
        let (_, stop) = numbered(text.split('\n'), 1, 0, room);
        assert_eq!(
            stop,
            Some(Stop {
                line: 2,
                column: LINE * 2
            })
        );
        let (rest, stop) = numbered(text.split('\n').skip(1), 2, LINE * 2, room);
        assert_eq!((rest.as_str(), stop), ("   2.2\tx\n     3\tb", None));
    }

    #[test]
    fn a_letter_across_the_end_of_a_row_begins_the_next_one() {
        let long = format!("{}😀{}", "a".repeat(LINE - 1), "b".repeat(LINE + 9));
        let labels = |text: &str| -> Vec<String> {
            let rows = text.lines().filter_map(|row| row.split_once('\t'));
            rows.map(|(label, row)| format!("{} {}", label.trim(), units(row)))
                .collect()
        };
        let (shown, _) = numbered([&*long].into_iter(), 2, 0, WIDE);
        assert_eq!(labels(&shown), ["2 4999", "2.1 5000", "2.2 11"]);
        // Within the letter: it is shown whole, and the place to go on is that of what was shown.
        let room = Room {
            rows: 1,
            units: usize::MAX,
        };
        let (shown, stop) = numbered([&*long].into_iter(), 2, LINE, room);
        assert_eq!(labels(&shown), ["2.1 5000"]);
        let stop = stop.expect("more follows");
        assert_eq!(stop.column, 2 * LINE - 1);
        let (shown, stop) = numbered([&*long].into_iter(), 2, stop.column, room);
        assert_eq!((labels(&shown), stop), (vec!["2.2 11".to_owned()], None));
    }

    #[test]
    fn letters_are_never_cut_in_two() {
        assert_eq!(split_units("a😀b", 2), ("a", "😀b"));
        assert_eq!(split_units("a😀b", 3), ("a😀", "b"));
        assert_eq!(last_units("a😀b", 2), "b");
        assert_eq!(last_units("a😀b", 3), "😀b");
        assert_eq!(last_units("ab", 9), "ab");
        assert_eq!(cut_line("a😀b", 3), "a😀… [1 more characters]");
    }

    #[test]
    fn sizes_are_told_in_words() {
        assert_eq!(size(999), "999 bytes");
        assert_eq!(size(1536), "1.5 KB");
        assert_eq!(size(12 << 20), "12.0 MB");
    }

    proptest! {
        #[test]
        fn reading_on_shows_every_letter(
            lines in proptest::collection::vec("[a😀é]{0,40}", 1..6), rows in 1usize..4, units in 1usize..50,
        ) {
            let long: Vec<String> = lines.iter().map(|line| line.repeat(400)).collect();
            let (mut line, mut column, mut seen) = (1, 0, vec![String::new(); long.len()]);
            loop {
                let from = long.iter().skip(line - 1).map(String::as_str);
                let (text, stop) = numbered(from, line, column, Room { rows, units });
                for row in text.split('\n').filter(|row| !row.is_empty()) {
                    let (label, chunk) = row.split_once('\t').expect("a row");
                    let number: usize = label.trim().split('.').next().expect("n").parse().expect("n");
                    seen[number - 1].push_str(chunk);
                }
                match stop {
                    Some(stop) => {
                        prop_assert!((stop.line, stop.column) > (line, column));
                        (line, column) = (stop.line, stop.column);
                    }
                    None => break,
                }
            }
            prop_assert_eq!(seen, long);
        }
    }
}

//! Explains why an edit failed, so that a model can correct its call: the lines most similar to a
//! text that was not found, or the numbers of the lines where it occurs more than once. Similarity
//! is the share of byte pairs that two lines have in common, which ignores white space.

use memchr::memmem;

use crate::core::order;
use crate::core::scan;
use crate::tool::render::cut_line;

/// Maximum number of lines compared; in a larger file only the beginning is compared.
const MAX_LINES: usize = 20_000;
/// Maximum number of bytes of a line that are compared.
const WEIGHED: usize = 300;
/// Maximum number of lines shown.
const SHOWN: usize = 3;
/// Minimum similarity of a useful line.
const LEAST: f64 = 0.45;
/// Maximum length of a shown line in UTF-16 units.
const WIDTH: usize = 200;

/// The numbers (from 1) of the lines on which `old` begins, one for each occurrence.
pub fn places(text: &[u8], old: &[u8], most: usize) -> Vec<usize> {
    let mut lines = Vec::new();
    let (mut line, mut from) = (1usize, 0usize);
    if old.is_empty() {
        return lines;
    }
    for place in memmem::find_iter(text, old).take(most) {
        let between = text.get(from..place).unwrap_or_default();
        line = line.saturating_add(scan::newlines(between));
        from = place;
        lines.push(line);
    }
    lines
}

/// The lines of `text` most similar to the longest line of `old`, numbered, in file order.
pub fn nearest(text: &str, old: &str) -> Vec<String> {
    let Some(wanted) = old
        .lines()
        .map(str::trim)
        .max_by_key(|line| line.len().min(WEIGHED))
    else {
        return Vec::new();
    };
    let wanted_pairs = pairs(wanted);
    if wanted_pairs.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(f64, usize, &str)> = text
        .lines()
        .take(MAX_LINES)
        .enumerate()
        .filter_map(|(at, line)| {
            let score = likeness(&wanted_pairs, &pairs(line.trim()));
            (score >= LEAST).then_some((score, at.saturating_add(1), line))
        })
        .collect();
    order::sort_by(&mut found, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.truncate(SHOWN);
    order::sort_by_key(&mut found, |(_, number, _)| *number);
    found
        .into_iter()
        .map(|(_, number, line)| format!("{number:>6}\t{}", cut_line(line, WIDTH)))
        .collect()
}

/// The sorted pairs of adjacent bytes of a line without white space.
fn pairs(line: &str) -> Vec<[u8; 2]> {
    let solid: Vec<u8> = line
        .bytes()
        .take(WEIGHED)
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| byte.to_ascii_lowercase())
        .collect();
    let mut pairs: Vec<[u8; 2]> = solid.windows(2).filter_map(|w| w.try_into().ok()).collect();
    order::sort(&mut pairs);
    pairs
}

fn likeness(a: &[[u8; 2]], b: &[[u8; 2]]) -> f64 {
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    let mut common = 0usize;
    while let (Some(x), Some(y)) = (left.peek(), right.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal => {
                common = common.saturating_add(1);
                left.next();
                right.next();
            }
        }
    }
    2.0 * common as f64 / (a.len().saturating_add(b.len()).max(1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_lines_are_named() {
        let text = "fn main() {\n    let total = sum(items);\n    println!(\"{total}\");\n}\n";
        let near = nearest(text, "let totals = sum(item)");
        assert_eq!(near, ["     2\t    let total = sum(items);"]);
        assert!(nearest(text, "zebra quilt").is_empty());
        assert!(nearest(text, "").is_empty() && nearest("", "abc").is_empty());
    }

    #[test]
    fn white_space_alone_makes_no_difference() {
        let near = nearest("a\n\tif  (x)  {\nb", "if (x) {");
        assert_eq!(near, ["     2\t\tif  (x)  {"]);
    }

    #[test]
    fn occurrences_are_told_by_line() {
        assert_eq!(places(b"a\nb a\n\na", b"a", 9), [1, 2, 4]);
        assert_eq!(places(b"a\nb a\n\na", b"a", 2), [1, 2]);
        assert!(places(b"a", b"", 9).is_empty());
    }
}

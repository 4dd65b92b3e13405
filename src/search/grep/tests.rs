use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::core::time::Time;

type Line = (u32, String, RowKind);

fn query(pattern: &str) -> GrepQuery {
    GrepQuery::literal(pattern)
}

/// A clock that stands: no search of these tests ends because of the time.
fn standing() -> Time {
    Time::from_millis(0.0)
}

fn matcher(query: &GrepQuery) -> Result<Matcher> {
    Matcher::new(query, Patience::until(None, standing))
}

fn run(query: &GrepQuery, body: &[u8], budget: usize) -> Vec<Line> {
    let texture = if body.is_ascii() {
        Texture::Ascii
    } else {
        Texture::Text
    };
    let mut out = Matches::default();
    let path = VPath::parse("/a.txt").expect("a path");
    let matcher = matcher(query).expect("a pattern");
    let count = matcher.search_whole(&path, body, texture, budget, &mut out);
    assert_eq!(count, out.count());
    assert_eq!(out.paths.len(), usize::from(count > 0));
    out.iter()
        .map(|row| {
            let text = String::from_utf8_lossy(row.text).into_owned();
            (row.line, text, row.kind)
        })
        .collect()
}

/// The numbers of the matching lines.
fn numbers(query: &GrepQuery, body: &str) -> Vec<u32> {
    run(query, body.as_bytes(), usize::MAX)
        .into_iter()
        .map(|line| line.0)
        .collect()
}

fn regex(pattern: &str) -> GrepQuery {
    GrepQuery {
        regex: true,
        ..query(pattern)
    }
}

fn any_case(pattern: &str) -> GrepQuery {
    GrepQuery {
        ignore_case: true,
        ..query(pattern)
    }
}

/// What a search with pauses finds, and how often it paused: the clock advances with each look.
fn paused(query: &GrepQuery, body: &[u8]) -> (Vec<Line>, usize) {
    thread_local! {
        static NOW: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
    }
    fn clock() -> crate::core::time::Time {
        NOW.set(NOW.get() + 700);
        crate::core::time::Time::from_micros(NOW.get())
    }
    let patience = Patience::until(None, clock).pausing();
    let matcher = Matcher::new(query, patience).expect("a pattern");
    let path = VPath::parse("/a.txt").expect("a path");
    let mut out = Matches::default();
    let mut progress = matcher.begin(usize::MAX);
    let mut pauses = 0;
    while !matcher.search(&path, body, Texture::Ascii, &mut progress, &mut out) {
        pauses += 1;
        matcher.patience().resume();
    }
    let lines = out.iter().map(|row| {
        let text = String::from_utf8_lossy(row.text).into_owned();
        (row.line, text, row.kind)
    });
    (lines.collect(), pauses)
}

#[test]
fn a_quick_search_of_a_large_body_pauses_and_finds_the_same() {
    let body = "some words\nand the needle\n\nof it\n".repeat(60_000);
    let context = GrepQuery {
        before: 1,
        after: 2,
        ..query("needle")
    };
    for query in [query("needle"), query("nowhere"), query(""), context] {
        let (lines, pauses) = paused(&query, body.as_bytes());
        assert_eq!(lines, run(&query, body.as_bytes(), usize::MAX));
        assert!(pauses > 1, "{pauses} pauses");
    }
}

/// The naive twin: split, match each line, add its neighbours.
fn naive(
    query: &GrepQuery,
    body: &str,
    budget: usize,
    matches: impl Fn(&str) -> bool,
) -> Vec<Line> {
    let lines: Vec<&str> = body.split('\n').collect();
    let mut left = budget.min(query.max_per_file.unwrap_or(usize::MAX));
    let mut out = Vec::new();
    // Behind a final line feed is no line; only the empty literal matches there.
    let count = lines.len() - usize::from(lines.last() == Some(&""));
    for (at, line) in lines.iter().enumerate() {
        let is_line = at < count || query.pattern.is_empty() && !query.regex;
        if left == 0 || !is_line || !matches(line) {
            continue;
        }
        left -= 1;
        let first = at.saturating_sub(query.before);
        let last = at.max(at.saturating_add(query.after).min(count.saturating_sub(1)));
        for (near, line) in lines.iter().enumerate().take(last + 1).skip(first) {
            let kind = match near.cmp(&at) {
                std::cmp::Ordering::Less => RowKind::Before,
                std::cmp::Ordering::Equal => RowKind::Match,
                std::cmp::Ordering::Greater => RowKind::After,
            };
            let number = u32::try_from(near + 1).expect("a small number");
            out.push((number, (*line).to_owned(), kind));
        }
    }
    out
}

#[test]
fn literals() {
    let cases: [(&str, &str, &[u32]); 9] = [
        ("a", "a\nb\na", &[1, 3]),
        ("a", "aaa\n", &[1]),
        ("", "", &[1]),
        ("", "a\n", &[1, 2]),
        ("", "\n\n", &[1, 2, 3]),
        ("a\n", "a\na\n", &[]),
        ("\r", "a\r\nb\n", &[1]),
        (".", "a\nb.c\n", &[2]),
        ("é", "e\né\n", &[2]),
    ];
    for (pattern, body, expected) in cases {
        assert_eq!(numbers(&query(pattern), body), expected, "{pattern:?}");
    }
}

#[test]
fn regexes_stay_in_their_line() {
    let cases: [(&str, &str, &[u32]); 31] = [
        ("^b", "a\nb\nab\n", &[2]),
        ("a$", "a\nba\nab\n", &[1, 2]),
        ("^$", "a\n\nb\n", &[2]),
        ("^$", "", &[]),
        (r"\Ab", "a\nb\n", &[2]),
        (r"a\z", "a\nb\nca\nx", &[1, 3]),
        (r"a\sb", "a\nb\na b\n", &[3]),
        (r"\s+b", "a\n b\n\nb", &[2]),
        ("a[^x]b", "a\nb\nayb", &[3]),
        ("(?s)a.b", "a\nb\nayb", &[3]),
        ("(?s:a.*b)|c", "a\nc\nb", &[2]),
        ("(?-m)^b$", "a\nb\n", &[2]),
        ("a\\nb", "a\nb\n", &[]),
        ("a\n|b", "a\nb\n", &[2]),
        ("[\\n]", "a\nb\n", &[]),
        ("[\\nb]", "a\nb\n", &[2]),
        ("x*", "a\nx\n", &[1, 2]),
        ("(?i)AB", "ab\nAB\n", &[1, 2]),
        (r"\bfoo\b", "foo\nfood\na foo.\n", &[1, 3]),
        (r"\d{2,}", "1\n12\n", &[2]),
        ("日.語", "日本語\n日語\n", &[1]),
        (r"\w+", "é\na\n", &[1, 2]),
        ("(?m)^$", "a\r\n\r\n", &[2]),
        ("[^x]", "\r\nx\r", &[1, 2]),
        ("a|", "b", &[1]),
        // The `\r` of a line is part of its ending, unless the pattern can match `\r`.
        ("a$", "a\r\nb\r\n", &[1]),
        ("^$", "a\r\n\r\n", &[2]),
        (r"a\r$", "a\r\na\n", &[1]),
        (r"\r", "a\r\na\n", &[1]),
        ("^.$", "a\r\nab\r\n", &[1]),
        ("^a.$", "a\r\nab\r\n", &[2]),
    ];
    for (pattern, body, expected) in cases {
        assert_eq!(numbers(&regex(pattern), body), expected, "{pattern:?}");
    }
}

#[test]
fn behind_a_final_line_feed_is_no_line_and_before_a_first_line_is_no_mark() {
    let cases: [(&str, &str, &[u32]); 28] = [
        (r"\s*", "a\n", &[1]),
        ("", "a\n", &[1]),
        ("", "", &[]),
        ("a*$", "\n\n", &[1, 2]),
        ("^", "a\n\n", &[1, 2]),
        ("$", "a\r\n", &[1]),
        ("^$", "\n", &[1]),
        ("^$", "a\n\n\n", &[2, 3]),
        ("(x|)", "a\nb", &[1, 2]),
        (r"\B", "\n", &[1]),
        ("^using", "\u{feff}using a\nusing b\n", &[1, 2]),
        ("^using", "\u{feff}\u{feff}using", &[]),
        ("^using", "a\n\u{feff}using", &[]),
        ("^(using|import)", "\u{feff}import a", &[1]),
        ("^.$", "\u{feff}a", &[1]),
        ("^..$", "\u{feff}a", &[1]),
        ("^...$", "\u{feff}a", &[]),
        ("^$", "\u{feff}\na\n", &[1]),
        ("^$", "\u{feff}\r\na\n", &[1]),
        ("^$", "\u{feff}", &[]),
        (r"\x{feff}", "\u{feff}a\nb", &[1]),
        (r"^\x{feff}a", "\u{feff}a\nb", &[1]),
        (r"^\w+$", "\u{feff}abc\nde\n", &[1, 2]),
        (r"^[^a]", "\u{feff}abc\n", &[1]),
        (r"\bab", "\u{feff}ab", &[1]),
        ("b", "\u{feff}a\nb", &[2]),
        ("^a$", "\u{feff}a\r\nb", &[1]),
        (r"\Aa", "\u{feff}a\na", &[1, 2]),
    ];
    for (pattern, body, expected) in cases {
        assert_eq!(
            numbers(&regex(pattern), body),
            expected,
            "{pattern:?} {body:?}"
        );
        let paused = {
            let patience = Patience::until(None, standing).pausing();
            let matcher = Matcher::new(&regex(pattern), patience).expect("a pattern");
            let mut out = Matches::default();
            let path = VPath::parse("/a.txt").expect("a path");
            matcher.search_whole(&path, body.as_bytes(), Texture::Text, 99, &mut out);
            out.iter().map(|row| row.line).collect::<Vec<_>>()
        };
        assert_eq!(paused, expected, "{pattern:?} {body:?}");
    }
    // No context shows it, and the literal that is recorded to match there still does.
    let around = |query: GrepQuery| GrepQuery {
        before: 2,
        after: 2,
        ..query
    };
    let shown = |query: &GrepQuery, body: &str| run(query, body.as_bytes(), 9).len();
    assert_eq!(shown(&around(query("a")), "a\n"), 1);
    assert_eq!(shown(&around(regex("a")), "b\na\n\n"), 3);
    assert_eq!(numbers(&query(""), "a\n"), [1, 2]);
}

#[test]
fn other_letters_that_are_alike_are_found_in_any_text() {
    let cases: [(&str, &str, &[u32]); 12] = [
        ("some", "ſome\nSOME\nome", &[1, 2]),
        ("k", "\u{212a}\nK\n", &[1, 2]),
        ("miss", "miſs\nmiſſ\nMISS", &[1, 2, 3]),
        ("ask", "é\naſ\u{212a}\nask", &[2, 3]),
        ("ſ", "s\nS\nſ\nf", &[1, 2, 3]),
        ("µ", "μ\nΜ\nm", &[1, 2]),
        ("β", "ϐ\nΒ\nb", &[1, 2]),
        ("ﬅ", "ﬆ\nst", &[1]),
        ("ι", "\u{1fbe}\nΙ\n\u{345}", &[1, 2, 3]),
        ("i", "İ\nI\nı", &[2]),
        ("İ", "i\u{307}\nİ", &[2]),
        ("ṡ", "ẛ\nṠ", &[1, 2]),
    ];
    for (pattern, body, expected) in cases {
        assert_eq!(numbers(&any_case(pattern), body), expected, "{pattern:?}");
        let parts: Vec<Vec<u8>> = {
            let matcher = matcher(&any_case(pattern)).expect("a pattern");
            matcher.texts().iter().map(|text| text.to_vec()).collect()
        };
        // What an index looks for is in every file with a match.
        for line in expected {
            let line = body.split('\n').nth(*line as usize - 1).expect("a line");
            let small = line.to_ascii_lowercase();
            let has = |part: &Vec<u8>| small.as_bytes().windows(part.len()).any(|one| one == part);
            assert!(
                parts.is_empty() || parts.iter().any(has),
                "{pattern:?} {line:?}"
            );
        }
    }
}

#[test]
fn capital_and_small_letters_are_alike_when_asked() {
    let cases: [(&str, &str, &[u32]); 8] = [
        ("TODO", "todo\nToDo\nto do\n", &[1, 2]),
        ("a.b", "A.B\nAxB\n", &[1]),
        ("É", "é\ne\n", &[1]),
        ("ß", "ß\nẞ\nss\n", &[1, 2]),
        ("σ", "Σ\nς\ns\n", &[1, 2]),
        ("\u{212a}", "k\nK\n", &[1, 2]),
        ("", "a\n", &[1, 2]),
        ("a\n", "A\n", &[]),
    ];
    for (pattern, body, expected) in cases {
        assert_eq!(numbers(&any_case(pattern), body), expected, "{pattern:?}");
    }
}

#[test]
fn a_bad_regex_is_refused_in_one_sentence() {
    for pattern in [
        "(",
        "[a",
        "*",
        r"\",
        "a{2,1}",
        "(?=a)",
        r"(a)\1",
        r"(\w{1000}){1000}",
        r"\p{Greek}",
        &format!("a{}", "*".repeat(8000)),
        &format!("a{}", "{1,2}".repeat(1500)),
        &format!("a{}", "{1,2}".repeat(40)),
        "(?:){4000000000}",
        &"(".repeat(5000),
        &"(?:a".repeat(1000),
        &"a".repeat(10_000),
    ] {
        let error = matcher(&regex(pattern)).err();
        let error = error.expect("a refusal");
        assert_eq!(error.code(), "invalid_pattern");
        let shown = error.to_string();
        assert!(shown.starts_with("Invalid regex pattern: "), "{shown}");
        assert!(!shown.contains('\n') && shown.len() < 200, "{shown}");
    }
}

#[test]
fn bytes_that_are_not_text_are_no_obstacle() {
    let body = b"\xff\xfe a\n\x80\nb\xf0\x9f\n";
    let lines = |query: &GrepQuery| run(query, body, usize::MAX).len();
    assert_eq!(lines(&query("a")), 1);
    assert_eq!(lines(&regex("a|b")), 2);
    // An invalid byte counts as one character, as in the returned text.
    assert_eq!(lines(&regex(r"^.*$")), 3);
    assert_eq!(lines(&regex("^.$")), 1);
    assert_eq!(lines(&any_case("É")), 0);
    assert_eq!(lines(&any_case("B")), 1);
}

#[test]
fn a_text_of_ascii_alone_is_not_searched_for_more() {
    let mut out = Matches::default();
    let path = VPath::parse("/a.txt").expect("a path");
    let matcher = matcher(&query("é")).expect("a pattern");
    let body = "é".as_bytes();
    assert_eq!(
        matcher.search_whole(&path, body, Texture::Ascii, 9, &mut out),
        0
    );
    assert_eq!(
        matcher.search_whole(&path, body, Texture::Binary, 9, &mut out),
        0
    );
    assert_eq!(
        matcher.search_whole(&path, body, Texture::Text, 9, &mut out),
        1
    );
}

#[test]
fn only_a_plain_literal_is_told_ahead() {
    let literal = |query: GrepQuery| {
        let matcher = matcher(&query).expect("a pattern");
        matcher.literal().map(<[u8]>::to_vec)
    };
    assert_eq!(literal(query("ab")), Some(b"ab".to_vec()));
    for other in [query(""), query("a\n"), any_case("ab"), regex("ab")] {
        assert_eq!(literal(other), None);
    }
}

#[test]
fn rows_of_several_files_share_one_answer() {
    let mut out = Matches::default();
    let matcher = matcher(&query("a")).expect("a pattern");
    for name in ["/1", "/2", "/3"] {
        let path = VPath::parse(name).expect("a path");
        let body: &[u8] = if name == "/2" { b"b" } else { b"a\na" };
        matcher.search_whole(&path, body, Texture::Ascii, 9, &mut out);
    }
    let shown: Vec<String> = out
        .iter()
        .map(|row| format!("{}:{}", row.path.as_str(), row.line))
        .collect();
    assert_eq!(shown, ["/1:1", "/1:2", "/3:1", "/3:2"]);
    assert_eq!(out.paths.len(), 2);
}

/// Quadratic time would be minutes here; the limit leaves room for a slow machine.
#[test]
fn hostile_patterns_take_linear_time() {
    let started = std::time::Instant::now();
    let lines = "a\n".repeat(200_000) + "b";
    let long = "a".repeat(400_000);
    for pattern in [
        "(?s)a.*b",
        "(?s)a(?:.*b)?",
        "[^x]*b",
        r"\s*x",
        "(a*)*b",
        "(a|a|a)*$b",
        "(.*)(.*)(.*)(.*)(.*)x",
        "(?:a?){30}a{30}c",
    ] {
        for body in [&lines, &long] {
            numbers(&regex(pattern), body);
        }
    }
    let near = "a".repeat(10_000) + "b";
    numbers(&query(&near), &long);
    numbers(&any_case(&near), &long);
    numbers(
        &any_case(&"a".repeat(10_000)),
        &("A".repeat(9_999) + "-").repeat(40),
    );
    numbers(
        &any_case(&"é".repeat(5_000)),
        &("É".repeat(4_999) + "-").repeat(40),
    );
    let elapsed = started.elapsed();
    assert!(elapsed.as_secs() < 60, "{elapsed:?}");
}

#[test]
fn an_answer_stops_growing_at_its_bound() {
    let wide = "x".repeat(1 << 20) + "\n";
    let body = wide.repeat(40);
    let everything = GrepQuery {
        before: 40,
        after: 40,
        ..query("")
    };
    let mut out = Matches::default();
    let path = VPath::parse("/a.txt").expect("a path");
    let matcher = matcher(&everything).expect("a pattern");
    let count = matcher.search_whole(&path, body.as_bytes(), Texture::Ascii, usize::MAX, &mut out);
    assert_eq!(count, 41);
    assert_eq!(out.text.len(), body.len() - 40, "each line is stored once");
    assert_eq!(out.rows.len(), 40 * 40 + 41);
}

fn body() -> impl Strategy<Value = String> {
    "([abé ]|A|\r|\n|\n){0,80}"
}

proptest! {
    #[test]
    fn literals_match_as_in_split_lines(
        body in body(),
        pattern in "[abé]{0,3}",
        before in 0usize..4,
        after in 0usize..4,
        budget in prop_oneof![Just(usize::MAX), 0usize..6],
        per_file in proptest::option::of(0usize..5),
    ) {
        let query = GrepQuery { before, after, max_per_file: per_file, ..query(&pattern) };
        let expected = naive(&query, &body, budget, |line| line.contains(&pattern));
        prop_assert_eq!(run(&query, body.as_bytes(), budget), expected);
    }

    #[test]
    fn letters_of_any_size_match_as_in_split_lines(body in "([aſsSkK\u{212a}éσςΣİ]|\n){0,80}", pattern in "[askSKéÉſ\u{212a}σςi]{1,3}") {
        let query = any_case(&pattern);
        let twin = ::regex::RegexBuilder::new(&::regex::escape(&pattern)).case_insensitive(true).build();
        let twin = twin.expect("an expression");
        let expected = naive(&query, &body, usize::MAX, |line| twin.is_match(line));
        prop_assert_eq!(run(&query, body.as_bytes(), usize::MAX), expected);
    }

    #[test]
    fn regexes_match_as_in_split_lines(
        body in "([abé ]|\n|\n){0,60}",
        pattern in r"\^?(a|b|é|\.|\[\^a\]|\\s|\\S|\\w|\\b|a\*|b\+|\(\?:ab\|b\)\?|\(\?s:\.\*\)|\||\$){1,5}\$?",
        before in 0usize..3,
        after in 0usize..3,
    ) {
        let query = GrepQuery { pattern: Rc::from(pattern.as_str()), before, after, ..regex("") };
        let alone = ::regex::Regex::new(&pattern).expect("a pattern");
        let expected = naive(&query, &body, usize::MAX, |line| alone.is_match(line));
        prop_assert_eq!(run(&query, body.as_bytes(), usize::MAX), expected);
    }
}

use proptest::prelude::*;

use crate::core::testing::cases;

use super::*;
use crate::core::time::Time;

fn compiled(parse: Parse, pattern: &str, ignore_case: bool) -> Result<Regex> {
    Regex::of(&parse(pattern, ignore_case)?, pattern.len())
}

fn twin(pattern: &str, ignore_case: bool) -> Option<::regex::Regex> {
    ::regex::RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .crlf(true)
        .build()
        .ok()
}

/// The numbers of the lines that match, from 1, or how the search ended.
fn lines(regex: &Regex, body: &[u8]) -> std::result::Result<Vec<usize>, Found> {
    let patience = Patience::until(None, Time::default);
    let mut found = Vec::new();
    let mut from = 0;
    loop {
        let at = match regex.find(body, from, &patience) {
            Found::Hit(at) => at,
            Found::Nothing => return Ok(found),
            other => return Err(other),
        };
        let newlines = |part: &[u8]| part.iter().filter(|byte| **byte == b'\n').count();
        found.push(newlines(&body[..at]) + 1);
        let Some(newline) = body[at..].iter().position(|byte| *byte == b'\n') else {
            return Ok(found);
        };
        from = at + newline + 1;
    }
}

/// The naive twin: the crate `regex` on each line, without its final `\r` or with it.
fn naive(regex: &::regex::Regex, body: &str) -> Vec<usize> {
    let all = body.split('\n').enumerate();
    all.filter(|(_, line)| {
        let bare = line.strip_suffix('\r').unwrap_or(line);
        regex.is_match(bare) || regex.is_match(line)
    })
    .map(|(at, _)| at + 1)
    .collect()
}

#[derive(serde::Deserialize, serde::Serialize)]
struct Table {
    text: Vec<String>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    pattern: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ignore_case: bool,
    /// The lines that match; absent if the expression is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<usize>>,
}

fn table() -> Table {
    serde_json::from_str(include_str!("../../../tests/regex/table.json")).expect("the table")
}

#[test]
fn the_table_has_the_answers_of_the_crate_regex() {
    let Table { text, mut cases } = table();
    let text = text.join("\n");
    let mut differ = Vec::new();
    for case in &mut cases {
        let expected = twin(&case.pattern, case.ignore_case).map(|regex| naive(&regex, &text));
        if case.lines != expected {
            differ.push(case.pattern.clone());
            case.lines = expected;
        }
    }
    if std::env::var_os("RECORD").is_some() {
        let lines = text.split('\n').map(str::to_owned).collect();
        let json = serde_json::to_string(&Table { text: lines, cases }).expect("json");
        std::fs::write("tests/regex/table.json", json).expect("written");
    }
    assert!(differ.is_empty(), "{differ:?}");
}

#[test]
fn the_full_parser_gives_the_answers_of_the_table() {
    let Table { text, cases } = table();
    assert!(cases.len() > 300);
    let text = text.join("\n");
    let mut wrong = Vec::new();
    for case in cases {
        let regex = compiled(full::parse, &case.pattern, case.ignore_case);
        let found = regex.ok().map(|regex| lines(&regex, text.as_bytes()));
        if found != case.lines.clone().map(Ok) {
            wrong.push((case.pattern, found, case.lines));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} {:?}",
        wrong.len(),
        wrong.iter().step_by(45).collect::<Vec<_>>()
    );
}

#[test]
fn the_light_parser_gives_the_same_answers_or_refuses() {
    let Table { text, cases } = table();
    let mut wrong = Vec::new();
    let mut answered = 0;
    for case in cases {
        let regex = match compiled(light::parse, &case.pattern, case.ignore_case) {
            Ok(regex) => regex,
            Err(error) => {
                let names_the_line = error.to_string().contains("import \"kitbag/regex\"");
                if case.lines.is_some() && !names_the_line {
                    wrong.push((case.pattern, Err(error.to_string()), case.lines));
                }
                continue;
            }
        };
        for (at, line) in text.iter().enumerate() {
            let found = lines(&regex, line.as_bytes());
            let expected = case.lines.as_ref().map(|lines| lines.contains(&(at + 1)));
            match (found, expected) {
                (Err(Found::Unsure), Some(_)) => {}
                (Ok(lines), Some(expected)) if lines.is_empty() != expected => answered += 1,
                (found, _) => {
                    wrong.push((case.pattern.clone(), Err(format!("{line} {found:?}")), None));
                }
            }
        }
    }
    let wrong: Vec<(String, std::result::Result<(), String>, _)> = wrong;
    assert!(
        wrong.is_empty(),
        "{} {:?}",
        wrong.len(),
        wrong.iter().step_by(45).collect::<Vec<_>>()
    );
    assert!(answered > 25_000, "{answered}");
}

#[test]
fn without_the_full_parser_only_what_it_would_change_is_refused() {
    let cases = [
        (r"\w+\(", "main() → ok", Ok(vec![1])),
        (r"\bfoo\b", "été foo — ok", Ok(vec![1])),
        (r"^\d+$", "été\n12", Ok(vec![2])),
        (r"foo\w", "สวัสดี\nfoo ส", Ok(vec![])),
        (r"foo\w", "fooส", Err(Found::Unsure)),
        (r"\d", "\u{661}", Err(Found::Unsure)),
        (r"^x\w", "สวัสดี", Ok(vec![])),
        ("ส", "สวัสดี", Ok(vec![1])),
        (r"x\b", "xส", Err(Found::Unsure)),
        (r"(?i)k\w", "\u{212a}k", Ok(vec![1])),
        (r"(?i)s\w", "\u{17f}k", Ok(vec![1])),
        (r"(?i)^é\w+ß$", "ÉTÉẞ\néß", Ok(vec![1])),
        (r"(?i)\bå\b", "\u{212b}", Ok(vec![1])),
        (r"(?i)мир\b", "МИР\nмира", Ok(vec![1])),
        (r"(?i)^[α-ώ]+\w$", "ΛΌΓΟΣ", Ok(vec![1])),
        (r"(?i)ա", "Ա", Ok(vec![1])),
    ];
    for (pattern, body, expected) in cases {
        let regex = compiled(light::parse, pattern, false).expect(pattern);
        assert_eq!(lines(&regex, body.as_bytes()), expected, "{pattern} {body}");
    }
}

#[test]
fn a_table_of_states_that_is_too_large_is_begun_again() {
    let pattern = "[ab]*a[ab]{18}c";
    let mut body = Vec::new();
    let mut random = 7u32;
    for _ in 0..300_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        body.push(if random >> 30 & 1 == 0 { b'a' } else { b'b' });
    }
    let regex = compiled(light::parse, pattern, false).expect("an expression");
    assert_eq!(lines(&regex, &body), Ok(vec![]));
    body.extend_from_slice(b"\nx");
    body.extend_from_slice(&[b'a'; 19]);
    body.push(b'c');
    assert_eq!(lines(&regex, &body), Ok(vec![2]));
}

fn pattern() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        "[abkéßΣส]",
        Just(".".to_owned()),
        Just(r"\w".to_owned()),
        Just(r"\W".to_owned()),
        Just(r"\d".to_owned()),
        Just(r"\s".to_owned()),
        Just(r"\S".to_owned()),
        Just(r"\b".to_owned()),
        Just(r"\B".to_owned()),
        Just(r"\b{start}".to_owned()),
        Just(r"\b{end-half}".to_owned()),
        Just("^".to_owned()),
        Just("$".to_owned()),
        Just("[^a]".to_owned()),
        Just("[a-zé]".to_owned()),
        Just("[^À-ſ]".to_owned()),
        Just("[Α-ΩJ-L]".to_owned()),
        Just(r"[^\w]".to_owned()),
        Just(r"\r".to_owned()),
        Just("".to_owned()),
        Just("(?i:k)".to_owned()),
        Just("(?i)É(?-i)".to_owned()),
        Just("(?s:.)".to_owned()),
        Just("(?-R:.)".to_owned()),
        Just(r"(?-u:\w\b)".to_owned()),
        Just("(?i-u:k)".to_owned()),
        Just("(?x: a [é b] )".to_owned()),
        Just(r"\p{Lu}".to_owned()),
        Just(r"[\w--a&&\p{Ll}]".to_owned()),
    ];
    atom.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat()),
            proptest::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("(?:{})", all.join("|"))),
            (inner, "[*+?]|\\{0,2\\}|\\{2\\}|\\{1,\\}")
                .prop_map(|(one, times)| format!("(?:{one}){times}")),
        ]
    })
}

proptest! {
    #![proptest_config(cases(300))]
    #[test]
    fn lines_match_as_in_the_crate_regex(
        body in "([abkKéÉßẞσςΣſส1_ .]|\r\n|\n|\r|ab|\u{212a}|\u{2014}){0,40}",
        pattern in pattern(),
        ignore_case: bool,
    ) {
        let Some(twin) = twin(&pattern, ignore_case) else {
            return Err(TestCaseError::reject("no expression"));
        };
        let expected = naive(&twin, &body);
        let full = compiled(full::parse, &pattern, ignore_case).expect("an expression");
        prop_assert_eq!(lines(&full, body.as_bytes()), Ok(expected.clone()));
        if let Ok(light) = compiled(light::parse, &pattern, ignore_case) {
            match lines(&light, body.as_bytes()) {
                Err(Found::Unsure) => {}
                found => prop_assert_eq!(found, Ok(expected)),
            }
        }
    }

    #[test]
    fn what_is_not_utf8_counts_as_in_the_text_that_callers_receive(
        body in proptest::collection::vec(
            prop_oneof![Just(b'a'), Just(b'\n'), Just(0xe0), Just(0xf0), Just(0x9f), Just(0x80),
                Just(0xc3), Just(0xa9), Just(0xed), Just(0xbf), Just(0xff)],
            0..24,
        ),
        pattern in prop_oneof![Just("^.$"), Just("^..$"), Just("^...$"), Just("é"), Just("a.a"),
            Just("\u{fffd}a"), Just("^[^a]+$")],
    ) {
        let regex = compiled(full::parse, pattern, false).expect("an expression");
        let twin = twin(pattern, false).expect("an expression");
        let text = String::from_utf8_lossy(&body);
        prop_assert_eq!(lines(&regex, &body), Ok(naive(&twin, &text)));
    }
}

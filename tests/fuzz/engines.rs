//! Random inputs for everything that parses or searches what a model or a storage sends, each
//! against a twin so simple that it is unlikely to be wrong, or an invariant. The inputs in `corpus/`
//! run first: those that were wrong once, and odd ones.
//!
//! `PROPTEST_CASES` sets the number of cases; `npm run soak -- native` runs many.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it does not understand"
)]

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs;
use std::rc::Rc;

use bytes::Bytes;
use kitbag::core::file::{self, Texture};
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::protocol::{GlobQuery, GrepQuery, Matches, RowKind};
use kitbag::search::glob::{PathGlob, Pattern};
use kitbag::search::grep::Matcher;
use kitbag::search::lines::{LineIndex, Page, page};
use kitbag::search::patience::Patience;
use kitbag::search::replace;
use kitbag::storage::s3::{sign, xml};
use kitbag::tool::input::{FILE_PATH, Input, Value, plain};
use proptest::prelude::*;

/// The inputs of a subject: lines of JSON arrays of texts.
fn corpus(subject: &str) -> Vec<Vec<String>> {
    let place = format!(
        "{}/tests/fuzz/corpus/{subject}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = fs::read_to_string(&place).expect("the corpus is there");
    let cases: Vec<Vec<String>> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert!(cases.len() >= 10, "{place} has too few inputs");
    cases
}

fn replay(subject: &str, check: impl Fn(&[&str])) {
    for case in corpus(subject) {
        let texts: Vec<&str> = case.iter().map(String::as_str).collect();
        check(&texts);
    }
}

// Paths.

/// Splits and filters; `None` if the text is no path.
fn naive_path(text: &str) -> Option<String> {
    if text.chars().any(|c| c < ' ' || c == '\\') {
        return None;
    }
    let kept: Vec<&str> = text
        .split('/')
        .filter(|segment| !segment.is_empty() && *segment != ".")
        .collect();
    let drive = |first: &str| {
        let mut letters = first.chars();
        letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':')
    };
    if kept.contains(&"..")
        || kept
            .first()
            .is_some_and(|first| *first == "~" || drive(first))
    {
        return None;
    }
    let path = format!("/{}", kept.join("/"));
    (path.len() <= 1024 && text.len() <= 4096).then_some(path)
}

fn check_path(text: &str) {
    let parsed = VPath::parse(text).ok();
    assert_eq!(
        parsed.as_ref().map(|path| path.as_str().to_owned()),
        naive_path(text),
        "{text:?}"
    );
    let Some(path) = parsed else { return };
    assert_eq!(VPath::parse(path.as_str()), Ok(path.clone()));
    assert_eq!(VPath::from_stored(path.as_str()), Some(path.clone()));
    assert_eq!(VPath::from_stored(text).is_some(), text == path.as_str());
    assert_eq!(VPath::parse_file(text).is_err(), path.is_root());
    assert!(path.is_under(&path.parent()) && path.is_under(&VPath::root()));
    if !path.is_root() {
        assert_eq!(path.parent().join(path.name()), Ok(path.clone()));
        assert!(!path.parent().is_under(&path));
    }
}

// Globs.

fn check_glob(pattern: &str, file: &str) {
    let Ok(path) = VPath::parse(file) else { return };
    let query = GlobQuery::new(pattern, VPath::root());
    let Ok(parsed) = Pattern::parse(&query) else {
        return;
    };
    if parsed.accepts(&path) {
        assert!(parsed.scope().admits(&path), "{pattern:?} {file:?}");
    }
    if path.is_root() {
        return;
    }
    // A path with every special character escaped matches itself.
    let mut literal = String::new();
    for c in path.as_str().chars() {
        if "*?[]{}\\!,".contains(c) {
            literal.push('\\');
        }
        literal.push(c);
    }
    if let Ok(itself) = PathGlob::parse(&literal) {
        assert!(itself.accepts(&path), "{literal:?}");
    }
}

// Searches.

struct Found(Vec<(usize, String, RowKind)>);

fn search(query: &GrepQuery, body: &[u8], pausing: bool) -> Option<Found> {
    let mut patience = Patience::until(None, Time::default);
    if pausing {
        patience = patience.pausing();
    }
    let matcher = Matcher::new(query, patience).ok()?;
    let path = VPath::parse("/a.txt").expect("a path");
    let mut out = Matches::default();
    let mut progress = matcher.begin(usize::MAX);
    let texture = match body.is_ascii() {
        true => Texture::Ascii,
        false => Texture::Text,
    };
    while !matcher.search(&path, body, texture, &mut progress, &mut out) {
        matcher.patience().resume();
    }
    if matcher.over().is_some() {
        return None;
    }
    let rows = out.iter();
    Some(Found(
        rows.map(|row| {
            let text = String::from_utf8_lossy(row.text).into_owned();
            (row.line as usize, text, row.kind)
        })
        .collect(),
    ))
}

fn query(pattern: &str, regex: bool, ignore_case: bool, around: usize) -> GrepQuery {
    GrepQuery {
        pattern: Rc::from(pattern),
        path: VPath::root(),
        glob: None,
        max_count: None,
        max_per_file: None,
        before: around,
        after: around,
        regex,
        ignore_case,
        stats: false,
        sieve: None,
    }
}

/// Every line that matches, each with the lines around it.
fn naive_search(body: &str, around: usize, everywhere: bool, hits: impl Fn(&str) -> bool) -> Found {
    let lines: Vec<&str> = body.split('\n').collect();
    // Behind a final line feed is no line; only the empty literal matches there.
    let count = lines.len() - usize::from(lines.last() == Some(&""));
    let mut rows = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if at >= count && !everywhere || !hits(line) {
            continue;
        }
        let first = at.saturating_sub(around);
        let near = lines.iter().take(count.max(at + 1)).enumerate().skip(first);
        for (number, near) in near.take(at - first + 1 + around) {
            let kind = match number.cmp(&at) {
                Ordering::Less => RowKind::Before,
                Ordering::Equal => RowKind::Match,
                Ordering::Greater => RowKind::After,
            };
            rows.push((number + 1, (*near).to_owned(), kind));
        }
    }
    Found(rows)
}

fn check_search(pattern: &str, body: &str, around: usize) {
    for ignore_case in [false, true] {
        let literal = query(pattern, false, ignore_case, around);
        let twin = regex::RegexBuilder::new(&regex::escape(pattern))
            .case_insensitive(ignore_case)
            .size_limit(usize::MAX)
            .build()
            .expect("a literal");
        let hits = |line: &str| twin.is_match(line);
        let wanted = match pattern.contains('\n') {
            true => Found(Vec::new()),
            false => naive_search(body, around, pattern.is_empty(), hits),
        };
        let found = search(&literal, body.as_bytes(), around.is_multiple_of(2)).expect("a literal");
        assert_eq!(found.0, wanted.0, "{pattern:?} {ignore_case}");

        let twin = regex::RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .crlf(true)
            .build();
        let own = search(
            &query(pattern, true, ignore_case, around),
            body.as_bytes(),
            true,
        );
        let (Ok(twin), Some(own)) = (twin, own) else {
            continue;
        };
        // The first line matches with a byte order mark before it, or without it.
        let bare = body
            .strip_prefix('\u{feff}')
            .filter(|bare| !bare.is_empty());
        let first = bare.and_then(|bare| bare.split('\n').next());
        let is_match = |line: &str| {
            twin.is_match(line) || twin.is_match(line.strip_suffix('\r').unwrap_or(line))
        };
        let wanted = naive_search(body, around, false, |line| {
            let marked = first.filter(|first| line.strip_prefix('\u{feff}') == Some(first));
            is_match(line)
                || std::ptr::eq(line.as_ptr(), body.as_ptr()) && marked.is_some_and(is_match)
        });
        assert_eq!(own.0, wanted.0, "/{pattern}/ {ignore_case}");
    }
}

// Replacing and paging.

fn check_replace(text: &str, old: &str, new: &str) {
    let body = Bytes::copy_from_slice(text.as_bytes());
    for all in [false, true] {
        let made = replace::replace(&body, old.as_bytes(), new.as_bytes(), all);
        let count = text.matches(old).count();
        match made {
            _ if old.is_empty() => assert_eq!(made.is_ok(), text.is_empty()),
            Ok((made, outcome)) if outcome.endings == replace::Endings::AsGiven => {
                assert_eq!(&made[..], text.replace(old, new).as_bytes());
                assert_eq!(outcome.occurrences, count);
                assert!(all || count == 1);
            }
            Ok((made, outcome)) => {
                let one = |text: &str| text.replace("\r\n", "\n");
                assert_eq!(count, 0);
                assert!(outcome.occurrences >= 1);
                let bare = String::from_utf8(made.to_vec()).expect("text");
                assert_eq!(one(&bare), one(text).replace(&one(old), &one(new)));
            }
            Err(replace::Refusal::Ambiguous(found)) => {
                assert!(!all && found > 1);
            }
            Err(replace::Refusal::NotFound) => assert_eq!(count, 0),
            Err(other) => assert_eq!(other, replace::Refusal::TooLarge),
        }
    }
}

fn check_page(text: &str, offset: usize, limit: usize) {
    let index = LineIndex::build(text.as_bytes());
    let paged = page(text.as_bytes(), Page { offset, limit }, &index);
    let shown = &text[paged.range.clone()];
    let mut lines: Vec<&str> = text.split('\n').collect();
    if text.is_empty() || text.ends_with('\n') {
        lines.pop();
    }
    assert_eq!(index.total_lines(), lines.len());
    let wanted: Vec<&str> = lines.iter().copied().skip(offset).take(limit).collect();
    assert_eq!(paged.position.is_some(), !wanted.is_empty());
    let Some(position) = paged.position else {
        return;
    };
    assert_eq!(position.start_line, offset + 1);
    assert_eq!(position.end_line, offset + wanted.len());
    let more = position.end_line < lines.len();
    assert_eq!(position.next_offset, more.then_some(position.end_line));
    // A page that could go on behind the last line includes its newline.
    let all: Vec<&str> = text.split('\n').collect();
    let until = offset.saturating_add(limit).min(all.len());
    assert_eq!(shown, all[offset..until].join("\n"));
}

// XML.

fn check_xml(text: &str) {
    if let Ok(element) = xml::parse(text.as_bytes()) {
        assert!(text.contains('<') && !element.name.is_empty(), "{text:?}");
    }
    let escaped = format!("<a><b>{}</b></a>", xml::escape(text));
    let kept = xml::parse(escaped.as_bytes()).expect(&escaped);
    let plain: String = text.to_owned();
    assert_eq!(kept.text_of("b").unwrap_or_default(), plain);
    for cut in (0..escaped.len())
        .filter(|at| escaped.is_char_boundary(*at))
        .take(200)
    {
        assert!(
            xml::parse(&escaped.as_bytes()[..cut]).is_err(),
            "{cut} {escaped:?}"
        );
    }
}

// Canonical requests.

fn unencoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            out.push(u8::from_str_radix(&text[at + 1..at + 3], 16).expect("two digits"));
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

fn check_query(pairs: &[(String, String)]) {
    let canonical = sign::canonical_query(pairs);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~%&=".contains(c);
    assert!(canonical.chars().all(plain), "{canonical}");
    let read: Vec<(Vec<u8>, Vec<u8>)> = canonical
        .split('&')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, value) = part.split_once('=').expect("a pair");
            (unencoded(name), unencoded(value))
        })
        .collect();
    let mut wanted: Vec<(Vec<u8>, Vec<u8>)> = pairs
        .iter()
        .map(|(name, value)| (name.clone().into_bytes(), value.clone().into_bytes()))
        .collect();
    let mut both = read.clone();
    both.sort();
    wanted.sort();
    assert_eq!(both, wanted, "nothing is lost, added or mixed up");
    let parts: Vec<&str> = canonical.split('&').collect();
    assert!(parts.windows(2).all(|two| {
        let name = |part: &str| part.split('=').next().unwrap_or_default().to_owned();
        name(two[0]) <= name(two[1])
    }));
    let mut turned = pairs.to_vec();
    turned.reverse();
    assert_eq!(sign::canonical_query(&turned), canonical);
}

fn check_signature(path: &str, name: &str, value: &str) {
    let keys = |secret: &str| {
        sign::Keys::new(sign::Credentials {
            access_key_id: String::from("id"),
            secret_access_key: secret.to_owned(),
            session_token: None,
            expires: None,
        })
    };
    let domain = sign::Domain {
        region: "us-east-1",
        service: "s3",
    };
    let signed = |path: &str, query: &[(String, String)], headers: &[(String, String)], secret| {
        let parts = sign::Parts {
            method: "GET",
            path,
            query,
            headers,
        };
        let time = Time::from_micros(1_400_000_000_000_000);
        sign::authorization(parts, sign::UNSIGNED, time, domain, &keys(secret))
    };
    let path = sign::encode_path(path);
    assert_eq!(
        path.matches('/').count(),
        String::from_utf8_lossy(&unencoded(&path))
            .matches('/')
            .count()
    );
    let query = vec![(name.to_owned(), value.to_owned())];
    let headers = vec![
        (String::from("host"), String::from("h")),
        (String::from("x-amz-date"), String::from("d")),
    ];
    let first = signed(&path, &query, &headers, "SECRETSECRET");
    assert!(!first.contains("SECRETSECRET"));
    let turned: Vec<(String, String)> = headers.iter().rev().cloned().collect();
    assert_eq!(signed(&path, &query, &turned, "SECRETSECRET"), first);
    let others = [
        signed(&format!("{path}x"), &query, &headers, "SECRETSECRET"),
        signed(
            &path,
            &[(name.to_owned(), format!("{value}x"))],
            &headers,
            "SECRETSECRET",
        ),
        signed(
            &path,
            &[(format!("{name}x"), value.to_owned())],
            &headers,
            "SECRETSECRET",
        ),
        signed(&path, &query, &headers[..1], "SECRETSECRET"),
        signed(&path, &query, &headers, "another"),
    ];
    let distinct: BTreeSet<&String> = others.iter().chain([&first]).collect();
    assert_eq!(distinct.len(), 6, "what is signed decides the signature");
}

// What models pass to tools.

fn check_input(name: &str, value: &Value) {
    let input = Input(vec![(Rc::from(name), value.clone())]);
    let one = plain("count");
    match input.count(&one) {
        Ok(None) => {}
        Ok(Some(count)) => {
            assert_eq!(name, "count");
            let meant = match value {
                Value::Number(number) => *number,
                Value::Text(text) => text.trim().parse::<f64>().expect("a number"),
                other => panic_about(other),
            };
            let meant = meant.max(0.0).floor();
            assert!(
                count as f64 == meant || meant > f64::from(u32::MAX),
                "{value:?} {count}"
            );
        }
        Err(error) => {
            assert_eq!(error.code(), "invalid_argument");
            assert!(error.to_string().contains("'count'"));
        }
    }
    if let Err(error) = input.flag(&plain("count")) {
        assert!(error.to_string().contains("'count'"));
    }
    if let (Value::Text(text), "file_path") = (value, name) {
        assert_eq!(input.text(&FILE_PATH).ok(), Some(&**text));
        assert_eq!(input.file_path().is_ok(), VPath::parse_file(text).is_ok());
    }
}

#[expect(clippy::panic, reason = "the assertion of a test")]
fn panic_about(value: &Value) -> f64 {
    panic!("{value:?} was taken for a number")
}

// Files whose content is base64.

fn check_content(name: &str, text: &str) {
    let Ok(path) = VPath::parse_file(name) else {
        return;
    };
    let body = Bytes::copy_from_slice(text.as_bytes());
    match file::decode_content(&path, body.clone()) {
        Ok(kept) if !file::is_binary_name(&path) => assert_eq!(kept, body),
        Ok(_) => {}
        Err(error) => assert!(file::is_binary_name(&path), "{error}"),
    }
    let (_, texture) = file::classify(&path, &body, None);
    assert!(texture != Texture::Ascii || text.is_ascii());
}

#[test]
fn what_was_wrong_once_or_is_odd_is_right() {
    replay("path", |texts| check_path(texts[0]));
    replay("glob", |texts| check_glob(texts[0], texts[1]));
    replay("search", |texts| {
        check_search(texts[0], texts[1], 1);
        check_search(texts[0], &format!("{}\n", texts[1]).repeat(2_000), 0);
    });
    replay("replace", |texts| {
        check_replace(texts[0], texts[1], texts[2])
    });
    replay("page", |texts| {
        for offset in 0..5 {
            for limit in 0..4 {
                check_page(texts[0], offset, limit);
            }
        }
    });
    replay("xml", |texts| check_xml(texts[0]));
    replay("signing", |texts| {
        let pairs: Vec<(String, String)> = texts
            .chunks(2)
            .map(|pair| {
                (
                    pair[0].to_owned(),
                    pair.get(1).copied().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        check_query(&pairs);
        check_signature(
            texts[0],
            texts[0],
            texts.get(1).copied().unwrap_or_default(),
        );
    });
    replay("tool-input", |texts| {
        for name in ["count", "file_path"] {
            check_input(name, &Value::Text(Rc::from(texts[0])));
        }
    });
    replay("content", |texts| check_content(texts[0], texts[1]));
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(Value::Number),
        "[-+]?[0-9]{0,12}(\\.[0-9]{0,4})?| ?(true|yes|NO|0x1|1e3|NaN|inf)|\\PC{0,12}"
            .prop_map(|text| Value::Text(Rc::from(text))),
        Just(Value::Array),
        Just(Value::Object),
    ]
}

proptest! {
    #[test]
    fn paths(text in "[/.~a:C\\\\\u{0}\u{7f}é ]{0,16}|(/?(\\.\\.?|[a-c~é]{1,3}|C:)/?){0,8}|/\\PC{0,30}|/[a/]{1020,1030}") {
        check_path(&text);
    }

    #[test]
    fn globs(
        pattern in "(\\*\\*|[a-c*?\\[\\]{},!^\\\\/.é-]){0,14}",
        file in "(/[a-c*?\\[\\]{},!.é-]{1,4}){1,4}",
    ) {
        check_glob(&pattern, &file);
        check_glob(&file, &file);
    }

    #[test]
    fn searches(
        pattern in "[abAÉéςσ.*+?|()\\[\\]^$\\\\wb\r\n]{0,6}|[ab]{1,3}",
        body in "([abAÉéΣςσ_ .]|\r\n|\n|ab|\u{130}){0,40}",
        around in 0usize..4,
    ) {
        check_search(&pattern, &body, around);
    }

    #[test]
    fn searches_in_segments(
        pattern in "[ab][ab.]?|\\^a|b\\$|É",
        line in "[abé]{1,40}\r?",
        lines in 2usize..10,
        odd in "[abÉ]{0,9}",
        tail in "\n{0,2}",
    ) {
        // Several times what is searched between two questions whether to pause.
        let body = format!("{}{odd}{tail}", format!("{line}\n").repeat(lines * 600));
        check_search(&pattern, &body, 0);
    }

    #[test]
    fn replacements(text in "([abé]|\r\n|\n){0,30}", old in "([abé]|\r\n|\n){0,4}", new in "([ab$&\\\\]|\n){0,4}") {
        check_replace(&text, &old, &new);
    }

    #[test]
    fn pages(text in "([aé]|\r\n|\n|\n){0,60}", offset in 0usize..40, limit in 0usize..40) {
        check_page(&text, offset, limit);
    }

    #[test]
    fn documents(text in "([<>/&;#xa1\"'= ?!\\[\\]-]|CDATA|&amp;|<a>|</a>){0,24}") {
        check_xml(&text);
    }

    #[test]
    fn queries(pairs in prop::collection::vec(("[a-b=&%+ é/?#]{0,5}", "[a-b=&%+ é/?#~.]{0,5}"), 0..6)) {
        check_query(&pairs);
    }

    #[test]
    fn signatures(path in "(/[a-c é%+&=?#\n]{0,4}){1,4}", name in "[a-z=&%\n]{1,6}", value in "\\PC{0,8}") {
        check_signature(&path, &name, &value);
    }

    #[test]
    fn tool_inputs(name in "count|file_path|other", value in value()) {
        check_input(&name, &value);
    }

    #[test]
    fn contents(name in "/[ab]{1,3}(\\.(png|txt|ts|gz|é|PNG))?", text in "[A-Za-z0-9+/=\n ]{0,24}|data:[a-z/;,=0-9]{0,20}|\\PC{0,12}") {
        check_content(&name, &text);
    }
}

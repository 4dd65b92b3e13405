//! The engines alone against the recorded answers of `tests/vectors/`. The same files run again
//! on whole backends elsewhere; here a failure points at one engine.

#![expect(
    clippy::expect_used,
    reason = "a test may stop at what it does not understand"
)]

use std::fs;
use std::rc::Rc;

use bytes::Bytes;
use kitbag::core::file::classify;
use kitbag::core::path::VPath;
use kitbag::protocol::{GlobQuery, GrepQuery, Matches, Page};
use kitbag::search::{glob, grep, lines, patience, replace};
use serde_json::Value;

fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect("the vectors are there");
    serde_json::from_str(&text).expect("the vectors are JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Says which cases differ, all at once.
fn report(failures: &[String], cases: usize, expected: usize) {
    assert_eq!(cases, expected, "the number of recorded cases changed");
    assert!(
        failures.is_empty(),
        "{} of {cases} cases differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn paging() {
    let vectors = vectors("paging.json");
    let mut failures = Vec::new();
    for case in list(&vectors) {
        let content = text(&case["content"]);
        let number = |key: &str, default| case[key].as_u64().map_or(default, |n| n as usize);
        let page = Page {
            offset: number("offset", 0),
            limit: number("limit", 500),
        };
        let index = lines::LineIndex::build(content.as_bytes());
        let paged = lines::page(content.as_bytes(), page, &index);
        let result = &case["result"];
        let expected = |key: &str| result[key].as_u64().map(|n| n as usize);
        let position = paged.position;
        if &content[paged.range] != text(&result["content"])
            || position.and_then(|p| p.total_lines) != expected("totalLines")
            || position.map(|p| p.start_line) != expected("startLine")
            || position.map(|p| p.end_line) != expected("endLine")
            || position.and_then(|p| p.next_offset) != expected("nextOffset")
        {
            failures.push(format!("{page:?} gives {position:?}, not {result}"));
        }
    }
    report(&failures, list(&vectors).len(), 156);
}

#[test]
fn edit() {
    let vectors = vectors("edit.json");
    let path = VPath::parse("/x.txt").expect("a path");
    let mut failures = Vec::new();
    for case in list(&vectors) {
        let [content, old, new] = ["content", "old", "new"].map(|key| text(&case[key]));
        let all = case["replaceAll"].as_bool().expect("a truth value");
        let body = Bytes::copy_from_slice(content.as_bytes());
        let answer = replace::replace(&body, old.as_bytes(), new.as_bytes(), all);
        let same = match answer {
            Ok((after, done)) => {
                case["error"].is_null()
                    && case["occurrences"].as_u64() == Some(done.occurrences as u64)
                    && case["after"].as_str().map(str::as_bytes) == Some(&*after)
            }
            Err(refusal) => {
                let error = replace::sentence(&refusal, &path, old).to_string();
                case["after"].is_null() && case["error"].as_str() == Some(error.as_str())
            }
        };
        if !same {
            failures.push(case.to_string());
        }
    }
    report(&failures, list(&vectors).len(), 416);
}

/// The one pattern that the protocol reads otherwise than the recorded package did: "`[abc]`,
/// `[!a]`, `[^a]`" name two ways to say "none of these". The package took the `!` for one more
/// character of the class, as its answers for `[^a]` beside it show.
const DIFFERENT: &str = "[!a].*";

#[test]
fn glob() {
    let vectors = vectors("glob.json");
    let tree: Vec<VPath> = list(&vectors["tree"])
        .iter()
        .map(|path| VPath::parse(text(path)).expect("a path"))
        .collect();
    let mut failures = Vec::new();
    let mut different = 0;
    for case in list(&vectors["cases"]) {
        let query = GlobQuery::new(
            text(&case["pattern"]),
            VPath::parse(text(&case["path"])).expect("a path"),
        );
        let pattern = glob::Pattern::parse(&query).expect("a pattern");
        let mut found: Vec<&str> = tree
            .iter()
            .filter(|path| pattern.scope().admits(path) && pattern.accepts(path))
            .map(VPath::as_str)
            .collect();
        found.sort_unstable();
        let expected: Vec<&str> = list(&case["paths"]).iter().map(text).collect();
        if &*query.pattern == DIFFERENT {
            different += usize::from(found != expected);
        } else if found != expected {
            failures.push(format!("{query:?} gives {found:?}, not {expected:?}"));
        }
    }
    report(&failures, list(&vectors["cases"]).len(), 336);
    assert_eq!(different, 2, "answers of {DIFFERENT} that differ");
}

#[test]
fn grep() {
    let vectors = vectors("grep.json");
    let mut files = Vec::new();
    for (name, content) in vectors["files"].as_object().expect("files") {
        let path = VPath::parse(name).expect("a path");
        let body = match content.as_str() {
            Some(body) => body.as_bytes().to_vec(),
            None => list(&content["bytes"])
                .iter()
                .map(|byte| u8::try_from(byte.as_u64().expect("a byte")).expect("a byte"))
                .collect(),
        };
        let (_, texture) = classify(&path, &body, None);
        files.push((path, body, texture));
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let mut failures = Vec::new();
    for case in list(&vectors["cases"]) {
        let mut query = GrepQuery::literal(text(&case["pattern"]));
        query.path = VPath::parse(text(&case["path"])).expect("a path");
        query.glob = case["glob"].as_str().map(Rc::from);
        let patience = patience::Patience::until(None, kitbag::env::clock::now);
        let matcher = grep::Matcher::new(&query, patience).expect("a pattern");
        let filter = query
            .glob
            .as_deref()
            .map(|glob| glob::NameFilter::parse(glob, &query.path).expect("a filter"));
        let mut out = Matches::default();
        for (path, body, texture) in &files {
            let wanted = filter.as_ref().is_none_or(|filter| filter.accepts(path));
            if wanted && path.is_under(&query.path) {
                let mut progress = matcher.begin(usize::MAX);
                assert!(matcher.search(path, body, *texture, &mut progress, &mut out));
            }
        }
        let found: Vec<_> = out
            .iter()
            .map(|row| (row.path.as_str(), u64::from(row.line), row.text))
            .collect();
        let expected: Vec<_> = list(&case["matches"])
            .iter()
            .map(|row| {
                let line = row["line"].as_u64().expect("a line");
                (text(&row["path"]), line, text(&row["text"]).as_bytes())
            })
            .collect();
        if found != expected {
            failures.push(format!("{query:?}: {} rows", found.len()));
        }
    }
    report(&failures, list(&vectors["cases"]).len(), 147);
}

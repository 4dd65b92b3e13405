//! The best matches first: likely definitions of what is searched for, then newer files. A guess from
//! one line and its file's time, without any parser, so it serves all languages a little and none
//! exactly.

use std::cmp::Reverse;

use crate::core::order;
use crate::core::path::ByPath;
use crate::core::time::Time;
use crate::protocol::{GrepQuery, GrepResult, Matches, Row, RowKind};

/// Words that come directly before a name that they define.
const DEFINING: &[&str] = &[
    "fn",
    "func",
    "function",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "type",
    "impl",
    "mod",
    "module",
    "namespace",
    "const",
    "let",
    "var",
    "val",
    "static",
    "macro_rules!",
    "#define",
    "package",
    "object",
    "protocol",
    "record",
    "union",
    "table",
    "view",
    "procedure",
    "sub",
    "proc",
    "fun",
    "data",
    "newtype",
    "typedef",
    "extension",
    "actor",
    "alias",
    "function*",
];
/// Words before a definition that do not define by themselves.
const MODIFIERS: &[&str] = &[
    "pub",
    "pub(crate)",
    "export",
    "default",
    "async",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "override",
    "readonly",
    "unsafe",
    "extern",
    "inline",
    "virtual",
    "declare",
    "mut",
];
/// First words of lines that only name what is defined elsewhere.
const IMPORTING: &[&str] = &[
    "import", "use", "from", "require", "#include", "using", "include",
];

/// How likely a line is what somebody looks for, from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// A part of a longer word.
    Part,
    /// A line that imports it.
    Import,
    Use,
    /// It begins the line and is given a value or a body, or is in a heading.
    Named,
    /// A word before it says that it is defined here.
    Defined,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Where the text is in the line.
fn place(line: &[u8], text: &[u8], ignore_case: bool) -> Option<usize> {
    line.windows(text.len().max(1))
        .position(|part| match ignore_case {
            true => part.eq_ignore_ascii_case(text),
            false => part == text,
        })
}

/// A line without the words before a definition.
fn bare(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some((word, after)) = rest.split_once(' ') {
        if !MODIFIERS.contains(&word) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

fn worth(line: &[u8], query: &GrepQuery) -> Worth {
    let text = query.pattern.as_bytes();
    let whole = String::from_utf8_lossy(line);
    let rest = bare(&whole);
    let first = rest.split(|c: char| c.is_whitespace() || c == '(').next();
    let first = first.unwrap_or_default();
    let found = match query.regex || text.is_empty() {
        true => None,
        false => place(line, text, query.ignore_case),
    };
    let Some(at) = found else {
        // Where an expression matches is not known here.
        return match first {
            first if DEFINING.contains(&first) => Worth::Defined,
            first if IMPORTING.contains(&first) => Worth::Import,
            _ => Worth::Use,
        };
    };
    let (before, after) = line.split_at_checked(at).unwrap_or((line, b""));
    let after = after.get(text.len()..).unwrap_or_default();
    let starts = !text.first().is_some_and(|byte| is_word(*byte))
        || !before.last().is_some_and(|byte| is_word(*byte));
    let ends = !text.last().is_some_and(|byte| is_word(*byte))
        || !after.first().is_some_and(|byte| is_word(*byte));
    if !starts || !ends {
        return Worth::Part;
    }
    if IMPORTING.contains(&first) {
        return Worth::Import;
    }
    let before = String::from_utf8_lossy(before);
    // Only at the beginning of a line, since prose has many of these words.
    let known = |word: &str| DEFINING.contains(&word) || MODIFIERS.contains(&word);
    let last = before.split_whitespace().next_back();
    let defines =
        before.split_whitespace().all(known) && last.is_some_and(|last| DEFINING.contains(&last));
    // The text may have the word in itself: `fn main`.
    let own = query.pattern.trim_start().split_once(' ');
    if defines || own.is_some_and(|(word, _)| DEFINING.contains(&word)) {
        return Worth::Defined;
    }
    let is_heading = rest.starts_with('#');
    let begins = bare(&before).is_empty();
    let next = after.trim_ascii_start().first();
    let gets = match next {
        Some(b'=' | b':' | b'{') => true,
        Some(b'(') => after.trim_ascii_end().ends_with(b"{"),
        _ => false,
    };
    match is_heading || begins && gets {
        true => Worth::Named,
        false => Worth::Use,
    }
}

/// Puts the best matches first, each with its context, and keeps as many as the query wants.
pub fn best_first(found: &mut GrepResult, query: &GrepQuery, times: &ByPath<Time>) {
    let matches = &found.matches;
    let mut groups: Vec<(Worth, Option<Time>, &[Row])> = Vec::new();
    let mut rest = &*matches.rows;
    while !rest.is_empty() {
        // Context before a match belongs to it, and so does what is after it.
        let hit = rest.iter().position(|row| row.kind == RowKind::Match);
        let hit = hit.unwrap_or(rest.len() - 1);
        let behind = rest.iter().skip(hit + 1);
        let after = behind.take_while(|row| row.kind == RowKind::After).count();
        let (group, others) = rest
            .split_at_checked(hit + 1 + after)
            .unwrap_or((rest, &[]));
        rest = others;
        let Some(row) = group.get(hit) else { continue };
        let path = matches.paths.get(row.file as usize);
        let time = path.and_then(|path| times.get(path)).map(|time| **time);
        groups.push((worth(matches.text_at(row.text), query), time, group));
    }
    // The sort is stable: what is equal stays in order of path and line.
    order::sort_by_key(&mut groups, |(worth, time, _)| {
        (Reverse(*worth), Reverse(*time))
    });
    if let Some(most) = query.max_count {
        found.truncated |= groups.len() > most;
        groups.truncate(most);
    }
    let mut ranked = Matches {
        cut: matches.cut,
        ..Matches::default()
    };
    for row in groups.iter().flat_map(|(_, _, group)| *group) {
        if let Some(path) = matches.paths.get(row.file as usize) {
            ranked.push(path, row.line, matches.text_at(row.text), row.kind);
        }
    }
    found.matches = ranked;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::path::VPath;

    #[test]
    fn a_line_is_worth_what_it_does_with_the_text() {
        let cases = [
            ("fn retry(times: u32) {", "retry", Worth::Defined),
            ("export async function retry(", "retry", Worth::Defined),
            ("def retry(self):", "retry", Worth::Defined),
            ("  const retry = 1;", "retry", Worth::Defined),
            ("#define retry 3", "retry", Worth::Defined),
            ("pub fn main() {", "fn main", Worth::Defined),
            ("  async retry(times) {", "retry", Worth::Named),
            ("retry: 5", "retry", Worth::Named),
            ("## How to retry", "retry", Worth::Named),
            ("  retry(3);", "retry", Worth::Use),
            ("if x == retry {", "retry", Worth::Use),
            ("let x = retry(3);", "retry", Worth::Use),
            ("import { retry } from \"./retry\";", "retry", Worth::Import),
            ("use crate::retry;", "retry", Worth::Import),
            ("choose the type retry here", "retry", Worth::Use),
            ("fn retry_all() {", "retry", Worth::Part),
            ("", "", Worth::Use),
        ];
        for (line, text, expected) in cases {
            let query = GrepQuery::literal(text);
            assert_eq!(worth(line.as_bytes(), &query), expected, "{line}");
        }
        let mut query = GrepQuery::literal("RETRY");
        query.ignore_case = true;
        assert_eq!(worth(b"fn retry() {", &query), Worth::Defined);
        query.regex = true;
        assert_eq!(worth(b"pub fn retry() {", &query), Worth::Defined);
        assert_eq!(worth(b"retry()", &query), Worth::Use);
    }

    #[test]
    fn definitions_come_first_then_newer_files_then_the_order_of_paths() {
        let path = |text: &str| VPath::parse(text).expect("a path");
        let (mut found, mut times) = (GrepResult::default(), ByPath::new());
        for (at, line, time) in [
            ("/a", "retry()", 5),
            ("/b", "retry()", 9),
            ("/c", "fn retry() {", 1),
            ("/d", "retry()", 5),
        ] {
            times.insert(path(at), Box::new(Time::from_micros(time)));
            found
                .matches
                .push(&path(at), 1, line.as_bytes(), RowKind::Match);
        }
        let mut query = GrepQuery::literal("retry");
        let paths = |found: &GrepResult| {
            let paths = found.matches.paths.iter();
            paths
                .map(|path| path.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        best_first(&mut found, &query, &times);
        assert_eq!(paths(&found), ["/c", "/b", "/a", "/d"]);
        assert!(!found.truncated);
        query.max_count = Some(3);
        best_first(&mut found, &query, &times);
        assert_eq!(paths(&found), ["/c", "/b", "/a"]);
        assert!(found.truncated);
    }
}

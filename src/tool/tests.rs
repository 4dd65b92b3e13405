//! The tools as a model uses them, over an in-memory backend.

mod moving;
mod offloading;
mod unread;

use super::*;
use crate::core::testing::now;
use crate::files::{Files, FilesOptions, WriteMode};
use crate::storage::memory::Memory;

type Memories = Files<Memory>;

fn memory() -> Memories {
    Files::new(Memory::new(1 << 30), FilesOptions::default())
}

fn set() -> ToolSet {
    ToolSet::new(ToolOptions::default())
}

fn call(set: &ToolSet, backend: &Memories, name: &str, input: &str) -> Answer {
    let answer = set.call(backend, name, Ok(input::parsed(input)), "id-1");
    now(answer)
}

fn text_of(answer: &Answer) -> &str {
    match answer.blocks.first() {
        Some(Block::Text(text)) => text,
        other => panic!("no text: {other:?}"),
    }
}

fn ok(set: &ToolSet, backend: &Memories, name: &str, input: &str) -> String {
    let answer = call(set, backend, name, input);
    assert!(!answer.is_error, "{}", text_of(&answer));
    text_of(&answer).to_owned()
}

fn err(set: &ToolSet, backend: &Memories, name: &str, input: &str) -> String {
    let answer = call(set, backend, name, input);
    assert!(answer.is_error, "{}", text_of(&answer));
    text_of(&answer).to_owned()
}

fn put(backend: &Memories, path: &str, body: &[u8]) {
    let path = VPath::parse_file(path).expect("a path");
    let stored = backend.upload(vec![(path, Bytes::copy_from_slice(body))]);
    for answer in now(stored) {
        answer.expect("stored");
    }
}

fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn a_file_is_read_in_pages_that_say_how_to_go_on() {
    let (set, backend) = (set(), memory());
    put(&backend, "/a.txt", lines(250).as_bytes());
    let page = ok(&set, &backend, "read_file", r#"{"file_path":"/a.txt"}"#);
    assert!(page.starts_with("     1\tline 1\n"));
    assert!(
        page.ends_with("   100\tline 100\n[150 lines are left of 250. Read on with offset=100]")
    );
    let page = ok(
        &set,
        &backend,
        "read_file",
        r#"{"file_path":"/a.txt","offset":"249"}"#,
    );
    assert_eq!(page, "   250\tline 250");
    let past = err(
        &set,
        &backend,
        "read_file",
        r#"{"file_path":"/a.txt","offset":250}"#,
    );
    assert_eq!(past, "/a.txt has 250 lines; offset=250 is past the end.");
    put(&backend, "/empty", b"");
    let empty = ok(&set, &backend, "read_file", r#"{"file_path":"/empty"}"#);
    assert_eq!(empty, "[/empty exists but is empty]");
    let missing = err(&set, &backend, "read_file", r#"{"file_path":"/no"}"#);
    assert_eq!(missing, "Error: File '/no' not found");
}

#[test]
fn the_last_lines_are_shown_with_their_numbers() {
    let forgetful = ToolSet::new(ToolOptions {
        read_before_edit: false,
        ..ToolOptions::default()
    });
    for set in [set(), forgetful] {
        let backend = memory();
        put(&backend, "/a.txt", lines(250).as_bytes());
        put(&backend, "/open.txt", b"one\ntwo");
        put(&backend, "/empty", b"");
        put(&backend, "/a.png", b"png");
        for (input, expected) in [
            (
                r#"{"file_path":"/a.txt","tail":2}"#,
                "   249\tline 249\n   250\tline 250",
            ),
            // Nothing of it is left, so the whole of a short file is shown.
            (
                r#"{"file_path":"/open.txt","tail":9}"#,
                "     1\tone\n     2\ttwo",
            ),
            (
                r#"{"file_path":"/a.txt","tail":"3","limit":1,"offset":0}"#,
                "   248\tline 248\n[2 lines are left of 250. Read on with offset=248]",
            ),
            (
                r#"{"file_path":"/open.txt","tail":0,"limit":1,"offset":1}"#,
                "     2\ttwo",
            ),
            (
                r#"{"file_path":"/open.txt","tail":1,"column":1}"#,
                "     2\two",
            ),
            (
                r#"{"file_path":"/empty","tail":1}"#,
                "[/empty exists but is empty]",
            ),
            (
                r#"{"file_path":"/a.png","tail":1}"#,
                "/a.png (image/png, 3 bytes)",
            ),
        ] {
            assert_eq!(ok(&set, &backend, "read_file", input), expected, "{input}");
        }
        let many = ok(
            &set,
            &backend,
            "read_file",
            r#"{"file_path":"/a.txt","tail":150}"#,
        );
        assert!(many.starts_with("   101\tline 101\n") && many.ends_with("\tline 250"));
        let both = r#"{"file_path":"/a.txt","tail":2,"offset":5}"#;
        let both = err(&set, &backend, "read_file", both);
        assert!(
            both.starts_with("Error: 'offset' counts from the first line"),
            "{both}"
        );
    }
}

#[test]
fn a_blank_last_line_of_a_page_is_shown() {
    let (set, backend) = (set(), memory());
    put(&backend, "/a", b"a\n\nb");
    let page = ok(
        &set,
        &backend,
        "read_file",
        r#"{"file_path":"/a","limit":2}"#,
    );
    assert_eq!(
        page,
        "     1\ta\n     2\t\n[1 line is left of 3. Read on with offset=2]"
    );
}

#[test]
fn one_line_of_five_megabytes_is_read_to_its_end() {
    let (set, backend) = (set(), memory());
    put(&backend, "/big", "0123456789".repeat(500_000).as_bytes());
    let (mut column, mut seen, mut pages) = (0usize, 0usize, 0);
    loop {
        let input = format!(r#"{{"file_path":"/big","column":{column}}}"#);
        let page = ok(&set, &backend, "read_file", &input);
        assert!(page.len() < 90_000);
        for row in page.lines().filter(|row| !row.starts_with('[')) {
            seen += row.split_once('\t').expect("a row").1.len();
        }
        pages += 1;
        let Some((_, next)) = page.rsplit_once("column=") else {
            break;
        };
        column = next.trim_end_matches(']').parse().expect("a number");
    }
    assert_eq!((seen, pages), (5_000_000, 63));
}

#[test]
fn pictures_are_shown_and_other_binaries_told_of() {
    let (set, backend) = (set(), memory());
    put(&backend, "/a.png", b"\x89PNG");
    let answer = call(&set, &backend, "read_file", r#"{"file_path":"/a.png"}"#);
    let Some(Block::Media { kind, mime, body }) = answer.blocks.get(1) else {
        panic!("no picture: {answer:?}")
    };
    assert_eq!(
        (*kind, mime.as_str(), body.as_ref()),
        ("image", "image/png", &b"\x89PNG"[..])
    );
    put(&backend, "/a.zip", b"PK\x03");
    let said = ok(&set, &backend, "read_file", r#"{"file_path":"/a.zip"}"#);
    assert!(
        said.contains("binary file (application/zip, 3 bytes)"),
        "{said}"
    );
    put(&backend, "/big.png", &vec![1; (10 << 20) + 1]);
    let said = err(&set, &backend, "read_file", r#"{"file_path":"/big.png"}"#);
    assert!(said.contains("too large to show"), "{said}");
}

#[test]
fn only_what_was_read_and_is_unchanged_is_edited() {
    let (set, backend) = (set(), memory());
    put(&backend, "/a", b"one\ntwo\n");
    let edit = r#"{"file_path":"/a","old_string":"one","new_string":"1"}"#;
    assert!(err(&set, &backend, "edit_file", edit).contains("has not been read yet"));
    ok(
        &set,
        &backend,
        "read_file",
        r#"{"file_path":"/a","limit":1}"#,
    );
    put(&backend, "/a", b"one\nTWO\n");
    assert!(err(&set, &backend, "edit_file", edit).contains("has changed since it was read"));
    ok(&set, &backend, "read_file", r#"{"file_path":"/a"}"#);
    assert_eq!(
        ok(&set, &backend, "edit_file", edit),
        "Edited /a: replaced 1 occurrence."
    );
    let again = r#"{"file_path":"/a","old_string":"TWO","new_string":"2"}"#;
    ok(&set, &backend, "edit_file", again);
    assert_eq!(
        ok(&set, &backend, "read_file", r#"{"file_path":"/a"}"#),
        "     1\t1\n     2\t2"
    );
}

#[test]
fn an_overwrite_needs_a_read_where_the_backend_overwrites() {
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    let (set, backend) = (set(), Files::new(Memory::new(1 << 20), options));
    let write = |content: &str| format!(r#"{{"file_path":"/a","content":"{content}"}}"#);
    assert_eq!(
        ok(&set, &backend, "write_file", &write("x")),
        "Wrote /a (1 line, 1 bytes)."
    );
    ok(&set, &backend, "write_file", &write("y"));
    put(&backend, "/a", b"other");
    assert!(err(&set, &backend, "write_file", &write("z")).contains("has changed"));
    ok(&set, &backend, "read_file", r#"{"file_path":"/a"}"#);
    ok(&set, &backend, "write_file", &write("z"));
    put(&backend, "/b", b"other");
    let unread = err(
        &set,
        &backend,
        "write_file",
        r#"{"path":"/b","content":""}"#,
    );
    assert!(unread.contains("has not been read"), "{unread}");
}

#[test]
fn failed_edits_help_to_mend_the_call() {
    let (set, backend) = (set(), memory());
    put(&backend, "/a", b"let total = 1;\nx\nlet y = 2;\nx\n");
    ok(&set, &backend, "read_file", r#"{"file_path":"/a"}"#);
    let said = err(
        &set,
        &backend,
        "edit_file",
        r#"{"file_path":"/a","old_string":"let totals = 1","new_string":""}"#,
    );
    assert!(
        said.contains("does not occur") && said.contains("     1\tlet total = 1;"),
        "{said}"
    );
    let said = err(
        &set,
        &backend,
        "edit_file",
        r#"{"file_path":"/a","old_string":"x","new_string":"z"}"#,
    );
    assert!(said.contains("occurs 2 times (lines 2, 4)"), "{said}");
    let all = r#"{"file_path":"/a","old_string":"x","new_string":"z","replace_all":"true"}"#;
    assert_eq!(
        ok(&set, &backend, "edit_file", all),
        "Edited /a: replaced 2 occurrences."
    );
}

#[test]
fn edits_made_side_by_side_do_not_take_each_other_for_strangers() {
    let (set, backend) = (set(), memory());
    put(&backend, "/a", b"one two");
    ok(&set, &backend, "read_file", r#"{"file_path":"/a"}"#);
    let edit = |old: &str| format!(r#"{{"file_path":"/a","old_string":"{old}","new_string":"x"}}"#);
    let (first, second) = (edit("one"), edit("two"));
    let both = futures_util::future::join(
        set.call(&backend, "edit_file", Ok(input::parsed(&first)), "1"),
        set.call(&backend, "edit_file", Ok(input::parsed(&second)), "2"),
    );
    let (first, second) = now(both);
    assert!(!first.is_error && !second.is_error);
    ok(
        &set,
        &backend,
        "edit_file",
        r#"{"file_path":"/a","old_string":"x x","new_string":"done"}"#,
    );
}

#[test]
fn searches_answer_in_three_ways_and_say_where_they_stopped() {
    let (set, backend) = (set(), memory());
    put(&backend, "/a.txt", lines(3).as_bytes());
    put(&backend, "/d/b.md", b"line\nno\nline");
    let grep = |rest: &str| {
        ok(
            &set,
            &backend,
            "grep",
            &format!(r#"{{"pattern":"line"{rest}}}"#),
        )
    };
    assert_eq!(grep(""), "/a.txt\n/d/b.md");
    assert_eq!(grep(r#","output_mode":"count""#), "/a.txt: 3\n/d/b.md: 2");
    let content = grep(r#","output_mode":"content","glob":"*.md","before":1"#);
    assert_eq!(content, "/d/b.md:\n1: line\n2- no\n3: line");
    let capped = grep(r#","output_mode":"content","max_count":"1""#);
    assert!(capped.starts_with("/a.txt:\n1: line 1\n[The search stopped after 1 match;"));
    let none = ok(&set, &backend, "grep", r#"{"pattern":"x.*y"}"#);
    assert!(none.contains("set regex to true"), "{none}");
    let wrong = err(
        &set,
        &backend,
        "grep",
        r#"{"pattern":"x","output_mode":"lines"}"#,
    );
    assert!(
        wrong.contains("files_with_matches, content or count"),
        "{wrong}"
    );
    assert_eq!(
        ok(&set, &backend, "glob", r#"{"pattern":"**/*.md"}"#),
        "/d/b.md"
    );
    assert_eq!(ok(&set, &backend, "ls", "{}"), "/a.txt (21 bytes)\n/d/");
}

#[test]
fn long_listings_are_capped_with_a_word_on_how_to_narrow() {
    let (set, backend) = (set(), memory());
    for n in 0..1_500 {
        put(&backend, &format!("/d/{n}"), b"x");
    }
    for (tool, input) in [("ls", r#"{"path":"/d"}"#), ("glob", r#"{"pattern":"**"}"#)] {
        let text = ok(&set, &backend, tool, input);
        assert_eq!(text.lines().count(), 1_001);
        assert!(text.contains("[500 more are not shown:"), "{tool}");
    }
}

#[test]
fn wrong_calls_are_answered_with_what_is_expected() {
    let (set, backend) = (set(), memory());
    let said = err(&set, &backend, "rm", "{}");
    assert_eq!(
        said,
        "The tool 'rm' does not exist. The tools are: ls, read_file, write_file, edit_file, delete, glob, grep."
    );
    assert!(
        err(&set, &backend, "execute", r#"{"command":"ls"}"#).contains("is not available here")
    );
    let said = err(&set, &backend, "read_file", r#"{"file_path":["/a"]}"#);
    assert_eq!(
        said,
        "Error: 'file_path' must be a string, not an array\nread_file takes: file_path (string), [offset (integer)], [limit (integer)], [tail (integer)], [column (integer)]"
    );
    let unreadable = Err(Error::new(
        Kind::InvalidArgument,
        "The input is not valid JSON",
    ));
    let answer = now(set.call(&backend, "ls", unreadable, "id-1"));
    assert_eq!(
        text_of(&answer),
        "Error: The input is not valid JSON\nls takes: [path (string)]"
    );
    assert!(
        err(
            &set,
            &backend,
            "read_file",
            r#"{"file_path":"/../etc/passwd"}"#
        )
        .contains("'..' segments")
    );
}

#[test]
fn only_allowed_tools_are_offered_and_called() {
    let options = ToolOptions {
        tools: Some(vec![Tool::Ls, Tool::ReadFile]),
        descriptions: vec![(Tool::Ls, "Mine.".to_owned())],
        ..ToolOptions::default()
    };
    let (set, backend) = (ToolSet::new(options), memory());
    let names: Vec<&str> = set.definitions(true).iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["ls", "read_file"]);
    assert_eq!(set.definitions(true)[0].description, "Mine.");
    assert!(set.system_prompt(true).contains("ls, read_file"));
    assert!(
        err(&set, &backend, "delete", r#"{"file_path":"/a"}"#)
            .contains("The tools are: ls, read_file.")
    );
}

#[test]
fn a_column_past_the_end_is_explained() {
    let (set, backend) = (set(), memory());
    put(&backend, "/a.txt", b"one\ntwo\n");
    let input = r#"{"file_path":"/a.txt","offset":1,"column":3}"#;
    assert_eq!(
        ok(&set, &backend, "read_file", input),
        "[Line 2 ends before column=3]"
    );
}

#[test]
fn an_answer_of_grep_is_as_long_in_every_script_and_counts_what_is_missing() {
    let (set, backend) = (set(), memory());
    let line = format!("{} needle\n", "語".repeat(900));
    put(&backend, "/a.txt", line.repeat(200).as_bytes());
    let input = r#"{"pattern":"needle","output_mode":"content"}"#;
    let said = ok(&set, &backend, "grep", input);
    let shown = said.matches("needle").count();
    assert!((80..=88).contains(&shown), "{shown}");
    assert!(
        said.contains(&format!("[{} more matches are not shown", 200 - shown)),
        "{shown}"
    );
    let after = format!("needle\n{}", format!("{}\n", "x".repeat(990)).repeat(100));
    put(&backend, "/b.txt", after.as_bytes());
    let input = r#"{"pattern":"needle","path":"/b.txt","output_mode":"content","after":100}"#;
    let said = ok(&set, &backend, "grep", input);
    assert!(
        said.contains("[The lines that follow are not shown: "),
        "{}",
        said.len()
    );
}

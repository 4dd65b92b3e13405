//! Tools that are offered only if they are named: move, copy, append.

use super::*;

fn every_tool() -> ToolSet {
    ToolSet::new(ToolOptions {
        tools: Some(schema::TABLE.map(|one| one.tool).to_vec()),
        ..ToolOptions::default()
    })
}

#[test]
fn move_copy_and_append_are_offered_only_if_they_are_named() {
    let (set, backend) = (set(), memory());
    let names: Vec<&str> = set.definitions(true).iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), 8);
    assert!(!set.system_prompt(true).contains("move_file"));
    err(&set, &backend, "move_file", r#"{"from":"/a","to":"/b"}"#);
    assert_eq!(every_tool().definitions(true).len(), 11);
}

#[test]
fn files_are_moved_and_copied_and_what_was_read_of_them_is_still_known() {
    let (set, backend) = (every_tool(), memory());
    put(&backend, "/d/a.txt", b"one");
    ok(&set, &backend, "read_file", r#"{"file_path":"/d/a.txt"}"#);
    let said = ok(&set, &backend, "move_file", r#"{"from":"/d","to":"/e"}"#);
    assert_eq!(said, "Moved /d to /e.");
    let edit = r#"{"file_path":"/e/a.txt","old_string":"one","new_string":"two"}"#;
    ok(&set, &backend, "edit_file", edit);
    let said = ok(
        &set,
        &backend,
        "copy_file",
        r#"{"source":"/e/a.txt","to":"/b.txt"}"#,
    );
    assert_eq!(said, "Copied /e/a.txt to /b.txt.");
    let edit = r#"{"file_path":"/b.txt","old_string":"two","new_string":"three"}"#;
    ok(&set, &backend, "edit_file", edit);
    let said = err(
        &set,
        &backend,
        "move_file",
        r#"{"from":"/b.txt","to":"/e/a.txt"}"#,
    );
    assert!(said.contains("already exists"), "{said}");
}

#[test]
fn a_file_that_was_not_read_is_not_replaced() {
    let (set, backend) = (every_tool(), memory());
    put(&backend, "/a.txt", b"a");
    put(&backend, "/b.txt", b"b");
    let over = r#"{"from":"/a.txt","to":"/b.txt","overwrite":true}"#;
    let said = err(&set, &backend, "move_file", over);
    assert!(said.contains("was not read"), "{said}");
    ok(&set, &backend, "read_file", r#"{"file_path":"/b.txt"}"#);
    ok(&set, &backend, "move_file", over);
    let read = ok(&set, &backend, "read_file", r#"{"file_path":"/b.txt"}"#);
    assert!(read.ends_with("\ta"), "{read}");
}

#[test]
fn text_is_appended_without_a_read_and_an_edit_after_it_needs_none() {
    let (set, backend) = (every_tool(), memory());
    put(&backend, "/log.txt", b"one\n");
    let append = r#"{"file_path":"/log.txt","content":"two\n"}"#;
    assert_eq!(
        ok(&set, &backend, "append_file", append),
        "Added 4 characters to /log.txt."
    );
    let edit = r#"{"file_path":"/log.txt","old_string":"two","new_string":"2"}"#;
    err(&set, &backend, "edit_file", edit);
    ok(&set, &backend, "read_file", r#"{"file_path":"/log.txt"}"#);
    ok(&set, &backend, "append_file", append);
    let edit = r#"{"file_path":"/log.txt","old_string":"one","new_string":"1"}"#;
    ok(&set, &backend, "edit_file", edit);
    let said = err(
        &set,
        &backend,
        "append_file",
        r#"{"file_path":"/no","content":"x"}"#,
    );
    assert!(said.contains("Create it with write_file"), "{said}");
}

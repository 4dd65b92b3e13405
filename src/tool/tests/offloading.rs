//! Results that are too large are moved to a file.

use super::*;

#[test]
fn a_large_result_is_moved_and_every_line_can_be_read_back() {
    let (set, backend) = (set(), memory());
    let large: String = (0..100_000)
        .map(|n| format!("row {n:06} {}\n", "x".repeat(41)))
        .collect();
    assert!(large.len() > 5_000_000);
    let moved = set.offload(&backend, &large, "call/1.x", "shell", What::Result);
    let moved = now(moved).expect("moved");
    assert!(moved.text.len() / offload::TOKEN < 2_000);
    assert!(
        moved.text.contains("/large_tool_results/call_1_x\n"),
        "{}",
        moved.text
    );
    let (mut offset, mut seen) = (0, String::new());
    loop {
        let input = format!(
            r#"{{"file_path":"/large_tool_results/call_1_x","limit":1400,"offset":{offset}}}"#
        );
        let page = ok(&set, &backend, "read_file", &input);
        for row in page.lines().filter(|row| !row.starts_with('[')) {
            seen.push_str(row.split_once('\t').expect("a row").1);
            seen.push('\n');
        }
        let Some((_, next)) = page.rsplit_once("offset=") else {
            break;
        };
        offset = next.trim_end_matches(']').parse().expect("a number");
    }
    assert!(seen == large);
    // Another result of the same call gets another name; the same result reuses its file.
    let again = |text: &str| {
        let moved = set.offload(&backend, text, "call/1.x", "shell", What::Result);
        now(moved).expect("moved").text
    };
    assert!(again(&format!("{large}!")).contains("/large_tool_results/call_1_x_2\n"));
    assert_eq!(again(&large), moved.text);
    let glob = r#"{"pattern":"/large_tool_results/*"}"#;
    assert_eq!(ok(&set, &backend, "glob", glob).lines().count(), 2);
}

#[test]
fn notes_stay_small_whatever_the_lines_are() {
    let (set, backend) = (set(), memory());
    for large in [
        "x".repeat(5_000_000),
        "😀".repeat(1_000_000),
        format!("{}\n", "y".repeat(3_000)).repeat(2_000),
    ] {
        let moved = set.offload(&backend, &large, "", "shell", What::Result);
        let moved = now(moved).expect("moved");
        assert!(render::units(&moved.text) / offload::TOKEN < 2_000);
    }
}

#[test]
fn what_cannot_be_saved_is_cut_and_says_so() {
    let set = set();
    let backend = Files::new(Memory::new(1_000), FilesOptions::default());
    let large = "abc\n".repeat(100_000);
    let moved = set.offload(&backend, &large, "id", "shell", What::Result);
    let text = now(moved).expect("moved").text;
    assert!(render::units(&text) < 81_000);
    assert!(text.contains("320000 characters were cut here") && text.contains("failed:"));
}

#[test]
fn small_results_excluded_tools_and_a_switched_off_limit_stay_whole() {
    let backend = memory();
    let large = "x".repeat(80_001);
    let moved = |set: &ToolSet, text: &str, tool: &str, what| {
        let moved = set.offload(&backend, text, "id", tool, what);
        now(moved).is_some()
    };
    assert!(moved(&set(), &large, "shell", What::Result));
    assert!(!moved(&set(), &large[1..], "shell", What::Result));
    for tool in ["ls", "glob", "grep", "read_file", "write_file", "edit_file"] {
        assert!(!moved(&set(), &large, tool, What::Result));
    }
    assert!(!moved(&set(), &large, "", What::Message));
    assert!(moved(&set(), &"x".repeat(200_001), "", What::Message));
    let off = ToolSet::new(ToolOptions {
        result_tokens: None,
        ..ToolOptions::default()
    });
    assert!(!moved(&off, &large, "shell", What::Result));
}

#[test]
fn an_earlier_result_is_not_replaced_where_writes_replace() {
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    let backend = Files::new(Memory::new(1 << 30), options);
    let path = |text: &str| {
        let set = set();
        let moved = set.offload(&backend, text, "call_1", "shell", What::Result);
        let text = now(moved).expect("moved").text;
        let names = text
            .split_whitespace()
            .filter(|one| one.starts_with("/large"));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(path(&"A\n".repeat(90_000)), ["/large_tool_results/call_1"]);
    assert_eq!(
        path(&"B\n".repeat(90_000)),
        ["/large_tool_results/call_1_2"]
    );
    assert_eq!(path(&"A\n".repeat(90_000)), ["/large_tool_results/call_1"]);
}

//! Tests of the composite: what mounts show and hide, the conformance suite through mounts, mounts
//! that fail, and random trees and operations compared with one flat backend.

mod failing;
pub(crate) mod flat;
mod moving;
mod no_empty;

use std::rc::Rc;

use bytes::Bytes;

use super::Composite;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::testing::{now, path};
use crate::files::{Files, FilesOptions};
use crate::protocol::*;
use crate::storage::memory::Memory;

pub(crate) use no_empty::mounted_where_the_suite_writes;

fn memory() -> SharedBackend {
    Rc::new(Files::new(Memory::default(), FilesOptions::default()))
}

fn put(backend: &dyn Backend, at: &str, text: &str) {
    let answers = now(backend.upload(vec![(path(at), Bytes::copy_from_slice(text.as_bytes()))]));
    for answer in answers {
        answer.expect("uploaded");
    }
}

fn listed(backend: &dyn Backend, at: &str) -> Vec<String> {
    let infos = now(backend.ls(&path(at))).expect("listed");
    infos.iter().map(FileInfo::shown_path).collect()
}

fn globbed(backend: &dyn Backend, pattern: &str, at: &str) -> Vec<String> {
    let query = GlobQuery::new(pattern, path(at));
    let found = now(backend.glob(&query)).expect("globbed");
    let mut paths: Vec<String> = found.files.iter().map(FileInfo::shown_path).collect();
    paths.sort_unstable();
    paths
}

fn grepped(backend: &dyn Backend, query: &GrepQuery) -> (Vec<String>, bool) {
    let found = now(backend.grep(query)).expect("grepped");
    let lines = found
        .matches
        .iter()
        .map(|m| format!("{}:{}:{}", m.path, m.line, String::from_utf8_lossy(m.text)));
    (lines.collect(), found.truncated)
}

fn tree() -> (SharedBackend, SharedBackend, Composite) {
    let (default, memories) = (memory(), memory());
    put(&*default, "/a.ts", "needle 1\n");
    put(&*default, "/memories/hidden.ts", "needle hidden\n");
    put(&*default, "/memories", "needle hidden file\n");
    put(&*default, "/src/x.ts", "needle 2\nneedle 3\n");
    put(&*memories, "/m.ts", "needle 4\n");
    put(&*memories, "/sub/n.ts", "needle 5\n");
    let composite = Composite::new(
        default.clone(),
        [
            (path("/memories"), memories.clone()),
            (path("/w/deep"), memory()),
        ],
    )
    .expect("mounts");
    (default, memories, composite)
}

#[test]
fn a_prefix_is_whole_segments_and_cannot_be_the_root_or_twice_the_same() {
    let refused = |mounts: Vec<&str>| {
        let mounts = mounts.into_iter().map(|at| (path(at), memory()));
        Composite::new(memory(), mounts).err().map(|e| e.kind())
    };
    assert_eq!(refused(vec!["/"]), Some(Kind::InvalidArgument));
    assert_eq!(refused(vec!["/a/", "//a/."]), Some(Kind::InvalidArgument));
    assert_eq!(refused(vec!["/a", "/a/b"]), None);
    let mounted = memory();
    let composite = Composite::new(memory(), [(path("/abc"), mounted.clone())]).expect("mounts");
    put(&composite, "/abcd/x", "outside");
    put(&composite, "/abc/x", "inside");
    assert_eq!(globbed(&*mounted, "**", "/"), ["/x"]);
}

#[test]
fn ancestors_show_mounts_and_hide_what_lies_under_them() {
    let (_, _, composite) = tree();
    assert_eq!(
        listed(&composite, "/"),
        ["/a.ts", "/memories/", "/src/", "/w/"]
    );
    assert_eq!(listed(&composite, "/w"), ["/w/deep/"]);
    assert_eq!(
        listed(&composite, "/memories"),
        ["/memories/m.ts", "/memories/sub/"]
    );
    assert_eq!(
        globbed(&composite, "**", "/"),
        ["/a.ts", "/memories/m.ts", "/memories/sub/n.ts", "/src/x.ts"]
    );
    assert_eq!(
        globbed(&composite, "**/memories/*.ts", "/"),
        ["/memories/m.ts"]
    );
    assert_eq!(
        globbed(&composite, "/memories/**", "/src"),
        globbed(&composite, "**", "/memories")
    );
    assert_eq!(globbed(&composite, "/a.ts", "/memories"), ["/a.ts"]);
    assert_eq!(
        globbed(&composite, "{/a.ts,sub/*}", "/memories"),
        ["/a.ts", "/memories/sub/n.ts"]
    );
}

#[test]
fn one_budget_holds_for_all_and_hidden_matches_use_none_of_it() {
    let (_, _, composite) = tree();
    let mut query = GrepQuery::literal("needle");
    let all = [
        "/a.ts:1:needle 1",
        "/memories/m.ts:1:needle 4",
        "/memories/sub/n.ts:1:needle 5",
        "/src/x.ts:1:needle 2",
        "/src/x.ts:2:needle 3",
    ];
    assert_eq!(
        grepped(&composite, &query),
        (all.map(String::from).to_vec(), false)
    );
    for cap in 0..=6 {
        query.max_count = Some(cap);
        let wanted: Vec<String> = all.iter().take(cap).map(|s| (*s).to_owned()).collect();
        assert_eq!(grepped(&composite, &query), (wanted, cap < 5), "{cap}");
    }
    query.max_count = None;
    query.glob = Some("memories/*.ts".into());
    assert_eq!(grepped(&composite, &query).0, ["/memories/m.ts:1:needle 4"]);
    query.path = path("/memories");
    assert_eq!(grepped(&composite, &query).0, Vec::<String>::new());
    query.glob = Some("/memories/sub/*".into());
    assert_eq!(
        grepped(&composite, &query).0,
        ["/memories/sub/n.ts:1:needle 5"]
    );
    query.path = path("/memories/m.ts");
    query.glob = Some("*.ts".into());
    assert_eq!(grepped(&composite, &query).0, ["/memories/m.ts:1:needle 4"]);
}

#[test]
fn paths_are_rewritten_in_errors() {
    let (_, _, composite) = tree();
    let error = now(composite.read(&path("/memories/no"), Page::default())).expect_err("missing");
    assert_eq!(error.to_string(), "File '/memories/no' not found");
    let error = now(composite.delete(&path("/memories/no"), None)).expect_err("missing");
    assert_eq!(error.to_string(), "Error: File '/memories/no' not found");
    let error = now(composite.write(&path("/memories"), Content::Text(Bytes::new())))
        .expect_err("a directory");
    assert_eq!(error.kind(), Kind::IsDirectory);
    let error = now(composite.read(&path("/memories/~"), Page::default())).expect_err("no path");
    assert_eq!(error.kind(), Kind::InvalidPath);
}

#[test]
fn a_delete_above_mounts_reaches_them_all() {
    let (default, memories, composite) = tree();
    now(composite.delete(&path("/memories"), None)).expect("deleted");
    assert!(globbed(&*memories, "**", "/").is_empty());
    assert_eq!(
        globbed(&*default, "memories/**", "/"),
        ["/memories/hidden.ts"]
    );
    let error = now(composite.delete(&path("/memories"), None)).expect_err("gone");
    assert_eq!(error.to_string(), "Error: File '/memories' not found");
    put(&composite, "/w/deep/f", "x");
    now(composite.delete(&path("/w"), None)).expect("deleted");
    assert!(globbed(&composite, "**", "/w").is_empty());
}

#[test]
fn batches_answer_in_the_order_asked() {
    let (_, _, composite) = tree();
    let asked = [
        "/memories/m.ts",
        "/no",
        "/a.ts",
        "/memories",
        "/memories/~/x",
        "/memories/sub/n.ts",
        "/src/x.ts",
    ]
    .map(path);
    let answers: Vec<String> = now(composite.download(&asked))
        .into_iter()
        .map(|answer| match answer {
            Ok(body) => String::from_utf8_lossy(&body).trim().replace('\n', "+"),
            Err(error) => error.code().to_owned(),
        })
        .collect();
    assert_eq!(
        answers,
        [
            "needle 4",
            "not_found",
            "needle 1",
            "is_directory",
            "invalid_path",
            "needle 5",
            "needle 2+needle 3"
        ]
    );
}

//! Tests of the router: the conformance suite through mounts, and random trees, mounts and
//! operations against one flat backend.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use proptest::prelude::*;

use super::Composite;
use crate::backend::files::{Files, FilesOptions};
use crate::backend::state::Memory;
use crate::error::{Error, Kind, Result};
use crate::path::VPath;
use crate::protocol::*;
use crate::storage::Pending;

fn memory() -> SharedBackend {
    Rc::new(Files::new(Memory::default(), FilesOptions::default()))
}

fn path(text: &str) -> VPath {
    VPath::parse(text).expect("a path")
}

fn now<T>(future: LocalBoxFuture<'_, T>) -> T {
    future.now_or_never().expect("memory answers at once")
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
    let query = GlobQuery {
        pattern: pattern.into(),
        path: path(at),
    };
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

/// A router shows its mounts as directories also while they are empty, which a flat tree does
/// not. For comparing the two, this takes directories without a file away.
pub(crate) struct NoEmptyDirectories(pub(crate) SharedBackend);

#[deny(clippy::missing_trait_methods)]
impl Backend for NoEmptyDirectories {
    fn capability(&self) -> Capability {
        self.0.capability()
    }
    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        Box::pin(async move {
            let mut kept = Vec::new();
            for info in self.0.ls(path).await? {
                let beneath = GlobQuery {
                    pattern: "**".into(),
                    path: info.path.clone(),
                };
                if !info.is_dir() || !self.0.glob(&beneath).await?.files.is_empty() {
                    kept.push(info);
                }
            }
            Ok(kept)
        })
    }
    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        self.0.read(path, page)
    }
    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        self.0.read_raw(path)
    }
    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        self.0.grep(query)
    }
    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        self.0.glob(query)
    }
    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        self.0.write(path, content)
    }
    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        self.0.edit(path, edit)
    }
    fn delete<'a>(&'a self, path: &'a VPath) -> Pending<'a, DeleteResult> {
        self.0.delete(path)
    }
    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        self.0.upload(files)
    }
    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        self.0.download(paths)
    }
    fn shell(&self) -> Option<&dyn Shell> {
        self.0.shell()
    }
}

/// A router whose mounts lie where the suite keeps its files.
pub(crate) fn mounted_where_the_suite_writes() -> SharedBackend {
    let inner: SharedBackend =
        Rc::new(Composite::new(memory(), [(path("/deep"), memory())]).expect("mounts"));
    let mounts = ["/a", "/d", "/dir", "/src", "/src/lib", "/docs", "/v"]
        .map(|prefix| (path(prefix), memory()))
        .into_iter()
        .chain([(path("/x"), inner)]);
    let composite = Composite::new(memory(), mounts).expect("mounts");
    Rc::new(NoEmptyDirectories(Rc::new(composite)))
}

#[test]
fn the_conformance_suite_passes_through_mounts() {
    let report = crate::conformance::run(async || Ok(mounted_where_the_suite_writes()))
        .now_or_never()
        .expect("memory answers at once");
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
    assert!(report.passed >= 20, "{report:?}");
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
    let error = now(composite.delete(&path("/memories/no"))).expect_err("missing");
    assert_eq!(error.to_string(), "Error: File '/memories/no' not found");
    let error = now(composite.write(&path("/memories"), Content::Text(Bytes::new())))
        .expect_err("a directory");
    assert_eq!(error.kind(), Kind::IsDirectory);
    let error = now(composite.read(&path("/memories/~"), Page::default())).expect_err("no path");
    assert_eq!(error.kind(), Kind::InvalidPath);
}

/// Fails every search and delete.
struct Failing(Files<Memory>);

fn broken<'a, T: 'a>() -> Pending<'a, T> {
    Box::pin(async { Err(Error::new(Kind::Unavailable, "The disk is on fire")) })
}

impl Backend for Failing {
    fn capability(&self) -> Capability {
        self.0.capability()
    }
    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        self.0.ls(path)
    }
    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        self.0.read(path, page)
    }
    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        self.0.read_raw(path)
    }
    fn grep<'a>(&'a self, _: &'a GrepQuery) -> Pending<'a, GrepResult> {
        broken()
    }
    fn glob<'a>(&'a self, _: &'a GlobQuery) -> Pending<'a, GlobResult> {
        broken()
    }
    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        self.0.write(path, content)
    }
    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        self.0.edit(path, edit)
    }
    fn delete<'a>(&'a self, _: &'a VPath) -> Pending<'a, DeleteResult> {
        broken()
    }
    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        self.0.upload(files)
    }
    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        self.0.download(paths)
    }
    fn shell(&self) -> Option<&dyn Shell> {
        None
    }
}

#[test]
fn a_route_that_fails_fails_the_search_by_name() {
    let failing = Rc::new(Failing(Files::new(
        Memory::default(),
        FilesOptions::default(),
    )));
    let (good, default) = (memory(), memory());
    put(&*default, "/a/x", "x");
    put(&*good, "/y", "y");
    let mounts: Vec<(VPath, SharedBackend)> = vec![
        (path("/a/bad/long"), failing),
        (path("/a/later"), good.clone()),
        (path("/a/much/longer/prefix"), good.clone()),
    ];
    let composite = Composite::new(default.clone(), mounts).expect("mounts");
    let error = now(composite.grep(&GrepQuery::literal("x"))).expect_err("fails");
    assert_eq!(
        error.to_string(),
        "The mount '/a/bad/long/' failed: The disk is on fire"
    );
    let mut bad = GrepQuery::literal("(");
    bad.regex = true;
    let error = now(composite.grep(&bad)).expect_err("no pattern");
    assert!(
        error.to_string().starts_with("Invalid regex pattern: "),
        "{error}"
    );
    let error = now(composite.delete(&path("/a"))).expect_err("half-way");
    assert_eq!(
        error.to_string(),
        "Error: '/a' was deleted only in part. Removed: /a, /a/much/longer/prefix/. \
         Not tried: /a/later/. Failed: /a/bad/long/: The disk is on fire"
    );
    assert_eq!(error.kind(), Kind::Unavailable);
}

#[test]
fn a_delete_above_mounts_reaches_them_all() {
    let (default, memories, composite) = tree();
    now(composite.delete(&path("/memories"))).expect("deleted");
    assert!(globbed(&*memories, "**", "/").is_empty());
    assert_eq!(
        globbed(&*default, "memories/**", "/"),
        ["/memories/hidden.ts"]
    );
    let error = now(composite.delete(&path("/memories"))).expect_err("gone");
    assert_eq!(error.to_string(), "Error: File '/memories' not found");
    put(&composite, "/w/deep/f", "x");
    now(composite.delete(&path("/w"))).expect("deleted");
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
            "not_found",
            "invalid_path",
            "needle 5",
            "needle 2+needle 3"
        ]
    );
}

#[derive(Clone, Debug)]
enum Step {
    Write(String, String),
    Upload(Vec<(String, String)>),
    Edit(String, String, String, bool),
    Delete(String),
    Ls(String),
    Read(String, usize, usize),
    Raw(String),
    Download(Vec<String>),
    Glob(String, String),
    Grep(
        String,
        String,
        Option<String>,
        Option<usize>,
        Option<usize>,
        usize,
    ),
}

fn segment() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "m", "ab", "c.ts", "d.md", ".x"]).prop_map(String::from)
}

fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec(segment(), 1..4).prop_map(|parts| format!("/{}", parts.join("/")))
}

fn dir() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::from("/")), any_path()]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["one", "two", "one two", ""]),
        0..4,
    )
    .prop_map(|lines| lines.join("\n"))
}

fn pattern() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "*", "**", "a", "m", "*.ts", "{a,m}", "?", "[am]*", "**", "c.ts", "{a,/m}", "{m/,}a",
    ]);
    let body = prop::collection::vec(piece, 1..4).prop_map(|parts| parts.join("/"));
    (any::<bool>(), body)
        .prop_map(|(anchored, body)| if anchored { format!("/{body}") } else { body })
}

fn step() -> impl Strategy<Value = Step> {
    let count = || prop::option::of(0usize..5);
    prop_oneof![
        3 => (any_path(), text()).prop_map(|(p, t)| Step::Write(p, t)),
        3 => prop::collection::vec((any_path(), text()), 1..5).prop_map(Step::Upload),
        2 => (any_path(), Just("one".into()), Just("three".into()), any::<bool>()).prop_map(|(p, a, b, all)| Step::Edit(p, a, b, all)),
        1 => any_path().prop_map(Step::Delete),
        2 => dir().prop_map(Step::Ls),
        1 => (any_path(), 0usize..3, 0usize..3).prop_map(|(p, o, l)| Step::Read(p, o, l)),
        1 => any_path().prop_map(Step::Raw),
        1 => prop::collection::vec(any_path(), 1..5).prop_map(Step::Download),
        3 => (pattern(), dir()).prop_map(|(p, d)| Step::Glob(p, d)),
        3 => (prop::sample::select(vec!["one", "two", ""]), dir(), prop::option::of(pattern()), count(), count(), 0usize..2)
            .prop_map(|(p, d, g, m, f, c)| Step::Grep(p.into(), d, g, m, f, c)),
    ]
}

/// One step's answer as a text. Times are left out: two backends are not asked at one instant.
fn answer(backend: &dyn Backend, step: &Step) -> String {
    fn said<T>(answer: Result<T>, show: impl FnOnce(T) -> String) -> String {
        match answer {
            Ok(value) => show(value),
            Err(error) => format!("{error:?}"),
        }
    }
    let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    match step {
        Step::Write(at, text) => said(
            now(backend.write(&path(at), Content::Text(bytes(text)))),
            |r| format!("{r:?}"),
        ),
        Step::Upload(files) => {
            let files = files
                .iter()
                .map(|(at, text)| (path(at), bytes(text)))
                .collect();
            format!("{:?}", now(backend.upload(files)))
        }
        Step::Edit(at, old, new, all) => {
            let edit = Edit {
                old: bytes(old),
                new: bytes(new),
                replace_all: *all,
            };
            said(now(backend.edit(&path(at), &edit)), |r| format!("{r:?}"))
        }
        Step::Delete(at) => said(now(backend.delete(&path(at))), |r| format!("{r:?}")),
        Step::Ls(at) => said(now(backend.ls(&path(at))), |infos| {
            let shown = infos.iter().map(|i| match i.entry {
                EntryInfo::Directory => i.shown_path(),
                EntryInfo::File { size, .. } => format!("{} {size}", i.path),
            });
            shown.collect::<Vec<_>>().join("\n")
        }),
        Step::Read(at, offset, limit) => {
            let page = Page {
                offset: *offset,
                limit: *limit,
            };
            said(now(backend.read(&path(at), page)), |r| format!("{r:?}"))
        }
        Step::Raw(at) => said(now(backend.read_raw(&path(at))), |r| {
            format!("{:?} {} {:?} {:?}", r.body, r.is_text, r.mime, r.format)
        }),
        Step::Download(paths) => {
            let paths: Vec<VPath> = paths.iter().map(|at| path(at)).collect();
            format!("{:?}", now(backend.download(&paths)))
        }
        Step::Glob(pattern, at) => {
            let query = GlobQuery {
                pattern: pattern.as_str().into(),
                path: path(at),
            };
            said(now(backend.glob(&query)), |found| {
                assert!(found.files.is_sorted_by(|a, b| a.newest_first(b).is_le()));
                let mut shown: Vec<String> = found
                    .files
                    .iter()
                    .map(|i| format!("{:?}", (&i.path, i.is_dir())))
                    .collect();
                shown.sort_unstable();
                format!("{shown:?} {}", found.truncated)
            })
        }
        Step::Grep(pattern, at, glob, max_count, max_per_file, context) => {
            let query = GrepQuery {
                path: path(at),
                glob: glob.as_deref().map(Into::into),
                max_count: *max_count,
                max_per_file: *max_per_file,
                before: *context,
                after: *context,
                ..GrepQuery::literal(pattern)
            };
            said(now(backend.grep(&query)), |found| {
                let rows = found.matches.iter().map(|m| format!("{m:?}"));
                format!(
                    "{} {}",
                    rows.collect::<Vec<_>>().join("\n"),
                    found.truncated
                )
            })
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mounts_answer_like_one_flat_tree(
        prefixes in prop::collection::btree_set(any_path(), 0..4),
        hidden in prop::collection::vec((any_path(), text()), 0..4),
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let flat = memory();
        let default = memory();
        let prefixes: Vec<VPath> = prefixes.iter().map(|at| path(at)).collect();
        // What a mount hides must not be seen anywhere.
        for (at, text) in &hidden {
            if prefixes.iter().any(|prefix| path(at).is_under(prefix)) {
                put(&*default, at, text);
            }
        }
        let mounts = prefixes.iter().map(|prefix| (prefix.clone(), memory()));
        let composite = NoEmptyDirectories(Rc::new(Composite::new(default, mounts).expect("mounts")));
        for step in &steps {
            // A mounted prefix is a directory and can be no file as well; in a flat tree it can.
            let names = |at: &String| prefixes.contains(&path(at));
            let skipped = match step {
                Step::Write(at, _) => names(at),
                Step::Upload(files) => files.iter().any(|(at, _)| names(at)),
                // A delete above a mount also takes what the default backend holds there unseen.
                Step::Delete(at) => prefixes.iter().any(|prefix| prefix.is_under(&path(at))) && !hidden.is_empty(),
                _ => false,
            };
            if skipped {
                continue;
            }
            prop_assert_eq!(answer(&composite, step), answer(&*flat, step), "{:?} with {:?}", step, &prefixes);
        }
    }
}

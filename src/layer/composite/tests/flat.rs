//! Random trees, mounts and operations against one flat backend.

use proptest::prelude::*;

use crate::core::testing::cases;

use super::no_empty::NoEmptyDirectories;
use super::*;

/// A call with its arguments.
#[derive(Clone, Debug)]
pub(crate) enum Step {
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

pub(crate) fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec(segment(), 1..4).prop_map(|parts| format!("/{}", parts.join("/")))
}

fn dir() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::from("/")), any_path()]
}

pub(crate) fn text() -> impl Strategy<Value = String> {
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

/// Any call.
pub(crate) fn step() -> impl Strategy<Value = Step> {
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

/// The result of one step as a text. Times are left out: the two backends are called at different
/// times.
pub(crate) fn answer(backend: &dyn Backend, step: &Step) -> String {
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
                whole: false,
                appends: false,
            };
            said(now(backend.edit(&path(at), &edit)), |r| format!("{r:?}"))
        }
        Step::Delete(at) => said(now(backend.delete(&path(at), None)), |r| format!("{r:?}")),
        Step::Ls(at) => said(now(backend.ls(&path(at))), |infos| {
            let shown = infos.iter().map(|i| match i.entry {
                EntryInfo::Directory => i.shown_path(),
                EntryInfo::File { size, .. } => format!("{} {size:?}", i.path),
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
            let query = GlobQuery::new(pattern.as_str(), path(at));
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
    #![proptest_config(cases(1500))]

    #[test]
    fn mounts_answer_like_one_flat_tree(
        prefixes in prop::collection::btree_set(any_path(), 0..4),
        hidden in prop::collection::vec((any_path(), text()), 0..4),
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let flat = memory();
        let default = memory();
        let prefixes: Vec<VPath> = prefixes.iter().map(|at| path(at)).collect();
        // Files hidden by a mount must not be visible anywhere.
        for (at, text) in &hidden {
            if prefixes.iter().any(|prefix| path(at).is_under(prefix)) {
                put(&*default, at, text);
            }
        }
        let mounts = prefixes.iter().map(|prefix| (prefix.clone(), memory()));
        let composite = NoEmptyDirectories(Rc::new(Composite::new(default, mounts).expect("mounts")));
        for step in &steps {
            // A mounted prefix is a directory and cannot be a file as well; in a flat tree it can.
            let names = |at: &String| prefixes.contains(&path(at));
            let skipped = match step {
                Step::Write(at, _) | Step::Edit(at, ..) | Step::Read(at, ..) | Step::Raw(at) if names(at) => {
                    prop_assert!(answer(&composite, step).contains("is_directory"), "{:?}", step);
                    true
                }
                Step::Upload(files) => files.iter().any(|(at, _)| names(at)),
                Step::Download(paths) => paths.iter().any(names),
                // A delete above a mount also deletes the hidden files of the default backend.
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

//! The behaviours every backend must show, as cases that any implementation runs. A case names
//! what it needs of the [`Capability`]; a backend that does not promise that much does not run
//! it. Each case gets an empty backend of its own, made to create and never overwrite.
//!
//! ```no_run
//! # async fn example(make: impl Fn() -> kitbag::protocol::SharedBackend) {
//! let report = kitbag::conformance::run(async || Ok(make())).await;
//! assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
//! # }
//! ```

use bytes::Bytes;
use futures_util::future::{LocalBoxFuture, join_all};

use crate::error::{Kind, Result};
use crate::path::VPath;
use crate::protocol::{
    Backend, Capability, Content, Directories, Edit, GlobQuery, GrepQuery, Page, Reach, RowKind,
    SharedBackend,
};

/// One behaviour.
pub struct Case {
    /// What it says, as a sentence with underscores.
    pub name: &'static str,
    /// Whether a backend that promises this much must show it.
    pub needs: fn(&Capability) -> bool,
    /// Shows it, or says what was seen instead.
    pub run: for<'a> fn(&'a dyn Backend) -> LocalBoxFuture<'a, Outcome>,
}

/// What a case came to.
pub type Outcome = std::result::Result<(), String>;

/// What a run came to.
#[derive(Debug, Default)]
pub struct Report {
    /// Cases that held.
    pub passed: usize,
    /// Cases that the backend does not promise enough for.
    pub left_out: Vec<&'static str>,
    /// Cases that did not hold, a sentence each.
    pub failures: Vec<String>,
}

/// Runs every case that the backend's capability asks for, each on a fresh backend.
pub async fn run(make: impl AsyncFn() -> Result<SharedBackend>) -> Report {
    let mut report = Report::default();
    for case in cases() {
        let backend = match make().await {
            Ok(backend) => backend,
            Err(error) => {
                report
                    .failures
                    .push(format!("{}: no backend: {error:?}", case.name));
                continue;
            }
        };
        if !(case.needs)(&backend.capability()) {
            report.left_out.push(case.name);
            continue;
        }
        match (case.run)(&*backend).await {
            Ok(()) => report.passed += 1,
            Err(seen) => report.failures.push(format!("{}: {seen}", case.name)),
        }
    }
    report
}

/// A backend with the few words that cases are written in.
struct Subject<'a>(&'a dyn Backend);

fn path(text: &str) -> std::result::Result<VPath, String> {
    VPath::parse(text).map_err(|error| error.to_string())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, seen: T, wanted: T) -> Outcome {
    if seen == wanted {
        return Ok(());
    }
    Err(format!("{what}: saw {seen:?}, wanted {wanted:?}"))
}

fn refused<T: std::fmt::Debug>(
    what: &str,
    answer: Result<T>,
    kind: Kind,
) -> std::result::Result<String, String> {
    match answer {
        Err(error) if error.kind() == kind => Ok(error.to_string()),
        other => Err(format!("{what}: saw {other:?}, wanted {}", kind.code())),
    }
}

impl Subject<'_> {
    async fn write(&self, at: &str, text: &str) -> std::result::Result<(), String> {
        let content = Content::Text(Bytes::copy_from_slice(text.as_bytes()));
        let answer = self.0.write(&path(at)?, content).await;
        answer
            .map(drop)
            .map_err(|error| format!("write {at}: {error:?}"))
    }

    async fn try_write(&self, at: &str, text: &str) -> std::result::Result<Result<()>, String> {
        let content = Content::Text(Bytes::copy_from_slice(text.as_bytes()));
        Ok(self.0.write(&path(at)?, content).await.map(drop))
    }

    async fn try_edit(
        &self,
        at: &str,
        old: &str,
        new: &str,
        replace_all: bool,
    ) -> std::result::Result<Result<usize>, String> {
        let edit = Edit {
            old: Bytes::copy_from_slice(old.as_bytes()),
            new: Bytes::copy_from_slice(new.as_bytes()),
            replace_all,
        };
        let answer = self.0.edit(&path(at)?, &edit).await;
        Ok(answer.map(|edited| edited.occurrences))
    }

    async fn edit(&self, at: &str, old: &str, new: &str) -> std::result::Result<usize, String> {
        let answer = self.try_edit(at, old, new, false).await?;
        answer.map_err(|error| format!("edit {at}: {error:?}"))
    }

    async fn text(&self, at: &str) -> std::result::Result<String, String> {
        let page = Page {
            offset: 0,
            limit: usize::MAX,
        };
        let answer = self.0.read(&path(at)?, page).await;
        let read = answer.map_err(|error| format!("read {at}: {error:?}"))?;
        Ok(String::from_utf8_lossy(&read.content).into_owned())
    }

    async fn upload(&self, files: &[(&str, &[u8])]) -> Outcome {
        let mut batch = Vec::new();
        for (at, body) in files {
            batch.push((path(at)?, Bytes::copy_from_slice(body)));
        }
        for (answer, (at, _)) in self.0.upload(batch).await.into_iter().zip(files) {
            answer.map_err(|error| format!("upload {at}: {error:?}"))?;
        }
        Ok(())
    }

    async fn bytes(&self, at: &str) -> std::result::Result<Bytes, String> {
        let mut answers = self.0.download(&[path(at)?]).await;
        let answer = answers.pop().ok_or("download: no answer")?;
        answer.map_err(|error| format!("download {at}: {error:?}"))
    }

    async fn ls(&self, at: &str) -> std::result::Result<Vec<String>, String> {
        let answer = self.0.ls(&path(at)?).await;
        let files = answer.map_err(|error| format!("ls {at}: {error:?}"))?;
        Ok(files.iter().map(|info| info.shown_path()).collect())
    }

    async fn glob(&self, pattern: &str, at: &str) -> std::result::Result<Vec<String>, String> {
        let query = GlobQuery {
            pattern: pattern.into(),
            path: path(at)?,
        };
        let answer = self.0.glob(&query).await;
        let found = answer.map_err(|error| format!("glob {pattern}: {error:?}"))?;
        let mut paths: Vec<String> = found
            .files
            .iter()
            .map(|info| info.path.as_str().to_owned())
            .collect();
        paths.sort_unstable();
        Ok(paths)
    }

    async fn grep(&self, query: &GrepQuery) -> std::result::Result<(Vec<String>, bool), String> {
        let answer = self.0.grep(query).await;
        let found = answer.map_err(|error| format!("grep {:?}: {error:?}", query.pattern))?;
        let lines = found.matches.iter().map(|line| {
            let mark = match line.kind {
                RowKind::Match => ':',
                RowKind::Before | RowKind::After => '-',
            };
            let text = String::from_utf8_lossy(line.text);
            format!("{}{mark}{}{mark}{text}", line.path, line.line)
        });
        Ok((lines.collect(), found.truncated))
    }
}

fn always(_: &Capability) -> bool {
    true
}

fn writable(capability: &Capability) -> bool {
    capability.writable
}

fn keeps_bytes(capability: &Capability) -> bool {
    capability.writable && capability.keeps_binary
}

/// Writes one case: its name, what it needs, and its steps over a [`Subject`].
macro_rules! case {
    ($name:ident, $needs:expr, |$subject:ident| $steps:block) => {{
        fn $name(backend: &dyn Backend) -> LocalBoxFuture<'_, Outcome> {
            Box::pin(async move {
                let $subject = Subject(backend);
                $steps
                Ok(())
            })
        }
        Case {
            name: stringify!($name),
            needs: $needs,
            run: $name,
        }
    }};
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

/// Every case.
pub fn cases() -> Vec<Case> {
    [reading(), changing(), searching(), batches(), racing()]
        .into_iter()
        .flatten()
        .collect()
}

fn reading() -> Vec<Case> {
    vec![
        case!(an_empty_backend_lists_nothing, always, |it| {
            same("ls", it.ls("/").await?, Vec::new())?;
            same(
                "ls of a missing directory",
                it.ls("/nowhere").await?,
                Vec::new(),
            )?;
            same("glob", it.glob("**", "/").await?, Vec::new())?;
            same(
                "grep",
                it.grep(&GrepQuery::literal("x")).await?,
                (Vec::new(), false),
            )?;
        }),
        case!(a_missing_file_is_not_found, always, |it| {
            let missing = path("/no.txt")?;
            let said = refused(
                "read",
                it.0.read(&missing, Page::default()).await,
                Kind::NotFound,
            )?;
            same("sentence", said, String::from("File '/no.txt' not found"))?;
            refused("readRaw", it.0.read_raw(&missing).await, Kind::NotFound)?;
        }),
        case!(what_is_written_is_read, writable, |it| {
            for text in [
                "",
                "one line",
                "two\nlines\n",
                "日本語 🙂\r\nnaïve\n",
                "\u{feff}bom",
            ] {
                let at = format!("/dir/{}.txt", text.len());
                it.write(&at, text).await?;
                same(&at, it.text(&at).await?, text.to_owned())?;
            }
        }),
        case!(pages_are_lines, writable, |it| {
            it.write("/p.txt", "a\nb\nc\nd\n").await?;
            let page = Page {
                offset: 1,
                limit: 2,
            };
            let answer = it.0.read(&path("/p.txt")?, page).await;
            let read = answer.map_err(|error| error.to_string())?;
            same("content", read.content, Bytes::from_static(b"b\nc"))?;
            let position = read.position.ok_or("no position")?;
            same("total", position.total_lines, Some(4))?;
            same("start", position.start_line, 2)?;
            same("end", position.end_line, 3)?;
            same("next", position.next_offset, Some(3))?;
        }),
        case!(a_listing_shows_one_level_in_order, writable, |it| {
            for at in ["/b.txt", "/a/x.md", "/a/y/z.md", "/a.txt", "/a-b/c.txt"] {
                it.write(at, "12345").await?;
            }
            let wanted = strings(&["/a-b/", "/a.txt", "/a/", "/b.txt"]);
            same("/", it.ls("/").await?, wanted)?;
            same("/a", it.ls("/a").await?, strings(&["/a/x.md", "/a/y/"]))?;
            same("a file's path", it.ls("/b.txt").await?, Vec::new())?;
            let infos =
                it.0.ls(&path("/a")?)
                    .await
                    .map_err(|error| error.to_string())?;
            let size = infos.iter().find_map(|info| match info.entry {
                crate::protocol::EntryInfo::File { size, .. } => Some(size),
                crate::protocol::EntryInfo::Directory => None,
            });
            same("size", size, Some(5))?;
        }),
        case!(odd_names_are_ordinary, writable, |it| {
            let names = [
                "/__proto__",
                "/constructor",
                "/~backup",
                "/a..b",
                "/with space",
                "/100%",
                "/ü/ñ.txt",
                "/plus+and&",
                "/quote'\"",
                "/[x]{y}*?",
                "/🙂",
                "/semi;colon",
                "/#hash",
                "/$HOME",
                "/-dash",
            ];
            for name in names {
                it.write(name, name).await?;
            }
            for name in names {
                same(name, it.text(name).await?, name.to_owned())?;
            }
            same("glob", it.glob("**", "/").await?.len(), names.len())?;
        }),
        case!(raw_data_has_type_and_times, writable, |it| {
            it.write("/r.md", "# hi\n").await?;
            let raw =
                it.0.read_raw(&path("/r.md")?)
                    .await
                    .map_err(|error| error.to_string())?;
            same("body", raw.body, Bytes::from_static(b"# hi\n"))?;
            same("text", raw.is_text, true)?;
            same("type", raw.mime.as_str(), "text/markdown")?;
            same("modified", raw.modified.is_some(), true)?;
        }),
        case!(
            created_is_kept_through_an_edit,
            |c| c.writable && c.keeps_created,
            |it| {
                it.write("/t.txt", "a").await?;
                let at = path("/t.txt")?;
                let before =
                    it.0.read_raw(&at)
                        .await
                        .map_err(|error| error.to_string())?;
                it.edit("/t.txt", "a", "b").await?;
                let after =
                    it.0.read_raw(&at)
                        .await
                        .map_err(|error| error.to_string())?;
                same("created", after.created, before.created)?;
                same("not older", after.modified >= before.modified, true)?;
            }
        ),
    ]
}

fn changing() -> Vec<Case> {
    vec![
        case!(create_is_refused_when_the_file_exists, writable, |it| {
            it.write("/w.txt", "first").await?;
            let answer = it.try_write("/w.txt", "second").await?;
            let said = refused("write", answer, Kind::AlreadyExists)?;
            let start = "Cannot write to /w.txt because it already exists.";
            same("sentence", said.starts_with(start), true)?;
            same("content", it.text("/w.txt").await?, String::from("first"))?;
        }),
        case!(an_edit_replaces_the_only_occurrence, writable, |it| {
            it.write("/e.txt", "one two three").await?;
            same("count", it.edit("/e.txt", "two", "$& 2").await?, 1)?;
            same(
                "content",
                it.text("/e.txt").await?,
                String::from("one $& 2 three"),
            )?;
        }),
        case!(an_ambiguous_edit_changes_nothing, writable, |it| {
            it.write("/e.txt", "x y x").await?;
            let answer = it.try_edit("/e.txt", "x", "z", false).await?;
            refused("edit", answer, Kind::AmbiguousEdit)?;
            same("content", it.text("/e.txt").await?, String::from("x y x"))?;
            let answer = it.try_edit("/e.txt", "x", "z", true).await?;
            same("all", answer.map_err(|error| error.to_string())?, 2)?;
            same("content", it.text("/e.txt").await?, String::from("z y z"))?;
        }),
        case!(an_edit_without_a_match_changes_nothing, writable, |it| {
            it.write("/e.txt", "abc").await?;
            let answer = it.try_edit("/e.txt", "x", "y", false).await?;
            let said = refused("edit", answer, Kind::NoMatch)?;
            same(
                "sentence",
                said,
                String::from("Error: String not found in file: 'x'"),
            )?;
            let answer = it.try_edit("/none.txt", "x", "y", false).await?;
            let said = refused("edit of nothing", answer, Kind::NotFound)?;
            same(
                "sentence",
                said,
                String::from("Error: File '/none.txt' not found"),
            )?;
        }),
        case!(line_endings_alone_may_differ, writable, |it| {
            it.write("/crlf.txt", "a\r\nb\r\nc\r\n").await?;
            let edit = Edit {
                old: Bytes::from_static(b"a\nb"),
                new: Bytes::from_static(b"x\ny\nz"),
                replace_all: false,
            };
            let answer = it.0.edit(&path("/crlf.txt")?, &edit).await;
            same(
                "crlf",
                answer.map_err(|error| error.to_string())?.crlf,
                true,
            )?;
            same(
                "content",
                it.text("/crlf.txt").await?,
                String::from("x\r\ny\r\nz\r\nc\r\n"),
            )?;
        }),
        case!(a_file_is_deleted_alone, writable, |it| {
            it.write("/d/a.txt", "a").await?;
            it.write("/d/ab.txt", "ab").await?;
            it.0.delete(&path("/d/a.txt")?)
                .await
                .map_err(|error| error.to_string())?;
            same("left", it.glob("**", "/").await?, strings(&["/d/ab.txt"]))?;
            let said = refused(
                "again",
                it.0.delete(&path("/d/a.txt")?).await,
                Kind::NotFound,
            )?;
            same(
                "sentence",
                said,
                String::from("Error: File '/d/a.txt' not found"),
            )?;
        }),
        case!(a_directory_is_deleted_with_all_beneath, writable, |it| {
            for at in ["/d/a.txt", "/d/e/f.txt", "/dd.txt", "/d-x/g.txt"] {
                it.write(at, "x").await?;
            }
            it.0.delete(&path("/d")?)
                .await
                .map_err(|error| error.to_string())?;
            same(
                "left",
                it.glob("**", "/").await?,
                strings(&["/d-x/g.txt", "/dd.txt"]),
            )?;
            same("ls", it.ls("/").await?, strings(&["/d-x/", "/dd.txt"]))?;
            it.write("/d/a.txt", "again").await?;
            same("anew", it.text("/d/a.txt").await?, String::from("again"))?;
        }),
        case!(
            a_name_is_a_file_or_a_directory,
            |c| c.writable && c.directories == Directories::Real,
            |it| {
                it.write("/dir/a.txt", "a").await?;
                let answer = it.try_write("/dir", "x").await?;
                refused("write over a directory", answer, Kind::IsDirectory)?;
                same("kept", it.text("/dir/a.txt").await?, String::from("a"))?;
                same(
                    "under a file",
                    it.try_write("/dir/a.txt/b", "x").await?.is_err(),
                    true,
                )?;
            }
        ),
        case!(a_read_only_storage_says_so, |c| !c.writable, |it| {
            refused(
                "write",
                it.try_write("/x.txt", "x").await?,
                Kind::PermissionDenied,
            )?;
        }),
        case!(
            binary_content_is_base64_in_and_bytes_out,
            keeps_bytes,
            |it| {
                it.write("/i.png", "iVBORw0KGgo=").await?;
                let read =
                    it.0.read(
                        &path("/i.png")?,
                        Page {
                            offset: 3,
                            limit: 1,
                        },
                    )
                    .await;
                let read = read.map_err(|error| error.to_string())?;
                same(
                    "bytes",
                    read.content,
                    Bytes::from_static(b"\x89PNG\r\n\x1a\n"),
                )?;
                same("text", read.is_text, false)?;
                let answer = it.try_edit("/i.png", "P", "Q", false).await?;
                refused("edit", answer, Kind::InvalidArgument)?;
                let answer = it.try_write("/j.png", "not base64!").await?;
                refused("bad base64", answer, Kind::InvalidArgument)?;
            }
        ),
    ]
}

fn searching() -> Vec<Case> {
    vec![
        case!(grep_finds_lines_in_order, writable, |it| {
            it.write("/b.txt", "needle\nhay\nneedle 2").await?;
            it.write("/a/x.md", "a needle\r\n").await?;
            it.write("/a/none.md", "nothing").await?;
            let wanted = strings(&[
                "/a/x.md:1:a needle\r",
                "/b.txt:1:needle",
                "/b.txt:3:needle 2",
            ]);
            same(
                "all",
                it.grep(&GrepQuery::literal("needle")).await?,
                (wanted, false),
            )?;
            let mut below = GrepQuery::literal("needle");
            below.path = path("/a")?;
            let wanted = strings(&["/a/x.md:1:a needle\r"]);
            same("below", it.grep(&below).await?, (wanted.clone(), false))?;
            below.path = path("/a/x.md")?;
            same("one file", it.grep(&below).await?, (wanted.clone(), false))?;
            let mut named = GrepQuery::literal("needle");
            named.glob = Some("*.md".into());
            same("by name", it.grep(&named).await?, (wanted, false))?;
        }),
        case!(grep_takes_the_pattern_literally, writable, |it| {
            it.write("/g.txt", "a.c\nabc\nA.C\n[x](y)\n").await?;
            let found = it.grep(&GrepQuery::literal("a.c")).await?.0;
            same("dot", found, strings(&["/g.txt:1:a.c"]))?;
            let found = it.grep(&GrepQuery::literal("[x](")).await?.0;
            same("brackets", found, strings(&["/g.txt:4:[x](y)"]))?;
            same(
                "line feed",
                it.grep(&GrepQuery::literal("c\nA")).await?.0,
                Vec::new(),
            )?;
        }),
        case!(grep_stops_at_its_cap, writable, |it| {
            it.write("/c1.txt", "m\nm\nm\n").await?;
            it.write("/c2.txt", "m\n").await?;
            let mut query = GrepQuery::literal("m");
            query.max_count = Some(2);
            let wanted = strings(&["/c1.txt:1:m", "/c1.txt:2:m"]);
            same("two", it.grep(&query).await?, (wanted, true))?;
            query.max_count = Some(4);
            let (all, truncated) = it.grep(&query).await?;
            same("exactly all", (all.len(), truncated), (4, false))?;
        }),
        case!(grep_knows_expressions_case_and_context, writable, |it| {
            it.write("/r.txt", "one\nTwo 22\nthree\nfour 44\n").await?;
            let mut query = GrepQuery::literal(r"^\w+ \d+$");
            query.regex = true;
            let wanted = strings(&["/r.txt:2:Two 22", "/r.txt:4:four 44"]);
            same("expression", it.grep(&query).await?.0, wanted)?;
            let mut query = GrepQuery::literal("two");
            query.ignore_case = true;
            query.before = 1;
            query.after = 1;
            let wanted = strings(&["/r.txt-1-one", "/r.txt:2:Two 22", "/r.txt-3-three"]);
            same("context", it.grep(&query).await?.0, wanted)?;
            let mut query = GrepQuery::literal("(");
            query.regex = true;
            let said = refused("bad", it.0.grep(&query).await, Kind::InvalidPattern)?;
            same(
                "sentence",
                said.starts_with("Invalid regex pattern: "),
                true,
            )?;
        }),
        case!(grep_passes_over_binary_files, keeps_bytes, |it| {
            it.upload(&[
                ("/x.png", b"needle"),
                ("/y", b"needle\0"),
                ("/z", b"needle"),
            ])
            .await?;
            let found = it.grep(&GrepQuery::literal("needle")).await?.0;
            same("text only", found, strings(&["/z:1:needle"]))?;
        }),
        case!(glob_follows_the_protocol, writable, |it| {
            for at in [
                "/a.ts",
                "/src/b.ts",
                "/src/deep/c.ts",
                "/src/.d.ts",
                "/src/e.js",
            ] {
                it.write(at, "x").await?;
            }
            for (pattern, at, wanted) in [
                ("*.ts", "/", &["/a.ts"][..]),
                ("*.ts", "/src", &["/src/.d.ts", "/src/b.ts"]),
                (
                    "**/*.ts",
                    "/",
                    &["/a.ts", "/src/.d.ts", "/src/b.ts", "/src/deep/c.ts"],
                ),
                (
                    "src/**",
                    "/",
                    &["/src/.d.ts", "/src/b.ts", "/src/deep/c.ts", "/src/e.js"],
                ),
                (
                    "/src/*.{js,ts}",
                    "/src/deep",
                    &["/src/.d.ts", "/src/b.ts", "/src/e.js"],
                ),
                ("[!a-d].js", "/src", &["/src/e.js"]),
                ("src", "/", &[]),
            ] {
                same(pattern, it.glob(pattern, at).await?, strings(wanted))?;
            }
            let query = GlobQuery {
                pattern: "[".into(),
                path: VPath::root(),
            };
            refused("bad pattern", it.0.glob(&query).await, Kind::InvalidPattern)?;
        }),
    ]
}

fn batches() -> Vec<Case> {
    vec![
        case!(every_byte_comes_back, keeps_bytes, |it| {
            let all: Vec<u8> = (0..=255u8).collect();
            it.upload(&[
                ("/all.bin", &all),
                ("/bad.txt", b"\xff\xfe text"),
                ("/empty", b""),
            ])
            .await?;
            same("all", it.bytes("/all.bin").await?, Bytes::from(all))?;
            same(
                "text that is none",
                it.bytes("/bad.txt").await?,
                Bytes::from_static(b"\xff\xfe text"),
            )?;
            same("empty", it.bytes("/empty").await?, Bytes::new())?;
        }),
        case!(uploads_overwrite_and_answer_in_order, writable, |it| {
            it.write("/u.txt", "old").await?;
            it.upload(&[("/u.txt", b"new"), ("/v/w.txt", b"w")]).await?;
            same("new", it.text("/u.txt").await?, String::from("new"))?;
            let paths = [path("/v/w.txt")?, path("/missing")?, path("/u.txt")?];
            let answers = it.0.download(&paths).await;
            let seen: Vec<String> = answers
                .iter()
                .map(|answer| match answer {
                    Ok(body) => String::from_utf8_lossy(body).into_owned(),
                    Err(error) => error.kind().file_operation_error().to_owned(),
                })
                .collect();
            same("answers", seen, strings(&["w", "file_not_found", "new"]))?;
        }),
        case!(a_large_file_is_paged_and_searched, writable, |it| {
            let mut text = String::new();
            for line in 0..20_000 {
                text.push_str(&format!("line {line} of a larger file\n"));
            }
            it.upload(&[("/large.txt", text.as_bytes())]).await?;
            for offset in [0, 10_000, 19_999] {
                let answer =
                    it.0.read(&path("/large.txt")?, Page { offset, limit: 1 })
                        .await;
                let read = answer.map_err(|error| error.to_string())?;
                let wanted = format!("line {offset} of a larger file");
                same(
                    "page",
                    String::from_utf8_lossy(&read.content).into_owned(),
                    wanted,
                )?;
            }
            let found = it.grep(&GrepQuery::literal("line 12345 ")).await?.0;
            same(
                "grep",
                found,
                strings(&["/large.txt:12346:line 12345 of a larger file"]),
            )?;
        }),
    ]
}

fn racing() -> Vec<Case> {
    vec![
        case!(
            one_of_many_creators_wins,
            |c| c.writable && c.create != Reach::Never,
            |it| {
                let texts: Vec<String> = (0..8).map(|n| format!("writer {n}")).collect();
                let answers =
                    join_all(texts.iter().map(|text| it.try_write("/race.txt", text))).await;
                let mut winner = None;
                for (answer, text) in answers.into_iter().zip(&texts) {
                    match answer? {
                        Ok(()) if winner.is_none() => winner = Some(text.clone()),
                        Ok(()) => return Err(String::from("two writers created the file")),
                        Err(error) => same("loser", error.kind(), Kind::AlreadyExists)?,
                    }
                }
                same("content", Some(it.text("/race.txt").await?), winner)?;
            }
        ),
        case!(
            no_edit_is_lost,
            |c| c.writable && c.update != Reach::Never,
            |it| {
                it.write("/count.txt", "end").await?;
                let lines: Vec<String> = (0..20).map(|n| format!("<{n}>end")).collect();
                let answers = join_all(
                    lines
                        .iter()
                        .map(|line| it.try_edit("/count.txt", "end", line, false)),
                )
                .await;
                for answer in answers {
                    answer?.map_err(|error| format!("{error:?}"))?;
                }
                let text = it.text("/count.txt").await?;
                for n in 0..20 {
                    same(
                        &format!("edit {n} in {text}"),
                        text.contains(&format!("<{n}>")),
                        true,
                    )?;
                }
            }
        ),
    ]
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use futures_util::FutureExt;

    use super::*;
    use crate::backend::files::{Files, FilesOptions};
    use crate::backend::state::Memory;
    use crate::storage::{
        Cursor, Depth, File, Listing, Meta, NewFile, Pending, PutMode, Storage, Version,
    };

    fn conforms(make: impl Fn() -> SharedBackend) -> Report {
        let report = run(async || Ok(make()))
            .now_or_never()
            .expect("memory answers at once");
        assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
        report
    }

    #[test]
    fn memory_conforms() {
        let make = || Rc::new(Files::new(Memory::default(), FilesOptions::default()));
        assert!(conforms(|| make()).passed > 25);
    }

    /// Memory with nothing but the required methods, and pages of two, so that what the trait
    /// itself provides is shown as well.
    struct Bare(Memory);

    impl Storage for Bare {
        fn capability(&self) -> Capability {
            self.0.capability()
        }
        fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
            self.0.stat(path)
        }
        fn get<'a>(
            &'a self,
            path: &'a VPath,
            range: Option<std::ops::Range<u64>>,
        ) -> Pending<'a, Option<File>> {
            self.0.get(path, range)
        }
        fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
            self.0.put(path, file, mode)
        }
        fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
            self.0.delete(path, version)
        }
        fn list<'a>(
            &'a self,
            dir: &'a VPath,
            depth: Depth,
            from: Option<Cursor>,
        ) -> Pending<'a, Listing> {
            Box::pin(async move {
                let mut whole = self.0.list(dir, depth, None).await?;
                let start: usize = from.map_or(0, |cursor| cursor.0.parse().expect("ours"));
                let end = (start + 2).min(whole.files.len());
                let next = (end < whole.files.len()).then(|| Cursor(end.to_string().into()));
                let dirs = if start == 0 {
                    std::mem::take(&mut whole.dirs)
                } else {
                    Vec::new()
                };
                Ok(Listing {
                    files: whole.files[start..end].to_vec(),
                    dirs,
                    next,
                })
            })
        }
    }

    #[test]
    fn what_the_storage_trait_provides_conforms() {
        conforms(|| Rc::new(Files::new(Bare(Memory::default()), FilesOptions::default())));
    }
}

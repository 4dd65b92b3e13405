//! A JavaScript object seen as a [`Backend`]: anything with the methods of the protocol's second
//! version. It may answer at once or with a promise, and it may throw; each of its answers is
//! looked at before it is believed. Objects of the first version are adapted in TypeScript before
//! they come here, which also decides whether an object's own method gets the options (`adapt.ts`).
//! How its answers are read stands in `answers`.

mod answers;

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use wasm_bindgen::JsValue;

use self::answers as read;
use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::future::{Pending, done};
use crate::core::links;
use crate::core::names;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::env::abort::AbortOnDrop;
use crate::env::host;
use crate::env::pass;
use crate::protocol::{
    Atomic, Backend, Capability, Content, DeleteResult, Directories, Edit, EditResult,
    ExecuteOptions, ExecuteResult, FileInfo, FileSet, FilesUpdate, GlobQuery, GlobResult,
    GrepQuery, GrepResult, Names, Origins, Page, RawFile, Reach, ReadResult, Shell, Step, Transfer,
    WriteResult, by_bytes, carry, unsupported,
};
use crate::search::place::{self, First};

/// How often an append is tried on the new content, if the object has none of its own.
const APPENDS: usize = 16;

/// A backend implemented in JavaScript.
pub struct Foreign {
    object: JsValue,
    /// Its `id`, if it can run commands.
    id: Option<Rc<str>>,
    /// Whether it accepts kitbag's additional options, as a subclass of a kitbag backend does.
    knows_options: bool,
    /// Whether its methods call a backend of this library, which refuses paths of the library's own files
    /// without a pass; `None` until it is asked for such a file.
    wants_pass: Cell<Option<bool>>,
    appends: Queue,
}

fn text(text: &str) -> JsValue {
    JsValue::from_str(text)
}

fn number(value: usize) -> JsValue {
    // Integers that a double cannot hold exactly are larger than any file.
    JsValue::from_f64(value as f64)
}

fn lossy(bytes: &[u8]) -> JsValue {
    text(&String::from_utf8_lossy(bytes))
}

impl Foreign {
    /// An object with the methods of the protocol.
    pub fn new(object: JsValue) -> Foreign {
        let id = host::method(&object, "execute")
            .and_then(|_| host::text_property(&object, "id"))
            .filter(|id| !id.is_empty())
            .map(Rc::from);
        let knows_options = host::property(&object, "capability").is_some();
        // A subclass, or an object with replaced methods.
        let is_ours = host::method(&object, "refuseLinks").is_some();
        Foreign {
            object,
            id,
            knows_options,
            wants_pass: Cell::new(is_ours.then_some(true)),
            appends: Queue::default(),
        }
    }

    /// A path as an argument.
    async fn path(&self, path: &VPath) -> JsValue {
        match path.is_own() && self.wants_pass(path).await {
            true => text(&pass::with_pass(path)),
            false => text(path.as_str()),
        }
    }

    async fn wants_pass(&self, path: &VPath) -> bool {
        if let Some(known) = self.wants_pass.get() {
            return known;
        }
        let arguments = [text(path.as_str()), number(0), number(1)];
        let Ok(answer) = self.call("read", &arguments, &[]).await else {
            return false;
        };
        let refusal = read::refusal(&answer, None);
        let wants = refusal.is_some_and(|error| error.to_string().contains(names::CLOSED));
        self.wants_pass.set(Some(wants));
        wants
    }

    /// Calls a method with these arguments and, behind them, these options. The `signal` among
    /// the options aborts when the call is given up before its answer is there.
    async fn call(
        &self,
        name: &str,
        arguments: &[JsValue],
        options: &[(&str, JsValue)],
    ) -> Result<JsValue> {
        // A subclass of a kitbag backend calls that backend in calls of its own.
        if links::refused()
            && let Some(refuse) = host::method(&self.object, "refuseLinks")
        {
            let _ = refuse.call0(&self.object);
        }
        let (abort, signal) = AbortOnDrop::new();
        let options = host::object(&[options, &[("signal", signal)]].concat());
        let arguments = [arguments, &[options]].concat();
        let answer = host::call_method(&self.object, name, &arguments).await;
        abort.finished();
        answer
    }

    /// Calls a method, and turns an `error` in the answer into one of ours.
    async fn result(&self, name: &str, path: &VPath, arguments: &[JsValue]) -> Result<JsValue> {
        self.result_with(name, path, arguments, &[]).await
    }

    async fn result_with(
        &self,
        name: &str,
        path: &VPath,
        arguments: &[JsValue],
        options: &[(&str, JsValue)],
    ) -> Result<JsValue> {
        let answer = self.call(name, arguments, options).await?;
        match read::refusal(&answer, Some(path)) {
            Some(error) => Err(error),
            None if answer.is_object() => Ok(answer),
            None => Err(Error::new(
                Kind::Unavailable,
                format!("{name}() of a foreign backend answered with something that is no result"),
            )),
        }
    }

    async fn page(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        let arguments = [
            self.path(path).await,
            number(page.offset),
            number(page.limit),
        ];
        read::page(path, &self.result("read", path, &arguments).await?)
    }

    async fn found(&self, query: &GrepQuery) -> Result<GrepResult> {
        let arguments = [
            text(&query.pattern),
            self.path(&query.path).await,
            query.glob.as_deref().map_or(JsValue::NULL, text),
            query.max_count.map_or(JsValue::NULL, number),
        ];
        let plain = !query.regex
            && !query.ignore_case
            && query.before == 0
            && query.after == 0
            && query.max_per_file.is_none();
        let options = match (plain, self.knows_options) {
            (true, _) => Vec::new(),
            (false, true) => vec![
                ("regex", query.regex.into()),
                ("ignoreCase", query.ignore_case.into()),
                ("before", number(query.before)),
                ("after", number(query.after)),
                (
                    "maxPerFile",
                    query.max_per_file.map_or(JsValue::UNDEFINED, number),
                ),
            ],
            (false, false) => {
                return Err(unsupported(
                    "grep with regex, ignoreCase, before, after or maxPerFile",
                ));
            }
        };
        let answer = self
            .result_with("grep", &query.path, &arguments, &options)
            .await?;
        let mut found = read::matches(&answer, &query.path)?;
        found.truncated |= found.matches.cap(query.max_count);
        Ok(found)
    }

    /// With the object's own method, or as an edit of the whole file. Without kitbag's options that
    /// is an edit of its text, which the object refuses if the file has changed.
    async fn appended(&self, path: &VPath, added: &Bytes) -> Result<EditResult> {
        if host::method(&self.object, "append").is_some() {
            let arguments = [self.path(path).await, host::array_of(added).into()];
            let answer = self.result("append", path, &arguments).await?;
            return Ok(EditResult {
                files_update: read::update(&answer),
                ..EditResult::default()
            });
        }
        // Other calls of this instance wait, for objects that cannot compare.
        let _turn = self.appends.turn(path).await;
        for _ in 0..APPENDS {
            let file = self
                .read_raw(path)
                .await
                .map_err(|error| match error.kind() {
                    Kind::NotFound => Error::nothing_there(path),
                    _ => error,
                })?;
            let new = Bytes::from([&file.body[..], &added[..]].concat());
            if !file.is_text && !self.knows_options {
                let mut stored = self.upload(vec![(path.clone(), new)]).await;
                return match stored.pop() {
                    Some(stored) => stored.map(|()| EditResult::default()),
                    None => Err(Error::internal("An upload was not answered")),
                };
            }
            let edit = Edit {
                new,
                old: file.body,
                replace_all: false,
                whole: self.knows_options,
                appends: false,
            };
            if edit.old == edit.new {
                return Ok(EditResult::default());
            }
            match self.edit(path, &edit).await {
                Err(error) if matches!(error.kind(), Kind::Conflict | Kind::NoMatch) => {}
                answer => {
                    return answer.map(|edited| EditResult {
                        occurrences: 0,
                        ..edited
                    });
                }
            }
        }
        Err(Error::conflict(path))
    }

    async fn written(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        if let Content::New(bytes) = &content {
            if !self.knows_options {
                return Err(unsupported("write with ifAbsent"));
            }
            let arguments = [self.path(path).await, host::array_of(bytes).into()];
            let options = [("ifAbsent", true.into())];
            let answer = self
                .result_with("write", path, &arguments, &options)
                .await?;
            return Ok(WriteResult {
                files_update: read::update(&answer),
            });
        }
        let content = match content {
            Content::Text(bytes) => lossy(&bytes),
            Content::Raw(bytes) | Content::New(bytes) if file::is_binary_name(path) => {
                text(&read::base64(&bytes))
            }
            Content::Raw(bytes) | Content::New(bytes) => match std::str::from_utf8(&bytes) {
                Ok(content) => text(content),
                Err(_) => {
                    return Err(Error::at(
                        Kind::Unsupported,
                        "'",
                        path,
                        "' cannot be written as bytes on this backend; upload it",
                    ));
                }
            },
        };
        let arguments = [self.path(path).await, content];
        let answer = self.result("write", path, &arguments).await?;
        Ok(WriteResult {
            files_update: read::update(&answer),
        })
    }
}

impl Backend for Foreign {
    fn capability(&self) -> Capability {
        let unknown = Capability {
            create: Reach::Instance,
            update: Reach::Instance,
            directories: Directories::Implied,
            names: Names::default(),
            keeps_created: false,
            keeps_mime: false,
            keeps_format: false,
            keeps_binary: host::method(&self.object, "uploadFiles").is_some()
                && host::method(&self.object, "downloadFiles").is_some(),
            writable: true,
            lists_versions: false,
            indexed: false,
            max_file_bytes: None,
            files: FileSet::Same,
            notes: vec![Rc::from(
                "A JavaScript object; what it promises is not known to kitbag.",
            )],
            origins: Origins::default(),
        };
        match host::property(&self.object, "capability") {
            Some(own) => read::capability(&own, unknown),
            None => unknown,
        }
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        Box::pin(async move {
            let answer = self.result("ls", path, &[self.path(path).await]).await?;
            let mut infos = read::infos(&answer, path)?;
            infos.retain(|info| info.path != *path && info.path.parent() == *path);
            order::sort_by(&mut infos, FileInfo::listing_order);
            infos.dedup_by(|a, b| a.path == b.path && a.is_dir() == b.is_dir());
            Ok(infos)
        })
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        Box::pin(async move {
            let answer = self.page(path, page).await?;
            if !answer.is_text || answer.position.is_some() {
                return Ok(answer);
            }
            let mut known = place::first(answer.content.clone(), page);
            if known == First::Full {
                let wider = self.page(path, place::wider(page)).await?;
                known = place::full(wider.content, page);
            }
            let (content, position) = match known {
                First::Placed(placed) => placed,
                First::Last(last) if page.offset > 0 => {
                    let start = self.page(path, place::from_start(page)).await?;
                    place::among(last, start.content, page)
                }
                First::Last(last) => last,
                First::Full => (answer.content.clone(), None),
            };
            Ok(ReadResult {
                content,
                position,
                ..answer
            })
        })
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        Box::pin(async move {
            let answer = self
                .result("readRaw", path, &[self.path(path).await])
                .await?;
            // A bare `FileData` object is accepted too.
            let data = host::property(&answer, "data").unwrap_or(answer);
            read::file_data(path, &data)
        })
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        Box::pin(self.found(query))
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move {
            let arguments = [text(&query.pattern), self.path(&query.path).await];
            let answer = self.result("glob", &query.path, &arguments).await?;
            let mut files = read::infos(&answer, &query.path)?;
            files.retain(|info| !info.is_dir());
            order::sort_by(&mut files, FileInfo::newest_first);
            files.dedup_by(|a, b| a.path == b.path);
            Ok(GlobResult {
                files,
                truncated: read::flag(&answer, "truncated"),
                ignored: read::count(&answer, "ignored"),
            })
        })
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(self.written(path, content))
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            if edit.appends {
                return self.appended(path, &edit.new).await;
            }
            if edit.whole && !self.knows_options {
                return Err(unsupported("edit of a whole file by its bytes"));
            }
            let shown = |bytes: &Bytes| match edit.whole {
                true => host::array_of(bytes).into(),
                false => lossy(bytes),
            };
            let arguments = [
                self.path(path).await,
                shown(&edit.old),
                shown(&edit.new),
                edit.replace_all.into(),
            ];
            let answer = self.result("edit", path, &arguments).await?;
            let endings = host::property(&answer, "metadata")
                .and_then(|metadata| host::text_property(&metadata, "lineEndings"));
            Ok(EditResult {
                occurrences: read::count(&answer, "occurrences"),
                crlf: endings.as_deref() == Some("crlf"),
                files_update: read::update(&answer),
            })
        })
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        Box::pin(async move {
            let mut options = Vec::new();
            if let Some(body) = unchanged {
                if !self.knows_options {
                    return Err(unsupported("delete with unchanged"));
                }
                options.push(("unchanged", host::array_of(body).into()));
            }
            let arguments = [self.path(path).await];
            let answer = self
                .result_with("delete", path, &arguments, &options)
                .await?;
            Ok(DeleteResult {
                files_update: read::update(&answer),
            })
        })
    }

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let name = asked.operation().name();
            if host::method(&self.object, name).is_none() {
                let carrier = |step: Step| -> Pending<'_, Option<FilesUpdate>> {
                    Box::pin(by_bytes(self, asked, step, None))
                };
                return carry(self, asked, &carrier).await;
            }
            let arguments = [self.path(&asked.from).await, self.path(&asked.to).await];
            let options = [("overwrite", asked.overwrite.into())];
            let answer = self
                .result_with(name, &asked.to, &arguments, &options)
                .await?;
            Ok(WriteResult {
                files_update: read::update(&answer),
            })
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let batch = js_sys::Array::new();
            for (path, body) in &files {
                let entry = js_sys::Array::of2(&self.path(path).await, &host::array_of(body));
                batch.push(&entry);
            }
            let paths: Vec<&VPath> = files.iter().map(|(path, _)| path).collect();
            let answer = self.call("uploadFiles", &[batch.into()], &[]).await;
            read::batch("uploadFiles", &paths, answer, |_, _| Ok(()))
        })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            if host::method(&self.object, "downloadFiles").is_none() {
                let mut bodies = Vec::with_capacity(paths.len());
                for path in paths {
                    bodies.push(self.read_raw(path).await.map(|file| file.body));
                }
                return bodies;
            }
            let batch = js_sys::Array::new();
            for path in paths {
                batch.push(&self.path(path).await);
            }
            let answer = self.call("downloadFiles", &[batch.into()], &[]).await;
            let asked: Vec<&VPath> = paths.iter().collect();
            read::batch("downloadFiles", &asked, answer, |path, one| {
                host::property(one, "content")
                    .and_then(|content| host::bytes_of(&content))
                    .ok_or_else(|| Error::not_found(path))
            })
        })
    }

    fn part<'a>(&'a self, _: &'a VPath, _: Range<u64>) -> Pending<'a, Bytes> {
        done(Err(unsupported("part")))
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.id.as_ref().map(|_| self as &dyn Shell)
    }

    fn atomic(&self) -> Atomic<'_> {
        match self.knows_options {
            true => Atomic::Conditional,
            false => Atomic::Never,
        }
    }
}

impl Shell for Foreign {
    fn id(&self) -> Rc<str> {
        self.id.clone().unwrap_or_else(|| Rc::from(""))
    }

    fn execute<'a>(
        &'a self,
        command: &'a str,
        options: ExecuteOptions,
    ) -> Pending<'a, ExecuteResult> {
        Box::pin(async move {
            let mut further = Vec::new();
            if let Some(timeout) = options.timeout {
                further.push(("timeoutMs", (timeout.as_secs_f64() * 1000.0).into()));
            }
            let answer = self.call("execute", &[text(command)], &further).await?;
            if let Some(error) = read::refusal(&answer, None) {
                return Err(error);
            }
            Ok(ExecuteResult {
                output: host::text_property(&answer, "output").unwrap_or_default(),
                exit_code: host::number_property(&answer, "exitCode").map(|code| code as i32),
                truncated: read::flag(&answer, "truncated"),
            })
        })
    }
}

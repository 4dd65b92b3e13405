//! What each operation calls of a JavaScript object, and what it makes of the answer.

use bytes::Bytes;
use wasm_bindgen::JsValue;

use super::answers as read;
use super::{Foreign, lossy, number, text};
use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::order;
use crate::core::path::VPath;
use crate::env::host;
use crate::protocol::{
    BackendExt, Content, DeleteResult, Edit, EditResult, ExecuteOptions, ExecuteResult, FileInfo,
    GlobQuery, GlobResult, GrepQuery, GrepResult, Page, RawFile, ReadResult, Transfer, WriteResult,
    transfer_by_steps, unsupported,
};
use crate::search::place::{self, First};

/// How often an append is tried on the new content, if the object has none of its own.
const APPENDS: usize = 16;

impl Foreign {
    pub(super) async fn listed(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        let answer = self.result("ls", path, &[self.path(path).await]).await?;
        let mut infos = read::infos(&answer, path)?;
        infos.retain(|info| info.path != *path && info.path.parent() == *path);
        order::sort_by(&mut infos, FileInfo::listing_order);
        infos.dedup_by(|a, b| a.path == b.path && a.is_dir() == b.is_dir());
        Ok(infos)
    }

    pub(super) async fn paged(&self, path: &VPath, page: Page) -> Result<ReadResult> {
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
    }

    pub(super) async fn stored(&self, path: &VPath) -> Result<RawFile> {
        let answer = self
            .result("readRaw", path, &[self.path(path).await])
            .await?;
        // A bare `FileData` object is accepted too.
        let data = host::property(&answer, "data").unwrap_or(answer);
        read::file_data(path, &data)
    }

    pub(super) async fn globbed(&self, query: &GlobQuery) -> Result<GlobResult> {
        let arguments = [text(&query.pattern), self.path(&query.path).await];
        let answer = self.result("glob", &query.path, &arguments).await?;
        let mut files = read::infos(&answer, &query.path)?;
        files.retain(|info| !info.is_dir());
        order::sort_by(&mut files, FileInfo::newest_first);
        files.dedup_by(|a, b| a.path == b.path);
        Ok(GlobResult {
            files,
            by_path: false,
            truncated: read::flag(&answer, "truncated"),
            ignored: read::count(&answer, "ignored"),
        })
    }

    pub(super) async fn edited(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
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
    }

    pub(super) async fn deleted(
        &self,
        path: &VPath,
        unchanged: Option<&Bytes>,
    ) -> Result<DeleteResult> {
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
    }

    pub(super) async fn transferred(&self, asked: &Transfer) -> Result<WriteResult> {
        let name = asked.operation().name();
        if host::method(&self.object, name).is_none() {
            return transfer_by_steps(self, asked).await;
        }
        let arguments = [self.path(&asked.from).await, self.path(&asked.to).await];
        let options = [("overwrite", asked.overwrite.into())];
        let answer = self
            .result_with(name, &asked.to, &arguments, &options)
            .await?;
        Ok(WriteResult {
            files_update: read::update(&answer),
        })
    }

    pub(super) async fn uploaded(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let batch = js_sys::Array::new();
        for (path, body) in &files {
            let entry = js_sys::Array::of2(&self.path(path).await, &host::array_of(body));
            batch.push(&entry);
        }
        let paths: Vec<&VPath> = files.iter().map(|(path, _)| path).collect();
        let answer = self.invoke("uploadFiles", &[batch.into()], &[]).await;
        read::batch("uploadFiles", &paths, answer, |_, _| Ok(()))
    }

    pub(super) async fn downloaded(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
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
        let answer = self.invoke("downloadFiles", &[batch.into()], &[]).await;
        let asked: Vec<&VPath> = paths.iter().collect();
        read::batch("downloadFiles", &asked, answer, |path, one| {
            host::property(one, "content")
                .and_then(|content| host::bytes_of(&content))
                .ok_or_else(|| Error::not_found(path))
        })
    }

    pub(super) async fn ran(
        &self,
        command: &str,
        options: ExecuteOptions,
    ) -> Result<ExecuteResult> {
        let mut further = Vec::new();
        if let Some(timeout) = options.timeout {
            further.push(("timeoutMs", (timeout.as_secs_f64() * 1000.0).into()));
        }
        let answer = self.invoke("execute", &[text(command)], &further).await?;
        if let Some(error) = read::refusal(&answer, None) {
            return Err(error);
        }
        Ok(ExecuteResult {
            output: host::text_property(&answer, "output").unwrap_or_default(),
            exit_code: host::number_property(&answer, "exitCode").map(|code| code as i32),
            truncated: read::flag(&answer, "truncated"),
        })
    }

    pub(super) async fn found(&self, query: &GrepQuery) -> Result<GrepResult> {
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
                let stored = self.store(path, new).await;
                return stored.map(|()| EditResult::default());
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

    pub(super) async fn written(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        if let Content::New(bytes, _) = &content {
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
            Content::Raw(bytes, _) | Content::New(bytes, _) if file::is_binary_name(path) => {
                text(&read::base64(&bytes))
            }
            Content::Raw(bytes, _) | Content::New(bytes, _) => match std::str::from_utf8(&bytes) {
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

//! Helper functions for the cases.

use bytes::Bytes;

use super::Outcome;
use crate::core::error::{Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, Capability, Content, Edit, GrepQuery, Page, RowKind};

/// A backend with helper methods for the cases.
pub(super) struct Subject<'a>(pub(super) &'a dyn Backend);

pub(super) fn path(text: &str) -> std::result::Result<VPath, String> {
    VPath::parse(text).map_err(|error| error.to_string())
}

pub(super) fn same<T: PartialEq + std::fmt::Debug>(what: &str, seen: T, wanted: T) -> Outcome {
    if seen == wanted {
        return Ok(());
    }
    Err(format!("{what}: saw {seen:?}, wanted {wanted:?}"))
}

pub(super) fn refused<T: std::fmt::Debug>(
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
    pub(super) async fn write(&self, at: &str, text: &str) -> std::result::Result<(), String> {
        let content = Content::Text(Bytes::copy_from_slice(text.as_bytes()));
        let answer = self.0.write(&path(at)?, content).await;
        answer
            .map(drop)
            .map_err(|error| format!("write {at}: {error:?}"))
    }

    pub(super) async fn try_write(
        &self,
        at: &str,
        text: &str,
    ) -> std::result::Result<Result<()>, String> {
        let content = Content::Text(Bytes::copy_from_slice(text.as_bytes()));
        Ok(self.0.write(&path(at)?, content).await.map(drop))
    }

    pub(super) async fn try_edit(
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
            whole: false,
            appends: false,
        };
        let answer = self.0.edit(&path(at)?, &edit).await;
        Ok(answer.map(|edited| edited.occurrences))
    }

    pub(super) async fn edit(
        &self,
        at: &str,
        old: &str,
        new: &str,
    ) -> std::result::Result<usize, String> {
        let answer = self.try_edit(at, old, new, false).await?;
        answer.map_err(|error| format!("edit {at}: {error:?}"))
    }

    pub(super) async fn text(&self, at: &str) -> std::result::Result<String, String> {
        let page = Page {
            offset: 0,
            limit: usize::MAX,
        };
        let answer = self.0.read(&path(at)?, page).await;
        let read = answer.map_err(|error| format!("read {at}: {error:?}"))?;
        Ok(String::from_utf8_lossy(&read.content).into_owned())
    }

    pub(super) async fn upload(&self, files: &[(&str, &[u8])]) -> Outcome {
        let mut batch = Vec::new();
        for (at, body) in files {
            batch.push((path(at)?, Bytes::copy_from_slice(body)));
        }
        for (answer, (at, _)) in self.0.upload(batch).await.into_iter().zip(files) {
            answer.map_err(|error| format!("upload {at}: {error:?}"))?;
        }
        Ok(())
    }

    pub(super) async fn grep(
        &self,
        query: &GrepQuery,
    ) -> std::result::Result<(Vec<String>, bool), String> {
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

pub(super) fn writable(capability: &Capability) -> bool {
    capability.writable
}

/// Defines one case: its name, what it needs, and its steps over a [`Subject`].
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
pub(super) use case;

pub(super) fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

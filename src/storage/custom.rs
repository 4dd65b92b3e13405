//! A storage that a user implements in JavaScript: an object with `get`, `list` and, if it is
//! writable, `put` and `delete`. Optional methods that are missing are replaced by the ones here,
//! and the capability states what the object cannot guarantee. `hosted` makes up for that;
//! `custom_values` converts the values.

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::env::{clock, host, timer};
use crate::protocol::Capability;
use crate::storage::custom_values::{
    condition, entry_of, file_of, file_value, meta_of, refusal, version_of,
};
use crate::storage::hosted::{Hosted, Methods, Stored};
use crate::storage::{Entry, File, Meta, NewFile, PutMode};

/// A listing with more pages than this is treated as endless.
const MAX_PAGES: usize = 100_000;

/// A JavaScript object used as a storage.
pub type Custom = Hosted<Object>;

/// The object.
pub struct Object(JsValue);

impl Custom {
    /// Wraps `object`, with the guarantees it declares.
    pub fn new(object: JsValue, capability: Capability) -> Custom {
        Hosted::of(Object(object), capability)
    }

    /// The object itself.
    pub fn object(&self) -> &JsValue {
        &self.methods.0
    }

    /// Calls a method with a path; an exception becomes an error of the matching kind.
    pub async fn ask(&self, method: &str, path: &VPath, more: &[JsValue]) -> Result<JsValue> {
        self.methods.ask(method, path, more).await
    }
}

impl Object {
    async fn ask(&self, method: &str, path: &VPath, more: &[JsValue]) -> Result<JsValue> {
        let mut arguments = vec![JsValue::from_str(path.as_str())];
        arguments.extend_from_slice(more);
        host::call_method(&self.0, method, &arguments)
            .await
            .map_err(|error| refusal(error, Some(path)))
    }

    async fn look(&self, path: &VPath) -> Result<Option<Meta>> {
        if host::method(&self.0, "stat").is_none() {
            return Ok(self.fetch(path).await?.map(|file| file.meta));
        }
        let answer = self.ask("stat", path, &[]).await?;
        if answer.is_undefined() || answer.is_null() {
            return Ok(None);
        }
        meta_of(&answer, None).map(Some)
    }

    async fn fetch(&self, path: &VPath) -> Result<Option<File>> {
        let answer = self.ask("get", path, &[]).await?;
        if answer.is_undefined() || answer.is_null() {
            return Ok(None);
        }
        file_of(&answer).map(Some)
    }

    /// All files whose path starts with `prefix`, in whatever order and pages they come.
    async fn listed(&self, dir: &VPath) -> Result<Vec<Entry>> {
        let prefix = dir.dir_prefix();
        let mut found = Vec::new();
        let mut cursor = JsValue::UNDEFINED;
        let mut seen = Sorted::new();
        let pace = Pace::new(clock::now, timer::pause);
        for _ in 0..MAX_PAGES {
            let page = host::call_method(
                &self.0,
                "list",
                &[JsValue::from_str(&prefix), cursor.clone()],
            )
            .await
            .map_err(|error| refusal(error, None))?;
            let (rows, next) = match page.dyn_into::<Array>() {
                Ok(rows) => (rows, None),
                Err(page) => (
                    host::property(&page, "entries")
                        .and_then(|rows| rows.dyn_into::<Array>().ok())
                        .ok_or_else(wrong_list)?,
                    host::property(&page, "cursor"),
                ),
            };
            for row in rows.iter() {
                pace.called().await;
                // Keys that are not valid paths are skipped, and so are keys outside of `prefix`.
                let entry = entry_of(&row)?;
                found.extend(entry.filter(|entry| {
                    let path = entry.path.as_str();
                    path.len() > prefix.len() && path.starts_with(&prefix)
                }));
            }
            let Some(next) = next else {
                order::sort_by(&mut found, |a, b| a.path.cmp(&b.path));
                found.dedup_by(|a, b| a.path == b.path);
                return Ok(found);
            };
            let word = next
                .as_string()
                .or_else(|| next.as_f64().map(|number| number.to_bits().to_string()))
                .ok_or_else(wrong_list)?;
            if seen.insert(word, ()).is_some() {
                break;
            }
            cursor = next;
        }
        Err(Error::new(
            Kind::Unavailable,
            "The storage's list() goes round in circles: it gave the same cursor twice",
        ))
    }
}

fn wrong_list() -> Error {
    Error::new(
        Kind::Unavailable,
        "The storage's list() must answer an array of entries, or { entries, cursor? }",
    )
}

impl Methods for Object {
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(self.look(path))
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(self.fetch(path))
    }

    fn put<'a>(
        &'a self,
        path: &'a VPath,
        file: &'a NewFile,
        mode: &'a PutMode,
    ) -> Pending<'a, Stored> {
        Box::pin(async move {
            let arguments = [file_value(file), condition(mode)];
            let answer = self.ask("put", path, &arguments).await?;
            Ok(match answer.as_bool() {
                Some(false) => Stored::Refused,
                _ => Stored::As(version_of(&answer)),
            })
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, mode: &'a PutMode) -> Pending<'a, Option<bool>> {
        Box::pin(async move {
            let answer = self.ask("delete", path, &[condition(mode)]).await?;
            Ok(answer.as_bool())
        })
    }

    fn entries<'a>(&'a self, dir: &'a VPath) -> Pending<'a, Vec<Entry>> {
        Box::pin(self.listed(dir))
    }
}

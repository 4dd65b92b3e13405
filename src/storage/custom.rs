//! A storage that a user implements in JavaScript: an object with `get`, `list` and, if it is
//! writable, `put` and `delete`. Optional methods that are missing are replaced by the ones here,
//! and the capability states what the object cannot guarantee. Without conditional puts, calls of
//! one instance wait for each other, and changes by other writers are not detected. `custom_values`
//! converts the values.

use std::collections::HashSet;

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;
use crate::env::host;
use crate::protocol::{Capability, Reach};
use crate::storage::custom_values::{
    condition, entry_of, file_of, file_value, meta_of, refusal, version_of,
};
use crate::storage::{
    Cursor, Depth, Entry, File, Listing, Meta, NewFile, PutMode, Storage, Version,
};

/// A listing with more pages than this is treated as endless.
const MAX_PAGES: usize = 100_000;

/// A JavaScript object used as a storage.
pub struct Custom {
    object: JsValue,
    capability: Capability,
}

impl Custom {
    /// Wraps `object`, with the guarantees it declares.
    pub fn new(object: JsValue, capability: Capability) -> Custom {
        Custom { object, capability }
    }

    /// The object itself.
    pub fn object(&self) -> &JsValue {
        &self.object
    }

    /// Calls a method with a path; an exception becomes an error of the matching kind.
    pub async fn ask(&self, method: &str, path: &VPath, more: &[JsValue]) -> Result<JsValue> {
        let mut arguments = vec![JsValue::from_str(path.as_str())];
        arguments.extend_from_slice(more);
        host::call_method(&self.object, method, &arguments)
            .await
            .map_err(|error| refusal(error, Some(path)))
    }

    async fn look(&self, path: &VPath) -> Result<Option<Meta>> {
        if host::method(&self.object, "stat").is_none() {
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

    /// If the object has no compare-and-swap, the check is made here. The per-path queue of this
    /// instance keeps the result valid until the change.
    async fn check(&self, path: &VPath, mode: &PutMode) -> Result<()> {
        match mode {
            PutMode::Create if self.capability.create != Reach::Storage => {
                match self.look(path).await? {
                    Some(_) => Err(Error::already_exists(path)),
                    None => Ok(()),
                }
            }
            PutMode::Update(version) if self.capability.update != Reach::Storage => {
                match self.look(path).await? {
                    Some(meta) if meta.version.is_none() => Ok(()),
                    Some(meta) if meta.version.as_ref() == Some(version) => Ok(()),
                    _ => Err(Error::conflict(path)),
                }
            }
            _ => Ok(()),
        }
    }

    async fn store(&self, path: &VPath, file: NewFile, mode: PutMode) -> Result<Meta> {
        self.check(path, &mode).await?;
        let arguments = [file_value(&file), condition(&mode)];
        let answer = self.ask("put", path, &arguments).await?;
        if answer.as_bool() == Some(false) {
            return Err(match mode {
                PutMode::Create => Error::already_exists(path),
                PutMode::Update(_) => Error::conflict(path),
                PutMode::Overwrite => Error::at(
                    Kind::Unavailable,
                    "The storage refused to put '",
                    path,
                    "' and did not say why",
                ),
            });
        }
        Ok(file.meta(version_of(&answer)))
    }

    async fn remove(&self, path: &VPath, version: Option<Version>) -> Result<bool> {
        let had = if let Some(version) = &version
            && self.capability.update != Reach::Storage
        {
            let now = self.look(path).await?;
            if let Some(now) = now.as_ref().and_then(|meta| meta.version.as_ref())
                && now != version
            {
                return Err(Error::conflict(path));
            }
            now.is_some()
        } else {
            true
        };
        let guard = match version {
            Some(version) => condition(&PutMode::Update(version)),
            None => condition(&PutMode::Overwrite),
        };
        let answer = self.ask("delete", path, &[guard]).await?;
        // A delete that returns nothing counts as successful if the file was there before.
        Ok(answer.as_bool().unwrap_or(had))
    }

    /// All files whose path starts with `prefix`, in whatever order and pages they come.
    async fn entries(&self, dir: &VPath) -> Result<Vec<Entry>> {
        let prefix = dir.dir_prefix();
        let mut found = Vec::new();
        let mut cursor = JsValue::UNDEFINED;
        let mut seen = HashSet::new();
        for _ in 0..MAX_PAGES {
            let page = host::call_method(
                &self.object,
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
            if !seen.insert(word) {
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

impl Storage for Custom {
    fn capability(&self) -> Capability {
        self.capability.clone()
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(self.look(path))
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(self.fetch(path))
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(self.store(path, file, mode))
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(self.remove(path, version))
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        _from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        Box::pin(async move {
            let all = self.entries(dir).await?;
            Ok(match depth {
                Depth::One => {
                    let files = all.into_iter().map(|entry| (entry.path, entry.meta));
                    Listing::of_files(dir, depth, files)?
                }
                Depth::All => Listing {
                    files: all,
                    ..Listing::default()
                },
            })
        })
    }
}

//! Deletion: one object with or without a condition, or everything beneath a directory in batches,
//! including the zero-byte objects that some tools create as directories.

use std::collections::HashSet;

use futures_util::future::join;
use futures_util::{StreamExt, stream};

use super::answer;
use super::errors::Failure;
use super::request::{Ask, Condition, MAX_DELETES};
use super::store::S3;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::storage::{Removed, Storage, Version};

/// How often a deletion is retried because another writer changed the file meanwhile.
const TURNS: u32 = 16;

impl S3 {
    pub(super) async fn delete_file(&self, path: &VPath, version: Option<Version>) -> Result<bool> {
        let key = self.key(path)?;
        self.cache.forget(&key);
        let known = self.known_conditions();
        let _turn = self.queue.turn(path).await;
        for _ in 0..TURNS {
            let tag = match &version {
                Some(Version::Tag(tag)) if known.delete => tag.to_string(),
                _ => {
                    let seen = self.head("delete", path, &key).await;
                    let Some(seen) = seen.map_err(|failure| failure.error)? else {
                        return Ok(false);
                    };
                    match &version {
                        Some(Version::Tag(tag)) if **tag == *seen.tag => {}
                        Some(_) => return Err(Error::conflict(path)),
                        None => {}
                    }
                    seen.tag
                }
            };
            let condition = match known.delete {
                true => Condition::Matches(&tag, known.form),
                false => Condition::Always,
            };
            match self.delete_key(path, &key, &condition).await {
                Ok(()) => return Ok(true),
                Err(failure) if failure.is_missing() => return Ok(version.is_none()),
                Err(failure) if failure.is_condition() && version.is_none() => {}
                Err(failure) if failure.is_condition() => return Err(Error::conflict(path)),
                Err(failure) => return Err(failure.error),
            }
        }
        Err(Error::conflict(path))
    }

    async fn delete_key(
        &self,
        path: &VPath,
        key: &str,
        condition: &Condition<'_>,
    ) -> Result<(), Failure> {
        let about = self.client.about("delete", Some(path));
        let ask = Ask::delete(key, condition);
        self.client.send(about, &ask, |_| Ok(())).await
    }

    pub(super) async fn remove_tree(&self, root: &VPath) -> Removed {
        match self.doomed(root).await {
            Ok(keys) => self.remove_keys(root, keys).await,
            Err(error) => Removed {
                error: Some(error),
                ..Removed::default()
            },
        }
    }

    /// The keys of the file at `root` and of everything beneath it, including keys that are not
    /// valid paths.
    async fn doomed(&self, root: &VPath) -> Result<Vec<String>> {
        let prefix = self.client.bucket.key_prefix(root, "");
        let root_file = async {
            match root.is_root() {
                true => Ok(None),
                false => self.stat(root).await,
            }
        };
        let inside = async {
            let mut keys = Vec::new();
            let mut token: Option<String> = None;
            loop {
                let page = self
                    .page("delete", &prefix, false, token.as_deref())
                    .await?;
                keys.extend(page.objects.into_iter().map(|object| object.key));
                token = page.next;
                if token.is_none() {
                    return Ok::<Vec<String>, Error>(keys);
                }
            }
        };
        let (file, inside) = join(root_file, inside).await;
        let mut keys = Vec::new();
        if file?.is_some() {
            keys.push(self.key(root)?);
        }
        keys.extend(inside?);
        Ok(keys)
    }

    async fn remove_keys(&self, root: &VPath, keys: Vec<String>) -> Removed {
        let mut removed = Removed::default();
        let mut note = |key: &str, answer: Result<()>| {
            self.cache.forget(key);
            match answer {
                Ok(()) => match self.client.bucket.file_path(key) {
                    Some(path) => removed.paths.push(path),
                    None => removed.directories = true,
                },
                Err(error) => {
                    removed.error.get_or_insert(error);
                }
            }
        };
        if let [only] = keys.as_slice() {
            let answer = self.delete_key(root, only, &Condition::Always).await;
            note(only, answer.map_err(|failure| failure.error));
            return removed;
        }
        let mut batches = true;
        for batch in keys.chunks(MAX_DELETES) {
            let answer = match batches {
                true => self.delete_batch(batch).await,
                false => None,
            };
            match answer {
                Some(answers) => {
                    for (key, answer) in batch.iter().zip(answers) {
                        note(key, answer);
                    }
                }
                // Some servers do not support batches.
                None => {
                    batches = false;
                    let answers: Vec<_> = stream::iter(batch)
                        .map(|key| self.delete_key(root, key, &Condition::Always))
                        .buffered(MAX_DELETES)
                        .collect()
                        .await;
                    for (key, answer) in batch.iter().zip(answers) {
                        note(key, answer.map_err(|failure| failure.error));
                    }
                }
            }
        }
        removed
    }

    /// Deletes a batch and returns one result per key; `None` if the server does not support
    /// batches.
    async fn delete_batch(&self, batch: &[String]) -> Option<Vec<Result<()>>> {
        let about = self.client.about("delete", None);
        let ask = Ask::delete_many(batch.iter().map(String::as_str));
        let answer = self
            .client
            .send(about, &ask, |response| answer::deleted(&response.body))
            .await;
        let (gone, kept) = match answer {
            Ok(answer) => answer,
            Err(failure) if failure.is_unsupported() => return None,
            Err(failure) => {
                return Some(batch.iter().map(|_| Err(failure.error.clone())).collect());
            }
        };
        let gone: HashSet<&str> = gone.iter().map(String::as_str).collect();
        let answers = batch.iter().map(|key| {
            if gone.contains(key.as_str()) {
                return Ok(());
            }
            let code = kept
                .iter()
                .find(|(kept, _)| kept == key)
                .map(|(_, code)| code.as_str());
            let (kind, after) = match code {
                Some("NoSuchKey") => return Ok(()),
                Some(code @ "AccessDenied") => (Kind::PermissionDenied, format!(": {code}")),
                Some(code) => (Kind::Unavailable, format!(": {code}")),
                None => (
                    Kind::Unavailable,
                    ": the server did not say what became of it".into(),
                ),
            };
            Err(match self.client.bucket.file_path(key) {
                Some(path) => self.client.about("delete", Some(&path)).error(kind, after),
                None => about.error(kind, after),
            })
        });
        Some(answers.collect())
    }
}

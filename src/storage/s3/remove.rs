//! Deletion: one object with or without a condition, or everything beneath a directory in batches,
//! including the zero-byte objects that some tools create as directories. A request whose response
//! was lost is repeated only for objects that are still in the state that was to be deleted: a file
//! that another client has created since stays.

use futures_util::future::join;

use super::answer::Deleted;
use super::objects::{Condition, MAX_DELETES};
use super::state::{Base, Since};
use super::store::S3;
use super::write::{Stop, maybe, unknown};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, bounded};
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::storage::{PARALLEL, Removed, Storage, Version};

/// How often a deletion is retried because another writer changed the file meanwhile.
const TURNS: u32 = 16;

/// An object to delete, and its ETag when it was listed.
#[derive(Clone)]
struct Doomed {
    key: String,
    tag: String,
}

impl S3 {
    pub(super) async fn delete_file(&self, path: &VPath, version: Option<Version>) -> Result<bool> {
        let key = self.key(path)?;
        // A condition is worth the probe, if nothing was written before.
        let known = match version {
            Some(_) => self.conditions().await?,
            None => self.known_conditions(),
        };
        let _turn = self.queue.turn(path).await;
        if let Some(waiting) = self.late.before_delete(path) {
            waiting.await?;
        }
        for _ in 0..TURNS {
            let base = match &version {
                Some(Version::Tag(tag)) if known.delete => Base::Present {
                    tag: tag.to_string(),
                    note: self.recall(&key, tag),
                },
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
                    Base::of(Some(&seen))
                }
            };
            let condition = match &base {
                Base::Present { tag, .. } if known.delete => Condition::Matches(tag, known.form),
                _ => Condition::Always,
            };
            self.forget(&key);
            match self.delete_key(path, &key, &base, condition).await {
                Ok(deleted) => return Ok(deleted || version.is_none()),
                Err(Stop::Refused) if version.is_none() => {}
                Err(Stop::Refused) => return Err(Error::conflict(path)),
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        Err(Error::conflict(path))
    }

    /// Deletes an object that was in the state `base`; `false` if there was none.
    async fn delete_key(
        &self,
        path: &VPath,
        key: &str,
        base: &Base,
        condition: Condition<'_>,
    ) -> Result<bool, Stop> {
        let about = self.client.about("delete", Some(path));
        let mut lost = false;
        let mut attempt = 0;
        loop {
            let failure = match self
                .client
                .attempt(about, self.objects.delete(key, condition))
                .await
            {
                Ok(()) => return Ok(true),
                Err(failure) if failure.is_missing() => return Ok(lost),
                Err(failure) if failure.is_condition() && !lost => return Err(Stop::Refused),
                Err(failure) => failure,
            };
            lost |= failure.uncertain;
            let refused = failure.is_condition();
            let waited = match refused {
                true => Ok(()),
                false => self.client.wait(attempt, failure).await,
            };
            if lost {
                let seen = self.head("delete", path, key).await;
                let seen = seen.map_err(|failure| Stop::Failed(maybe(about, failure.error)))?;
                match (&seen, base.since(seen.as_ref())) {
                    (None, _) => return Ok(true),
                    (_, Since::Same) => {}
                    (_, Since::Written) => return Err(Stop::Refused),
                    (_, Since::Other) => return Err(Stop::Failed(unknown(path, "deleted"))),
                }
            }
            match waited {
                Ok(()) if refused => return Err(Stop::Refused),
                Ok(()) => attempt += 1,
                Err(failure) if lost => return Err(Stop::Failed(maybe(about, failure.error))),
                Err(failure) => return Err(Stop::Failed(failure.error)),
            }
        }
    }

    pub(super) async fn remove_tree(&self, root: &VPath) -> Removed {
        match self.doomed(root).await {
            Ok(doomed) => self.remove_all(root, doomed).await,
            Err(error) => Removed::failed(error),
        }
    }

    /// The file at `root` and everything beneath it, including keys that are not valid paths.
    async fn doomed(&self, root: &VPath) -> Result<Vec<Doomed>> {
        if let Some(waiting) = self.late.before_delete(root) {
            waiting.await?;
        }
        let prefix = self.client.bucket.key_prefix(root, "");
        let root_file = async {
            match root.is_root() {
                true => Ok(None),
                false => self.stat(root).await,
            }
        };
        let inside = async {
            let mut doomed = Vec::new();
            let mut token: Option<String> = None;
            loop {
                let page = self
                    .page("delete", &prefix, false, token.as_deref(), None)
                    .await?;
                doomed.extend(page.objects.into_iter().map(|object| Doomed {
                    key: object.key,
                    tag: object.tag,
                }));
                token = page.next;
                if token.is_none() {
                    return Ok::<Vec<Doomed>, Error>(doomed);
                }
            }
        };
        let (file, inside) = join(root_file, inside).await;
        let mut doomed = Vec::new();
        if let Some(meta) = file?
            && let Some(Version::Tag(tag)) = meta.version
        {
            doomed.push(Doomed {
                key: self.key(root)?,
                tag: tag.to_string(),
            });
        }
        doomed.extend(inside?);
        Ok(doomed)
    }

    async fn remove_all(&self, root: &VPath, doomed: Vec<Doomed>) -> Removed {
        let mut removed = Removed::default();
        let mut note = |key: &str, answer: Result<()>| {
            self.forget(key);
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
        if let [only] = doomed.as_slice() {
            note(&only.key, self.remove_one(root, only).await);
            return removed;
        }
        let mut batches = true;
        for batch in doomed.chunks(MAX_DELETES) {
            let answer = match batches {
                true => self.delete_batch(root, batch).await,
                false => None,
            };
            let answers = match answer {
                Some(answers) => answers,
                // Some servers do not support batches.
                None => {
                    batches = false;
                    let removals = batch
                        .iter()
                        .map(|one| Box::pin(self.remove_one(root, one)) as Pending<'_, ()>);
                    bounded(PARALLEL, removals).await
                }
            };
            for (one, answer) in batch.iter().zip(answers) {
                note(&one.key, answer);
            }
        }
        removed
    }

    async fn remove_one(&self, root: &VPath, one: &Doomed) -> Result<()> {
        let path = self.client.bucket.file_path(&one.key);
        let path = path.as_ref().unwrap_or(root);
        let mut base = Base::Present {
            tag: one.tag.clone(),
            note: self.recall(&one.key, &one.tag),
        };
        for _ in 0..TURNS {
            let always = Condition::Always;
            match self.delete_key(path, &one.key, &base, always).await {
                Ok(_) => return Ok(()),
                Err(Stop::Refused) => {}
                Err(Stop::Failed(error)) => return Err(error),
            }
            let seen = self.head("delete", path, &one.key).await;
            match seen.map_err(|failure| failure.error)? {
                Some(seen) => base = Base::of(Some(&seen)),
                None => return Ok(()),
            }
        }
        Err(Error::conflict(path))
    }

    /// Deletes a batch and returns one result per object; `None` if the server does not support
    /// batches.
    async fn delete_batch(&self, root: &VPath, batch: &[Doomed]) -> Option<Vec<Result<()>>> {
        let about = self.client.about("delete", None);
        let mut answers: Sorted<&str, Result<()>> = Sorted::new();
        let mut left: Vec<&Doomed> = batch.iter().collect();
        let mut lost = false;
        let mut attempt = 0;
        while !left.is_empty() {
            let keys: Vec<&str> = left.iter().map(|one| one.key.as_str()).collect();
            let sent = self.objects.delete_many(&keys);
            let failure = match self.client.attempt(about, sent).await {
                Ok(deleted) => {
                    let results = self.results(&left, &deleted);
                    answers.extend(left.iter().map(|one| one.key.as_str()).zip(results));
                    break;
                }
                Err(failure) if failure.is_unsupported() => return None,
                Err(failure) => failure,
            };
            lost |= failure.uncertain;
            let waited = self.client.wait(attempt, failure).await;
            attempt += 1;
            let mut failed = waited.map_err(|failure| match lost {
                true => maybe(about, failure.error),
                false => failure.error,
            });
            if lost {
                match self.doomed(root).await {
                    Ok(now) => {
                        let now: Sorted<&str, &str> = now
                            .iter()
                            .map(|one| (one.key.as_str(), one.tag.as_str()))
                            .collect();
                        left.retain(|one| {
                            let answer = match now.get(one.key.as_str()) {
                                Some(tag) if *tag == one.tag => return true,
                                Some(_) => Err(self.unknown_deletion(root, &one.key)),
                                None => Ok(()),
                            };
                            answers.insert(&one.key, answer);
                            false
                        });
                    }
                    Err(error) => failed = failed.and(Err(maybe(about, error))),
                }
            }
            if let Err(error) = failed {
                answers.extend(left.iter().map(|one| (&*one.key, Err(error.clone()))));
                break;
            }
        }
        let answer = |one: &Doomed| answers.remove(one.key.as_str()).unwrap_or(Ok(()));
        Some(batch.iter().map(answer).collect())
    }

    fn unknown_deletion(&self, root: &VPath, key: &str) -> Error {
        let path = self.client.bucket.file_path(key);
        unknown(path.as_ref().unwrap_or(root), "deleted")
    }

    /// One result per object from the answer to a batch.
    fn results(&self, batch: &[&Doomed], deleted: &Deleted) -> Vec<Result<()>> {
        let Deleted { gone, kept } = deleted;
        let about = self.client.about("delete", None);
        let gone: Sorted<&str, ()> = gone.iter().map(|key| (key.as_str(), ())).collect();
        let answers = batch.iter().map(|one| {
            let key = &one.key;
            if gone.get(key.as_str()).is_some() {
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
        answers.collect()
    }
}

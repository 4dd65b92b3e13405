//! A storage whose methods a host implements: what such a storage may leave out is made up for here.
//! Without conditional puts, the condition is checked before the put, while calls of one instance
//! wait for each other; changes by other writers are not detected then. How the host is called is
//! not known here: `custom` calls a JavaScript object, the simulator a simulated one.

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{Capability, Reach};
use crate::storage::{
    Cursor, Depth, Entry, File, Listing, Meta, NewFile, PutMode, Storage, Version,
};

/// What a host's put has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It stored the file, under this version if it has versions.
    As(Option<Version>),
    /// The condition did not hold.
    Refused,
}

/// The methods of a host's storage.
pub trait Methods {
    /// Metadata of a file, if there is one.
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>>;

    /// A file, if there is one.
    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>>;

    /// Stores a file; a host with conditional puts checks the condition as well.
    fn put<'a>(
        &'a self,
        path: &'a VPath,
        file: &'a NewFile,
        condition: &'a PutMode,
    ) -> Pending<'a, Stored>;

    /// Removes a file; whether there was one, if the host tells.
    fn delete<'a>(&'a self, path: &'a VPath, condition: &'a PutMode) -> Pending<'a, Option<bool>>;

    /// All files beneath a directory, in byte order.
    fn entries<'a>(&'a self, dir: &'a VPath) -> Pending<'a, Vec<Entry>>;
}

/// A host's storage, with the guarantees that it declares.
pub struct Hosted<M> {
    pub(super) methods: M,
    capability: Capability,
}

impl<M: Methods> Hosted<M> {
    /// The storage with these methods.
    pub fn of(methods: M, capability: Capability) -> Hosted<M> {
        Hosted {
            methods,
            capability,
        }
    }

    /// If the host has no compare-and-swap, the check is made here. The per-path queue of this
    /// instance keeps the result valid until the change.
    async fn check(&self, path: &VPath, mode: &PutMode) -> Result<()> {
        match mode {
            PutMode::Create if self.capability.create != Reach::Storage => {
                match self.methods.stat(path).await? {
                    Some(_) => Err(Error::already_exists(path)),
                    None => Ok(()),
                }
            }
            PutMode::Update(version) if self.capability.update != Reach::Storage => {
                match self.methods.stat(path).await? {
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
        match self.methods.put(path, &file, &mode).await? {
            Stored::As(version) => Ok(file.meta(version)),
            Stored::Refused => Err(match mode {
                PutMode::Create => Error::already_exists(path),
                PutMode::Update(_) => Error::conflict(path),
                PutMode::Overwrite => Error::at(
                    Kind::Unavailable,
                    "The storage refused to put '",
                    path,
                    "' and did not say why",
                ),
            }),
        }
    }

    async fn remove(&self, path: &VPath, version: Option<Version>) -> Result<bool> {
        let had = if let Some(version) = &version
            && self.capability.update != Reach::Storage
        {
            let now = self.methods.stat(path).await?;
            if let Some(now) = now.as_ref().and_then(|meta| meta.version.as_ref())
                && now != version
            {
                return Err(Error::conflict(path));
            }
            now.is_some()
        } else {
            true
        };
        let condition = match version {
            Some(version) => PutMode::Update(version),
            None => PutMode::Overwrite,
        };
        let answer = self.methods.delete(path, &condition).await?;
        // A delete that returns nothing counts as successful if the file was there before.
        Ok(answer.unwrap_or(had))
    }
}

impl<M: Methods> Storage for Hosted<M> {
    fn capability(&self) -> Capability {
        self.capability.clone()
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.methods.stat(path)
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        self.methods.get(path)
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
            let all = self.methods.entries(dir).await?;
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
